"""Relabel (Algorithm 2) and RelabelAndLearn (Algorithm 3): the steps that the closure learners are made of.

Read with care. Algorithm 3 prints ``A(S)`` where its proof runs A on the *relabelled* S: so does this. It also outputs
the relabelled part V, which is private for D and W only; it is a step of proofs, and Algorithms 4 and 5 keep V to
themselves, as the learners here do. Algorithm 2 scores patterns on D; equation (17) writes S_i. Scores are errors:
fewer are likelier.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit.closure.concepts import ConceptSet
from tacit.closure.plan import StepPlan
from tacit.closure.search import Progress, Scored, completion_scores, own_errors
from tacit.curator.rows import PrivateRows
from tacit.curator.views.relabel import Candidates, Points, Relabel, scored_rows
from tacit.curator.views.view import Plan, Sample, open_view, rows_of_share
from tacit.encoding.order import FloatOrder
from tacit.encoding.table import TableEncoding
from tacit.estimators.classifier import PrivateClassifier, child_learner
from tacit.learning.learner import Learner, Task
from tacit.models.base import ClassModel, Model, of_classes
from tacit.privacy import accountants
from tacit.privacy.charges import BoundedRange
from tacit.privacy.label import Label
from tacit.privacy.request import Request, RequestError, check_noise_fits
from tacit.privacy.unit import Neighbouring
from tacit.theory.checks import Cost
from tacit.theory.closure.formula import TruthTable

TOLERANCE = 1e-6  # relative room for a child's calibration

WORTHWHILE, BISECTIONS = 0.98, 5
"""A child's budget is enlarged where at least a fiftieth of the step's would be left; in so many halvings."""


def errors_on(concepts: ConceptSet, public: bool) -> Callable[[Points], Scored]:
    """Candidates scored by their own errors (Example 5.2)."""

    def candidates(points: Points) -> Scored:
        patterns = concepts.on_points(points.codes, public)
        return Scored(patterns, own_errors(patterns, points.counts))

    return candidates


def completions_on(
    function: TruthTable, sets: Sequence[ConceptSet], public: bool, progress: Progress | None
) -> Callable[[Points], Scored]:
    """Candidates of the first set scored by equation (17); the others are the classes still to come."""

    def candidates(points: Points) -> Scored:
        own, *later = (concepts.on_points(points.codes, public) for concepts in sets)
        scores = completion_scores(function, points.said, own, later, points.counts, progress)
        return Scored(own, scores)

    return candidates


@dataclass(frozen=True, eq=False)
class Child:
    """A child learner with its budget, checked: it says what it costs before it runs."""

    learner: Learner
    cost: Cost
    plan: Plan

    @staticmethod
    def of(estimator: object, cost: Cost, neighbouring: Neighbouring, task: Task) -> Child:
        """Gives the learner of an estimator its budget and asks what it will charge; refuses one that declares more."""
        name = type(estimator).__name__
        if not isinstance(estimator, PrivateClassifier):
            raise RequestError(f"{name} declares no charge: a learner must be one of the private classifiers")
        request = Request.of(cost.epsilon, cost.delta, neighbouring, None)
        learner = child_learner(estimator, request, schema=task.schema)
        learner.check(task)
        check_noise_fits(request.allowance, learner.least_budget, name)
        plan = tuple(learner.charges(request.allowance, task))
        if cost.epsilon < float("inf") and accountants.epsilon(plan, cost.delta) > cost.epsilon * (1 + TOLERANCE):
            raise RequestError(f"{name} declares more than the epsilon {cost.epsilon:.4g} it was given")
        return Child(learner, cost, plan)

    def learn(self, rows: PrivateRows, task: Task) -> Model:
        """Runs on private rows, under their reservation."""
        return self.learner.learn(rows, self.learner.request.allowance, task)


def child_rows(plan: StepPlan, n_rows: int | None) -> int | None:
    """How many rows the child of a step gets, where the number of all rows is public."""
    if n_rows is None:
        return None
    scored = scored_rows(plan.scored_share, rows_of_share(plan.rate, n_rows))
    return scored if plan.draws is None else rows_of_share(plan.draws, scored)


def largest_child(make: Callable[[Cost], Child], plan: StepPlan) -> Child:
    """A child with as much epsilon as the step's total allows, for a sharp plan.

    Epsilons of the choice and of the child need not add up: composed by the accountants they cost less at a positive
    delta, and the child may spend the difference.
    """
    child = make(plan.child)
    delta, total = plan.child.delta, plan.span + plan.child.epsilon
    if delta == 0 or math.isinf(total) or plan.stated is not None:
        return child

    def fits(candidate: Child, room: float = 1.0) -> bool:
        return accountants.epsilon([BoundedRange(plan.span), *candidate.plan], delta) <= room * total

    low, high = plan.child.epsilon, min(2 * plan.child.epsilon, total)
    if not fits(child, WORTHWHILE):
        return child
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        larger = make(Cost(middle, delta))
        if fits(larger):
            child, low = larger, middle
        else:
            high = middle
    return child


@dataclass(frozen=True, eq=False)
class Step:
    """One relabelling and one child, ready to run: all views with their charges, made from public facts.

    The relabelling's ``models`` are filled in when they are known; ``draws`` are with replacement (the paper's
    learner).
    """

    relabel: Relabel
    draws: Sample | None
    child: Child

    @staticmethod
    def of(
        plan: StepPlan,
        child: Child,
        encoding: TableEncoding | FloatOrder,
        task: Task,
        candidates: Callable[[Points], Candidates],
        theorem: str,
        neighbouring: Neighbouring,
    ) -> Step:
        """Puts the views of a step together; :class:`ValueError` if one cannot be charged, as for too many draws."""
        draws = None
        inner = child.plan
        if plan.draws is not None:
            draws = Sample(plan.draws, task.label_index, child.plan, child.cost.delta, replacement=True)
            inner = tuple(charge for charge, _ in draws.charges(neighbouring))
        relabel = Relabel(
            encoding,
            task.label_index,
            (),
            candidates,
            plan.relabel_epsilon,
            plan.span,
            inner,
            theorem,
            plan.scored_share,
            plan.stated,
            plan.public,
        )
        return Step(relabel, draws, child)

    def charges(self, neighbouring: Neighbouring) -> Plan:
        """What the step costs its rows."""
        return tuple(charge for charge, _ in self.relabel.charges(neighbouring))

    def run(self, rows: PrivateRows, models: Sequence[ClassModel], task: Task, label: Label) -> ClassModel:
        """RelabelAndLearn: relabels inside the curator, and lets the child learn from the relabelled rows."""
        fields = {name: getattr(self.relabel, name) for name in self.relabel.__dataclass_fields__}
        (view,) = open_view(rows, Relabel(**{**fields, "models": tuple(models)}), label)
        if self.draws is not None:
            (view,) = open_view(view, self.draws, label.with_text(f"{label}: rows drawn with replacement"))
        return of_classes(self.child.learn(view, task))
