"""The search for a shattered set of a given size, compiled: of all dimensions it alone visits millions of sets."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes, Ints


@numba.njit(cache=True, nogil=True)
def _ones(words: npt.NDArray[np.uint64]) -> int:
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
    columns: npt.NDArray[np.uint64], everything: npt.NDArray[np.uint64], size: int, cap: int, chosen: Ints
) -> tuple[int, int]:
    """Depth-first over ascending sets; cell ``2**level + c`` holds class ``c`` of the hypotheses at that level.

    Returns (1 found, 0 none exists, -1 out of work) and the number of visited sets.
    """
    n_points, n_words = columns.shape
    cells = np.zeros((2 ** (size + 1), n_words), np.uint64)
    cells[1] = everything
    half = np.zeros(n_words, np.uint64)
    level, work = 0, 0
    chosen[0] = -1
    while level >= 0:
        chosen[level] += 1
        point = chosen[level]
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
            if _ones(half) < need or _ones(cells[2 * base + 2 * c + 1]) < need:
                fits = False
                break
        if not fits:
            continue
        work += 1
        if level == size - 1:
            return 1, work
        if work >= cap:
            return -1, work
        level += 1
        chosen[level] = point
    return 0, work


def search_shattered(columns: Bytes, size: int, cap: int) -> tuple[list[int] | None, int, bool]:
    """Looks for ``size`` columns on which all ``2**size`` patterns occur.

    Args:
        columns: 0/1 array of shape ``(hypotheses, points)`` with distinct rows.
        size: how many columns.
        cap: sets to visit at most.

    Returns:
        the columns or None, the number of visited sets, and whether the search finished.
    """
    if cap <= 0:
        return None, 0, False
    n_hypotheses, n_points = columns.shape
    words = -(-n_hypotheses // 64)
    packed = np.zeros((n_points, words * 8), np.uint8)
    raw = np.packbits(columns.T, axis=1, bitorder="little")
    packed[:, : raw.shape[1]] = raw
    everything = np.zeros(words * 8, np.uint8)
    full = np.packbits(np.ones(n_hypotheses, np.uint8), bitorder="little")
    everything[: len(full)] = full
    chosen = np.zeros(size, np.int64)
    found, work = _search(packed.view(np.uint64), everything.view(np.uint64), size, cap, chosen)
    return ([int(p) for p in chosen] if found == 1 else None), int(work), found >= 0
