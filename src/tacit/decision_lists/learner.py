"""DP-GreedyCover as a learner: from a task to a decision list (Bun, Fang)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.curator.rows import PrivateRows
from tacit.decision_lists.learn import learn_list, list_model
from tacit.decision_lists.literals import Candidates, candidates, check_enumerable, most_literals
from tacit.decision_lists.plan import ListBudget, Plan, plan_of
from tacit.decision_lists.tuning import TUNING, Tuning
from tacit.discovery.bounds import BOUNDS_SHARE
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder, TableEncoding
from tacit.errors import UNSPENT, TacitError
from tacit.learning.checks import check_choice, check_integer, check_number, whole
from tacit.learning.learner import Learner, Task
from tacit.learning.weights import sealed
from tacit.models.decision_list import AT_LEAST, BELOW, IS, IS_NOT, Condition, DecisionListModel
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.request import RequestError
from tacit.queries.covers.candidates import Conjunctions, TooManyCandidates

CONDITION = re.compile(r"^(?P<name>.+?)\s*(?P<test>>=|<|==|!=|\bis\s+not\b|\bis\b)\s*(?P<value>.+)$")
TESTS = {">=": AT_LEAST, "<": BELOW, "==": IS, "is": IS, "!=": IS_NOT, "is not": IS_NOT}


class FeatureError(TacitError):
    """A feature that cannot be read. Nothing was spent."""

    def __init__(self, feature: str, problem: str) -> None:
        super().__init__(f"feature {feature!r}: {problem}", UNSPENT)


def read_condition(text: str, feature: str, names: Sequence[str], encoders: Sequence[Encoder]) -> Condition:
    """One condition, ``"age >= 40"``, ``"sex is not Male"`` or ``"age is missing"``; refuses what it cannot read."""
    match = CONDITION.match(text.strip())
    if match is None:
        raise FeatureError(feature, f"{text!r} is not a condition; write 'column >= number' or 'column is value'")
    name, value = match["name"].strip(), match["value"].strip()
    test = TESTS[re.sub(r"\s+", " ", match["test"])]
    if name not in names:
        raise FeatureError(feature, f"there is no column {name!r}; known: {', '.join(names)}")
    column = list(names).index(name)
    encoder = encoders[column]
    if value == "missing":
        code = encoder.missing
    elif isinstance(encoder, NumericGrid):
        code = _threshold(encoder, value, feature)
    else:
        code = encoder.code_of(value)
        if value != "other" and code in (encoder.missing, getattr(encoder, "other", encoder.missing)):
            raise FeatureError(feature, f"{value!r} is not declared for column {name!r}")
    ordered = test in (AT_LEAST, BELOW)
    if ordered != (isinstance(encoder, NumericGrid) and value != "missing"):
        raise FeatureError(feature, f"column {name!r} is tested with {'is or is not' if ordered else '>= or <'} here")
    return Condition(column, test, code)


def _threshold(grid: NumericGrid, value: str, feature: str) -> int:
    try:
        number = float(value)
    except ValueError:
        raise FeatureError(feature, f"{value!r} is not a number") from None
    if not grid.lower < number < grid.upper:
        raise FeatureError(feature, f"{number:g} is not between the bounds {grid.lower:g} and {grid.upper:g}")
    return max(1, int(grid.encode(np.array([number]))[0]))


def feature_candidates(
    features: Sequence[str], names: Sequence[str], encoders: Sequence[Encoder], constant: bool
) -> Candidates:
    """The user's features, each a conjunction: ``"age >= 40 and sex is Male"``; refuses what it cannot read."""
    lines = [
        [read_condition(part, feature, names, encoders) for part in re.split(r"\s+and\s+", feature)]
        for feature in features
    ]
    conditions = list(dict.fromkeys(condition for line in lines for condition in line))
    cuts = {
        column: np.unique([c.code for c in conditions if c.feature == column and c.test in (AT_LEAST, BELOW)])
        for column, encoder in enumerate(encoders)
        if isinstance(encoder, NumericGrid)
    }
    maps = []
    truths: list[np.ndarray[tuple[int], np.dtype[np.bool_]]] = [np.zeros(0, np.bool_)] * len(conditions)
    for column, encoder in enumerate(encoders):
        mapping, codes = None, np.arange(encoder.n_codes)
        if isinstance(encoder, NumericGrid):
            where = np.asarray(cuts[column], np.int64)
            mapping = np.append(np.searchsorted(where, np.arange(encoder.cells), side="right"), len(where) + 1)
            codes = np.array([0, *where.tolist(), encoder.missing])
        maps.append(None if mapping is None else mapping.astype(np.int64))
        for place, condition in enumerate(conditions):
            if condition.feature == column:
                truths[place] = condition.holds(codes, encoder)
    width = max(len(line) for line in lines)
    members = np.full((len(lines) + constant, width), -1, np.int32)
    for row, line in enumerate(lines):
        members[row + constant, : len(line)] = [conditions.index(condition) for condition in line]
    where_literals = tuple(condition.feature for condition in conditions)
    return Candidates(tuple(maps), tuple(conditions), Conjunctions(where_literals, tuple(truths), members))


OBJECTIVES = ("coverage", "errors")
ANALYSES = ("sharp", "moments", "curve", "exact", "paper")

MOST_THRESHOLDS = 200  # not tuned: how many may be asked for


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
        candidates = self.candidates(task, task.encoding)
        plan, (most, _) = self.plan(self.request.allowance, task), self._n_steps(task)
        learned = learn_list(budget.curator, plan, candidates, self.objective == "coverage", budget.allowance.delta)
        names, least = task.label_index.names, self.tuning.least_support
        model = list_model(learned, candidates, names, task.encoding, least, most if independent else None)
        rules = sum(1 for conjunction in learned.conjunctions if candidates.conditions_of(conjunction))
        return replace(model, full=self.max_rules is not None and rules >= self.max_rules)

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
