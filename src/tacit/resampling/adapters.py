"""Adapters: private learners of other people, so that they can be boosted. Their claims are not verified here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sklearn.base import clone

from tacit.arrays import Floats, Ints
from tacit.curator.trusted import TrustedLearner
from tacit.privacy.charges import ApproxDP, Charge, NonPrivate, Pure
from tacit.privacy.neighbouring import Neighbouring
from tacit.privacy.request import RequestError
from tacit.theory.checks import Cost


class ForeignLearner(TrustedLearner, Protocol):
    """A foreign learner that can be given a budget."""

    def with_budget(self, cost: Cost) -> ForeignLearner:
        """The same learner at (epsilon, delta), or itself if it declares a fixed charge within that."""


def charge_of_claim(epsilon: float, delta: float) -> Charge:
    """A claim of (epsilon, delta) as a charge."""
    if epsilon == float("inf"):
        return NonPrivate()
    return Pure(epsilon) if delta == 0 else ApproxDP(epsilon, delta)


@dataclass(frozen=True, eq=False)
class DiffprivlibLearner:
    """A classifier of diffprivlib: pure epsilon-differential privacy under replacement of a row.

    Its parameter ``epsilon`` is set to what a round may spend, and where it has a parameter ``data_norm``, that to 1,
    the norm of the rows it gets. Bounds that it would read from the data must be given.

    Args:
        estimator: an unfitted classifier with a parameter ``epsilon``.
    """

    estimator: Any

    def __post_init__(self) -> None:
        parameters: dict[str, Any] = getattr(self.estimator, "get_params", dict)()
        if "epsilon" not in parameters:
            raise RequestError(f"{type(self.estimator).__name__} declares no charge: it has no parameter epsilon")

    @property
    def name(self) -> str:
        return type(self.estimator).__name__

    def with_budget(self, cost: Cost) -> DiffprivlibLearner:
        estimator = clone(self.estimator)
        estimator.set_params(epsilon=cost.epsilon)
        if "data_norm" in estimator.get_params():
            estimator.set_params(data_norm=1.0)
        return replace(self, estimator=estimator)

    def declared_charge(self, neighbouring: Neighbouring) -> tuple[Charge, ...]:
        if neighbouring is not Neighbouring.REPLACE_ONE:
            raise RequestError(f"{self.name} makes its claim under replace_one")
        return (charge_of_claim(float(self.estimator.get_params()["epsilon"]), 0.0),)

    def learn(self, rows: Floats, labels: Ints) -> Any:
        return clone(self.estimator).fit(rows, labels)


@dataclass(frozen=True, eq=False)
class ClaimedLearner:
    """A learner of the user's own, with the privacy that the user claims for it.

    Args:
        fit: ``fit(rows, labels, epsilon, delta) -> predictor``, where rows have norm at most 1 and labels are 0/1; the
            predictor has ``predict(rows)``. It must be (epsilon, delta)-differentially private under replacement of a
            row.
        name: for the ledger.
        epsilon: what a run costs; set by whoever runs it.
        delta: see ``epsilon``.
    """

    fit: Callable[[Floats, Ints, float, float], Any]
    name: str
    epsilon: float = 0.0
    delta: float = 0.0

    def with_budget(self, cost: Cost) -> ClaimedLearner:
        return replace(self, epsilon=cost.epsilon, delta=cost.delta)

    def declared_charge(self, neighbouring: Neighbouring) -> tuple[Charge, ...]:
        if neighbouring is not Neighbouring.REPLACE_ONE:
            raise RequestError(f"{self.name} makes its claim under replace_one")
        if not self.epsilon > 0:
            raise RequestError(f"{self.name} declares no charge")
        return (charge_of_claim(self.epsilon, self.delta),)

    def learn(self, rows: Floats, labels: Ints) -> Any:
        return self.fit(rows, labels, self.epsilon, self.delta)
