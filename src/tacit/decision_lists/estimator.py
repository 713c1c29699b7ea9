"""`DecisionListClassifier`: private decision lists with a scikit-learn face."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

from sklearn.utils import Tags

from tacit.curator.budget import Budget
from tacit.decision_lists.features import FeatureError, feature_candidates
from tacit.decision_lists.learn import learn_list, list_model
from tacit.decision_lists.literals import Candidates, candidates, check_enumerable, most_literals
from tacit.decision_lists.plan import ListBudget, Plan, plan_of
from tacit.discovery.bounds import BOUNDS_SHARE
from tacit.encoding.table import TableEncoding
from tacit.estimators.base import Task
from tacit.estimators.checks import check_choice, check_integer, check_number, whole
from tacit.estimators.classifier import PrivateClassifier
from tacit.models.decision_list import DecisionListModel
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.request import Request, RequestError
from tacit.queries.covers.candidates import TooManyCandidates
from tacit.theory.decision_lists import paper_learner_rows

OBJECTIVES = ("coverage", "errors")
ANALYSES = ("sharp", "moments", "curve", "exact", "paper")

MOST_THRESHOLDS = 200


class DecisionListClassifier(PrivateClassifier):
    """A private decision list: short, readable, with released support and precision for every rule.

    DP-GreedyCover of Bun and Fang: rules are chosen one after the other by the exponential mechanism, and each takes
    away the rows it covers. A row is paid for until it is covered, so the whole choice costs about as much as a few
    steps of it.

    Args:
        epsilon: privacy parameter, positive; ``inf`` for no privacy.
        delta: additive slack of the guarantee, in [0, 1); 0 asks for pure differential privacy.
        neighbouring: ``"add_or_remove_one"`` (the number of rows is private) or ``"replace_one"``.
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file. None: all columns are numeric, and their
            bounds are found with 5 % of the budget.
        classes: the classes, when no schema names them; None for 0 and 1.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this fit alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.
        k: the most conditions in a rule.
        max_rules: how many rules are chosen at most; None for as many as there are candidates (the paper's schedule).
        thresholds: how many evenly spaced thresholds a numeric column has at most; some more stand near its lower end.
        features: candidates to use instead, in words: ``["age >= 40 and sex is Male", ...]``.
        objective: ``"coverage"`` rewards rows that a rule gets right, and adds none where nothing is gained;
            ``"errors"`` is the paper's score, for data that some list fits without error: minus the rows it gets
            wrong.
        analysis: how the choice is accounted for: ``"sharp"`` (the cheapest that applies), ``"moments"``, ``"curve"``,
            ``"exact"`` or ``"paper"``, as :class:`~tacit.queries.covers.charges.Accounting` explains.
        counts_share: share of epsilon for the rows each rule decides, in [0, 1); 0 releases none.

    Attributes:
        model_: the frozen :class:`~tacit.models.decision_list.DecisionListModel`; ``print(model_.to_text())``.
        certificate_: what was spent, on what, by which theorem.
        classes_: the classes.
        n_features_in_: number of columns seen by ``fit``.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        neighbouring: str = "add_or_remove_one",
        schema: Any = None,
        classes: Sequence[Any] | None = None,
        account: PrivacyAccount | None = None,
        random_state: int | None = None,
        k: int = 2,
        max_rules: int | None = 8,
        thresholds: int = 16,
        features: Sequence[str] | None = None,
        objective: str = "coverage",
        analysis: str = "sharp",
        counts_share: float = 0.2,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbouring = neighbouring
        self.schema = schema
        self.classes = classes
        self.account = account
        self.random_state = random_state
        self.k = k
        self.max_rules = max_rules
        self.thresholds = thresholds
        self.features = features
        self.objective = objective
        self.analysis = analysis
        self.counts_share = counts_share

    @classmethod
    def from_theorem(
        cls, alpha: float, beta: float, n: int, epsilon: float = 1.0, delta: float = 1e-6, **parameters: Any
    ) -> Self:
        """The paper's learner: with probability ``1 - beta`` its true error is at most ``alpha``, by Theorem 3.5.

        With ``beta / 2`` for each of its two steps, and Occam's bound for a finite class in place of Theorem A.6
        (:func:`~tacit.theory.decision_lists.paper_learner_rows`).

        Args:
            alpha: the error, in (0, 1).
            beta: the probability of failure, in (0, 1).
            n: the declared number of rows; they must come from a decision list over the candidates.
            epsilon: privacy parameter.
            delta: privacy parameter.
            parameters: further parameters of the estimator; a schema (or features) is needed to count the candidates.
                Not ``objective``, ``max_rules`` and ``counts_share``, which the theorem settles.

        Raises:
            RequestError: if ``n`` is below the theorem's sample size at the strength of choices that the budget buys
                under this relation and analysis; says what it is.
        """
        settled = sorted({"objective", "max_rules", "counts_share"} & set(parameters))
        if settled:
            raise RequestError(f"{settled[0]} is settled by the theorem: leave it out")
        estimator = cls(
            **{
                "epsilon": epsilon,
                "delta": delta,
                "k": 1,
                "max_rules": None,
                "objective": "errors",
                "analysis": "paper",
                "counts_share": 0.0,
                **parameters,
            }
        )
        request = Request.of(epsilon, delta, estimator.neighbouring, estimator.random_state)
        estimator._check_parameters(request)
        task = estimator._declared_task()
        assert task.encoding is not None
        count = len(estimator._candidates(task, task.encoding).conjunctions)
        strength = estimator._plan(request.allowance, task).steps[0].scale
        try:
            rows = paper_learner_rows(count, alpha, beta, strength)
        except ValueError as error:
            raise RequestError(f"{error}") from None
        if n < rows:
            raise RequestError(f"Theorem 3.5 asks for {math.ceil(rows)} rows for this alpha, beta and budget, got {n}")
        return estimator

    # What the base class asks for.

    def _check_parameters(self, request: Request) -> None:
        check_integer("k", self.k)
        check_integer("max_rules", self.max_rules, optional=True)
        check_integer("thresholds", self.thresholds, 1, MOST_THRESHOLDS)
        check_choice("objective", self.objective, OBJECTIVES)
        check_choice("analysis", self.analysis, ANALYSES)
        check_number("counts_share", self.counts_share, 0.0, 1.0, with_low=True)
        if self.features is not None and (isinstance(self.features, str) or not list(self.features)):
            raise RequestError("features must be a list of conjunctions, such as ['age >= 40 and sex is Male']")
        if self.analysis == "paper" and request.delta == 0:
            raise RequestError("the paper's bound needs a positive delta; use analysis='sharp'")

    def _check_task(self, task: Task) -> None:
        if task.encoding is not None:
            self._candidates(task, task.encoding)
        elif self.features is not None:
            raise RequestError("features in words need a schema that declares their columns")
        else:
            literals = len(task.names) * most_literals(None, int(self.thresholds))
            try:
                check_enumerable(literals, int(self.k), task.label_index.n_classes)
            except TooManyCandidates as error:
                raise RequestError(error.message) from None
        allowance = Request.of(self.epsilon, self.delta, self.neighbouring, None).allowance
        self._planned_charges(allowance, task)

    def _planned_charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        if not allowance.is_private:
            return [allowance.whole]
        return list(self._plan(allowance, task).charges)

    def _learn(self, budget: Budget, task: Task) -> DecisionListModel:
        assert task.encoding is not None
        whole = Request.of(self.epsilon, self.delta, self.neighbouring, None).allowance
        chosen = self._candidates(task, task.encoding)
        plan = self._plan(whole, task)
        learned = learn_list(budget.curator, plan, chosen, self.objective == "coverage", budget.allowance.delta)
        return list_model(learned, chosen, task.label_index.names, task.encoding)

    # Candidates and plan.

    def _candidates(self, task: Task, encoding: TableEncoding) -> Candidates:
        """The candidates; the constant is one of them unless counts say what it says."""
        constant = self.objective == "errors" or float(self.counts_share) == 0
        try:
            if self.features is not None:
                return feature_candidates(list(self.features), encoding.names, encoding.encoders, constant)
            k, thresholds = int(self.k), int(self.thresholds)
            return candidates(encoding.encoders, k, thresholds, task.label_index.n_classes, constant)
        except (TooManyCandidates, FeatureError) as error:
            raise RequestError(error.message) from None

    def _declared_task(self) -> Task:
        schema = self._declared_schema()
        if schema is None:
            raise RequestError("the number of candidates follows from a schema: declare one")
        return Task(schema, schema.features, self._label_index(schema), TableEncoding.of(schema))

    def _n_steps(self, task: Task) -> tuple[int, bool]:
        """How many rules are chosen at most, a public number, and whether the constant is sure to be among them."""
        errors, most = self.objective == "errors", whole(self.max_rules)
        if self.features is not None:
            listed = len(list(self.features)) + errors
            return min(most or listed, listed), errors and listed <= (most or listed)
        if most is not None:
            return most, False
        encoding = task.encoding or (None if task.schema is None else TableEncoding.of(task.schema))
        if encoding is None:
            raise RequestError("max_rules=None takes as many rules as candidates, which follow from a schema")
        return len(self._candidates(task, encoding).conjunctions), errors

    def _plan(self, allowance: Allowance, task: Task) -> Plan:
        request = Request.of(self.epsilon, self.delta, self.neighbouring, None)
        n_steps, ends = self._n_steps(task)
        budget = ListBudget(
            allowance.epsilon,
            allowance.delta,
            request.neighbouring,
            n_steps,
            self.objective == "errors",
            self.analysis,
            float(self.counts_share),
            () if task.schema is not None or not allowance.is_private else (allowance.charge(BOUNDS_SHARE),),
            1 if task.schema is None or task.schema.unit is None else task.schema.unit.max_rows,
            ending=float(self.counts_share) == 0 and not ends,
        )
        try:
            return plan_of(budget)
        except OverflowError:
            raise RequestError(
                f"epsilon {allowance.epsilon:g} is more than the analysis of a list's choices can compute: take "
                "a smaller one, or inf for no privacy"
            ) from None
        except ValueError as error:
            raise RequestError(f"{error}") from None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.classes is not None and len(self.classes) > 2  # classes are declared
        return tags
