"""A learner: from sealed rows to a model, and what it costs. Nothing here knows scikit-learn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.curator.rows import PrivateRows
from tacit.learning.task import Task
from tacit.models.base import Model
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.request import LEAST_EPSILON, Request


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
