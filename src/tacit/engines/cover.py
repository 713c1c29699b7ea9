"""Counting the rows that conjunctions cover: a bit per row and literal, a conjunction is an AND of words.

Candidates are streamed: of each only its class counts are kept. Rows that leave are subtracted, so over a whole cover
each row meets each candidate at most twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Generic, TypeVar

import numba as nb
import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Bytes, Codes, Ints
from tacit.queries.covers.candidates import Conjunctions, FirstMatch, StreamedConjunctions

Candidates = Conjunctions | StreamedConjunctions

WORD = 64
CHUNK = 1 << 14
"""Candidates a thread takes at a time."""


@nb.njit(nogil=True, cache=True)
def pack(codes, truth, rows, out):  # type: ignore[no-untyped-def]
    """Bit ``i % 64`` of word ``i // 64`` tells whether ``truth[codes[rows[i]]]``."""
    for i in range(len(rows)):
        if truth[codes[rows[i]]]:
            out[i >> 6] |= nb.uint64(1) << nb.uint64(i & 63)


@nb.njit(nogil=True, cache=True)
def count_covered(bits, members, out, start, stop):  # type: ignore[no-untyped-def]
    """``out[c]`` = rows on which all literals of ``members[c]`` hold. Literal -1 is the last line of ``bits``."""
    last, words = bits.shape[0] - 1, bits.shape[1]
    ones = nb.uint64(0x5555555555555555)
    twos = nb.uint64(0x3333333333333333)
    fours = nb.uint64(0x0F0F0F0F0F0F0F0F)
    sums = nb.uint64(0x0101010101010101)
    for c in range(start, stop):
        total = nb.int64(0)
        first = members[c, 0]
        if first < 0:
            first = last
        for w in range(words):
            x = bits[first, w]
            for k in range(1, members.shape[1]):
                literal = members[c, k]
                if literal >= 0:
                    x &= bits[literal, w]
            x -= (x >> nb.uint64(1)) & ones
            x = (x & twos) + ((x >> nb.uint64(2)) & twos)
            x = (x + (x >> nb.uint64(4))) & fours
            total += nb.int64((x * sums) >> nb.uint64(56))
        out[c] = total


def literal_holds(conjunctions: Candidates, literal: int, columns: Sequence[Codes]) -> Bools:
    """For which rows a literal holds."""
    where = conjunctions.columns[literal]
    codes = tuple(columns[column] for column in (where if isinstance(where, tuple) else (where,)))
    return conjunctions.truths[literal][codes]


def holds(conjunctions: Candidates, conjunction: int, columns: Sequence[Codes], n_rows: int) -> Bools:
    """For which rows a conjunction holds."""
    truth = np.ones(n_rows, np.bool_)
    for literal in conjunctions.literals_of(conjunction):
        truth &= literal_holds(conjunctions, literal, columns)
    return truth


def literal_bits(conjunctions: Candidates, columns: Sequence[Codes], rows: Ints) -> npt.NDArray[np.uint64]:
    """A line of bits per literal, a bit per row, and a last line of ones: ``(literals + 1, words)``."""
    n_literals = len(conjunctions.columns)
    bits = np.zeros((n_literals + 1, -(-len(rows) // WORD)), np.uint64)
    for literal, (where, truth) in enumerate(zip(conjunctions.columns, conjunctions.truths, strict=True)):
        if isinstance(where, tuple):
            codes = literal_holds(conjunctions, literal, columns).astype(np.uint8)
            pack(codes, np.array([False, True]), rows, bits[literal])
        else:
            pack(columns[where], truth, rows, bits[literal])
    pack(np.zeros(1 + int(rows.max(initial=0)), np.uint8), np.ones(1, np.bool_), rows, bits[n_literals])
    return bits


def count_in_parallel(bits: npt.NDArray[np.uint64], members: npt.NDArray[np.int32], out: Ints, threads: int) -> None:
    """:func:`count_covered` over all members, on several cores."""
    n = len(members)
    starts = range(0, n, CHUNK)
    if threads == 1 or len(starts) == 1:
        count_covered(bits, members, out, 0, n)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda start: count_covered(bits, members, out, start, min(start + CHUNK, n)), starts))


def first_match(cells: FirstMatch, columns: Sequence[Codes], n_rows: int) -> Codes:
    """The first conjunction that holds, per row; the number of conjunctions if none does."""
    n = len(cells.conjunctions)
    out: Codes = np.full(n_rows, n, np.int64).astype(np.uint8) if n < 256 else np.full(n_rows, n, np.uint16)
    for conjunction in reversed(range(n)):
        out[holds(cells.conjunctions, conjunction, columns, n_rows)] = conjunction
    return out


Of = TypeVar("Of", Conjunctions, StreamedConjunctions)


class _Uncovered(Generic[Of]):
    """The rows that no chosen conjunction covers yet; codes are those of all columns, as sealed."""

    def __init__(
        self, conjunctions: Of, columns: Sequence[Codes], labels: Bytes, n_labels: int, threads: int = 1
    ) -> None:
        self.conjunctions: Of = conjunctions
        self._columns = columns
        self._labels, self._n_labels, self._threads = labels, n_labels, threads
        self._left = np.ones(len(labels), np.bool_)


class CoverCounts(_Uncovered[Conjunctions]):
    """Class counts of every conjunction over the rows that are left."""

    @cached_property
    def counts(self) -> Ints:
        return self._count(np.arange(len(self._labels)))

    def remove(self, conjunction: int) -> None:
        gone = holds(self.conjunctions, conjunction, self._columns, len(self._labels)) & self._left
        self._left &= ~gone
        if 2 * np.count_nonzero(gone) > np.count_nonzero(self._left):
            self.counts = self._count(np.flatnonzero(self._left))
        else:
            self.counts = self.counts - self._count(np.flatnonzero(gone))

    def _count(self, rows: Ints) -> Ints:
        """Class counts over some rows, shape ``(conjunctions, classes)``."""
        counts = np.zeros((self._n_labels, len(self.conjunctions)), np.int64)
        for label in range(self._n_labels):
            of_label = rows[self._labels[rows] == label]
            if len(of_label):
                bits = literal_bits(self.conjunctions, self._columns, of_label)
                count_in_parallel(bits, self.conjunctions.members, counts[label], self._threads)
        return np.ascontiguousarray(counts.T)


class StreamedCounts(_Uncovered[StreamedConjunctions]):
    """The same for candidates that are made block by block: counts of a block are made when they are asked for."""

    @cached_property
    def _bits(self) -> list[npt.NDArray[np.uint64]]:
        return self._packed()

    def block(self, block: int) -> Ints:
        """Class counts of a block's conjunctions over the rows that are left, shape ``(size, classes)``."""
        members = self.conjunctions.members(block)
        counts = np.zeros((self._n_labels, len(members)), np.int64)
        for bits, out in zip(self._bits, counts, strict=True):
            count_in_parallel(bits, members, out, self._threads)
        return np.ascontiguousarray(counts.T)

    def remove(self, conjunction: int) -> None:
        self._left &= ~holds(self.conjunctions, conjunction, self._columns, len(self._labels))
        self._bits = self._packed()

    def _packed(self) -> list[npt.NDArray[np.uint64]]:
        rows = np.flatnonzero(self._left)
        return [
            literal_bits(self.conjunctions, self._columns, rows[self._labels[rows] == label])
            for label in range(self._n_labels)
        ]
