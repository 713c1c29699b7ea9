"""Combinatorial dimensions of a finite class, exact within a stated amount of work, with witnesses that can be checked.

A class is a 0/1 matrix: rows are hypotheses, columns are points. Vapnik-Chervonenkis dimension: the largest set of
points on which all patterns occur. Littlestone dimension: the depth of the largest complete mistake tree (Alon, Beimel,
Moran, Stemmer 2020, section 3.1). Threshold dimension: the longest sequence of points ``x_1 .. x_k`` with hypotheses
``h_1 .. h_k`` such that ``h_i(x_j) = 1`` exactly when ``i <= j`` (ibid.).

Littlestone and threshold dimension are hard to compute in general. The searches here are exact branch and bound on
sets of hypotheses held as bits of Python integers, with memory of what was seen; they stop at a cap on visited nodes
or on seconds, and then report the interval that is proved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.theory.closure.limit import Limit, Progress, bit_positions, bits_of
from tacit.theory.closure.threshold_search import ThresholdSearch
from tacit.theory.closure.vc_search import ShatteredSearch
from tacit.theory.closure.witnesses import MistakeTree, ShatteredSet, ThresholdSequence, Witness

WORK_CAP, VC_CAP, THRESHOLD_CAP = 200_000, 3_000_000, 50_000
"""Nodes a search may visit by default: seconds each, for a class of 500 hypotheses on 200 points."""

GREEDY_STARTS = 16  # not tuned: points with which a greedy search for a shattered set begins

SLICE = 5_000
"""Not tuned: sets that the compiled search visits between two looks at the clock, some hundredths of a second."""


@dataclass(frozen=True)
class Dimension:
    """What is proved about a dimension: it lies in ``lower .. upper``, which are equal when the search finished.

    The witness, an object of :mod:`tacit.theory.closure.witnesses`, shows ``lower``; None for an empty class, whose
    dimension is -1. ``work`` is nodes visited.
    """

    lower: int
    upper: int
    witness: Witness | None
    work: int

    @property
    def exact(self) -> bool:
        """Whether the search finished."""
        return self.lower == self.upper

    @property
    def value(self) -> int:
        """The dimension; raises ``ValueError`` if only an interval is known."""
        if not self.exact:
            raise ValueError(f"only the interval {self.lower}..{self.upper} is proved; raise cap or seconds")
        return self.lower


class WorkCapReached(Exception):  # noqa: N818 - not an error: it ends a search
    """The search visited as many nodes as it may, or took as long."""


class FiniteClass:
    """A finite class as bit sets, of a 0/1 matrix ``(hypotheses, points)``; ``ValueError`` for another one.

    Duplicates of hypotheses are dropped, columns are sets of hypotheses.
    """

    def __init__(self, matrix: npt.ArrayLike) -> None:
        table = np.asarray(matrix)
        if table.ndim != 2 or not np.isin(table, (0, 1)).all():
            raise ValueError("a class is a matrix of 0 and 1 with one row per hypothesis and one column per point")
        self.table = table.astype(np.uint8)
        _, first = np.unique(self.table, axis=0, return_index=True)
        self.hypotheses: list[int] = sorted(int(i) for i in first)
        rows = self.table[self.hypotheses]
        self.columns: list[int] = [bits_of(column) for column in rows.T]
        self.rows: list[int] = [bits_of(row) for row in rows]
        self.everything: int = (1 << len(self.hypotheses)) - 1

    def __len__(self) -> int:
        return len(self.hypotheses)

    def members(self, subset: int) -> list[int]:
        """Row numbers of the original matrix in a bit set."""
        return [self.hypotheses[i] for i in bit_positions(subset)]

    @cached_property
    def splitting_points(self) -> list[int]:
        """Points that are not constant, one of each group of equal or complementary columns."""
        seen: set[int] = set()
        points = []
        for point, column in enumerate(self.columns):
            key = min(column, self.everything ^ column)
            if key and key not in seen:
                seen.add(key)
                points.append(point)
        return points


class LittlestoneSearch:
    """Littlestone dimensions of sub-classes, remembered; the online learner asks for many of one class.

    The decision "is the dimension of V at least d" needs a point that leaves at least ``2**(d - 1)`` hypotheses on both
    sides, each of dimension at least ``d - 1``. Sub-classes are bit sets, so the memory recognises them however they
    were reached.
    """

    def __init__(self, family: FiniteClass, cap: int = WORK_CAP, limit: Limit | None = None) -> None:
        self.family = family
        self.limit = limit or Limit(cap, math.inf)
        self.work = 0
        self._points = [(family.columns[p], p) for p in family.splitting_points]
        self._lower: dict[int, int] = {}
        self._upper: dict[int, int] = {}
        self._best: dict[tuple[int, int], int] = {}

    def at_least(self, subset: int, depth: int) -> bool:
        """Whether the sub-class has dimension at least ``depth``; raises ``WorkCapReached`` when the cap is used up."""
        if depth <= 0:
            return subset != 0 or depth < 0
        size = subset.bit_count()
        if size >> depth == 0:
            return False
        if depth == 1 or self._lower.get(subset, 0) >= depth:
            return True
        if self._upper.get(subset, size) < depth:
            return False
        self.work += 1
        if self.limit.reached(self.work):
            raise WorkCapReached
        for smaller, larger, point in self._splits(subset, 1 << (depth - 1)):
            if self.at_least(smaller, depth - 1) and self.at_least(larger, depth - 1):
                self._lower[subset] = depth
                self._best[subset, depth] = point
                return True
        self._upper[subset] = depth - 1
        return False

    def _splits(self, subset: int, need: int) -> list[tuple[int, int, int]]:
        """Distinct splits with at least ``need`` hypotheses on each side, the most even first."""
        splits: dict[int, tuple[int, int, int, int]] = {}
        for column, point in self._points:
            ones = subset & column
            zeros = subset ^ ones
            n_ones, n_zeros = ones.bit_count(), zeros.bit_count()
            if n_ones < need or n_zeros < need:
                continue
            smaller, larger = (ones, zeros) if n_ones <= n_zeros else (zeros, ones)
            splits.setdefault(min(ones, zeros), (abs(n_ones - n_zeros), smaller, larger, point))
        return [split[1:] for split in sorted(splits.values())]

    def value(self, subset: int) -> int:
        """The dimension of a sub-class; -1 if it is empty.

        Raises ``WorkCapReached`` when the cap is used up.
        """
        depth = self._lower.get(subset, 0) if subset else -1
        while self.at_least(subset, depth + 1):
            depth += 1
        return depth

    def tree(self, subset: int, depth: int) -> MistakeTree:
        """A complete mistake tree of this depth, known to exist from :meth:`at_least`."""
        if depth == 0:
            return MistakeTree(hypothesis=self.family.hypotheses[(subset & -subset).bit_length() - 1])
        point = self._best.get((subset, depth))
        if point is None:
            point = self._find(subset, depth)
        ones = subset & self.family.columns[point]
        return MistakeTree(point, self.tree(subset ^ ones, depth - 1), self.tree(ones, depth - 1))

    def _find(self, subset: int, depth: int) -> int:
        for smaller, larger, point in self._splits(subset, 1 << (depth - 1)):
            if self.at_least(smaller, depth - 1) and self.at_least(larger, depth - 1):
                return point
        raise ValueError("no tree of this depth exists")


def littlestone_dimension(
    matrix: npt.ArrayLike, cap: int = WORK_CAP, seconds: float = 8.0, progress: Progress | None = None
) -> Dimension:
    """The Littlestone dimension of a finite class, and a mistake tree of that depth.

    Args:
        matrix: 0/1 array of shape ``(hypotheses, points)``.
        cap: nodes to visit at most; beyond it the result is an interval.
        seconds: the same by the clock.
        progress: is told ``(lower, upper, nodes visited)`` as the search goes on.

    Source: Alon, Beimel, Moran, Stemmer 2020, section 3.1 (definition); the search starts from ``log2 |class|``.

    Example:
        >>> from tacit.closure import littlestone_dimension
        >>> from tacit.theory.closure.witnesses import threshold_class
        >>> cuts = threshold_class(15)  # 15 points in a row, all ways to cut them
        >>> found = littlestone_dimension(cuts)
        >>> print(found.value, found.witness.holds(cuts))
        3 True
    """
    family, limit = FiniteClass(matrix), Limit(cap, seconds, progress)
    if len(family) == 0:
        return Dimension(-1, -1, None, 0)
    search = LittlestoneSearch(family, limit=limit)
    upper = min(len(family).bit_length() - 1, len(family.splitting_points))
    lower = 0
    try:
        while lower < upper:
            limit.tell(lower, upper, search.work)
            if search.at_least(family.everything, lower + 1):
                lower += 1
            else:
                upper = lower
    except WorkCapReached:
        pass
    search.limit = Limit(search.work + cap, math.inf)  # the tree repeats decisions already made, mostly from memory
    tree = search.tree(family.everything, lower)
    return Dimension(lower, upper, tree, search.work)


def vc_dimension(
    matrix: npt.ArrayLike, cap: int = VC_CAP, seconds: float = math.inf, progress: Progress | None = None
) -> Dimension:
    """The Vapnik-Chervonenkis dimension of a finite class, and a set that it shatters.

    Arguments are those of :func:`littlestone_dimension`, ``cap`` and progress counting sets; by default only the cap
    ends the search, so that what it finds does not depend on the machine.

    Example:
        >>> from tacit.closure import vc_dimension
        >>> print(vc_dimension([[0, 0], [0, 1], [1, 0], [1, 1]]).value)
        2
    """
    family, limit = FiniteClass(matrix), Limit(cap, seconds, progress)
    if len(family) == 0:
        return Dimension(-1, -1, None, 0)
    points = family.splitting_points
    upper = min(len(family).bit_length() - 1, len(points))
    columns = family.table[np.ix_(family.hypotheses, points)]
    best = greedy_shattered(family, points)
    work = 0
    while len(best) < upper and not limit.reached(work):
        search, shattered = ShatteredSearch(columns, len(best) + 1), None
        while not search.finished and not limit.reached(work):
            limit.tell(len(best), upper, work)
            shattered, visited = search.go_on(min(SLICE, limit.nodes - work + 1))
            work += visited
        if shattered is not None:
            best = shattered
        elif search.finished:
            upper = len(best)
    witness = ShatteredSet.find(family.table, [points[i] for i in best])
    return Dimension(len(best), upper, witness, work)


def greedy_shattered(family: FiniteClass, points: list[int]) -> list[int]:
    """Places among the points of a shattered set, by the point that leaves the smallest cell largest, from some firsts.

    A lower bound to begin with: sizes that it reaches need no search.
    """
    best: list[int] = []
    for first in range(min(len(points), GREEDY_STARTS)):
        places: list[int] = []
        cells, place = [family.everything], first
        while place >= 0:
            column = family.columns[points[place]]
            cells = [part for cell in cells for part in (cell & column, cell & ~column)]
            places.append(place)
            smallest = [min(_halves(cells, family.columns[point])) for point in points]
            place = int(np.argmax(smallest)) if max(smallest) > 0 else -1
        if len(places) > len(best):
            best = places
    return best


def _halves(cells: list[int], column: int) -> list[int]:
    return [size for cell in cells for size in ((cell & column).bit_count(), (cell & ~column).bit_count())]


def threshold_dimension(
    matrix: npt.ArrayLike, cap: int = THRESHOLD_CAP, seconds: float = 8.0, progress: Progress | None = None
) -> Dimension:
    """The threshold dimension of a finite class, and a sequence that it threshold-shatters.

    Arguments are those of :func:`littlestone_dimension`, as is the source.

    Example:
        >>> from tacit.closure import threshold_dimension
        >>> from tacit.theory.closure.witnesses import threshold_class
        >>> print(threshold_dimension(threshold_class(15)).value)
        15
    """
    family, limit = FiniteClass(matrix), Limit(cap, seconds, progress)
    if len(family) == 0:
        return Dimension(-1, -1, None, 0)
    search = ThresholdSearch(family.table[family.hypotheses], limit)
    upper = search.run()
    points = [point for _, point in search.best]
    hypotheses = [family.hypotheses[h] for h, _ in search.best]
    witness = ThresholdSequence(tuple(points), tuple(hypotheses))
    return Dimension(len(points), upper, witness, search.work)
