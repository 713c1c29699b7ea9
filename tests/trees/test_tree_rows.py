"""Theorem 13 with constants that real tables meet: each step of its proof, its figures, and how often trees keep it."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats

from tacit.theory import tree_rows, trees
from tacit.trees.losses import MATSUSHITA, SquareLoss

GINI = SquareLoss()


def _split(positive: float, right_positive: float, right_negative: float) -> float:
    """Gini's risk of the children of a leaf of weight 1."""
    a, b = positive * right_positive, (1 - positive) * right_negative
    return float(GINI.node_risk(a, a + b) + GINI.node_risk(positive - a, 1 - a - b))


def test_a_split_takes_gini_down_by_what_its_edge_promises() -> None:
    """Over all leaves and splits; met at proportions 1/2; ten per cent more edge is found out."""
    grid = np.linspace(0.01, 0.99, 33)
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


def test_movements_are_those_of_the_scores() -> None:
    for rows in (2, 30, 10**6):
        assert tree_rows.GINI.movement(rows) == pytest.approx(trees.node_risk_range(GINI.bayes_risk, rows))
        assert tree_rows.MATSUSHITA.movement(rows) == pytest.approx(trees.node_risk_range(MATSUSHITA.bayes_risk, rows))
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


def test_the_error_bound_by_hand() -> None:
    shares = tree_rows.level_shares(2)
    assert shares == pytest.approx((1 / (1 + math.sqrt(2)), math.sqrt(2) / (1 + math.sqrt(2))))
    first = 0.75 + 4 * 9999 / 10000 * (math.log(39) + math.log(40)) / (shares[0] * 10000)
    second = first - first**2 / 4 + 4 * 9999 / 10000 * tree_rows.largest_loss(2, 40, 0.025) / (shares[1] * 10000)
    found = tree_rows.private_error_bound(tree_rows.GINI, 10000, 1.0, 0.5, 40, 0.05, shares)
    assert found == pytest.approx(second / 2)
    double = tree_rows.private_error_bound(tree_rows.MATSUSHITA, 10000, 2.0, 0.5, 40, 0.05, [0.5])
    assert double == pytest.approx((math.sqrt(0.75) + 2 * math.sqrt(9999) * math.log(39 / 0.05) / 10000) / 2)
    by_node = tree_rows.private_error_bound(tree_rows.MATSUSHITA_BY_NODE, 10**6, 1.0, 0.5, 40, 0.05, [0.5, 0.5])
    once = tree_rows.private_error_bound(tree_rows.MATSUSHITA, 10**6, 1.0, 0.5, 40, 0.05, [0.5, 0.25])
    assert by_node == pytest.approx(once)
    # Noise that outweighs a level does no harm: no choice takes the risk up.
    assert tree_rows.private_error_bound(tree_rows.GINI, 10, 1e-6, 0.5, 40, 0.05, [1.0]) == 0.5


@pytest.mark.parametrize(
    ("rows", "gamma", "failure"), [(1, 0.5, 0.05), (100, 0.0, 0.05), (100, 1.1, 0.05), (100, 0.5, 0.0), (100, 0.5, 1.0)]
)
def test_senseless_questions_are_refused(rows: int, gamma: float, failure: float) -> None:
    with pytest.raises(ValueError, match="at least 2 rows"):
        tree_rows.private_error_bound(tree_rows.GINI, rows, 1.0, gamma, 40, failure, [1.0])


def test_rows_that_the_theorem_asks_for() -> None:
    """From more than 10^12 rows to less than 10^5; one row fewer is not enough, and no other depth does with fewer."""
    setting = {"epsilon": 1.0, "gamma": 0.5, "candidates": 40, "failure": 0.05}
    asked = {}
    for name in ("PAPER", "MATSUSHITA_BY_NODE", "MATSUSHITA", "GINI"):
        asked[name] = tree_rows.rows_for_error(0.25, getattr(tree_rows, name), **setting)
    assert asked["PAPER"][1] == 45
    assert asked["PAPER"][0] > 1e60
    assert asked["MATSUSHITA_BY_NODE"] == (pytest.approx(3.519e11, rel=0.001), 6)
    assert asked["MATSUSHITA"] == (pytest.approx(1.126e9, rel=0.001), 6)
    assert asked["GINI"] == (18628, 4)
    rows, depth = asked["GINI"]

    def error(rows: int, depth: int) -> float:
        return tree_rows.private_error_bound(tree_rows.GINI, rows, shares=tree_rows.level_shares(depth), **setting)

    assert error(rows, depth) <= 0.25 < error(rows - 1, depth)
    assert all(error(rows - 1, other) > 0.25 for other in range(1, 12))
    for wrong in (0.0, 0.5):
        with pytest.raises(ValueError, match="must lie in"):
            tree_rows.rows_for_error(wrong, tree_rows.GINI, **setting)
    with pytest.raises(ValueError, match="no tree of depth"):
        tree_rows.rows_for_error(0.01, tree_rows.GINI, **setting)


def _grow(rng: np.random.Generator, x: np.ndarray, y: np.ndarray, epsilon: float, depth: int) -> tuple[float, float]:
    """Splits of binary columns, chosen by the exponential mechanism on Gini: (error, the least best edge it met)."""
    leaf, least = np.zeros(len(y), np.int64), 1.0
    movement = tree_rows.GINI.movement(len(y))
    for level, share in enumerate(tree_rows.level_shares(depth)):
        following = leaf.copy()
        for node in range(2**level):
            inside = leaf == node
            a, n = y[inside].sum(), inside.sum()
            right_a, right_n = y[inside] @ x[inside], x[inside].sum(axis=0)
            edges = np.abs(right_a / max(a, 1) - (right_n - right_a) / max(n - a, 1))
            least = min(least, float(edges.max())) if 0 < a < n else least
            score = -GINI.node_risk(right_a, right_n) - GINI.node_risk(a - right_a, n - right_n)
            chosen = int((epsilon * share / movement * score + rng.gumbel(size=len(score))).argmax())
            following[inside] = 2 * node + x[inside, chosen]
        leaf = following
    counts = np.bincount(leaf, minlength=2**depth)
    positives = np.bincount(leaf, weights=y, minlength=2**depth)
    return float(np.minimum(positives, counts - positives).sum() / len(y)), least


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
    y = np.arange(rows) % 2
    good = np.where(rng.random((rows, 4)) < 0.79, y[:, None], 1 - y[:, None])
    x = np.concatenate([good, rng.integers(0, 2, (rows, 36))], axis=1)
    grown = [_grow(rng, x, y, 1.0, depth) for _ in range(60)]
    assert min(least for _, least in grown) >= 0.5  # the assumption of the theorem
    assert np.mean([error > 0.3 for error, _ in grown]) <= 0.05
    assert np.mean([_grow(rng, x, y, 0.01, depth)[0] > 0.3 for _ in range(20)]) > 0.3
