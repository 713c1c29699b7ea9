"""`ResampledBoostClassifier`: boosting around any private learner, as a scikit-learn estimator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from sklearn.base import clone

from tacit.boosting.measures.smooth import SmoothMeasure
from tacit.curator.rows import Vault
from tacit.curator.trusted import run_trusted
from tacit.encoding.dense import RowEncoder
from tacit.estimators.base import Task
from tacit.estimators.checks import check_choice, check_integer, check_number, check_two_classes, whole
from tacit.estimators.classifier import PrivateClassifier
from tacit.models.base import Model
from tacit.privacy import accountants
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.budget import Allowance
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Charge, NonPrivate
from tacit.privacy.label import Label, Stage
from tacit.privacy.ledger import Reservation
from tacit.privacy.neighbouring import Neighbouring
from tacit.privacy.request import Request, RequestError, check_loudness
from tacit.privacy.spending import certified
from tacit.resampling.adapters import ForeignLearner
from tacit.resampling.boost_s import BaseLearner, boost_s, boost_tested
from tacit.resampling.plan import ResamplingPlan, most_reserved, plan_resampling
from tacit.theory.boosting import Analysis
from tacit.theory.cost import Cost

REPLACE = Neighbouring.REPLACE_ONE
MEASURES = ("lazy_bregman", "smooth")


class ResampledBoostClassifier(PrivateClassifier):
    """Boosts a private learner: a majority of several, each learned on rows drawn from the lazy Bregman measure.

    Boost-S of Bun, Carmosino, Sorrell (2020). The base learner needs no support for weights and is used as it is;
    drawing few rows from a smooth measure makes it cheaper than it declares (Lemma 55). The same door boosts the
    accuracy of any private learner (Alon et al. 2020, Remark 7.4). The number of rows is public here: the analysis is
    for replacement.

    Args:
        base: a private classifier of this library, whose epsilon and delta are set to what a round leaves for it; or a
            foreign learner in an adapter (:mod:`tacit.resampling.adapters`), whose claim is taken on trust: the
            certificate then says ``unverified`` and is not releasable.
        epsilon: privacy parameter, positive; ``inf`` for no privacy.
        delta: additive slack of the guarantee, in [0, 1).
        neighbouring: ``"replace_one"``; nothing else is analysed.
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file; a foreign base needs one. None for the
            base's.
        classes: the two classes, the positive one last, when no schema names them; None for the base's, or 0 and 1.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this fit alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.
        rounds: T, the number of voters, or the most of them; odd numbers have no ties.
        measure: ``"lazy_bregman"``; or ``"smooth"`` for SmoothBoost's, with a noisy end test in every round (Appendix
            K): the run ends when the measure is smaller than ``density``. It needs a positive delta.
        density: kappa, of the measure.
        learning_rate: lambda, of lazy Bregman.
        advantage: gamma, of SmoothBoost: what a voter is trusted to achieve, in (0, 1/2).
        sample_size: draws per round; None for a quarter of ``density * rows``.
        analysis: ``"sharp"``, or ``"paper"`` for Lemma 55 as stated, which needs a base epsilon of at most 1/2.

    Attributes:
        model_: the frozen :class:`~tacit.models.rule.VoteModel`.
        certificate_: what was spent, on what, by which theorem.
        classes_: the two classes.
        n_features_in_: number of columns seen by ``fit``.
        plan_: how the budget was divided.
    """

    def __init__(
        self,
        base: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        neighbouring: str = "replace_one",
        schema: Any = None,
        classes: Sequence[Any] | None = None,
        account: PrivacyAccount | None = None,
        random_state: int | None = None,
        rounds: int = 5,
        measure: str = "lazy_bregman",
        density: float = 0.5,
        learning_rate: float = 0.5,
        advantage: float = 0.2,
        sample_size: int | None = None,
        analysis: Analysis = "sharp",
    ) -> None:
        self.base = base
        self.epsilon = epsilon
        self.delta = delta
        self.neighbouring = neighbouring
        self.schema = schema
        self.classes = classes
        self.account = account
        self.random_state = random_state
        self.rounds = rounds
        self.measure = measure
        self.density = density
        self.learning_rate = learning_rate
        self.advantage = advantage
        self.sample_size = sample_size
        self.analysis = analysis

    @property
    def _is_foreign(self) -> bool:
        return not isinstance(self.base, PrivateClassifier)

    @property
    def takes_on_trust(self) -> bool:
        """Whether the base, or a learner inside it, is a foreign one, whose promise nobody verified."""
        return self._is_foreign or super().takes_on_trust

    def _inner(self) -> Sequence[Any]:
        return () if self._is_foreign else (self.base,)

    def _check_parameters(self, request: Request) -> None:
        if request.neighbouring is not REPLACE:
            raise RequestError(
                "neighbouring must be 'replace_one': drawing rows is analysed for a public number of rows"
            )
        if self._is_foreign and not all(hasattr(self.base, name) for name in ("with_budget", "declared_charge")):
            raise RequestError(
                f"{type(self.base).__name__} declares no charge: base must be a private classifier, or a foreign "
                "learner in an adapter of tacit.resampling.adapters"
            )
        check_integer("rounds", self.rounds)
        check_integer("sample_size", self.sample_size, optional=True)
        check_number("density", self.density, 0.0, 1.0)
        check_number("learning_rate", self.learning_rate, 0.0, 1.0)
        check_choice("measure", self.measure, MEASURES)
        check_number("advantage", self.advantage, 0.0, 0.5)
        check_choice("analysis", self.analysis, get_args(Analysis))
        if self._is_foreign and self.schema is None:
            raise RequestError("a foreign base needs a schema: it cannot find bounds in private")

    def _check_task(self, task: Task) -> None:
        check_two_classes(task, type(self).__name__)
        if task.schema is not None and task.schema.unit is not None:
            raise RequestError("drawn rows protect single rows: a schema with a unit is not supported")
        if task.public_rows is None:
            raise RequestError(
                f"{type(self).__name__} draws from a public number of rows, which there is not where a schema has a "
                "unit, or inside a learner that splits rows at random: boost that learner, by giving it as the base"
            )
        self._base_learner(self._plan(task), task)

    def _plan(self, task: Task) -> ResamplingPlan:
        """How the budget is divided over a public number of rows."""
        assert task.public_rows is not None
        n_rows, size = task.public_rows, whole(self.sample_size)
        if size is not None and size > n_rows:
            raise RequestError(f"sample_size must be at most the number of rows, {n_rows}, got {size}")
        delta = 0.0 if math.isinf(self.epsilon) else self.delta
        tested = self.measure == "smooth"
        return plan_resampling(
            self.epsilon, delta, max(1, n_rows), int(self.rounds), float(self.density), size, self.analysis, tested
        )

    def _planned_charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        if task.public_rows is not None:
            return [self._plan(task).reserved]
        if not allowance.is_private:
            return [NonPrivate()]
        return [most_reserved(allowance.epsilon, allowance.delta, self.rounds)]  # before the number of rows is known

    def _base_learner(self, plan: ResamplingPlan, task: Task) -> BaseLearner:
        """The base at the budget of a round, checked against what it declares."""
        if self._is_foreign:
            foreign: ForeignLearner = self.base.with_budget(plan.base)
            declared = foreign.declared_charge(REPLACE)
            self._check_declared(foreign.name, declared, plan.base)
            assert task.schema is not None
            encoder = RowEncoder.of(task.schema, intercept=True)
            label = Label(Stage.TRUSTED, foreign.name)
            return BaseLearner(declared, lambda vault: run_trusted(vault, foreign, encoder, task.label_index, label))
        task = replace(task, public_rows=plan.size)
        own: PrivateClassifier = clone(self.base)
        own.set_params(
            epsilon=plan.base.epsilon,
            delta=plan.base.delta,
            neighbouring=str(REPLACE),
            schema=task.schema,
            classes=None if task.schema is not None else list(task.label_index.names),
            account=None,
        )
        own._check_parameters(Request.of(plan.base.epsilon, plan.base.delta, REPLACE, None))
        own._check_task(task)
        allowance = Allowance.of(plan.base.epsilon, plan.base.delta)
        check_loudness(allowance, own.least_budget, type(own).__name__)
        charges = tuple(own._planned_charges(allowance, task))
        self._check_declared(type(own).__name__, charges, plan.base)
        return BaseLearner(charges, lambda vault: own._learn_from(vault, allowance, task))

    def _check_declared(self, name: str, charges: Sequence[Charge], budget: Cost) -> None:
        if not charges:
            raise RequestError(f"{name} declares no charge")
        if not math.isinf(budget.epsilon) and accountants.epsilon(charges, budget.delta) > budget.epsilon * (1 + 1e-6):
            raise RequestError(f"{name} declares more than the epsilon {budget.epsilon:.4g} that a round leaves for it")

    def _learn_from(self, vault: Vault, allowance: Allowance, task: Task) -> Model:
        del allowance
        plan = self.plan_ = self._plan(task)
        base = self._base_learner(plan, task)
        if self.measure == "smooth":
            return boost_tested(
                vault, base, plan, SmoothMeasure(float(self.advantage)), task.label_index, self.analysis
            )
        return boost_s(vault, base, plan, float(self.learning_rate), task.label_index, self.analysis)

    def _certify(self, request: Request, task: Task, reservation: Reservation, vault: Vault) -> Certificate:
        if not self._is_foreign:
            return super()._certify(request, task, reservation, vault)
        algorithm = f"{type(self).__name__} around {self.base.name}"
        return certified(self.account, request, reservation, vault, algorithm, task.schema, unverified=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
