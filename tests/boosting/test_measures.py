"""Measures: public rules over released hypotheses. Lazy Bregman against its definition, and against BregBoost."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.boosting.game import divergence
from tacit.boosting.mada_boost import mada_boost
from tacit.boosting.measures import LazyBregman, SmoothMeasure
from tacit.privacy.unit import Neighbouring
from tacit.queries.dense.halfspace_log import HalfspaceLog
from tacit.queries.dense.vector_sum import capped_scaling
from tacit.theory.boosting import lazy_bregman_slickness, smooth_boost_slickness
from tests.boosting.common import bregman_measures, lazy_measures, project


def distance(first: np.ndarray, second: np.ndarray, changed: int) -> float:
    """Total variation of two measures' distributions when row ``changed`` is another row."""
    a, b = first / first.sum(), second / second.sum()
    others = np.delete(np.abs(a - b), changed).sum()
    return float(0.5 * (others + a[changed] + b[changed]))


@settings(max_examples=50, deadline=None)
@given(n=st.integers(2, 20), density=st.floats(0.1, 0.9), seed=st.integers(0, 10**6))
def test_theorem_8_bregman_inequality(n: int, density: float, seed: int) -> None:
    """A dense measure is at least as far from the original as by way of the projection."""
    rng = np.random.default_rng(seed)
    original = density * np.exp(-3 * rng.random(n))
    projected = project(original, density * n)
    dense = project(density * rng.random(n) + 1e-6, density * n)
    through = divergence(dense, projected) + divergence(projected, original)
    assert through <= divergence(dense, original) + 1e-9


@settings(max_examples=40, deadline=None)
@given(density=st.floats(0.1, 0.9), rate=st.floats(0.05, 1.0), rounds=st.integers(1, 12), seed=st.integers(0, 10**6))
def test_integer_weights_are_algorithm_3(density: float, rate: float, rounds: int, seed: int) -> None:
    """Levels, clock and divisor rule against Algorithm 3 in real numbers, loss by loss."""
    rng = np.random.default_rng(seed)
    n = 400
    margins_by_round = rng.uniform(-1, 1, (rounds, n))
    exact = lazy_measures(0.5 + 0.5 * margins_by_round, density, rate)[-1]
    measure = LazyBregman(density, rate, n)
    query = measure.weighted_sum(HalfspaceLog(1), rounds, float(rounds))
    margins = margins_by_round.sum(axis=0)
    levels = np.clip(np.floor(margins * 2**16).astype(np.int64) >> query.levels.shift, -2048, 2047) + 2048
    histogram = np.bincount(levels, minlength=query.levels.count).astype(np.int64)
    weights = capped_scaling(histogram, query.ticks, query.total).per_row(levels) / 2.0**query.bits
    assert weights.sum() == measure.rows_at_cap
    exact *= measure.rows_at_cap / exact.sum()  # kappa n, rounded to whole rows
    np.testing.assert_allclose(weights, exact, atol=0.02)


def test_lazy_measures_are_slick_and_breg_boost_is_not() -> None:
    """The same search over the same neighbours: lazy attains Lemma 21's bound, BregBoost goes beyond it."""
    rng = np.random.default_rng(0)
    worst = {"lazy": 0.0, "breg": 0.0}
    for _ in range(800):
        n, rounds = int(rng.integers(4, 12)), int(rng.integers(2, 30))
        density, rate = float(rng.choice([0.2, 0.3, 0.5])), float(rng.choice([0.5, 1.0, 3.0]))
        losses = (rng.random((rounds, n)) < 0.5).astype(float)
        other = losses.copy()
        other[:, 0] = rng.random(rounds) < rng.random()
        bound = lazy_bregman_slickness(density, n)
        for name, measures in (("lazy", lazy_measures), ("breg", bregman_measures)):
            last = measures(losses, density, rate)[-1]
            assert last.sum() == pytest.approx(density * n)
            assert last.max() <= 1 + 1e-12
            moved = distance(last, measures(other, density, rate)[-1], 0)
            worst[name] = max(worst[name], moved / bound)
    assert 0.99 < worst["lazy"] <= 1 + 1e-9
    assert worst["breg"] > 1.3


def test_lemma_52_slickness_of_smooth_boost() -> None:
    """Neighbours' distributions differ by at most 2 / (kappa n) when both measures are kappa-dense."""
    rng = np.random.default_rng(4)
    worst = 0.0
    for _ in range(3000):
        n, density = int(rng.integers(2, 30)), float(rng.choice([0.1, 0.3, 0.6]))
        weights = rng.random(n) ** float(rng.choice([0.2, 1.0, 5.0]))
        other = weights.copy()
        other[0] = rng.choice([0.0, 1.0, rng.random()])
        if min(weights.sum(), other.sum()) >= density * n:
            worst = max(worst, distance(weights, other, 0) / smooth_boost_slickness(density, n))
    assert smooth_boost_slickness(0.1, 70) == pytest.approx(2 / 7)
    assert worst <= 1.0
    assert worst > 0.45  # the lemma is not tight: a row has probability at most 1 / (kappa n) before and after


def test_relations_share_the_capped_bound_and_differ_in_the_stateless_one() -> None:
    log = HalfspaceLog(3)
    capped = LazyBregman(0.5, 0.5, 100).weighted_sum(log, 0, 1.0)
    stateless = SmoothMeasure(0.4).weighted_sum(log, 0, 1.0)
    unit = float(stateless.unit)
    add, replace = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE
    assert capped.sensitivity(add).l2 / capped.unit == capped.sensitivity(replace).l2 / capped.unit == 2.0
    assert (stateless.sensitivity(add).l2 / unit, stateless.sensitivity(replace).l2 / unit) == (1.0, 2.0)


def test_mada_boost_has_its_optimum_at_the_log_odds() -> None:
    for probability in (0.01, 0.3, 0.5, 0.9):
        log_odds = np.array([math.log(probability / (1 - probability))])
        push = probability * mada_boost(log_odds) - (1 - probability) * mada_boost(-log_odds)
        assert push.item() == pytest.approx(0.0, abs=1e-12)
