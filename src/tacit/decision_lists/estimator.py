"""`DecisionListClassifier`: the scikit-learn estimator of private decision lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from tacit.decision_lists.learner import DecisionListLearner
from tacit.encoding.table import TableEncoding
from tacit.estimators.base import learner_of, request_of
from tacit.estimators.classes import CommonParameters
from tacit.estimators.classifier import PrivateClassifier
from tacit.learning.declared import classes_declared
from tacit.learning.learner import Task
from tacit.privacy.request import Request, RequestError
from tacit.theory.decision_lists import paper_learner_rows


@dataclass(eq=False, repr=False)
class DecisionListClassifier(CommonParameters, PrivateClassifier):
    """A private decision list: short, readable, with released support and precision for every rule.

    DP-GreedyCover of Bun and Fang: rules are chosen one after the other by the exponential mechanism, and each takes
    away the rows it covers. A row is paid for until it is covered, so the whole choice costs about as much as a few
    steps of it.

    Args:
        epsilon, delta, neighbouring, schema, account, random_state, dtypes: as in
            :class:`~tacit.RandomTreesClassifier`.
        classes: the classes, when no schema names them; ``"public"`` takes them from y. None: labels must be
            booleans; others are refused.
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

    Example:
        >>> from tacit import DecisionListClassifier
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(4000)
        >>> model = DecisionListClassifier(epsilon=1.0, delta=1e-6, schema=schema, max_rules=3).fit(X, y)
        >>> print(len(model.model_.rules) - 1 <= 3)
        True
    """

    k: int = DecisionListLearner.k
    max_rules: int | None = DecisionListLearner.max_rules
    thresholds: int = DecisionListLearner.thresholds
    features: Sequence[str] | None = None
    objective: str = DecisionListLearner.objective
    analysis: str = DecisionListLearner.analysis
    counts_share: float = DecisionListLearner.counts_share
    dtypes: str | None = None

    @classmethod
    def from_theorem(
        cls, alpha: float, beta: float, n: int, epsilon: float = 1.0, delta: float = 1e-6, **parameters: Any
    ) -> Self:
        """The paper's learner: with probability ``1 - beta`` its true error is at most ``alpha``, by Theorem 3.5.

        The rows that it needs are :func:`~tacit.theory.decision_lists.paper_learner_rows`.

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
        learner = estimator.make_learner(request_of(estimator))
        declared = classes_declared(*estimator.declared(), (), estimator.algorithm)
        if declared.schema is None:
            raise RequestError("the number of candidates follows from a schema: declare one")
        encoding = TableEncoding.of(declared.schema)
        task = Task(declared.schema, declared.schema.features, declared.label, encoding)
        count = len(learner.candidates(task, encoding).conjunctions)
        strength = learner.plan(learner.request.allowance, task).steps[0].scale
        try:
            rows = paper_learner_rows(count, alpha, beta, strength)
        except ValueError as error:
            raise RequestError(f"{error}") from None
        if n < rows:
            raise RequestError(f"Theorem 3.5 asks for {math.ceil(rows)} rows for this alpha, beta and budget, got {n}")
        return estimator

    @property
    def tells_several_classes(self) -> bool:
        return self.classes is not None and len(self.classes) > 2

    def make_learner(self, request: Request) -> DecisionListLearner:
        return learner_of(DecisionListLearner, self, request)
