"""The interface of queries, the layout of a table, and sensitivities in integer units, exact or rounded up."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tacit.arrays import Ints
from tacit.privacy.unit import Neighbouring


@dataclass(frozen=True)
class Sensitivity:
    """How far one row can move an integer answer: in L1 (exact integer) and in L2 (as an exact integer square)."""

    l1: int
    l2_squared: int
    theorem: str

    @property
    def l2(self) -> float:
        """L2 sensitivity, rounded up."""
        root = math.sqrt(self.l2_squared)
        return root if root * root >= self.l2_squared and root == int(root) else math.nextafter(root, math.inf)

    def times(self, rows: int) -> Sensitivity:
        """The sensitivity to a unit of up to ``rows`` rows (triangle inequality)."""
        if rows == 1:
            return self
        return Sensitivity(self.l1 * rows, self.l2_squared * rows**2, f"{self.theorem}; {rows} rows per unit")


def of_one_cell(unit: int, theorem: str, neighbouring: Neighbouring) -> Sensitivity:
    """Of counts in which a row is in one cell, with so many integer units; a row that is replaced may be in two."""
    if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE:
        return Sensitivity(unit, unit**2, theorem)
    return Sensitivity(2 * unit, 2 * unit**2, f"{theorem}; replace")


def squarable(vectors: Ints) -> Ints:
    """The same integers, as Python's where sums of squares of them or of their differences might not fit 64 bits."""
    farthest = max(-int(vectors.min(initial=0)), int(vectors.max(initial=0)))
    return vectors if 4 * farthest**2 * max(vectors.shape) < 1 << 63 else vectors.astype(object)


def largest_vector(vectors: Ints) -> tuple[int, int]:
    """The largest L1 norm and the largest squared L2 norm among the lines of ``vectors``."""
    vectors = squarable(vectors)
    magnitudes = np.abs(vectors)
    return int(magnitudes.sum(axis=1).max(initial=0)), int((vectors * vectors).sum(axis=1).max(initial=0))


def largest_difference(vectors: Ints) -> tuple[int, int]:
    """The largest L1 norm and squared L2 norm of a difference of two lines.

    Exact up to 512 distinct lines and, mostly, in one or two dimensions; otherwise bounded from above by the range per
    coordinate, and by the longest line: two are at most twice as far apart, and where none has a negative part, their
    squared norms add up to at least the square of the distance.
    """
    if vectors.shape[1] == 2 and len(vectors) > 512:
        vectors = _corners(vectors)
    vectors = squarable(vectors)
    if vectors.shape[1] == 1 or len(vectors) > 512:
        span = vectors.max(axis=0) - vectors.min(axis=0)
        l1, l2_squared = largest_vector(vectors)
        apart = 2 if vectors.min() >= 0 else 4
        return min(int(span.sum()), 2 * l1), min(int((span * span).sum()), apart * l2_squared)
    gaps = vectors[:, None, :] - vectors[None, :, :]
    return int(np.abs(gaps).sum(axis=2).max()), int((gaps * gaps).sum(axis=2).max())


def _corners(points: Ints) -> Ints:
    """The corners of the convex hull of points in the plane: two points farthest apart, in any norm, are among them."""
    xs, ys = points[np.lexsort((points[:, 1], points[:, 0]))].T
    outer = np.ones(len(xs), np.bool_)  # of the points above each other only the lowest and the highest can be corners
    outer[1:-1] = (xs[1:-1] != xs[:-2]) | (xs[1:-1] != xs[2:])
    ordered = list(dict.fromkeys(zip(xs[outer].tolist(), ys[outer].tolist(), strict=True)))
    corners: list[tuple[int, int]] = []
    for run in (ordered, ordered[::-1]):
        half: list[tuple[int, int]] = []
        for x, y in run:
            while len(half) > 1 and _turn(half[-2], half[-1], (x, y)) <= 0:
                half.pop()
            half.append((x, y))
        corners += half[:-1]
    return np.array(corners, np.int64)


def _turn(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


class Query(Protocol):
    """A question whose exact answer is an array of integers."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the answer; public."""

    @property
    def unit(self) -> int:
        """Integer units that stand for 1.0 in the answer."""

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the answer, in integer units, under a relation."""


@dataclass(frozen=True)
class Layout:
    """What is public about a sealed table. The number of rows is not, and is not here."""

    n_codes: tuple[int, ...]  # per column, how many codes its encoding has (missing and "other" included)
    n_labels: int  # number of classes
    n_dense: int = 0  # width of the dense fixed-point rows, 0 if there are none

    @property
    def n_columns(self) -> int:
        return len(self.n_codes)

    def coarsened(self, column: int, mapping: Ints) -> Layout:
        """The layout once a column's codes are replaced by a public map of them."""
        n_codes = list(self.n_codes)
        n_codes[column] = int(mapping.max()) + 1
        return replace(self, n_codes=tuple(n_codes))
