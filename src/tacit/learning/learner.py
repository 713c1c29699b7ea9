"""The task of a fit (its public side), and a learner: from sealed rows to a model, and what it costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

from tacit.curator.rows import PrivateRows
from tacit.discovery.discover_schema import Undeclared
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.models.base import Model
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.gaussian import LEAST_EPSILON
from tacit.privacy.request import Request
from tacit.queries.score_rules import TARGET_BITS
from tacit.schema import NumericColumn, Schema, Unit
from tacit.schema.cell_format import PLAIN_CELLS, CellFormat

FINE_CELLS = 65_535  # cells of a numeric column's public grid, where its schema does not fix them


@final
@dataclass(frozen=True)
class Target:
    """A label that is a number."""

    name: str  # of its column; `"target"` where no schema names it
    # how targets become integers; None while nobody has declared or found their bounds
    bounds: NumericLabelIndex | None

    @property
    def cell_format(self) -> CellFormat:
        """How its cells are written."""
        return PLAIN_CELLS if self.bounds is None else self.bounds.format

    @property
    def index(self) -> NumericLabelIndex:
        """How targets become integers, once their bounds are known."""
        if self.bounds is None:
            raise TypeError("the bounds of the target are still to be found")
        return self.bounds


ANY_BOUNDS = NumericLabelIndex(-1.0, 1.0, TARGET_BITS)
"""Stands for a target without bounds where rows are counted: which of them count does not depend on the bounds."""


@dataclass(frozen=True)
class Task:
    """The public side of a fit."""

    schema: Schema | None  # as given, or found; None if there is none
    names: tuple[str, ...]  # feature names, in order
    label: LabelIndex | Target  # the classes and their sides, or the number
    encoding: TableEncoding | None  # the public encoding of the features; None until bounds are found
    # what the fit finds out before it learns; None if nothing, or by the learner itself
    undeclared: Undeclared | None = None
    # the number of rows, where the relation makes it public; None where it is private, or random
    public_rows: int | None = None

    @property
    def unit(self) -> Unit | None:
        """Who is protected, if it is not a row."""
        return None if self.schema is None else self.schema.unit

    @property
    def label_index(self) -> LabelIndex:
        """The classes; raises :class:`TypeError` of a label that is a number, which learners of classes never see."""
        if isinstance(self.label, Target):
            raise TypeError("the label is a number")
        return self.label

    @property
    def target(self) -> Target:
        """The number; raises :class:`TypeError` of a label that has classes, which regressors never see."""
        if not isinstance(self.label, Target):
            raise TypeError("the label has classes")
        return self.label

    @property
    def label_codes(self) -> LabelIndex | NumericLabelIndex:
        """How labels become integers, of either kind."""
        if isinstance(self.label, Target):
            return ANY_BOUNDS if self.label.bounds is None else self.label.bounds
        return self.label


def monotone_of(task: Task, name: str) -> str | None:
    """How the effect of a column is declared to go: ``"increasing"``, ``"decreasing"`` or None."""
    column = None if task.schema is None else task.schema.columns.get(name)
    return column.monotone if isinstance(column, NumericColumn) else None


@dataclass(frozen=True, eq=False)
class Learner(ABC):
    """A private learning algorithm with its parameters. A subclass is a frozen dataclass of these.

    A learner that exists is one whose parameters make sense: ``__post_init__`` raises
    :class:`~tacit.privacy.request.RequestError` otherwise, before there is anything to pay. What a parameter means may
    depend on the ``request``, which says what privacy is asked for, and so may a plan. :func:`tacit.learning.fit.fit`
    calls the three methods in their order; a learner made of others calls theirs.
    """

    request: Request

    # What it says of itself: public facts.

    name: ClassVar[str]
    """What certificates and messages call it: the public class of its estimator."""

    least_budget: ClassVar[float] = LEAST_EPSILON
    """The smallest epsilon, or Gaussian privacy parameter, whose noise integers hold in the learner's units."""

    discovers: ClassVar[bool] = False
    """Whether a fit without a schema finds categories and classes, too, not bounds alone."""

    most_classes: ClassVar[int] = 2
    """How many classes are told apart, where classes are to be found."""

    holds_monotone: ClassVar[bool] = False
    """Whether effects that the schema declares monotone come out so."""

    refuses_weights: ClassVar[str] = ""
    """Why rows cannot be weighted; empty if they can."""

    streams: ClassVar[bool] = False
    """Whether it learns from rows that are not in memory: it seals them and asks, and looks at them in no other way."""

    joins: ClassVar[bool] = False
    """Whether it learns from sites that keep their rows: from sums over all rows alone, whatever their order."""

    @property
    def joins_noisy(self) -> bool:
        """Whether it learns from sites that draw the noise: from noisy sums alone, with more noise than is charged."""
        return False

    @property
    def refuses_sites(self) -> str:
        """Why this one cannot learn from sites, although others of its kind do; empty if it can."""
        return ""

    @property
    def least_rows(self) -> int:
        """Fewer rows, where their number is public, are refused."""
        return 0

    @property
    def takes_on_trust(self) -> bool:
        """Whether it, or a learner inside it, is a foreign one, whose promise nobody verified."""
        return False

    @property
    def certified_as(self) -> str:
        """What the certificate says was done."""
        return self.name

    def forecast(self, allowance: Allowance, task: Task, n: int) -> dict[str, Any] | None:
        """What a fit to ``n`` rows could do, from public knowledge; None where the learner does not know."""
        del allowance, task, n
        return None

    # What it does.

    @abstractmethod
    def check(self, task: Task) -> None:
        """Checks the public side of a task.

        Raises:
            RequestError: if it cannot be learned. Nothing was spent.
        """

    @abstractmethod
    def charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        """Everything that :meth:`learn` may charge: it is reserved before a row is read.

        Args:
            allowance: of the whole fit.
            task: its public side; without names and encoding where only the declarations are known.
        """

    @abstractmethod
    def learn(self, rows: PrivateRows, allowance: Allowance, task: Task) -> Model:
        """Learns from what is measured on the rows, within the charges.

        Nothing that the rows hold may make it fail, or change in which order and for how much it asks.

        Args:
            rows: sealed by the learner under a public encoding, mostly by :func:`tacit.learning.weights.sealed`.
            allowance: the one that :meth:`charges` was given.
            task: the same.
        """
