"""What views have in common: rows behind the gate, plans, costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.encoding.frames import Frame
from tacit.encoding.values import LabelIndex
from tacit.noise.source import NoiseSource
from tacit.privacy import accountants
from tacit.privacy.charges import ApproxDP, Charge, NonPrivate, Pure
from tacit.privacy.neighbouring import Neighbouring
from tacit.theory.cost import Cost

IntArray = npt.NDArray[np.int64]
Plan = tuple[Charge, ...]
ONE = Neighbouring.ADD_OR_REMOVE_ONE


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows behind the gate: the columns as they came, and label codes (:data:`DROPPED` where a rule drops the row)."""

    frame: Frame
    labels: npt.NDArray[np.uint8]


class View(Protocol):
    """A sealed transformation of rows."""

    @property
    def label_index(self) -> LabelIndex:
        """How labels become codes."""

    @property
    def children(self) -> tuple[Plan, ...]:
        """The declared maximum charge of each child."""

    def charges(self, neighbouring: Neighbouring) -> Sequence[tuple[Charge, str]]:
        """What all children cost the parent, with theorems."""

    def open(self, rows: Rows, neighbouring: Neighbouring, noise: NoiseSource) -> Sequence[Rows]:
        """The rows of each child, or of none if the view ends here. Raises for no content."""


def is_private(plan: Sequence[Charge]) -> bool:
    """Whether a plan asks for privacy at all."""
    return not any(isinstance(charge, NonPrivate) for charge in plan)


def cost_of(plan: Sequence[Charge], delta: float) -> Cost:
    """A plan as (epsilon, delta)."""
    return Cost(accountants.epsilon(plan, delta), delta)


def charge_of(cost: Cost) -> Charge:
    """A cost as a charge, rounded up."""
    epsilon = math.nextafter(cost.epsilon, math.inf)
    return Pure(epsilon) if cost.delta == 0 else ApproxDP(epsilon, cost.delta)
