"""Bins from noisy counts: where the rows are, so that every bin is worth its noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.additive.density import smooth_histograms
from tacit.boosting.shape_search import LOUD, ShapeSearch
from tacit.curator.curator import Curator
from tacit.curator.measurement import LEAST_SD, Measurement
from tacit.privacy.charges import Charge
from tacit.privacy.purse import Purse
from tacit.queries.cells import OneCell, mapped_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import RowRule, fine_count_rule

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Question = tuple[Histogram, Charge, str]
"""What to release, for what, and what the ledger calls it."""

BASE_CELLS = 64
SUB_CELLS = 64
FEWER_SUB_CELLS = (16, 8)
"""Parts of a cell of over a 16th of the rows, and of one of less: not so heavy that spikes in it are worth finding."""

BASE_SHARE = 0.6
"""Share of a column's binning budget for the coarse histogram; the rest is for splitting its heavy cells."""

LARGEST, SMALLEST, SMALLEST_OF_SHAPES = 48, 6, 12
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


@dataclass(frozen=True)
class _Budget:
    """What one column's bins may cost, and what they are made of.

    Attributes:
        purse: of the whole fit.
        share: of it, for one column: :data:`BASE_SHARE` of that for a first look, the rest for a second.
        total: released number of rows.
        rule: by which a row counts 1.
    """

    purse: Purse
    share: float
    total: float
    rule: RowRule

    def part(self, second: bool) -> float:
        return self.share * (1 - BASE_SHARE if second else BASE_SHARE)

    def sd(self, second: bool) -> float:
        return max(self.purse.sd(self.part(second)), LEAST_SD)

    @property
    def is_loud(self) -> bool:
        """Whether noise drowns what a cell can hold."""
        return self.total < LOUD * self.sd(False)


class _Looks(Protocol):
    """Up to two releases about a column, and the bins that follow from them."""

    def ask(self, second: bool) -> Question | None:
        """What to release at this look; None for nothing."""

    def take(self, release: Measurement) -> None:
        """Takes in the answer."""

    def bins(self) -> Bins:
        """The bins, after the last look."""


class _Categories:
    """Counts of the categories, shrunk to uniform; the rarest share one bin when there are very many."""

    def __init__(self, column: Column, n_codes: int, budget: _Budget) -> None:
        self._column, self._n_codes, self._budget = column, n_codes, budget

    def ask(self, second: bool) -> Question | None:
        if second:
            return None
        query = Histogram(mapped_cells(self._column.index, np.arange(self._n_codes)), self._budget.rule)
        return query, self._budget.purse.charge(self._budget.share), f"counts of {self._column.name}"

    def take(self, release: Measurement) -> None:
        self._release = release

    def bins(self) -> Bins:
        counts: Floats = self._release.value[:, 0]
        total, n_codes, sd = self._budget.total, len(counts), max(self._release.sd, LEAST_SD)
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


class _Counted:
    """Two noisy histograms of a numeric column: uniform cells, then the heavy ones split again."""

    def __init__(self, column: Column, n_codes: int, budget: _Budget) -> None:
        self._column, self._cells, self._budget = column, _Cells.over(n_codes), budget
        self._fine: Measurement | None = None
        self._parts: Ints = np.zeros(BASE_CELLS, np.int64)
        self._seen = False

    def ask(self, second: bool) -> Question | None:
        if second and not self._parts.any():
            return None
        cells = self._cells.inside(self._parts) if second else self._cells.base
        query = Histogram(mapped_cells(self._column.index, cells), self._budget.rule)
        what = f"{'fine' if second else 'coarse'} counts of {self._column.name}"
        return query, self._budget.purse.charge(self._budget.part(second)), what

    def take(self, release: Measurement) -> None:
        if self._seen:
            self._fine = release
            return
        self._seen, total = True, self._budget.total
        self._sd = sd = max(release.sd, LEAST_SD)
        self._missing = max(float(release.value[-1, 0]) - 0.5 * sd, 0.0)
        kept = np.array([max(total - self._missing, 0.2 * total)])
        self._masses = masses = smooth_histograms(release.value[None, :-1, 0], sd, kept)[0]
        self._parts = np.select(
            [masses <= 4 * self._budget.sd(True), masses > total / 8, masses > total / 16, masses > total / 48],
            [0, SUB_CELLS, *FEWER_SUB_CELLS],
            0,
        )

    def bins(self) -> Bins:
        parts, total = self._parts, self._budget.total
        leaf_mass = np.repeat(self._masses / SUB_CELLS, SUB_CELLS).reshape(BASE_CELLS, SUB_CELLS)
        if self._fine is not None:
            starts = np.cumsum(parts) - parts
            for size in (SUB_CELLS, *FEWER_SUB_CELLS):
                split = np.flatnonzero(parts == size)
                if not len(split):
                    continue
                noisy = self._fine.value[starts[split][:, None] + np.arange(size), 0]
                found = smooth_histograms(noisy, max(self._fine.sd, LEAST_SD), self._masses[split])
                leaf_mass[split] = np.repeat(found * size / SUB_CELLS, SUB_CELLS // size, axis=1)
        masses = leaf_mass.ravel()
        leaf_bin = _cut(masses, parts, int(np.clip(total / (2 * self._sd), SMALLEST, LARGEST)))
        return _bins_of_leaves(self._cells, leaf_bin, masses, self._missing, total)


class _Searched:
    """Two looks at the shape of a numeric column, where noise drowns what a cell can hold."""

    def __init__(self, column: Column, n_codes: int, budget: _Budget) -> None:
        self._column, self._cells, self._budget = column, _Cells.over(n_codes), budget
        self._search = ShapeSearch(column.index, n_codes, budget.total)

    def ask(self, second: bool) -> Question | None:
        budget = self._budget
        query = self._search.query(budget.rule, budget.sd(second), budget.purse.is_pure)
        what = f"{'shape' if second else 'outline'} of {self._column.name}"
        return query, budget.purse.charge(budget.part(second)), what

    def take(self, release: Measurement) -> None:
        self._search.observe(release)

    def bins(self) -> Bins:
        found, total = self._search.masses, self._budget.total
        masses: Floats = np.zeros(BASE_CELLS * SUB_CELLS)
        np.add.at(masses, self._cells.leaf[:-1], found[:-1])
        wanted = int(np.clip(total / (2 * self._budget.sd(False)), SMALLEST_OF_SHAPES, LARGEST))
        leaf_bin = _cut(masses, np.full(BASE_CELLS, SUB_CELLS), wanted)
        return _bins_of_leaves(self._cells, leaf_bin, masses, float(found[-1]), total)


def _bins_of_leaves(cells: _Cells, leaf_bin: Ints, masses: Floats, missing: float, total: float) -> Bins:
    """Bins numbered without gaps among the leaves that a code can reach, "missing" last."""
    reachable = cells.reachable
    used, leaf_bin[reachable] = np.unique(leaf_bin[reachable], return_inverse=True)
    counts = np.bincount(leaf_bin[reachable], weights=masses[reachable])
    mapping = np.append(leaf_bin, len(used))[cells.leaf]
    return Bins(mapping, _scaled(np.append(counts, max(missing, 1.0)), total), ordered=True)


def measure_bins(curator: Curator, purse: Purse, columns: Sequence[Column], total: float, share: float) -> list[Bins]:
    """Bins of every column, each for ``share`` of the purse; the columns' codes in the table are replaced by them."""
    layout = curator.layout
    budget = _Budget(purse, share, total, fine_count_rule(layout.n_labels))
    numeric = _Searched if budget.is_loud else _Counted
    looks: list[_Looks] = [
        (numeric if column.ordered else _Categories)(column, layout.n_codes[column.index], budget) for column in columns
    ]
    for second in (False, True):
        asked = [(look, question) for look in looks if (question := look.ask(second)) is not None]
        for (look, _), release in zip(asked, curator.measure_all([question for _, question in asked]), strict=True):
            look.take(release)
    made = [look.bins() for look in looks]
    for column, bins in zip(columns, made, strict=True):
        curator.coarsen(column.index, bins.mapping)
    return made


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
