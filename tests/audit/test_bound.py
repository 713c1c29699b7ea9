"""The bound, against its formula by hand and against mechanisms whose epsilon is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from tacit.audit.bound import (
    Counts,
    epsilon_lower,
    gaussian_lower,
    largest_chance,
    least_chance,
    most_provable,
)
from tacit.privacy.gaussian import gaussian_epsilon
from tests.chance import at_most_share


@pytest.mark.parametrize(("count", "trials"), [(1, 10), (7, 10), (10, 10), (150, 200)])
def test_the_least_chance_is_where_so_many_successes_are_just_possible(count, trials):
    least = least_chance(count, trials, 0.025)
    assert binom.sf(count - 1, trials, least) == pytest.approx(0.025)
    assert largest_chance(trials - count, trials, 0.025) == pytest.approx(1 - least)


def test_chances_by_hand():
    assert least_chance(0, 10, 0.025) == 0.0
    assert largest_chance(10, 10, 0.025) == 1.0
    assert largest_chance(0, 10, 0.025) == pytest.approx(1 - 0.025**0.1)  # nothing in ten: (1 - p)^10 = .025
    assert least_chance(10, 10, 0.025) == pytest.approx(0.025**0.1)
    # from the tables of Clopper and Pearson: 7 of 10, 95 % in the middle
    assert least_chance(7, 10, 0.025) == pytest.approx(0.3475, abs=5e-5)
    assert largest_chance(7, 10, 0.025) == pytest.approx(0.9333, abs=5e-5)


def test_epsilon_by_hand():
    counts = Counts(hits=90, false_alarms=10, trials=100)
    hit, alarm = least_chance(90, 100, 0.025), largest_chance(10, 100, 0.025)
    assert epsilon_lower(counts, 0.0, 0.95) == pytest.approx(math.log(hit / alarm))
    assert epsilon_lower(counts, 0.05, 0.95) == pytest.approx(math.log((hit - 0.05) / alarm))
    misses = Counts(hits=100, false_alarms=60, trials=100)  # a "without" is what proves something here
    hit, alarm = least_chance(100, 100, 0.025), largest_chance(60, 100, 0.025)
    assert epsilon_lower(misses, 1e-6, 0.95) == pytest.approx(math.log((1 - alarm - 1e-6) / (1 - hit)))


def test_a_worse_guess_than_a_coin_proves_nothing():
    assert epsilon_lower(Counts(10, 90, 100), 0.0, 0.95) == 0.0
    assert gaussian_lower(Counts(10, 90, 100), 1e-6, 0.95) == 0.0
    assert epsilon_lower(Counts(50, 0, 100), 0.9, 0.95) == 0.0
    assert gaussian_lower(Counts(52, 50, 100), 1e-6, 0.95) == 0.0


def test_counts_that_cannot_be_are_refused():
    for wrong in ((11, 0, 10), (0, -1, 10), (0, 0, 0)):
        with pytest.raises(ValueError, match="between 0"):
            Counts(*wrong)
    with pytest.raises(ValueError, match="delta=0"):
        gaussian_lower(Counts(5, 5, 10), 0.0, 0.95)


def test_what_so_many_trials_can_prove():
    one_side = 0.025 ** (1 / 200)
    assert most_provable(200, 0.0, 0.95) == pytest.approx(math.log(one_side / (1 - one_side)))
    assert most_provable(200, 0.0, 0.95) < most_provable(2000, 0.0, 0.95)
    assert most_provable(200, 0.0, 0.95) > most_provable(200, 0.5, 0.95)


def test_randomised_response_is_bounded_from_below_and_nearly_attained():
    """Repeats whose bound lies above the truth are as few as the confidence says; many trials come near it."""
    epsilon, repeats = 1.5, 4000
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    draws = np.random.default_rng(0)
    for trials in (50, 400):
        hits, alarms = draws.binomial(trials, keep, repeats), draws.binomial(trials, 1 - keep, repeats)
        pairs, times = np.unique(np.stack([hits, alarms], axis=1), axis=0, return_counts=True)
        bounds = np.asarray([epsilon_lower(Counts(*map(int, pair), trials), 0.0, 0.9) for pair in pairs])
        assert at_most_share(int(times[bounds > epsilon].sum()), repeats, 0.1)
    many = Counts(round(10**6 * keep), round(10**6 * (1 - keep)), 10**6)
    assert 0.98 * epsilon < epsilon_lower(many, 0.0, 0.95) < epsilon


def test_gaussian_noise_is_bounded_from_below_and_nearly_attained():
    mu, delta, trials, repeats = 1.0, 1e-6, 200, 2000
    truth = gaussian_epsilon(mu, delta)
    draws = np.random.default_rng(1)
    hits, alarms = (draws.binomial(trials, norm.sf(0.5 - shift), repeats) for shift in (mu, 0.0))
    bounds = [gaussian_lower(Counts(int(h), int(a), trials), delta, 0.9) for h, a in zip(hits, alarms, strict=True)]
    assert at_most_share(int((np.asarray(bounds) > truth).sum()), repeats, 0.1)
    many = Counts(round(10**6 * norm.sf(-0.5)), round(10**6 * norm.sf(0.5)), 10**6)
    assert 0.98 * truth < gaussian_lower(many, delta, 0.95) < truth
    assert gaussian_lower(many, delta, 0.95) > 4 * epsilon_lower(many, delta, 0.95)
