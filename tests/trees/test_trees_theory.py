"""The theorems about boosted private trees, checked against what they speak of."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from tacit.theory import trees as theory
from tacit.trees.losses import MATSUSHITA, ZERO_ONE, LogLoss, Loss, MAlphaLoss, SmoothedLoss, SquareLoss
from tests.trees.forms import surrogate

LOSSES: list[Loss] = [SquareLoss(), LogLoss(), SmoothedLoss(0.1), *(MAlphaLoss(a) for a in (0.0, 0.1, 0.5, 1.0))]

POSITIVE = np.array([1.0, 0.0])


def _increments(loss: Loss, n: int) -> np.ndarray:
    """By how much a row of weight 1, .5 or .1 moves the risk of every node of at most n - 1 rows of weight 1."""
    counts = [(a, b) for a, b in product(range(n), range(n)) if a + b <= n - 1]
    w1, w0 = np.array(counts, float).T
    before = loss.node_risk(w1, w1 + w0)
    return np.concatenate([loss.node_risk(w1 + d, w1 + w0 + d) - before for d in (0.1, 0.5, 1.0)])


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_one_row_moves_a_node_by_at_most_the_range(loss: Loss) -> None:
    """The increments lie in [0, n L(1/n)], reach the end, and a constant 10 % smaller is found out."""
    n = 30
    moves = _increments(loss, n)
    bound = theory.node_risk_range(loss.bayes_risk, n)
    assert moves.min() >= -1e-12
    assert moves.max() == pytest.approx(bound)
    assert moves.max() > 0.9 * bound
    assert bound <= theory.paper_sensitivity(loss.bayes_risk, n)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_clipping_class_weights_at_cap_minus_one_keeps_the_range(loss: Loss) -> None:
    """Whatever n is; clipping at the cap itself breaks it for Matsushita."""
    cap = 10
    counts = np.array(list(product(range(40), repeat=2)), float)

    def clipped(counts: np.ndarray, limit: float) -> np.ndarray:
        kept = np.minimum(counts, limit)
        return loss.node_risk(kept[:, 0], kept.sum(axis=1))

    def largest_move(limit: float) -> float:
        return float((clipped(counts + POSITIVE, limit) - clipped(counts, limit)).max())

    bound = theory.node_risk_range(loss.bayes_risk, cap)
    assert float((clipped(counts + POSITIVE, cap - 1) - clipped(counts, cap - 1)).min()) >= -1e-12
    assert largest_move(cap - 1) <= bound + 1e-9
    if loss == MATSUSHITA:
        assert largest_move(cap) > bound


def test_closed_forms() -> None:
    n = 1000
    assert theory.node_risk_range(MATSUSHITA.bayes_risk, n) == pytest.approx(2 * math.sqrt(n - 1))
    assert theory.node_risk_range(ZERO_ONE.bayes_risk, n) == pytest.approx(2)
    assert theory.node_risk_range(SquareLoss().bayes_risk, n) == pytest.approx(4 * (n - 1) / n)
    alpha = 0.3
    mixed = theory.node_risk_range(MAlphaLoss(alpha).bayes_risk, n)
    assert mixed == pytest.approx(2 * alpha * math.sqrt(n - 1) + 2 * (1 - alpha))
    assert theory.paper_m_alpha_sensitivity(alpha, n) == pytest.approx(3 + 2 * alpha * (math.sqrt(n) - 1))
    # Lemma 5, as printed: max(3, 1 + star).
    star = {
        MATSUSHITA: 2 * math.sqrt(n),
        ZERO_ONE: 2.0,
        SquareLoss(): 4 * n / (n + 1),
        LogLoss(): (1 + math.log(n + 1)) / math.log(2),
    }
    for loss, value in star.items():
        result = theory.paper_sensitivity(loss.bayes_risk, n)
        assert max(3, 1 + value) * (1 - 1e-4) <= result <= max(3, 1 + value) + 1e-9


@pytest.mark.parametrize("loss", [SquareLoss(), LogLoss(), MATSUSHITA, MAlphaLoss(0.4), SmoothedLoss(0.1)], ids=repr)
@pytest.mark.parametrize("rows", [5, 50])
def test_lemma_4_the_price_grows_with_the_curvature_near_zero(loss: Loss, rows: int) -> None:
    """The slope of the sensitivity is reached by the curvature somewhere in [0, 1/rows]; without the 1/2 it is not."""
    step = 1e-4
    slope = (
        theory.node_risk_range(loss.bayes_risk, rows + step) - theory.node_risk_range(loss.bayes_risk, rows - step)
    ) / (2 * step)
    shares = np.linspace(1e-9, 1 / rows, 20001)[1:]
    curvatures = np.gradient(loss.link(shares), shares)
    possible = theory.perspective_slope(curvatures, rows)
    assert possible.min() * (1 - 1e-3) <= slope <= possible.max() * (1 + 1e-3)
    if isinstance(loss, SquareLoss):
        assert slope == pytest.approx(theory.perspective_slope(8.0, rows), rel=1e-4)


def test_a_split_with_an_edge_shrinks_the_risk_by_the_sharp_factor() -> None:
    """Over random leaves and splits: Matsushita's risk falls to at most sqrt(1 - edge^2) of it, attained at 1/2."""
    rng = np.random.default_rng(1)
    p1, p0, q = rng.random((3, 20000))
    q = np.where(rng.random(20000) < 0.5, q, 10 ** (-6 * q))
    right = MATSUSHITA.node_risk(q * p1, q * p1 + (1 - q) * p0)
    left = MATSUSHITA.node_risk(q * (1 - p1), q * (1 - p1) + (1 - q) * (1 - p0))
    factor = (left + right) / MATSUSHITA.bayes_risk(q)
    edges = np.abs(np.array([theory.edge(a, 1, b, 1) for a, b in zip(p1, p0, strict=True)]))
    bound = np.array([theory.risk_factor(e) for e in edges])
    assert np.all(factor <= bound + 1e-9)
    assert np.all(bound <= 1 - edges**2 / 2 + 1e-12)
    assert np.any((factor > 0.999 * bound) & (edges > 0.3))
    # Ten per cent more than the claim is found out.
    assert np.any(factor > np.sqrt(1 - np.minimum(1.1 * edges, 1) ** 2) + 1e-6)


def test_theorem_10_fails_as_printed_when_shares_are_weights() -> None:
    """All positives of the pure leaf go right and all but a tenth of its negatives left: it stays as heavy as it was.

    Every split has edge .9, its weight is .7 of all for ever, and the printed constant promises less than the error of
    the mixed leaf that no split touches.
    """
    gamma, positives, negatives, mixed = 0.9, 0.7 * (1 - 1e-9), 0.7 * 1e-9, 0.15
    weights, errors = [], [negatives, mixed]
    for _ in range(60):
        weights.append(positives + negatives)
        assert theory.edge(1.0, 1, 1 - gamma, 1) == pytest.approx(gamma)
        negatives *= 1 - gamma
        errors[0] = negatives  # the left child holds negatives alone
    assert sum(errors) >= 0.15
    assert min(weights) > 0.69
    assert theory.tree_error_bound(weights, [1.0] * len(weights), gamma, sharp=False) < 0.13


def test_theorem_10_by_value() -> None:
    """By hand: the paper's exponential; sharply half of a product, or of an exponential where alphas rise."""
    shares, alphas = [1.0, 0.5, 0.25], [0.8, 0.4, 0.2]
    assert theory.tree_error_bound(shares, alphas, 0.6, sharp=False) == pytest.approx(math.exp(-0.36 / 16 * 1.05))
    product_of_three = (1 - 0.8 * 0.2) * (1 - 0.2 * 0.2) * (1 - 0.05 * 0.2)  # 1 - sqrt(1 - .6^2) = .2
    assert theory.tree_error_bound(shares, alphas, 0.6) == pytest.approx(product_of_three / 2)
    assert theory.tree_error_bound([1.0, 1.0], [0.5, 0.52], 0.6) == pytest.approx(math.exp(-0.18 * 1.02) / 2)
    assert theory.grown_error_bound(shares, 0.6) == pytest.approx(0.8 * 0.9 * 0.95 / 2)
    assert theory.tree_error_bound(shares, [1.0] * 3, 0.6) == pytest.approx(theory.grown_error_bound(shares, 0.6))
    assert theory.splits_for_error(0.1, 0.5, 0.6) == pytest.approx(5**10)
    assert theory.splits_for_error(0.1, 0.5, 0.4, sharp=False) == pytest.approx(10 ** (16 / (0.5 * 0.16)))
    assert theory.levels_for_error(0.1, 0.5, 0.6) == pytest.approx(math.log(5) / -math.log(0.9))


def test_a_tree_of_balanced_levels_reaches_the_rate_of_theorem_10() -> None:
    """Splits that leave every leaf at proportions 1/2 or pure: error after risk falls level by level, none of it free.

    Positives all go right, and negatives with probability ``1 - gamma``: the left child is pure. What is left has
    Matsushita risk ``sqrt(1 - gamma)`` of what it was, which ``sqrt(1 - gamma^2)`` bounds, and the error bound with it.
    """
    gamma, positives, negatives = 0.3, 0.5, 0.5
    assert theory.risk_factor(gamma) == pytest.approx(math.sqrt(1 - gamma**2))
    for level in range(1, 20):
        before = math.sqrt(positives * negatives)
        negatives *= 1 - gamma
        factor = math.sqrt(positives * negatives) / before
        assert factor == pytest.approx(math.sqrt(1 - gamma))
        assert factor <= theory.risk_factor(gamma)
        bound = theory.tree_error_bound([1.0] * level, [1.0] * level, gamma)
        assert min(positives, negatives) <= theory.risk_factor(gamma) ** level / 2 <= bound * (1 + 1e-12)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("sharp", [False, True])
def test_theorem_12_bounds_the_surrogate_and_the_error(alpha: float, sharp: bool) -> None:
    """M-alpha-boost on random data: the mean surrogate stays below the bound at every round, the error too."""
    rng = np.random.default_rng(4)
    loss, rows, features = MAlphaLoss(alpha), 400, 12
    y = np.where(rng.random(rows) < 0.5, 1, -1)
    hypotheses = np.where(rng.random((features, rows)) < 0.8, y, -y).astype(float)
    step = theory.leveraging_constant(alpha, 1.0, sharp)
    assert step == pytest.approx((4 if sharp else 1) * alpha)
    margin, edges, weights = np.zeros(rows), [], []
    for _ in range(60):
        w = loss.boosting_weight(margin)
        signed = hypotheses @ (w * y) / rows
        best = int(np.argmax(np.abs(signed)))
        edges.append(float(signed[best]))
        weights.append(float(w.mean()))
        margin += step * edges[-1] * y * hypotheses[best]
        bound = theory.ensemble_surrogate_bound(edges, alpha, sharp=sharp)
        assert surrogate(loss, margin).mean() <= bound + 1e-9
        assert (margin <= 0).mean() <= bound + 1e-9
    gamma = min(abs(e) / w for e, w in zip(edges, weights, strict=True))
    error = 1 - (2.0 if sharp else 0.5) * alpha * gamma**2 * sum(w * w for w in weights) + 1e-9
    assert theory.ensemble_condition(weights, error, gamma, alpha, sharp=sharp)
    assert not theory.ensemble_condition(weights, error - 0.05, gamma, alpha, sharp=sharp)


@pytest.mark.parametrize(("sharp", "gain", "needed"), [(False, 0.5, 2.0), (True, 2.0, 0.5)])
def test_theorem_12_by_value(sharp: bool, gain: float, needed: float) -> None:
    """With a step that is off the middle of its interval by a part ``pi`` of it, by hand."""
    edges, alpha, bound, slack = [0.3, -0.2], 0.4, 1.5, 0.6
    drop = gain * (1 - 0.36) * 0.4 / 2.25 * (0.09 + 0.04)
    assert theory.ensemble_surrogate_bound(edges, alpha, bound, slack, sharp) == pytest.approx(1 - drop)
    assert theory.leveraging_constant(alpha, bound, sharp) == pytest.approx((4 if sharp else 1) * 0.4 / 2.25)
    least = math.sqrt(needed * (1 - 0.2) / ((1 - 0.36) * 0.3**2 * 0.4))
    assert theory.ensemble_condition([least * 1.001], 0.2, 0.3, alpha, slack, sharp)
    assert not theory.ensemble_condition([least * 0.999], 0.2, 0.3, alpha, slack, sharp)


def test_theorem_12_holds_for_other_weak_learners_too() -> None:
    """Real-valued, bounded hypotheses: nothing in it is about trees."""
    rng = np.random.default_rng(8)
    loss, bound = MAlphaLoss(0.7), 2.5
    x = rng.normal(size=(500, 6))
    y = np.sign(x @ rng.normal(size=6) + 0.3 * rng.normal(size=500))
    step, margin, edges = theory.leveraging_constant(0.7, bound, sharp=True), np.zeros(500), []
    for t in range(80):
        h = np.clip(x[:, t % 6], -bound, bound)
        edges.append(float((loss.boosting_weight(margin) * y * h).mean()))
        margin += step * edges[-1] * y * h
        assert surrogate(loss, margin).mean() <= theory.ensemble_surrogate_bound(edges, 0.7, bound, sharp=True) + 1e-9
    assert surrogate(loss, margin).mean() < 0.9
    reached = 1 - 2 * 0.7 / 2.5**2 * float(np.square(edges).sum())
    assert (step, theory.ensemble_surrogate_bound(edges, 0.7, bound, sharp=True)) == pytest.approx((0.448, reached))


def test_theorem_13_the_mechanism_picks_good_splits() -> None:
    """The exact probability of the exponential mechanism is at least the bound, and meets it when scores are flat."""
    rng = np.random.default_rng(6)
    good, lazy, epsilon, sensitivity, gap = 5, 40, 0.7, 3.0, 9.0
    for spread in (0.0, 4.0):
        scores = np.concatenate([gap + rng.random(good) * spread, -rng.random(lazy) * spread])
        mass = np.exp(epsilon * scores / sensitivity)
        bound = theory.good_split_probability(gap, epsilon, sensitivity, good, lazy)
        exact = mass[:good].sum() / mass.sum()
        assert exact >= bound - 1e-12
        if spread == 0:
            assert exact == pytest.approx(bound)


def test_theorem_13_conditions_imply_all_splits_good() -> None:
    """At the threshold of efficiency the failures add up to at most xi. (At 10^12 rows it asks for more than 1.)"""
    gamma, delta, share, mean_weight = 0.5, 0.5, 0.5, 0.5
    rows, epsilon, trees, depth, failure = 10**14, 1.0, 2, 3, 0.05
    assert trees * depth <= math.log(rows)
    constant = theory.selection_constant(gamma, delta, share, mean_weight)
    assert constant == pytest.approx(0.5 * 0.5 * 0.75 * 0.25 / 256)
    splits = 2**depth - 1
    efficiency = theory.smallest_efficiency(constant, epsilon, rows, splits, failure)
    assert 0 < efficiency < 1
    level, error = 1, 0.45
    weight = efficiency * 2**level / (8 * error**2)
    assert theory.tree_efficiency(weight, error, level) == pytest.approx(efficiency)
    alpha = error / 0.5
    risk = 2 * mean_weight * rows * error  # the risk is at least twice the error, unnormalised (Eq. 185)
    gap = theory.assumed_gap(gamma, delta, alpha, weight, risk)
    assert gap == pytest.approx((1 - delta**2) * gamma**2 * alpha * weight / 16 * risk)
    budget = share * epsilon / (trees * depth * 2**level)
    sensitivity = 2 * theory.paper_m_alpha_sensitivity(alpha, rows)
    # Eq. 199 at the efficiency of Eq. 207: as few good splits per lazy one as failures are allowed per split.
    ratio = theory.smallest_good_ratio(constant, efficiency, epsilon, rows)
    assert ratio == pytest.approx(failure / splits)
    assert theory.smallest_good_ratio(0.5, 0.2, 3.0, 400) == pytest.approx(
        math.exp(-0.5 * 0.2 * 3 * 20 / math.log(400))
    )
    chance = theory.good_split_probability(gap, budget, sensitivity, good=1, lazy=1)
    assert chance**splits >= 1 - failure
    with pytest.raises(ValueError, match="at least 3 rows"):
        theory.smallest_efficiency(constant, epsilon, 2, splits, failure)
    assert theory.tree_efficiency(0.5, 0.3, 1) > theory.tree_efficiency(0.3, 0.3, 2)


def test_tree_efficiency_is_two_at_an_undecided_root() -> None:
    assert theory.tree_efficiency(1.0, 0.5, 0) == 2.0
    assert theory.tree_efficiency(0.25, 0.5, 2) == 0.125
