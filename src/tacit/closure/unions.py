"""Unions of concept classes, and stumps, which are one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tacit.arrays import Ints
from tacit.closure.classes import BoundClass, ConceptClass, ConceptError, Direction, Encoders, Thresholds, patterns_on
from tacit.closure.patterns import JoinedPatterns, Patterns, without_duplicates


@dataclass(frozen=True, eq=False)
class BoundUnion(BoundClass):
    """The union of classes, each with columns of its own."""

    members: tuple[BoundClass, ...]
    columns: tuple[str, ...] = field(init=False)
    n_codes: tuple[int, ...] = field(init=False)
    vc_dimension: int = field(init=False)

    def __post_init__(self) -> None:
        sizes: dict[str, int] = {}
        for member in self.members:
            sizes.update(zip(member.columns, member.n_codes, strict=True))
        object.__setattr__(self, "columns", tuple(sizes))
        object.__setattr__(self, "n_codes", tuple(sizes.values()))
        n = max(member.vc_dimension for member in self.members)
        while self.patterns_at_most(n + 1) >= 1 << (n + 1):
            n += 1
        object.__setattr__(self, "vc_dimension", n)

    def patterns_at_most(self, n: int) -> int:
        return sum(member.patterns_at_most(n) for member in self.members)

    def patterns(self, codes: Ints) -> Patterns:
        joined = JoinedPatterns(
            [patterns_on(member, codes, [self.columns.index(c) for c in member.columns]) for member in self.members]
        )
        return without_duplicates(joined)

    def describe(self, patterns: Patterns, index: int) -> str:
        raise NotImplementedError("the parts of a union are described one by one")

    def parts(self) -> tuple[BoundClass, ...]:
        return tuple(part for member in self.members for part in member.parts())


@dataclass(frozen=True)
class Union(ConceptClass):
    """All concepts of several classes.

    Example:
        >>> from tacit.closure import Intervals, Thresholds, Union
        >>> print(Union((Thresholds("age"), Intervals("visits"))).columns)
        ('age', 'visits')
    """

    members: tuple[ConceptClass, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(column for member in self.members for column in member.columns))

    def bind(self, encoders: Encoders) -> BoundClass:
        if not self.members:
            raise ConceptError("a union needs at least one class")
        return BoundUnion(tuple(member.bind(encoders) for member in self.members))


def Stumps(columns: Sequence[str], direction: Direction = "both") -> Union:  # noqa: N802 - reads as a class
    """Axis-aligned stumps: a threshold on any one of the columns.

    Example:
        >>> from tacit.closure import Stumps
        >>> concepts = Stumps(["age", "visits"])  # FiniteClassClassifier(concepts, schema=schema) learns one of them
        >>> print(concepts.columns)
        ('age', 'visits')
    """
    return Union(tuple(Thresholds(column, direction) for column in columns))
