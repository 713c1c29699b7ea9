"""Bins for trees: every column in at most 256 codes, in an order in which thresholds make sense.

With Gaussian noise a small share of the budget buys a histogram of every column: from the rows in each cell come bins
of equal mass, from the classes of each category their order. Under pure epsilon they are bought where there are rows
enough; the grid is public where not.

Cells that hold much are looked at once more, code by code, so that a column with a long tail keeps its resolution where
its rows are. Many cells are lost in the noise by themselves; together they are not: mass is handed down a tree of
halves, each split by the two noisy sums and, as far as the noise reaches, by a public prior.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import CODES, Floats, Ints
from tacit.binning.measure import Column
from tacit.binning.shape_search import ShapeSearch
from tacit.binning.tuning import TREE_BINNING, TreeBinning
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.curator.measurement import LEAST_SD
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell, mapped_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_class_count_rule, fine_count_rule


@dataclass(frozen=True, eq=False)
class TreeBins:
    """The codes of a column as trees see them."""

    mapping: Ints  # code of the public encoding -> bin, shape `(n_codes,)`, at most 256 bins
    mass: Floats  # how much of the rows each bin is believed to hold; thresholds are drawn from it
    is_ranked: bool = False  # whether categories stand in the order of their rate

    @property
    def size(self) -> int:
        return len(self.mass)


@dataclass(frozen=True)
class Totals:
    """The released number of rows of each class."""

    rows: float  # of both, at least 1
    positive_share: float  # of them, kept in [.02, .98]
    raw_rows: float  # rows as released, which noise may have made negative
    raw_difference: float  # positives minus negatives, as released
    sd: float  # of the noise in each class's number


def grid(column: Column, n_codes: int, cells: int) -> Ints:
    """The public map of codes to cells: neighbours merged in an ordered column, missing alone; else the codes."""
    codes = np.arange(n_codes, dtype=np.int64)
    if not column.ordered:
        return codes
    present = n_codes - 1
    merged = codes * min(cells, present) // present
    merged[-1] = merged[-2] + 1 if present else 0
    return merged


@dataclass(frozen=True)
class Released:
    """A released number and the standard deviation of its noise."""

    value: float
    sd: float


LEAST_ROWS, SHARES = 0.25, (0.02, 0.98)
"""Not tuned, guards: no class has fewer rows than this, in standard deviations of noise, nor a share beyond these."""

FEWEST = 50.0
"""Not tuned, a guard: cells that noise hides hold a billionth of so many rows, next to nothing and never nothing."""


def release_rows(curator: Curator, charge: Charge) -> Released:
    """Releases how many rows there are."""
    query = Histogram(OneCell(), fine_count_rule(curator.layout.n_labels))
    release = curator.measure(query, charge, Label(Stage.COUNTS, "number of rows"))
    return Released(float(release.value.item()), release.sd)


def release_totals(budget: Budget) -> Totals:
    """Releases how many rows each class has."""
    query = Histogram(OneCell(), fine_class_count_rule(budget.layout.n_labels))
    release = budget.measure(query, 1.0, Label(Stage.COUNTS, "rows of each class"))
    counts = np.maximum(release.value[0], LEAST_ROWS * release.sd)
    positive_share = float(np.clip(counts[1] / max(float(counts.sum()), 1.0), *SHARES))
    negatives, positives = release.value[0].tolist()
    rows = max(float(counts.sum()), 1.0)
    return Totals(rows, positive_share, negatives + positives, positives - negatives, release.sd)


def counted_bins(
    budget: Budget, columns: Sequence[Column], totals: Totals, numbers: TreeBinning = TREE_BINNING
) -> tuple[tuple[TreeBins, ...], float]:
    """Releases histograms of every column and makes its bins; the table's codes are replaced by them.

    Returns the bins, and the share of the allowance that was spent: a column without heavy cells needs no second look.
    """
    classes = fine_class_count_rule(budget.layout.n_labels)

    def by_rate(each: Budget, column: Column, cells: Ints) -> TreeBins:
        query = Histogram(mapped_cells(column.index, cells), classes)
        release = each.measure(query, 1.0, Label(Stage.BINNING, column.name, text=f"classes of {column.name}"))
        positives, counts = release.value[:, 1], release.value.sum(axis=1)
        return _by_rate(cells, positives, counts, release.sd, totals.positive_share, numbers.mass_bins)

    return _each_column(budget, columns, totals.rows, by_rate, numbers)


def binned_columns(
    budget: Budget, columns: Sequence[Column], rows: float, numbers: TreeBinning = TREE_BINNING
) -> tuple[tuple[TreeBins, ...], float]:
    """As :func:`counted_bins`, but looks at rows alone and not at their classes: categories are not put in order."""
    rule = fine_count_rule(budget.layout.n_labels)

    def as_they_are(each: Budget, column: Column, cells: Ints) -> TreeBins:
        query = Histogram(mapped_cells(column.index, cells), rule)
        release = each.measure(query, 1.0, Label(Stage.BINNING, column.name, text=f"rows of {column.name}"))
        mass = _visible(release.value[:, 0], release.sd)
        merged = _equal_mass(np.argsort(mass, kind="stable"), mass, CODES) if len(mass) > CODES else cells
        return TreeBins(merged[cells], np.bincount(merged, weights=mass).astype(np.float64))

    return _each_column(budget, columns, rows, as_they_are, numbers)


def _each_column(
    budget: Budget,
    columns: Sequence[Column],
    rows: float,
    of_categories: Callable[[Budget, Column, Ints], TreeBins],
    numbers: TreeBinning,
) -> tuple[tuple[TreeBins, ...], float]:
    """Bins of every column, and the share that was spent; ``of_categories`` makes those of columns without order."""
    bins, cost, each = [], 0.0, budget.split(len(columns))
    for column in columns:
        if column.ordered:
            order, looked_twice = _counted_order(each, column, rows, numbers)
            cost += each.share * (1.0 if looked_twice else 1.0 - numbers.second_look)
        else:
            order = of_categories(each, column, grid(column, budget.layout.n_codes[column.index], numbers.grid_cells))
            cost += each.share
        budget.curator.coarsen(column.index, order.mapping)
        bins.append(order)
    return tuple(bins), cost


def _searched_order(budget: Budget, column: Column, rows: float, numbers: TreeBinning) -> TreeBins:
    """Bins of an ordered column from two looks at its shape: where noise exceeds what a cell can hold."""
    search = ShapeSearch(column.index, budget.layout.n_codes[column.index], rows, numbers=numbers.searching)
    rule = fine_count_rule(budget.layout.n_labels)
    for part, what in ((1.0 - numbers.second_look, "outline"), (numbers.second_look, "shape")):
        query = search.query(rule, max(budget.sd(part), LEAST_SD), budget.is_pure)
        label = Label(Stage.BINNING, column.name, text=f"{what} of {column.name}")
        search.observe(budget.measure(query, part, label))
    masses = search.masses
    by_code = np.repeat(masses[:-1] / search.widths, search.widths)
    return _with_missing(by_code, max(float(masses[-1]), 1e-9 * rows), numbers.mass_bins)


def _counted_order(budget: Budget, column: Column, rows: float, numbers: TreeBinning) -> tuple[TreeBins, bool]:
    """Bins of an ordered column from the rows in its cells, and whether all of the budget was spent."""
    n_codes, rule = budget.layout.n_codes[column.index], fine_count_rule(budget.layout.n_labels)
    if n_codes > 1 and rows < numbers.searching.histogram_from * budget.sd(1.0 - numbers.second_look):
        return _searched_order(budget, column, rows, numbers), True
    cells = grid(column, n_codes, numbers.grid_cells)
    query = Histogram(mapped_cells(column.index, cells), rule)
    label = Label(Stage.BINNING, column.name, 1, f"rows of {column.name}")
    release = budget.measure(query, 1.0 - numbers.second_look, label)
    counts, sd = release.value[:, 0], release.sd
    missing = float(_visible(counts, 2.0 * sd)[-1])
    starts = np.searchsorted(cells, np.arange(len(counts) - 1))
    prior = public_mass(n_codes - 1, numbers.tail_share, numbers)
    if n_codes == 1:
        return TreeBins(np.zeros(1, np.int64), np.ones(1)), False
    coarse = smoothed_mass(counts[:-1], sd, np.add.reduceat(prior, starts), numbers.prior_noise)
    mass = prior * (coarse / np.add.reduceat(prior, starts))[cells[:-1]]
    heavy = np.flatnonzero((coarse > numbers.heavy * coarse.sum()) & (np.diff([*starts, n_codes - 1]) > 1))
    if len(heavy):
        inside = np.isin(cells[:-1], heavy)
        places = np.append(np.where(inside, np.cumsum(inside), 0), 0)  # the rest is one cell, too
        query = Histogram(mapped_cells(column.index, places), rule)
        label = Label(Stage.BINNING, column.name, 2, f"rows of {column.name}, heavy cells")
        release = budget.measure(query, numbers.second_look, label)
        for cell in heavy:
            here = np.flatnonzero(cells[:-1] == cell)
            part = smoothed_mass(release.value[places[here], 0], release.sd, prior[here], numbers.prior_noise)
            mass[here] = coarse[cell] * part / part.sum()
    return _with_missing(mass, missing, numbers.mass_bins), len(heavy) > 0


def public_bins(
    curator: Curator, columns: Sequence[Column], numbers: TreeBinning = TREE_BINNING
) -> tuple[TreeBins, ...]:
    """Bins that look at nothing: of equal public mass, and the categories as they are (the last ones together)."""
    bins = []
    for column in columns:
        n_codes = curator.layout.n_codes[column.index]
        if column.ordered:
            mass = public_mass(n_codes - 1, numbers.public_tail_share, numbers)
            bins_with_missing = _with_missing(mass, 1.0 / numbers.public_cells, numbers.public_cells)
        else:
            cells = np.minimum(grid(column, n_codes, numbers.public_cells), CODES - 1)
            bins_with_missing = TreeBins(cells, np.ones(int(cells.max()) + 1))
        curator.coarsen(column.index, bins_with_missing.mapping)
        bins.append(bins_with_missing)
    return tuple(bins)


def public_mass(cells: int, tail_share: float = TREE_BINNING.tail_share, numbers: TreeBinning = TREE_BINNING) -> Floats:
    """The public prior over a regular grid: uniform, and a tail that falls as one over the distance from the bottom."""
    tail = 1.0 / ((np.arange(cells) + 0.5) * numbers.tail_parts / cells + 1.0)
    mass: Floats = (1.0 - tail_share) / cells + tail_share * tail / tail.sum()
    return mass


def smoothed_mass(counts: Floats, sd: float, prior: Floats, prior_noise: float = TREE_BINNING.prior_noise) -> Floats:
    """Mass of ordered cells from their noisy counts, from the top down; not negative, shape of ``counts``.

    ``prior`` is what their mass is believed to be like, positive, up to a factor; ``prior_noise`` its weight in a
    split, in standard deviations of the noise in the part's sum.
    """
    size = 1 << max(len(counts) - 1, 1).bit_length()
    padded = [np.zeros(size), np.zeros(size), np.zeros(size)]
    for line, values in zip(padded, (counts, np.ones(len(counts)), prior), strict=True):
        line[: len(counts)] = values
    levels = [padded]
    while len(levels[-1][0]) > 1:
        levels.append([line.reshape(-1, 2).sum(axis=1) for line in levels[-1]])
    mass = np.maximum(levels[-1][0], 1.0)
    for sums, cells, believed in levels[-2::-1]:
        weight = prior_noise * sd * np.sqrt(cells.reshape(-1, 2).sum(axis=1)) + 1e-9
        shares = believed.reshape(-1, 2) / np.maximum(believed.reshape(-1, 2).sum(axis=1, keepdims=True), 1e-300)
        parts = np.maximum(sums.reshape(-1, 2), 0.0) + weight[:, None] * shares
        parts /= np.maximum(parts.sum(axis=1, keepdims=True), 1e-300)
        mass = (mass[:, None] * parts).reshape(-1)
    return mass[: len(counts)]


def _visible(counts: Floats, noise: float) -> Floats:
    """Counts above the noise; the others hold next to nothing, yet never quite nothing."""
    return np.where(counts > noise, counts, 0.0) + 1e-9 * max(float(counts.sum()), FEWEST)


def _equal_mass(order: Ints, mass: Floats, bins: int) -> Ints:
    upto = np.cumsum(mass[order])
    middle = (upto - mass[order] / 2) / upto[-1]
    groups = np.empty(len(mass), np.int64)
    groups[order] = np.unique((middle * bins).astype(np.int64), return_inverse=True)[1]
    return groups


def _with_missing(mass: Floats, missing: float, bins: int) -> TreeBins:
    """Bins of equal mass in the order of the cells, and one more for missing values."""
    if len(mass) == 0:
        return TreeBins(np.zeros(1, np.int64), np.ones(1))
    merged = _equal_mass(np.arange(len(mass)), mass, bins)
    merged = np.append(merged, merged[-1] + 1)
    return TreeBins(merged, np.bincount(merged, weights=np.append(mass, missing)).astype(np.float64))


def _by_rate(cells: Ints, positives: Floats, counts: Floats, sd: float, share: float, bins: int) -> TreeBins:
    """Categories in the order of their smoothed positive rate; those lost in the noise count as average."""
    noise = sd * np.sqrt(2.0)
    mass = _visible(counts, noise)
    smoothed = (positives + 3 * noise * share + 1.0) / (np.maximum(counts, 0.0) + 3 * noise + 1.0 / share)
    rate = np.where(counts > noise, smoothed, share)
    merged = _equal_mass(np.argsort(rate, kind="stable"), mass, bins)
    return TreeBins(merged[cells], np.bincount(merged, weights=mass).astype(np.float64), is_ranked=True)
