"""What the two closure learners share: parameters, the public side of a fit, bounds, repetition."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tacit.closure.classes import ConceptClass
from tacit.closure.concepts import MOST_CANDIDATES, MOST_PATTERNS, ConceptSet, concept_sets
from tacit.closure.finite import coarse_encoding
from tacit.closure.plan import SLACK, StepPlan, free_plan, paper_plan, sharp_plan, within
from tacit.closure.raw import check_single_rows
from tacit.closure.relabel import Child, largest_child
from tacit.curator.choose import select_member
from tacit.curator.rows import PrivateRows
from tacit.curator.views.view import Parts, Plan, charge_of, open_view
from tacit.discovery.bounds import BOUNDS_SHARE, find_bounds
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import TableEncoding
from tacit.errors import message_of
from tacit.learning.checks import check_choice, check_integer, check_number, check_two_classes, whole
from tacit.learning.fit import too_few_rows
from tacit.learning.learner import Learner, Task
from tacit.models.base import ClassModel
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import BoundedRange, Charge, NonPrivate
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.schema import NumericColumn, Schema
from tacit.theory.checks import Cost
from tacit.theory.closure.privacy import Score

ANALYSES: tuple[str, ...] = ("sharp", "paper")
PATTERNS = ("auto", "public", "sample")


@dataclass(frozen=True)
class Setting:
    """The public side of a fit, once the columns are known; ``calibrate=False`` when plans are only checked."""

    task: Task
    target: Cost
    neighbouring: Neighbouring
    calibrate: bool = True

    def child(self, learner: object, plan: StepPlan) -> Child:
        """A learner with its share of a step; as large as accounting allows, unless this is only a check."""

        def make(cost: Cost) -> Child:
            return Child.of(learner, cost, self.neighbouring, self.task)

        return largest_child(make, plan) if self.calibrate else make(plan.child)


@dataclass(frozen=True, eq=False)
class ClosureLearner(Learner):
    """Base of the learners made of other learners. A subclass says what one run is and what it costs.

    The paper's letters: the sample is split into parts ``S_i``, one per concept (Algorithm 5), and each of these into
    ``D_i``, whose rows score patterns and, relabelled, are learned from by ``A_i`` (``scored_share``), and ``T_i``,
    whose rows define patterns only. Algorithms 4 and 5 output what the learners learned; Algorithm 3, which is of their
    proofs, also a part ``V`` of ``T``, relabelled. Here no part and no pattern is released, only what ``A_i`` releases;
    where concepts are listed in public and there are no learners, the concept itself is.
    """

    # `bins`, `max_patterns`, `relabel_share`, `patterns`, `analysis`, `repetitions`, `declared_rows`: as in the
    # estimators
    bins: int = 32
    max_patterns: int = MOST_PATTERNS
    relabel_share: float = 0.5
    patterns: str = "auto"
    analysis: str = "sharp"
    repetitions: int = 1
    declared_rows: int | None = None

    analyses: ClassVar[tuple[str, ...]] = ANALYSES
    """The analyses there are."""

    theorem: ClassVar[str]
    """What the entries of the parts say, where there are several runs."""

    # What a subclass says.

    @abstractmethod
    def run(self, setting: Setting) -> tuple[Plan, Callable[[PrivateRows], ClassModel]]:
        """The charges of one run at ``setting.target``, and the run; raises for public mistakes only."""

    @property
    def inner(self) -> Sequence[Any]:
        """The estimators that it is made of."""
        return ()

    @property
    def least_rows_of_a_run(self) -> int:
        """The smallest number of rows that leaves every part something to learn from."""
        return 1

    @property
    def least_rows(self) -> int:
        return self.least_rows_of_a_run * int(self.repetitions)

    @property
    def is_raw(self) -> bool:
        """Whether it takes columns as they are, so that bounds need be neither declared nor found."""
        return False

    @property
    def takes_on_trust(self) -> bool:
        return any(getattr(inner, "takes_on_trust", False) for inner in self.inner)

    # Checks.

    def __post_init__(self) -> None:
        check_integer("bins", self.bins, 2)
        check_integer("max_patterns", self.max_patterns, 1, MOST_CANDIDATES)
        check_integer("repetitions", self.repetitions)
        check_number("relabel_share", self.relabel_share, 0.0, 1.0)
        check_integer("declared_rows", self.declared_rows, optional=True)
        check_choice("analysis", self.analysis, self.analyses)
        check_choice("patterns", self.patterns, PATTERNS)
        if self.analysis == "paper" and self.request.neighbouring is not Neighbouring.REPLACE_ONE:
            raise RequestError(
                "analysis='paper' is for neighbouring='replace_one', the relation the paper proves it for"
            )
        if self.analysis == "paper" and self.patterns == "public":
            raise RequestError(
                "analysis='paper' uses the patterns of the sample: patterns='public' is not its algorithm"
            )

    def check(self, task: Task) -> None:
        declared, rows = whole(self.declared_rows), task.public_rows
        if declared is not None and declared < self.least_rows:
            raise too_few_rows(self, declared)
        check_two_classes(task, self.name)
        check_single_rows(task, self.request.neighbouring)
        if declared is not None and rows is not None and declared < rows:
            raise RequestError(f"declared_rows is {declared}, and there are {rows} rows: declare as many")
        target, _ = self._targets(self.request.allowance, task)
        try:
            self.run(self._setting(self._known(task), target, calibrate=False))
        except RequestError:
            raise
        except OverflowError:  # of exp(epsilon)
            raise RequestError(
                f"epsilon={target.epsilon:g} is beyond what its analysis computes with: give less"
            ) from None
        except ValueError as error:
            raise RequestError(message_of(error)) from None

    # The budget.

    def _targets(self, allowance: Allowance, task: Task) -> tuple[Cost, Allowance | None]:
        """What the runs may spend, and what finds bounds."""
        if task.schema is not None or not task.names or self.is_raw:
            return Cost(allowance.epsilon, allowance.delta if allowance.is_private else 0.0), None
        if not allowance.is_private:
            return Cost(math.inf, 0.0), allowance
        bounds = Allowance.of(allowance.epsilon * BOUNDS_SHARE, allowance.delta / 2)
        return Cost(allowance.epsilon * (1 - BOUNDS_SHARE), allowance.delta / 2), bounds

    def charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        if not allowance.is_private:
            return [NonPrivate()]
        target, bounds = self._targets(allowance, task)
        if self.repetitions > 1 or not task.names:  # without columns the plan is not known, but its sum is
            plan: Plan = (charge_of(Cost(target.epsilon * (1 - SLACK), target.delta)),)
        else:
            plan, _ = self.run(self._setting(self._known(task), target))
        return list(plan) if bounds is None else [bounds.whole, *plan]

    def _known(self, task: Task) -> Task:
        """A task to plan with: with columns that are declared, unless none need be."""
        return task if self.is_raw and task.schema is None else _with_schema(task)

    def _setting(self, task: Task, target: Cost, calibrate: bool = True) -> Setting:
        """The public side of one run; of several, each on a random part, nobody knows how many rows they have."""
        task = task if self.repetitions == 1 else replace(task, public_rows=None)
        return Setting(task, within(target), self.request.neighbouring, calibrate)

    def _step_plan(self, target: Cost, neighbouring: Neighbouring, public: bool, score: Score) -> StepPlan:
        """How one relabelling and one child share a budget."""
        if math.isinf(target.epsilon):
            return free_plan(public)
        if self.analysis == "paper":
            return paper_plan(target, neighbouring)
        return sharp_plan(target, neighbouring, float(self.relabel_share), public, score)

    def _sets(self, classes: Sequence[ConceptClass], setting: Setting) -> list[ConceptSet]:
        """The classes over one coarse encoding of all their columns."""
        columns = list(dict.fromkeys(column for declared in classes for column in declared.columns))
        encoding = coarse_encoding(setting.task, columns, int(self.bins))
        # a number that nobody can check bounds nothing: patterns beyond it would stop a fit that is paid for
        checked = None if setting.task.public_rows is None else whole(self.declared_rows)
        return concept_sets(classes, encoding, int(self.max_patterns), checked)

    def _is_public(self, sets: Sequence[ConceptSet]) -> bool:
        if self.analysis == "paper" or self.patterns == "sample":
            return False
        listable = all(concepts.is_public for concepts in sets)
        if self.patterns == "public" and not listable:
            raise RequestError("patterns='public' needs classes that can be listed on their cells: use fewer bins")
        return listable

    # The fit.

    def learn(self, rows: PrivateRows, allowance: Allowance, task: Task) -> ClassModel:
        target, bounds_allowance = self._targets(allowance, task)
        if bounds_allowance is not None:
            bounds = find_bounds(rows, task.names, task.label_index, bounds_allowance, 1.0)
            task = _with_schema(task, bounds)
        setting = self._setting(task, target)
        plan, run = self.run(setting)
        return run(rows) if self.repetitions == 1 else self._best_of(rows, setting, plan, run)

    def _best_of(
        self, rows: PrivateRows, setting: Setting, plan: Plan, run: Callable[[PrivateRows], ClassModel]
    ) -> ClassModel:
        """Beta-boosting (remark 7.4): runs on disjoint parts, and the best of them by errors on one more part."""
        target, label_index = setting.target, setting.task.label_index
        private = not math.isinf(target.epsilon)
        # slightly less than a run may cost, so that the parts' plans differ and one charge stands for all of them
        choice: Charge = BoundedRange(target.epsilon * (1 - SLACK)) if private else NonPrivate()
        children = (*((plan,) * int(self.repetitions)), (choice,))
        parts = Parts(label_index, children, target.delta, inside=self.theorem)
        *runs, last = open_view(
            rows, parts, Label(Stage.ROWS, "runs on disjoint parts, and a part to choose the best on")
        )
        models = [run(part) for part in runs]
        return models[select_member(last, models, label_index, choice, Label(Stage.SELECTION, "the best of the runs"))]


def _with_schema(task: Task, bounds: dict[str, tuple[float, float]] | None = None) -> Task:
    """A task whose columns are declared: by the schema, by bounds that were found, or by any bounds to plan with."""
    if task.schema is not None and task.encoding is not None:
        return task
    if task.schema is not None:
        return replace(task, encoding=TableEncoding.of(task.schema))
    ranges = bounds or dict.fromkeys(task.names, (0.0, 1.0))
    schema = Schema({name: NumericColumn(*ranges[name]) for name in task.names})
    encoding = TableEncoding(task.names, tuple(NumericGrid(*ranges[name]) for name in task.names))
    return replace(task, schema=schema, encoding=encoding)
