"""Bounds that nobody declared: found from noisy counts per power of two, and believed with care."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.curator.curator import Curator
from tacit.discovery import bounds as bounds_module
from tacit.discovery.bounds import (
    DEFAULT_BOUNDS,
    LARGEST_POWER,
    SMALLEST_POWER,
    believed,
    exponential_grid,
    find_bounds,
    inhabited,
    sure_levels,
)
from tacit.encoding.values import LabelIndex
from tacit.engines.blocks import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Gaussian, Laplace
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring

CELLS = 2 * (LARGEST_POWER - SMALLEST_POWER + 1) + 1
NO_COUNTS = np.zeros(0, dtype=np.int64)


class CountingRows:
    """Private rows that hand out a curator over one column, for the bounds alone."""

    def __init__(self, values):
        self.values = values

    def seal(self, encoding, label_index):
        table = MemoryTable(
            encoding.encode({"x": self.values}), np.zeros(len(self.values), np.uint8), encoding.n_codes, 2
        )
        reservation = Reservation([Gaussian(0.1)], Neighbouring.ADD_OR_REMOVE_ONE, "bounds")
        return Curator(table, reservation, SeededSource(0))


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        (np.linspace(3, 90, 2000), (2.0, 128.0)),
        (np.linspace(-0.9, 0.2, 2000), (-1.0, 0.25)),
        (np.append(np.linspace(1, 7, 2000), 1e9), (1.0, 8.0)),  # one outlier moves nothing
        (np.full(2000, np.nan), DEFAULT_BOUNDS),
        (np.zeros(0), DEFAULT_BOUNDS),
    ],
)
def test_bounds_are_found_from_noisy_counts(values, bounds):
    result = find_bounds(CountingRows(values), ["x"], LabelIndex((0, 1)), Allowance(1.0, 1e-6, 0.3), 1.0)
    assert result["x"] == bounds


@pytest.mark.parametrize("charge", [Gaussian(3.0), Laplace(3.0)])
def test_noise_alone_makes_no_cell_sure(charge, monkeypatch):
    """The chance over all cells of all columns is what it says, seen at a tenth; an honest count is found."""
    monkeypatch.setattr(bounds_module, "MISTAKEN", 0.1)
    monkeypatch.setattr(bounds_module, "believed", lambda heights, expected: NO_COUNTS)
    n_columns, tables = 3, 4000
    levels = sure_levels(charge, CELLS * n_columns)
    generator = np.random.default_rng(5)
    draw = generator.normal if isinstance(charge, Gaussian) else generator.laplace
    noise = draw(0.0, 3.0, (tables, n_columns, CELLS))
    sd = 3.0 if isinstance(charge, Gaussian) else 3.0 * np.sqrt(2.0)

    def lost(threshold: float) -> float:
        return np.mean([any(len(inhabited(counts, sd, threshold)) for counts in table) for table in noise])

    assert 0.08 < lost(levels) < 0.115
    assert lost(0.9 * levels) > 0.15
    counts = noise[0, 0].copy()
    counts[40:43] = 100 * sd
    assert inhabited(counts, sd, levels).tolist() == [40, 42]


def cells_of(values: np.ndarray) -> np.ndarray:
    """Rows per cell."""
    grid = exponential_grid()
    return np.bincount(grid.encode(values), minlength=grid.n_codes)[:-1].astype(float)


def covered(values: np.ndarray, ends: np.ndarray) -> float:
    """The share of the values that lie between cells."""
    if not len(ends):
        return 0.0
    codes = exponential_grid().encode(values)
    return float(((codes >= ends[0]) & (codes <= ends[1])).mean())


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(1).normal(0.5, 3.0, 1000),
        np.random.default_rng(2).uniform(0.0, 1.0, 1000),
        np.random.default_rng(3).uniform(20.0, 90.0, 1000),
        -np.random.default_rng(4).lognormal(2.0, 1.0, 1000),
        np.random.default_rng(5).gamma(2.0, 30_000.0, 1000),
    ],
)
def test_cells_vouch_for_each_other_where_none_is_sure(values):
    """At noise of a fourteenth of the rows single cells drown; runs of them do not, and hold most rows."""
    generator, sd, levels = np.random.default_rng(0), 70.0, sure_levels(Gaussian(1.0), 4 * CELLS)
    counts = cells_of(values)
    runs = [inhabited(counts + generator.normal(0, sd, CELLS), sd, levels) for _ in range(200)]
    assert np.mean([covered(values, ends) for ends in runs]) > 0.8
    needed = np.abs(np.flatnonzero(counts > 20) - CELLS // 2).max()
    reached = [np.abs(ends - CELLS // 2).max() for ends in runs if len(ends)]
    assert needed - 1 <= np.median(reached) <= needed + 2


def test_nothing_is_believed_of_noise_mostly_and_all_of_what_is_clear():
    generator = np.random.default_rng(0)
    results = [len(believed(generator.normal(0, 1.0, CELLS), 2.0)) for _ in range(500)]
    assert np.mean(np.array(results) > 0) < 0.25
    middle = CELLS // 2
    counts = np.zeros(CELLS)
    counts[middle + 21 : middle + 25] = 400.0  # 1 to 16
    assert believed(counts / 5, 2.0).tolist() == [middle + 21, middle + 24]
    counts[middle - 23 : middle - 20] = 100.0  # -8 to -1
    assert believed(counts / 5, 2.0).tolist() == [middle - 23, middle + 24]
    assert believed(np.zeros(CELLS), 2.0).tolist() == []


def test_bounds_are_widened_where_noise_may_hide_rows():
    middle, counts = CELLS // 2, np.zeros(CELLS)
    counts[middle + 21 : middle + 25] = 4.0  # none is sure: down to 0, and one more
    assert inhabited(counts, 1.0, 6.0).tolist() == [middle, middle + 25]
    counts[middle + 22] = 8.0  # one is, the others stand beside it
    assert inhabited(counts, 1.0, 6.0).tolist() == [middle + 20, middle + 25]
    assert inhabited(100 * counts, 1.0, 6.0).tolist() == [middle + 21, middle + 24]  # noise hides nobody
    counts[:] = 0.0
    counts[-1] = 5.0  # the largest numbers there are: nothing beyond
    assert inhabited(counts, 0.5, 11.0).tolist() == [middle, CELLS - 1]


def test_rows_around_zero_alone_say_nothing_of_bounds():
    counts = np.zeros(CELLS)
    counts[CELLS // 2] = 1000.0
    assert inhabited(counts, 5.0, 6.0).tolist() == []
    counts[CELLS // 2 + 21 : CELLS // 2 + 23] = 20.0  # zeros, and a few from 1 to 4
    assert inhabited(counts, 5.0, 6.0).tolist() == [CELLS // 2, CELLS // 2 + 23]


def test_the_exponential_grid_is_public_and_covers_the_line():
    grid = exponential_grid()
    codes = grid.encode(np.array([-1e300, -1.5, 0.0, 1e-9, 1.0, 1.5, 1e300, np.nan]))
    assert codes[0] == 0
    assert codes[2] == codes[3]
    assert codes[4] == codes[5]
    assert codes[6] == grid.cells - 1
    assert codes[7] == grid.missing
