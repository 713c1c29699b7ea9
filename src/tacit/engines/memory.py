"""The memory engine: sealed columns of small integers, aggregated by all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tacit.arrays import Bytes, Codes, Ints, Numbers32
from tacit.encoding.values import DROPPED
from tacit.engines import kernels
from tacit.engines.cover import CoverCounts, StreamedCounts, first_match
from tacit.engines.dense import DENSE_QUERIES, DenseEngine, DenseRows
from tacit.engines.fourier_rows import FourierRows
from tacit.engines.joint_rows import joint_labels
from tacit.engines.products import are_products, product_histograms
from tacit.engines.score_rows import ScoreRows
from tacit.engines.tree_rows import LeafCache, SplitCache, split_histogram
from tacit.queries.cells import Cells, OneCell, ProductCells
from tacit.queries.covers.candidates import Conjunctions, FirstMatch, StreamedConjunctions
from tacit.queries.fourier import FourierSum, ScatterSum
from tacit.queries.histogram import SCORE_QUERIES, CellFunction, Histogram
from tacit.queries.joint_bound import JointBound, JointHistogram
from tacit.queries.margins import FourierUpdate, Margins, Update
from tacit.queries.query import Layout, Query
from tacit.queries.rules import RowRule
from tacit.queries.tree_cells import SplitHistogram, TreeCells

Pass = Callable[[int, int, Ints], Any]
"""A pass over rows ``start .. stop - 1`` that adds to a vector of int64 sums."""

BLOCK = 1 << 16
"""Rows below which a second thread costs more than it saves."""

WIDE_DROPPED = 65535
"""What :data:`~tacit.encoding.values.DROPPED` is where label codes are uint16."""


class _MarginCache:
    """The running margins of one log: how much of it is applied, and the sums."""

    def __init__(self, n_rows: int) -> None:
        self.applied = 0
        self.sums = np.zeros(n_rows, np.int32)


class MemoryTable:
    """Rows in memory, column by column.

    Args:
        columns: one vector of codes per column, uint8 or uint16, all of one length.
        labels: uint8 class codes; rows with :data:`DROPPED` are left out, whatever the rest holds. Codes that hold a
            weight beside the class may be uint16, with :data:`WIDE_DROPPED`.
        n_codes: number of codes of every column (public).
        n_labels: number of classes (public).
        threads: how many cores to use; None for all.
        dense: fixed-point rows beside the columns, for vector sums.
        targets: numeric labels in fixed point, int32; a label code then only says whether a row counts.
    """

    def __init__(
        self,
        columns: Sequence[Codes],
        labels: Codes,
        n_codes: Sequence[int],
        n_labels: int,
        threads: int | None = None,
        dense: DenseRows | None = None,
        targets: Numbers32 | None = None,
    ) -> None:
        keep = labels != (WIDE_DROPPED if labels.dtype == np.uint16 else DROPPED)
        if not keep.all():
            columns = [column[keep] for column in columns]
            labels = labels[keep]
            targets = None if targets is None else targets[keep]
            dense = None if dense is None else dense.keep(keep)
        self._columns: list[Codes] = list(columns)
        self._labels = labels
        self._layout = Layout(tuple(n_codes), n_labels, 0 if dense is None else dense.n_features)
        self._threads = threads or os.cpu_count() or 1
        self._pool: ThreadPoolExecutor | None = None
        self._margins: WeakKeyDictionary[Margins, _MarginCache] = WeakKeyDictionary()
        self._derived: WeakKeyDictionary[Cells, Codes] = WeakKeyDictionary()
        self._joint: WeakKeyDictionary[JointBound, Codes] = WeakKeyDictionary()
        self._zeros = np.zeros(len(labels), np.uint8)
        self._counted: dict[int, tuple[RowRule, Ints]] = {}
        self._dense = None if dense is None else DenseEngine(dense, self._classes(), self._in_parallel)
        self._leaves = LeafCache(self._columns, self._in_parallel)
        self._splits = SplitCache()
        self._fourier = FourierRows(self._columns, lambda: self._layout.n_codes, labels, self._in_parallel)
        self._score_rows = ScoreRows(labels, targets, self._codes, self._in_parallel)

    @property
    def layout(self) -> Layout:
        """What is public."""
        return self._layout

    def answer(self, query: Query | JointHistogram) -> Ints:
        """The exact answer to a query, shape ``query.shape``."""
        if isinstance(query, Histogram):
            return query.finish(self._histogram(query))
        if isinstance(query, JointHistogram):
            asked, joint = query.histogram, self._joint[query.bound]
            if isinstance(asked, Histogram):
                return asked.finish(self._histogram(asked, joint))
            return self._score_rows.answer(asked, joint)
        if isinstance(query, CellFunction):
            return query.finish(self._histogram(query.histogram))
        if isinstance(query, SplitHistogram):
            return self._splits.of(query, lambda: self._split_histogram(query))
        if isinstance(query, SCORE_QUERIES):
            return self._score_rows.answer(query)
        if isinstance(query, FourierSum):
            return self._fourier.sums(query, self._caught_up(query.margins)[0])
        if isinstance(query, ScatterSum):
            return self._fourier.scatter(query)
        if self._dense is not None and isinstance(query, DENSE_QUERIES):
            return self._dense.answer(query)
        raise TypeError(f"the memory engine cannot answer a {type(query).__name__}")

    def answer_all(self, queries: Sequence[Query]) -> list[Ints]:
        """The exact answers to several queries; products of columns under one rule take one pass together."""
        if are_products(queries):
            margins, _ = self._caught_up(queries[0].margins)
            histograms = product_histograms(queries, self._columns, self._labels, margins, self._in_parallel)
            return [query.finish(found) for query, found in zip(queries, histograms, strict=True)]
        return [self.answer(query) for query in queries]

    def coarsen(self, column: int, mapping: Ints) -> None:
        """Replaces a column's codes by a public map of them (at most 256 values: one byte a cell)."""
        size = int(mapping.max()) + 1
        if len(mapping) != self._layout.n_codes[column] or mapping.min() < 0 or size > 256:
            raise ValueError(f"a map for column {column} needs {self._layout.n_codes[column]} values in 0..255")
        if len(self._joint):
            raise RuntimeError("rows are bounded together by their codes: those cannot change now")
        for margins in list(self._margins):  # updates so far speak of the old codes
            self._caught_up(margins)
        self._score_rows.catch_up()
        self._counted.pop(column, None)
        coarse = np.empty(len(self._labels), np.uint8)
        old, table = self._columns[column], mapping.astype(np.uint8)
        self._in_parallel(lambda start, stop, _: kernels.map_codes(old, table, coarse, start, stop))
        self._columns[column] = coarse
        n_codes = list(self._layout.n_codes)
        n_codes[column] = size
        self._layout = Layout(tuple(n_codes), self._layout.n_labels, self._layout.n_dense)

    def derive(self, cells: Cells) -> None:
        """Keeps the codes of ``cells`` for as long as the object lives, because many queries will use them."""
        if not isinstance(cells, ProductCells | OneCell):
            raise TypeError(f"codes of columns can be kept, not those of {type(cells).__name__}")
        if cells not in self._derived:  # kept codes stay what they are, whatever becomes of their columns
            self._derived[cells] = self._product(cells) if isinstance(cells, ProductCells) else self._zeros

    def bind(self, bound: JointBound, own_levels: int) -> None:
        """Weighs every row down until it keeps the bound, for as long as that lives. Codes stay as they are then."""
        n_labels = self._layout.n_labels
        self._joint[bound] = joint_labels(bound, self._labels, n_labels, own_levels, self._codes, self._in_parallel)

    def open_cover(self, conjunctions: Conjunctions) -> CoverCounts:
        """Class counts of conjunctions over rows that leave as conjunctions are chosen."""
        return CoverCounts(conjunctions, self._columns, self._classes(), self._layout.n_labels, self._threads)

    def open_streamed_cover(self, conjunctions: StreamedConjunctions) -> StreamedCounts:
        """The same for candidates that are made block by block."""
        return StreamedCounts(conjunctions, self._columns, self._classes(), self._layout.n_labels, self._threads)

    def _classes(self) -> Bytes:
        """The labels, for passes over plain classes."""
        if self._labels.dtype == np.uint16:
            raise TypeError("these labels hold weights beside classes")
        return self._labels.astype(np.uint8, copy=False)

    def _split_histogram(self, query: SplitHistogram) -> Ints:
        held = tuple(self._layout.n_codes[column] for column in query.columns)
        if any(asked < codes for asked, codes in zip(query.n_codes, held, strict=True)):
            raise ValueError(f"the columns have {held} codes, and the query knows {query.n_codes}")
        margins, _ = self._caught_up(query.margins)
        leaves = self._leaves.of(query.cells)
        parents = self._splits.parents(query)
        return split_histogram(query, leaves, self._columns, self._labels, margins, self._in_parallel, parents)

    def _histogram(self, query: Histogram, joint: Codes | None = None) -> Ints:
        """Sums by cell; ``joint`` in place of the labels where rows are bounded together."""
        channels, rule, labels = query.rule.channels, query.rule.table.reshape(-1), self._labels
        labels = labels if joint is None else joint
        run: Pass
        if query.margins is None or not query.rule.uses_margin:
            if joint is not None:
                raise TypeError("rows are bounded together in sums that depend on margins")
            codes, lookup = self._codes(query.cells)
            return _folded(self._counts(query, codes, len(lookup)), lookup, query.cells.size)
        if channels <= 2:
            margins, last = self._caught_up(query.margins, leave=1)  # before leaves: trees share the memory for them
            old_codes, steps = self._steps(last)
            codes, lookup = self._codes(query.cells)
            fused = kernels.update_and_sum if channels == 1 else kernels.update_and_sum_two

            def run(start: int, stop: int, sums: Ints) -> None:
                fused(old_codes, steps, codes, labels, rule, margins, sums, start, stop)

        else:
            margins, _ = self._caught_up(query.margins)
            codes, lookup = self._codes(query.cells)

            def run(start: int, stop: int, sums: Ints) -> None:
                kernels.weighted_sum(codes, labels, rule, channels, margins, sums, start, stop)

        by_code = self._in_parallel(run, len(lookup) * channels).reshape(len(lookup), channels)
        return _folded(by_code, lookup, query.cells.size)

    def _counts(self, query: Histogram, codes: Codes, size: int) -> Ints:
        """Sums by code of a rule without margins. A column's last ones are kept: bins ask coarsely, then finely."""
        rule, column = query.rule, -1 if query.cells in self._derived else _only_column(query.cells)
        if column in self._counted and self._counted[column][0] is rule:
            return self._counted[column][1]
        flat, labels, channels = rule.table.reshape(-1), self._labels, rule.channels

        def run(start: int, stop: int, sums: Ints) -> None:
            kernels.count(codes, labels, flat, channels, sums, start, stop)

        by_code = self._in_parallel(run, size * channels).reshape(size, channels)
        if column >= 0:
            self._counted[column] = (rule, by_code)
        return by_code

    def _caught_up(self, margins: Margins, leave: int = 0) -> tuple[Numbers32, Update | None]:
        """The running margins, the log applied but for its last ``leave`` new entries, which the caller applies."""
        cache = self._margins.get(margins)
        if cache is None:
            cache = self._margins[margins] = _MarginCache(len(self._labels))
        pending = margins.updates[cache.applied :]
        last = None
        if leave and pending and isinstance(pending[-1], Update):
            last = pending[-1]
            del pending[-1]
        sums = cache.sums
        for entry in pending:
            if isinstance(entry, FourierUpdate):
                self._fourier.update(entry, sums)
                continue
            codes, steps = self._steps(entry)
            self._in_parallel(partial(_update, codes, steps, sums))
        cache.applied = len(margins.updates)
        return sums, last

    def _steps(self, entry: Update | None) -> tuple[Codes, Numbers32]:
        """An update as codes and what to add for each code."""
        if entry is None:
            return self._zeros, np.zeros(1, np.int32)
        codes, lookup = self._codes(entry.cells)
        return codes, np.ascontiguousarray(entry.values[lookup])

    def _codes(self, cells: Cells) -> tuple[Codes, Numbers32]:
        """Codes of all rows and the table from code to cell."""
        derived = self._derived.get(cells)
        if derived is not None:
            return derived, np.arange(cells.size, dtype=np.int32)
        if isinstance(cells, OneCell):
            return self._zeros, np.zeros(1, np.int32)
        if isinstance(cells, ProductCells):
            if len(cells.columns) == 1:
                return self._columns[cells.columns[0]], cells.offsets[0]
            return self._product(cells), np.arange(cells.size, dtype=np.int32)
        if isinstance(cells, FirstMatch):
            return first_match(cells, self._columns, len(self._labels)), np.arange(cells.size, dtype=np.int32)
        if isinstance(cells, TreeCells):
            return self._leaves.of(cells), np.arange(cells.size, dtype=np.int32)
        raise TypeError(f"the memory engine has no rule for {type(cells).__name__}")

    def _product(self, cells: ProductCells) -> Codes:
        n_rows = len(self._labels)
        out: Codes = np.zeros(n_rows, np.uint8) if cells.size <= 256 else np.zeros(n_rows, np.uint16)
        if len(cells.columns) == 2:
            one, two = (self._columns[column] for column in cells.columns)
            a, b = (offsets.astype(out.dtype) for offsets in cells.offsets)
            self._in_parallel(lambda start, stop, _: kernels.map_two(one, a, two, b, out, start, stop))
            return out
        for column, offsets in zip(cells.columns, cells.offsets, strict=True):
            codes = self._columns[column]
            table: Codes = offsets.astype(np.uint8) if out.dtype == np.uint8 else offsets.astype(np.uint16)
            self._in_parallel(partial(_add_mapped, codes, table, out))
        return out

    def _in_parallel(self, run: Pass, size: int = 0, block: int = BLOCK) -> Ints:
        """Runs a pass over all rows in row ranges, one per thread, and adds their int64 sums up."""
        n_rows = len(self._labels)
        parts = min(self._threads, max(1, n_rows // block))
        if parts == 1:
            sums = np.zeros(size, np.int64)
            run(0, n_rows, sums)
            return sums
        bounds = [n_rows * part // parts for part in range(parts + 1)]
        results = [np.zeros(size, np.int64) for _ in range(parts)]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads - 1)
        others = [self._pool.submit(run, *part) for part in zip(bounds[1:-1], bounds[2:], results[1:], strict=True)]
        run(bounds[0], bounds[1], results[0])  # the first part here: one thread fewer to wake
        for other in others:
            other.result()
        total: Ints = np.sum(results, axis=0, dtype=np.int64)
        return total


def _only_column(cells: Cells) -> int:
    """The column whose codes these cells merge, or -1."""
    return cells.columns[0] if isinstance(cells, ProductCells) and len(cells.columns) == 1 else -1


def _folded(by_code: Ints, lookup: Numbers32, size: int) -> Ints:
    """Sums by cell from sums by code."""
    by_cell = np.zeros((size, by_code.shape[1]), np.int64)
    np.add.at(by_cell, lookup, by_code)
    return by_cell


def _update(codes: Codes, steps: Numbers32, margins: Numbers32, start: int, stop: int, _: Any) -> None:
    kernels.update(codes, steps, margins, start, stop)


def _add_mapped(codes: Codes, offsets: Codes, out: Codes, start: int, stop: int, _: Any) -> None:
    kernels.add_mapped_codes(codes, offsets, out, start, stop)
