"""Concept classes over columns: what they are, how rich they are, and which patterns they have on given points.

A class names columns. Bound to the public encoding of a table it works on codes: its domain is the finite set of cells,
its VC dimension and the number of its patterns are bounded by public facts alone. A missing or undeclared value is
labelled 0 by every concept that compares values.

Classes of one's own: subclass :class:`ConceptClass` and :class:`BoundClass`, or use rules (:mod:`.literals`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from tacit.arrays import Bools, Ints
from tacit.closure.halfspace_patterns import PlanePatterns, halfspaces_at_most
from tacit.closure.patterns import BoxPatterns, Patterns, PatternsOnGroups, tight_boxes
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder
from tacit.encoding.values import BooleanIndex, CategoryIndex
from tacit.errors import UNSPENT, TacitError
from tacit.theory.closure.bounds import patterns_at_most

Direction = Literal["rising", "falling", "both"]
Encoders = Mapping[str, Encoder]


class ConceptError(TacitError):
    """A class that cannot be used as declared. Public: nothing was spent.

    Example:
        >>> from tacit.closure import ConceptError, Thresholds
        >>> try:
        ...     Thresholds("age", "upwards").bind({})
        ... except ConceptError as error:
        ...     print(error)
        a direction is 'rising', 'falling' or 'both', got 'upwards'. Nothing was spent.
    """

    usual = UNSPENT


class BoundClass(ABC):
    """A concept class over the cells of some encoded columns.

    Attributes:
        columns: names of the columns, in the order of the codes.
        n_codes: codes of each.
        vc_dimension: the VC dimension, or a bound on it.
        is_listed: whether patterns are held as bits, which takes memory for each of them.

    Example:
        >>> from tacit.closure import Intervals
        >>> from tacit.encoding.grid import NumericGrid
        >>> bound = Intervals("age").bind({"age": NumericGrid(0.0, 100.0, cells=20)})
        >>> print(bound.vc_dimension, bound.patterns_at_most(20))
        2 211
    """

    columns: tuple[str, ...]
    n_codes: tuple[int, ...]
    vc_dimension: int
    is_listed: ClassVar[bool] = True

    @property
    def n_cells(self) -> int:
        """Size of the domain."""
        return math.prod(self.n_codes)

    def patterns_at_most(self, n: int) -> int:
        """A bound on the number of patterns on n points, from public facts; Sauer's unless a class knows better."""
        return patterns_at_most(min(n, self.n_cells), self.vc_dimension)

    @abstractmethod
    def patterns(self, codes: Ints) -> Patterns:
        """All distinct patterns on distinct cells.

        Must be a pure function, keep nothing, and raise for no content: learners call it inside the curator.

        Args:
            codes: shape ``(points, columns)``, distinct rows.
        """

    @abstractmethod
    def describe(self, patterns: Patterns, index: int) -> str:
        """One concept in words, given the patterns on *all* cells."""

    def parts(self) -> tuple[BoundClass, ...]:
        """The class as a union of classes with small domains, if it is one."""
        return (self,)

    def cells(self) -> Ints:
        """All cells, shape ``(n_cells, columns)``, row-major."""
        return np.indices(self.n_codes).reshape(len(self.n_codes), -1).T.astype(np.int64)


class ConceptClass(ABC):
    """A concept class that names its columns.

    Example:
        >>> from tacit.closure import ConceptClass, Thresholds
        >>> class ByAge(ConceptClass):
        ...     columns = ("age",)
        ...
        ...     def bind(self, encoders):
        ...         return Thresholds("age", "rising").bind(encoders)
        >>> print(ByAge().columns)
        ('age',)
    """

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Columns it looks at."""

    @abstractmethod
    def bind(self, encoders: Encoders) -> BoundClass:
        """The class over the codes of these encoders.

        Raises:
            ConceptError: if a column cannot be compared as the class does.
        """


@dataclass(frozen=True)
class OfOneColumn(ConceptClass):
    """Base of the classes over one column."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)


@dataclass(frozen=True)
class OfColumns(ConceptClass):
    """Base of the classes over several columns."""

    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.names)


def levels_of(encoder: Encoder, column: str) -> Ints:
    """Per code, its place in the order of the column's values; -1 for missing and other. Refuses those without."""
    if isinstance(encoder, NumericGrid):
        n = encoder.cells
    elif isinstance(encoder, CategoryIndex):
        n = len(encoder.categories)
    elif isinstance(encoder, BooleanIndex):
        n = 2
    else:
        raise ConceptError(f"column '{column}' has no order")
    levels = np.full(encoder.n_codes, -1, np.int64)
    levels[:n] = np.arange(n)
    return levels


def known_values(encoders: Sequence[Encoder], columns: Sequence[str]) -> list[int]:
    """Per column, how many values have a place in its order."""
    return [int((levels_of(e, c) >= 0).sum()) for e, c in zip(encoders, columns, strict=True)]


def _places(encoders: Sequence[Encoder], columns: Sequence[str], codes: Ints) -> tuple[Ints, Bools]:
    """The place of every code in the order of its column's values, and which points have one in every column."""
    levels = [levels_of(e, c)[codes[:, j]] for j, (e, c) in enumerate(zip(encoders, columns, strict=True))]
    placed = np.column_stack(levels)
    return placed, np.asarray((placed >= 0).all(axis=1))


@lru_cache(maxsize=256)
def value_names(encoder: Encoder) -> tuple[str, ...]:
    """What to call each level: the lower edge of a numeric cell, or the value itself."""
    if isinstance(encoder, NumericGrid):
        if encoder.dates:
            return tuple(encoder.text(edge) for edge in encoder.edges())
        grain = 1e-9 * (encoder.upper - encoder.lower)
        return tuple(f"{0.0 if abs(edge) < grain else edge:.6g}" for edge in encoder.edges())
    if isinstance(encoder, CategoryIndex):
        return tuple(str(value) for value in encoder.categories)
    return ("false", "true")


def pick(encoders: Encoders, columns: Sequence[str]) -> tuple[Encoder, ...]:
    """The encoders of some columns; :class:`ConceptError` names one that is not there."""
    for column in columns:
        if column not in encoders:
            raise ConceptError(f"a concept class needs column '{column}', which is not among the features")
    return tuple(encoders[column] for column in columns)


@dataclass(frozen=True, eq=False)
class BoundBoxes(BoundClass):
    """Boxes on ordered columns: on one column intervals or half-lines, on several rectangles."""

    columns: tuple[str, ...]
    encoders: tuple[Encoder, ...]
    kind: Literal["rising", "falling", "both", "interval", "rectangle"]
    is_listed = False
    n_codes: tuple[int, ...] = field(init=False)
    vc_dimension: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_codes", tuple(e.n_codes for e in self.encoders))
        vc = {"rising": 1, "falling": 1, "both": 2, "interval": 2, "rectangle": 2 * len(self.columns)}[self.kind]
        object.__setattr__(self, "vc_dimension", vc)

    def patterns_at_most(self, n: int) -> int:
        sizes = known_values(self.encoders, self.columns)
        n = min(n, math.prod(sizes))
        if self.kind in ("rising", "falling"):
            return n + 1
        if self.kind == "both":
            return max(2 * n, 1)
        boxes = math.prod(min(n, s) * (min(n, s) + 1) // 2 for s in sizes) + 1
        return min(boxes, patterns_at_most(n, self.vc_dimension))

    def patterns(self, codes: Ints) -> Patterns:
        levels, inside = _places(self.encoders, self.columns, codes)
        ranks = np.full(levels.shape, -1, np.int64)
        for j in range(levels.shape[1]):
            _, ranks[inside, j] = np.unique(levels[inside, j], return_inverse=True)
        count = int(ranks.max(initial=-1)) + 1
        if self.kind == "rectangle" and len(self.columns) > 1:
            return BoxPatterns(ranks, tight_boxes(ranks[inside]))
        return BoxPatterns(ranks, _line_boxes(self.kind, count))

    def describe(self, patterns: Patterns, index: int) -> str:
        assert isinstance(patterns, BoxPatterns)
        texts = []
        for j, (column, encoder) in enumerate(zip(self.columns, self.encoders, strict=True)):
            low, high = (int(v) for v in patterns.boxes[index, 2 * j : 2 * j + 2])
            texts.append(_side(column, encoder, low, high))
        return "never" if "" in texts else " and ".join(texts)


def _side(column: str, encoder: Encoder, low: int, high: int) -> str:
    names = value_names(encoder)
    if low > high:
        return ""
    if isinstance(encoder, NumericGrid):
        above = f"{column} >= {names[low]}" if low else ""
        below = f"{column} < {names[high + 1]}" if high + 1 < len(names) else ""
    else:
        above = f"{column} from {names[low]}" if low else ""
        below = f"{column} up to {names[high]}" if high + 1 < len(names) else ""
    return " and ".join(text for text in (above, below) if text) or f"{column} is known"


def _line_boxes(kind: str, count: int) -> Ints:
    """Bounds of the patterns on ``count`` distinct values of one column."""
    steps = np.arange(count)
    if kind == "rising":
        return np.column_stack([np.arange(count + 1), np.full(count + 1, count - 1)])
    if kind == "falling":
        return np.column_stack([np.zeros(count + 1, np.int64), np.arange(-1, count)])
    if kind == "both":  # the empty and the full pattern belong to both directions, and count once
        return np.vstack([_line_boxes("rising", count), np.column_stack([np.zeros_like(steps[1:]), steps[:-1]])])
    low, high = np.triu_indices(count)
    return np.vstack([np.array([[0, -1]]), np.column_stack([low, high])])


@dataclass(frozen=True)
class Thresholds(OfOneColumn):
    """``column >= t`` (rising), ``column < t`` (falling), or both. VC dimension 1, or 2 for both.

    Example:
        >>> import numpy as np
        >>> from tacit.closure import FiniteClassClassifier, Thresholds
        >>> X = {"age": np.arange(4000) % 100}
        >>> schema = {"columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100, "bins": 20}}}
        >>> model = FiniteClassClassifier(Thresholds("age", "rising"), schema=schema, classes=(0, 1))
        >>> print(model.fit(X, X["age"] >= 60).model_.to_text())
        1 if age >= 60, else 0
    """

    direction: Direction = "both"

    def bind(self, encoders: Encoders) -> BoundClass:
        if self.direction not in ("rising", "falling", "both"):
            raise ConceptError(f"a direction is 'rising', 'falling' or 'both', got {self.direction!r}")
        return BoundBoxes((self.column,), pick(encoders, (self.column,)), self.direction)


@dataclass(frozen=True)
class Intervals(OfOneColumn):
    """``a <= column < b``. VC dimension 2.

    Example:
        >>> from tacit.closure import Intervals
        >>> concepts = Intervals("age")  # for FiniteClassClassifier(concepts, schema=schema)
        >>> print(concepts.columns)
        ('age',)
    """

    def bind(self, encoders: Encoders) -> BoundClass:
        return BoundBoxes((self.column,), pick(encoders, (self.column,)), "interval")


@dataclass(frozen=True)
class Rectangles(OfColumns):
    """Axis-aligned boxes on a few columns. VC dimension twice their number.

    Example:
        >>> from tacit.closure import Rectangles
        >>> concepts = Rectangles(("age", "visits"))  # for FiniteClassClassifier(concepts, schema=schema)
        >>> print(concepts.columns)
        ('age', 'visits')
    """

    def bind(self, encoders: Encoders) -> BoundClass:
        return BoundBoxes(self.columns, pick(encoders, self.columns), "rectangle")


@dataclass(frozen=True, eq=False)
class BoundHalfspaces(BoundClass):
    """Halfspaces over the levels of two columns (equal steps between neighbouring cells)."""

    columns: tuple[str, ...]
    encoders: tuple[Encoder, ...]
    vc_dimension = 3
    is_listed = False
    n_codes: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_codes", tuple(e.n_codes for e in self.encoders))

    def patterns_at_most(self, n: int) -> int:
        return halfspaces_at_most(min(n, math.prod(known_values(self.encoders, self.columns))))

    def patterns(self, codes: Ints) -> Patterns:
        levels, inside = _places(self.encoders, self.columns, codes)
        points, group = np.unique(levels[inside], axis=0, return_inverse=True)
        groups = np.full(len(codes), -1, np.int64)
        groups[inside] = group.reshape(-1)
        return PatternsOnGroups(PlanePatterns(points.reshape(-1, 2)), groups)

    def describe(self, patterns: Patterns, index: int) -> str:
        share = patterns.row(index).mean()
        return f"a halfspace of {', '.join(self.columns)} that holds {share:.0%} of the cells"


@dataclass(frozen=True)
class Halfspaces(OfColumns):
    """Halfspaces over two columns, in units of their cells. VC dimension 3.

    Example:
        >>> from tacit.closure import Halfspaces
        >>> concepts = Halfspaces(("age", "visits"))  # for FiniteClassClassifier(concepts, schema=schema)
        >>> print(concepts.columns)
        ('age', 'visits')
    """

    def bind(self, encoders: Encoders) -> BoundClass:
        if len(self.names) != 2:
            raise ConceptError(f"halfspaces take two columns, got {len(self.names)}")
        return BoundHalfspaces(self.columns, pick(encoders, self.columns))


def patterns_on(bound: BoundClass, codes: Ints, positions: Sequence[int]) -> Patterns:
    """Patterns on points of which some columns (``positions``) are those of the class; points may share a cell."""
    cells, group = np.unique(codes[:, list(positions)], axis=0, return_inverse=True)
    return PatternsOnGroups(bound.patterns(cells), group.reshape(-1).astype(np.int64))
