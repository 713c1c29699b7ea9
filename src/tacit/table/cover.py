"""Counting the rows that conjunctions cover: a bit per row and literal, a conjunction is an AND of words.

Candidates are streamed: of each only its class counts are kept. Rows that leave are subtracted, so over a whole cover
each row meets each candidate at most twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from tacit.queries.cover import Conjunctions, FirstMatch

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Words = npt.NDArray[np.uint64]

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


def holds(conjunctions: Conjunctions, conjunction: int, columns: Sequence[Codes], n_rows: int) -> npt.NDArray[np.bool_]:
    """For which rows a conjunction holds."""
    truth = np.ones(n_rows, np.bool_)
    for literal in conjunctions.literals_of(conjunction):
        truth &= conjunctions.truths[literal][columns[conjunctions.columns[literal]]]
    return truth


def first_match(cells: FirstMatch, columns: Sequence[Codes], n_rows: int) -> Codes:
    """The first conjunction that holds, per row; the number of conjunctions if none does."""
    n = len(cells.conjunctions)
    out: Codes = np.full(n_rows, n, np.int64).astype(np.uint8) if n < 256 else np.full(n_rows, n, np.uint16)
    for conjunction in reversed(range(n)):
        out[holds(cells.conjunctions, conjunction, columns, n_rows)] = conjunction
    return out


class CoverCounts:
    """Class counts of every conjunction over the rows that are left.

    Args:
        conjunctions: the candidates.
        columns: codes of all columns, as sealed.
        labels: class codes.
        n_labels: number of classes.
        threads: cores to use.
    """

    def __init__(
        self,
        conjunctions: Conjunctions,
        columns: Sequence[Codes],
        labels: npt.NDArray[np.uint8],
        n_labels: int,
        threads: int = 1,
    ) -> None:
        self._conjunctions = conjunctions
        self._columns = columns
        self._labels = labels
        self._n_labels = n_labels
        self._threads = threads
        self._left = np.ones(len(labels), np.bool_)
        self.counts = self._count(np.arange(len(labels)))

    def remove(self, conjunction: int) -> None:
        """Takes away the rows that a conjunction covers."""
        gone = holds(self._conjunctions, conjunction, self._columns, len(self._labels)) & self._left
        self._left &= ~gone
        if 2 * np.count_nonzero(gone) > np.count_nonzero(self._left):
            self.counts = self._count(np.flatnonzero(self._left))
        else:
            self.counts = self.counts - self._count(np.flatnonzero(gone))

    def _count(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Class counts over some rows, shape ``(conjunctions, classes)``."""
        counts = np.zeros((self._n_labels, len(self._conjunctions)), np.int64)
        for label in range(self._n_labels):
            of_label = rows[self._labels[rows] == label]
            if len(of_label) == 0:
                continue
            self._in_chunks(partial(count_covered, self._bits(of_label), self._members, counts[label]))
        return np.ascontiguousarray(counts.T)

    @property
    def _members(self) -> npt.NDArray[np.int32]:
        return self._conjunctions.members

    def _bits(self, rows: npt.NDArray[np.int64]) -> Words:
        """One line of bits per literal, and a last line of ones."""
        n_literals = len(self._conjunctions.columns)
        bits = np.zeros((n_literals + 1, -(-len(rows) // WORD)), np.uint64)
        for literal, (column, truth) in enumerate(
            zip(self._conjunctions.columns, self._conjunctions.truths, strict=True)
        ):
            pack(self._columns[column], truth, rows, bits[literal])
        pack(np.zeros(len(self._labels), np.uint8), np.ones(1, np.bool_), rows, bits[n_literals])
        return bits

    def _in_chunks(self, run: Callable[[int, int], Any]) -> None:
        n = len(self._conjunctions)
        starts = range(0, n, CHUNK)
        if self._threads == 1 or len(starts) == 1:
            run(0, n)
            return
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(lambda start: run(start, min(start + CHUNK, n)), starts))
