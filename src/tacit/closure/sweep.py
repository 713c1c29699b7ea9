"""Equation (17) for cuts on columns as they are: the fewest errors of any completion, for every place of the first cut.

Between two values of its column a cut errs alike, so m distinct values leave ``m + 1`` places. The first cut sweeps
over its column and moves one value at a time to its other side. A tree over the values of the last column holds, for
every stretch of them, the sum of what it costs that a row lies on the last concept's side, and the least such sum
over the stretch's beginnings and over its ends: its root knows the best last cut of either direction after each move.
A cut in between is tried at all its places. So k classes of n rows take ``n^(k-1) log n`` steps, not ``n^k``.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from tacit.arrays import Ints

RISING, FALLING = 1, 2
"""Directions, as bits: ``x >= cut`` and ``x < cut``."""

FAR = np.int64(1 << 62)
"""More errors than there are rows."""


SUM, BEGIN, END = 0, 1, 2
"""Of a stretch: the sum, and the least sum over its beginnings and over its ends, of which one is empty."""


@nb.njit(nogil=True, cache=True)
def _join(tree: Ints, node: int) -> None:
    """A stretch from its two halves."""
    left, right = 2 * node, 2 * node + 1
    tree[node, SUM] = tree[left, SUM] + tree[right, SUM]
    tree[node, BEGIN] = min(tree[left, BEGIN], tree[left, SUM] + tree[right, BEGIN])
    tree[node, END] = min(tree[right, END], tree[right, SUM] + tree[left, END])


@nb.njit(nogil=True, cache=True)
def _plant(tree: Ints, size: int) -> None:
    """Fills a tree of which the leaves' sums are there."""
    for node in range(size, 2 * size):
        tree[node, BEGIN] = tree[node, END] = min(tree[node, SUM], 0)
    for node in range(size - 1, 0, -1):
        _join(tree, node)


@nb.njit(nogil=True, cache=True)
def _add(tree: Ints, node: int, change: int) -> None:
    """Adds to a leaf, and to all above it."""
    tree[node, SUM] += change
    tree[node, BEGIN] = tree[node, END] = min(tree[node, SUM], 0)
    node //= 2
    while node > 0:
        _join(tree, node)
        node //= 2


@nb.njit(nogil=True, cache=True)
def _sweep(
    costs: Ints, order: Ints, starts: Ints, last: Ints, last_kinds: int, tree: Ints, falling: bool, best: Ints
) -> None:
    """One direction of the first cut; keeps the least errors of each of its places in ``best``.

    Args:
        costs: errors of every point by first bit and last bit, shape ``(points, 4)``, index ``first + 2 last``.
        order: points by the rank of their first value, without those that have none.
        starts: where each rank begins in ``order``, and its end.
        last: rank of every point's last value; -1 for none.
        last_kinds: directions of the last cut.
        tree: room for it, shape ``(2 * size, 3)``.
        falling: which direction of the first cut.
        best: per place, from below all values to above them.
    """
    size = len(tree) // 2
    tree[:] = 0
    total = 0
    for point in range(len(costs)):
        total += costs[point, 0]
        if last[point] >= 0:
            tree[size + last[point], SUM] += costs[point, 2] - costs[point, 0]
    _plant(tree, size)
    ranks = len(starts) - 1
    for step in range(ranks + 1):
        if step > 0:
            rank = step - 1 if falling else ranks - step
            for at in range(starts[rank], starts[rank + 1]):
                point = order[at]
                total += costs[point, 1] - costs[point, 0]
                change = (costs[point, 3] - costs[point, 1]) - (costs[point, 2] - costs[point, 0])
                if last[point] >= 0 and change != 0:
                    _add(tree, size + last[point], change)
        least = FAR
        if last_kinds & RISING:
            least = min(least, total + tree[1, END])
        if last_kinds & FALLING:
            least = min(least, total + tree[1, BEGIN])
        place = step if falling else ranks - step
        best[place] = min(best[place], least)


@nb.njit(nogil=True, cache=True)
def sweep(table: Ints, ranks: Ints, orders: Ints, starts: Ints, kinds: Ints, size: int, best: Ints) -> None:
    """The fewest errors over all later cuts, for every place and direction of the first.

    Args:
        table: errors of every point by the three bits, shape ``(points, 8)``, index ``first + 2 middle + 4 last``.
        ranks: rank of every point's value in the three columns, -1 for none; shape ``(3, points)``. A column that is
            not there has no values.
        orders: points by rank, per column; shape ``(3, points)``, what has no value at the end.
        starts: where each rank begins in ``orders``, shape ``(3, points + 1)``, filled up with the last end.
        kinds: directions of the three cuts.
        size: a power of two, at least the distinct values of the last column.
        best: filled; shape ``(2, distinct values of the first column + 1)``, rising and falling.
    """
    n = len(table)
    costs = np.empty((n, 4), np.int64)
    tree = np.empty((2 * size, 3), np.int64)
    first = starts[0, : best.shape[1]]
    middle = ranks[1].max() + 1 if n > 0 else 0
    best[:] = FAR
    for falling in range(2):
        if not kinds[1] & (FALLING if falling else RISING):
            continue
        for point in range(n):
            for bit in range(4):
                costs[point, bit] = table[point, (bit & 1) + 4 * (bit >> 1)]
        for step in range(middle + 1):
            if step > 0:
                rank = step - 1 if falling else middle - step
                for at in range(starts[1, rank], starts[1, rank + 1]):
                    point = orders[1, at]
                    for bit in range(4):
                        costs[point, bit] = table[point, (bit & 1) + 2 + 4 * (bit >> 1)]
            if kinds[0] & RISING:
                _sweep(costs, orders[0], first, ranks[2], kinds[2], tree, False, best[0])
            if kinds[0] & FALLING:
                _sweep(costs, orders[0], first, ranks[2], kinds[2], tree, True, best[1])
