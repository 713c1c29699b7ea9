"""Looks of growing resolution at one column."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.binning.measure import Column, measure_bins
from tacit.binning.refine import AdaptiveHistogram, cut
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
    result = AdaptiveHistogram(n_codes)

    def count(cells: np.ndarray) -> np.ndarray:
        counts = np.bincount(cells[codes], minlength=cells.max() + 1)[:-1]
        return counts + generator.normal(scale=sd, size=len(counts))

    result.first(count(result.first_cells()), sd, float(len(codes)))
    for planned in (result.plan_second, result.plan_third):
        if planned(sd, float(len(codes))):
            result.again(count(result.cells()), sd)
    return result


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([17, 200, 5000, ATOMS + 1]), st.sampled_from([0.1, 3.0, 60.0]))
def test_groups_cover_the_range_and_keep_the_mass(seed: int, n_codes: int, sd: float) -> None:
    generator = np.random.default_rng(seed)
    position = generator.beta(*generator.uniform(0.05, 40.0, 2), size=2000)
    codes = np.minimum((position * (n_codes - 1)).astype(np.int64), n_codes - 2)
    result = refined(codes, n_codes, sd, generator)
    assert result.starts[0] == 0
    assert (result.widths > 0).all()
    assert result.widths.sum() == ATOMS
    assert (result.masses >= 0).all()
    assert result.masses.sum() == pytest.approx(2000)
    masses, widths = result.by_codes()
    assert widths.sum() == n_codes - 1
    assert (widths > 0).all()
    bins = cut(masses, widths, 30, 2 * sd)
    assert set(np.diff(bins)) <= {0, 1}
    assert bins[0] == 0
    assert bins[-1] < 60  # 30, and every stretch between spikes (there are at most 29) may round up to one more


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
