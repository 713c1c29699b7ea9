"""The search for a shattered set of a given size, compiled: of all dimensions it alone visits millions of sets."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes, Ints


@numba.njit(cache=True, nogil=True)
def count_ones(words: npt.NDArray[np.uint64]) -> int:
    """Number of ones, by adding neighbouring groups of bits."""
    total = np.int64(0)
    for i in range(len(words)):
        w = words[i]
        w = w - ((w >> np.uint64(1)) & np.uint64(0x5555555555555555))
        w = (w & np.uint64(0x3333333333333333)) + ((w >> np.uint64(2)) & np.uint64(0x3333333333333333))
        w = (w + (w >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        total += np.int64((w * np.uint64(0x0101010101010101)) >> np.uint64(56))
    return int(total)


@numba.njit(cache=True, nogil=True)
def _search(
    columns: npt.NDArray[np.uint64], cells: npt.NDArray[np.uint64], points: Ints, level: int, slice_: int
) -> tuple[int, int, int]:
    """Depth-first over ascending sets; cell ``2**level + c`` holds class ``c`` of the hypotheses at that level.

    Goes on from the state that ``cells``, ``points`` and ``level`` are, and leaves it there. Returns (1 found, 0 none
    exists, -1 the slice is used up), the number of visited sets, and the level.
    """
    n_points, n_words = columns.shape
    size = len(points)
    half = np.zeros(n_words, np.uint64)
    work = 0
    while level >= 0:
        points[level] += 1
        point = points[level]
        if point > n_points - (size - level):
            level -= 1
            continue
        need = 2 ** (size - level - 1)
        base, fits = 2**level, True
        for c in range(base):
            for w in range(n_words):
                half[w] = cells[base + c, w] & columns[point, w]
                cells[2 * base + 2 * c, w] = half[w]
                cells[2 * base + 2 * c + 1, w] = cells[base + c, w] ^ half[w]
            if count_ones(half) < need or count_ones(cells[2 * base + 2 * c + 1]) < need:
                fits = False
                break
        if not fits:
            continue
        work += 1
        if level == size - 1:
            return 1, work, level
        level += 1
        points[level] = point
        if work >= slice_:
            return -1, work, level
    return 0, work, level


def words_of(rows: Bytes) -> npt.NDArray[np.uint64]:
    """Rows of 0 and 1, shape ``(rows, points)``, as 64-bit words, ``(rows, ceil(points / 64))``."""
    packed = np.zeros((len(rows), -(-rows.shape[1] // 64) * 8), np.uint8)
    raw = np.packbits(rows, axis=1, bitorder="little")
    packed[:, : raw.shape[1]] = raw
    return packed.view(np.uint64)


class ShatteredSearch:
    """Looks for ``size`` columns of a 0/1 array on which all ``2**size`` patterns occur, a slice of work at a time."""

    def __init__(self, columns: Bytes, size: int) -> None:
        self._columns = words_of(columns.T)
        self._cells = np.zeros((2 ** (size + 1), self._columns.shape[1]), np.uint64)
        self._cells[1] = words_of(np.ones((1, len(columns)), np.uint8))[0]
        self._chosen = np.zeros(size, np.int64)
        self._chosen[0] = -1
        self._level = 0
        self.finished = False

    def go_on(self, sets: int) -> tuple[list[int] | None, int]:
        """Visits at most so many sets more: the columns or None, and how many it visited; see :attr:`finished`."""
        outcome, work, self._level = _search(self._columns, self._cells, self._chosen, self._level, sets)
        self.finished = outcome >= 0
        return ([int(p) for p in self._chosen] if outcome == 1 else None), int(work)
