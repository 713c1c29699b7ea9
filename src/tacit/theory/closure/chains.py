"""Upper bounds on the threshold dimension from chains of intersections.

In a staircase, ``h_i(x_j) = 1`` exactly when ``i <= j``, the sets of points on which ``h_1 .. h_i`` are all 1 fall
strictly from one i to the next (``x_i`` drops out) and are never empty (``x_k`` stays). So the dimension is at most the
length of the longest chain of non-empty intersections of hypotheses. For a class that is closed under intersections
this is the dimension itself: the points that drop out of such a chain, with its sets as hypotheses, are a staircase.

Every intersection is one of sets that are not intersections of others, of which there may be far fewer: of the
rectangles on a grid the half planes.
"""

from __future__ import annotations

import numpy as np

from tacit.arrays import Bytes
from tacit.theory.closure.limit import Limit
from tacit.theory.closure.subsets import bits_of

MOST_WORK = 3 * 10**10
"""Not tuned: multiplications to find which sets are intersections of others; some seconds."""

MOST_STEPS = 1_000_000
"""Not tuned: intersections to look at, about as many as in a second."""

BLOCK = 512


def staircase_bound(table: Bytes, enough: int, limit: Limit) -> int:
    """The least of the bounds by rows and by columns, on ones and on zeros, of a 0/1 ``(hypotheses, points)`` matrix.

    A bound as low as ``enough`` is not improved.
    """
    bound = int(min(table.shape))
    for side in (table, table.T):
        for ones in (1, 0):  # h_2 .. h_k are 0 on x_1, each on one point more: a chain of one set fewer
            if bound > enough:
                found = longest_chain(side if ones else 1 - side, limit)
                bound = bound if found is None else min(bound, found + 1 - ones)
    return bound


def longest_chain(table: Bytes, limit: Limit) -> int | None:
    """The most non-empty intersections of rows, each strictly within the one before; None if there are too many."""
    rows = np.unique(table, axis=0)
    generators = [bits_of(row) for row in irreducible(rows)] if rows.size * len(rows) <= MOST_WORK else []
    if not 0 < len(generators) ** 2 <= MOST_STEPS // 8:  # nothing there, or too many to find more than the first few
        return None
    everything = (1 << table.shape[1]) - 1
    found, steps = {everything}, 0
    fresh = [everything]
    while fresh:
        steps += len(fresh) * len(generators)
        if steps > MOST_STEPS or limit.reached(0):
            return None
        made = {one & other for one in fresh for other in generators} - found
        made.discard(0)
        found |= made
        fresh = list(made)
    below: dict[int, int] = {}
    for one in sorted(found, key=int.bit_count):
        smaller = {one & other for other in generators}
        below[one] = max((1 + below[other] for other in smaller if other not in (one, 0)), default=0)
    return below[everything] + int(rows.all(axis=1).any())


def irreducible(rows: Bytes) -> Bytes:
    """The distinct rows that are no intersection of others; shape ``(kept, points)``."""
    held = rows.astype(np.float32)
    kept = np.zeros(len(rows), bool)
    for start in range(0, len(rows), BLOCK):
        part = held[start : start + BLOCK]
        above = (part @ (1 - held.T) == 0).astype(np.float32)  # rows that hold all that a row of the part holds
        above[np.arange(len(part)), np.arange(start, start + len(part))] = 0
        common = above @ (1 - held) == 0  # points that all of them hold
        kept[start : start + BLOCK] = (common & (part == 0)).any(axis=1)
    return rows[kept]
