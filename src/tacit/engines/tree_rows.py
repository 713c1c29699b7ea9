"""The rows of a memory table, sorted into the leaves of a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.arrays import Bytes, Codes, Ints
from tacit.models.tree_leaves import CODES, find_leaves
from tacit.queries.tree_cells import TreeCells

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
        """The leaf of every row, in memory that stays until two other trees have been asked for.

        Raises:
            TypeError: if the tree tests a column that is not stored in one byte (``coarsen`` it first).
        """
        shape = cells.shape
        tested = [_bytes(self._columns[column]) for column in shape.used_columns]
        for place, (known, under, leaves) in enumerate(self._kept):
            if known is cells and _same(tested, under):
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


def _same(now: list[Bytes], then: list[Bytes]) -> bool:
    """Whether the columns are the very arrays they were: coarsening replaces them."""
    return all(a is b for a, b in zip(now, then, strict=True))
