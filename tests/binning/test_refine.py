"""Looks of growing resolution at one column."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.binning.measure import Column, measure_bins
from tacit.binning.refine import AdaptiveHistogram, cut, in_pieces
from tacit.binning.tuning import MEASURING, REFINING
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring

ROWS = 12_000
ATOMS = REFINING.atoms


def refined(codes: np.ndarray, n_codes: int, sd: float, generator: np.random.Generator) -> AdaptiveHistogram:
    """All looks at a column, with noise of ``sd``."""
    found = AdaptiveHistogram(n_codes)

    def count(cells: np.ndarray) -> np.ndarray:
        counts = np.bincount(cells[codes], minlength=cells.max() + 1)[:-1]
        return counts + generator.normal(scale=sd, size=len(counts))

    found.first(count(found.first_cells()), sd, float(len(codes)))
    for planned in (found.plan_second, found.plan_third):
        if planned(sd, float(len(codes))):
            found.again(count(found.cells()), sd)
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([17, 200, 5000, ATOMS + 1]), st.sampled_from([0.1, 3.0, 60.0]))
def test_groups_cover_the_range_and_keep_the_mass(seed: int, n_codes: int, sd: float) -> None:
    generator = np.random.default_rng(seed)
    position = generator.beta(*generator.uniform(0.05, 40.0, 2), size=2000)
    codes = np.minimum((position * (n_codes - 1)).astype(np.int64), n_codes - 2)
    found = refined(codes, n_codes, sd, generator)
    assert found.starts[0] == 0
    assert (found.widths > 0).all()
    assert found.widths.sum() == ATOMS
    assert (found.masses >= 0).all()
    assert found.masses.sum() == pytest.approx(2000)
    masses, widths = found.by_codes()
    assert widths.sum() == n_codes - 1
    assert (widths > 0).all()
    bins = cut(masses, widths, 30, 2 * sd)
    assert set(np.diff(bins)) <= {0, 1}
    assert bins[0] == 0
    assert bins[-1] < 60  # 30, and every stretch between spikes (there are at most 29) may round up to one more


def test_a_column_with_a_far_outlier_has_bins_where_its_rows_are() -> None:
    """All rows but one in a 2,000th of the range: two looks would see two cells."""
    generator = np.random.default_rng(0)
    position = generator.normal(0.3, 0.0001, ROWS)
    position[0] = 0.999
    codes = (np.clip(position, 0, 1) * ATOMS).astype(np.int64)
    found = refined(codes, ATOMS + 1, 5.0, generator)
    masses, widths = found.by_codes()
    share = np.bincount(np.repeat(cut(masses, widths, 40, 10.0), widths)[codes]) / ROWS
    assert share.max() < 0.15
    assert (share > 0.02).sum() >= 10


def test_an_even_column_is_not_looked_at_a_third_time() -> None:
    codes = np.random.default_rng(0).integers(0, ATOMS, ROWS)
    found = refined(codes, ATOMS + 1, 5.0, np.random.default_rng(1))
    assert found.widths.min() > 1


def test_heavy_and_wide_groups_get_bins() -> None:
    assert cut(np.array([1.0, 1, 1, 1]), np.array([1, 1, 1, 1]), 2, 1.0).tolist() == [0, 0, 1, 1]
    assert cut(np.array([97.0, 1, 1, 1]), np.array([1, 1, 1, 1]), 2, 1.0).tolist() == [0, 1, 1, 1]


def test_a_spike_takes_one_bin_and_leaves_the_others_to_the_rest() -> None:
    masses, widths = np.append(9000.0, np.full(99, 1000 / 99)), np.ones(100, np.int64)
    quiet = cut(masses, widths, 20, 1.0)
    assert (quiet == quiet[0]).sum() == 1
    assert quiet[-1] == 19
    assert np.ptp(np.bincount(quiet)[1:]) <= 1
    # where 500 rows are needed for a bin, a tenth of the rows is worth no more than its share of the bins
    assert cut(masses, widths, 20, 500.0)[-1] < 10


def test_next_to_nothing_between_spikes_is_no_bin() -> None:
    masses, widths = np.array([500.0, 0.0, 1e-6, 500.0]), np.ones(4, np.int64)
    assert cut(masses, widths, 4, 10.0).tolist() == [0, 0, 0, 1]
    masses[1] = 20.0
    assert cut(masses, widths, 4, 10.0).tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize("width", [1e-4, 1.0])
def test_a_third_look_is_charged_and_said(width: float) -> None:
    codes = (np.random.default_rng(0).uniform(0.0, width, ROWS) * ATOMS).astype(np.uint16)
    allowance = Allowance.of(4.0, 1e-6)
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    gate = Curator(MemoryTable([codes], np.zeros(ROWS, np.uint8), [ATOMS + 1], 2), reservation, SeededSource(1))
    _, more = measure_bins(Budget(gate, allowance, 0.1), [Column(0, "x", True)], float(ROWS))
    looks = [entry for entry in reservation.entries if "counts of x" in entry.label]
    spent = math.fsum(1 / entry.charge.noise_multiplier**2 for entry in looks)
    if width < 1.0:
        assert len(looks) == 3
        assert more == pytest.approx(0.1 * MEASURING.later_look)
    else:
        assert len(looks) == 2
        assert more == 0.0  # no part of an even column is heavy
    assert spent == pytest.approx((0.1 + more) * allowance.mu**2, rel=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "narrow", "releases", "more"),
    [
        (0.02, 0.1, 5, 0.0),  # shapes are looked for in two looks each
        (1.0, 0.1, 4, -MEASURING.looks[1]),  # no cell of the even column is heavy: its second look is left out
        (4.0, 0.1, 5, 0.0),
        (1.0, 0.002, 5, MEASURING.later_look - MEASURING.looks[1]),
    ],
)
def test_what_looks_do_not_need_is_handed_on_and_no_more(
    epsilon: float, narrow: float, releases: int, more: float
) -> None:
    """An even column, a narrow one and one of categories, which has one look: what is said to be spent was spent."""
    generator = np.random.default_rng(0)
    codes = [(generator.uniform(0.0, width, 1000) * ATOMS).astype(np.uint16) for width in (1.0, narrow)]
    codes.append(generator.integers(0, 3, 1000).astype(np.uint16))
    allowance = Allowance.of(epsilon, 1e-6)
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    table = MemoryTable(codes, np.zeros(1000, np.uint8), [ATOMS + 1, ATOMS + 1, 3], 2)
    columns = [Column(0, "even", True), Column(1, "narrow", True), Column(2, "kind", False)]
    _, found = measure_bins(Budget(Curator(table, reservation, SeededSource(1)), allowance, 0.1), columns, 1000.0)
    assert len(reservation.entries) == releases
    assert found == pytest.approx(0.1 * more)
    spent = math.fsum(1 / entry.charge.noise_multiplier**2 for entry in reservation.entries)
    assert spent == pytest.approx((0.3 + found) * allowance.mu**2, rel=1e-6)


def test_spikes_side_by_side_come_apart_where_noise_is_little() -> None:
    """Two values of 1 % of the rows each, a thousandth of the range apart, in a cell too light to be split by share."""
    generator = np.random.default_rng(0)
    codes = generator.integers(0, ATOMS, ROWS)
    codes[:120], codes[120:240] = ATOMS // 2 + 8, ATOMS // 2 + 90
    together = []
    for sd in (0.3, 200.0):
        found = refined(codes, ATOMS + 1, sd, np.random.default_rng(1))
        group = np.repeat(np.arange(len(found.starts)), found.widths)
        together.append(bool(group[codes[0]] == group[codes[120]]))
    assert together == [False, True]


@pytest.mark.parametrize("n_codes", [13, 75, 1001, ATOMS + 1])
@pytest.mark.parametrize("rows", [2_000, 40_000])
def test_bins_hold_the_rows_that_are_said_however_few_codes_there_are(n_codes: int, rows: int) -> None:
    """Where codes are fewer than atoms, cells are split to different widths, and their atoms do not count alike."""
    generator = np.random.default_rng(0)
    position = np.clip(generator.normal(0.4, 0.15, rows), 0.0, 0.999)
    position[generator.random(rows) < 0.1] = 0.0
    codes = (position * (n_codes - 1)).astype(np.uint16)
    allowance = Allowance.of(20.0, 1e-6)
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    gate = Curator(MemoryTable([codes], np.zeros(rows, np.uint8), [n_codes], 2), reservation, SeededSource(1))
    [bins], _ = measure_bins(Budget(gate, allowance, 0.2), [Column(0, "x", True)], float(rows))
    held = np.bincount(bins.mapping[codes], minlength=len(bins.counts))
    assert np.abs(bins.counts - held).sum() < 0.2 * rows


@given(st.lists(st.tuples(st.floats(0.0, 1e6), st.integers(1, 40)), min_size=1, max_size=30), st.integers(1, 300))
def test_pieces_keep_rows_and_codes_and_none_is_heavy_but_for_single_codes(
    groups: list[tuple[float, int]], pieces: int
) -> None:
    masses, widths = np.array([mass for mass, _ in groups]) + 1e-6, np.array([width for _, width in groups])
    found, codes = in_pieces(masses, widths, pieces)
    assert codes.sum() == widths.sum()
    assert (codes > 0).all()
    assert found.sum() == pytest.approx(masses.sum())
    density = np.repeat(found / codes, codes)
    np.testing.assert_allclose(density, np.repeat(masses / widths, widths), rtol=1e-9)
    assert ((codes == 1) | (found <= 2.0 * masses.sum() / pieces * (1 + 1e-9))).all()
