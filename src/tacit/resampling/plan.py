"""How a budget is divided over the rounds of Boost-S, and what that leaves for the base learner."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tacit.curator.views.resample import drawn_cost, round_cost, round_with_test
from tacit.curator.views.view import charge_of
from tacit.privacy import accountants
from tacit.privacy.calibration import calibrate
from tacit.privacy.charges import Charge, NonPrivate, Repeated
from tacit.privacy.request import RequestError
from tacit.theory.boosting import Analysis, end_test_threshold
from tacit.theory.checks import Cost

MOST_BASE_EPSILON = 30.0  # A base learner is never asked for less privacy than this: there is nothing to gain from it
MOST_ROUND_EPSILON = 20.0  # nor is a round

DrawsCost = Callable[[Cost, int, int, Analysis], Cost]
"""What a learner costs on draws from a measure, by its own cost, the measure's size and the number of draws."""

NOISE_SPARE = 3.0
"""Laplace scales that the first end test must be passed by: noise ends it with probability 0.025 at most."""

SLACK = 1e-9  # relative room for rounding between a plan and what is entered


@dataclass(frozen=True)
class ResamplingPlan:
    """The public numbers of a run of T rounds: what a round costs, and what the base may spend on its draws.

    ``total`` is ``M = kappa n``; with an end test, the size below which a run ends.
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


def most_reserved(epsilon: float, delta: float, rounds: int) -> Charge:
    """The most that a plan for (epsilon, delta) reserves, whatever the number of rows."""
    of_a_round = charge_of(budget_of_a_round(epsilon, delta, rounds))
    return Repeated(of_a_round, rounds) if rounds > 1 else of_a_round


def base_budget(
    target: Cost, total: int, size: int, analysis: Analysis, draws_cost: DrawsCost = round_cost
) -> Cost:  # fmt: skip
    """The largest cost of a base learner whose draws cost at most ``target`` per round; refused if there is none."""

    def of(epsilon: float) -> Cost:
        if target.delta == 0:
            return Cost(epsilon, 0.0)
        unit = draws_cost(Cost(epsilon, 1e-30), total, size, analysis).delta / 1e-30
        return Cost(epsilon, target.delta / unit * (1 - SLACK))

    def fits(epsilon: float) -> bool:
        return draws_cost(of(epsilon), total, size, analysis).epsilon <= target.epsilon

    low, high = 0.0, 0.5 if analysis == "paper" else MOST_BASE_EPSILON
    if fits(high):
        return of(high)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    cost = of(low)
    if low <= 1e-9 or cost.delta < 1e-300 < target.delta:
        raise RequestError(
            f"{size} draws from a measure of total {total} leave nothing for the base learner: draw fewer, or use "
            "more rows"
        )
    return cost


def untested(target: Cost) -> Cost:
    """What draws may cost so that a round of end test and draws costs at most ``target`` (Lemma 49)."""
    epsilon = target.epsilon / 2 * (1 - SLACK)
    return Cost(epsilon, target.delta * math.exp(-epsilon) * (1 - SLACK))


def plan_resampling(
    epsilon: float,
    delta: float,
    n_rows: int,
    rounds: int,
    density: float,
    size: int | None,
    analysis: Analysis,
    tested: bool = False,
) -> ResamplingPlan:
    """Divides a budget over ``rounds`` (T) at ``density`` (kappa); refused if the rows are too few for what is asked.

    ``size`` counts draws per round: None for a quarter of ``kappa n``, where a round costs about a quarter of what the
    base learner declares. ``tested``: whether every round tests in private whether the measure is large enough.
    """
    total = max(1, math.floor(density * n_rows))
    draws = max(1, total // 4) if size is None else size
    if math.isinf(epsilon):
        return ResamplingPlan(rounds, total, draws, Cost(math.inf, 0.0), NonPrivate())
    if tested and delta == 0:
        raise RequestError("an end test fails with a probability that only a positive delta pays for: give one")
    target = budget_of_a_round(epsilon, delta, rounds)
    if tested:
        base = base_budget(untested(target), total, draws, analysis, drawn_cost)
        cost = drawn_cost(base, total, draws, analysis)
        check_rows(n_rows, density, total, cost)
        charge = charge_of(round_with_test(cost))
    else:
        base = base_budget(target, total, draws, analysis)
        charge = charge_of(round_cost(base, total, draws, analysis))
    plan = ResamplingPlan(rounds, total, draws, base, charge)
    assert accountants.epsilon([plan.reserved], delta) <= epsilon * (1 + 1e-6)
    return plan


def check_rows(n_rows: int, density: float, total: int, cost: Cost) -> None:
    """Refuses fewer rows than Theorem 53 asks for, so that the first end test, when all weigh 1, lets a run begin."""
    surplus = end_test_threshold(cost.epsilon, cost.delta) + NOISE_SPARE / cost.epsilon
    if n_rows < total + surplus:
        least = math.ceil(surplus / (1 - density)) + 1
        raise RequestError(
            f"{n_rows} rows are too few for an end test at density {density}: noise alone would end the run before it "
            f"begins; {least} would do"
        )
