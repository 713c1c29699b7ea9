"""Patterns of halfspaces on integer points: in the plane by sorting angles, in higher dimension by spanned hyperplanes.

All arithmetic is on integers, so points on a common line or plane, which grids are full of, are no special case.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from tacit.arrays import Bools, Ints
from tacit.closure.patterns import ListedPatterns, Patterns


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


def halfspace_patterns(points: Ints) -> Patterns:
    """All subsets of distinct integer points that a halfspace cuts off.

    Args:
        points: shape ``(n_points, d)``; in the plane ``O(N^2 log N)``, otherwise ``O(N^(d+1))``.
    """
    if points.shape[1] == 2:
        return PlanePatterns(points)
    rows: set[int] = set()
    _collect(points, list(range(len(points))), 0, rows)
    return ListedPatterns.of_integers(sorted(rows), len(points))


def _collect(points: Ints, names: list[int], always: int, rows: set[int]) -> None:
    """Adds ``always`` together with every pattern of ``points``, whose bits are ``names``.

    Any strict separation can be moved, keeping sides, until it becomes a hyperplane through points that span it; what
    lies on that hyperplane is separated there in turn. So every pattern is one open side of a spanned hyperplane and a
    pattern of the points on it, one dimension lower; and each of these is a pattern, by tilting.
    """
    coordinates = _independent_coordinates(points)
    if len(points) <= len(coordinates) + 1:  # a simplex: every subset can be cut off
        for subset in range(1 << len(points)):
            rows.add(always | sum(1 << name for i, name in enumerate(names) if subset >> i & 1))
        return
    flat = points[:, coordinates]
    seen: set[bytes] = set()
    for corners in combinations(range(len(flat)), len(coordinates)):
        normal, offset = _hyperplane(flat[list(corners)])
        if not any(normal):
            continue
        side = flat @ np.array(normal) - offset
        on = side == 0
        key = np.packbits(on).tobytes()
        if key in seen:
            continue
        seen.add(key)
        for sign in (1, -1):
            strict = sum(1 << names[i] for i in np.flatnonzero(side * sign > 0))
            _collect(flat[on], [names[i] for i in np.flatnonzero(on)], always | strict, rows)


def _independent_coordinates(points: Ints) -> list[int]:
    """Coordinates onto which the affine hull of the points projects one to one."""
    if len(points) <= 1:
        return []
    rest = [[int(v) for v in row] for row in points[1:] - points[0]]
    coordinates: list[int] = []
    for j in range(points.shape[1]):
        pivot = next((row for row in rest if row[j]), None)
        if pivot is None:
            continue
        coordinates.append(j)
        cleared = [
            [v * pivot[j] - p * row[j] for v, p in zip(row, pivot, strict=True)] for row in rest if row is not pivot
        ]
        rest = [[v // math.gcd(*row) for v in row] for row in cleared if any(row)]
    return coordinates


def _hyperplane(points: Ints) -> tuple[list[int], int]:
    """Normal and offset of the hyperplane through ``d`` points in dimension d; normal 0 if they span less."""
    base = [int(v) for v in points[0]]
    edges = [[int(v) - b for v, b in zip(row, base, strict=True)] for row in points[1:]]
    d = len(base)
    normal = [(-1) ** j * _determinant([[row[i] for i in range(d) if i != j] for row in edges]) for j in range(d)]
    divisor = math.gcd(*normal) or 1
    normal = [v // divisor for v in normal]
    return normal, sum(n * b for n, b in zip(normal, base, strict=True))


def _determinant(rows: list[list[int]]) -> int:
    if not rows:
        return 1
    return sum(
        (-1) ** j * rows[0][j] * _determinant([[row[i] for i in range(len(row)) if i != j] for row in rows[1:]])
        for j in range(len(rows))
        if rows[0][j]
    )


def halfspaces_at_most(points: int, dimension: int) -> int:
    """Cover 1965: patterns of halfspaces on n points in dimension d, ``2 sum over i <= d of C(n - 1, i)``."""
    if points == 0:
        return 1
    return 2 * sum(math.comb(points - 1, i) for i in range(dimension + 1))
