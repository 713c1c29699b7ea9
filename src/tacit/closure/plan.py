"""How a closure learner divides its budget: sampling, relabelling, and the child learner.

``sharp`` charges the constants of :mod:`tacit.theory.closure.privacy`; ``paper`` follows Algorithms 4 and 5 to the
letter (Relabel at epsilon 1, a (1, delta) learner on a ninth of D drawn with replacement, Lemma 5.3's constants) and
reaches the request by subsampling, as remark 7.4 says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from tacit.privacy import accountants
from tacit.privacy.charges import BoundedRange, Charge
from tacit.privacy.unit import Neighbouring
from tacit.theory.checks import Cost
from tacit.theory.closure.privacy import (
    Score,
    amplification_rate,
    best_part_epsilon,
    public_range,
    relabel_and_learn_paper,
    relabel_epsilon,
    relabel_range,
)

SLACK = 1e-9  # relative room for the rounding of conversions; it is never spent on accuracy


def within(target: Cost) -> Cost:
    """A little less than a request: what plans are made for, so that rounding never exceeds what was reserved."""
    return Cost(target.epsilon * (1 - 2 * SLACK), target.delta * (1 - 2 * SLACK))


PAPER_DRAWS = 1 / 9  # Lemma 3.12: a learner for m rows runs on m draws from 9 m
PAPER_SCORED = 1 / 2  # Algorithms 4 and 5: half of the rows are D, half are T


@dataclass(frozen=True)
class StepPlan:
    """One relabelling and one child."""

    rate: float  # which share of the rows takes part at all
    relabel_epsilon: float  # parameter of the exponential mechanism
    span: float  # the bounded range charged for it
    child: Cost  # what the child learner may spend
    public: bool  # whether candidates are all concepts on public cells, not the sample's patterns
    scored_share: float = 1.0  # share of rows that scores and the child use
    draws: float | None = None  # share of those drawn with replacement for the child; None for all of them
    stated: Cost | None = None  # the paper's total, where it is charged instead of the sum


def free_plan(public: bool) -> StepPlan:
    """A step without privacy."""
    return StepPlan(1.0, math.inf, math.inf, Cost(math.inf, 0.0), public)


def sharp_plan(
    target: Cost, neighbouring: Neighbouring, share: float, public: bool, score: Score = "completion"
) -> StepPlan:
    """The step that costs ``target`` by plain sums.

    Patterns of the sample cost ln 2 (replace: ln 4) before anything is chosen. Where the request leaves too little
    beyond that, a random part of the rows is used at a larger epsilon: the rate that maximises rows times epsilon.
    Relabel spends ``share`` of what is left after the patterns' price, the child the rest.
    """
    epsilon, replace = target.epsilon, neighbouring.n_is_public
    floor = 0.0 if public else relabel_range(0.0, replace, score)
    inner = epsilon if public else max(epsilon, best_inner_epsilon(floor))
    rate = amplification_rate(inner, epsilon)
    span = floor + share * (inner - floor)
    child = Cost(inner - span, target.delta / rate)
    return StepPlan(rate, relabel_epsilon(span, replace, score, public), span, child, public)


@dataclass(frozen=True)
class PartPlan:
    """Scores on all rows, of a bounded range, and a child on a random part of so large a share."""

    rate: float
    scoring: float
    child: Cost


def part_plan(target: Cost, share: float) -> PartPlan:
    """The plan that costs ``target``: ``share`` of its epsilon for the scores, and for the part what is left.

    The child's epsilon is the one at which rows times epsilon are most; beyond rate 1 it takes what is left.
    """
    if math.isinf(target.epsilon):
        return PartPlan(1.0, math.inf, Cost(math.inf, 0.0))
    scoring = share * target.epsilon
    epsilon, labels = best_part_epsilon(scoring), 1 + math.exp(-scoring)
    rate = math.expm1(target.epsilon - scoring) / (labels * math.exp(epsilon) - 1)
    if rate >= 1:
        rate, epsilon = 1.0, target.epsilon - scoring - math.log(labels)
    return PartPlan(rate, scoring, Cost(epsilon, target.delta / rate))


def best_inner_epsilon(floor: float) -> float:
    """The epsilon E that maximises ``(E - floor) / (e^E - 1)``: what a row is worth after subsampling to any target."""
    if floor == 0:
        return 0.0
    low, high = floor, floor + 2.0
    for _ in range(80):  # the derivative vanishes where E - floor = 1 - e^-E
        middle = (low + high) / 2
        low, high = (middle, high) if middle - floor < -math.expm1(-middle) else (low, middle)
    return low


def paper_plan(target: Cost, neighbouring: Neighbouring) -> StepPlan:
    """Algorithms 4 and 5 as printed, subsampled to ``target``; under replace_one, the relation of the paper's proof."""
    if neighbouring is not Neighbouring.REPLACE_ONE:
        raise ValueError("the paper's constants are for neighbouring='replace_one'")
    learner = Cost(1.0, 0.0)
    inner = relabel_and_learn_paper(learner)
    rate = amplification_rate(inner.epsilon, target.epsilon)
    child_delta = target.delta / rate / (4 * math.e)
    stated = Cost(inner.epsilon, 4 * math.e * child_delta)
    return StepPlan(
        rate, 1.0, relabel_range(1.0, replace=True), Cost(1.0, child_delta), False, PAPER_SCORED, PAPER_DRAWS, stated
    )


@lru_cache(maxsize=64)
def repeated_selection_range(target: Cost, times: int) -> float:
    """The largest range of which ``times`` exponential mechanisms cost ``target`` together, by the best accountant."""
    sure = target.epsilon / times  # always affordable: pure epsilons add up
    if target.delta == 0:
        return sure
    low, high = sure, max(2 * sure, math.sqrt(target.epsilon))

    def affordable(span: float) -> bool:
        charges: list[Charge] = [BoundedRange(span)] * times
        return accountants.epsilon(charges, target.delta) <= target.epsilon

    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if affordable(middle) else (low, middle)
    return low


def selection_epsilon(span: float, neighbouring: Neighbouring) -> float:
    """The exponential mechanism's epsilon, over public candidates, whose range is ``span``."""
    return span / public_range(1.0, neighbouring.n_is_public)
