"""A block of rows in memory, as passes see it: codes of cells, running sums of logs, threads and room."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tacit.arrays import CODES, Bytes, Codes, Ints
from tacit.engines import kernels
from tacit.engines.cover import first_match
from tacit.engines.dense import DenseRows
from tacit.models.tree_leaves import find_leaves
from tacit.queries.cells import Cells, OneCell, ProductCells, each_its_own
from tacit.queries.covers.candidates import FirstMatch
from tacit.queries.joint_bound import JointBound
from tacit.queries.query import Layout
from tacit.queries.rules import N_LEVELS
from tacit.queries.tree_cells import TreeCells


class Workspace:
    """Room in memory, and ``threads`` cores; None for all."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or os.cpu_count() or 1

    @cached_property
    def pool(self) -> ThreadPoolExecutor:
        """All threads but the one that asks."""
        return ThreadPoolExecutor(max(1, self.threads - 1))

    def zeros(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array of zeros for as long as it is referred to."""
        return np.zeros(shape, dtype)


InParallel = Callable[[Callable[[int, int, Ints], Any]], Any]

KEPT_TREES = 2


class LeafCache:
    """The leaf of every row under the two trees that were asked for last.

    A boosting round asks twice for the same tree: for the sums of its leaves, and to update the margins in the pass
    that sums the next tree's. Keeping more would hold a byte per row and tree. ``columns`` is the table's live list
    (``coarsen`` replaces its entries).
    """

    def __init__(self, columns: list[Codes], in_parallel: InParallel, zeros: Callable[[int, Any], Codes]) -> None:
        self._columns = columns
        self._in_parallel, self._zeros = in_parallel, zeros
        self._kept: list[tuple[TreeCells, list[Bytes], Codes]] = []

    def of(self, cells: TreeCells) -> Codes:
        """The leaf of every row, in memory that stays until two other trees have been asked for."""
        shape = cells.shape
        tested = [_bytes(self._columns[column]) for column in shape.used_columns]
        for place, (key, under, leaves) in enumerate(self._kept):
            if key is cells and all(a is b for a, b in zip(tested, under, strict=True)):  # coarsening replaces them
                self._kept.append(self._kept.pop(place))  # the next tree takes the other one's memory
                return leaves
        leaves = self._memory(np.uint8 if shape.n_leaves <= CODES else np.uint16)
        if shape.n_splits:
            tables = shape.tables
            self._in_parallel(lambda start, stop, _: find_leaves(tested, tables, leaves, start, stop))
        else:
            leaves[:] = 0
        self._kept.append((cells, tested, leaves))
        return leaves

    def _memory(self, dtype: type[np.uint8] | type[np.uint16]) -> Codes:
        """Room for a leaf per row: the oldest tree's, if it fits."""
        oldest = self._kept.pop(0)[2] if len(self._kept) == KEPT_TREES else None
        if oldest is not None and oldest.dtype == dtype:
            return oldest
        return self._zeros(len(self._columns[0]), dtype)


def _bytes(codes: Codes) -> Bytes:
    if codes.dtype != np.uint8:
        raise TypeError("a tree tests columns of at most 256 codes; coarsen the others first")
    return codes  # type: ignore[return-value]


BLOCK = 1 << 16
"""Rows below which a second thread costs more than it saves."""

SHORT_BLOCK = 1 << 14
"""Rows at a time, where several passes go over them: what they share stays in the cache."""

RowRange = Callable[[int, int, Ints], Any]
"""What looks at rows ``start .. stop - 1`` and adds to a vector of int64 sums."""

S = TypeVar("S")


class FollowsCodes(ABC):
    """What a pass keeps, if it depends on codes."""

    @abstractmethod
    def before_codes_change(self, column: int) -> None:
        """Told before the codes of a column are replaced."""


class Rows:
    """A block of rows. What passes keep about it lives as long as it does.

    Columns are vectors of codes, uint8 or uint16, all of one length; labels one code per row; targets numeric labels in
    fixed point, int32. Without a workspace it has one of its own in memory, for so many threads.
    """

    def __init__(
        self,
        columns: Sequence[Codes],
        labels: Codes,
        layout: Layout,
        threads: int | None,
        dense: DenseRows | None,
        targets: npt.NDArray[np.int32] | None,
        workspace: Workspace | None = None,
    ) -> None:
        self.columns: list[Codes] = list(columns)
        self.labels, self.targets, self.dense = labels, targets, dense
        self.layout = layout
        self.workspace = Workspace(threads) if workspace is None else workspace
        self.threads = self.workspace.threads
        self.zeros = self.workspace.zeros(len(labels), np.uint8)
        self._kept: dict[type, Any] = {}
        self._derived: WeakKeyDictionary[Cells, Codes] = WeakKeyDictionary()
        self._joint: WeakKeyDictionary[JointBound, Codes] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self.labels)

    def kept(self, kind: type[S], make: Callable[[Rows], S]) -> S:
        """What a pass keeps about these rows: made when it is first asked for."""
        value: S | None = self._kept.get(kind)
        if value is None:
            value = self._kept[kind] = make(self)
        return value

    def run(self, run: RowRange, size: int = 0, least: int = 0) -> Ints:
        """Runs over all rows in row ranges, one per thread, and adds their int64 sums, ``size`` each, up.

        Below ``least`` rows (0 for :data:`BLOCK`) a second thread costs more than it saves.
        """
        n_rows = len(self.labels)
        parts = min(self.threads, max(1, n_rows // (least or BLOCK)))
        if parts == 1:
            sums = np.zeros(size, np.int64)
            run(0, n_rows, sums)
            return sums
        bounds = [n_rows * part // parts for part in range(parts + 1)]
        results = [np.zeros(size, np.int64) for _ in range(parts)]
        pool = self.workspace.pool
        others = [pool.submit(run, *part) for part in zip(bounds[1:-1], bounds[2:], results[1:], strict=True)]
        run(bounds[0], bounds[1], results[0])  # the first part here: one thread fewer to wake
        for other in others:
            other.result()
        total: Ints = np.sum(results, axis=0, dtype=np.int64)
        return total

    def add_mapped(self, codes: Codes, table: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
        """Adds ``table[codes]`` to ``out``, which has an entry per row."""
        self.run(lambda start, stop, _: kernels.add_mapped_codes(codes, table, out, start, stop))

    # Cells.

    def codes(self, cells: Cells) -> tuple[Codes, npt.NDArray[np.int32]]:
        """Codes of all rows and the table from code to cell."""
        derived = self._derived.get(cells)
        if derived is not None:
            return derived, each_its_own(cells.size)
        if isinstance(cells, OneCell):
            return self.zeros, each_its_own(1)
        if isinstance(cells, ProductCells):
            if len(cells.columns) == 1:
                return self.columns[cells.columns[0]], cells.offsets[0]
            return self._product(cells, np.zeros), each_its_own(cells.size)
        if isinstance(cells, FirstMatch):
            return first_match(cells, self.columns, len(self.labels)), each_its_own(cells.size)
        if isinstance(cells, TreeCells):
            return leaves_of(self).of(cells), each_its_own(cells.size)
        raise TypeError(f"the memory engine has no rule for {type(cells).__name__}")

    def _product(self, cells: ProductCells, zeros: Callable[[int, Any], Codes]) -> Codes:
        out = zeros(len(self.labels), np.uint8 if cells.size <= 256 else np.uint16)
        if len(cells.columns) == 2:
            one, two = (self.columns[column] for column in cells.columns)
            a, b = (offsets.astype(out.dtype) for offsets in cells.offsets)
            self.run(lambda start, stop, _: kernels.map_two(one, a, two, b, out, start, stop))
            return out
        for column, offsets in zip(cells.columns, cells.offsets, strict=True):
            codes = self.columns[column]
            table: Codes = offsets.astype(np.uint8) if out.dtype == np.uint8 else offsets.astype(np.uint16)
            self.add_mapped(codes, table, out)
        return out

    # Labels.

    def classes(self) -> Bytes:
        """The labels, for passes over plain classes."""
        if self.labels.dtype == np.uint16:
            raise TypeError("these labels hold weights beside classes")
        return self.labels.astype(np.uint8, copy=False)

    def bounded_labels(self, bound: JointBound) -> Codes:
        """Labels of rows that are bounded together; see :meth:`bind`."""
        return self._joint[bound]

    # What changes.

    def coarsen(self, column: int, mapping: Ints) -> None:
        """Replaces a column's codes by a public map of them (at most 256 values: one byte a cell)."""
        size = int(mapping.max()) + 1
        if len(mapping) != self.layout.n_codes[column] or mapping.min() < 0 or size > 256:
            raise ValueError(f"a map for column {column} needs {self.layout.n_codes[column]} values in 0..255")
        if len(self._joint):
            raise RuntimeError("rows are bounded together by their codes: those cannot change now")
        for value in list(self._kept.values()):
            if isinstance(value, FollowsCodes):
                value.before_codes_change(column)
        coarse = self.workspace.zeros(len(self.labels), np.uint8)
        old, table = self.columns[column], mapping.astype(np.uint8)
        self.run(lambda start, stop, _: kernels.map_codes(old, table, coarse, start, stop))
        self.columns[column] = coarse
        self.layout = self.layout.coarsened(column, mapping)

    def derive(self, cells: Cells) -> None:
        """Keeps the codes of ``cells`` for as long as the object lives, because many queries will use them."""
        if not isinstance(cells, ProductCells | OneCell):
            raise TypeError(f"codes of columns can be kept, not those of {type(cells).__name__}")
        if cells not in self._derived:  # kept codes stay what they are, whatever becomes of their columns
            buffer = self.workspace.zeros
            self._derived[cells] = self._product(cells, buffer) if isinstance(cells, ProductCells) else self.zeros

    def is_derived(self, cells: Cells) -> bool:
        return cells in self._derived

    def bind(self, bound: JointBound, own_levels: int) -> None:
        """Weighs every row down until it keeps the bound, for as long as that lives. Codes stay as they are then."""
        self._joint[bound] = self._bounded(bound, own_levels)

    def _bounded(self, bound: JointBound, own_levels: int) -> Codes:
        """Labels ``class * N_LEVELS + level`` of all rows, as ``bound`` weighs them down.

        ``own_levels`` is 1, or ``N_LEVELS`` where rows have weights of their own; then the two are multiplied.
        """
        if own_levels not in (1, N_LEVELS):
            raise ValueError(f"rows have 1 or {N_LEVELS} levels of weight of their own, got {own_levels}")
        parts = [self.codes(part.cells) for part in bound.parts]
        sides = [(codes, costs[lookup]) for (codes, lookup), costs in zip(parts, bound.costs, strict=True)]
        labels, n_joint = self.labels, self.layout.n_labels // own_levels * N_LEVELS
        out = self.workspace.zeros(len(labels), np.uint8 if n_joint <= 256 else np.uint16)

        def run(start: int, stop: int, _: Ints) -> None:
            lengths = np.empty(SHORT_BLOCK, np.int64)
            for low in range(start, stop, SHORT_BLOCK):
                high = min(low + SHORT_BLOCK, stop)
                lengths[: high - low] = 0
                for codes, costs in sides:
                    kernels.add_costs(codes, costs, lengths, low, high)
                level = bound.levels(lengths[: high - low])
                own = labels[low:high].astype(np.int64)
                classes = own // own_levels
                if own_levels > 1:  # levels are logarithms of weights: they add up; level 0 stands for no weight at all
                    lost = (N_LEVELS - 1) - level
                    level = np.where(level > 0, np.maximum(own % own_levels - lost, 0), 0)
                out[low:high] = classes * N_LEVELS + level

        self.run(run)
        return out


def leaves_of(rows: Rows) -> LeafCache:
    """The leaves of rows under the trees that were asked for last."""
    return rows.kept(LeafCache, lambda rows: LeafCache(rows.columns, rows.run, rows.workspace.zeros))


def folded(by_code: Ints, lookup: npt.NDArray[np.int32], size: int) -> Ints:
    """Sums by cell from sums by code."""
    if lookup is each_its_own(size):
        return by_code
    by_cell = np.zeros((size, by_code.shape[1]), np.int64)
    kernels.fold(by_code, lookup, by_cell)
    return by_cell
