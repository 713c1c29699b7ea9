"""Bins from noisy counts: where the rows are, so that every bin is worth its noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.additive.density import smooth_histogram
from tacit.additive.term import LEAST_SD
from tacit.curator.curator import Curator
from tacit.privacy.purse import Purse
from tacit.queries.cells import OneCell, mapped_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import RowRule

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BASE_CELLS = 64
SUB_CELLS = 64
FEW_SUB_CELLS = 16
"""Parts of a cell that is heavy, but not so heavy that it may hold spikes worth finding."""

BASE_SHARE = 0.6
"""Share of a column's binning budget for the coarse histogram; the rest is for splitting its heavy cells."""

LARGEST, SMALLEST = 48, 6
MASS_MIX = 0.75
MAX_CATEGORIES = 128


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


def count_rule_fine(n_labels: int) -> RowRule:
    """Every row counts 1, on a lattice of 1/64, so that the lattice does not coarsen small noise."""
    return RowRule(np.full((n_labels, 1, 1), 64, np.int32), unit=64)


def release_total(curator: Curator, purse: Purse, share: float) -> float:
    """The number of rows that count (those with a known label), with noise, and never absurdly small."""
    query = Histogram(OneCell(), count_rule_fine(curator.layout.n_labels))
    sd = purse.sd(share)
    released = curator.measure(query, purse.charge(share), "number of rows").value.item()
    return max(released, 30.0, 0.5 * sd)


def categorical_bins(curator: Curator, purse: Purse, column: int, name: str, share: float, total: float) -> Bins:
    """Counts of the categories, shrunk to uniform; the rarest share one bin when there are very many."""
    n_codes = curator.layout.n_codes[column]
    query = Histogram(mapped_cells(column, np.arange(n_codes)), count_rule_fine(curator.layout.n_labels))
    release = curator.measure(query, purse.charge(share), f"counts of {name}")
    counts: Floats = release.value[:, 0]
    sd = max(release.sd, LEAST_SD)
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


def numeric_bins(curator: Curator, purse: Purse, column: int, name: str, share: float, total: float) -> Bins:
    """Bins of a numeric column from two noisy histograms: uniform cells, then the heavy ones split again."""
    rule, cells = count_rule_fine(curator.layout.n_labels), _Cells.over(curator.layout.n_codes[column])
    coarse = curator.measure(
        Histogram(mapped_cells(column, cells.base), rule), purse.charge(BASE_SHARE * share), f"coarse counts of {name}"
    )
    sd = max(coarse.sd, LEAST_SD)
    missing = max(float(coarse.value[-1, 0]) - 0.5 * sd, 0.0)
    masses = smooth_histogram(coarse.value[:-1, 0], sd, max(total - missing, 0.2 * total))
    fine_charge = purse.charge((1 - BASE_SHARE) * share)
    fine_sd = max(purse.sd((1 - BASE_SHARE) * share), LEAST_SD)
    parts = np.where(masses > total / 8, SUB_CELLS, np.where(masses > max(total / 48, 4 * fine_sd), FEW_SUB_CELLS, 0))
    parts[masses <= 4 * fine_sd] = 0
    leaf_mass = np.repeat(masses / SUB_CELLS, SUB_CELLS)
    if parts.any():
        query = Histogram(mapped_cells(column, cells.inside(parts)), rule)
        detail = curator.measure(query, fine_charge, f"fine counts of {name}")
        ends = np.cumsum(parts)
        for cell in np.flatnonzero(parts):
            part = detail.value[ends[cell] - parts[cell] : ends[cell], 0]
            found = smooth_histogram(part, max(detail.sd, LEAST_SD), masses[cell])
            width = SUB_CELLS // parts[cell]
            leaf_mass[cell * SUB_CELLS : (cell + 1) * SUB_CELLS] = np.repeat(found / width, width)
    leaf_bin = _cut(leaf_mass, parts, int(np.clip(total / (2 * sd), SMALLEST, LARGEST)))
    used, leaf_bin[cells.reachable] = np.unique(leaf_bin[cells.reachable], return_inverse=True)
    counts = np.bincount(leaf_bin[cells.reachable], weights=leaf_mass[cells.reachable])
    mapping = np.append(leaf_bin, len(used))[cells.leaf]
    return Bins(mapping, _scaled(np.append(counts, max(missing, 1.0)), total), ordered=True)


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
