"""Scores start from the base rate and go back to it: what is released of it, and what is believed of a curve."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from tacit.boosting.measures.lazy_bregman import LazyBregman
from tacit.boosting.measures.logistic import LogisticMeasure
from tacit.boosting.measures.smooth import SmoothMeasure
from tacit.halfspaces.calibration import BaseRate, Prior, Spread, fit_curve, prior_of
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.halfspaces.plan import Options
from tacit.halfspaces.scaling import Scaling
from tests.habits import SCHEMA, people

RARE = math.log(0.08 / 0.92)
LEVELS = np.linspace(-3.75, 3.75, 16)


@pytest.mark.parametrize("log_odds", [RARE, 0.0, 1.0])
def test_from_the_start_on_the_classes_weigh_the_same(log_odds: float) -> None:
    rate = float(expit(log_odds))
    smooth, logistic = SmoothMeasure(0.2), LogisticMeasure(16.0)
    for weigh, start in (
        (lambda margin: smooth.weights(margin, 0), Options().start(smooth, log_odds)),
        (logistic.weights, Options().start(logistic, log_odds)),
    ):
        negative, positive = weigh(np.array([-start, start]))
        assert positive * rate == pytest.approx(negative * (1 - rate))
    assert Options().start(LazyBregman(0.5, 0.2, 100.0), log_odds) == 0.0


def test_rows_are_counted_by_class_where_they_have_a_constant_coordinate() -> None:
    frame, labels = people()
    for intercept, label, share in ((True, "rows of each class", 0.04), (False, "number of rows", 0.01)):
        model = HalfspaceBoostClassifier(1.0, schema=SCHEMA, fit_intercept=intercept, row_norm=1.0).fit(frame, labels)
        (counted,) = [entry for entry in model.certificate_.entries if label in str(entry.label)]
        whole = sum(entry.charge.precision for entry in model.certificate_.entries)
        assert counted.charge.precision == pytest.approx(share * whole, rel=1e-6)


@pytest.mark.parametrize("noise", [0.0, 0.8])
def test_the_prior_has_the_base_rate_as_its_mean(noise: float) -> None:
    prior = prior_of(Spread(3.0, 2.0), 2.0 * noise, BaseRate(1000.0, RARE, 0.1))
    assert prior.slope == pytest.approx(2.0 * math.sqrt(1 - noise**2))
    chances = expit(prior.offset + prior.slope * np.random.default_rng(0).normal(size=200_000))
    assert chances.mean() == pytest.approx(0.08, abs=0.009)


def test_scores_of_noise_alone_leave_everybody_at_the_base_rate() -> None:
    assert prior_of(Spread(0.0, 1.0), 1.1, BaseRate(1000.0, RARE, 0.1)).slope == 0.0
    counts = 2500 * np.outer(np.exp(-(LEVELS**2) / 2) / np.exp(-(LEVELS**2) / 2).sum(), [0.92, 0.08])
    found = []
    for seed in range(200):
        noisy = counts + np.random.default_rng(seed).normal(0, 160.0, counts.shape)
        curve = fit_curve(LEVELS, noisy, 160.0, True, Prior(0.0, RARE, 0.5))
        found.append(float(expit(curve.offset + curve.slope * LEVELS).mean()))
    assert 0.06 < np.mean(found) < 0.11
    assert np.quantile(found, 0.95) < 0.2


def test_many_rows_decide_against_the_prior() -> None:
    true = expit(-1.0 + 0.7 * LEVELS)
    rows = 1e6 * np.exp(-(LEVELS**2) / 2)
    counts = np.column_stack([rows * (1 - true), rows * true])
    curve = fit_curve(LEVELS, counts, 50.0, True, Prior(2.0, 1.0, 0.1))
    assert (curve.slope, curve.offset) == (pytest.approx(0.7, abs=0.02), pytest.approx(-1.0, abs=0.02))


@pytest.mark.parametrize("around_mean", [True, False])
def test_the_spread_that_noise_gives_to_scores(around_mean: bool) -> None:
    rng = np.random.default_rng(0)
    scaling = Scaling(rng.uniform(0.05, 1.0, 6), rng.normal(0, 0.5, 6))
    noise = np.array([scaling.solve(vector) for vector in rng.normal(size=(20_000, 6))])
    rows = scaling.mean + rng.normal(size=(2000, 6)) * np.sqrt(scaling.variances)
    scores = (rows - around_mean * scaling.mean) @ noise.T
    said = scaling.noise_spread(around_mean) * math.sqrt(np.mean(noise**2))
    assert math.sqrt(np.mean(scores**2)) == pytest.approx(said, rel=0.04)
