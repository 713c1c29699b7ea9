"""Centering: which length a centre is divided by."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.halfspaces.centering import pace_of
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.halfspaces.tuning import TUNING


def fitted(measure: str, epsilon: float, scaling: bool = True) -> HalfspaceBoostClassifier:
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(3000, 6))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = (rows[:, 0] + 0.3 * rows[:, 1] > 0).astype(int)
    learner = HalfspaceBoostClassifier(
        epsilon,
        row_norm=1.0,
        fit_intercept=False,
        measure=measure,
        rounds=12,
        random_state=0,
        scaling=scaling,
        classes=(0, 1),
    )
    return learner.fit(rows, labels)


def test_smooth_rounds_all_take_the_first_ones_length_and_lazy_bregman_each_its_own() -> None:
    smooth = [hypothesis.divisor for hypothesis in fitted("smooth", 2.0).ensemble_.hypotheses]
    assert set(smooth) == {smooth[0]}
    own = [hypothesis.divisor for hypothesis in fitted("lazy_bregman", 2.0).ensemble_.hypotheses]
    assert len(set(own)) == len(own)
    assert {hypothesis.divisor for hypothesis in fitted("logistic", 2.0).ensemble_.hypotheses} == {1.0}


@pytest.mark.parametrize(
    ("signal", "pace"), [(0.0, 0.0), (0.25, 0.5), (4.0, 2.0), (16.0, TUNING.most_pace), (math.inf, TUNING.most_pace)]
)
def test_the_first_step_is_long_where_there_is_little_noise(signal: float, pace: float) -> None:
    assert pace_of(signal, 10, None) == pace


def test_steps_are_short_where_coordinates_may_all_be_alike() -> None:
    alike, apart, between = (pace_of(2.0, 100, told) for told in (0.0, 1.0, 0.25))
    assert alike == pytest.approx(2.0 * (TUNING.alike_pace + TUNING.narrow_pace / 100))
    assert apart == pytest.approx(math.sqrt(2.0) * TUNING.apart_pace)
    assert between == pytest.approx((alike + apart) / 2)
    assert pace_of(2.0, 5, 0.0) > 1.5 * alike
    for told in (0.0, 0.5, 1.0):
        assert pace_of(math.inf, 100, told) == TUNING.most_pace
        assert pace_of(0.0, 100, told) == 0.0


def test_steps_are_four_units_without_noise_and_short_with_much() -> None:
    exact = fitted("smooth", math.inf, scaling=False).ensemble_.hypotheses
    assert np.linalg.norm(exact[0].direction) == pytest.approx(TUNING.most_pace)
    assert np.linalg.norm(exact[-1].direction) < TUNING.most_pace
    noisy = fitted("smooth", 0.001, scaling=False).ensemble_.hypotheses
    assert all(np.isfinite(hypothesis.direction).all() for hypothesis in noisy)
    assert np.linalg.norm(noisy[0].direction) < TUNING.most_pace / 2
