"""What a decision list spends and on what: the steps of its cover, and the counts of its rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from tacit.arrays import Ints
from tacit.decision_lists.tuning import TUNING, PureStages, Tuning
from tacit.privacy.calibration import calibrate
from tacit.privacy.charges import Charge, Laplace, NonPrivate
from tacit.privacy.unit import Neighbouring
from tacit.queries.covers.charges import Accounting, cover_charge
from tacit.queries.covers.cover import CoverStep, ScoredStep, Step
from tacit.theory.em_cover import Shifts

UNIT = 64  # not tuned: integer units of a row that a rule gets wrong

LAST = np.int64(-(10**12))
"""The score of every rule once a list is as long as it may be: "no rule", with score 0, is chosen."""


@dataclass(frozen=True)
class PureFirst:
    """``right - penalty * wrong - need`` rows, by a penalty that falls by one stage for every "no rule".

    A row that a rule gets wrong counts :data:`UNIT`, one that it gets right that over the penalty; in a pure stage
    those beyond a ``knee`` count by the penalty ``beyond``, so that of large rules the purest is the best. The stage of
    a step follows from how many rules were chosen before, which is released: as long as there are rules that pass a
    stage they are taken, and one step without any ends it. After the pure stages the penalty follows the step alone.

    A row moves the score of a rule that covers it by ``-UNIT``, or by at most ``UNIT / penalty``, whatever
    the others do: the property of Lemma A.1, with the smallest penalty that the step can have.
    """

    step: int  # which step this is, from 0 on
    most: int  # rules that a list may have
    pure: tuple[int, ...]  # penalties of the pure stages
    penalty: float  # after them
    need: int  # rows by which a rule of a pure stage must gain, a released or public number
    knee: int = 0  # rows of a rule of a pure stage beyond which one more counts by another penalty, such a number too
    beyond: int = 0  # that penalty; that of the stage where it is larger

    def _penalty(self, stage: int) -> float:
        return self.pure[stage] if stage < len(self.pure) else self.penalty

    def _reward(self, stage: int) -> int:
        return max(1, round(UNIT / self._penalty(stage)))

    @property
    def shifts(self) -> Shifts:
        """What one row can do to the score of a rule that covers it, at any stage that the step can be in."""
        return Shifts(-float(UNIT), float(max(self._reward(stage) for stage in range(self.step + 1))))

    def scores(self, counts: Ints, rules: Sequence[tuple[int, int]]) -> Ints:
        """Shape ``(conjunctions, classes)``."""
        if len(rules) >= self.most:
            return np.full(counts.shape, LAST)
        stage = self.step - len(rules)  # as many steps chose no rule
        reward = self._reward(stage)
        wrong = counts.sum(axis=1, keepdims=True) - counts
        points: Ints = reward * counts - UNIT * wrong
        if stage < len(self.pure):
            points -= reward * self.need
            further = max(1, round(UNIT / max(self.beyond, self.pure[stage])))
            points -= (reward - further) * np.maximum(counts - self.knee, 0)
        return points


NO_STAGES = PureStages(0.0, (), 0.0)


@dataclass(frozen=True)
class ListBudget:
    """Everything that decides how a budget is spent; all of it public."""

    epsilon: float  # `epsilon`, `delta`: the budget
    delta: float
    neighbouring: Neighbouring  # the relation
    n_steps: int  # how many rules are chosen at most
    errors_only: bool  # the paper's score, minus the errors, at one strength; else the score that rewards coverage
    analysis: str  # `"sharp"` (the cheapest that applies) or the name of an `Accounting`
    counts_share: float  # share of epsilon for the counts of the rules; 0 for none
    fixed: tuple[Charge, ...] = ()  # what else is spent under this budget
    rows_per_unit: int = 1  # rows that one protected unit may hold
    ending: bool = False  # whether a last step chooses what the constant says: where neither counts nor another step do
    tuning: Tuning = TUNING  # the numbers of the learner


@dataclass(frozen=True)
class Plan:
    """How a budget is spent."""

    steps: tuple[Step, ...]  # the steps of the cover
    accounting: Accounting  # which analysis its charge stands on
    cover: Charge  # its charge
    counts: Charge | None  # the charge of the counts; None if they are not released
    fixed: tuple[Charge, ...]  # what else is spent
    # the charge of the number of rows, for rules that must gain a share of them; None if none must
    rows: Charge | None = None
    stages: PureStages = NO_STAGES  # what says that share, and that of the knee

    @property
    def charges(self) -> tuple[Charge, ...]:
        """All of it."""
        others = [charge for charge in (self.rows, self.counts) if charge is not None]
        return (*self.fixed, self.cover, *others)

    def steps_for(self, n_rows: float) -> tuple[Step, ...]:
        """The steps for a released number of rows: what a rule must gain moves no score of a row."""
        need, knee = (max(0, round(share * n_rows)) for share in (self.stages.gain, self.stages.knee))
        return tuple(
            replace(step, family=replace(step.family, need=need, knee=knee, beyond=self.stages.beyond))
            if isinstance(step, ScoredStep) and isinstance(step.family, PureFirst)
            else step
            for step in self.steps
        )


def pure_stages(budget: ListBudget) -> PureStages:
    """The stages for pure rules.

    None for the paper's score, where privacy is pure or a unit holds several rows: each step is then paid in full.
    """
    if budget.errors_only or budget.rows_per_unit > 1 or (budget.delta == 0 and not math.isinf(budget.epsilon)):
        return NO_STAGES
    return next(stages for stages in budget.tuning.pure if budget.epsilon >= stages.epsilon)


def steps_at(strength: float, budget: ListBudget, pure: tuple[int, ...] = ()) -> tuple[Step, ...]:
    """The steps at a strength: nats per row that the last rule gets wrong; with a last one for the constant if asked.

    With the score that rewards coverage, pure rules come first, in one step more per stage; then the penalty of an
    error falls from ``first_penalty`` rows to 1: early rules must be nearly pure, late ones only better than
    nothing. The strength falls as ``first_strength`` says.
    """
    n_steps, ending, numbers = budget.n_steps, budget.ending, budget.tuning
    if budget.errors_only:
        return (CoverStep(strength, 0, 1),) * n_steps + (CoverStep(strength, 0, 1, ending=True),) * ending
    progress = np.linspace(1.0, 0.0, n_steps + len(pure)) if n_steps + len(pure) > 1 else np.zeros(1)
    steps = tuple(
        ScoredStep(
            strength * numbers.first_strength ** float(share) / UNIT,
            PureFirst(index, n_steps, pure, numbers.first_penalty ** float(share), 0),
        )
        for index, share in enumerate(progress)
    )
    return steps + (CoverStep(strength / UNIT, UNIT, UNIT, ending=True),) * ending


@lru_cache(maxsize=128)
def plan_of(budget: ListBudget) -> Plan:
    """The plan that spends the budget whole: the strongest steps that it pays for.

    Raises:
        ValueError: if the analysis does not apply, or the budget pays for no steps at all.
    """
    if math.isinf(budget.epsilon):
        stages = pure_stages(budget)
        steps = steps_at(math.inf, budget, stages.penalties)
        counts = NonPrivate() if budget.counts_share > 0 else None
        rows = NonPrivate() if stages.penalties else None
        return Plan(steps, Accounting.MOMENTS, NonPrivate(), counts, budget.fixed, rows, stages)
    plans = [_calibrated(budget, accounting) for accounting in accountings(budget)]
    return max(plans, key=lambda plan: plan.steps[-1].scale)


def accountings(budget: ListBudget) -> list[Accounting]:
    """The analyses to try."""
    if budget.rows_per_unit > 1:
        return [Accounting.RANGES]
    if budget.analysis != "sharp":
        return [Accounting(budget.analysis)]
    if budget.delta == 0:
        return [Accounting.PURE]
    options = [Accounting.MOMENTS if budget.n_steps <= budget.tuning.most_moment_steps else Accounting.CURVE]
    if budget.errors_only and budget.neighbouring is Neighbouring.ADD_OR_REMOVE_ONE and budget.n_steps > 20:
        options.append(Accounting.EXACT)
    return options


def _calibrated(budget: ListBudget, accounting: Accounting) -> Plan:
    counts = Laplace(1.0 / (budget.counts_share * budget.epsilon)) if budget.counts_share > 0 else None
    stages = pure_stages(budget)
    rows = Laplace(1.0 / (budget.tuning.rows_share * budget.epsilon)) if stages.penalties else None
    rest = (*budget.fixed, *(charge for charge in (rows, counts) if charge is not None))
    # The paper's bound is at one delta: all of it, unless something else needs a part.
    paper_delta = budget.delta * (0.5 if budget.fixed else 1.0)

    def plan_at(noise: float) -> Plan:
        steps = steps_at(1.0 / noise, budget, stages.penalties)
        charge = cover_charge(steps, budget.neighbouring, accounting, paper_delta, budget.rows_per_unit)
        return Plan(steps, accounting, charge, counts, budget.fixed, rows, stages)

    def charges_at(noise: float) -> tuple[Charge, ...]:
        return plan_at(noise).charges

    start = (12 if rest or budget.delta == 0 else 10) / budget.epsilon  # where the search for the noise begins
    if accounting is Accounting.PURE:
        start = 2.0 * budget.n_steps / budget.epsilon
    return plan_at(calibrate(charges_at, budget.epsilon, budget.delta, start=start, tolerance=1e-4))
