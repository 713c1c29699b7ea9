"""What a decision list spends and on what: the steps of its cover, and the counts of its rules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tacit.privacy.calibration import calibrate
from tacit.privacy.charges import Charge, Laplace, NonPrivate
from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.covers.charges import Accounting, cover_charge
from tacit.queries.covers.steps import CoverStep

REWARD_UNIT = 8
"""Integer units of a row that a rule gets right, in the score that rewards coverage."""

FIRST_PENALTY = 4.0
"""Rows it must get right to make up for one that it gets wrong: for the first rule; falls to 1 for the last one."""

FIRST_STRENGTH = 2.0
"""How much stronger than the last one the first choice is: what goes wrong there is mended by no later rule."""

MOST_MOMENT_STEPS = 4000
"""Steps up to which the exact moments are computed; from a few hundred on the closed forms are as good."""


@dataclass(frozen=True)
class ListBudget:
    """Everything that decides how a budget is spent; all of it public.

    Attributes:
        epsilon, delta: the budget.
        neighbouring: the relation.
        n_steps: how many rules are chosen at most.
        errors_only: the paper's score, minus the errors, at one strength; else the score that rewards coverage.
        analysis: ``"sharp"`` (the cheapest that applies) or the name of an :class:`Accounting`.
        counts_share: share of epsilon for the counts of the rules; 0 for none.
        fixed: what else is spent under this budget.
        rows_per_unit: rows that one protected unit may hold.
        ending: whether a last step chooses what the constant says: where neither counts nor another step do.
    """

    epsilon: float
    delta: float
    neighbouring: Neighbouring
    n_steps: int
    errors_only: bool
    analysis: str
    counts_share: float
    fixed: tuple[Charge, ...] = ()
    rows_per_unit: int = 1
    ending: bool = False


@dataclass(frozen=True)
class Plan:
    """How a budget is spent.

    Attributes:
        steps: the steps of the cover.
        accounting: which analysis its charge stands on.
        cover: its charge.
        counts: the charge of the counts; None if they are not released.
        fixed: what else is spent.
    """

    steps: tuple[CoverStep, ...]
    accounting: Accounting
    cover: Charge
    counts: Charge | None
    fixed: tuple[Charge, ...]

    @property
    def charges(self) -> tuple[Charge, ...]:
        """All of it."""
        return (*self.fixed, self.cover, *(() if self.counts is None else (self.counts,)))


def steps_at(strength: float, n_steps: int, errors_only: bool, ending: bool = False) -> tuple[CoverStep, ...]:
    """The steps at a strength: nats per row that the last rule gets wrong; with a last one for the constant if asked.

    With the score that rewards coverage, the penalty of an error falls from :data:`FIRST_PENALTY` rows to 1: early
    rules must be nearly pure, late ones only better than nothing. The strength falls as :data:`FIRST_STRENGTH` says.
    """
    if errors_only:
        return (CoverStep(strength, 0, 1),) * n_steps + (CoverStep(strength, 0, 1, ending=True),) * ending
    left = np.linspace(1.0, 0.0, n_steps) if n_steps > 1 else np.zeros(1)
    penalties = np.round(REWARD_UNIT * FIRST_PENALTY**left).astype(int)
    strengths = strength * FIRST_STRENGTH**left
    return (
        tuple(
            CoverStep(float(s) / int(penalty), REWARD_UNIT, int(penalty))
            for s, penalty in zip(strengths, penalties, strict=True)
        )
        + (CoverStep(strength / REWARD_UNIT, REWARD_UNIT, REWARD_UNIT, ending=True),) * ending
    )


@lru_cache(maxsize=128)
def plan_of(budget: ListBudget) -> Plan:
    """The plan that spends the budget whole: the strongest steps that it pays for.

    Raises:
        ValueError: if the analysis does not apply, or the budget pays for no steps at all.
    """
    if math.isinf(budget.epsilon):
        steps = steps_at(math.inf, budget.n_steps, budget.errors_only, budget.ending)
        counts = NonPrivate() if budget.counts_share > 0 else None
        return Plan(steps, Accounting.MOMENTS, NonPrivate(), counts, budget.fixed)
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
    found = [Accounting.MOMENTS if budget.n_steps <= MOST_MOMENT_STEPS else Accounting.CURVE]
    if budget.errors_only and budget.neighbouring is Neighbouring.ADD_OR_REMOVE_ONE and budget.n_steps > 20:
        found.append(Accounting.EXACT)
    return found


def _calibrated(budget: ListBudget, accounting: Accounting) -> Plan:
    counts = Laplace(1.0 / (budget.counts_share * budget.epsilon)) if budget.counts_share > 0 else None
    rest = (*budget.fixed, *(() if counts is None else (counts,)))
    # The paper's bound is at one delta: all of it, unless something else needs a part.
    paper_delta = budget.delta * (0.5 if budget.fixed else 1.0)

    def plan_at(noise: float) -> Plan:
        steps = steps_at(1.0 / noise, budget.n_steps, budget.errors_only, budget.ending)
        charge = cover_charge(steps, budget.neighbouring, accounting, paper_delta, budget.rows_per_unit)
        return Plan(steps, accounting, charge, counts, budget.fixed)

    def charges_at(noise: float) -> tuple[Charge, ...]:
        return plan_at(noise).charges

    start = 12.0 / budget.epsilon if rest or budget.delta == 0 else 10.0 / budget.epsilon
    if accounting is Accounting.PURE:
        start = 2.0 * budget.n_steps / budget.epsilon
    return plan_at(calibrate(charges_at, budget.epsilon, budget.delta, start=start, tolerance=1e-4))
