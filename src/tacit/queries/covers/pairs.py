"""Which literals may stand in one conjunction, and the sets of them: found without a look at every pair.

Literals on different columns may. On the same columns both must be able to hold at once, and neither may follow from
the other. A column of many categories has many literals, and nearly all pairs of them are told by each literal alone.
Call a literal broad if it holds for more than half of the codes, but not for all ("is not a"); its small side is the
codes it misses, that of another literal the codes it holds for. Where two small sides share no code,

* two broad literals go together: they meet, as each misses less than half, and each holds for what the other misses;
* a broad literal and another do not, as the other implies it, and two others do not, as they contradict each other.

A literal that always holds follows from all. So only pairs whose small sides share a code are looked at; those for
which "both are broad" is the wrong answer are kept.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Ints

PART = 1 << 18
"""Entries that are worked on at a time: pairs that share a code, or flags of literals. Decides memory alone."""

MOST_KEPT = 1 << 11
"""Literals up to which the answers for all pairs are kept (4 MB) rather than made again for every set."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which pairs ``i < j`` of literals neither contradict nor repeat each other."""

    # int32, per literal the number of its columns: the same for literals on the same columns
    group: npt.NDArray[np.int32]
    broad: Bools  # per literal, whether it holds for more than half of the codes, but not for all
    # `firsts`, `seconds`: the pairs on the same columns of which the opposite is true of what `broad` says, in order
    firsts: Ints
    seconds: Ints

    @staticmethod
    def of(columns: Sequence[int | tuple[int, ...]], truths: Sequence[Bools]) -> Pairs:
        """The pairs of literals given by the columns they look at and the codes they hold for."""
        groups: dict[int | tuple[int, ...], list[int]] = {}
        for literal, where in enumerate(columns):
            groups.setdefault(where, []).append(literal)
        group, broad = np.zeros(len(columns), np.int32), np.zeros(len(columns), np.bool_)
        firsts, seconds = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for number, (where, listed) in enumerate(groups.items()):
            if len({truths[literal].shape for literal in listed}) > 1:
                raise ValueError(f"literals on {where} must all know the same codes")
            literals = np.array(listed)
            group[literals] = number
            broad[literals], first, second = _on_the_same([truths[literal].ravel() for literal in listed])
            firsts.append(literals[first])
            seconds.append(literals[second])
        first, second = np.concatenate(firsts), np.concatenate(seconds)
        order = np.lexsort((second, first))
        return Pairs(group, broad, first[order], second[order])

    def __len__(self) -> int:
        return len(self.group)

    def lines(self, literals: npt.NDArray[np.integer]) -> Bools:
        """Per literal asked for, which later ones go with it; shape ``(asked, literals)``."""
        return self._made(literals) if self._kept is None else self._kept[literals]

    @cached_property
    def _kept(self) -> Bools | None:
        return self._made(np.arange(len(self))) if len(self) <= MOST_KEPT else None

    def _made(self, literals: npt.NDArray[np.integer]) -> Bools:
        columns = literals[:, None]
        compatible: Bools = self.group != self.group[columns]
        compatible |= self.broad & self.broad[columns]
        compatible &= np.arange(len(self), dtype=np.int32) > columns  # each set once, in order
        starts, ends = (np.searchsorted(self.firsts, literals, side) for side in ("left", "right"))
        line = np.repeat(np.arange(len(literals)), ends - starts)
        place = self.seconds[_ranges(starts, ends)]
        compatible[line, place] ^= True
        return compatible

    def _free(self, level: npt.NDArray[np.int32], among: Bools | None) -> Iterator[tuple[npt.NDArray[np.int32], Bools]]:
        """Sets, a part at a time, and which later literals go with all of each."""
        step = max(1, PART // max(1, len(self)))
        for start in range(0, len(level), step):
            part = level[start : start + step]
            free = np.logical_and.reduce([self.lines(part[:, place]) for place in range(part.shape[1])])
            yield part, free if among is None else free & among

    def extended(self, level: npt.NDArray[np.int32], among: Bools | None = None) -> npt.NDArray[np.int32]:
        """Every set with one literal more, from ``among`` (None for all), that goes with all of it, in order.

        ``level`` has a line for each set of one length, its literals in ascending order.
        """
        longer = [np.zeros((0, level.shape[1] + 1), np.int32)]
        for part, free in self._free(level, among):
            line, literal = np.nonzero(free)
            longer.append(np.column_stack([part[line], literal.astype(np.int32)]))
        return np.concatenate(longer)

    def counts(self, k: int, most: int) -> list[list[int]] | None:
        """How many sets of each length begin with each literal: ``[length - 1][first]``; None if more than ``most``.

        What begins with a literal is a set on its own columns times any set of later literals on other columns. So the
        numbers of sets, by their lengths, are multiplied and divided like power series; no sets are made but those on
        one column, and these only where :attr:`broad` does not say it all.
        """
        counts = [[0] * len(self) for _ in range(k)]
        k = min(k, len(self))
        of_all = [1] + [0] * k  # sets of the literals from here on, by their length
        of_group = {int(number): [1] + [0] * k for number in np.unique(self.group)}
        broad = dict.fromkeys(of_group, 0)
        exceptional = set(self.group[self.firsts].tolist())
        for first in reversed(range(len(self))):
            number = int(self.group[first])
            if number in exceptional:
                own = self._own_counts(first, k)
            else:
                own = [math.comb(broad[number] * int(self.broad[first]), others) for others in range(k)]
            broad[number] += int(self.broad[first])
            elsewhere = _quotient(of_all, of_group[number])
            for length in range(1, k + 1):
                total = sum(own[i] * elsewhere[length - 1 - i] for i in range(length))
                counts[length - 1][first] = total
                of_all[length] += total
                of_group[number][length] += own[length - 1]
            if sum(of_all[1:]) > most:
                return None
        return counts

    def _own_counts(self, first: int, k: int) -> list[int]:
        """How many sets of each length up to ``k`` on one column begin with a literal, without making the longest."""
        mine = self.group == self.group[first]
        level, counts = np.array([[first]], np.int32), [1]
        while len(counts) < k:
            if len(counts) > 1:
                level = self.extended(level, mine)
            counts.append(sum(int(np.count_nonzero(free)) for _, free in self._free(level, mine)))
        return counts


def fewest_sets(columns: Sequence[int | tuple[int, ...]], k: int) -> int:
    """How many sets of up to ``k`` literals there are at least: those on different columns, whatever the literals."""
    fewest = [1] + [0] * k
    for literals in Counter(columns).values():
        for length in range(k, 0, -1):
            fewest[length] += literals * fewest[length - 1]
    return sum(fewest[1:])


def _quotient(dividend: Sequence[int], divisor: Sequence[int]) -> list[int]:
    """A power series divided by another one that begins with 1, to as many terms."""
    quotient: list[int] = []
    for place, term in enumerate(dividend):
        quotient.append(term - sum(divisor[i] * quotient[place - i] for i in range(1, place + 1)))
    return quotient


def _on_the_same(truths: Sequence[Bools]) -> tuple[Bools, Ints, Ints]:
    """For literals on the same columns: which are broad, and the pairs that being broad has wrong."""
    n_codes = len(truths[0])
    sizes = np.array([np.count_nonzero(truth) for truth in truths])
    mostly = 2 * sizes > n_codes
    broad = mostly & (sizes < n_codes)
    sides = [np.flatnonzero(~truth if most else truth) for truth, most in zip(truths, mostly, strict=True)]
    firsts, seconds = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for first, second, shared in _overlaps(sides):
        a, b = sizes[first], sizes[second]
        both = np.where(
            mostly[first],
            np.where(mostly[second], a + b - n_codes + shared, b - shared),
            np.where(mostly[second], a - shared, shared),
        )
        together = (both > 0) & (both < a) & (both < b)
        wrong = together != (broad[first] & broad[second])
        firsts.append(first[wrong])
        seconds.append(second[wrong])
    return broad, np.concatenate(firsts), np.concatenate(seconds)


def _overlaps(sides: Sequence[Ints]) -> Iterator[tuple[Ints, Ints, Ints]]:
    """The pairs ``first < second`` of sets of codes that share a code, and how many they share; a part at a time."""
    n = len(sides)
    ends = np.cumsum([len(side) for side in sides])
    codes, owners = np.concatenate(sides), np.repeat(np.arange(n), [len(side) for side in sides])
    order = np.argsort(codes, kind="stable")  # by code, and then by set
    by_code = owners[order]
    start = np.empty_like(order)
    start[order] = np.arange(1, len(order) + 1)
    stop = np.searchsorted(codes[order], codes, side="right")  # from start to here: the later sets with the same code
    work = np.concatenate([[0], np.cumsum(stop - start)])[ends]
    cuts = np.flatnonzero(np.diff(work // PART)) + 1
    for low, high in zip([0, *cuts], [*cuts, n], strict=True):
        entries = slice(ends[low - 1] if low else 0, ends[high - 1])
        first = np.repeat(owners[entries], (stop - start)[entries])
        keys = first * n + by_code[_ranges(start[entries], stop[entries])]
        if (high - low) * n <= 4 * len(keys):  # many share codes: counting is faster than sorting
            shared = np.bincount(keys - low * n)
            pairs = np.flatnonzero(shared)
            yield pairs // n + low, pairs % n, shared[pairs]
        else:
            pairs, shared = np.unique(keys, return_counts=True)
            yield pairs // n, pairs % n, shared


def _ranges(starts: Ints, ends: Ints) -> Ints:
    """The numbers from each start to its end, one range after the other."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    numbers: Ints = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    return numbers
