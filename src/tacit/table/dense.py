"""Dense fixed-point rows: integer margins under released halfspaces, and weighted integer sums.

Everything is integer, so an answer does not depend on the order of additions, blocks, or threads. A stateless measure
takes one pass over the rows (margins and sum, block by block while the block is in cache); a capped measure takes two,
because its scale depends on all margins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tacit.queries.capped_sum import CappedSum
from tacit.queries.halfspace_log import RADIUS_16, HalfspaceLog, HalfspaceStep
from tacit.queries.levels import Levels
from tacit.queries.margin_counts import MarginCounts
from tacit.queries.measure_size import MeasureSize
from tacit.queries.moments import MomentSum
from tacit.queries.vector_sum import VectorSum
from tacit.table import dense_kernels as kernels

Parallel = Callable[[Callable[[int, int, npt.NDArray[np.int64]], None], int, int], npt.NDArray[np.int64]]
"""Runs a pass over row ranges of at least a given number of rows; adds up its int64 sums of a given size."""

DenseQuery = VectorSum | CappedSum | MeasureSize | MomentSum | MarginCounts
DENSE_QUERIES = (VectorSum, CappedSum, MeasureSize, MomentSum, MarginCounts)
"""What can be asked of dense rows."""

THREAD_CELLS = 1 << 19
"""Cells below which a second thread costs more than it saves."""

CACHE_BYTES = 1 << 18
"""Bytes of what two kernels visit one after the other: a block of rows, or of numbers per row."""

Step = tuple[npt.NDArray[np.int16], int, int, int]
"""A released halfspace as the kernels take it: vector, multiplier, shift, limit."""


@dataclass(frozen=True, eq=False)
class DenseRows:
    """Integer rows of Euclidean length at most ``radius``; every one of them is checked when this is made.

    Attributes:
        values: int16 or int32; shape ``(n, n_features)``, or the stored values of a CSR matrix.
        radius: the length that stands for a row of norm 1.
        n_features: width.
        indices: column of each stored value, int32; None for a full matrix.
        indptr: start of each row in ``values``, int64, ``n + 1`` entries; None for a full matrix.
    """

    values: npt.NDArray[np.int16] | npt.NDArray[np.int32]
    radius: int
    n_features: int
    indices: npt.NDArray[np.int32] | None = None
    indptr: npt.NDArray[np.int64] | None = None

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

    def keep(self, mask: npt.NDArray[np.bool_]) -> DenseRows:
        """The rows where ``mask`` holds, in their order."""
        if self.indices is None or self.indptr is None:
            return DenseRows(self.values[mask], self.radius, self.n_features)
        lengths = np.diff(self.indptr)
        stored = np.repeat(mask, lengths)
        indptr = np.concatenate(([0], np.cumsum(lengths[mask])))
        return DenseRows(self.values[stored], self.radius, self.n_features, self.indices[stored], indptr)


@dataclass(eq=False)
class _LogCache:
    """The running margins of one log: how much of it is applied, and the sums."""

    sums: npt.NDArray[np.int64]
    applied: int = 0


@dataclass(eq=False)
class DenseEngine:
    """Answers vector sums over dense rows.

    Args:
        rows: the rows.
        labels: uint8, 0 or 1, one per row.
        parallel: how to run a pass.
    """

    rows: DenseRows
    labels: npt.NDArray[np.uint8]
    parallel: Parallel
    _logs: WeakKeyDictionary[HalfspaceLog, _LogCache] = field(default_factory=WeakKeyDictionary)

    def __post_init__(self) -> None:
        if len(self.labels) != self.rows.n_rows:
            raise ValueError(f"{self.rows.n_rows} rows need that many labels, got {len(self.labels)}")
        self._flat = np.ascontiguousarray(self.rows.values).reshape(-1)
        self._signs = np.where(self.labels == 1, 1, -1).astype(np.int8)
        self._ones = np.ones(len(self.labels), np.int8)
        self._levels = np.empty(len(self.labels), np.uint16)  # of the last query; kept, as fresh memory costs time
        self._row_cells = self.rows.values.size / max(1, self.rows.n_rows)
        self._block = max(64, int(CACHE_BYTES / (self._row_cells * self.rows.values.itemsize + 16)))
        self._light_block = max(64, CACHE_BYTES // 16)  # where rows themselves are visited once
        self._thread_rows = max(1, int(THREAD_CELLS / max(1.0, self._row_cells)))

    def answer(self, query: DenseQuery) -> npt.NDArray[np.int64]:
        """The exact answer to a query over the rows, shape ``query.shape``."""
        match query:
            case VectorSum():
                return self._vector_sum(query)
            case CappedSum():
                return self._capped_sum(query)
            case MeasureSize():
                return self._measure_size(query)
            case MomentSum():
                return self._moments(query)
            case MarginCounts():
                return self._margin_counts(query)

    def _vector_sum(self, query: VectorSum) -> npt.NDArray[np.int64]:
        """The exact answer under a stateless measure: one pass over the rows."""
        cache, pending = self._open(query.log)
        table = query.table.astype(np.int64)
        limit = int(np.abs(table).max())

        def run(start: int, stop: int, sums: npt.NDArray[np.int64]) -> None:
            weights = np.empty(self._block, np.int32)
            for low, high in _blocks(start, stop, self._block):
                self._advance(pending, cache.sums, low, high)
                shift, half = query.levels.shift, query.levels.count // 2
                kernels.signed_weights(cache.sums, self._signs, shift, half, table, weights, low, high)
                self._add(weights, limit, sums, low, high)

        answer = self.parallel(run, self.rows.n_features, self._thread_rows)
        cache.applied = len(query.log.steps)
        return answer

    def _capped_sum(self, query: CappedSum) -> npt.NDArray[np.int64]:
        """The exact answer under a capped measure: a pass for the margins, then one for the sum."""
        cache, pending = self._open(query.log)
        levels = self._levels
        histogram = self._level_histogram(query.levels, cache, pending, levels)
        cache.applied = len(query.log.steps)
        capped, limit = query.weights(histogram), 1 << query.bits
        rule = (capped.table.astype(np.int32), capped.level, capped.full_rows, capped.step, capped.partial)

        def run(start: int, stop: int, sums: npt.NDArray[np.int64]) -> None:
            weights = np.empty(self._light_block, np.int32)
            seen = int(np.count_nonzero(levels[:start] == capped.level))
            for low, high in _blocks(start, stop, self._light_block):
                seen = kernels.capped_weights(levels, self._signs, *rule, seen, weights, low, high)
                self._add(weights, limit, sums, low, high)

        return self.parallel(run, self.rows.n_features, self._thread_rows)

    def _measure_size(self, query: MeasureSize) -> npt.NDArray[np.int64]:
        """The exact size of a stateless measure: one pass over the rows."""
        cache, pending = self._open(query.log)
        histogram = self._level_histogram(query.levels, cache, pending, self._levels)
        cache.applied = len(query.log.steps)
        return np.array([int(histogram @ query.table)], np.int64)

    def _margin_counts(self, query: MarginCounts) -> npt.NDArray[np.int64]:
        """The exact counts by margin level and label: one pass."""
        cache, pending = self._open(query.log)
        count, shift = query.levels.count, query.levels.shift
        levels = self._levels

        def run(start: int, stop: int, counts: npt.NDArray[np.int64]) -> None:
            self._advance(pending, cache.sums, start, stop)
            unsigned = np.zeros(count, np.int64)
            kernels.count_levels(cache.sums, self._ones, shift, count // 2, levels, unsigned, start, stop)
            cells = levels[start:stop].astype(np.int64) * 2 + (self.labels[start:stop] == 1)
            counts += np.bincount(cells, minlength=2 * count)

        answer = self.parallel(run, 2 * count, self._thread_rows).reshape(count, 2)
        cache.applied = len(query.log.steps)
        return answer * query.unit

    def _moments(self, query: MomentSum) -> npt.NDArray[np.int64]:
        """The exact sum of rows, or of squared rows: one pass."""
        rows = self.rows
        if query.n_features != rows.n_features or query.radius != rows.radius:
            raise ValueError(f"the query is over {query.n_features} features of radius {query.radius}")
        shift = query.square_shift

        def run(start: int, stop: int, sums: npt.NDArray[np.int64]) -> None:
            for low, high in _blocks(start, stop, self._block):
                stored = slice(low, high) if rows.indptr is None else slice(rows.indptr[low], rows.indptr[high])
                block = rows.values[stored].astype(np.int64)
                if query.order == 2:
                    block = (block * block) >> shift
                if rows.indices is None:
                    sums += block.sum(axis=0)
                else:
                    np.add.at(sums, rows.indices[stored], block)

        return self.parallel(run, rows.n_features, self._thread_rows)

    def _level_histogram(
        self, levels: Levels, cache: _LogCache, pending: list[Step], out: npt.NDArray[np.uint16]
    ) -> npt.NDArray[np.int64]:
        """Brings the margins up to date; writes every row's level and counts them."""

        def run(start: int, stop: int, counts: npt.NDArray[np.int64]) -> None:
            for low, high in _blocks(start, stop, self._light_block):
                self._advance(pending, cache.sums, low, high)
                kernels.count_levels(cache.sums, self._signs, levels.shift, levels.count // 2, out, counts, low, high)

        return self.parallel(run, levels.count, self._thread_rows)

    def _open(self, log: HalfspaceLog) -> tuple[_LogCache, list[Step]]:
        """The cache of a log, and the steps it has not seen."""
        if log.n_features != self.rows.n_features or log.radius != self.rows.radius:
            raise ValueError(
                f"the log is over {log.n_features} features of radius {log.radius}, the rows have "
                f"{self.rows.n_features} of radius {self.rows.radius}"
            )
        cache = self._logs.get(log)
        if cache is None:
            cache = self._logs[log] = _LogCache(np.zeros(self.rows.n_rows, np.int64))
        steps = log.steps[cache.applied :]
        return cache, [(self._filled_up(step), step.multiplier, step.shift, step.limit) for step in steps]

    def _filled_up(self, step: HalfspaceStep) -> npt.NDArray[np.int16]:
        """The vector of a step, with the zeros at its end that the 16-bit kernel asks for."""
        if self.rows.indices is not None or self.rows.values.dtype != np.int16:
            return step.vector
        vector = np.zeros(_padded(self.rows.n_features), np.int16)
        vector[: self.rows.n_features] = step.vector
        return vector

    def _advance(self, steps: list[Step], sums: npt.NDArray[np.int64], start: int, stop: int) -> None:
        """Adds released halfspaces to the margins of some rows."""
        rows = self.rows
        for vector, multiplier, shift, limit in steps:
            size = (multiplier, shift, limit)
            if rows.indices is not None:
                kernels.advance_sparse(rows.values, rows.indices, rows.indptr, vector, *size, sums, start, stop)
            elif rows.values.dtype == np.int16:
                kernels.advance_int16(self._flat, vector, rows.n_features, *size, sums, start, stop)
            else:
                kernels.advance_int32(rows.values, vector, *size, sums, start, stop)

    def _add(
        self, weights: npt.NDArray[np.int32], limit: int, sums: npt.NDArray[np.int64], start: int, stop: int
    ) -> None:
        """Adds weighted rows up.

        Args:
            weights: of rows ``start`` to ``stop - 1``.
            limit: bounds the weights: it says how many rows an int32 partial sum can take.
            sums: are added to.
            start: first row.
            stop: one after the last row.
        """
        rows = self.rows
        if rows.indices is not None:
            kernels.add_sparse(rows.values, rows.indices, rows.indptr, weights, start, sums, start, stop)
        elif rows.values.dtype == np.int16:
            group = max(1, ((1 << 31) - 1) // (max(1, limit) * rows.radius))
            if rows.n_features <= kernels.COLUMNS:
                width = rows.n_features
                kernels.add_int16(self._flat, width, _padded(width), weights, start, group, sums, start, stop)
            else:
                kernels.add_wide_int16(rows.values, weights, start, group, sums, start, stop)
        else:
            kernels.add_int32(rows.values, weights, start, sums, start, stop)


def _blocks(start: int, stop: int, size: int) -> list[tuple[int, int]]:
    """Row ranges of at most ``size`` rows."""
    return [(low, min(low + size, stop)) for low in range(start, stop, size)]


def _padded(width: int) -> int:
    """The width rounded up to whole vector instructions."""
    return -(-width // kernels.LANES) * kernels.LANES
