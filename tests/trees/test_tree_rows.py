"""Theorem 13 with constants that real tables meet: each step of its proof, its figures, and how often trees keep it."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats

from tacit.theory import tree_rows, trees
from tacit.trees.losses import MATSUSHITA, Loss, SmoothedLoss, SquareLoss
from tests.chance import at_least_share, at_most_share

GINI = SquareLoss()


def _split(positive: float, right_positive: float, right_negative: float) -> float:
    """Gini's risk of the children of a leaf of weight 1."""
    a, b = positive * right_positive, (1 - positive) * right_negative
    return float(GINI.node_risk(a, a + b) + GINI.node_risk(positive - a, 1 - a - b))


def test_a_split_takes_gini_down_by_what_its_edge_promises() -> None:
    """Over all leaves and splits; met at proportions 1/2; ten per cent more edge is found out."""
    grid = np.linspace(0.01, 0.99, 15)
    found_out = False
    for p, p1, p0 in product(grid, grid, grid):
        gamma, risk = abs(p1 - p0), 4 * p * (1 - p)
        if gamma < 1e-9:
            continue
        after = _split(p, p1, p0)
        assert after <= tree_rows.gini_descent(risk, gamma) + 1e-9
        found_out |= after > tree_rows.gini_descent(risk, min(1.0, 1.1 * gamma)) + 1e-6
    assert found_out
    assert _split(0.5, 0.65, 0.35) == pytest.approx(tree_rows.gini_descent(1.0, 0.3))


def test_gini_of_many_leaves_descends_as_the_bound_says() -> None:
    """Leaves of unlike risks descend faster than their mean says (Jensen); beyond the parabola's top nothing falls."""
    rng = np.random.default_rng(1)
    for gamma in (0.3, 0.8, 1.0):
        weights, risks = rng.dirichlet(np.ones(6), 2000), rng.random((2000, 6))
        after = (weights * (risks - gamma**2 * risks**2)).sum(axis=1)
        before = (weights * risks).sum(axis=1)
        assert all(a <= tree_rows.gini_descent(b, gamma) + 1e-12 for a, b in zip(after, before, strict=True))
        steps = [tree_rows.gini_descent(r, gamma) for r in np.linspace(0, 1, 50)]
        assert all(a <= b for a, b in pairwise(steps))


@pytest.mark.parametrize("smoothing", [0.003, 0.03, 0.3, 2.0])
def test_a_split_takes_the_smoothed_risk_down_by_what_its_edge_promises(smoothing: float) -> None:
    """The smoothed laws of "which child" are an edge of ``rho gamma`` apart; ten per cent more edge is found out."""
    k, loss, grid = (
        smoothing,
        SmoothedLoss(smoothing),
        np.concatenate([[0.001, 0.01, 0.03], np.linspace(0.08, 0.92, 15)]),
    )
    p, p1, p0 = (a.ravel() for a in np.meshgrid(grid, grid, grid))
    p, p1, p0 = p[p1 != p0], p1[p1 != p0], p0[p1 != p0]
    q, right = 1 - p, p * p1 + (1 - p) * p0
    rho = (1 + 2 * k) * p * q / ((p + k) * (q + k))
    apart = (p * p1 + k * right) / (p + k) - (q * p0 + k * right) / (q + k)
    assert apart == pytest.approx(rho * (p1 - p0))
    before = loss.bayes_risk(p)
    after = loss.node_risk(p * p1, right) + loss.node_risk(p * (1 - p1), 1 - right)
    descent = tree_rows.SmoothedDescent(k)
    bounds = np.array([descent(r, g) for r, g in zip(before, np.abs(p1 - p0), strict=True)])
    assert np.all(after <= bounds + 1e-9)
    least = np.array([descent(r, min(1.0, 1.1 * g)) for r, g in zip(before, np.abs(p1 - p0), strict=True)])
    assert np.any(after > least + 1e-6)


@pytest.mark.parametrize("smoothing", [0.003, 0.03, 0.3, 2.0])
@pytest.mark.parametrize("gamma", [0.2, 0.7, 1.0])
def test_the_smoothed_risk_of_many_leaves_descends_as_the_bound_says(smoothing: float, gamma: float) -> None:
    """By hand for one leaf, then for leaves of unlike risks (Jensen); it never falls as the risk rises."""
    k, descent = smoothing, tree_rows.SmoothedDescent(smoothing)
    pure, factor = 2 * math.sqrt(k * (1 + k)), (math.sqrt(1 + k) + math.sqrt(k)) ** 2

    def one_leaf(risk: np.ndarray) -> np.ndarray:
        x = pure + risk / factor
        return risk - factor * x * 0.5 * (gamma * (1 + 2 * k) * (1 - (pure / x) ** 2)) ** 2

    rng = np.random.default_rng(1)
    weights, risks = rng.dirichlet(np.full(6, 0.3), 2000), rng.random((2000, 6)) ** 3
    after, before = (weights * one_leaf(risks)).sum(axis=1), (weights * risks).sum(axis=1)
    bounds = [descent(b, gamma) for b in before]
    assert np.all(after <= np.array(bounds) + 1e-12)
    two = np.linspace(0, 1, 101)[:, None] * one_leaf(np.array([1.0])) + np.linspace(1, 0, 101)[:, None] * 0.0
    assert np.all(two.ravel() <= np.array([descent(r, gamma) for r in np.linspace(0, 1, 101)]) + 1e-9)
    steps = [descent(r, gamma) for r in np.linspace(0, 1, 400)]
    assert all(a <= b + 1e-12 for a, b in pairwise(steps))
    assert steps[0] == pytest.approx(0.0, abs=1e-12)
    assert descent(1e-3, gamma) == pytest.approx(float(one_leaf(np.array([1e-3]))[0]), abs=1e-6)


def test_little_smoothing_has_matsushitas_rate_and_much_has_ginis() -> None:
    for risk, gamma in product((0.1, 0.5, 1.0), (0.2, 0.5)):
        assert tree_rows.SmoothedDescent(1e-9)(risk, gamma) == pytest.approx(risk * (1 - gamma**2 / 2), rel=1e-3)
        assert tree_rows.SmoothedDescent(300.0)(risk, gamma) == pytest.approx(
            tree_rows.gini_descent(risk, gamma), rel=5e-3
        )
    for smoothing in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="smoothing must be"):
            tree_rows.smoothed(smoothing)


@pytest.mark.parametrize("smoothing", [0.01, 0.3])
def test_trees_of_full_levels_err_as_theorem_10_for_the_smoothed_loss_says(smoothing: float) -> None:
    """Every leaf is split with edge gamma, at any proportions: level by level the error keeps the bound."""
    loss, descent, gamma = SmoothedLoss(smoothing), tree_rows.SmoothedDescent(smoothing), 0.6
    rng = np.random.default_rng(4)
    positives, negatives, bound = np.array([0.5]), np.array([0.5]), 1.0
    for _ in range(9):
        p0 = rng.random(len(positives)) * (1 - gamma)
        p1 = p0 + gamma
        positives = np.concatenate([positives * p1, positives * (1 - p1)])
        negatives = np.concatenate([negatives * p0, negatives * (1 - p0)])
        bound = descent(bound, gamma)
        risk = loss.node_risk(positives, positives + negatives).sum()
        assert np.minimum(positives, negatives).sum() <= risk / 2 <= bound / 2
    assert bound < 0.4  # the statement is not empty


def test_movements_are_those_of_the_scores() -> None:
    for rows in (2, 30, 10**6):
        assert tree_rows.GINI.movement(rows) == pytest.approx(trees.node_risk_range(GINI.bayes_risk, rows))
        assert tree_rows.MATSUSHITA.movement(rows) == pytest.approx(trees.node_risk_range(MATSUSHITA.bayes_risk, rows))
        for k in (0.01, 1.0):
            result = tree_rows.smoothed(k).movement(rows)
            assert result == pytest.approx(trees.node_risk_range(SmoothedLoss(k).bayes_risk, rows))
            assert result < (math.sqrt(1 + k) + math.sqrt(k)) ** 2 / math.sqrt(k * (1 + k))
    assert tree_rows.PAPER.movement(10**6) == pytest.approx(2 * (3 + 2 * 999))
    assert tree_rows.PAPER.descent(0.8, 0.5) == pytest.approx(0.8 * (1 - 0.25 / 16))
    assert tree_rows.MATSUSHITA.descent(0.8, 0.6) == pytest.approx(0.64)


def test_what_a_level_loses() -> None:
    """One leaf: 39 candidates that all fall short by the bound are chosen as often as it allows, by less too often."""
    candidates, failure = 40, 0.02
    bound = tree_rows.largest_loss(1, candidates, failure)

    def chance(shortfall: float) -> float:
        lazy = (candidates - 1) * math.exp(-shortfall)
        return lazy / (1 + lazy)

    assert failure / (1 + failure) <= chance(bound) + 1e-12 <= failure
    assert chance(0.99 * bound) > failure
    for leaves in (2, 16):
        expected = leaves * math.log(39) + stats.gamma(leaves).isf(failure)
        assert tree_rows.largest_loss(leaves, candidates, failure) == pytest.approx(expected)
    assert tree_rows.largest_loss(3, 1, failure) == pytest.approx(tree_rows.largest_loss(3, 2, failure))


def test_losses_of_many_leaves_stay_below_the_quantile() -> None:
    """16 leaves whose scores are what hurts most, two candidates in each of 40 any way between: at most the chance."""
    rng = np.random.default_rng(2)
    bound = tree_rows.largest_loss(16, 40, 0.05)
    for shortfall in (4.0, 5.0, 6.0):
        chance = 39 * math.exp(-shortfall) / (1 + 39 * math.exp(-shortfall))
        assert np.mean(shortfall * rng.binomial(16, chance, 20000) > bound) <= 0.05
    scores = -rng.exponential(4.0, (4000, 16, 40))
    scores[..., 0] = 0.0
    chosen = (scores + rng.gumbel(size=scores.shape)).argmax(axis=2)
    losses = -np.take_along_axis(scores, chosen[..., None], axis=2).sum(axis=(1, 2))
    assert np.mean(losses > bound) <= 0.05


def test_rows_that_the_theorem_asks_for() -> None:
    """From more than 10^12 rows to less than 10^5; one row fewer is not enough, and no other depth does with fewer."""
    setting = {"epsilon": 1.0, "gamma": 0.5, "candidates": 40, "failure": 0.05}
    arguments = {}
    for name in ("PAPER", "MATSUSHITA_BY_NODE", "MATSUSHITA", "GINI"):
        arguments[name] = tree_rows.rows_for_error(0.25, getattr(tree_rows, name), **setting)
    assert arguments["PAPER"][1] == 45
    assert arguments["PAPER"][0] > 1e60
    assert arguments["MATSUSHITA_BY_NODE"] == (pytest.approx(3.519e11, rel=0.001), 6)
    assert arguments["MATSUSHITA"] == (pytest.approx(1.126e9, rel=0.001), 6)
    assert arguments["GINI"] == (18628, 4)
    rows, depth = arguments["GINI"]

    def error(rows: int, depth: int) -> float:
        return tree_rows.private_error_bound(tree_rows.GINI, rows, shares=tree_rows.level_shares(depth), **setting)

    assert error(rows, depth) <= 0.25 < error(rows - 1, depth)
    assert all(error(rows - 1, other) > 0.25 for other in range(1, 12))
    small = {**setting, "risk": tree_rows.smoothed(0.03)}
    assert tree_rows.rows_for_error(0.1, **small) == (pytest.approx(1.2595e7, rel=0.001), 11)
    assert tree_rows.rows_for_error(0.1, tree_rows.GINI, **setting)[0] > 20 * 1.2595e7
    for wrong in (0.0, 0.5):
        with pytest.raises(ValueError, match="must lie in"):
            tree_rows.rows_for_error(wrong, tree_rows.GINI, **setting)
    with pytest.raises(ValueError, match="no tree of depth"):
        tree_rows.rows_for_error(0.01, tree_rows.GINI, **setting)


def _grow(
    rng: np.random.Generator, x: np.ndarray, y: np.ndarray, epsilon: float, depth: int, loss: Loss = GINI
) -> tuple[float, float]:
    """Splits of binary columns, chosen by the exponential mechanism: (error, the least best edge it met)."""
    leaf, least = np.zeros(len(y), np.int64), 1.0
    movement = trees.node_risk_range(loss.bayes_risk, len(y))
    for level, share in enumerate(tree_rows.level_shares(depth)):
        following = leaf.copy()
        for node in range(2**level):
            inside = leaf == node
            a, n = y[inside].sum(), inside.sum()
            right_a, right_n = y[inside] @ x[inside], x[inside].sum(axis=0)
            edges = np.abs(right_a / max(a, 1) - (right_n - right_a) / max(n - a, 1))
            least = min(least, float(edges.max())) if 0 < a < n else least
            score = -loss.node_risk(right_a, right_n) - loss.node_risk(a - right_a, n - right_n)
            chosen = int((epsilon * share / movement * score + rng.gumbel(size=len(score))).argmax())
            following[inside] = 2 * node + x[inside, chosen]
        leaf = following
    counts = np.bincount(leaf, minlength=2**depth)
    positives = np.bincount(leaf, weights=y, minlength=2**depth)
    return float(np.minimum(positives, counts - positives).sum() / len(y)), least


def _table(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """40 binary columns, 4 of which agree with the label in .79 of the rows; and the label."""
    y = np.arange(rows) % 2
    good = np.where(rng.random((rows, 4)) < 0.79, y[:, None], 1 - y[:, None])
    return np.concatenate([good, rng.integers(0, 2, (rows, 36))], axis=1), y


def _check_promise(grown: list[tuple[float, float]]) -> None:
    """Of trees that met the theorem's assumption, edges of at least .5, at most a share .05 may err by more than .3."""
    errors = [error for error, least in grown if least >= 0.5]
    assert at_least_share(len(errors), len(grown), 0.9)
    assert at_most_share(sum(error > 0.3 for error in errors), len(errors), 0.05)


def test_private_trees_keep_the_smoothed_bound_as_often_as_promised() -> None:
    """The same by the smoothed loss."""
    risk, setting = tree_rows.smoothed(0.3), {"gamma": 0.5, "candidates": 40, "failure": 0.05}
    rows, depth = tree_rows.rows_for_error(0.3, risk, epsilon=1.0, **setting)
    assert rows < 7000
    rng = np.random.default_rng(3)
    x, y = _table(rng, rows)
    _check_promise([_grow(rng, x, y, 1.0, depth, SmoothedLoss(0.3)) for _ in range(40)])
    assert np.mean([_grow(rng, x, y, 0.01, depth, SmoothedLoss(0.3))[0] > 0.3 for _ in range(40)]) > 0


def test_private_trees_keep_the_bound_as_often_as_promised() -> None:
    """40 columns, 4 of which have edge .58 or so in every leaf: rows for an error of .3, its frequency over 60 trees.

    With a hundredth of epsilon the same rows fail it many times as often.
    """
    setting = {"gamma": 0.5, "candidates": 40, "failure": 0.05}
    rows, depth = tree_rows.rows_for_error(0.3, tree_rows.GINI, epsilon=1.0, **setting)
    assert rows < 5000

    def by_hand(rows: int) -> float:
        reached = 1.0
        for level, share in enumerate(tree_rows.level_shares(depth)):
            shortfall = 2**level * math.log(39) + stats.gamma(2**level).isf(0.05 / depth)
            reached += 4 * (rows - 1) / rows * shortfall / (share * rows) - reached**2 / 4
        return reached / 2

    assert by_hand(rows) <= 0.3 < by_hand(rows - 1)
    rng = np.random.default_rng(3)
    x, y = _table(rng, rows)
    _check_promise([_grow(rng, x, y, 1.0, depth) for _ in range(60)])
    assert np.mean([_grow(rng, x, y, 0.01, depth)[0] > 0.3 for _ in range(40)]) > 0  # .7 +- .08 over salts
