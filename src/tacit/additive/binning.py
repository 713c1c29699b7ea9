"""Bins from noisy counts: where the rows are, so that every bin is worth its noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.additive.density import smooth_histograms
from tacit.additive.term import LEAST_SD
from tacit.curator.curator import Curator
from tacit.curator.measurement import Measurement
from tacit.privacy.purse import Purse
from tacit.queries.cells import OneCell, mapped_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_count_rule

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BASE_CELLS = 64
SUB_CELLS = 64
FEWER_SUB_CELLS = (16, 8)
"""Parts of a cell of over a 16th of the rows, and of one of less: not so heavy that spikes in it are worth finding."""

BASE_SHARE = 0.6
"""Share of a column's binning budget for the coarse histogram; the rest is for splitting its heavy cells."""

LARGEST, SMALLEST = 48, 6
MASS_MIX = 0.75
MAX_CATEGORIES = 128


@dataclass(frozen=True)
class Column:
    """A column as the learner knows it: its place, its name, and whether it is ordered with a missing code last.

    ``monotone`` is 1 or -1 where the effect is declared to rise or to fall, else 0.
    """

    index: int
    name: str
    ordered: bool
    monotone: int = 0


@dataclass(frozen=True, eq=False)
class Bins:
    """What was learned about a column's distribution.

    Attributes:
        mapping: code of the public encoding -> bin, shape ``(n_codes,)``.
        counts: released counts per bin, smoothed; they sum to the released number of rows.
        ordered: whether neighbouring bins are alike; then the last bin is "missing".
    """

    mapping: Ints
    counts: Floats
    ordered: bool


def release_total(curator: Curator, purse: Purse, share: float) -> float:
    """The number of rows that count (those with a known label), with noise, and never absurdly small."""
    query = Histogram(OneCell(), fine_count_rule(curator.layout.n_labels))
    sd = purse.sd(share)
    released = curator.measure(query, purse.charge(share), "number of rows").value.item()
    return max(released, 30.0, 0.5 * sd)


def _categorical_bins(release: Measurement, total: float) -> Bins:
    """Counts of the categories, shrunk to uniform; the rarest share one bin when there are very many."""
    counts: Floats = release.value[:, 0]
    n_codes, sd = len(counts), max(release.sd, LEAST_SD)
    mapping = np.arange(n_codes, dtype=np.int64)
    if n_codes > MAX_CATEGORIES:
        kept = np.sort(np.argsort(-counts, kind="stable")[: MAX_CATEGORIES - 1])
        mapping = np.full(n_codes, MAX_CATEGORIES - 1, dtype=np.int64)
        mapping[kept] = np.arange(len(kept))
        counts = np.append(counts[kept], max(total - np.maximum(counts[kept], 0).sum(), 0.0))
    uniform = total / len(counts)
    trust = uniform**2 / (uniform**2 + sd**2)
    counts = np.maximum(trust * counts + (1 - trust) * uniform, min(0.3 * sd, 0.3 * uniform))
    return Bins(mapping, _scaled(counts, total), ordered=False)


@dataclass(frozen=True, eq=False)
class _Cells:
    """The dyadic cells over a column's public codes: 64 base cells, each of up to 64 leaves; missing comes last.

    An encoding with fewer codes than leaves leaves some leaves empty; ``reachable`` says which are not.
    """

    base: Ints
    leaf: Ints
    reachable: npt.NDArray[np.bool_]

    @staticmethod
    def over(n_codes: int) -> _Cells:
        codes, leaves = np.arange(n_codes - 1), BASE_CELLS * SUB_CELLS
        leaf = codes * leaves // (n_codes - 1)
        reachable = np.zeros(leaves, bool)
        reachable[leaf] = True
        return _Cells(np.append(leaf // SUB_CELLS, BASE_CELLS), np.append(leaf, leaves), reachable)

    def inside(self, parts: Ints) -> Ints:
        """Code -> part of a heavy base cell, numbered from 0; all other codes share the last number.

        ``parts`` says for every base cell in how many parts it is split, 0 for a cell that is not.
        """
        start = np.append(np.cumsum(parts) - parts, parts.sum())
        split = np.append(parts, 0)[self.base]
        within = (self.leaf % SUB_CELLS) * split // SUB_CELLS
        return np.asarray(np.where(split > 0, start[self.base] + within, parts.sum()))


class _NumericBins:
    """Bins of a numeric column from two noisy histograms: uniform cells, then the heavy ones split again.

    Args:
        cells: the column's dyadic cells.
        coarse: release of the base cells and the missing code.
        total: released number of rows.
        fine_sd: standard deviation of the noise that the second histogram will have.
    """

    def __init__(self, cells: _Cells, coarse: Measurement, total: float, fine_sd: float) -> None:
        self._cells, self._total = cells, total
        self._sd = sd = max(coarse.sd, LEAST_SD)
        self._missing = max(float(coarse.value[-1, 0]) - 0.5 * sd, 0.0)
        kept = np.array([max(total - self._missing, 0.2 * total)])
        self.masses = masses = smooth_histograms(coarse.value[None, :-1, 0], sd, kept)[0]
        self.parts = np.select(
            [masses <= 4 * fine_sd, masses > total / 8, masses > total / 16, masses > total / 48],
            [0, SUB_CELLS, *FEWER_SUB_CELLS],
            0,
        )

    def finish(self, fine: Measurement | None) -> Bins:
        """The bins, by the second release (None if no cell is split)."""
        leaf_mass = np.repeat(self.masses / SUB_CELLS, SUB_CELLS).reshape(BASE_CELLS, SUB_CELLS)
        if fine is not None:
            starts = np.cumsum(self.parts) - self.parts
            for size in (SUB_CELLS, *FEWER_SUB_CELLS):
                split = np.flatnonzero(self.parts == size)
                if not len(split):
                    continue
                noisy = fine.value[starts[split][:, None] + np.arange(size), 0]
                found = smooth_histograms(noisy, max(fine.sd, LEAST_SD), self.masses[split])
                leaf_mass[split] = np.repeat(found * size / SUB_CELLS, SUB_CELLS // size, axis=1)
        reachable, masses = self._cells.reachable, leaf_mass.ravel()
        leaf_bin = _cut(masses, self.parts, int(np.clip(self._total / (2 * self._sd), SMALLEST, LARGEST)))
        used, leaf_bin[reachable] = np.unique(leaf_bin[reachable], return_inverse=True)
        counts = np.bincount(leaf_bin[reachable], weights=masses[reachable])
        mapping = np.append(leaf_bin, len(used))[self._cells.leaf]
        return Bins(mapping, _scaled(np.append(counts, max(self._missing, 1.0)), self._total), ordered=True)


def measure_bins(curator: Curator, purse: Purse, columns: Sequence[Column], total: float, share: float) -> list[Bins]:
    """Bins of every column, each for ``share`` of the purse; the columns' codes in the table are replaced by them."""
    rule, n_codes = fine_count_rule(curator.layout.n_labels), curator.layout.n_codes
    cells = {column.index: _Cells.over(n_codes[column.index]) for column in columns if column.ordered}
    fine_charge = purse.charge((1 - BASE_SHARE) * share)
    fine_sd = max(purse.sd((1 - BASE_SHARE) * share), LEAST_SD)
    first = []
    for column in columns:
        if column.ordered:
            query = Histogram(mapped_cells(column.index, cells[column.index].base), rule)
            first.append((query, purse.charge(BASE_SHARE * share), f"coarse counts of {column.name}"))
        else:
            query = Histogram(mapped_cells(column.index, np.arange(n_codes[column.index])), rule)
            first.append((query, purse.charge(share), f"counts of {column.name}"))
    begun = dict(zip(columns, curator.measure_all(first), strict=True))
    numeric = {
        column: _NumericBins(cells[column.index], begun[column], total, fine_sd) for column in columns if column.ordered
    }
    second = {
        column: (
            Histogram(mapped_cells(column.index, cells[column.index].inside(bins.parts)), rule),
            fine_charge,
            f"fine counts of {column.name}",
        )
        for column, bins in numeric.items()
        if bins.parts.any()
    }
    fine = dict(zip(second, curator.measure_all(list(second.values())), strict=True))
    found = []
    for column in columns:
        ordered = numeric.get(column)
        bins = _categorical_bins(begun[column], total) if ordered is None else ordered.finish(fine.get(column))
        curator.coarsen(column.index, bins.mapping)
        found.append(bins)
    return found


def _cut(leaf_mass: Floats, parts: Ints, wanted: int) -> Ints:
    """Bins of equal ``.75 mass + .25 sqrt(mass x width)``; a cell is cut only where it was split.

    Returns:
        The bin of each leaf, non-decreasing from 0, without gaps.
    """
    leaf = np.arange(len(leaf_mass))
    group = np.cumsum(leaf % (SUB_CELLS // np.maximum(parts, 1))[leaf // SUB_CELLS] == 0) - 1
    mass = np.bincount(group, weights=leaf_mass)
    width = np.bincount(group) / SUB_CELLS
    spread = np.sqrt(mass * width)
    measure = MASS_MIX * mass / mass.sum() + (1 - MASS_MIX) * spread / spread.sum()
    upto = np.cumsum(measure)
    bins = np.minimum(((upto - measure / 2) * wanted).astype(np.int64), wanted - 1)
    dense: Ints = np.unique(bins, return_inverse=True)[1].astype(np.int64)
    return np.asarray(dense[group])


def _scaled(counts: Floats, total: float) -> Floats:
    counts = np.maximum(counts, 1e-3 * total / len(counts))
    return np.asarray(counts * total / counts.sum())
