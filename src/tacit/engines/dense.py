"""Dense fixed-point rows: integer margins under released halfspaces, and weighted integer sums.

Everything is integer, so an answer does not depend on the order of additions, blocks, or threads. A stateless measure
takes one pass over the rows (margins and sum, block by block while the block is in cache); a capped measure takes two,
because its scale depends on all margins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Bytes, Ints
from tacit.engines import dense_kernels as kernels
from tacit.queries.dense.halfspace_log import RADIUS_16, HalfspaceLog, HalfspaceStep, Levels, MarginCounts, MeasureSize
from tacit.queries.dense.moments import MULTIPLIER_BITS, MomentSum, ShortenedSquares
from tacit.queries.dense.vector_sum import CappedSum, CappedWeights, VectorSum

Parallel = Callable[[Callable[[int, int, Ints], None], int, int], Ints]
"""Runs a pass over row ranges of at least a given number of rows; adds up its int64 sums of a given size."""

Zeros = Callable[[int, Any], npt.NDArray[Any]]

THREAD_CELLS = 1 << 19
"""Cells below which a second thread costs more than it saves."""

CACHE_BYTES = 1 << 18
"""Bytes of what two kernels visit one after the other: a block of rows, or of numbers per row."""

PASS_BYTES = 1 << 15
"""The same where a kernel itself goes from block to block: there a block costs nothing, and may be small."""


@dataclass(frozen=True, eq=False)
class DenseRows:
    """Integer rows of Euclidean length at most ``radius``; every one of them is checked when this is made."""

    values: npt.NDArray[np.int16] | npt.NDArray[np.int32]  # shape `(n, n_features)`, or those that a CSR matrix stores
    radius: int  # the length that stands for a row of norm 1
    n_features: int
    indices: npt.NDArray[np.int32] | None = None  # column of each stored value; None for a full matrix
    indptr: Ints | None = None  # start of each row in `values`, `n + 1` entries; None for a full matrix

    def __post_init__(self) -> None:
        if self.values.dtype not in (np.int16, np.int32) or (self.values.dtype == np.int16 and self.radius > RADIUS_16):
            raise ValueError(
                f"rows of radius {self.radius} must be int16 or int32 and hold it, got {self.values.dtype}"
            )
        if (self.indices is None) != (self.indptr is None):
            raise ValueError("sparse rows need both indices and indptr")
        if self.indices is not None and self.indptr is not None:
            if len(self.indices) and not 0 <= int(self.indices.min()) <= int(self.indices.max()) < self.n_features:
                raise ValueError(f"column indices must lie in 0..{self.n_features - 1}")
            longest = kernels.longest_sparse(self.values, self.indptr)
        else:
            if self.values.ndim != 2 or self.values.shape[1] != self.n_features:
                raise ValueError(f"full rows need shape (n, {self.n_features}), got {self.values.shape}")
            longest = kernels.longest_dense(self.values)
        if longest > self.radius**2:
            raise ValueError("a row is longer than the radius: encode rows before sealing them")

    @property
    def n_rows(self) -> int:
        return len(self.values) if self.indptr is None else len(self.indptr) - 1

    def keep(self, mask: Bools) -> DenseRows:
        """The rows where ``mask`` holds, in their order."""
        if self.indices is None or self.indptr is None:
            return DenseRows(self.values[mask], self.radius, self.n_features)
        lengths = np.diff(self.indptr)
        stored = np.repeat(mask, lengths)
        indptr = np.concatenate(([0], np.cumsum(lengths[mask])))
        return DenseRows(self.values[stored], self.radius, self.n_features, self.indices[stored], indptr)


@dataclass(eq=False)
class _LogCache:
    """The running margins of one log: how much of it is applied, and the sums.

    They are kept in 32 bits for as long as no row's can be larger: of narrow rows, margins are half of what is read.
    ``reach`` is what the ``seen`` first steps can add up to.
    """

    sums: npt.NDArray[np.int32] | Ints
    applied: int = 0
    seen: int = 0
    reach: int = 0

    def widen_for(self, log: HalfspaceLog, zeros: Zeros) -> None:
        """Makes room for what the log can add up to."""
        self.reach += sum(step.limit for step in log.steps[self.seen :])
        self.seen = len(log.steps)
        if self.sums.dtype == np.int32 and self.reach >= 1 << 31:
            wide = zeros(len(self.sums), np.int64)
            wide[:] = self.sums
            self.sums = wide


@dataclass(frozen=True, eq=False)
class _Steps:
    """Released halfspaces as the kernels take them: vectors, a line each, and their multipliers, shifts and limits."""

    arrays: tuple[npt.NDArray[np.int16], Ints]

    @staticmethod
    def of(steps: Sequence[HalfspaceStep], padded: int) -> _Steps:
        """The vectors are filled up with zeros to a width."""
        vectors, sizes = np.zeros((len(steps), padded), np.int16), np.zeros((len(steps), 3), np.int64)
        for k, step in enumerate(steps):
            vectors[k, : len(step.vector)] = step.vector
            sizes[k] = step.multiplier, step.shift, step.limit
        return _Steps((vectors, sizes))


@dataclass(eq=False)
class DenseEngine:
    """Answers vector sums over dense rows of two classes."""

    rows: DenseRows
    labels: Bytes
    parallel: Parallel
    zeros: Zeros
    _logs: WeakKeyDictionary[HalfspaceLog, _LogCache] = field(default_factory=WeakKeyDictionary)
    _counted: tuple[CappedSum, int, list[tuple[int, Ints]]] | None = None

    def __post_init__(self) -> None:
        if len(self.labels) != self.rows.n_rows:
            raise ValueError(f"{self.rows.n_rows} rows need that many labels, got {len(self.labels)}")
        self._flat = np.ascontiguousarray(self.rows.values).reshape(-1)
        self._signs, self._ones = self.zeros(len(self.labels), np.int8), self.zeros(len(self.labels), np.int8)
        self._signs[:] = np.where(self.labels == 1, 1, -1)
        self._ones[:] = 1
        self._levels = self.zeros(len(self.labels), np.uint16)  # of the last query; kept, as fresh memory costs time
        self._row_cells = self.rows.values.size / max(1, self.rows.n_rows)
        self._block = max(64, int(CACHE_BYTES / (self._row_cells * self.rows.values.itemsize + 16)))
        self._light_block = max(64, CACHE_BYTES // 16)  # where rows themselves are visited once
        self._is_16 = self.rows.indices is None and self.rows.values.dtype == np.int16
        if self._is_16:
            self._light_block = PASS_BYTES // 16
            self._block = min(self._block, self._light_block)
        self._thread_rows = max(1, int(THREAD_CELLS / max(1.0, self._row_cells)))

    def vector_sum(self, query: VectorSum) -> Ints:
        margins, pending = self._open(query.log)
        table, limit = query.table.astype(np.int32), int(np.abs(query.table).max())
        rule, flat, width = (query.levels.shift, query.levels.count // 2, table), self._flat, self.rows.n_features
        signs, block = self._signs, self._block

        def run(start: int, stop: int, sums: Ints) -> None:
            if self._is_16:
                size = (block, margins, signs, *rule, self._group(limit), sums, start, stop)
                kernels.stateless_pass_int16(flat, width, *pending.arrays, *size)
                return
            weights = np.empty(block, np.int32)
            for low, high in _blocks(start, stop, block):
                self._advance(pending, margins, low, high)
                kernels.signed_weights(margins, signs, *rule, weights, low, high)
                self._add(weights, sums, low, high)

        return self.parallel(run, self.rows.n_features, self._thread_rows)

    def level_counts(self, query: CappedSum) -> Ints:
        """How many rows there are by level of their margin: what a capped measure takes its scale from."""
        counted: list[tuple[int, Ints]] = []
        histogram = self._level_histogram(query, counted)
        self._counted = (query, len(query.log.steps), counted)
        return histogram

    def capped_sum(self, query: CappedSum, capped: CappedWeights, before: int) -> Ints:
        """The exact share of these rows in the answer; weights follow from the levels of all rows of the table.

        ``before``: how many rows of level ``capped.level`` stand before these.
        """
        if self._counted is None or self._counted[0] is not query or self._counted[1] != len(query.log.steps):
            self.level_counts(query)
        assert self._counted is not None
        counted, group = self._counted[2], self._group(1 << query.bits)
        rule = (capped.table.astype(np.int32), capped.level, capped.full_rows, capped.step, capped.partial)
        levels, signs, flat, width, block = (
            self._levels,
            self._signs,
            self._flat,
            self.rows.n_features,
            self._light_block,
        )

        def run(start: int, stop: int, sums: Ints) -> None:
            seen = before + sum(int(counts[capped.level]) for other, counts in counted if other < start)
            if self._is_16:
                kernels.capped_pass_int16(flat, width, block, levels, signs, *rule, seen, group, sums, start, stop)
                return
            weights = np.empty(block, np.int32)
            for low, high in _blocks(start, stop, block):
                seen = kernels.capped_weights(levels, signs, *rule, seen, weights, low, high)
                self._add(weights, sums, low, high)

        return self.parallel(run, width, self._thread_rows)

    def measure_size(self, query: MeasureSize) -> Ints:
        return np.array([int(self._level_histogram(query, []) @ query.table)], np.int64)

    def margin_counts(self, query: MarginCounts) -> Ints:
        margins, pending = self._open(query.log)
        count, levels = query.levels.count, self._levels

        def run(start: int, stop: int, counts: Ints) -> None:
            self._count_levels(pending, margins, self._ones, query.levels, np.zeros(count, np.int64), start, stop)
            cells = levels[start:stop].astype(np.int64) * 2 + (self.labels[start:stop] == 1)
            counts += np.bincount(cells, minlength=2 * count)

        return self.parallel(run, 2 * count, self._thread_rows).reshape(count, 2) * query.unit

    def moments(self, query: MomentSum) -> Ints:
        self._check(query)

        def run(start: int, stop: int, sums: Ints) -> None:
            for low, high in _blocks(start, stop, self._block):
                block, ends = self._stored(low, high)
                if query.order == 2:
                    block = (block * block) >> query.square_shift
                self._add_columns(block, ends, sums)

        return self.parallel(run, self.rows.n_features, self._thread_rows)

    def shortened_squares(self, query: ShortenedSquares) -> Ints:
        self._check(query)

        def run(start: int, stop: int, sums: Ints) -> None:
            for low, high in _blocks(start, stop, self._block):
                block, ends = self._stored(low, high)
                squares = (block * block) >> query.square_shift
                multipliers = query.multipliers(_sums_by_row(squares * squares, ends))
                lengths = _sums_by_row(squares, ends)
                sums[-1] += (lengths * (query.longest // 2) // query.unit).sum()
                each = multipliers[:, None] if ends is None else np.repeat(multipliers, np.diff(ends))
                self._add_columns((squares * each) >> MULTIPLIER_BITS, ends, sums[:-1])

        return self.parallel(run, self.rows.n_features + 1, self._thread_rows)

    def _check(self, query: MomentSum | ShortenedSquares) -> None:
        """Raises for a query over other rows."""
        if (query.n_features, query.radius) != (self.rows.n_features, self.rows.radius):
            raise ValueError(f"the query is over {query.n_features} features of radius {query.radius}")

    def _stored(self, low: int, high: int) -> tuple[Ints, Ints | None]:
        """The integers of some rows, and where each sparse one begins, and the last ends."""
        ends = None if self.rows.indptr is None else self.rows.indptr[low : high + 1]
        stored = slice(low, high) if ends is None else slice(ends[0], ends[-1])
        return self.rows.values[stored].astype(np.int64), ends

    def _add_columns(self, values: Ints, ends: Ints | None, sums: Ints) -> None:
        """Adds up the columns of what :meth:`_stored` gave."""
        if ends is None or self.rows.indices is None:
            sums += values.sum(axis=0)
        else:
            np.add.at(sums, self.rows.indices[ends[0] : ends[-1]], values)

    def _level_histogram(self, query: CappedSum | MeasureSize, parts: list[tuple[int, Ints]]) -> Ints:
        """Brings the margins up to date; writes every row's level and counts them.

        ``parts`` is given the first row of every part of the pass, and the counts of that part.
        """
        margins, pending = self._open(query.log)

        def run(start: int, stop: int, counts: Ints) -> None:
            self._count_levels(pending, margins, self._signs, query.levels, counts, start, stop)
            parts.append((start, counts))

        return self.parallel(run, query.levels.count, self._thread_rows)

    def _count_levels(
        self, steps: _Steps, margins: npt.NDArray[np.signedinteger], signs: npt.NDArray[np.int8], levels: Levels,
        counts: Ints, start: int, stop: int,
    ) -> None:  # fmt: skip
        """A pass over some rows: margins, levels, numbers of rows by level."""
        rule = (signs, levels.shift, levels.count // 2, self._levels, counts)
        if self._is_16:
            size = (self._light_block, margins, *rule, start, stop)
            kernels.level_pass_int16(self._flat, self.rows.n_features, *steps.arrays, *size)
            return
        for low, high in _blocks(start, stop, self._light_block):
            self._advance(steps, margins, low, high)
            kernels.count_levels(margins, *rule, low, high)

    def _open(self, log: HalfspaceLog) -> tuple[npt.NDArray[np.signedinteger], _Steps]:
        """The running margins of a log, and the steps that are not in them: whoever asks adds them."""
        if log.n_features != self.rows.n_features or log.radius != self.rows.radius:
            raise ValueError(
                f"the log is over {log.n_features} features of radius {log.radius}, the rows have "
                f"{self.rows.n_features} of radius {self.rows.radius}"
            )
        cache = self._logs.get(log)
        if cache is None:
            cache = self._logs[log] = _LogCache(self.zeros(self.rows.n_rows, np.int32))
        cache.widen_for(log, self.zeros)
        width, applied = self.rows.n_features, cache.applied
        cache.applied = len(log.steps)
        return cache.sums, _Steps.of(log.steps[applied:], _padded(width) if self._is_16 else width)

    def _advance(self, steps: _Steps, sums: npt.NDArray[np.signedinteger], start: int, stop: int) -> None:
        """Adds released halfspaces to the margins of some rows that are sparse or 32 bits wide."""
        rows = self.rows
        for vector, (multiplier, shift, limit) in zip(*steps.arrays, strict=True):
            size = (multiplier, shift, limit)
            if rows.indices is not None:
                kernels.advance_sparse(rows.values, rows.indices, rows.indptr, vector, *size, sums, start, stop)
            else:
                kernels.advance_int32(rows.values, vector, *size, sums, start, stop)

    def _group(self, limit: int) -> int:
        """How many rows an int32 sum can take, if no weight is above the limit."""
        return max(1, ((1 << 31) - 1) // (max(1, limit) * self.rows.radius))

    def _add(self, weights: npt.NDArray[np.int32], sums: Ints, start: int, stop: int) -> None:
        """Adds weighted rows that are sparse or 32 bits wide; ``weights`` are of rows ``start`` to ``stop - 1``."""
        rows = self.rows
        if rows.indices is not None:
            kernels.add_sparse(rows.values, rows.indices, rows.indptr, weights, start, sums, start, stop)
        else:
            kernels.add_int32(rows.values, weights, start, sums, start, stop)


def _sums_by_row(values: Ints, ends: Ints | None) -> Ints:
    """The sum of each row's values: of a full matrix, or of sparse rows with these starts and one end."""
    if ends is None:
        return np.asarray(values.sum(axis=1))
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])  # differences are exact, modulo 2**64
    sums: Ints = np.diff(before[ends - ends[0]])
    return sums


def _blocks(start: int, stop: int, size: int) -> list[tuple[int, int]]:
    """Row ranges of at most ``size`` rows."""
    return [(low, min(low + size, stop)) for low in range(start, stop, size)]


def _padded(width: int) -> int:
    """The width rounded up to whole vector instructions."""
    lanes = kernels.LANES if width <= kernels.LANES else kernels.WIDE_LANES
    return -(-width // lanes) * lanes
