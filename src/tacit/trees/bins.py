"""Bins for trees: every column in at most 256 codes, in an order in which thresholds make sense.

With Gaussian noise a small share of the budget buys the class histogram of every column; from it come bins of equal
mass and an order of the categories. Without (pure epsilon), the grid is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.curator.curator import Curator
from tacit.models.tree import CODES
from tacit.privacy.charges import Charge
from tacit.privacy.purse import Purse
from tacit.queries.cells import OneCell, mapped_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import RowRule

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

GRID_CELLS = 256
"""Cells of a numeric column whose classes are counted."""

MASS_BINS = 200
"""Bins of equal mass made of them."""

PUBLIC_CELLS = 254

COUNT_LATTICE = 64
"""Counts are released in units of 1/64 row, so that the lattice does not coarsen small noise."""


@dataclass(frozen=True)
class Column:
    """A column as the learner knows it: its place, its name, and whether it is ordered with a missing code last."""

    index: int
    name: str
    ordered: bool


@dataclass(frozen=True, eq=False)
class TreeBins:
    """The codes of a column as trees see them.

    Attributes:
        mapping: code of the public encoding -> bin, shape ``(n_codes,)``, at most 256 bins.
        mass: how much of the rows each bin is believed to hold; thresholds are drawn from it.
    """

    mapping: Ints
    mass: Floats

    @property
    def size(self) -> int:
        return len(self.mass)


@dataclass(frozen=True)
class Totals:
    """The released number of rows of each class.

    Attributes:
        rows: of both, at least 1.
        positive_share: of them, kept in [.02, .98].
        raw_rows: rows as released, which noise may have made negative.
        raw_difference: positives minus negatives, as released.
        sd: of the noise in each class's number.
    """

    rows: float
    positive_share: float
    raw_rows: float
    raw_difference: float
    sd: float


def fine_class_count_rule(n_labels: int) -> RowRule:
    """A row counts 1 in the channel of its label, on a lattice of 1/64."""
    return RowRule(np.eye(n_labels, dtype=np.int32)[:, None, :] * COUNT_LATTICE, unit=COUNT_LATTICE)


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


def release_rows(curator: Curator, charge: Charge) -> Released:
    """Releases how many rows there are."""
    rule = RowRule(np.full((curator.layout.n_labels, 1, 1), COUNT_LATTICE, np.int32), COUNT_LATTICE)
    release = curator.measure(Histogram(OneCell(), rule), charge, "number of rows")
    return Released(float(release.value.item()), release.sd)


def release_totals(curator: Curator, purse: Purse, share: float) -> Totals:
    """Releases how many rows each class has."""
    query = Histogram(OneCell(), fine_class_count_rule(curator.layout.n_labels))
    release = curator.measure(query, purse.charge(share), "rows of each class")
    counts = np.maximum(release.value[0], 0.25 * release.sd)
    positive_share = float(np.clip(counts[1] / max(float(counts.sum()), 1.0), 0.02, 0.98))
    negatives, positives = release.value[0].tolist()
    rows = max(float(counts.sum()), 1.0)
    return Totals(rows, positive_share, negatives + positives, positives - negatives, release.sd)


def counted_bins(curator: Curator, columns: Sequence[Column], charge: Charge, totals: Totals) -> tuple[TreeBins, ...]:
    """Releases the class histogram of every column and makes its bins; the table's codes are replaced by them.

    Args:
        curator: the gate to a table with two labels.
        columns: the columns to use.
        charge: what each of the histograms may cost.
        totals: released before.
    """
    rule = fine_class_count_rule(curator.layout.n_labels)
    bins = []
    for column in columns:
        cells = grid(column, curator.layout.n_codes[column.index], GRID_CELLS)
        release = curator.measure(
            Histogram(mapped_cells(column.index, cells), rule), charge, f"classes of {column.name}"
        )
        positives, counts = release.value[:, 1], release.value.sum(axis=1)
        if column.ordered:
            made = _ordered(cells, counts, release.sd)
        else:
            made = _by_rate(cells, positives, counts, release.sd, totals.positive_share)
        curator.coarsen(column.index, made.mapping)
        bins.append(made)
    return tuple(bins)


def public_bins(curator: Curator, columns: Sequence[Column]) -> tuple[TreeBins, ...]:
    """Bins that look at nothing: a regular grid, and the categories as they are (the last ones together beyond 256)."""
    bins = []
    for column in columns:
        cells = np.minimum(grid(column, curator.layout.n_codes[column.index], PUBLIC_CELLS), CODES - 1)
        made = TreeBins(cells, np.ones(int(cells.max()) + 1))
        curator.coarsen(column.index, made.mapping)
        bins.append(made)
    return tuple(bins)


def _visible(counts: Floats, sd: float) -> Floats:
    """Counts above the noise; the others hold next to nothing, yet never quite nothing."""
    return np.where(counts > sd * np.sqrt(2.0), counts, 0.0) + 1e-9 * max(float(counts.sum()), 50.0)


def _equal_mass(order: Ints, mass: Floats) -> Ints:
    """Bins of equal mass along an order, shape of ``mass``."""
    upto = np.cumsum(mass[order])
    middle = (upto - mass[order] / 2) / upto[-1]
    bins = np.empty(len(mass), np.int64)
    bins[order] = np.unique((middle * MASS_BINS).astype(np.int64), return_inverse=True)[1]
    return bins


def _ordered(cells: Ints, counts: Floats, sd: float) -> TreeBins:
    mass = _visible(counts, sd)
    present = _equal_mass(np.arange(len(mass) - 1), mass[:-1])
    merged = np.append(present, present.max() + 1)
    return TreeBins(merged[cells], np.bincount(merged, weights=mass).astype(np.float64))


def _by_rate(cells: Ints, positives: Floats, counts: Floats, sd: float, share: float) -> TreeBins:
    """Categories in the order of their smoothed positive rate; those lost in the noise count as average."""
    mass, noise = _visible(counts, sd), sd * np.sqrt(2.0)
    smoothed = (positives + 3 * noise * share + 1.0) / (np.maximum(counts, 0.0) + 3 * noise + 1.0 / share)
    rate = np.where(counts > noise, smoothed, share)
    merged = _equal_mass(np.argsort(rate, kind="stable"), mass)
    return TreeBins(merged[cells], np.bincount(merged, weights=mass).astype(np.float64))
