"""Boost-S as a learner: voters from rows drawn by a measure (Bun, Carmosino, Sorrell 2020)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, get_args

import numpy as np
from sklearn.base import clone

from tacit.arrays import Floats, Ints
from tacit.boosting.measures import SmoothMeasure
from tacit.curator.rows import PrivateRows
from tacit.curator.trusted import TrustedLearner, run_trusted
from tacit.curator.views.resample import CAP, MeasureSample, SmoothSample
from tacit.curator.views.view import Plan, open_view
from tacit.encoding.dense import RowEncoder
from tacit.encoding.values import LabelIndex
from tacit.estimators.classifier import PrivateClassifier, child_learner
from tacit.learning.checks import check_choice, check_integer, check_number, check_two_classes, whole
from tacit.learning.learner import Learner, Task
from tacit.models.base import ClassModel, Model, of_classes
from tacit.models.rule import VoteModel
from tacit.privacy import accountants
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import ApproxDP, Charge, NonPrivate, Pure
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import Request, RequestError, check_noise_fits
from tacit.privacy.unit import Neighbouring
from tacit.resampling.plan import ResamplingPlan, most_reserved, plan_resampling
from tacit.theory.boosting import Analysis
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

    Example:
        >>> from sklearn.base import BaseEstimator
        >>> from tacit import ResampledBoostClassifier
        >>> from tacit.resampling import DiffprivlibLearner
        >>> class Stub(BaseEstimator):  # in place of diffprivlib.models.LogisticRegression()
        ...     def __init__(self, epsilon=1.0):
        ...         self.epsilon = epsilon
        >>> print(type(ResampledBoostClassifier(DiffprivlibLearner(Stub())).base).__name__)
        DiffprivlibLearner
    """

    estimator: Any  # an unfitted classifier with a parameter `epsilon`

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

    Example:
        >>> from sklearn.linear_model import LogisticRegression
        >>> from tacit import ResampledBoostClassifier
        >>> from tacit.resampling import ClaimedLearner
        >>> def fit(X, y, epsilon, delta):  # not private: what is claimed is not checked
        ...     return LogisticRegression().fit(X, y)
        >>> print(ResampledBoostClassifier(ClaimedLearner(fit, "careless")).base.name)
        careless
    """

    # `fit(rows, labels, epsilon, delta) -> predictor`, where rows have norm at most 1 and labels are 0/1; the predictor
    # has `predict(rows)`. It must be (epsilon, delta)-differentially private under replacement of a row.
    fit: Callable[[Floats, Ints, float, float], Any]
    name: str  # for the ledger
    epsilon: float = 0.0  # what a run costs; set by whoever runs it
    delta: float = 0.0  # see `epsilon`

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


@dataclass(frozen=True, eq=False)
class BaseLearner:
    """A private learner, ready to run under the rows' reservation, with its declared maximum."""

    plan: Plan
    learn: Callable[[PrivateRows], ClassModel]


def _drawing(subject: str, t: int) -> Label:
    return Label(Stage.ROWS, subject, t + 1, f"round {t + 1}: {subject}")


def boost_s(
    private_rows: PrivateRows,
    base: BaseLearner,
    plan: ResamplingPlan,
    learning_rate: float,
    label_index: LabelIndex,
    analysis: Analysis = "sharp",
) -> VoteModel:
    """``Boost-S``: T rounds of ``IterS``, then the majority of the voters (Boost takes the average); under replace_one.

    A round draws rows from ``LB-NxM`` over the voters so far, and adds what the base learner makes of them.
    """
    voters: list[ClassModel] = []
    for t in range(plan.rounds):
        view = MeasureSample(
            tuple(voters), plan.total, learning_rate, plan.size, label_index, base.plan, plan.base, analysis
        )
        (sample,) = open_view(private_rows, view, _drawing("rows drawn from the measure", t))
        voters.append(base.learn(sample))
    return VoteModel(tuple(label_index.names), tuple(voters))


def boost_tested(
    private_rows: PrivateRows,
    base: BaseLearner,
    plan: ResamplingPlan,
    measure: SmoothMeasure,
    label_index: LabelIndex,
    analysis: Analysis = "sharp",
) -> VoteModel:
    """``Boost`` with a stopping rule (Algorithms 10 and 11), around any (epsilon, delta) learner; at most T rounds.

    A round ends the run, where the measure is smaller than ``plan.total``, or adds what the base learner makes of draws
    from ``SB-NxM``. Rows are under replace_one.
    """
    voters: list[ClassModel] = []
    for t in range(plan.rounds):
        table = np.floor(measure.weights(np.arange(-t, t + 1.0), t) * CAP).astype(np.int64)
        view = SmoothSample(tuple(voters), table, plan.total, plan.size, label_index, base.plan, plan.base, analysis)
        sample = open_view(private_rows, view, _drawing("end test, and rows drawn from the measure", t))
        if not sample:
            break
        voters.append(base.learn(sample[0]))
    return VoteModel(tuple(label_index.names), tuple(voters))


REPLACE = Neighbouring.REPLACE_ONE
MEASURES = ("lazy_bregman", "smooth")


@dataclass(frozen=True, eq=False)
class ResampledBoostLearner(Learner):
    """Boost-S around a base learner: what :class:`~tacit.ResampledBoostClassifier` says of itself holds here."""

    # `base`, `rounds`, `measure`, `density`, `learning_rate`, `advantage`, `sample_size`, `analysis`: as there
    base: Any = None
    rounds: int = 5
    measure: str = "lazy_bregman"
    density: float = 0.5
    learning_rate: float = 0.5
    advantage: float = 0.2
    sample_size: int | None = None
    analysis: Analysis = "sharp"

    name = "ResampledBoostClassifier"

    def __post_init__(self) -> None:
        if self.request.neighbouring is not REPLACE:
            raise RequestError(
                "neighbouring must be 'replace_one': drawing rows is analysed for a public number of rows"
            )
        if self.is_foreign and not all(hasattr(self.base, name) for name in ("with_budget", "declared_charge")):
            raise RequestError(
                f"{type(self.base).__name__} declares no charge: base must be a private classifier, or a foreign "
                "learner in an adapter of tacit.resampling.learner"
            )
        check_integer("rounds", self.rounds)
        check_integer("sample_size", self.sample_size, optional=True)
        check_number("density", self.density, 0.0, 1.0)
        check_number("learning_rate", self.learning_rate, 0.0, 1.0)
        check_choice("measure", self.measure, MEASURES)
        check_number("advantage", self.advantage, 0.0, 0.5)
        check_choice("analysis", self.analysis, get_args(Analysis))

    @property
    def is_foreign(self) -> bool:
        """Whether the base is not of this library."""
        return is_foreign(self.base)

    @property
    def takes_on_trust(self) -> bool:
        return self.is_foreign or self.base.takes_on_trust

    @property
    def certified_as(self) -> str:
        return f"{self.name} around {self.base.name}" if self.is_foreign else self.name

    def check(self, task: Task) -> None:
        check_two_classes(task, self.name)
        if task.schema is not None and task.schema.unit is not None:
            raise RequestError("drawn rows protect single rows: a schema with a unit is not supported")
        if task.public_rows is None:
            raise RequestError(
                f"{self.name} draws from a public number of rows, which there is not where a schema has a "
                "unit, or inside a learner that splits rows at random: boost that learner, by giving it as the base"
            )
        self._base_learner(self.plan(task), task)

    def plan(self, task: Task) -> ResamplingPlan:
        """How the budget is divided over a public number of rows."""
        assert task.public_rows is not None
        n_rows, size = task.public_rows, whole(self.sample_size)
        if size is not None and size > n_rows:
            raise RequestError(f"sample_size must be at most the number of rows, {n_rows}, got {size}")
        delta = 0.0 if math.isinf(self.request.epsilon) else self.request.delta
        tested = self.measure == "smooth"
        return plan_resampling(
            self.request.epsilon,
            delta,
            max(1, n_rows),
            int(self.rounds),
            float(self.density),
            size,
            self.analysis,
            tested,
        )

    def charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        if task.public_rows is not None:
            return [self.plan(task).reserved]
        if not allowance.is_private:
            return [NonPrivate()]
        return [most_reserved(allowance.epsilon, allowance.delta, self.rounds)]  # before the number of rows is known

    def _base_learner(self, plan: ResamplingPlan, task: Task) -> BaseLearner:
        """The base at the budget of a round, checked against what it declares."""
        if self.is_foreign:
            foreign: ForeignLearner = self.base.with_budget(plan.base)
            declared = foreign.declared_charge(REPLACE)
            self._check_declared(foreign.name, declared, plan.base)
            assert task.schema is not None
            encoder = RowEncoder.of(task.schema, intercept=True)
            label = Label(Stage.TRUSTED, foreign.name)
            return BaseLearner(declared, lambda rows: run_trusted(rows, foreign, encoder, task.label_index, label))
        task = replace(task, public_rows=plan.size)
        request = Request.of(plan.base.epsilon, plan.base.delta, REPLACE, None)
        classes = None if task.schema is not None else list(task.label_index.names)
        own, name = child_learner(self.base, request, schema=task.schema, classes=classes), type(self.base).__name__
        own.check(task)
        check_noise_fits(request.allowance, own.least_budget, name)
        charges = tuple(own.charges(request.allowance, task))
        self._check_declared(name, charges, plan.base)
        return BaseLearner(charges, lambda rows: of_classes(own.learn(rows, request.allowance, task)))

    def _check_declared(self, name: str, charges: Sequence[Charge], budget: Cost) -> None:
        if not charges:
            raise RequestError(f"{name} declares no charge")
        if not math.isinf(budget.epsilon) and accountants.epsilon(charges, budget.delta) > budget.epsilon * (1 + 1e-6):
            raise RequestError(f"{name} declares more than the epsilon {budget.epsilon:.4g} that a round leaves for it")

    def learn(self, rows: PrivateRows, allowance: Allowance, task: Task) -> Model:
        del allowance
        plan = self.plan(task)
        base = self._base_learner(plan, task)
        if self.measure == "smooth":
            return boost_tested(rows, base, plan, SmoothMeasure(float(self.advantage)), task.label_index, self.analysis)
        return boost_s(rows, base, plan, float(self.learning_rate), task.label_index, self.analysis)


def is_foreign(base: object) -> bool:
    """Whether a base is not of this library."""
    return not isinstance(base, PrivateClassifier)
