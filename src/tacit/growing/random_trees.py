"""Random tree structures: they look at no row, so they cost nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numba as nb
import numpy as np
import numpy.typing as npt

from tacit.arrays import CODES, Bytes, Floats, Ints
from tacit.growing.tuning import CUTTING, Cutting
from tacit.models.tree import TreeShape, complete_shape, threshold_sets


@nb.njit(nogil=True, cache=True)
def cut_nodes(picks, places, upto, first, last, tested, cuts):  # type: ignore[no-untyped-def]
    """Chooses column (``tested``) and threshold (``cuts``) of every node of a complete tree, numbered level by level.

    ``picks`` are columns tried in turn: the first that can still be cut in the node's box, else the last; ``places``
    say where between the ends of that box the cut is, by mass, in [0, 1). ``upto`` has, of all columns one after
    another from ``first`` on, the mass before each place and all of it; ``last`` is each column's last place. Where
    there is nothing to cut, the threshold is the upper end of the box.
    """
    splits, columns = len(places), len(last)
    low = np.zeros((2 * splits + 1, columns), np.int64)
    high = np.zeros((2 * splits + 1, columns), np.int64)
    for column in range(columns):  # row by row, numba would take three seconds more to compile
        high[0, column] = last[column]
    for node in range(splits):
        pick = picks[node, picks.shape[1] - 1]
        for k in range(picks.shape[1]):
            if high[node, picks[node, k]] > low[node, picks[node, k]]:
                pick = picks[node, k]
                break
        start, stop = low[node, pick], high[node, pick]
        cut = stop
        if start < stop:
            base = first[pick]
            below, above = upto[base + start], upto[base + stop + 1]
            mass = below + places[node] * (above - below)
            a, b = 0, last[pick] + 2  # the first place at or above the wanted mass, by bisection
            while a < b:
                middle = (a + b) // 2
                if upto[base + middle] < mass:
                    a = middle + 1
                else:
                    b = middle
            cut = min(max(a - 1, start), stop - 1)
        tested[node], cuts[node] = pick, cut
        left, right = 2 * node + 1, 2 * node + 2
        for column in range(columns):
            low[left, column] = low[right, column] = low[node, column]
            high[left, column] = high[right, column] = high[node, column]
        high[left, pick] = min(cut, stop)
        low[right, pick] = min(cut + 1, stop)


@dataclass(frozen=True, eq=False)
class Cuts:
    """What trees may cut, and in which order; see :class:`RandomStructures`."""

    masses: Sequence[Floats]  # per column, how much of the rows each code is believed to hold
    # per column, the place of each code in the order in which it is cut; None for codes in order
    ranks: Sequence[Ints | None] | None = None
    reordered: Sequence[int] = ()  # columns whose codes are put into a new random order for every tree


class RandomStructures:
    """Complete trees whose nodes cut a few columns at thresholds uniform in mass.

    Each tree takes the next columns of a shuffled cycle, so that all columns get their turn; one of a single code is
    left out. ``masses``, ``ranks`` and ``reordered`` are those of :class:`Cuts`; the generator is public randomness.
    """

    def __init__(
        self,
        masses: Sequence[Floats],
        generator: np.random.Generator,
        ranks: Sequence[Ints | None] | None = None,
        reordered: Sequence[int] = (),
        numbers: Cutting = CUTTING,
    ) -> None:
        self._masses, self._numbers = list(masses), numbers
        self._ranks: list[Ints | None] = list(ranks) if ranks is not None else [None] * len(masses)
        self._reordered = frozenset(reordered)
        self._upto = [_upto(mass, rank) for mass, rank in zip(masses, self._ranks, strict=True)]
        self._last = [len(mass) - 1 for mass in masses]
        self._generator = generator
        self._usable = [column for column, last in enumerate(self._last) if last > 0]
        self._cycle = self._shuffled()

    @property
    def can_split(self) -> bool:
        """Whether there is a column with two codes."""
        return bool(self._usable)

    def trees_for_pairs(self, n_columns: int) -> int:
        """How many trees it takes until one of them has cut both of two given columns, in all likelihood."""
        count, cut = len(self._usable), min(n_columns, len(self._usable))
        together = cut * (cut - 1) / max(count * (count - 1), 1)
        if together >= 1 or count < 2:
            return 1
        return math.ceil(math.log(self._numbers.missed_pairs) / math.log(1.0 - together))

    def draw(self, depth: int, n_columns: int) -> TreeShape:
        """A complete tree of this depth over the next ``n_columns`` columns."""
        if not self.can_split:
            return complete_shape([], threshold_sets([]))
        columns = self._next_columns(min(n_columns, len(self._usable)))
        splits = (1 << depth) - 1
        picks = self._generator.integers(0, len(columns), (splits, self._numbers.tries))
        places = self._generator.random(splits)
        picked, cuts = np.empty(splits, np.int64), np.empty(splits, np.int64)
        upto = np.concatenate([self._upto[column] for column in columns])
        ends = np.cumsum([len(self._upto[column]) for column in columns])
        last = np.array([self._last[column] for column in columns])
        cut_nodes(picks, places, upto, ends - last - 2, last, picked, cuts)
        tested = np.array(columns)[picked]
        return complete_shape(tested, self._sets(tested, cuts))

    def _sets(self, tested: npt.ArrayLike, thresholds: npt.ArrayLike) -> Bytes:
        """The codes that go right: those above the threshold in the column's order."""
        columns, cuts = np.asarray(tested, np.int64), np.asarray(thresholds, np.int64)
        sets = threshold_sets(cuts)
        for column, rank in enumerate(self._ranks):
            if rank is not None and (nodes := np.flatnonzero(columns == column)).size:
                places = np.full(CODES, -1, np.int64)
                places[: len(rank)] = rank
                sets[nodes] = np.packbits(places > cuts[nodes][:, None], axis=1, bitorder="little")
        return sets

    def _next_columns(self, count: int) -> list[int]:
        """The next columns of the cycle, those without an order of their own in a new one."""
        columns: list[int] = []
        while len(columns) < count:
            column = next(self._cycle)
            if column not in columns:
                columns.append(column)
        for column in self._reordered.intersection(columns):
            rank = self._generator.permutation(len(self._masses[column])).astype(np.int64)
            self._ranks[column], self._upto[column] = rank, _upto(self._masses[column], rank)
        return columns

    def _shuffled(self) -> Iterator[int]:
        while self._usable:
            yield from self._generator.permutation(self._usable).tolist()


def _upto(mass: Floats, rank: Ints | None) -> Floats:
    """The mass before each place of an order, and all of it."""
    in_order = mass if rank is None else mass[np.argsort(rank)]
    return np.concatenate([[0.0], np.cumsum(in_order / in_order.sum())])
