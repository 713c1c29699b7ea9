"""How closure learners divide budgets, and what relabelling costs, as numbers: written once more, or solved again."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.closure.plan import (
    PAPER_DRAWS,
    PAPER_SCORED,
    best_inner_epsilon,
    free_plan,
    paper_plan,
    part_plan,
    repeated_selection_range,
    selection_epsilon,
    sharp_plan,
    within,
)
from tacit.privacy import accountants
from tacit.privacy.charges import BoundedRange
from tacit.privacy.unit import Neighbouring
from tacit.theory.checks import Cost
from tacit.theory.closure import privacy as theory
from tacit.theory.closure import samples

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


# what relabelling costs


def test_ranges_of_relabelling() -> None:
    """At epsilon 1.2, a is .6: what a row does to a group of patterns, once or twice."""
    assert theory.relabel_range(1.2, False) == pytest.approx(0.6 + math.log(2))
    assert theory.relabel_range(1.2, True) == pytest.approx(1.2 + math.log(4))
    assert theory.relabel_range(1.2, False, "errors") == pytest.approx(math.log(1 + math.exp(0.6)))
    assert theory.relabel_range(1.2, True, "errors") == pytest.approx(2 * math.log(1 + math.exp(0.6)))
    assert theory.relabel_range(1.2, True, "matched") == pytest.approx(1.2 + math.log(4))
    assert (theory.public_range(1.2, False), theory.public_range(1.2, True)) == (0.6, 1.2)
    for replace in (False, True):
        for score in ("errors", "completion", "matched"):
            if score == "matched" and not replace:
                continue
            span = theory.relabel_range(0.9, replace, score)  # type: ignore[arg-type]
            assert theory.relabel_epsilon(span, replace, score) == pytest.approx(0.9)  # type: ignore[arg-type]
            floor = theory.relabel_range(0.0, replace, score)  # type: ignore[arg-type]
            assert floor == pytest.approx(math.log(4 if replace else 2))
            theory.relabel_epsilon(floor * 1.0001, replace, score)  # type: ignore[arg-type]
            with pytest.raises(ValueError, match="at least"):
                theory.relabel_epsilon(floor * 0.999, replace, score)  # type: ignore[arg-type]
        assert theory.relabel_epsilon(theory.public_range(0.9, replace), replace, public=True) == pytest.approx(0.9)
    assert theory.relabel_range(0.0, False) == math.log(2)
    with pytest.raises(ValueError, match="not be negative"):
        theory.relabel_range(-0.1, False)
    with pytest.raises(ValueError, match="matched"):
        theory.relabel_range(1.0, False, "matched")


def test_lemma_5_3_as_printed() -> None:
    result = theory.relabel_and_learn_paper(Cost(0.7, 1e-6))
    assert (result.epsilon, result.delta) == (pytest.approx(3.7), pytest.approx(4 * math.e * 1e-6))


def test_a_part_by_hand() -> None:
    result = theory.learned_on_part(0.3, Cost(0.8, 1e-6), 0.25)
    mixed = 0.75 * math.exp(0.3) + 0.25 * (1 + math.exp(0.3)) * math.exp(0.8)
    assert (result.epsilon, result.delta) == (pytest.approx(math.log(mixed)), pytest.approx(2.5e-7))
    assert theory.learned_on_part(0.3, Cost(0.8, 0.0), 1.0).epsilon == pytest.approx(math.log(1 + math.exp(0.3)) + 0.8)
    for rate in (0.0, 1.01):
        with pytest.raises(ValueError, match="rate"):
            theory.learned_on_part(0.3, Cost(0.8, 0.0), rate)
    grid = np.arange(0.01, 1.0, 1e-4)
    for scoring in (0.1, 1.0):
        worth = grid / ((1 + math.exp(-scoring)) * np.exp(grid) - 1)
        assert theory.best_part_epsilon(scoring) == pytest.approx(float(grid[worth.argmax()]), abs=2e-4)


def test_draws_with_replacement_by_hand() -> None:
    growth = math.exp(0.9) - 1
    result = theory.drawn_with_replacement(Cost(0.9, 1e-6), 90, 10)
    spent = 10 * math.log(1 + growth / 90)
    assert (result.epsilon, result.delta) == (
        pytest.approx(spent), pytest.approx(1e-6 * (math.exp(spent) - 1) / growth)
    )  # fmt: skip
    share = theory.drawn_share_with_replacement(Cost(0.9, 1e-6), 0.2)
    assert share.epsilon == pytest.approx(0.2 * growth)
    assert share.delta == pytest.approx(1e-6 * (math.exp(0.2 * growth) - 1) / growth)
    assert theory.drawn_with_replacement(Cost(0.0, 1e-6), 90, 10) == Cost(0.0, 0.0)
    assert theory.drawn_share_with_replacement(Cost(0.0, 1e-6), 0.2) == Cost(0.0, 0.0)
    for call in (
        lambda: theory.drawn_with_replacement(Cost(0.9, 0.0), 10, 10),
        lambda: theory.drawn_share_with_replacement(Cost(0.9, 0.0), 0.62),
    ):
        with pytest.raises(ValueError, match="draw fewer"):
            call()
    theory.drawn_share_with_replacement(Cost(0.9, 0.0), 0.61)


def test_the_worst_pure_learner_on_two_draws() -> None:
    """From three rows, by hand: a changed row is drawn 0, 1 or 2 times with probabilities 4/9, 4/9, 1/9."""
    e = math.exp(0.8)
    first = (4 / 9 + 4 / 9 * e + e**2 / 9) / 1.0
    second = (8 / 9 + e**2 / 9) / (4 / 9 + 4 / 9 / e + 1 / 9)
    assert theory.with_replacement_worst(0.8, 3, 2) == pytest.approx(math.log(max(first, second)))


def test_amplification_by_hand() -> None:
    result = theory.amplified(Cost(1.5, 1e-5), 0.2)
    assert result.epsilon == pytest.approx(math.log(1 + 0.2 * (math.exp(1.5) - 1)))
    assert result.delta == pytest.approx(2e-6)
    assert theory.amplified(Cost(1.5, 1e-5), 1.0).epsilon == pytest.approx(1.5)
    for rate in (0.0, 1.01):
        with pytest.raises(ValueError, match="rate"):
            theory.amplified(Cost(1.5, 0.0), rate)
    assert theory.amplification_rate(1.5, 0.5) == pytest.approx((math.exp(0.5) - 1) / (math.exp(1.5) - 1))
    assert theory.amplification_rate(0.5, 0.6) == 1.0


# plans


@pytest.mark.parametrize("score", ["errors", "completion"])
@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_sharp_plans_by_hand(relation: Neighbouring, score: str) -> None:
    replace = relation is REPLACE
    plan = sharp_plan(Cost(1.0, 1e-6), relation, 0.4, True, score)  # type: ignore[arg-type]
    assert (plan.rate, plan.span, plan.child) == (1.0, 0.4, Cost(0.6, 1e-6))
    assert plan.relabel_epsilon == pytest.approx(0.4 if replace else 0.8)
    floor = math.log(4 if replace else 2)
    for target in (0.3, 6.0):
        plan = sharp_plan(Cost(target, 1e-6), relation, 0.4, False, score)  # type: ignore[arg-type]
        inner = max(target, best_inner_epsilon(floor))
        rate = min(1.0, math.expm1(target) / math.expm1(inner))
        assert plan.rate == pytest.approx(rate)
        assert (rate == 1.0) == (target == 6.0)
        assert plan.span == pytest.approx(floor + 0.4 * (inner - floor))
        assert plan.child.epsilon == pytest.approx(0.6 * (inner - floor))
        assert plan.child.delta == pytest.approx(1e-6 / rate)
        assert theory.relabel_range(plan.relabel_epsilon, replace, score) == pytest.approx(plan.span)  # type: ignore[arg-type]
        assert (plan.public, plan.scored_share, plan.draws, plan.stated) == (False, 1.0, None, None)


def test_the_best_epsilon_inside_by_search() -> None:
    grid = np.arange(0.01, 5.0, 1e-4)
    for floor in (math.log(2), math.log(4)):
        worth = (grid - floor) / np.expm1(grid)
        assert best_inner_epsilon(floor) == pytest.approx(float(grid[worth.argmax()]), abs=2e-4)
    assert best_inner_epsilon(0.0) == 0.0


@pytest.mark.parametrize("target", [0.1, 1.0, 3.0])
def test_plans_of_a_part(target: float) -> None:
    """They cost what they are made for; where all rows are the part, the learner takes what is left."""
    plan = part_plan(Cost(target, 1e-6), 0.4)
    spent = theory.learned_on_part(plan.scoring, plan.child, plan.rate)
    assert plan.scoring == pytest.approx(0.4 * target)
    assert (spent.epsilon, spent.delta) == (pytest.approx(target), pytest.approx(1e-6))
    assert (plan.rate == 1.0) == (target == 3.0)
    if plan.rate < 1:
        assert plan.child.epsilon == pytest.approx(theory.best_part_epsilon(plan.scoring))
    free = part_plan(Cost(math.inf, 0.0), 0.4)
    assert (free.rate, free.scoring, free.child) == (1.0, math.inf, Cost(math.inf, 0.0))


def test_plans_of_the_paper() -> None:
    plan = paper_plan(Cost(1.0, 1e-6), REPLACE)
    rate = (math.e - 1) / (math.exp(4) - 1)
    assert plan.rate == pytest.approx(rate)
    assert (plan.relabel_epsilon, plan.span, plan.public) == (1.0, pytest.approx(1 + math.log(4)), False)
    assert plan.child.epsilon == 1.0
    assert plan.child.delta == pytest.approx(1e-6 / rate / (4 * math.e))
    assert plan.stated is not None
    assert (plan.stated.epsilon, plan.stated.delta) == (4.0, pytest.approx(1e-6 / rate))
    assert (plan.scored_share, plan.draws, PAPER_SCORED, PAPER_DRAWS) == (0.5, 1 / 9, 0.5, 1 / 9)


def test_plans_without_privacy_and_room_for_rounding() -> None:
    for public in (False, True):
        plan = free_plan(public)
        assert (plan.rate, plan.relabel_epsilon, plan.span, plan.public) == (1.0, math.inf, math.inf, public)
        assert plan.child == Cost(math.inf, 0.0)
    result = within(Cost(2.0, 1e-6))
    assert (2.0 - result.epsilon, 1e-6 - result.delta) == (pytest.approx(4e-9), pytest.approx(2e-15))


def test_many_selections() -> None:
    for times in (2, 9):
        span = repeated_selection_range(Cost(1.0, 1e-6), times)
        assert accountants.epsilon([BoundedRange(span)] * times, 1e-6) <= 1.0
        assert accountants.epsilon([BoundedRange(1.001 * span)] * times, 1e-6) > 1.0
    assert repeated_selection_range(Cost(1.0, 0.0), 9) == pytest.approx(1 / 9)
    assert selection_epsilon(0.3, ADD) == pytest.approx(0.6)
    assert selection_epsilon(0.3, REPLACE) == pytest.approx(0.3)


# sample sizes


def test_sizes_by_hand() -> None:
    log = math.log
    assert samples.realizable_rows(5, 0.1, 0.05) == math.ceil(800 * (5 * log(160) + log(40)))
    with pytest.raises(ValueError, match="alpha and beta"):
        samples.realizable_rows(1, 0.0, 0.5)
    least = samples.agnostic_rows(5, 0.1, 0.05)

    def bound(m: int) -> float:
        return 4 * (2 * math.e * m / 5) ** 5 * math.exp(-0.01 * m / 8)

    assert bound(least) <= 0.05 < bound(least - 1)
    none = samples.agnostic_rows(0, 0.1, 0.05)
    assert 4 * math.exp(-0.01 * none / 8) <= 0.05 < 4 * math.exp(-0.01 * (none - 1) / 8)
    result = samples.private_generalisation(0.2, 1e-6, 1000)
    assert result.factor == pytest.approx(math.exp(0.4))
    assert result.slack == pytest.approx(10 / 200 * log(1 / 2e-4))
    assert result.failure == pytest.approx(2e-4 / log(1 / 2e-4))
    assert samples.exponential_mechanism_excess(50, 0.2, 0.1) == pytest.approx(10 * log(500))
    assert samples.finite_class_rows(50, 0.2, 0.1, 0.05) == math.ceil(100 * log(1000))
    assert samples.relabel_rows(5, 900, 0.1, 0.05, 0.5) == math.ceil(40 * (log(20) + 5 * log(math.e * 180)))
    assert samples.relabel_rows(0, 900, 0.1, 0.05) == math.ceil(20 * log(20))
    assert samples.relabel_rows_half(5, 0.1, 0.05) == math.ceil(40 * log(20) + 500 * log(200 * math.e))


def test_sizes_of_composed_learners_by_hand() -> None:
    """Every term of the maximum is the largest once."""
    sizes = {
        samples.agnostic_rows(9, 0.01, 0.00625): (9, 1, 30),
        samples.realizable_rows(900, 0.02, 0.00625): (1, 900, 30),
        9 * 10**9: (9, 1, 10**9),
    }
    for scored, (vc, own, rows) in sizes.items():
        assert samples.composed_part_rows(vc, own, rows, 2, 0.1, 0.05) == samples.Parts(scored, scored, 2 * scored)
    both = [samples.composed_part_rows(9, own, rows, 2, 0.1, 0.05).total for own, rows in ((1, 10**9), (900, 30))]
    assert samples.composed_learner_rows(9, [1, 900], [10**9, 30], 0.1, 0.05) == sum(both)
    assert samples.improper_composed_error([0.1, 0.2], 0.01, 0.001) == pytest.approx(0.3 + 2 * (0.04 + 0.003))


def test_sizes_of_parts_by_hand() -> None:
    parts = samples.relabel_and_learn_rows(5, 0.1, 0.05)
    assert parts.published == samples.realizable_rows(5, 0.1, 0.05)
    assert parts.scored == samples.agnostic_rows(50, 0.1, 0.05)
    assert parts.total == parts.scored + parts.published
    for learner in (10, 10**6):
        halves = samples.agnostic_learner_rows(5, learner, 0.1, 0.05)
        wanted = max(samples.agnostic_rows(5, 0.02, 0.0125), samples.realizable_rows(5, 0.04, 0.0125), 9 * learner)
        assert (halves.scored, halves.published, halves.total) == (wanted, wanted, 2 * wanted)


@pytest.mark.parametrize(("vc", "learner", "epsilon"), [(5, 10, 1.0), (5, 10**6, 0.3), (0, 1, 0.01), (40, 10, 0.05)])
def test_sizes_of_a_scored_part_by_hand(vc: int, learner: int, epsilon: float) -> None:
    a, b = 0.02, 0.01
    part = max(learner, samples.realizable_rows(vc, 0.04, b))
    rate = (math.exp(epsilon / 2) - 1) / ((1 + math.exp(-epsilon / 2)) * math.e - 1)
    wanted = max(samples.agnostic_rows(vc, a, b), math.ceil(2 * part / rate))
    result = samples.learned_on_part_rows(vc, learner, 0.1, 0.05, epsilon)
    assert (result.scored, result.published, result.total) == (wanted, 0, wanted)
    for wrong in (0.0, 1.01):
        with pytest.raises(ValueError, match="epsilon"):
            samples.learned_on_part_rows(vc, learner, 0.1, 0.05, wrong)
