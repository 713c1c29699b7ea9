"""The rows of a memory table, sorted into the leaves of a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.models.tree import CODES
from tacit.models.tree_leaves import BLOCK, find_leaves
from tacit.queries.tree_cells import SplitHistogram, TreeCells
from tacit.table import tree_kernels

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Leaves = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Pass = Callable[[int, int, npt.NDArray[np.int64]], Any]
Parallel = Callable[[Pass, int], npt.NDArray[np.int64]]


KEPT_TREES = 2


class LeafCache:
    """The leaf of every row under the two trees that were asked for last.

    A boosting round asks twice for the same tree: for the sums of its leaves, and to update the margins in the pass
    that sums the next tree's. Keeping more would hold a byte per row and tree.

    Args:
        columns: the table's live list of columns (``coarsen`` replaces its entries).
        in_parallel: the engine's runner of passes over row ranges.
    """

    def __init__(self, columns: list[Codes], in_parallel: Parallel) -> None:
        self._columns = columns
        self._in_parallel = in_parallel
        self._kept: list[tuple[TreeCells, list[npt.NDArray[np.uint8]], Leaves]] = []

    def of(self, cells: TreeCells) -> Leaves:
        """The leaf of every row, in memory that the next tree but one will take over.

        Raises:
            TypeError: if the tree tests a column that is not stored in one byte (``coarsen`` it first).
        """
        shape = cells.shape
        tested = [_bytes(self._columns[column]) for column in shape.used_columns]
        for known, under, leaves in self._kept:
            if known is cells and _same(tested, under):
                return leaves
        leaves = self._memory(np.uint8 if shape.n_leaves <= CODES else np.uint16)
        if shape.n_splits:
            tables = shape.masks
            self._in_parallel(lambda start, stop, _: find_leaves(tested, tables, leaves, start, stop), 0)
        else:
            leaves[:] = 0
        self._kept.append((cells, tested, leaves))
        return leaves

    def _memory(self, dtype: type[np.uint8] | type[np.uint16]) -> Leaves:
        """Room for a leaf per row: the oldest tree's, if it fits."""
        oldest = self._kept.pop(0)[2] if len(self._kept) == KEPT_TREES else None
        if oldest is not None and oldest.dtype == dtype:
            return oldest
        rows = len(self._columns[0])
        return np.zeros(rows, np.uint8) if dtype is np.uint8 else np.zeros(rows, np.uint16)


class SplitCache:
    """The answer to the split query that was asked last.

    Choosing the splits of a level node by node asks the same again; and the next level of the same tree needs to look
    at the rows of left children only, as a right child is its parent minus its sibling, exactly. It stays behind the
    gate, like the rows it is made of.
    """

    def __init__(self) -> None:
        self._last: tuple[SplitHistogram, int, npt.NDArray[np.int64]] | None = None

    def of(self, query: SplitHistogram, make: Callable[[], npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
        """The answer, made unless it is the one at hand and no margin has moved since."""
        updates = len(query.margins.updates)
        if self._last is None or self._last[0] is not query or self._last[1] != updates:
            self._last = (query, updates, make())
        return self._last[2]

    def parents(self, query: SplitHistogram) -> npt.NDArray[np.int64] | None:
        """The answer for the level above, if it was the last one and nothing else has changed."""
        if self._last is None or self._last[1] != len(query.margins.updates):
            return None
        return self._last[2] if query.is_next_level_of(self._last[0]) else None


def split_histogram(
    query: SplitHistogram,
    leaves: Leaves,
    columns: list[Codes],
    labels: Codes,
    margins: npt.NDArray[np.int32],
    in_parallel: Parallel,
    parents: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.int64]:
    """The class weights by leaf, code and class, shape ``query.shape``: one look at every row for all columns.

    With the answer for the level above, only rows of left children are added up.
    """
    n_leaves, stride, n_labels = query.shape
    codes = [columns[column] for column in query.columns]
    offsets = [int(offset) for offset in query.offsets]
    rule, levels = np.ascontiguousarray(query.rule.table.reshape(-1)), query.rule.table.shape[1]
    classes = query.class_of

    def run(start: int, stop: int, sums: npt.NDArray[np.int64]) -> None:
        places, weights = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int32)
        for low in range(start, stop, BLOCK):
            high = min(low + BLOCK, stop)
            tree_kernels.place_rows(leaves, labels, classes, margins, rule, levels, stride, places, weights, low, high)
            for column, offset in zip(codes, offsets, strict=True):
                tree_kernels.add_column(column, offset, places, weights, sums, low, high)

    def run_left(start: int, stop: int, sums: npt.NDArray[np.int64]) -> None:
        rows, places = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
        weights = np.empty(BLOCK, np.int32)
        for low in range(start, stop, BLOCK):
            high = min(low + BLOCK, stop)
            count = tree_kernels.place_left_rows(
                leaves, labels, classes, margins, rule, levels, stride, rows, places, weights, low, high
            )
            for column, offset in zip(codes, offsets, strict=True):
                tree_kernels.add_rows(column, offset, rows, places, weights, sums, count)

    if parents is None:
        return in_parallel(run, n_leaves * stride * n_labels).reshape(query.shape)
    left = in_parallel(run_left, parents.size).reshape(parents.shape)
    return np.stack([left, parents - left], axis=1).reshape(query.shape)


def _bytes(codes: Codes) -> npt.NDArray[np.uint8]:
    if codes.dtype != np.uint8:
        raise TypeError("a tree tests columns of at most 256 codes; coarsen the others first")
    return codes  # type: ignore[return-value]


def _same(now: list[npt.NDArray[np.uint8]], then: list[npt.NDArray[np.uint8]]) -> bool:
    """Whether the columns are the very arrays they were: coarsening replaces them."""
    return all(a is b for a, b in zip(now, then, strict=True))
