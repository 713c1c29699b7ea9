"""How a budget is divided over the rounds of Boost-S, and what that leaves for the base learner."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.curator.resample import round_cost
from tacit.curator.view import charge_of
from tacit.faces.request import RequestError
from tacit.privacy import accountants
from tacit.privacy.calibration import calibrate
from tacit.privacy.charges import Charge, NonPrivate, Repeated
from tacit.theory.boosting import Analysis
from tacit.theory.closure_privacy import Cost

MOST_BASE_EPSILON = 30.0
"""A base learner is never asked for less privacy than this: there is nothing to gain from it."""

MOST_ROUND_EPSILON = 20.0
"""Nor is a round."""

SLACK = 1e-9
"""Relative room for rounding between a plan and what is entered."""


@dataclass(frozen=True)
class ResamplingPlan:
    """The public numbers of a run.

    Attributes:
        rounds: T.
        total: ``M = kappa n``.
        size: draws per round.
        base: what the base learner may spend on its draws.
        round_charge: what a round costs.
    """

    rounds: int
    total: int
    size: int
    base: Cost
    round_charge: Charge

    @property
    def reserved(self) -> Charge:
        """The whole charge of a run."""
        return Repeated(self.round_charge, self.rounds) if self.rounds > 1 else self.round_charge


def budget_of_a_round(epsilon: float, delta: float, rounds: int) -> Cost:
    """The largest (epsilon', delta / 2T) whose T-fold composition costs at most (epsilon, delta)."""
    if delta == 0:
        return Cost(min(MOST_ROUND_EPSILON, epsilon / rounds * (1 - SLACK)), 0.0)
    share = delta / (2 * rounds)

    def charges(parameter: float) -> list[Charge]:
        return [Repeated(charge_of(Cost(1 / parameter, share)), rounds)]

    if accountants.epsilon(charges(1 / MOST_ROUND_EPSILON), delta) <= epsilon:
        return Cost(MOST_ROUND_EPSILON, share)
    return Cost((1 - SLACK) / calibrate(charges, epsilon, delta, start=math.sqrt(rounds) / epsilon), share)


def base_budget(target: Cost, total: int, size: int, analysis: Analysis) -> Cost:
    """The largest cost of a base learner whose draws cost at most ``target`` per round.

    Raises:
        RequestError: if no base learner is private enough.
    """

    def of(epsilon: float) -> Cost:
        if target.delta == 0:
            return Cost(epsilon, 0.0)
        unit = round_cost(Cost(epsilon, 1e-30), total, size, analysis).delta / 1e-30
        return Cost(epsilon, target.delta / unit * (1 - SLACK))

    def fits(epsilon: float) -> bool:
        return round_cost(of(epsilon), total, size, analysis).epsilon <= target.epsilon

    low, high = 0.0, 0.5 if analysis == "paper" else MOST_BASE_EPSILON
    if fits(high):
        return of(high)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    found = of(low)
    if low <= 1e-9 or found.delta < 1e-300 < target.delta:
        raise RequestError(
            f"{size} draws from a measure of total {total} leave nothing for the base learner: draw fewer, or use "
            "more rows"
        )
    return found


def plan_resampling(
    epsilon: float, delta: float, n_rows: int, rounds: int, density: float, size: int | None, analysis: Analysis
) -> ResamplingPlan:
    """Divides a budget.

    Args:
        epsilon: of the whole run; ``inf`` for no privacy.
        delta: of the whole run.
        n_rows: the public number of rows.
        rounds: T.
        density: kappa.
        size: draws per round; None for a quarter of ``kappa n``, where a round costs about a quarter of what the base
            learner declares.
        analysis: ``"sharp"``, or ``"paper"``: Lemma 55 as stated, base epsilon at most 1/2.
    """
    total = max(1, math.floor(density * n_rows))
    draws = max(1, total // 4) if size is None else size
    if math.isinf(epsilon):
        return ResamplingPlan(rounds, total, draws, Cost(math.inf, 0.0), NonPrivate())
    target = budget_of_a_round(epsilon, delta, rounds)
    base = base_budget(target, total, draws, analysis)
    charge = charge_of(round_cost(base, total, draws, analysis))
    plan = ResamplingPlan(rounds, total, draws, base, charge)
    assert accountants.epsilon([plan.reserved], delta) <= epsilon * (1 + 1e-6)
    return plan
