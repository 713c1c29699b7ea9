"""Kernel trees with a vector of scores: how far they go, how large noise is, and what they see."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from tacit import AdditiveBoostClassifier, AdditiveBoostRegressor, Schema
from tacit.additive.first_look import FirstLook
from tacit.additive.intercept import NewtonIntercept
from tacit.additive.losses import ScoreLoss, SoftmaxLoss
from tacit.additive.planner import Planner
from tacit.additive.residual_loss import SquaredLoss
from tacit.additive.sweeps import HyperPrior, State
from tacit.additive.trees import StateRounds
from tacit.additive.tuning import SWEEPING
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.growing.kernel_trees import (
    KernelPlan,
    LeftOver,
    kernel_plan,
    kernel_steps,
    within_time,
)
from tacit.growing.newton_trees import LeafSums, NewtonPlan
from tacit.growing.random_trees import RandomStructures
from tacit.growing.score_leaves import CurvatureShape, KernelSteps, LeafSteps, grow_score_trees
from tacit.growing.softmax import SimulatedRows
from tacit.growing.tuning import GROWING, KERNEL
from tacit.noise import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring

COLUMNS = {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in "abcd"}
CLASSES = Schema.from_dict({"label": {"column": "y", "classes": [0, 1, 2]}, "columns": COLUMNS})
NUMBERS = Schema.from_dict({"label": {"column": "y", "kind": "numeric", "lower": -5, "upper": 5}, "columns": COLUMNS})


def state_of(loss: ScoreLoss, budget: Budget, rows: SimulatedRows) -> State:
    """A state in which nothing has been learned yet."""
    known = FirstLook((), 100.0, 1.0, Planner().plan(100.0, 1, 1.0, False), [], 0.0)
    intercept = NewtonIntercept(np.zeros(loss.n_scores), 100.0, 1.0)
    return State(known, budget, loss, intercept, HyperPrior(1), rows)


def grown(loss: ScoreLoss, columns, labels, n_codes, allowance, plan, seed=0):
    """Trees over a table, and the reservation that paid for them."""
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    table = MemoryTable([np.asarray(codes, np.uint8) for codes in columns], labels, n_codes, 3)
    gate, generator = Curator(table, reservation, SeededSource(seed)), np.random.default_rng(seed)
    rows = SimulatedRows([np.ones(codes) for codes in n_codes], loss.n_scores, generator, SWEEPING.simulated_rows)
    budget = Budget(gate, allowance)
    state = state_of(loss, budget, rows)
    structures = RandomStructures([np.ones(codes) for codes in n_codes], generator)
    return grow_score_trees(budget, structures, plan, StateRounds(state, loss)), reservation


def scores(trees, columns):
    codes = [np.asarray(column, np.uint8) for column in columns]
    return sum(tree.values[tree.shape.find(codes)] for tree in trees)


@pytest.mark.parametrize(("trees", "noise"), [(20, 0.15), (80, 0.3), pytest.param(160, 0.15, marks=pytest.mark.slow)])
def test_noise_in_a_score_is_as_large_as_planned(noise, trees):
    """Of no rows only noise is left: however many trees, its standard deviation in a score is what the plan allows."""
    allowance, loss = Allowance.of(1.0, 1e-6), SoftmaxLoss(3, pure=False)
    points = np.random.default_rng(5).integers(0, 32, (4, 60))
    way = kernel_plan(0.0, allowance.sd(1.0), noise, trees, 4, loss.bound).variance
    results = []
    for seed in range(12):
        plan = KernelPlan(trees, 5.0, 4, way)
        made, _ = grown(loss, [np.zeros(0)] * 4, np.zeros(0, np.uint8), [32] * 4, allowance, plan, seed)
        results.append(scores(made, points))
    assert float(np.std(results)) == pytest.approx(noise, rel=0.2)  # it scatters by .02 to .03


def test_steps_add_up_to_a_way_against_the_slope():
    """Two kinds of rows and no noise: scores of three classes go down the loss of their rows as far as planned."""
    codes, shares = np.repeat([0, 1], [300, 100]), [(200, 60, 40), (20, 20, 60)]
    labels = np.concatenate([np.repeat([0, 1, 2], counts) for counts in shares]).astype(np.uint8)
    way, trees = 0.02, 400
    loss = SoftmaxLoss(3, pure=False)
    made, _ = grown(loss, [codes], labels, [2], Allowance.of(math.inf, 0.0), KernelPlan(trees, 1.0, 1, way))
    for code, counts in enumerate(shares):
        score = np.zeros(3)
        for _ in range(4_000):  # the flow itself, in steps too short to matter
            p = np.exp(score) / np.exp(score).sum()
            longest = max(np.linalg.norm(np.eye(3)[k] - p) for k in range(3))
            score += way / 4_000 * (np.array(counts) - sum(counts) * p) / longest
        assert scores(made, [np.array([code])])[0] == pytest.approx(score, rel=0.04, abs=0.02)


def test_one_score_goes_as_far_as_a_margin():
    sums = LeafSums(np.array([[5.0], [-3.0], [1.0], [2.0]]), np.array([40.0, 40.0, 40.0, 40.0]), 1.0, 1e-6)
    plan = KernelPlan(10, 2.0, 1, 0.004)
    taken = KernelSteps(plan, CurvatureShape(np.eye(1), np.ones(1)), 1.0).take(
        sums, CurvatureShape(np.eye(1), np.ones(1)), 1.0
    )
    margin = LeafSums(sums.gradients[:, 0], sums.curvatures, 1.0, 1e-6)
    assert taken.values[:, 0] == pytest.approx(kernel_steps(margin, 0.0004))


@pytest.mark.parametrize("truth", [0.0, 0.02])
def test_what_is_left_over_is_seen_in_all_directions_together(truth):
    """Three scores of which one direction has no curvature, as the mean of all does not."""
    generator, leaves, trace, sd = np.random.default_rng(4), 512, 60.0, 10.0
    parts, upper = np.array([0.0, 0.5, 0.5]), 1 << KERNEL.coarse_levels
    learned = LeftOver(own=1.0 * parts.mean(), squares=float((parts**2).mean()))
    for _ in range(KERNEL.informative):
        h = trace * parts[None, :] * np.ones((leaves, 1))
        steps = np.repeat(generator.normal(0, math.sqrt(truth), (upper, 3)), leaves // upper, axis=0)
        sums = h * steps + generator.normal(size=h.shape) * np.sqrt(h) + generator.normal(0, sd, h.shape)
        believed = learned.learn(LeafSums(sums, np.full(leaves, trace) + generator.normal(0, sd, leaves), sd, sd))
    assert believed == pytest.approx(truth, rel=0.2, abs=0.002)


def test_numbers_have_noise_relative_to_their_residuals():
    loss = SquaredLoss(4)
    before = (loss.tree_noise, loss.most_variance(KERNEL))
    loss._set_clip(1.0, 0.9, 0.125)  # a quarter of the variance that targets began with
    assert (loss.tree_noise, loss.most_variance(KERNEL)) == pytest.approx((before[0] / 2, before[1] / 4))


def test_fewer_trees_where_leaves_hold_many_numbers():
    plan = KernelPlan(300, 9.0, 6, 0.5)
    assert within_time(plan, 2) == plan
    assert within_time(plan, 8).trees == int(KERNEL.most_numbers / (8 * 512)) < 300
    assert within_time(plan, 60).trees == KERNEL.informative
    assert within_time(KernelPlan(50, 9.0, 6, 0.5), 60).trees == 50


def test_all_is_spent_and_no_more():
    generator = np.random.default_rng(0)
    columns, labels = [generator.integers(0, 9, 500) for _ in range(3)], generator.integers(0, 3, 500).astype(np.uint8)
    allowance = Allowance.of(2.0, 1e-6)
    trees, reservation = grown(SoftmaxLoss(3, False), columns, labels, [9] * 3, allowance, KernelPlan(30, 4.5, 3, 0.3))
    assert {tree.shape.depth for tree in trees} == {4, 5}
    assert len(reservation.entries) == len(trees) == 30
    assert sum(entry.charge.precision for entry in reservation.entries) == pytest.approx(allowance.mu**2, rel=1e-9)


def test_the_shape_of_the_curvature_is_that_of_simulated_rows():
    loss, generator = SoftmaxLoss(3, pure=False), np.random.default_rng(0)
    rows = SimulatedRows([np.ones(4)], 3, generator, SWEEPING.simulated_rows)
    shape = CurvatureShape.of(loss.curvature(rows))
    assert shape.parts == pytest.approx([0.0, 0.5, 0.5], abs=1e-9)  # scores of 0: all alike, but for their mean
    curvature = loss.curvature(rows)
    assert shape.basis @ np.diag(shape.parts) @ shape.basis.T == pytest.approx(curvature / np.trace(curvature))


def parity(n, seed):
    """A class and a number by the parity of three columns, of which no two tell anything; one label in ten wrong."""
    generator = np.random.default_rng(seed)
    X = generator.random((n, 4))
    odd = (X[:, :3] > 0.5).sum(axis=1) % 2
    labels = np.where(generator.random(n) < 0.1, generator.integers(0, 3, n), odd)
    return pd.DataFrame(X, columns=list("abcd")), labels, 2.0 * odd + 0.3 * generator.normal(size=n)


@pytest.mark.filterwarnings("ignore:from what was released")  # pairs see nothing, and say so
def test_they_see_what_pairs_do_not():
    X, labels, numbers = parity(3000, 0)
    X_test, labels_test, numbers_test = parity(4000, 1)
    losses, errors = [], []
    for wanted in (True, "pairs"):
        classes = AdditiveBoostClassifier(epsilon=8.0, schema=CLASSES, random_state=0, interactions=wanted)
        chances = classes.fit(X, labels).predict_proba(X_test)
        losses.append(float(-np.log(chances[np.arange(len(labels_test)), labels_test]).mean()))
        model = AdditiveBoostRegressor(epsilon=8.0, schema=NUMBERS, random_state=0, interactions=wanted)
        errors.append(float(np.mean((model.fit(X, numbers).predict(X_test) - numbers_test) ** 2)))
    assert losses[0] < losses[1] - 0.06  # .162 +- .014 over salts
    assert errors[0] < 0.85 * errors[1]  # .67 +- .02


def test_steps_of_leaves_by_hand() -> None:
    """Two rounds along the axes: what scatters beyond noise and chance speaks for the prior, the last round most."""
    shape, scatter, sd, rate, plan_prior = CurvatureShape(np.eye(2), np.array([0.75, 0.25])), 0.8, 2.0, 0.3, 0.5
    plan = NewtonPlan(trees=9, depth=2, columns_per_tree=1, rate=rate, prior=plan_prior, clip=1.0, hessian_scale=1.0)
    steps, rng = LeafSteps(plan), np.random.default_rng(0)
    excess = weight = chance = 0.0
    numbers = GROWING.scoring
    for _ in range(2):
        gradients, traces = rng.normal(0, 6.0, (4, 2)), np.array([8.0, 12.0, 20.0, 40.0])
        result = steps.take(LeafSums(gradients, traces, sd, 1e-9), shape, scatter)
        h = traces[:, None] * [0.75, 0.25]
        expected = scatter * h + sd**2
        excess = numbers.memory * excess + (gradients**2 - expected).sum()
        weight = numbers.memory * weight + (h**2).sum()
        chance = numbers.memory**2 * chance + (2 * expected**2).sum()  # the variance of a square
        first = numbers.first_prior * plan_prior * scatter
        trust = first**2 / (first**2 + chance / weight**2)
        prior = max(trust * excess / weight + (1 - trust) * first, numbers.least_prior * first)
        answers = rate * h * prior / (h**2 * prior + expected)
        assert result.answers == pytest.approx(answers)
        assert result.values == pytest.approx(gradients * answers)
        assert result.curvatures == pytest.approx(h)
