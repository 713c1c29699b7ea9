"""DP-GreedyCover as a learner: from a task to a decision list (Bun, Fang)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.curator.rows import PrivateRows
from tacit.decision_lists.features import FeatureError, feature_candidates
from tacit.decision_lists.learn import learn_list, list_model
from tacit.decision_lists.literals import Candidates, candidates, check_enumerable, most_literals
from tacit.decision_lists.plan import ListBudget, Plan, plan_of
from tacit.decision_lists.tuning import TUNING, Tuning
from tacit.discovery.bounds import BOUNDS_SHARE
from tacit.encoding.table import TableEncoding
from tacit.learning.checks import check_choice, check_integer, check_number, whole
from tacit.learning.learner import Learner
from tacit.learning.sealing import sealed
from tacit.learning.task import Task
from tacit.models.decision_list import DecisionListModel
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.request import RequestError
from tacit.queries.covers.candidates import TooManyCandidates

OBJECTIVES = ("coverage", "errors")
ANALYSES = ("sharp", "moments", "curve", "exact", "paper")

MOST_THRESHOLDS = 200
"""Not tuned: how many may be asked for."""


@dataclass(frozen=True, eq=False)
class DecisionListLearner(Learner):
    """DP-GreedyCover: what :class:`~tacit.DecisionListClassifier` says of itself holds here."""

    k: int = TUNING.k
    max_rules: int | None = TUNING.max_rules
    thresholds: int = TUNING.thresholds
    features: Sequence[str] | None = None
    objective: str = "coverage"
    analysis: str = "sharp"
    counts_share: float = TUNING.counts_share
    tuning: Tuning = TUNING

    name = "DecisionListClassifier"
    streams = True
    joins = True

    def __post_init__(self) -> None:
        check_integer("k", self.k)
        check_integer("max_rules", self.max_rules, optional=True)
        check_integer("thresholds", self.thresholds, 1, MOST_THRESHOLDS)
        check_choice("objective", self.objective, OBJECTIVES)
        check_choice("analysis", self.analysis, ANALYSES)
        check_number("counts_share", self.counts_share, 0.0, 1.0, with_low=True)
        if self.features is not None and (isinstance(self.features, str) or not list(self.features)):
            raise RequestError("features must be a list of conjunctions, such as ['age >= 40 and sex is Male']")
        if self.analysis == "paper" and self.request.delta == 0:
            raise RequestError("the paper's bound needs a positive delta; use analysis='sharp'")

    def check(self, task: Task) -> None:
        if task.encoding is not None:
            self.candidates(task, task.encoding)
        elif self.features is not None:
            raise RequestError("features in words need a schema that declares their columns")
        else:
            literals = len(task.names) * most_literals(None, int(self.thresholds))
            try:
                check_enumerable(literals, int(self.k), task.label_index.n_classes)
            except TooManyCandidates as error:
                raise RequestError(error.message) from None
        self.charges(self.request.allowance, task)

    def charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        if not allowance.is_private:
            return [allowance.whole]
        return list(self.plan(allowance, task).charges)

    def learn(self, rows: PrivateRows, allowance: Allowance, task: Task) -> DecisionListModel:
        # A bound on new rows needs independent rows, and candidates that no row had a say in.
        independent = task.schema is not None and task.schema.unit is None and task.undeclared is None
        budget, task = sealed(rows, allowance, task)
        assert task.encoding is not None
        chosen = self.candidates(task, task.encoding)
        plan, (most, _) = self.plan(self.request.allowance, task), self._n_steps(task)
        learned = learn_list(budget.curator, plan, chosen, self.objective == "coverage", budget.allowance.delta)
        names, least = task.label_index.names, self.tuning.least_support
        return list_model(learned, chosen, names, task.encoding, least, most if independent else None)

    # Candidates and plan.

    def candidates(self, task: Task, encoding: TableEncoding) -> Candidates:
        """The candidates; the constant is one of them unless counts say what it says."""
        constant = self.objective == "errors" or float(self.counts_share) == 0
        try:
            if self.features is not None:
                return feature_candidates(list(self.features), encoding.names, encoding.encoders, constant)
            k, thresholds = int(self.k), int(self.thresholds)
            return candidates(encoding.encoders, k, thresholds, task.label_index.n_classes, constant)
        except (TooManyCandidates, FeatureError) as error:
            raise RequestError(error.message) from None

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
        return len(self.candidates(task, encoding).conjunctions), errors

    def plan(self, allowance: Allowance, task: Task) -> Plan:
        n_steps, ends = self._n_steps(task)
        rows_per_unit = 1 if task.schema is None or task.schema.unit is None else task.schema.unit.max_rows
        if rows_per_unit > 1 and allowance.delta == 0 and allowance.is_private:
            raise RequestError(
                f"a decision list that protects units of {rows_per_unit} rows needs a positive delta: give one such as "
                "1e-6, or let one row of a unit count (max_rows = 1)"
            )
        budget = ListBudget(
            allowance.epsilon,
            allowance.delta,
            self.request.neighbouring,
            n_steps,
            self.objective == "errors",
            self.analysis,
            float(self.counts_share),
            () if task.schema is not None or not allowance.is_private else (allowance.charge(BOUNDS_SHARE),),
            rows_per_unit,
            ending=float(self.counts_share) == 0 and not ends,
            tuning=self.tuning,
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
