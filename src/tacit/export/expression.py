"""What a model computes, as a graph of small expressions: made once per kind of model, written as SQL or ONNX.

A graph has one value per row at each node. Sums are taken from left to right, so that all targets round alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Bools, Floats, Ints
from tacit.errors import UNSPENT, TacitError
from tacit.models.tree import TreeShape

NUMBER, TEXT, TRUTH, DATE, WEEKDAY = "number", "text", "truth", "date", "weekday"
"""Kinds of columns; a weekday is a date of which only the day of the week counts."""

LARGEST_POWER = 700.0
"""The exponential of this is finite, and that of its negative is no less than 1e-304, which no database refuses."""


class ExportError(TacitError):
    """A model that cannot be exported. Nothing was spent."""

    usual = UNSPENT


class Expression:
    """Base of the nodes, which are frozen dataclasses."""

    @property
    def inside(self) -> tuple[Expression, ...]:
        """The nodes that it is computed from: its parts that are nodes, or tuples of nodes, in their order."""
        parts: list[Expression] = []
        for value in vars(self).values():
            several = value if isinstance(value, tuple) else (value,)
            parts += several if several and isinstance(several[0], Expression) else ()
        return tuple(parts)

    def __add__(self, other: Expression | float) -> Expression:
        return Sum((self, expression(other)))

    def __sub__(self, other: Expression | float) -> Expression:
        return Apply("sub", (self, expression(other)))

    def __mul__(self, other: Expression | float) -> Expression:
        return Apply("mul", (self, expression(other)))

    def __truediv__(self, other: Expression | float) -> Expression:
        return Apply("div", (self, expression(other)))


@dataclass(frozen=True)
class Number(Expression):
    """A constant."""

    value: float


@dataclass(frozen=True)
class Column(Expression):
    """The value of a column of the table; missing ones, and numbers among ``marks``, have none."""

    name: str
    kind: str
    marks: tuple[float, ...] = ()


@dataclass(frozen=True)
class Steps(Expression):
    """An integer by the interval that a number, a date or a day of the week lies in.

    Edges are numbers, days since 1970, or days since Monday; ``values[k]`` is for values from ``edges[k - 1]`` to below
    ``edges[k]``, ``missing`` for NaN as well, and if ``bounded`` for infinities.
    """

    column: Column
    edges: tuple[float, ...]
    values: tuple[int, ...]
    missing: int
    bounded: bool


@dataclass(frozen=True)
class Words(Expression):
    """An integer by a text without surrounding blanks, as ``places`` have it; a blank one is missing.

    ``truths`` are the same of ``"true"`` and ``"false"``, whose case does not matter.
    """

    column: Column
    places: tuple[tuple[str, int], ...]
    truths: tuple[tuple[str, int], ...]
    other: int
    missing: int


@dataclass(frozen=True)
class Truths(Expression):
    """An integer by a truth value, which ``yes``, ``t`` and the like may spell as well (``words``)."""

    column: Column
    false: int
    true: int
    other: int
    missing: int
    words: bool = False

    def texts(self, truth: bool) -> list[str]:
        """The spellings of a truth value in small letters, as text or as a number."""
        usual = ["true", "1", "1.0"] if truth else ["false", "0", "0.0"]
        return usual + (([*"ty", "yes"] if truth else [*"fn", "no"]) if self.words else [])


@dataclass(frozen=True, eq=False)
class Known(Expression):
    """Whether the value of a column of numbers is there and finite."""

    column: Column


@dataclass(frozen=True, eq=False)
class Take(Expression):
    """An entry of a table, of floats or integers, at an index from 0 on."""

    table: Floats | Ints
    index: Expression


@dataclass(frozen=True, eq=False)
class Among(Expression):
    """Whether an index from 0 on is among those that are marked."""

    members: Bools
    index: Expression


@dataclass(frozen=True, eq=False)
class AtLeast(Expression):
    """Whether a number is at least another."""

    number: Expression
    bound: Expression


@dataclass(frozen=True, eq=False)
class All(Expression):
    """Whether all of some tests hold; at least one."""

    tests: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Where(Expression):
    """One number where a test holds, and another elsewhere."""

    test: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, eq=False)
class Sum(Expression):
    """The sum of numbers, from left to right."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Apply(Expression):
    """A function of numbers: sub, mul, div, max, min, exp, log, sqrt, abs, cos, sin, truncate (toward zero)."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Leaves(Expression):
    """The value of the leaf of a tree of at least one split; an integer per column that the tree numbers."""

    shape: TreeShape
    codes: tuple[Expression, ...]
    values: Floats

    @property
    def inside(self) -> tuple[Expression, ...]:
        return tuple(self.codes[column] for column in self.shape.used_columns)


@dataclass(frozen=True, eq=False)
class Program:
    """What a model says of a row: a name and a number per class, its probability, or (without classes) a prediction."""

    outputs: tuple[tuple[str, Expression], ...]
    classes: tuple[object, ...] | None

    def nodes(self) -> list[Expression]:
        """All nodes, each behind those that it is computed from."""
        order: dict[Expression, None] = {}
        stack: list[tuple[Expression, bool]] = [(node, False) for _, node in reversed(self.outputs)]
        while stack:
            node, entered = stack.pop()
            if entered:
                order.setdefault(node)
            elif node not in order:
                stack.append((node, True))
                stack += [(part, False) for part in reversed(node.inside)]
        return list(order)

    @property
    def columns(self) -> list[Column]:
        """The columns that are read, each once."""
        return [node for node in self.nodes() if isinstance(node, Column)]


def expression(value: Expression | float) -> Expression:
    """A number as a constant; an expression as it is."""
    return value if isinstance(value, Expression) else Number(float(value))


def call(name: str, *arguments: Expression | float) -> Expression:
    """A function of numbers."""
    return Apply(name, tuple(map(expression, arguments)))


def clip(number: Expression, low: float, high: float) -> Expression:
    """A number kept within bounds."""
    return call("min", call("max", number, low), high)


def logistic(score: Expression) -> Expression:
    """``1 / (1 + exp(-score))``."""
    return Number(1.0) / (Number(1.0) + call("exp", Number(0.0) - clip(score, -LARGEST_POWER, LARGEST_POWER)))


def softmax(scores: Sequence[Expression]) -> list[Expression]:
    """Numbers in proportion to the exponentials of scores, which add up to 1."""
    largest = scores[0]
    for score in scores[1:]:
        largest = call("max", largest, score)
    powers = [call("exp", call("max", score - largest, -LARGEST_POWER)) for score in scores]
    total = Sum(tuple(powers))
    return [power / total for power in powers]


def take(table: object, index: Expression) -> Take:
    """An entry of a table of floats, or of integers."""
    array = np.asarray(table)
    if array.dtype.kind in "iub":
        return Take(array.astype(np.int64), index)
    return Take(array.astype(np.float64), index)
