"""Witnesses of combinatorial dimensions: what shows a lower bound, and how it is checked against the class.

A class is a 0/1 matrix with one row per hypothesis and one column per point.

Then the step by which a threshold sequence is found in a part (Alon, Beimel, Moran, Stemmer 2020, section 4.2.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes


class Witness(Protocol):
    """Shows that a dimension is at least ``size``."""

    @property
    def size(self) -> int:
        """The lower bound it shows."""

    def holds(self, matrix: npt.ArrayLike) -> bool:
        """Whether it is right about this class."""


@dataclass(frozen=True)
class _OnPoints:
    points: tuple[int, ...]
    hypotheses: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.points)


@dataclass(frozen=True)
class ShatteredSet(_OnPoints):
    """Points on which all patterns occur; ``hypotheses[i]`` shows pattern ``i``, bit ``j`` of which is point ``j``."""

    def holds(self, matrix: npt.ArrayLike) -> bool:
        table = np.asarray(matrix)
        if len(set(self.points)) != self.size or len(self.hypotheses) != 2**self.size:
            return False
        return all(
            all(table[hypothesis, point] == pattern >> j & 1 for j, point in enumerate(self.points))
            for pattern, hypothesis in enumerate(self.hypotheses)
        )

    @staticmethod
    def find(matrix: npt.ArrayLike, points: Sequence[int]) -> ShatteredSet:
        """The witness for a set that is shattered; raises ``ValueError`` if some pattern does not occur."""
        table = np.asarray(matrix)[:, list(points)].astype(np.int64)
        codes = table @ (1 << np.arange(len(points), dtype=np.int64))
        patterns, first = np.unique(codes, return_index=True)
        if len(patterns) != 2 ** len(points):
            raise ValueError(f"the points {tuple(points)} are not shattered")
        return ShatteredSet(tuple(int(p) for p in points), tuple(int(i) for i in first))


@dataclass(frozen=True)
class MistakeTree:
    """A binary tree of points whose every branch is followed by a hypothesis.

    An inner node has a ``point``; the branch for label 0 is ``zero``, for label 1 ``one``. A leaf has the row number of
    the ``hypothesis`` that agrees with its branch.
    """

    point: int | None = None
    zero: MistakeTree | None = None
    one: MistakeTree | None = None
    hypothesis: int | None = None

    @property
    def size(self) -> int:
        """The depth of the largest complete tree at the top of this one: the shortest branch."""
        if self.zero is None or self.one is None:
            return 0
        return 1 + min(self.zero.size, self.one.size)

    def branches(self) -> Iterator[tuple[tuple[tuple[int, int], ...], int]]:
        """Every branch as ``((point, label), ...)`` with the hypothesis at its leaf.

        Raises ``ValueError`` for a leaf without a hypothesis.
        """
        if self.zero is None or self.one is None or self.point is None:
            if self.hypothesis is None:
                raise ValueError("a leaf needs a hypothesis")
            yield (), self.hypothesis
            return
        for label, child in ((0, self.zero), (1, self.one)):
            for path, hypothesis in child.branches():
                yield ((self.point, label), *path), hypothesis

    def holds(self, matrix: npt.ArrayLike) -> bool:
        table = np.asarray(matrix)
        lengths = set()
        for path, hypothesis in self.branches():
            lengths.add(len(path))
            if any(table[hypothesis, point] != label for point, label in path):
                return False
        return lengths == {self.size}


@dataclass(frozen=True)
class ThresholdSequence(_OnPoints):
    """Points and hypotheses with ``hypotheses[i](points[j]) = 1`` exactly when ``i <= j``."""

    def holds(self, matrix: npt.ArrayLike) -> bool:
        table = np.asarray(matrix)
        if len(self.points) != len(self.hypotheses):
            return False
        return all(
            int(table[self.hypotheses[i], self.points[j]]) == int(i <= j)
            for i, j in product(range(self.size), repeat=2)
        )


def threshold_class(size: int) -> Bytes:
    """``h_i(j) = 1`` exactly when ``i <= j``, for ``i, j`` in ``1 .. size``: threshold dimension ``size``."""
    index = np.arange(size)
    return (index[:, None] <= index[None, :]).astype(np.uint8)


@dataclass(frozen=True)
class Extraction:
    """What Theorem 2.2's proof finds: which of the k classes holds a threshold sequence, and the sequence."""

    which: int
    sequence: ThresholdSequence


def extract_thresholds(
    classes: Sequence[npt.ArrayLike], points: Sequence[int], tuples: Sequence[Sequence[int]]
) -> Extraction:
    """From a threshold sequence of ``G(H_1, .., H_k)`` to one of some ``H_r``, after the proof of Theorem 2.2.

    Of positions p < q the composition is 1 for p's functions at q's point and 0 for q's functions at p's point, so some
    class r has two different values there: the pair has the colour (r, the first of the two), one of ``2 k``. In a set
    of one colour r has thresholds. Positions alternate between giving a function and giving a point. (Where r's values
    fall, the point comes first; the paper lets the function come first, and reads off one threshold less than it says.)

    Args:
        classes: k matrices over the same points.
        points: the sequence ``x_1 .. x_n`` that the composition threshold-shatters.
        tuples: per position, the row numbers ``(h_1, .., h_k)`` whose composition is the i-th threshold.

    Raises ``ValueError`` if the composition does not hold thresholds there: no class has two different values.
    """
    tables = [np.asarray(c, np.uint8) for c in classes]
    subset, (which, rising) = _one_colour(_colours(tables, points, tuples), len(points))
    even, odd = subset[0 : 2 * (len(subset) // 2) : 2], subset[1::2]
    functions, places = (even, odd) if rising else (odd[::-1], even[::-1])
    return Extraction(
        which, ThresholdSequence(tuple(int(points[q]) for q in places), tuple(int(tuples[p][which]) for p in functions))
    )


Colour = tuple[int, int]
"""A class, and its value for the earlier function at the later point; it has the other one the other way round."""


def _colours(
    tables: Sequence[Bytes], points: Sequence[int], tuples: Sequence[Sequence[int]]
) -> dict[tuple[int, int], list[Colour]]:
    values = [np.array([[t[row[r]][x] for x in points] for row in tuples]) for r, t in enumerate(tables)]
    return {
        (p, q): [(r, int(v[p, q])) for r, v in enumerate(values) if v[p, q] != v[q, p]]
        for p, q in combinations(range(len(points)), 2)
    }


def _one_colour(colours: dict[tuple[int, int], list[Colour]], size: int) -> tuple[list[int], Colour]:
    """A large set of positions all of whose pairs have one colour: the usual pivots, then the most frequent colour.

    Each pivot keeps the later positions of its most frequent colour; the pivots of one colour, and the last position,
    form the set. For ``c^(r c)`` positions and c colours it has at least r elements.
    """
    places = list(range(size))
    pivots: list[tuple[int, Colour]] = []
    while len(places) > 1:
        pivot, rest = places[0], places[1:]
        counts = Counter(colour for q in rest for colour in colours[pivot, q])
        if not all(colours[pivot, q] for q in rest):
            raise ValueError("no class distinguishes before from after: the sequence is not threshold-shattered")
        colour, _ = counts.most_common(1)[0]
        pivots.append((pivot, colour))
        places = [q for q in rest if colour in colours[pivot, q]]
    if not pivots:
        raise ValueError("a sequence of at least two points is needed")
    colour, _ = Counter(c for _, c in pivots).most_common(1)[0]
    return [p for p, c in pivots if c == colour] + places, colour
