"""Class weights by leaf, column and code, by which splits are scored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numba as nb
import numpy as np

from tacit.arrays import Ints
from tacit.engines.kernels import HALF, TOP
from tacit.engines.passes.base import Blocks, Pass, SumsOf, register
from tacit.engines.rows import Rows, leaves_of
from tacit.engines.score_rows import MarginRows
from tacit.models.tree_leaves import BLOCK
from tacit.queries.rules import LEVEL_SHIFT
from tacit.queries.tree_cells import SplitHistogram


class SplitPass(Pass[SplitHistogram]):
    """Sums of shape ``query.shape``; the last ones are kept for the level below."""

    def sums(self, query: SplitHistogram, rows: Rows) -> Ints:
        return split_histogram(query, rows, left_only=False)

    def totals(self, query: SplitHistogram, blocks: Blocks) -> Ints:
        cache = blocks.kept(SplitCache, SplitCache)

        def make() -> Ints:
            parents = cache.parents(query)
            if parents is None:
                return blocks.total(SumsOf(query))
            totals = blocks.total(LeftSums(query))
            return np.stack([totals, parents - totals], axis=1).reshape(query.shape)

        return cache.of(query, make)


@dataclass(frozen=True, eq=False)
class LeftSums:
    """Sums over the rows of left children: a right child is its parent minus its sibling, exactly."""

    query: SplitHistogram

    def __call__(self, rows: Rows) -> Ints:
        return split_histogram(self.query, rows, left_only=True)


def split_histogram(query: SplitHistogram, rows: Rows, left_only: bool) -> Ints:
    """The class weights by leaf, code and class, shape ``query.shape``: one look at every row for all columns.

    With ``left_only``, those of left children alone, by parent: half as many leaves.
    """
    sizes = tuple(rows.layout.n_codes[column] for column in query.columns)
    if any(n_codes < codes for n_codes, codes in zip(query.n_codes, sizes, strict=True)):
        raise ValueError(f"the columns have {sizes} codes, and the query knows {query.n_codes}")
    margins, _ = MarginRows.of(rows).caught_up(query.margins)
    leaves = leaves_of(rows).of(query.cells)
    n_leaves, stride, n_labels = query.shape
    codes = [rows.columns[column] for column in query.columns]
    offsets = [int(offset) for offset in query.offsets]
    rule, levels = np.ascontiguousarray(query.rule.table.reshape(-1)), query.rule.table.shape[1]
    classes, labels = query.class_of, rows.labels
    n_parents = n_leaves // 2 if left_only else n_leaves

    def run(start: int, stop: int, sums: Ints) -> None:
        numbers, places, weights = np.empty(BLOCK, np.uint16), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int32)
        for low in range(start, stop, BLOCK):
            high = min(low + BLOCK, stop)
            count = place_rows(
                leaves, labels, classes, margins, rule, levels, stride, left_only, numbers, places, weights, low, high
            )
            for k in range(0, len(codes), 2):
                other = min(k + 1, len(codes) - 1)
                one, two = codes[k][low:high], codes[other][low:high]
                add_two(one, two, offsets[k], offsets[other], k < other, numbers, places, weights, sums, count)

    return rows.run(run, n_parents * stride * n_labels).reshape(n_parents, stride, n_labels)


class SplitCache:
    """The answer to the split query that was asked last.

    Choosing the splits of a level node by node asks the same again; and the next level of the same tree needs to look
    at the rows of left children only, as a right child is its parent minus its sibling, exactly. It stays inside the
    curator, like the rows it is made of.
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


register(SplitHistogram, SplitPass())
