"""Patterns of halfspaces on integer points in the plane, by sorting angles.

All arithmetic is on integers, so points on a common line, which grids are full of, are no special case.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.arrays import Bools, Ints
from tacit.closure.patterns import Patterns


class PlanePatterns(Patterns):
    """All subsets of distinct integer points in the plane that a line cuts off, the empty and the full one included.

    Rotate a directed line: the set to its left changes only when the line passes two points, and every separable set is
    left of the line for one interval of directions, so it is made exactly once. It is made by an ordered pair (p, q) of
    points with none between them: the points strictly left of the line from p to q, and those on the line up to p. For
    N points in general position these are ``N (N - 1) + 2`` patterns; sums for all pairs of one p come from one
    sorting by angle.

    Args:
        points: integers of shape ``(n_points, 2)``, distinct, below ``2**20``: angles are then told apart.
    """

    def __init__(self, points: Ints) -> None:
        self.n_points = len(points)
        self._points = points
        self._turns = [_Turn(points, p) for p in range(len(points))] if len(points) > 1 else []
        self._ends = np.cumsum([2 if len(points) else 1, *(len(turn.directions) for turn in self._turns)])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def sums(self, values: Ints) -> Ints:
        parts = [np.zeros((len(values), 1), np.int64)]
        if self.n_points:
            parts.append(values.sum(axis=1, keepdims=True))
        parts += [turn.sums(values) for turn in self._turns]
        return np.concatenate(parts, axis=1)

    def row(self, index: int) -> Bools:
        block = int(np.searchsorted(self._ends, index, side="right"))
        if block == 0:
            return np.full(self.n_points, index == 1)
        p, number = block - 1, index - int(self._ends[block - 1])
        dx, dy = self._turns[p].directions[number]
        offset = self._points - self._points[p]
        side = dx * offset[:, 1] - dy * offset[:, 0]
        along = dx * offset[:, 0] + dy * offset[:, 1]
        pattern: Bools = (side > 0) | ((side == 0) & (along <= 0))
        return pattern


class _Turn:
    """One point as the centre of rotation: the directions in which other points lie, ascending in angle."""

    def __init__(self, points: Ints, centre: int) -> None:
        self._centre = centre
        offset = np.delete(points - points[centre], centre, axis=0)
        self._others = np.delete(np.arange(len(points)), centre)
        reduced = offset // np.gcd(offset[:, 0], offset[:, 1])[:, None]
        directions, group = np.unique(reduced, axis=0, return_inverse=True)
        angles = np.arctan2(directions[:, 1], directions[:, 0])  # reduced integers: equal only if the same
        order = np.argsort(angles)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        self.directions: Ints = directions[order]
        self._group: Ints = rank[group.reshape(-1)]
        angle, count = angles[order], len(order)
        opposite = np.arctan2(-self.directions[:, 1], -self.directions[:, 0])
        stop = np.searchsorted(angle, opposite, side="right")
        # a half turn to the left that passes the end of the list goes on at its beginning
        self._stop: Ints = np.where(opposite < angle, stop + count, stop)
        self._count = count

    def sums(self, values: Ints) -> Ints:
        """For each direction: the centre, what lies strictly to the left, and what lies straight behind."""
        by_direction = np.zeros((len(values), self._count), np.int64)
        for functional, row in zip(by_direction, values[:, self._others], strict=True):
            np.add.at(functional, self._group, row)
        prefix = np.zeros((len(values), 2 * self._count + 1), np.int64)
        np.cumsum(np.concatenate([by_direction, by_direction], axis=1), axis=1, out=prefix[:, 1:])
        start = np.arange(self._count) + 1
        total: Ints = prefix[:, self._stop] - prefix[:, start]
        return total + values[:, self._centre : self._centre + 1]


def halfspaces_at_most(points: int) -> int:
    """Cover 1965: patterns of halfspaces on n points in the plane, ``2 sum over i <= 2 of C(n - 1, i)``."""
    return 2 * sum(math.comb(points - 1, i) for i in range(3)) if points else 1
