"""Cells, splits and cuts of adaptive histograms as numbers: against code by code definitions, and by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacit.binning.refine import AdaptiveHistogram, cut, in_pieces, smooth_histograms
from tacit.binning.tuning import BINNING, MANY_ROWS, Refining

SMALL = Refining(base_cells=4, sub_cells=8, last_cells=2, fewer_sub_cells=(4, 2))
"""64 atoms."""


def small(n_codes: int = 65, **more: float) -> AdaptiveHistogram:
    return AdaptiveHistogram(n_codes, replace(BINNING, refining=replace(SMALL, **more)))


def groups_of(found: AdaptiveHistogram, n_codes: int) -> list[int]:
    """Code -> group, by its atom."""
    atoms = [code * 64 // (n_codes - 1) for code in range(n_codes - 1)]
    return [int(np.searchsorted(found.starts, atom, side="right")) - 1 for atom in atoms]


@pytest.mark.parametrize("n_codes", [2, 3, 6, 14, 38, 64, 65])
def test_cells_code_by_code(n_codes: int) -> None:
    result = small(n_codes)
    assert SMALL.atoms == 64
    assert result.first_cells().tolist() == [code * 64 // (n_codes - 1) // 16 for code in range(n_codes - 1)] + [4]
    result.starts, result.masses = np.array([0, 5, 16, 30]), np.array([50.0, 30.0, 1.0, 19.0])
    result._parts = np.array([0, 2, 1, 3])
    numbers, first = [], {1: 0, 2: 2, 3: 3}
    for code, group in enumerate(groups_of(result, n_codes)):
        if group not in first:
            numbers.append(6)
            continue
        start, width, parts = int(result.starts[group]), int(result.widths[group]), int(result._parts[group])
        part = min((code * 64 // (n_codes - 1) - start) // (width // parts), parts - 1)
        numbers.append(first[group] + part)
    assert result.cells().tolist() == [*numbers, 6]
    assert result.widths.tolist() == [5, 11, 14, 34]
    masses, codes = result.by_codes()
    held = [groups_of(result, n_codes).count(group) for group in range(4)]
    assert codes.tolist() == [n for n in held if n]
    assert masses.tolist() == [mass for mass, n in zip([50.0, 30.0, 1.0, 19.0], held, strict=True) if n]


def test_more_codes_than_atoms_are_refused() -> None:
    with pytest.raises(ValueError, match="65 codes need as many atoms"):
        small(66)


def test_which_cells_are_split_and_how() -> None:
    """By share: over an eighth, a 16th, a 48th of 480 rows, unless noise hides them."""
    result = small(clear_part=1e9)
    for masses, sd, parts in (
        ([61.0, 60.0, 30.0, 10.0], 2.0, [8, 4, 2, 0]),
        ([60.5, 30.5, 10.5, 9.5], 2.0, [8, 4, 2, 0]),
        ([61.0, 31.0, 11.0, 8.0], 2.5, [8, 4, 2, 0]),
        ([61.0, 31.0, 11.0, 8.0], 2.75, [8, 4, 0, 0]),
        ([61.0, 31.0, 11.0, 8.0], 15.25, [0, 0, 0, 0]),
    ):
        result.masses = np.array(masses)
        assert result.plan_second(sd, 480.0) == any(parts)
        assert result._parts.tolist() == parts


def test_in_little_noise_light_cells_are_split_too() -> None:
    """Parts of half a standard deviation, which is 4: 32 rows make 8 of them, 16 make 4, 8 make 2."""
    result = small()
    result.masses = np.array([32.0, 31.0, 8.0, 7.9])
    assert result.plan_second(8.0, float(MANY_ROWS))
    assert result._parts.tolist() == [8, 4, 2, 0]
    assert not result.plan_second(8.0, float(MANY_ROWS + 1))
    assert result._parts.tolist() == [0, 0, 0, 0]


def test_heavy_parts_are_looked_at_once_more() -> None:
    """Of 240 rows, over a 24th, and over four standard deviations; a single atom has no parts."""
    result = small()
    result.starts, result.masses = np.array([0, 1, 4, 6]), np.array([99.0, 10.5, 10.0, 50.0])
    assert result.plan_third(1.0, 240.0)
    assert result._parts.tolist() == [0, 2, 0, 2]
    assert result.plan_third(2.7, 240.0)
    assert result._parts.tolist() == [0, 0, 0, 2]
    assert not result.plan_third(12.5, 240.0)
    result.starts = np.array([0, 1, 3, 4])
    assert result.plan_third(1.0, 240.0)
    assert result._parts.tolist() == [0, 2, 0, 2]


def test_answers_go_to_the_parts_that_were_asked_about() -> None:
    """A cell in eight, one in two; their masses are split, the others stay."""
    generator = np.random.default_rng(0)
    result = small()
    counts = np.array([70.0, 4.0, 20.0, 6.0])
    result.first(counts, 1.5, 100.0)
    whole = smooth_histograms(counts[None], 1.5, np.array([100.0]), codes=np.full((1, 4), 16))[0]
    assert result.masses == pytest.approx(whole)
    result._parts = np.array([8, 0, 2, 0])
    noisy = generator.uniform(0, 20, 10)
    result.again(noisy, 1.5)
    assert result.starts.tolist() == [0, 2, 4, 6, 8, 10, 12, 14, 16, 32, 40, 48]
    eight = smooth_histograms(noisy[None, :8], 1.5, whole[:1], codes=np.full((1, 8), 2))[0]
    two = smooth_histograms(noisy[None, 8:], 1.5, whole[2:3], codes=np.full((1, 2), 8))[0]
    assert result.masses == pytest.approx(np.concatenate([eight, whole[1:2], two, whole[3:]]))


def test_parts_without_codes_hold_nothing() -> None:
    """Five codes on 64 atoms: of 16 atoms one holds the first code, or two hold one each."""
    result = small(6)
    result.first(np.array([40.0, 20.0, 20.0, 20.0]), 1.0, 100.0)
    result._parts = np.array([8, 0, 0, 0])
    result.again(np.full(8, 5.0), 1.0)
    assert result.masses[[1, 2, 3, 4, 5, 7]].tolist() == [0.0] * 6
    assert result.masses[0] + result.masses[6] == pytest.approx(result.masses[:8].sum())


def test_cuts_by_hand() -> None:
    ones = np.ones(8, np.int64)
    assert cut(np.full(8, 5.0), ones, 4, 1.0).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    # by mass alone
    masses, widths = np.array([1.0, 1.0, 3.0, 3.0, 4.0]), np.array([1, 1, 1, 1, 100])
    assert cut(masses, widths, 2, 100.0, mass_mix=1.0).tolist() == [0, 0, 0, 1, 1]
    # a lone group in the middle takes one bin, and those on either side share the rest
    lone = np.array([1.0, 1.0, 1.0, 1.0, 50.0, 1.0, 1.0])
    assert cut(lone, np.ones(7, np.int64), 4, 1.0).tolist() == [0, 0, 1, 1, 2, 3, 3]
    # a group of too few rows is not alone, and takes the bins of others
    heavy = np.array([8.0, 1.0, 1.0])
    assert cut(heavy, np.ones(3, np.int64), 5, 1.0).tolist() == [0, 1, 2]
    assert cut(heavy, np.ones(3, np.int64), 5, 8.5).tolist() == [0, 1, 1]


def test_spread_counts_beside_mass() -> None:
    """Equal masses on widths of 1 and 81: the root of the product is 1 to 9."""
    masses, widths = np.array([2.0, 2.0, 2.0, 2.0]), np.array([1, 1, 1, 81])
    spread = np.array([1.0, 1.0, 1.0, 9.0]) / 12
    for mix in (0.0, 0.5, 0.75, 1.0):
        measure = mix * 0.25 + (1 - mix) * spread
        expected = np.minimum(((np.cumsum(measure) - measure / 2) * 2).astype(int), 1)
        if (2 * measure <= 1).all():
            assert cut(masses, widths, 2, 0.5, mass_mix=mix).tolist() == expected.tolist()
        else:
            assert cut(masses, widths, 2, 0.5, mass_mix=mix).tolist() == [0, 0, 0, 1]


def test_pieces_by_hand() -> None:
    """Of 20 rows in 5 pieces none holds over 4, but for single codes."""
    masses, codes = in_pieces(np.array([12.0, 4.0, 3.5, 0.5]), np.array([7, 3, 2, 1]), 5)
    assert codes.tolist() == [2, 2, 3, 3, 2, 1]
    assert masses == pytest.approx([24 / 7, 24 / 7, 36 / 7, 4.0, 3.5, 0.5])
    masses, codes = in_pieces(np.array([12.0, 8.0]), np.array([2, 1]), 20)
    assert (codes.tolist(), masses.tolist()) == ([1, 1, 1], [6.0, 6.0, 8.0])
