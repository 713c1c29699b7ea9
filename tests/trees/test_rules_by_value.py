"""Charges, plans, base rates and constants of trees as numbers: each rule written once more with its numbers in it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from tacit import MAlphaBoostClassifier, RandomTreesClassifier
from tacit.arrays import Floats
from tacit.binning.tree_bins import Totals
from tacit.curator.measurement import Measurement
from tacit.growing.gradient_trees import (
    BaseRate,
    LearnedTrees,
    average_in,
    choosing_plan,
    gaussian_plan,
    laplace_plan,
    set_intercept,
)
from tacit.growing.kernel_trees import KernelPlan, kernel_plan, kernel_steps, within_time
from tacit.growing.newton_trees import LeafSums
from tacit.growing.softmax import SimulatedRows, likely_counts, log_odds_of, softmax_curvature
from tacit.growing.tuning import KERNEL
from tacit.privacy import accountants
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import ZCDP, BoundedRange, Gaussian, Laplace, NonPrivate, Pure, uses
from tacit.privacy.composition import Sums
from tacit.privacy.request import RequestError
from tacit.queries.cells import OneCell
from tacit.queries.margins import Margins, Scores
from tacit.queries.rules import WEIGHT_UNIT
from tacit.queries.score_rules import SoftmaxRule
from tacit.queries.tree_cells import logistic_gradient_rule
from tacit.trees.budget import SMALLEST_RANGE, SplitBudget
from tacit.trees.forest import base_rate_of, drawn_to, label_charges
from tacit.trees.induction import SCORE_UNIT, SplitCandidates, SplitScore, category_splits, thresholds
from tacit.trees.losses import MATSUSHITA, ZERO_ONE, LogLoss, MAlphaLoss, SquareLoss
from tacit.trees.m_alpha_boost import BoostSettings
from tacit.trees.several_classes import SoftmaxRounds, class_plan, set_constants
from tacit.trees.tuning import FORESTS


class Told:
    """A budget that answers what it is told to: no rows, no noise."""

    def __init__(self, answers: list[Floats], sd: float, pure: bool = False) -> None:
        self.answers, self.release_sd, self.is_pure = list(answers), sd, pure
        self.asked: list[Any] = []

    def measure(self, query: Any, share: float, label: Any) -> Measurement:
        assert share == 1.0
        self.asked.append((query, label))
        return Measurement(str(label), self.answers[len(self.asked) - 1], self.release_sd, Gaussian(1.0), "x")

    def sd(self, share: float = 1.0) -> float:
        return self.release_sd / (share if self.is_pure else math.sqrt(share))


# charges


def test_what_shares_of_a_pool_cost() -> None:
    """A selection of range r is r**2 / 8-zCDP and r-DP; a release of multiplier z is 1 / (2 z**2)-zCDP, 1 / z-DP."""
    zcdp, pure, exact = SplitBudget(0.5, False), SplitBudget(3.0, True), SplitBudget(math.inf, False)
    assert (zcdp.whole, pure.whole, exact.whole) == (ZCDP(0.5), Pure(3.0), NonPrivate())
    assert zcdp.selection(0.04) == BoundedRange(math.sqrt(8 * 0.5 * 0.04))
    assert zcdp.release(0.04) == Gaussian(1 / math.sqrt(2 * 0.5 * 0.04))
    assert pure.selection(0.1) == BoundedRange(3.0 * 0.1)
    assert pure.release(0.1) == Laplace(1 / (3.0 * 0.1))
    assert exact.selection(0.1) == exact.release(0.1) == NonPrivate()
    releases = SplitBudget.of_releases(Allowance.of(1.0, 1e-6))
    mu = Allowance.of(1.0, 1e-6).mu
    assert releases.gaussian
    assert releases.whole == Gaussian(1 / math.sqrt(2 * releases.amount))
    assert releases.amount == pytest.approx(mu**2 / 2)
    assert accountants.epsilon((releases.release(0.25),) * 4, 1e-6) == pytest.approx(1.0, rel=1e-6)
    with pytest.raises(ValueError, match="nothing is selected"):
        releases.selection(0.5)
    assert SplitBudget.of_releases(Allowance.of(1.0, 0.0)) == SplitBudget(1.0, True)
    assert SplitBudget.of_releases(Allowance.of(math.inf, 1e-6)) == SplitBudget(math.inf, False)


def test_pools_beside_other_charges() -> None:
    other = (Laplace(4.0), Pure(0.25))
    assert SplitBudget.of(1.0, 0.0, other) == SplitBudget(0.5, True)
    assert SplitBudget.of(math.inf, 0.0) == SplitBudget(math.inf, True)
    for beside in ((), (Gaussian(5.0),)):
        pool = SplitBudget.of(1.0, 1e-6, beside)
        assert accountants.epsilon((*beside, pool.whole), 1e-6) == pytest.approx(1.0, rel=1e-3)
        assert accountants.epsilon((*beside, pool.whole), 1e-6) <= 1.0
        assert not pool.pure


FOREST, TREES = partial(label_charges, trees=21, tuning=FORESTS), BoostSettings(1.0, None, 3, 4, 0.5, 10.0, 10)
PLANS = {
    "labels": FOREST,
    "levels": TREES.charges,
    "leaves": replace(TREES, leaves=6, split_share=0.8).charges,
    "one label": partial(FOREST, trees=1),
}


def test_shares_of_plans_by_value() -> None:
    """Of a pool of rho 2: 2 % count rows; 3 trees of 4 levels, or of 6 leaves by 9 choices, halve or share the rest."""
    pool = SplitBudget(2.0, False)

    expected = {
        "labels": [(0.1, 1), (0.85 / 21, 21), (0.05, 1)],
        "levels": [(0.02, 1), (0.49 / 3 / 4, 12), (0.49 / 3, 3)],
        "leaves": [(0.02, 1), (0.98 * 0.8 / 3 / 9, 27), (0.98 * 0.2 / 3, 3)],
        "one label": [(0.1, 1), (0.85, 1), (0.05, 1)],
    }
    for name, plan in PLANS.items():
        charges = list(uses(plan(pool)))
        assert [type(charge) for charge, _ in charges] == [Gaussian, BoundedRange, Gaussian]
        for (charge, times), (share, often) in zip(charges, expected[name], strict=True):
            cost = charge.range**2 / 8 if isinstance(charge, BoundedRange) else None
            cost = charge.precision / 2 if isinstance(charge, Gaussian) else cost
            assert (times, cost) == (often, pytest.approx(2.0 * share))


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.05, 1e-3), (8.0, 1e-6)])
def test_a_plan_spends_the_whole_request(name: str, epsilon: float, delta: float) -> None:
    """What is composed costs at most epsilon and .995 of it at least; the pool in rho alone is no larger."""
    other = (Gaussian(20.0 / epsilon),)
    pool = SplitBudget.of(epsilon, delta, other, PLANS[name])
    assert pool.charges == PLANS[name](pool)
    assert 0.995 * epsilon <= accountants.epsilon((*other, *pool.charges), delta) <= epsilon
    assert pool.amount >= SplitBudget.of(epsilon, delta, other).amount * (1 - 1e-6)


BOUNDS = {"columns": {"a": {"kind": "numeric", "lower": 0, "upper": 1}}}


@pytest.mark.parametrize(
    ("estimator", "relation", "schema"),
    [
        (RandomTreesClassifier(mechanism="exponential", n_trees=3), "add_or_remove_one", None),
        (MAlphaBoostClassifier(n_trees=3, max_depth=2, criterion="gini"), "replace_one", BOUNDS),
        (MAlphaBoostClassifier(n_trees=1, max_leaves=3), "add_or_remove_one", BOUNDS),
    ],
)
def test_a_fit_releases_its_plan_and_nothing_else(estimator: Any, relation: str, schema: Any) -> None:
    X = pd.DataFrame({"a": np.linspace(0, 1, 200)})
    model = clone(estimator).set_params(
        schema=schema, classes=(0, 1), neighbouring=relation, delta=1e-5, random_state=0
    )
    certificate = model.fit(X, (X["a"] > 0.4).astype(int)).certificate_
    planned, released = Sums().plus(certificate.charges).parts, Sums().plus(e.charge for e in certificate.entries).parts
    assert planned.ranges == released.ranges
    assert planned.precision == pytest.approx(released.precision, rel=1e-9)
    assert 0.995 <= accountants.epsilon(certificate.charges, 1e-5) <= 1.0
    assert certificate.verify() == []


def test_a_number_of_trees_that_is_released_is_paid_for_in_rho() -> None:
    """Nor is the number of rows known to a learner around it: what it declares is the same in every relation."""
    model = MAlphaBoostClassifier(max_depth=2, schema=BOUNDS, classes=(0, 1), delta=1e-6)
    planned = clone(model).set_params(n_trees=3)
    for relation in ("add_or_remove_one", "replace_one"):
        assert model.declared_charge(relation) == (SplitBudget.of(1.0, 1e-6).whole,)
        pool = SplitBudget.of(1.0, 1e-6, (), replace(TREES, depth=2).charges)
        assert planned.declared_charge(relation) == pool.charges


def test_selections_that_choose_blindly_are_refused() -> None:
    pool = SplitBudget(1.0, True)
    assert SMALLEST_RANGE == 1e-6
    pool.selection(1.0001e-6)
    with pytest.raises(RequestError, match="more splits than the budget"):
        pool.selection(0.9999e-6)


# splits


@pytest.mark.parametrize(
    ("loss", "largest"),
    [
        (ZERO_ONE, 2.0),
        (SquareLoss(), 4 * 99 / 100),
        (MATSUSHITA, 2 * math.sqrt(99)),
        (MAlphaLoss(0.3), 0.6 * math.sqrt(99) + 1.4),
        (LogLoss(), math.log2(100) + 99 * math.log2(100 / 99)),
    ],
)
def test_how_far_a_row_moves_split_scores(loss: Any, largest: float) -> None:
    """``cap L(1 / cap)`` at a cap of 100: of the 0/1 loss 2, of Gini's 4 (1 - 1/100), of Matsushita's 2 sqrt(99)."""
    candidates = SplitCandidates((0,), (thresholds(3, False),))
    movement = SplitScore(candidates, loss, 100).movement
    assert largest * SCORE_UNIT <= movement <= largest * SCORE_UNIT + 4


def test_split_scores_by_hand() -> None:
    """Minus the risks of both sides: at code 1, of 6 against 1 and 2 against 5 rows; weights are cut at the cap."""
    candidates = SplitCandidates((0,), (thresholds(3, True),))
    one = WEIGHT_UNIT
    histogram = np.array([[[5, 2], [1, 0], [0, 4]], [[900, 0], [0, 1], [0, 700]]]) * one
    scores = SplitScore(candidates, SquareLoss(), 101)(iter([histogram]))

    def gini(negatives: float, positives: float) -> float:
        return 4 * negatives * positives / (negatives + positives)

    assert scores[0, 0] / SCORE_UNIT == pytest.approx(-gini(5, 2) - gini(1, 4), abs=1e-4)
    assert scores[0, 1] / SCORE_UNIT == pytest.approx(-gini(6, 2), abs=1e-4)
    assert scores[1, 1] / SCORE_UNIT == pytest.approx(-gini(100, 1), abs=1e-4)
    alone = SplitScore(candidates, SquareLoss(), 101, node=1)(iter([histogram]))
    assert alone.tolist() == scores[1:].tolist()


def test_candidates_by_hand() -> None:
    assert thresholds(4, True).astype(int).tolist() == [[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]
    assert thresholds(4, False).astype(int).tolist() == [[0, 1, 1, 1], [0, 0, 1, 1]]
    assert [len(category_splits(n)) for n in (1, 2, 3, 4, 5, 6, 9)] == [0, 1, 3, 7, 15, 6, 9]
    assert category_splits(3).astype(int).tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 1]]
    assert category_splits(6).astype(int).tolist() == np.eye(6, dtype=int).tolist()
    both = SplitCandidates((4, 7), (thresholds(3, True), category_splits(3)))
    assert (both.n_codes, both.owners.tolist(), both.right.shape) == ((3, 3), [4, 4, 7, 7, 7], (5, 32))
    assert both.right[:, 0].tolist() == [0b110, 0b100, 0b010, 0b100, 0b110]
    assert not both.right[:, 1:].any()
    histogram = np.arange(12).reshape(1, 6, 2)
    assert both.right_weights(histogram).tolist() == [[[6, 8], [4, 5], [8, 9], [10, 11], [18, 20]]]
    assert both.totals(histogram).tolist() == [[6, 9]]


# plans


def test_plans_under_gaussian_noise() -> None:
    """By signal, which is rows times mu: up to 300, 1,500, 6,000, 100,000, and beyond, where splits are chosen."""

    def of(rows: float, mu: float = 1.0, may_choose: bool = True) -> list[float | None]:
        p = gaussian_plan(rows, mu, may_choose)
        return [p.trees, p.depth, p.columns_per_tree, p.rate, p.prior, p.clip, p.choice]

    assert of(299) == [500, 4, 2, 0.12, 1.0, 0.505, 0.0]
    assert of(300) == [500, 4, 3, 0.1, 0.5, 0.53, 0.0]
    assert of(600, 0.499) == [500, 4, 2, 0.12, 1.0, 0.505, 0.0]
    assert of(1500) == [500, 5, 3, 0.1, 0.5, 0.53, 0.0]
    assert of(6000) == [700, 6, 3, 0.1, 0.2, 0.53, 0.0]
    assert of(80_000, 2.0) == [700, 6, 3, 0.17, 0.5, 0.53, 0.0]
    assert of(100_001, 1.0, False) == [700, 6, 3, 0.17, 0.5, 0.53, 0.0]
    assert of(100_001)[-1] == 0.5
    assert of(100_001, 0.999)[-1] == 0.0
    assert gaussian_plan(300, 1.0).hessian_scale == pytest.approx(3.8 * math.sqrt(0.53**2 - 0.25))
    assert gaussian_plan(299, 1.0).hessian_scale == pytest.approx(3.8 * math.sqrt(0.505**2 - 0.25))


def test_plans_of_trees_that_choose() -> None:
    plan = choosing_plan(1e6)
    assert (plan.trees, plan.rate) == (100, pytest.approx(0.22 * math.sqrt(1.5)))
    assert (plan.depth, plan.choice, plan.enough, plan.least_prior, plan.clip) == (6, 0.5, 0.006, 0.006, 0.53)
    assert [choosing_plan(rows).trees for rows in (1e5, 1e7)] == [150, 64]
    assert choosing_plan(1e7).rate == pytest.approx(0.22 * math.sqrt(150 / 64))


def test_plans_under_laplace_noise() -> None:
    for signal, depth, columns in ((500, 4, 2), (1000, 5, 3), (6000, 6, 3), (10_000, 6, 4), (30_000, 7, 4)):
        plan = laplace_plan(signal / 2, 2.0)
        trees = min(max(round(0.173 * signal**0.617), 4), 250)
        assert (plan.trees, plan.depth, plan.columns_per_tree) == (trees, depth, columns)
        assert plan.rate == pytest.approx(min(0.3, 1.05 / math.sqrt(trees)))
        assert (plan.prior, plan.clip, plan.hessian_scale) == (1.0, 0.65, 0.6)
    assert laplace_plan(1.0, 1.0).trees == 4
    assert laplace_plan(1e12, 1.0).trees == 250


def test_plans_of_kernel_trees() -> None:
    plan = kernel_plan(5000.0, 0.5, 0.3, 300, 4, 0.5)
    assert (plan.trees, plan.columns_per_tree) == (300, 4)
    assert plan.depth == pytest.approx(
        min(max(math.log2(5000 * 4 / KERNEL.rows_of_noise), KERNEL.least_depth), KERNEL.most_depth)
    )
    assert plan.variance == pytest.approx(min(0.3 * 2 / 0.5, KERNEL.most_variance))
    assert kernel_plan(5000.0, 100.0, 0.3, 300, 4, 0.5).variance == pytest.approx(0.006)
    assert kernel_plan(1.0, 100.0, 0.3, 300, 4).depth == KERNEL.least_depth
    assert kernel_plan(1e12, 0.01, 0.3, 300, 4).depth == KERNEL.most_depth
    whole = KernelPlan(300, 9.5, 4, 1.0)
    for channels in (2, 500):
        affordable = int(KERNEL.most_numbers / (channels * 2.0**9.5))
        assert within_time(whole, channels).trees == min(300, max(affordable, KERNEL.informative))
    sums = LeafSums(np.array([3.0, -3.0, 400.0, 1.0]), np.array([10.0, -5.0, 0.0, 2.0]), 1.0, 1.0)
    assert kernel_steps(sums, 0.1, 2.0) == pytest.approx([0.3 / 2, -0.3, 2.0, 0.1 / 1.2])


def test_shares_of_levels() -> None:
    plan = choosing_plan(1e6)
    learned = LearnedTrees(1e6, 0.0, (), (), plan, 0.003)
    assert learned.level_shares == pytest.approx((0.003 / 6,) * 6)
    assert LearnedTrees(1e6, 0.0, (), (), gaussian_plan(1000, 1.0), 0.003).level_shares == ()


# the base rate of two classes


def test_the_base_rate_by_hand() -> None:
    """Of 400 rows whose classes differ by -240, each number with noise of 10."""
    rate = BaseRate(Totals(400.0, 0.2, 400.0, -240.0, 10.0))
    trust = 100.0**2 / (100.0**2 + 100.0 + 200 / 4)
    assert rate.rows == 400.0
    assert rate.log_odds == pytest.approx(trust * 2 * math.atanh(-0.6))
    p = 1 / (1 + math.exp(-rate.log_odds))
    assert rate.curvature == pytest.approx(p * (1 - p))
    curved = 400 * p * (1 - p)
    assert rate.intercept_sd(7.0) == pytest.approx(7 * curved * 0.5 / (curved**2 * 0.5 + curved + 49))
    exact = BaseRate(Totals(400.0, 0.2, 400.0, -240.0, 0.0))
    assert exact.log_odds == pytest.approx(100 / 101 * 2 * math.atanh(-0.6))
    assert BaseRate(Totals(1.0, 0.5, -30.0, 0.0, 10.0)).rows == 1.0
    far = BaseRate(Totals(400.0, 0.98, 400.0, 400.0, 0.0))
    assert far.log_odds == pytest.approx(100 / 101 * 2 * math.atanh(0.96))


def test_where_scores_start_by_hand() -> None:
    rate, rule = BaseRate(Totals(400.0, 0.2, 400.0, -240.0, 0.0)), logistic_gradient_rule(0.53, 0.67, 2)
    start = rate.start(Margins(), rule)
    p = 1 / (1 + math.exp(-start))
    longest = max(np.hypot(1 - p, 0.67 * p * (1 - p)), np.hypot(p, 0.67 * p * (1 - p)))
    weight = min(1.0, 0.53 / longest)
    assert start == pytest.approx(rate.log_odds, abs=1e-4)
    assert rate.mean_score == start
    assert rate.curvature_at_start == pytest.approx(weight * p * (1 - p), rel=5e-3)


def test_trees_tell_of_the_base_rate_while_scores_are_near_the_start() -> None:
    """At a start of 0, where every row weighs 1: a tree adds up to half the difference and a quarter of the rows."""
    rate = BaseRate(Totals(400.0, 0.5, 400.0, 20.0, 10.0))
    rate.add_tree(LeafSums(np.array([3.0, 5.0]), np.array([60.0, 45.0]), 2.0, 1.5), np.array([0.1, -0.1]))
    first, by_rows, by_difference = 1 / 200, 1 / (2 * (4 * 1.5) ** 2), 1 / (2 * (2 * 2.0) ** 2)
    assert rate.rows == pytest.approx((400 * first + 420 * by_rows) / (first + by_rows))
    difference, variance = rate._difference_now()
    assert difference == pytest.approx((20 * first + 16 * by_difference) / (first + by_difference))
    assert variance == pytest.approx(1 / (first + by_difference))
    weights = np.array([61.5, 46.5]) + 1e-9
    assert rate.mean_score == pytest.approx(float(0.1 * (weights[0] - weights[1]) / weights.sum()))
    before = rate.rows
    rate.add_tree(LeafSums(np.array([3.0, 5.0]), np.array([60.0, -45.0]), 2.0, 1.5), np.array([0.3, 0.3]))
    assert rate.rows != before  # scores had moved by .1 and a bit
    now = rate.rows
    rate.add_tree(LeafSums(np.array([3.0, 5.0]), np.array([60.0, 45.0]), 2.0, 1.5), np.array([0.1, 0.1]))
    assert rate.rows == now
    apart = BaseRate(Totals(400.0, 0.5, 400.0, 20.0, 10.0))
    apart.add_tree(LeafSums(np.array([3.0, 5.0]), np.array([60.0, 45.0]), 2.0, 1.5), np.array([0.1, -0.3]))
    assert apart._square == pytest.approx(float((0.01 * weights[0] + 0.09 * weights[1]) / weights.sum()))
    average = [1.0, 2.0]
    average_in(average, 5.0, 3.0, 4, 0.5)
    assert average == pytest.approx([1 + 2.5 / 9, 2 + 1 / 9])


@pytest.mark.parametrize("pure", [False, True])
def test_an_intercept_by_hand(pure: bool) -> None:
    """Two steps that look: gradient times curvature over its square, both, and noise; the second is cut at 2."""
    rate = BaseRate(Totals(400.0, 0.2, 400.0, -240.0, 0.0))
    scale = float(
        np.abs(logistic_gradient_rule(1.0, 1.0 if pure else math.sqrt(11.09), 1 if pure else 2).table[1, 1024, 1])
    )
    scale /= 0.25 * WEIGHT_UNIT
    budget = Told([np.array([[30.0, 50.0 * scale]]), np.array([[900.0, -5.0]])], 6.0, pure)
    margins = Margins()
    result = set_intercept(budget, margins, rate, 2)  # type: ignore[arg-type]
    least = max(min(0.02, 0.5 * rate.curvature) * 400, 1.0)
    first = 30.0 * 50 * 0.5 / (50.0**2 * 0.5 + 50 + 36)
    second = min(900.0 * least * 0.5 / (least**2 * 0.5 + least + 36), 2.0)
    assert result == pytest.approx(rate.log_odds + first + second, abs=1e-4)
    assert [str(label) for _, label in budget.asked] == [str(label) for label in labels_of("intercept", 2)]
    assert sum(float(update.values[0]) for update in margins.updates) / 65536 == pytest.approx(result)


def labels_of(stage: str, count: int) -> list[Any]:
    from tacit.privacy.label import Label, Stage

    return [Label(Stage(stage), round=number + 1) for number in range(count)]


# leaves of counts


def test_base_rates_from_noisy_counts() -> None:
    released = [(np.array([[30.0, 10.0], [20.0, 0.0]]), 4.0), (np.array([[40.0, 14.0]]), 3.0)]
    noise = math.sqrt(2 * 16 + 9) / 2 / 57.0
    expected = 0.5 + (12.0 / 57 - 0.5) / 12 / (1 / 12 + noise**2)
    assert base_rate_of(released) == pytest.approx(expected)
    assert base_rate_of([(np.array([[100.0, -3.0]]), 0.0)]) == pytest.approx(1e-3)
    assert base_rate_of([(np.array([[-3.0, 100.0]]), 0.0)]) == pytest.approx(1 - 1e-3)
    assert base_rate_of([(np.array([[-3.0, -4.0]]), 1e-3)]) == pytest.approx(1e-3)


@pytest.mark.parametrize("sampled", [True, False])
def test_leaves_are_drawn_to_the_base_rate(sampled: bool) -> None:
    """A leaf in doubt, one with a clear surplus, and one of no rows."""
    base, sd = 0.2, 2.0
    counts = np.array([[9.0, 3.0], [5.0, 20.0], [-4.0, -1.0]])
    weight, result = 0.04 + 0.64, drawn_to(base, counts, sd, sampled=sampled)
    for line, (n0, n1) in zip(result, counts, strict=True):
        surplus = 0.8 * n1 - 0.2 * n0
        clear = abs(surplus) > 3 * sd * math.sqrt(weight)
        rows = max(n0 + n1 if clear else (0.2 * n1 + 0.8 * n0) / weight, 0.0)
        prior = 0.16 / 2
        expected = base + prior * rows * surplus / (prior * rows**2 + rows * 0.16 * sampled + 4 * weight + 1e-12)
        assert line == pytest.approx(expected)


# several classes


def test_likely_counts_are_posterior_means() -> None:
    """By another quadrature: log-normal sizes of mean total / classes, noise and sampling."""
    noisy, sd, total, spread = np.array([50.0, -20.0, 300.0]), 30.0, 600.0, 1.3
    counts, variances = likely_counts(noisy, sd, total, spread)
    logs = np.arange(-8.0, math.log(6.0), 1e-3)
    for seen, count, variance in zip(noisy, counts, variances, strict=True):
        sizes = 200 * np.exp(logs)
        prior = np.exp(-((logs + spread**2 / 2) ** 2) / (2 * spread**2))
        likelihood = np.exp(-((seen - sizes) ** 2) / (2 * (sd**2 + sizes)))
        weights = prior * likelihood / (prior * likelihood).sum()
        assert count == pytest.approx(weights @ sizes, rel=3e-3)
        assert variance == pytest.approx(weights @ logs**2 - (weights @ logs) ** 2, rel=1e-2)


def test_scores_of_shares() -> None:
    result = log_odds_of(np.array([10.0, 30.0, 60.0]))
    assert np.exp(result) / np.exp(result).sum() == pytest.approx([0.1, 0.3, 0.6])
    assert result.sum() == pytest.approx(0.0)


@pytest.mark.parametrize("norm", [1, 2])
def test_curvature_of_softmax_residuals_row_by_row(norm: int) -> None:
    chances = np.random.default_rng(0).dirichlet(np.ones(3), size=20)
    whole = np.zeros((3, 3))
    for p in chances:
        longest = max(np.linalg.norm(np.eye(3)[k] - p, norm) for k in range(3))
        whole += (np.diag(p) - np.outer(p, p)) / longest / 20
    assert softmax_curvature(chances, SoftmaxRule(3, norm)) == pytest.approx(whole)


def told_rounds(norm: int = 2) -> SoftmaxRounds:
    masses = [np.array([0.5, 0.5])]
    rows = SimulatedRows(masses, 3, np.random.default_rng(0), 500)
    return SoftmaxRounds(Scores(3), SoftmaxRule(3, norm, 200), rows)


def test_constants_of_several_classes_by_hand() -> None:
    """Along eigenvectors of the curvature, times rows; of mean 0, and the second cut at 2."""
    rounds, sd, doubt, count = told_rounds(), 5.0, 0.3, 400.0
    answers = [np.array([[12.0, -3.0, -5.0]]), np.array([[9000.0, -4000.0, -5000.0]])]
    moved, variance = np.zeros(3), np.zeros(3)
    for answer in answers:
        powers = np.exp(moved)
        chances = np.tile(powers / powers.sum(), (500, 1))
        values, basis = np.linalg.eigh(softmax_curvature(chances, SoftmaxRule(3)))
        curved = count * np.maximum(values, 0.02 / 3)
        gains = curved * doubt / (curved**2 * doubt + curved + sd**2)
        step = basis @ (gains * (basis.T @ answer[0]))
        moved = moved + np.clip(step - step.mean(), -2.0, 2.0)
        variance = basis**2 @ (gains * sd) ** 2
    budget = Told(answers, sd)
    found, noise = set_constants(budget, rounds, count, doubt, 2)  # type: ignore[arg-type]
    assert found == pytest.approx(moved, abs=1e-3)
    assert noise == pytest.approx(np.sqrt(variance), rel=1e-3)
    query = budget.asked[0][0]
    assert (query.rule.curvature, query.rule.norm, query.shape) == (0, 2, (1, 3))
    assert [str(label) for _, label in budget.asked] == [str(label) for label in labels_of("intercept", 2)]


def test_units_of_softmax_rounds() -> None:
    rounds = told_rounds()
    assert rounds.unit == 200 / 256
    assert rounds.curvature() == pytest.approx(softmax_curvature(np.full((500, 3), 1 / 3), SoftmaxRule(3)))
    added = rounds.add(OneCell(), np.array([[0.5, -0.25, -0.25]]))
    assert added == pytest.approx(np.array([[0.5, -0.25, -0.25]]))
    powers = np.exp([0.5, -0.25, -0.25])
    assert rounds.rows.probabilities()[0] == pytest.approx(powers / powers.sum(), rel=1e-4)


def test_plans_of_several_classes() -> None:
    """Kernel trees under Gaussian noise; under Laplace noise those of two classes, by epsilon."""
    made: KernelPlan = class_plan(5000.0, Told([], 0.8), 4)  # type: ignore[arg-type, assignment]
    expected = within_time(kernel_plan(5000.0, 0.8, 0.6, 150, 4, 1.0, KERNEL.most_variance), 5)
    assert made == expected
    assert class_plan(5000.0, Told([], math.sqrt(2.0) / 0.7, pure=True), 4) == laplace_plan(5000.0, 0.7)  # type: ignore[arg-type]
