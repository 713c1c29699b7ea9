"""The search for a staircase of a given length from its middle, where all is 1.

In a staircase of length k, ``h_i(x_j) = 1`` exactly when ``i <= j``, the first m hypotheses are 1 on all of the last
``k - m + 1`` points: a block of ones, of which a class without structure has few. So blocks are enumerated first, by
sets of points that enough hypotheses hold; then what lies around one is nearly determined. Of the hypotheses that hold
the block, ``h_1 .. h_m`` are told apart by points outside of it; ``h_(m+1) .. h_k`` are 0 on all of these and hold one
point of the block fewer each. The first part is searched pair by pair, the second is a chain of traces on the block.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes, Ints
from tacit.theory.closure.limit import Limit, bit_positions, bits_of, lowest
from tacit.theory.closure.vc_search import count_ones, words_of

BATCH = 8  # not tuned: blocks that are enumerated before what lies around them is searched

BLOCK_WORK = 50  # about how many sets could be looked at in the time that the search around a block takes

Pair = tuple[int, int]


@numba.njit(cache=True, nogil=True)
def _blocks(
    columns: npt.NDArray[np.uint64],
    extents: npt.NDArray[np.uint64],
    block: Ints,
    level: int,
    need: int,
    slice_: int,
    out: Ints,
) -> tuple[int, int, int]:
    """Depth first over ascending sets of points that ``need`` hypotheses hold.

    Goes on from the state that ``extents``, ``block`` and ``level`` are, and leaves it there, when ``out`` is full or
    the slice is used up. Returns the level (-1 at the end), the number of sets looked at, and of blocks written.
    """
    n_points, n_words = columns.shape
    size, work, n_blocks = len(block), 0, 0
    while level >= 0 and work < slice_ and n_blocks < len(out):
        block[level] += 1
        point = block[level]
        if point > n_points - (size - level):
            level -= 1
            continue
        for w in range(n_words):
            extents[level + 1, w] = extents[level, w] & columns[point, w]
        work += 1
        if count_ones(extents[level + 1]) < need:
            continue
        if level == size - 1:
            out[n_blocks] = block
            n_blocks += 1
            continue
        level += 1
        block[level] = point
    return level, work, n_blocks


class BlockSearch:
    """Looks for a staircase of a given length, a slice of work at a time.

    The 0/1 table has distinct rows, hypotheses, and no more points than those.
    """

    def __init__(self, table: Bytes, length: int, limit: Limit) -> None:
        self._m = (length + 1) // 2
        self._length, size = length, length - self._m + 1
        self._order = np.argsort(table.sum(axis=0), kind="stable")  # few hypotheses first: small sets end early
        columns = words_of(table.T[self._order])
        self._columns = columns
        self._extents = np.zeros((size + 1, columns.shape[1]), np.uint64)
        self._extents[0] = words_of(np.ones((1, len(table)), np.uint8))[0]
        self._chosen = np.full(size, -1, np.int64)
        self._level = 0 if length > 1 else -1
        self._limit = limit
        self._rows = [bits_of(row) for row in table]
        self._ones = [bits_of(column) for column in table.T]
        self._everything = (1 << len(table)) - 1
        self.finished = False

    def go_on(self, sets: int) -> tuple[list[Pair] | None, int]:
        """Looks at about so many sets more: the staircase or None, and how many it was; see :attr:`finished`."""
        out = np.empty((BATCH, len(self._chosen)), np.int64)
        work = 0
        while self._level >= 0 and work < sets:
            self._level, visited, n_blocks = _blocks(
                self._columns, self._extents, self._chosen, self._level, self._m, sets - work, out
            )
            work += visited
            for block in out[:n_blocks]:
                staircase = self._around([int(self._order[point]) for point in block])
                work += BLOCK_WORK
                if staircase is not None:
                    self.finished = True
                    return staircase, work
                if self._limit.reached(0):  # what lies around this one may be left unseen
                    return None, work
        self.finished = self._level < 0
        return None, work

    def _around(self, block: list[int]) -> list[Pair] | None:
        """A staircase whose last points are these, in any order."""
        common, points = self._everything, 0
        for point in block:
            common &= self._ones[point]
            points |= 1 << point
        outside = ((1 << len(self._ones)) - 1) & ~points
        return self._before(common, outside, self._everything, points, self._m - 1)

    def _before(self, common: int, outside: int, free: int, block: int, remaining: int) -> list[Pair] | None:
        """The pairs up to the block and those in it, after some: ``remaining`` are still to come before the block.

        On the points so far ``common`` hypotheses are 1 on the block and 0 elsewhere, ``free`` ones 0; on the points
        ``outside`` of the block all hypotheses so far are 1.
        """
        if remaining == 0:
            return self._within(common, free, block)
        if outside.bit_count() < remaining or self._limit.reached(0):
            return None
        after = self._length - self._m
        for x in bit_positions(outside):
            removed, inside, rest = common & self._ones[x], common & ~self._ones[x], free & ~self._ones[x]
            if not removed or inside.bit_count() < remaining or (rest & ~inside).bit_count() < after:
                continue
            for h in bit_positions(removed):
                pairs = self._before(inside, outside & self._rows[h] & ~(1 << x), rest, block, remaining - 1)
                if pairs is not None:
                    return [(h, x), *pairs]
        return None

    def _within(self, common: int, free: int, block: int) -> list[Pair] | None:
        """The pairs of the block: its hypotheses hold one point of it fewer each, from all of it to one."""
        by_size: dict[int, dict[int, int]] = {}
        for h in bit_positions(free & ~common):
            trace = self._rows[h] & block
            by_size.setdefault(trace.bit_count(), {}).setdefault(trace, h)
        reached: dict[int, list[Pair]] = {block: [(lowest(common), block)]}  # hypotheses with their traces, so far
        for size in range(block.bit_count() - 1, 0, -1):
            longer: dict[int, list[Pair]] = {}
            for trace, h in by_size.get(size, {}).items():
                above = next((one for one in reached if one & trace == trace), None)
                if above is not None:
                    longer[trace] = [*reached[above], (h, trace)]
            reached = longer
        if not reached:
            return None
        ((*chain,), *_) = reached.values()
        traces = [trace for _, trace in chain] + [0]
        return [(h, lowest(trace & ~traces[i + 1])) for i, (h, trace) in enumerate(chain)]
