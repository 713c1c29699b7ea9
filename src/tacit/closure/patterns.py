"""The patterns of a concept class on finitely many points: all distinct ones, without a matrix of them where possible.

A pattern says which points a concept labels 1. What learners need of them is the sum of some integer values over the
points of each pattern, because the errors of a concept are a constant plus such a sum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Bytes, Ints

BLOCK = 1 << 22  # entries of a temporary array


class Patterns(ABC):
    """Distinct patterns on ``n_points`` points, numbered from 0."""

    n_points: int

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def sums(self, values: Ints) -> Ints:
        """Exact sums over the points of each pattern, shape ``(functionals, patterns)``.

        Values are integers of shape ``(functionals, n_points)``, below ``2**53`` in total.
        """

    @abstractmethod
    def row(self, index: int) -> Bools:
        """Which points a pattern labels 1, shape ``(n_points,)``."""

    def matrix(self) -> Bools:
        """All patterns, shape ``(patterns, n_points)``: for few and small ones."""
        out = np.zeros((len(self), self.n_points), bool)
        for index in range(len(self)):
            out[index] = self.row(index)
        return out


class BoxPatterns(Patterns):
    """Points in boxes of an integer grid, by prefix sums: thresholds, intervals, rectangles.

    ``levels`` have shape ``(n_points, d)``, from 0; a point with a negative level is in no box. ``boxes`` are inclusive
    bounds ``low_1, high_1, .., low_d, high_d``, shape ``(patterns, 2 d)``; ``low = high + 1`` for the empty pattern.
    """

    def __init__(self, levels: Ints, boxes: Ints) -> None:
        self.n_points, self._d = levels.shape
        self._levels = levels
        self.boxes = boxes
        self._inside: Bools = np.asarray((levels >= 0).all(axis=1))
        self._shape = tuple(int(s) for s in levels.max(axis=0, initial=0) + 1)

    def __len__(self) -> int:
        return len(self.boxes)

    def sums(self, values: Ints) -> Ints:
        prefix = grid_prefix(self._levels[self._inside], values[:, self._inside], self._shape)
        return box_sums(prefix, self.boxes)

    def row(self, index: int) -> Bools:
        inside: Bools = np.array(self._inside)
        for j in range(self._d):
            low, high = self.boxes[index, 2 * j : 2 * j + 2]
            np.logical_and(inside, (self._levels[:, j] >= low) & (self._levels[:, j] <= high), out=inside)
        return inside


def grid_prefix(levels: Ints, values: Ints, shape: tuple[int, ...]) -> Ints:
    """Prefix sums of values at grid points: shape ``(functionals, shape_1 + 1, ..)``, zero at index 0."""
    flat = np.ravel_multi_index(tuple(levels.T), shape)
    grid = np.zeros((len(values), int(np.prod(shape))), np.int64)
    for functional, row in zip(grid, values, strict=True):
        np.add.at(functional, flat, row)
    prefix = np.zeros((len(values), *(s + 1 for s in shape)), np.int64)
    body = grid.reshape(len(values), *shape)
    for axis in range(1, len(shape) + 1):
        body = np.cumsum(body, axis=axis)
    whole: tuple[slice, ...] = (slice(None), *(slice(1, None) for _ in shape))
    prefix[whole] = body
    return prefix


def box_sums(prefix: Ints, boxes: Ints) -> Ints:
    """Sums over boxes from prefix sums, by inclusion and exclusion; shape ``(functionals, boxes)``."""
    d = boxes.shape[1] // 2
    total = np.zeros((len(prefix), len(boxes)), np.int64)
    for corner in range(1 << d):
        index = tuple(boxes[:, 2 * j + 1] + 1 if corner >> j & 1 else boxes[:, 2 * j] for j in range(d))
        part = prefix[(slice(None), *index)]  # type: ignore[arg-type]
        total += part if (d - corner.bit_count()) % 2 == 0 else -part
    return total


def tight_boxes(ranks: Ints) -> Ints:
    """Boxes each side of which holds a point inside the box, and the empty one: one box per pattern of rectangles."""
    d = ranks.shape[1]
    levels = [np.tile([0, -1], d)[None, :]]
    if len(ranks):
        shape = tuple(int(v) for v in ranks.max(axis=0) + 1)
        occupied = grid_prefix(ranks, np.ones((1, len(ranks)), np.int64), shape)
        sides = [np.column_stack(np.triu_indices(s)) for s in shape]
        rest = sides[-1]
        for j in range(d - 2, 0, -1):
            rest = np.hstack([np.repeat(sides[j], len(rest), axis=0), np.tile(rest, (len(sides[j]), 1))])
        for side in sides[0]:
            boxes = np.hstack([np.broadcast_to(side, (len(rest), 2)), rest])
            levels.append(boxes[_is_tight(occupied, boxes)])
    return np.vstack(levels)


def _is_tight(occupied: Ints, boxes: Ints) -> Bools:
    tight = np.ones(len(boxes), bool)
    for side in range(boxes.shape[1]):
        face = boxes.copy()
        face[:, side ^ 1] = face[:, side]
        tight &= box_sums(occupied, face)[0] > 0
    return tight


class ListedPatterns(Patterns):
    """Patterns as packed bits, one line each; duplicates are dropped."""

    def __init__(self, packed: Bytes, n_points: int) -> None:
        self.n_points = n_points
        self._packed = np.unique(packed, axis=0) if packed.shape[1] else packed[:1]

    @staticmethod
    def of(matrix: npt.ArrayLike) -> ListedPatterns:
        """From a 0/1 matrix of shape ``(patterns, points)``."""
        rows = np.asarray(matrix, bool)
        return ListedPatterns(np.packbits(rows, axis=1, bitorder="little"), rows.shape[1])

    @staticmethod
    def of_integers(rows: Sequence[int], n_points: int) -> ListedPatterns:
        """From integers, bit ``i`` of which is point ``i``."""
        width = -(-n_points // 8)
        raw = b"".join(row.to_bytes(width, "little") for row in rows)
        return ListedPatterns(np.frombuffer(raw, np.uint8).reshape(len(rows), width), n_points)

    def __len__(self) -> int:
        return len(self._packed)

    def sums(self, values: Ints) -> Ints:
        out = np.empty((len(values), len(self)), np.int64)
        step = max(1, BLOCK // max(1, self.n_points))
        columns = values.T.astype(np.float64)  # sums of integers below 2**53 are exact in any order
        for start in range(0, len(self), step):
            block = self._unpacked(slice(start, start + step)).astype(np.float64)
            out[:, start : start + step] = (block @ columns).T
        return out

    def row(self, index: int) -> Bools:
        pattern: Bools = self._unpacked(slice(index, index + 1))[0].astype(bool)
        return pattern

    def _unpacked(self, part: slice) -> Bytes:
        return np.unpackbits(self._packed[part], axis=1, count=self.n_points, bitorder="little")


class PatternsOnGroups(Patterns):
    """Patterns on the distinct values of something, seen as patterns on the points that have these values.

    ``group`` has the group of every point; -1 for a point that no pattern labels 1.
    """

    def __init__(self, inner: Patterns, group: Ints) -> None:
        self.inner = inner
        self._group = group
        self.n_points = len(group)

    def __len__(self) -> int:
        return len(self.inner)

    def sums(self, values: Ints) -> Ints:
        gathered = np.zeros((len(values), self.inner.n_points), np.int64)
        inside = self._group >= 0
        for functional, row in zip(gathered, values, strict=True):
            np.add.at(functional, self._group[inside], row[inside])
        return self.inner.sums(gathered)

    def row(self, index: int) -> Bools:
        labels: Bools = np.append(self.inner.row(index), False)
        return labels[self._group]


class JoinedPatterns(Patterns):
    """Several collections side by side, on the same points. A pattern that two of them have is there twice."""

    def __init__(self, parts: Sequence[Patterns]) -> None:
        self.parts = tuple(parts)
        self.n_points = self.parts[0].n_points
        self._ends = np.cumsum([len(part) for part in self.parts])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def sums(self, values: Ints) -> Ints:
        return np.concatenate([part.sums(values) for part in self.parts], axis=1)

    def row(self, index: int) -> Bools:
        part, within = self.place(index)
        return self.parts[part].row(within)

    def place(self, index: int) -> tuple[int, int]:
        """Which collection a pattern is in, and its number there."""
        part = int(np.searchsorted(self._ends, index, side="right"))
        return part, index - (int(self._ends[part - 1]) if part else 0)


def without_duplicates(patterns: Patterns) -> Patterns:
    """Distinct patterns, listed: what two collections share counts once."""
    width = -(-patterns.n_points // 8)
    packed = np.empty((len(patterns), width), np.uint8)
    for index in range(len(patterns)):
        packed[index] = np.packbits(patterns.row(index), bitorder="little")
    return ListedPatterns(packed, patterns.n_points)
