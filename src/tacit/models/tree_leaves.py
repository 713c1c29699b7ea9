"""Which leaf a row falls into, for many rows at once, without walking the tree.

Number the leaves from left to right. A test that sends a row to the right rules out every leaf of its left child, and
the row's leaf is the first one that no test rules out: the lowest set bit of the AND of the tests' masks. All tests of
one column share a table from code to mask, so a row costs one look-up per column of the tree, whatever its depth.
(The bit-vector idea is that of QuickScorer, Lucchese et al. 2015.)

A complete tree of more than 64 leaves takes two such steps: its first six levels say which of 64 subtrees a row is in,
and the masks of that subtree, a byte each, which of its leaves. Other large trees have masks of several words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from tacit.arrays import CODES, Bytes, Codes, Ints

WORD = 64
"""Leaves per mask word."""

BYTE = 8
"""Leaves of a subtree at most."""


def _lowest_bit(typing: Any, mask: Any) -> Any:
    """The position of the lowest set bit of a uint64 that has one: an instruction for which numba has no name."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    del typing, mask
    return types.uint64(types.uint64), emit


lowest_bit: Callable[..., Any] = intrinsic(_lowest_bit)


FOUR, SIX = 4, 6
"""Columns up to which a row's masks are combined in registers."""

BLOCK = 1 << 14
"""Rows per block: the masks of a block stay in the cache."""


@dataclass(frozen=True, eq=False)
class LeafTables:
    """For each code of each column that a tree tests, the leaves that it leaves possible."""

    # shape `(columns, 256, words)`; the subtrees that are left possible where there are some
    words: npt.NDArray[np.uint64]
    subtrees: Bytes  # shape `(columns, 256, 64)`, a byte for each subtree; no subtrees where a tree takes one step
    width: int  # leaves of a subtree

    @staticmethod
    def of(place: Ints, right: Bytes, last: Ints, spans: Ints, complete: bool) -> LeafTables:
        """Of a tree.

        Args:
            place: per split, which of the tested columns it looks at.
            right: per split, the codes that go right, packed, lowest bit first.
            last: their :func:`thresholds`.
            spans: per split, the first leaf below it, the first of its right child, and one past the last.
            complete: whether splits are numbered level by level, and all leaves are equally deep.
        """
        leaves, columns = len(place) + 1, int(place.max(initial=-1)) + 1
        width = leaves // WORD if complete and WORD < leaves <= WORD * BYTE else 1
        upper = WORD - 1 if width > 1 else len(place)  # splits of the first step
        full = [2 ** min(leaves // width - first, WORD) - 1 for first in range(0, leaves // width, WORD)]
        words = np.empty((columns, CODES, len(full)), np.uint64)
        words[:] = np.array(full, np.uint64)
        ends = spans[:upper] // width
        rule_out(place[:upper], right[:upper], last[:upper], ends[:, 0], ends[:, 1], words, WORD)
        subtrees = np.full((columns if width > 1 else 0, CODES, WORD), (1 << BYTE) - 1, np.uint8)
        if width > 1:
            ends = spans[upper:]
            rule_out(place[upper:], right[upper:], last[upper:], ends[:, 0], ends[:, 1], subtrees, width)
        return LeafTables(words, subtrees, width)


@nb.njit(nogil=True, cache=True)
def thresholds(right):  # type: ignore[no-untyped-def]
    """Per packed set the last code that it lacks, if it holds all above and no other (255 if none); else -2."""
    out = np.empty(len(right), np.int64)
    for split in range(len(right)):
        packed = right[split]
        byte = len(packed) - 1
        while byte >= 0 and packed[byte] == 255:
            byte -= 1
        code = 8 * byte + 7
        if byte >= 0:
            while packed[byte] >> (code & 7) & 1:
                code -= 1
            if packed[byte] & ((1 << (code & 7)) - 1):
                code = -2
            for before in range(byte):
                if packed[before]:
                    code = -2
        out[split] = code
    return out


@nb.njit(nogil=True, cache=True)
def rule_out(place, right, last, first, middle, tables, bits):  # type: ignore[no-untyped-def]
    """Takes from ``tables`` the leaves that each test rules out: those of its left child, for the codes it sends right.

    Args:
        place: per split, which table its column has.
        right: per split, the codes that go right, packed, lowest bit first.
        last: their :func:`thresholds`.
        first: per split, the first leaf of its left child.
        middle: one past the last.
        tables: shape ``(columns, 256, words)``, all leaves possible at first.
        bits: leaves to a word.
    """
    full = ~np.uint64(0)
    for split in range(len(place)):  # a code above a threshold rules out what the first one above it does
        if last[split] == -2 or last[split] == tables.shape[1] - 1:
            continue
        for word in range(first[split] // bits, (middle[split] - 1) // bits + 1):
            low, high = max(first[split] - word * bits, 0), min(middle[split] - word * bits, bits)
            ruled = (full >> np.uint64(WORD - (high - low))) << np.uint64(low)
            tables[place[split], last[split] + 1, word] &= ~ruled
    for column in range(tables.shape[0]):
        for code in range(1, tables.shape[1]):
            for word in range(tables.shape[2]):
                tables[column, code, word] &= tables[column, code - 1, word]
    for split in range(len(place)):
        if last[split] != -2:
            continue
        for word in range(first[split] // bits, (middle[split] - 1) // bits + 1):
            low, high = max(first[split] - word * bits, 0), min(middle[split] - word * bits, bits)
            ruled = (full >> np.uint64(WORD - (high - low))) << np.uint64(low)
            for code in range(tables.shape[1]):
                if right[split, code >> 3] >> (code & 7) & 1:
                    tables[place[split], code, word] &= ~ruled


@nb.njit(nogil=True, cache=True)
def leaves_of_four(c0, c1, c2, c3, t0, t1, t2, t3, leaves, start, stop):  # type: ignore[no-untyped-def]
    """The position of the lowest set bit of ``t0[c0] & t1[c1] & t2[c2] & t3[c3]``; there is one in every row.

    Row numbers are unsigned, here and below, because numba tests signed ones for counting from the end.
    """
    for i in range(nb.uintp(start), nb.uintp(stop)):
        leaves[i] = lowest_bit(t0[c0[i]] & t1[c1[i]] & t2[c2[i]] & t3[c3[i]])


@nb.njit(nogil=True, cache=True)
def leaves_of_six(c0, c1, c2, c3, c4, c5, t0, t1, t2, t3, t4, t5, leaves, start, stop):  # type: ignore[no-untyped-def]
    """The same of six."""
    for i in range(nb.uintp(start), nb.uintp(stop)):
        leaves[i] = lowest_bit(t0[c0[i]] & t1[c1[i]] & t2[c2[i]] & t3[c3[i]] & t4[c4[i]] & t5[c5[i]])


@nb.njit(nogil=True, cache=True)
def leaves_in_two_steps(c0, c1, c2, c3, c4, c5, places, words, subtrees, width, leaves, start, stop):  # type: ignore[no-untyped-def]
    """The leaves of a tree with subtrees; ``places[k]`` is the number of the column whose codes ``ck`` are."""
    p0, p1, p2, p3, p4, p5 = places[0], places[1], places[2], places[3], places[4], places[5]
    t0, t1, t2, t3, t4, t5 = words[p0], words[p1], words[p2], words[p3], words[p4], words[p5]
    s0, s1, s2, s3, s4, s5 = subtrees[p0], subtrees[p1], subtrees[p2], subtrees[p3], subtrees[p4], subtrees[p5]
    for i in range(nb.uintp(start), nb.uintp(stop)):
        k0, k1, k2, k3, k4, k5 = c0[i], c1[i], c2[i], c3[i], c4[i], c5[i]
        tree = lowest_bit(t0[k0, 0] & t1[k1, 0] & t2[k2, 0] & t3[k3, 0] & t4[k4, 0] & t5[k5, 0])
        byte = s0[k0, tree] & s1[k1, tree] & s2[k2, tree] & s3[k3, tree] & s4[k4, tree] & s5[k5, tree]
        leaves[i] = tree * nb.uint64(width) + lowest_bit(nb.uint64(byte))


@nb.njit(nogil=True, cache=True)
def more_masks(c0, c1, c2, c3, t0, t1, t2, t3, masks, start, stop):  # type: ignore[no-untyped-def]
    """``masks &= t0[c0] & t1[c1] & t2[c2] & t3[c3]`` for rows ``start .. stop - 1``, written from position 0."""
    first = nb.uintp(start)
    for i in range(first, nb.uintp(stop)):
        masks[i - first] &= t0[c0[i]] & t1[c1[i]] & t2[c2[i]] & t3[c3[i]]


@nb.njit(nogil=True, cache=True)
def lowest_bits(masks, base, leaves, start, stop):  # type: ignore[no-untyped-def]
    """``leaves = base + position of the lowest set bit`` where there is one; other rows keep what they have."""
    own = leaves[start:stop]
    for i in range(len(own)):
        mask = masks[i]
        if mask:
            own[i] = nb.uint64(base) + lowest_bit(mask)


@nb.njit(nogil=True, cache=True)
def more_subtree_masks(codes, table, leaves, masks, start, stop):  # type: ignore[no-untyped-def]
    """``masks &= table[codes, subtree]``, ``leaves`` being the subtrees."""
    own, trees = codes[start:stop], leaves[start:stop]
    for i in range(len(own)):
        masks[i] &= table[own[i], trees[i]]


@nb.njit(nogil=True, cache=True)
def leaves_of_subtrees(masks, width, leaves, start, stop):  # type: ignore[no-untyped-def]
    """From subtrees and their masks to leaves, in place."""
    own = leaves[start:stop]
    for i in range(len(own)):
        own[i] = nb.uint64(own[i]) * nb.uint64(width) + lowest_bit(nb.uint64(masks[i]))


@nb.njit(nogil=True, cache=True)
def add_values(leaves, values, out, start, stop):  # type: ignore[no-untyped-def]
    """``out += values[leaves]``."""
    for i in range(nb.uintp(start), nb.uintp(stop)):
        out[i] += values[leaves[i]]


def find_leaves(columns: Sequence[Bytes], tables: LeafTables, leaves: Codes, start: int, stop: int) -> None:
    """Writes the leaf of rows ``start .. stop - 1`` into ``leaves``.

    Args:
        columns: the codes of the tree's columns, uint8, in the order of ``tables``.
        tables: of the tree.
        leaves: where to write; uint8 or uint16, enough for the number of leaves.
        start: first row.
        stop: one past the last row.
    """
    if tables.words.shape[2] > 1 or len(columns) > SIX:
        _in_blocks(columns, tables, leaves, start, stop)
        return
    width = FOUR if len(columns) <= FOUR and tables.width == 1 else SIX
    places = [min(k, len(columns) - 1) for k in range(width)]  # a mask may count twice
    codes: Sequence[Any] = [columns[k] for k in places]
    if tables.width > 1:
        two_steps: Callable[..., None] = leaves_in_two_steps
        two_steps(*codes, np.array(places), tables.words, tables.subtrees, tables.width, leaves, start, stop)
        return
    combine: Callable[..., None] = leaves_of_four if width == FOUR else leaves_of_six
    combine(*codes, *(tables.words[k, :, 0] for k in places), leaves, start, stop)


def _in_blocks(columns: Sequence[Bytes], tables: LeafTables, leaves: Codes, start: int, stop: int) -> None:
    rows, words = min(BLOCK, max(stop - start, 0)), tables.words.shape[2]
    masks, bytes_ = np.empty(rows, np.uint64), np.empty(rows, np.uint8)
    combine: Callable[..., None] = more_masks
    for low in range(start, stop, BLOCK):
        high = min(low + BLOCK, stop)
        for word in range(words - 1, -1, -1):  # the leftmost leaf is written last and stays
            masks[:] = ~np.uint64(0)
            for first in range(0, len(columns), FOUR):
                places = [min(first + k, len(columns) - 1) for k in range(FOUR)]  # a mask may count twice
                combine(*(columns[k] for k in places), *(tables.words[k, :, word] for k in places), masks, low, high)
            lowest_bits(masks, word * WORD, leaves, low, high)
        if tables.width > 1:
            bytes_[:] = (1 << BYTE) - 1
            for codes, table in zip(columns, tables.subtrees, strict=True):
                more_subtree_masks(codes, table, leaves, bytes_, low, high)
            leaves_of_subtrees(bytes_, tables.width, leaves, low, high)
