"""Which leaf a row falls into, for many rows at once, without walking the tree.

Number the leaves from left to right. A test that sends a row to the right rules out every leaf of its left child, and
the row's leaf is the first one that no test rules out: the lowest set bit of the AND of the tests' masks. All tests of
one column share a table from code to mask, so a row costs one look-up per column of the tree, whatever its depth.
(The bit-vector idea is that of QuickScorer, Lucchese et al. 2015.)
"""

from __future__ import annotations

from collections.abc import Callable

import numba as nb
import numpy as np

from tacit.arrays import Bytes, Codes, Words

WORD = 64
"""Leaves per mask word; larger trees take several words."""

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_POSITION = np.zeros(WORD, np.uint8)
for _bit in range(WORD):
    _POSITION[((int(_DE_BRUIJN) << _bit) % 2**64) >> (WORD - 6)] = _bit
_POSITION.flags.writeable = False


FOUR, SIX = 4, 6
"""Columns up to which a row's masks are combined in registers."""


@nb.njit(nogil=True, cache=True)
def leaves_of_four(c0, c1, c2, c3, t0, t1, t2, t3, leaves, start, stop):  # type: ignore[no-untyped-def]
    """The position of the lowest set bit of ``t0[c0] & t1[c1] & t2[c2] & t3[c3]``; there is one in every row.

    Row numbers are unsigned, here and below, because numba tests signed ones for counting from the end.
    """
    for i in range(nb.uintp(start), nb.uintp(stop)):
        mask = t0[c0[i]] & t1[c1[i]] & t2[c2[i]] & t3[c3[i]]
        lowest = mask & (~mask + np.uint64(1))
        leaves[i] = _POSITION[(lowest * _DE_BRUIJN) >> np.uint64(58)]


@nb.njit(nogil=True, cache=True)
def leaves_of_six(c0, c1, c2, c3, c4, c5, t0, t1, t2, t3, t4, t5, leaves, start, stop):  # type: ignore[no-untyped-def]
    """The same of six."""
    for i in range(nb.uintp(start), nb.uintp(stop)):
        mask = t0[c0[i]] & t1[c1[i]] & t2[c2[i]] & t3[c3[i]] & t4[c4[i]] & t5[c5[i]]
        lowest = mask & (~mask + np.uint64(1))
        leaves[i] = _POSITION[(lowest * _DE_BRUIJN) >> np.uint64(58)]


@nb.njit(nogil=True, cache=True)
def first_masks(codes, table, masks, start, stop):  # type: ignore[no-untyped-def]
    """``masks = table[codes]`` for rows ``start .. stop - 1``, written from position 0."""
    own = codes[start:stop]
    for i in range(len(own)):
        masks[i] = table[own[i]]


@nb.njit(nogil=True, cache=True)
def more_masks(codes, table, masks, start, stop):  # type: ignore[no-untyped-def]
    """``masks &= table[codes]``."""
    own = codes[start:stop]
    for i in range(len(own)):
        masks[i] &= table[own[i]]


@nb.njit(nogil=True, cache=True)
def lowest_bits(masks, base, leaves, start, stop):  # type: ignore[no-untyped-def]
    """``leaves = base + position of the lowest set bit`` where there is one; other rows keep what they have."""
    own = leaves[start:stop]
    for i in range(len(own)):
        mask = masks[i]
        if mask:
            lowest = mask & (~mask + np.uint64(1))
            own[i] = base + _POSITION[(lowest * _DE_BRUIJN) >> np.uint64(58)]


@nb.njit(nogil=True, cache=True)
def add_values(leaves, values, out, start, stop):  # type: ignore[no-untyped-def]
    """``out += values[leaves]``."""
    for i in range(nb.uintp(start), nb.uintp(stop)):
        out[i] += values[leaves[i]]


@nb.njit(nogil=True, cache=True)
def rule_out(place, right, first, middle, tables):  # type: ignore[no-untyped-def]
    """Takes from ``tables`` the leaves that each test rules out: those of its left child, for the codes it sends right.

    Args:
        place: per split, which table its column has.
        right: per split, the codes that go right, packed, lowest bit first.
        first: per split, the first leaf of its left child.
        middle: one past the last.
        tables: shape ``(columns, words, 256)``, all leaves possible at first.
    """
    full = ~np.uint64(0)
    for split in range(len(place)):
        for word in range(first[split] // WORD, (middle[split] - 1) // WORD + 1):
            low, high = max(first[split] - word * WORD, 0), min(middle[split] - word * WORD, WORD)
            ruled = (full >> np.uint64(WORD - (high - low))) << np.uint64(low)
            table = tables[place[split], word]
            for byte in range(right.shape[1]):
                bits = right[split, byte]
                for bit in range(8):
                    if bits >> bit & 1:
                        table[byte * 8 + bit] &= ~ruled


BLOCK = 1 << 14
"""Rows per block: the masks of a block stay in the cache."""


def find_leaves(
    columns: list[Bytes],
    tables: Words,
    leaves: Codes,
    start: int,
    stop: int,
) -> None:
    """Writes the leaf of rows ``start .. stop - 1`` into ``leaves``.

    Args:
        columns: the codes of the tree's columns, uint8, in the order of ``tables``.
        tables: shape ``(columns, words, 256)``: for each code the leaves it leaves possible, 64 to a word.
        leaves: where to write; uint8 or uint16, enough for the number of leaves.
        start: first row.
        stop: one past the last row.
    """
    words = tables.shape[1]
    if words == 1 and len(columns) <= SIX:
        width = FOUR if len(columns) <= FOUR else SIX
        combine: Callable[..., None] = leaves_of_four if width == FOUR else leaves_of_six
        places = [min(k, len(columns) - 1) for k in range(width)]  # a mask may count twice
        combine(*(columns[k] for k in places), *(tables[k, 0] for k in places), leaves, start, stop)
        return
    masks = np.empty(min(BLOCK, max(stop - start, 0)), np.uint64)
    for low in range(start, stop, BLOCK):
        high = min(low + BLOCK, stop)
        for word in range(words - 1, -1, -1):  # the leftmost leaf is written last and stays
            first_masks(columns[0], tables[0, word], masks, low, high)
            for codes, table in zip(columns[1:], tables[1:], strict=True):
                more_masks(codes, table[word], masks, low, high)
            lowest_bits(masks, word * WORD, leaves, low, high)
