"""The default learner at low signal-to-noise: releases count alike, columns are thought alike, a cheaper intercept."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import expit

from tacit.additive.intercept import PosteriorIntercept
from tacit.additive.plan import Pace
from tacit.additive.planner import Planner
from tacit.additive.posterior import SCALES
from tacit.additive.sweeps import HyperPrior, step_length
from tacit.additive.term import ReleaseAverage
from tacit.additive.tuning import PLANNING, SWEEPING
from tacit.boosting.mada_boost import mada_boost
from tests.additive.test_intercept import observe


def averaged(recency: float, releases: np.ndarray, sd: float) -> ReleaseAverage:
    average = ReleaseAverage((1,), (1,))
    average.recency = recency
    for value in releases:
        average.add(np.array([value]), sd, np.zeros(1))
    return average


def test_at_low_signal_releases_count_alike_and_in_little_noise_later_ones_more():
    for pairs in (True, False):
        for signal in (2.0, 0.99 * PLANNING.pairs_from):
            assert Planner().plan(800.0, 10, signal, False, pairs).pace.recency == -1.0
        for signal in (PLANNING.pairs_from, 400.0, 1e5):
            assert Planner().plan(800.0, 10, signal, False, pairs).pace.recency == 0.0
    assert Planner().plan(800.0, 10, 2.0, True).pace.recency == 0.0  # four releases, of which the last says most
    assert step_length(Pace(24, recency=-1.0)) == step_length(Pace(24))


def test_releases_that_count_alike_have_the_noise_of_their_mean():
    releases = np.random.default_rng(0).normal(size=24)
    alike, later = averaged(-1.0, releases, 3.0), averaged(0.0, releases, 3.0)
    assert (alike.sum / alike.precision).item() == pytest.approx(releases.mean())
    assert alike.noise_variance == pytest.approx(9.0 / 24)
    assert later.noise_variance > 1.1 * alike.noise_variance


def rate_found(recency: float, noise: float, generator: np.random.Generator) -> float:
    """The share of positives, of which 30 % are true, after 24 noisy releases about 600 rows."""
    intercept = PosteriorIntercept(600.0)
    intercept.set_recency(recency)
    for _ in range(24):
        score = intercept.value
        push = (0.3 * mada_boost(score) - 0.7 * mada_boost(-score)).item()
        observe(intercept, 600 * push + noise * generator.normal(), noise)
    return float(expit(intercept.value[0]))


def test_an_intercept_whose_releases_count_alike_is_found():
    """That it is nearer at low signal is said by the noise of its mean, above."""
    assert rate_found(-1.0, 1.0, np.random.default_rng(0)) == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize("columns", [1, 8, 60])
def test_the_intercepts_part_balances_its_error_with_what_columns_gain(columns):
    def part(whole: float) -> float:
        share = Planner().intercept_share(whole / math.sqrt(columns), columns)
        return share / (share + columns)

    assert part(5.0) == pytest.approx(PLANNING.largest_intercept_part)
    if columns > 20:  # with few columns a column's share is more than either
        assert part(30.0) == pytest.approx(PLANNING.intercept_doubt / 30.0)
        assert part(100.0) == pytest.approx(PLANNING.intercept_care / 100.0**2)
    parts = [part(whole) for whole in np.geomspace(1.0, 1e5, 60)]
    assert parts == sorted(parts, reverse=True)
    assert min(parts) == pytest.approx(1 / (columns + 1))


@pytest.mark.parametrize("columns", [2, 10, 100])
def test_columns_are_thought_alike(columns):
    alike = np.exp(HyperPrior(columns).log("numeric"))
    likeliest = SCALES[alike.argmax()]
    assert abs(math.log(likeliest * columns / SWEEPING.likely_variance)) < math.log(3.5)  # scales are that far apart
    assert alike[0] < 0.01  # next to no effect at all
    assert alike == pytest.approx(_start(columns))


def test_what_terms_of_a_kind_look_like_stands_beside_what_was_thought():
    prior, n, jumps = HyperPrior(4), SWEEPING.pseudo_terms, np.zeros((4, len(SCALES)))
    assert np.exp(prior.log("numeric")) == pytest.approx(_start(4))
    jumps[3, 6] = 1.0
    prior.learn([Weights("numeric", jumps)] * 20)
    assert np.exp(prior.log("numeric"))[3, 6] == pytest.approx((20 + n * _start(4)[6] / 4) / (20 + n))
    assert np.exp(prior.log("categorical")) == pytest.approx(_start(4)), "of another kind nothing is known"


def test_sweeps_are_few_where_the_model_hardly_moves():
    def sweeps(signal: float, pure: bool = False) -> int:
        return Planner().plan(1000.0, 10, signal, pure).sweeps

    below, above = 0.99 * PLANNING.pairs_from, PLANNING.pairs_from
    assert (sweeps(below), sweeps(above)) == (PLANNING.noisy_sweeps, PLANNING.sweeps)
    assert sweeps(below, pure=True) == sweeps(above, pure=True) == PLANNING.pure_sweeps


@dataclass
class Weights:
    kind: str
    weights: np.ndarray


def _start(columns: int) -> np.ndarray:
    away = np.log(SCALES * columns / SWEEPING.likely_variance)
    start = np.exp(-(away**2) / (2 * SWEEPING.unlikely**2))
    return start / start.sum()
