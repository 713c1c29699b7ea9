"""The lemmas and definitions behind the theorems about boosted private trees, on what they speak of."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from tacit.theory import trees as theory
from tacit.trees.losses import MATSUSHITA, LogLoss, Loss, MAlphaLoss, SmoothedLoss, SquareLoss
from tests.trees.forms import surrogate

LOSSES: list[Loss] = [SquareLoss(), LogLoss(), SmoothedLoss(0.1), *(MAlphaLoss(a) for a in (0.0, 0.1, 0.5, 1.0))]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_node_risk_is_a_perspective(loss: Loss) -> None:
    """Definition 2 and Lemma 15: ``v L(u / v)``, of degree 1, and it does not fall as ``v`` grows beyond ``u``."""
    u, v = np.meshgrid(np.linspace(0.05, 3, 30), np.linspace(0, 8, 60))
    v = v + u
    risk = loss.node_risk(u, v)
    assert risk == pytest.approx(v * loss.bayes_risk(u / v))
    assert loss.node_risk(7 * u, 7 * v) == pytest.approx(7 * risk)
    assert (np.diff(risk, axis=0) >= -1e-12).all()
    assert (np.diff(loss.node_risk(0.5 * v, v), axis=0) > 0).all()


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_lemma_16(loss: Loss) -> None:
    """(A) it rises to 1/2; (B) by little; (C) a row weighs most among the other class; (D) flat at 1/2."""
    grid = np.linspace(0, 0.5, 101)
    risk = loss.bayes_risk(grid)
    assert (np.diff(risk) >= -1e-12).all()
    assert risk[-1] == pytest.approx(1.0)
    assert loss.bayes_risk(1 - grid) == pytest.approx(risk)
    p, q = np.meshgrid(grid, grid, indexing="ij")
    gap = risk[None, :] - risk[:, None]
    below = p <= q
    assert (gap[below] >= -1e-12).all()
    assert (gap[below] <= loss.bayes_risk(np.abs(q - p))[below] + 1e-9).all()
    for x in (2.0, 3.0, 10.0, 1000.0):
        assert float(loss.bayes_risk(0.5) - loss.bayes_risk(0.5 - 1 / x)) <= 2 / x + 1e-12
    for m in (2, 5, 40):
        v = np.linspace(1e-3, m + 1, 400)
        u = np.minimum(1.0, v) * np.linspace(1e-3, 1, 50)[:, None]
        most = float(loss.node_risk(1.0, m + 1.0))
        assert (loss.node_risk(u, np.broadcast_to(v, u.shape)) <= most + 1e-9).all()
        assert theory.node_risk_range(loss.bayes_risk, m + 1) == pytest.approx(most)


def test_both_weak_learning_assumptions_are_one() -> None:
    """Definitions 9 and 17: half the edge is what Kearns and Mansour ask for under weights that balance the classes."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        y, right, weights = rng.random(30) < 0.4, rng.random(30) < 0.5, rng.random(30)
        if not 0 < y.sum() < 30:
            continue
        total, q = weights.sum(), weights[y].sum() / weights.sum()
        balanced = weights / total * np.where(y, 0.5 / q, 0.5 / (1 - q))
        agreement = float(balanced[(right & ~y) | (~right & y)].sum())
        sides = [float(weights[mask].sum()) for mask in (y & right, y, ~y & right, ~y)]
        assert 2 * abs(agreement - 0.5) == pytest.approx(abs(theory.edge(*sides)))
        assert float((balanced * np.where(y, 1, -1) * np.where(right, 1, -1)).sum()) == pytest.approx(
            theory.edge(*sides)
        )


def _drop(loss: Loss, q: float, tau: float, gamma: float) -> float:
    """By how much a split of edge ``gamma`` that sends a share ``tau`` right takes down the risk of its leaf."""
    shift = gamma * q * (1 - q) / (tau * (1 - tau))
    children = np.array([q - tau * shift, q + (1 - tau) * shift])
    if (children < 0).any() or (children > 1).any():
        return math.inf
    return float(loss.bayes_risk(q) - np.array([1 - tau, tau]) @ loss.bayes_risk(children))


@pytest.mark.parametrize("alpha", [0.3, 1.0])
@pytest.mark.parametrize("gamma", [0.05, 0.19])
def test_lemma_19_even_splits_take_down_least(alpha: float, gamma: float) -> None:
    taus = np.linspace(0.02, 0.98, 193)
    for q in (0.001, 0.01):
        drops = [_drop(MAlphaLoss(alpha), q, tau, gamma) for tau in taus]
        assert 0.4 <= taus[int(np.argmin(drops))] <= 0.6


def test_lemmas_20_and_21_every_split_with_an_edge_takes_down_the_risk() -> None:
    """``L_alpha`` falls by ``1 - gamma^2 alpha w / 16``, ``w`` the leaf's share of the risk; over random trees.

    Lemma 20 lets alpha change by its condition (127), of which Lemma 18 sums up the rounds.
    """
    rng, compared = np.random.default_rng(2), 0
    for _ in range(400):
        leaves = rng.random((int(rng.integers(1, 6)), 2)) ** 3
        p0, p1 = rng.random(2)
        gamma, alpha, place = abs(p1 - p0), float(rng.random()), int(rng.integers(len(leaves)))
        a, b = leaves[place]
        split = np.array([[a * p1, b * p0], [a * (1 - p1), b * (1 - p0)]])
        after = np.vstack([np.delete(leaves, place, axis=0), split])

        def risk(alpha: float, nodes: np.ndarray) -> float:
            return float(MAlphaLoss(alpha).node_risk(nodes[:, 0], nodes.sum(axis=1)).sum())

        share = float(MATSUSHITA.node_risk(a, a + b)) / risk(1.0, leaves)
        assert risk(1.0, after) <= (1 - gamma**2 * share / 2) * risk(1.0, leaves) + 1e-12
        assert risk(alpha, after) <= (1 - gamma**2 * alpha * share / 16) * risk(alpha, leaves) + 1e-12
        grown = min(1.0, alpha * math.exp(gamma**2 * share / 16 * (1 - alpha)))
        assert theory.is_monotonic([alpha, grown], [share, share], gamma**2 / 16)
        factor = 1 - gamma**2 * share * grown / 16
        assert risk(grown, after) <= factor * risk(alpha, leaves) + 1e-12
        assert theory.edge(a * p1, a, b * p0, b) == pytest.approx(p1 - p0)
        assert grown == 1.0 or not theory.is_monotonic([alpha, grown + 1e-9], [share, share], gamma**2 / 16)
        bound = theory.tree_error_bound([share], [alpha], gamma, sharp=False)
        assert bound == pytest.approx(math.exp(-(gamma**2) * alpha * share / 16))
        compared += 1
    assert compared == 400
    halved = MATSUSHITA.node_risk(np.array([0.8, 0.2]), np.ones(2)).sum() / 2  # the edge is .6, of proportion 1/2
    assert halved == pytest.approx(theory.risk_factor(0.6))


def test_lemma_18_sums_up_the_rounds() -> None:
    """Theorem 10's condition, by its logarithm: as soon as the sum of shares times alphas is that large."""
    gamma, error = 0.4, 0.2
    needed = 16 / gamma**2 * math.log(1 / error)
    for alpha in (0.25, 1.0):
        splits = math.ceil(needed / alpha)
        assert theory.tree_error_bound([1.0] * splits, [alpha] * splits, gamma, sharp=False) <= error
        fewer = splits - 2
        assert theory.tree_error_bound([1.0] * fewer, [alpha] * fewer, gamma, sharp=False) > error


def test_definition_11_is_what_theorem_12_asks_of_each_round() -> None:
    """``|eta| >= gamma M``: with mean weight ``w`` an edge of ``gamma M w``, and the bound of as many rounds."""
    gamma, alpha, bound, weight = 0.3, 0.5, 2.0, 0.4
    edges = [gamma * bound * weight] * 50
    reached = theory.ensemble_surrogate_bound(edges, alpha, bound)
    assert reached == pytest.approx(1 - alpha / 2 * 50 * (gamma * weight) ** 2)
    assert theory.ensemble_condition([weight] * 50, reached + 1e-9, gamma, alpha)
    assert not theory.ensemble_condition([weight] * 49, reached, gamma, alpha)


def test_lemma_23_and_remark_14_efficiency_falls_along_every_path() -> None:
    """So nodes above a threshold are a subtree with the root; by value of Definition 22."""
    assert theory.tree_efficiency(0.5, 0.3, 2) == pytest.approx(8 * 0.5 * 0.09 / 4)
    rng = np.random.default_rng(3)
    weights = {(0, 0): 1.0}
    for depth in range(6):
        for node in range(2**depth):
            part = rng.random() * weights[depth, node]
            weights[depth + 1, 2 * node], weights[depth + 1, 2 * node + 1] = part, weights[depth, node] - part
    efficiency = {place: theory.tree_efficiency(w, 0.3, place[0]) for place, w in weights.items()}
    for (depth, node), own in efficiency.items():
        if depth:
            assert own < efficiency[depth - 1, node // 2]
    for threshold in (0.01, 0.1, 0.5):
        large = {place for place, own in efficiency.items() if own >= threshold}
        assert all((depth - 1, node // 2) in large for depth, node in large if depth)


def test_figure_5_the_surrogate_bends_most_where_its_ties_end() -> None:
    """``F''``: 0 on ``|z| < 2 (1 - alpha)``, and ``1 / (4 alpha)`` at most, just beyond; Eq. 152 prints twice that."""
    for alpha in (0.2, 0.6, 1.0):
        loss, step, steepest = MAlphaLoss(alpha), 1e-4, 1 / (4 * alpha)
        z = np.linspace(-6, 6, 4801)
        second = (surrogate(loss, z + step) - 2 * surrogate(loss, z) + surrogate(loss, z - step)) / step**2
        inside = np.abs(z) < 2 * (1 - alpha) - 0.01
        assert np.abs(second[inside]).max(initial=0.0) < 1e-6
        assert second.max() <= steepest * (1 + 1e-3)
        assert second.max() > 0.99 * steepest
        beyond = z > 2 * (1 - alpha) + 2 * step
        assert second[beyond][0] > 0.9 * steepest


def test_figure_6_the_gap_is_between_good_splits_and_the_others() -> None:
    """The delta-Gap model, by value: ``(1 - delta^2) gamma^2 alpha w / 16`` of the risk."""
    for gamma, delta, alpha in product((0.2, 0.5), (0.0, 0.5), (0.4, 1.0)):
        gap = theory.assumed_gap(gamma, delta, alpha, 0.3, 50.0)
        assert gap == pytest.approx((1 - delta**2) * gamma**2 * alpha * 0.3 * 50 / 16)
