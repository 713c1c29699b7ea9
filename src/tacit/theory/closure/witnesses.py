"""Witnesses of combinatorial dimensions: what shows a lower bound, and how it is checked against the class.

A class is a 0/1 matrix with one row per hypothesis and one column per point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
import numpy.typing as npt


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
        """The witness for a set that is shattered.

        Raises:
            ValueError: if some pattern does not occur.
        """
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

        Raises:
            ValueError: for a leaf without a hypothesis.
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
