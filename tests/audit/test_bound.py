"""The bound, against its formula by hand and against mechanisms whose epsilon is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from tacit.audit.bound import (
    STAKES,
    Counts,
    best_guess_of_gaussian,
    best_guess_of_pure,
    epsilon_lower,
    gaussian,
    gaussian_lower,
    largest_chance,
    least_chance,
    log_evidence,
    most_provable,
    plain,
    usual_counts,
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
    # from the tables of Clopper and Pearson: 7 of 10, 95 % in the middle
    assert least_chance(7, 10, 0.025) == pytest.approx(0.3475, abs=5e-5)
    assert largest_chance(7, 10, 0.025) == pytest.approx(0.9333, abs=5e-5)


def pairs(*answers):
    counts = Counts()
    for first, second in answers:
        counts = counts.and_pair(first, second)
    return counts


def test_pairs_are_counted():
    assert pairs((True, False), (True, True), (False, True), (False, False)) == Counts(2, 2, 4, 1)
    assert Counts(2, 2, 4, 1).to_dict() == {"hits": 2, "false_alarms": 2, "trials": 4, "both": 1}


def test_the_evidence_of_a_few_pairs_by_hand():
    assert log_evidence(Counts(), plain(1.0, 0.0)) == pytest.approx(0.0)
    ratio, delta = math.exp(1.0), 0.01
    bets = STAKES / (ratio + delta)
    won = np.log(np.mean(1 + bets * (1 - delta)))
    assert log_evidence(pairs((True, False)), plain(1.0, delta)) == pytest.approx(won)
    both = np.mean([1 + bets * (1 - ratio - delta), 1 - bets * delta])
    assert log_evidence(pairs((True, True)), plain(1.0, delta)) == pytest.approx(np.log(both))
    assert log_evidence(pairs((False, False)), plain(1.0, delta)) == pytest.approx(np.log(both))
    assert log_evidence(pairs((False, True)), plain(1.0, delta)) == pytest.approx(np.log(np.mean(1 - STAKES)))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.5, 0.0), (1.0, 0.05), (3.0, 1e-6)])
@pytest.mark.parametrize("alarm", [0.001, 0.1, 0.5, 0.9])
def test_one_more_pair_brings_nothing_on_average_where_a_claim_just_holds(epsilon, delta, alarm):
    """The wealth is a supermartingale at the corner of what the claim allows, whatever was counted before."""
    most = min(1.0, math.exp(epsilon) * alarm + delta, 1 - (1 - alarm - delta) / math.exp(epsilon))
    for before in (Counts(), Counts(9, 2, 10, 2), Counts(50, 40, 90, 30)):
        after = 0.0
        for first, second in ((True, True), (True, False), (False, True), (False, False)):
            chance = (most if first else 1 - most) * (alarm if second else 1 - alarm)
            after += chance * math.exp(log_evidence(before.and_pair(first, second), plain(epsilon, delta)))
        assert after <= math.exp(log_evidence(before, plain(epsilon, delta))) * (1 + 1e-12)


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("alarm", [0.01, 0.3, 0.5, 0.95])
def test_one_more_pair_brings_nothing_on_average_where_noise_is_gaussian(mu, alarm):
    most, before, after = norm.sf(norm.isf(alarm) - mu), Counts(30, 20, 60, 9), 0.0
    for first, second in ((True, True), (True, False), (False, True), (False, False)):
        chance = (most if first else 1 - most) * (alarm if second else 1 - alarm)
        after += chance * math.exp(log_evidence(before.and_pair(first, second), gaussian(mu)))
    assert after <= math.exp(log_evidence(before, gaussian(mu))) * (1 + 1e-12)


def test_a_worse_guess_than_a_coin_proves_nothing():
    assert epsilon_lower(Counts(10, 90, 100, 10), 0.0, 0.95) == 0.0
    assert gaussian_lower(Counts(10, 90, 100, 10), 1e-6, 0.95) == 0.0
    assert epsilon_lower(Counts(50, 0, 100), 0.9, 0.95) == 0.0
    assert gaussian_lower(Counts(52, 50, 100, 26), 1e-6, 0.95) == 0.0


def test_counts_that_cannot_be_are_refused():
    for wrong in ((11, 0, 10), (0, -1, 10), (5, 3, 10, 4), (8, 8, 10, 5)):
        with pytest.raises(ValueError, match="between 0"):
            Counts(*wrong)
    with pytest.raises(ValueError, match="delta=0"):
        gaussian_lower(Counts(5, 5, 10), 0.0, 0.95)


def test_what_so_many_trials_can_prove():
    # all of the last stake is won each time: (1 + .98 / e^epsilon)^200 / 16 = 20, where the other stakes bring nothing
    bound = most_provable(200, 0.0, 0.95)
    wealth = np.mean([(1 + stake / math.exp(bound)) ** 200 for stake in STAKES])
    assert wealth == pytest.approx(20)
    assert bound < most_provable(2000, 0.0, 0.95)
    assert bound > most_provable(200, 0.5, 0.95)


def looked_at_often(draws, hit, alarm, repeats, trials, bound):
    """How many of ``repeats`` experiments ever bring a bound above the truth, looked at after every tenth pair."""
    beyond = 0
    for _ in range(repeats):
        first, second = draws.random(trials) < hit, draws.random(trials) < alarm
        places = range(10, trials + 1, 10)
        beyond += any(bound(Counts(int(first[:n].sum()), int(second[:n].sum()), n, int((first[:n] & second[:n]).sum())))
                      for n in places)  # fmt: skip
    return beyond


def test_randomised_response_is_never_refuted_more_often_than_said_and_nearly_attained():
    """However often somebody looks; many trials come near the truth."""
    epsilon, right = 1.5, best_guess_of_pure(1.5)
    assert right == pytest.approx(math.exp(1.5) / (1 + math.exp(1.5)))
    needed = -math.log(0.1)
    beyond = looked_at_often(np.random.default_rng(0), right, 1 - right, 300, 200,
                             lambda seen: log_evidence(seen, plain(epsilon, 0.0)) >= needed)  # fmt: skip
    assert at_most_share(beyond, 300, 0.1)
    assert 0.98 * epsilon < epsilon_lower(usual_counts(10**6, right), 0.0, 0.95) < epsilon


def test_gaussian_noise_is_never_refuted_more_often_than_said_and_nearly_attained():
    mu, delta = 1.0, 1e-6
    right = best_guess_of_gaussian(mu)
    assert right == pytest.approx(norm.sf(-0.5))
    needed = -math.log(0.1)
    beyond = looked_at_often(np.random.default_rng(1), right, 1 - right, 300, 200,
                             lambda seen: log_evidence(seen, gaussian(mu)) >= needed)  # fmt: skip
    assert at_most_share(beyond, 300, 0.1)
    truth, many = gaussian_epsilon(mu, delta), usual_counts(10**6, right)
    assert 0.98 * truth < gaussian_lower(many, delta, 0.95) < truth
    assert gaussian_lower(many, delta, 0.95) > 4 * epsilon_lower(many, delta, 0.95)
