"""The rows of a memory table, sorted into the leaves of a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.models.tree_leaves import find_leaves
from tacit.queries.tree_cells import TreeCells

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Leaves = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Parallel = Callable[[Callable[[int, int, npt.NDArray[np.int64]], Any]], Any]


class LeafCache:
    """The leaf of every row under the tree that was asked for last.

    A boosting round asks twice for the same tree, for the sums of its leaves and then to update the margins; keeping
    more would hold a byte per row and tree.

    Args:
        columns: the table's live list of columns (``coarsen`` replaces its entries).
        in_parallel: the engine's runner of passes over row ranges.
    """

    def __init__(self, columns: list[Codes], in_parallel: Parallel) -> None:
        self._columns = columns
        self._in_parallel = in_parallel
        self._last: tuple[TreeCells, Leaves] | None = None

    def of(self, cells: TreeCells) -> Leaves:
        """The leaf of every row.

        Raises:
            TypeError: if the tree tests a column that is not stored in one byte (``coarsen`` it first).
        """
        if self._last is not None and self._last[0] is cells:
            return self._last[1]
        shape = cells.shape
        tested = [_bytes(self._columns[column]) for column in shape.used_columns]
        rows = len(self._columns[0])
        leaves: Leaves = np.zeros(rows, np.uint8) if shape.n_leaves <= 256 else np.zeros(rows, np.uint16)
        if shape.n_splits:
            tables = shape.masks
            self._in_parallel(lambda start, stop, _: find_leaves(tested, tables, leaves, start, stop))
        self._last = (cells, leaves)
        return leaves


def _bytes(codes: Codes) -> npt.NDArray[np.uint8]:
    if codes.dtype != np.uint8:
        raise TypeError("a tree tests columns of at most 256 codes; coarsen the others first")
    return codes.view(np.uint8)
