"""The rows of a memory table, sorted into the leaves of a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes, Codes, Ints
from tacit.models.tree_leaves import BLOCK, CODES, find_leaves
from tacit.queries.rules import LEVEL_SHIFT, LEVELS
from tacit.queries.tree_cells import SplitHistogram, TreeCells

Pass = Callable[[int, int, Ints], Any]
Parallel = Callable[[Pass, int], Ints]


KEPT_TREES = 2


class LeafCache:
    """The leaf of every row under the two trees that were asked for last.

    A boosting round asks twice for the same tree: for the sums of its leaves, and to update the margins in the pass
    that sums the next tree's. Keeping more would hold a byte per row and tree. ``columns`` is the table's live list
    (``coarsen`` replaces its entries).
    """

    def __init__(self, columns: list[Codes], in_parallel: Parallel, zeros: Callable[[int, Any], Codes]) -> None:
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
            self._in_parallel(lambda start, stop, _: find_leaves(tested, tables, leaves, start, stop), 0)
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


class SplitCache:
    """The answer to the split query that was asked last.

    Choosing the splits of a level node by node asks the same again; and the next level of the same tree needs to look
    at the rows of left children only, as a right child is its parent minus its sibling, exactly. It stays behind the
    gate, like the rows it is made of.
    """

    def __init__(self) -> None:
        self._last: tuple[SplitHistogram, int, Ints] | None = None

    def of(self, query: SplitHistogram, make: Callable[[], Ints]) -> Ints:
        """The answer, made unless it is the one at hand and no margin has moved since."""
        updates = len(query.margins.updates)
        if self._last is None or self._last[0] is not query or self._last[1] != updates:
            self._last = (query, updates, make())
        return self._last[2]

    def parents(self, query: SplitHistogram) -> Ints | None:
        """The answer for the level above, if it was the last one and nothing else has changed."""
        if self._last is None or self._last[1] != len(query.margins.updates):
            return None
        return self._last[2] if query.is_next_level_of(self._last[0]) else None


def split_histogram(
    query: SplitHistogram,
    leaves: Codes,
    columns: list[Codes],
    labels: Codes,
    margins: npt.NDArray[np.int32],
    in_parallel: Parallel,
    left_only: bool = False,
) -> Ints:
    """The class weights by leaf, code and class, shape ``query.shape``: one look at every row for all columns.

    With ``left_only``, those of left children alone, by parent: half as many leaves.
    """
    n_leaves, stride, n_labels = query.shape
    codes = [columns[column] for column in query.columns]
    offsets = [int(offset) for offset in query.offsets]
    rule, levels = np.ascontiguousarray(query.rule.table.reshape(-1)), query.rule.table.shape[1]
    classes = query.class_of
    n_parents = n_leaves // 2 if left_only else n_leaves

    def run(start: int, stop: int, sums: Ints) -> None:
        rows, places, weights = np.empty(BLOCK, np.uint16), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int32)
        for low in range(start, stop, BLOCK):
            high = min(low + BLOCK, stop)
            count = place_rows(
                leaves, labels, classes, margins, rule, levels, stride, left_only, rows, places, weights, low, high
            )
            for k in range(0, len(codes), 2):
                other = min(k + 1, len(codes) - 1)
                one, two = codes[k][low:high], codes[other][low:high]
                add_two(one, two, offsets[k], offsets[other], k < other, rows, places, weights, sums, count)

    return in_parallel(run, n_parents * stride * n_labels).reshape(n_parents, stride, n_labels)


def _bytes(codes: Codes) -> Bytes:
    if codes.dtype != np.uint8:
        raise TypeError("a tree tests columns of at most 256 codes; coarsen the others first")
    return codes  # type: ignore[return-value]


def _same(now: list[Bytes], then: list[Bytes]) -> bool:
    """Whether the columns are the very arrays they were: coarsening replaces them."""
    return all(a is b for a, b in zip(now, then, strict=True))


HALF = LEVELS // 2
TOP = LEVELS - 1


@nb.njit(nogil=True, cache=True)
def place_rows(  # type: ignore[no-untyped-def]
    leaves, labels, classes, margins, rule, levels, stride, left_only, rows, places, weights, start, stop
):
    """Per row of a block: the first cell of its leaf and class, and its weight ``rule[label, level]``.

    With ``left_only``, of rows of left children alone (even leaves), and the cells are their parents'.

    ``rule`` is flat; ``levels`` is 1 where the margin plays no part; ``classes`` holds the class of every label.
    ``rows`` receives their numbers in the block. Written from position 0; returns how many there are.
    """
    first, count = nb.uintp(start), 0
    for k in range(stop - start):
        rows[count] = k
        # the next row takes the place of a right one: no branch to mispredict
        count += 1 - (leaves[first + nb.uintp(k)] & 1) if left_only else 1
    cells = stride if left_only else 2 * stride  # for every leaf: a parent's number is leaf // 2
    for k in range(count):
        i, level = first + nb.uintp(rows[k]), 0
        if levels > 1:
            level = max(min((margins[i] >> LEVEL_SHIFT) + HALF, TOP), 0)
        places[k] = cells * leaves[i] + classes[labels[i]]
        weights[k] = rule[nb.uintp(labels[i] * levels + level)]
    return count


@nb.njit(nogil=True, cache=True)
def add_two(one, two, first, second, both, rows, places, weights, sums, count):  # type: ignore[no-untyped-def]
    """Adds the weights of rows to the cells of two columns, whose codes begin at ``first`` and ``second``.

    One after the other, sums would wait for each other more often. If not ``both``, to those of the first alone.
    """
    for k in range(count):
        row, place, weight = nb.uintp(rows[k]), places[k], weights[k]
        sums[nb.uintp(place + 2 * (first + one[row]))] += weight
        if both:
            sums[nb.uintp(place + 2 * (second + two[row]))] += weight
