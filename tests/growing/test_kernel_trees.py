"""Kernel trees: what steps add up to, how large noise is in the end, and what is thought left over."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.growing.kernel_trees import (
    KernelPlan,
    LeftOver,
    grow_kernel_trees,
    kernel_plan,
    kernel_steps,
    prior_variance,
)
from tacit.growing.newton_trees import LeafSums
from tacit.growing.random_trees import RandomStructures, cut_nodes
from tacit.growing.tuning import CUTTING, GROWING, KERNEL, STEPPING
from tacit.noise import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.margins import Margins


def grown(columns, labels, n_codes, allowance, plan, share=1.0, seed=0, numbers=GROWING):
    """Trees over a table, and the reservation that paid for them."""
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    table = MemoryTable([np.asarray(codes, np.uint8) for codes in columns], labels, n_codes, 2)
    gate = Curator(table, reservation, SeededSource(seed))
    generator = np.random.default_rng(seed)
    structures = RandomStructures([np.ones(codes) for codes in n_codes], generator)
    budget, log = Budget(gate, allowance, share), Margins()
    return grow_kernel_trees(budget, structures, plan, log, generator, None, numbers), reservation


def scores(trees, columns):
    codes = [np.asarray(column, np.uint8) for column in columns]
    return sum(tree.values[tree.shape.find(codes)] for tree in trees)


def slow_cuts(picks, places, upto, last):
    """What :func:`cut_nodes` says it does, node by node and box by box."""
    boxes = [[(0, end) for end in last]]
    chosen, cuts = [], []
    for node in range(len(places)):
        box = boxes[node]
        pick = next((k for k in picks[node] if box[k][1] > box[k][0]), picks[node][-1])
        low, high = box[pick]
        cut = high
        if low < high:
            mass = upto[pick]
            wanted = mass[low] + places[node] * (mass[high + 1] - mass[low])
            cut = min(max(int(np.searchsorted(mass, wanted, side="left")) - 1, low), high - 1)
        chosen.append(pick)
        cuts.append(cut)
        left, right = list(box), list(box)
        left[pick], right[pick] = (low, min(cut, high)), (min(cut + 1, high), high)
        boxes += [left, right]
    return chosen, cuts


@pytest.mark.parametrize("depth", [1, 4, 9])
@pytest.mark.parametrize("seed", range(8))
def test_cuts_are_those_of_the_definition(depth, seed):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(2, 30, 5)
    mass = [np.concatenate([[0.0], np.cumsum(generator.exponential(size=size))]) for size in sizes]
    picks, places = generator.integers(0, 5, (2**depth - 1, CUTTING.tries)), generator.random(2**depth - 1)
    chosen, cuts = np.empty(2**depth - 1, np.int64), np.empty(2**depth - 1, np.int64)
    first = np.concatenate([[0], np.cumsum(sizes + 1)[:-1]])
    cut_nodes(picks, places, np.concatenate(mass), first, sizes - 1, chosen, cuts)
    assert (chosen.tolist(), cuts.tolist()) == slow_cuts(picks.tolist(), places.tolist(), mass, (sizes - 1).tolist())


@pytest.mark.parametrize(("trees", "noise"), [(20, 0.2), pytest.param(160, 0.35, marks=pytest.mark.slow)])
def test_noise_in_a_score_is_as_large_as_planned(noise, trees):
    """Of no rows only noise is left: however many trees, its standard deviation in a score is what the plan allows."""
    allowance, generator = Allowance.of(1.0, 1e-6), np.random.default_rng(5)
    points = generator.integers(0, 32, (4, 60))
    plan = kernel_plan(0.0, allowance.sd(1.0), noise, trees, 4)
    plan = KernelPlan(plan.trees, 5.0, plan.columns_per_tree, plan.variance)
    results = []
    for seed in range(30):
        empty = [np.zeros(0)] * 4
        made, _ = grown(empty, np.zeros(0, np.uint8), [32] * 4, allowance, plan, seed=seed)
        results.append(scores(made, points))
    # what is thought left over shortens steps a little as trees come in; leaves' noisy curvatures do, too
    assert float(np.std(results)) == pytest.approx(noise, rel=0.15)


def test_steps_add_up_to_a_way_against_the_slope():
    """Two kinds of rows and no noise: each score goes down the log loss of its rows for as long as the prior allows."""
    codes = np.repeat([0, 1], [300, 100])
    labels = np.concatenate([np.arange(300) < 240, np.arange(100) < 20]).astype(np.uint8)
    way, trees = 0.02, 400
    as_planned = replace(GROWING, kernel=replace(KERNEL, boldest=1.0))
    whole, plan = Allowance.of(math.inf, 0.0), KernelPlan(trees, 1.0, 1, way)
    made, _ = grown([codes], labels, [2], whole, plan, numbers=as_planned)
    for code, rows, positive in ((0, 300, 240), (1, 100, 20)):
        score = 0.0
        for _ in range(4_000):  # the flow itself, in steps too short to matter
            p = 1.0 / (1.0 + math.exp(-score))
            weight = min(1.0, KERNEL.clip / math.hypot(max(p, 1 - p), KERNEL.hessian_scale * p * (1 - p)))
            score += way / 4_000 * weight * (positive - rows * p)
        assert scores(made, [np.array([code])])[0] == pytest.approx(score, rel=0.03)


def test_a_way_that_would_go_too_far_ends_at_the_newton_step():
    sums = LeafSums(np.array([500.0, -500.0, 3.0]), np.array([4000.0, 4000.0, 0.0]), 1.0, 1.0)
    assert kernel_steps(sums, 1e9) == pytest.approx([500 / 4000, -500 / 4000, STEPPING.largest_step])
    assert kernel_steps(sums, 1e-6) == pytest.approx([5e-4, -5e-4, 3e-6], rel=0.01)


def test_later_trees_step_further_where_earlier_ones_show_that_much_is_left():
    plan, point = KernelPlan(150, 5.0, 6, 0.4), KERNEL.of_a_point
    for earlier, expected in ((0, [0.1, 0.4, 0.4, 0.4]), (19, [0.1, 0.4, 0.4, 0.4]), (20, [0.1, 0.4, 0.9, 1.6])):
        said = [prior_variance(left / point, earlier, plan) for left in (0.1, 1.4, 3.0, 30.0)]
        assert said == pytest.approx(expected)
    assert prior_variance(2.0 / point, 20, KernelPlan(150, 5.0, 6, 9.0)) == pytest.approx(2.0)


def test_all_is_spent_and_no_more():
    generator = np.random.default_rng(0)
    columns, labels = [generator.integers(0, 9, 500) for _ in range(3)], generator.integers(0, 2, 500).astype(np.uint8)
    allowance = Allowance.of(2.0, 1e-6)
    trees, reservation = grown(columns, labels, [9] * 3, allowance, KernelPlan(30, 4.5, 3, 0.3), share=1.0)
    assert len(trees) == 30
    assert {tree.shape.depth for tree in trees} == {4, 5}
    assert len(reservation.entries) == 30
    assert sum(entry.charge.precision for entry in reservation.entries) == pytest.approx(allowance.mu**2, rel=1e-9)


def test_columns_that_cannot_be_cut_cost_nothing():
    trees, reservation = grown(
        [np.zeros(50)], np.zeros(50, np.uint8), [1], Allowance.of(1.0, 1e-6), KernelPlan(9, 3, 1, 1)
    )
    assert trees == ()
    assert not reservation.entries


def left_over(generator, truth, curvature, sd, leaves, trees):
    """What is believed after so many trees whose leaves' true steps have this variance at the level that is seen."""
    learned, upper = LeftOver(), min(leaves, 1 << KERNEL.coarse_levels)
    for _ in range(trees):
        h = np.full(leaves, curvature)
        steps = np.repeat(generator.normal(0, math.sqrt(truth), upper), leaves // upper)
        g = h * steps + generator.normal(0, math.sqrt(curvature), leaves)
        noisy = LeafSums(g + generator.normal(0, sd, leaves), h + generator.normal(0, sd, leaves), sd, sd)
        believed = learned.learn(noisy)
    return believed


@pytest.mark.parametrize("truth", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("leaves", [64, 512])
def test_what_is_left_over_is_seen_through_the_noise(truth, leaves):
    """Also where single leaves are drowned (512 of them: a signal of 2 to 7 in noise of 10)."""
    rows = 30.0 if leaves == 512 else 240.0
    believed = left_over(np.random.default_rng(2), truth, rows, 10.0, leaves, 300)
    assert believed == pytest.approx(truth, rel=0.2, abs=0.002)


def test_where_noise_tells_nothing_the_first_belief_stays():
    believed = left_over(np.random.default_rng(3), 0.0, 1.0, 100.0, 512, 100)
    assert STEPPING.first_variance < believed < 0.1
