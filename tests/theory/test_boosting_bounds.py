"""The paper's bounds with constants: what holds, and what is printed and does not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tacit.privacy.accountants import epsilon as cost
from tacit.privacy.calibration import gaussian_noise_multiplier
from tacit.privacy.charges import ApproxDP, Gaussian, Repeated
from tacit.theory import boosting, generalisation, halfspaces
from tacit.theory.averaged_noise import noise_spread


@pytest.mark.parametrize("advantage", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("density", [0.01, 0.2])
def test_theorem_20_solves_lemma_39_for_the_rounds(advantage: float, density: float) -> None:
    rounds = boosting.lazy_bregman_rounds(advantage, density)
    rate = boosting.lazy_bregman_learning_rate(advantage)
    assert rounds == math.ceil(2 * math.log(1 / density) / advantage**2)
    assert boosting.lazy_bregman_margin(advantage, rate, density, rounds) >= advantage
    assert boosting.lazy_bregman_margin(advantage, rate, density, rounds - 1) < advantage
    # lambda = 2 gamma is the best choice: no other one does better with these rounds
    rates = advantage * np.linspace(0.2, 7.9, 200)
    best = max(boosting.lazy_bregman_margin(advantage, rate, density, rounds) for rate in rates)
    assert best <= boosting.lazy_bregman_margin(advantage, rate, density, rounds) * 1.01


@pytest.mark.parametrize("advantage", [0.02, 0.1, 0.25, 0.4, 0.5])
def test_signs_take_a_quarter_of_the_rounds(advantage: float) -> None:
    rounds = boosting.lazy_bregman_rounds(advantage, 0.05, "errors")
    rate = boosting.lazy_bregman_learning_rate(advantage, "errors")
    assert rate == min(1.0, 4 * advantage)
    if advantage <= 0.25:
        assert rounds == math.floor(math.log(20) / (2 * advantage**2)) + 1
    assert boosting.lazy_bregman_margin(advantage, rate, 0.05, rounds) > 0
    assert boosting.lazy_bregman_margin(advantage, rate, 0.05, rounds - 1) <= 0


def test_algorithm_4_takes_an_eighth_of_the_printed_rounds() -> None:
    """alpha .1, tau .8. As printed (5,903 rounds, lambda = tau / 8) it gives more margin than is needed: 13/8 gamma."""
    for aim, rounds in (("margin", 738), ("errors", 185)):
        assert boosting.lazy_bregman_rounds(0.1, 0.025, aim) == rounds  # type: ignore[arg-type]
        assert boosting.lazy_bregman_rounds(0.1, 0.025, aim, "paper") == 5903  # type: ignore[arg-type]
        assert boosting.lazy_bregman_learning_rate(0.1, aim, "paper") == 0.025  # type: ignore[arg-type]
    printed = halfspaces.printed_run(0.1, 0.05, 0.8)
    assert (printed.rounds, printed.learning_rate, printed.density, printed.divisor) == (5903, 0.1, 0.025, 0.4)
    gained = boosting.lazy_bregman_margin(0.1, printed.learning_rate, printed.density, printed.rounds)
    assert gained == pytest.approx(13 / 8 * 0.1, rel=1e-3)
    # by the paper's own Lemma 35 it says nothing
    assert boosting.lazy_bregman_margin(0.1, printed.learning_rate, printed.density, printed.rounds, "paper") < 0
    # Theorem 20 as printed: its rounds and its lambda = gamma / 4 are right for Lemma 35 as printed
    assert boosting.lazy_bregman_margin(0.1, 0.025, 0.025, 5903, "paper") == pytest.approx(0.1, rel=1e-3)


def test_rows_for_privacy_at_alpha_tenth_and_tau_half() -> None:
    multiplier = gaussian_noise_multiplier(1.0, 1e-6)
    printed = halfspaces.printed_run(0.1, 0.05, 0.5)
    assert halfspaces.privacy_rows(printed, multiplier) == pytest.approx(1.74e6, rel=0.01)
    assert halfspaces.privacy_rows(printed, multiplier, "paper") == pytest.approx(3.48e6, rel=0.01)
    signs = halfspaces.run_for_signs(0.1, 0.05, 0.5, 0.025)
    assert 12_000 < halfspaces.privacy_rows(signs, multiplier) < 15_500  # by a union bound over rounds 265,941
    cheaper = halfspaces.run_for_signs(0.1, 0.05, 0.5, 0.1)
    assert 1_300 < halfspaces.privacy_rows(cheaper, multiplier) < 1_550


def test_the_undivided_centre_is_a_much_weaker_hypothesis() -> None:
    """Theorem 27 says advantage tau / 4. Rows (tau, +-sqrt(1 - tau^2) e_i): the centre is tau u, so z . x = tau^2."""
    margin, dimension = 0.2, 51
    side = math.sqrt(1 - margin**2) * np.eye(dimension)[1:]
    rows = np.vstack([side, -side]) + margin * np.eye(dimension)[0]
    centre = rows.mean(axis=0)
    undivided = 0.5 * float((rows @ centre).mean())
    divided = 0.5 * float((rows @ centre / np.linalg.norm(centre)).mean())
    assert np.abs(rows @ centre).max() <= 1
    assert undivided == pytest.approx(margin**2 / 2)
    assert undivided < boosting.centering_advantage(margin)
    assert undivided >= boosting.undivided_centering_advantage(margin)
    assert divided == pytest.approx(margin / 2)
    assert divided >= boosting.centering_advantage(margin)
    assert boosting.centering_advantage(margin) == pytest.approx(margin / 4)
    assert boosting.undivided_centering_advantage(margin) == pytest.approx(margin**2 / 8)


@pytest.mark.parametrize("margin", [0.05, 0.3, 0.9])
def test_a_quarter_of_the_margin_may_be_outliers(margin: float) -> None:
    """The worst are the other way round, and weigh as much as a dense measure may: the centre is as short as stated."""
    n, density, rng = 4000, 0.25, np.random.default_rng(0)
    outliers = math.floor(density * n * margin / 4)
    side = rng.normal(size=(n, 6))
    side *= math.sqrt(1 - margin**2) / np.linalg.norm(side, axis=1, keepdims=True)
    rows = np.hstack([np.full((n, 1), margin), side])  # times their labels; the margin is along the first axis
    rows[:outliers] = -np.eye(7)[0]
    weights = np.zeros(n)
    weights[: round(density * n)] = 1  # outliers first
    share = outliers / (density * n)
    centre = weights @ rows / weights.sum()
    assert centre[0] == pytest.approx(margin * (1 - share) - share)
    assert np.linalg.norm(centre) >= margin / 2
    assert centre[0] - 1.5 * margin / 4 < margin / 2  # two and a half times as many would be too many
    for _ in range(20):  # no other dense measure has a shorter one along the axis
        other = rng.random(n) ** rng.integers(1, 9)
        other = np.maximum(other / max(other.max(), 1e-9), density)
        assert other @ rows[:, 0] / other.sum() >= centre[0] - 1e-12
    assert boosting.centering_advantage(margin) == margin / 4  # half of the length


def test_theorem_22_advantage_under_noise() -> None:
    """A Gaussian falls below the stated quantile no more often than stated."""
    rng = np.random.default_rng(0)
    margin, sigma, failure = 0.5, 0.05, 0.02
    noise = rng.normal(0, sigma, 200_000)
    lost = margin / 4 - boosting.centering_advantage(margin, sigma, failure)
    assert (noise / 2 < -lost).mean() <= failure
    assert boosting.centering_advantage(margin) == margin / 4


def test_lemma_24_needs_the_average_of_the_noise() -> None:
    """The printed step bounds each noise vector by tau / 8; its length is sigma sqrt(d). The average is short."""
    rng = np.random.default_rng(1)
    margin, dimension, rounds, failure = 0.5, 2000, 400, 0.01
    sigma = halfspaces.printed_run(0.1, 0.05, margin).sigma
    vectors = rng.normal(0, sigma, (rounds, dimension))
    assert np.linalg.norm(vectors, axis=1).min() > margin / 8
    average = float(np.linalg.norm(vectors.mean(axis=0)))
    assert average <= boosting.average_noise_length(sigma, dimension, rounds, failure) < 1
    assert average > 0.8 * boosting.average_noise_length(sigma, dimension, rounds, failure)


def test_theorem_53_is_the_composition_and_not_the_formula() -> None:
    """The printed epsilon misses sqrt(2) in its second term: below what the composition theorem it appeals to gives."""
    epsilon, delta, rounds, slack = 0.01, 1e-9, 100, 1e-6
    sharp = boosting.stopping_rule_privacy(epsilon, delta, rounds, slack)
    printed = boosting.stopping_rule_privacy(epsilon, delta, rounds, slack, "paper")
    slow, fast = 2 * rounds * epsilon**2, 2 * epsilon * math.sqrt(rounds * math.log(1 / slack))
    assert printed == pytest.approx((slow + fast, rounds * math.exp(epsilon) * delta + slack))
    assert sharp == pytest.approx((slow + math.sqrt(2) * fast, printed[1]))
    assert boosting.advanced_composition(2 * epsilon, 0.0, rounds, slack)[0] == pytest.approx(sharp[0])
    round_charge = ApproxDP(*boosting.tested_round(epsilon, delta))
    assert cost([Repeated(round_charge, rounds)], sharp[1]) <= sharp[0] * 1.001


def breach(epsilon: float, delta: float, surplus: float) -> float:
    """Propose-test-release, exactly: the delta it needs beside 2 epsilon, with a mechanism private above 0 only."""

    def passes(size: float) -> float:  # probability that size + Laplace(1 / epsilon) >= surplus
        gap = surplus - size
        return 0.5 * math.exp(-epsilon * gap) if gap >= 0 else 1 - 0.5 * math.exp(epsilon * gap)

    worst = 0.0
    for size in np.linspace(-20, 20, 401):
        for other in (size - 1, size + 1):
            if min(size, other) < 0:  # the mechanism may give the table away: all that it answers counts
                worst = max(worst, passes(size))
            else:  # it answers with delta of its own, and e^epsilon apart
                worst = max(worst, delta * passes(size) + passes(size) - math.exp(epsilon) * passes(other))
    return worst


def test_lemma_50_on_the_worst_case() -> None:
    epsilon, delta = 0.5, 1e-3
    stated = boosting.tested_round(epsilon, delta)
    assert stated == pytest.approx((2 * epsilon, math.exp(epsilon) * delta))
    surplus = boosting.end_test_threshold(epsilon, delta)
    assert surplus == pytest.approx(2 + math.log(1 / delta) / epsilon)
    assert breach(epsilon, delta, surplus) <= stated[1]
    assert breach(epsilon, delta, 0.7 * surplus) > stated[1]


def test_fat_shattering_by_its_two_lemmas() -> None:
    """Orthonormal rows are shattered up to the bound's order; more rows than the bound cannot be (Lemmas 28, 29)."""
    margin = 0.5
    bound = generalisation.fat_shattering_halfspaces(margin)
    assert bound == 16
    n = int(bound)
    signs = np.random.default_rng(0).choice([-1, 1], n)
    weights = margin * signs  # over orthonormal rows: margin on each, whatever the signs
    assert np.linalg.norm(weights) <= 2
    rng = np.random.default_rng(1)
    for size in (17, 40):
        rows = rng.normal(size=(size, 60))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        draws = rng.choice([-1, 1], (500, size))
        shortest = np.linalg.norm(draws @ rows, axis=1).min()
        assert shortest < margin * size / 2  # the set that Lemma 28 rules out


@pytest.mark.parametrize(("epsilon", "delta"), [(0.001, 1e-8), (0.01, 1e-6), (0.2, 1e-3)])
def test_theorems_32_and_33_add_the_transfer_to_the_round_bound(epsilon: float, delta: float) -> None:
    """A run that errs little in training errs little on new rows: gaps add up, failures too, and neither exceeds 1."""
    gap, miss = generalisation.transfer_bound(epsilon, delta)
    for training, failure in ((0.0, 0.0), (0.05, 0.01), (0.2, 0.3)):
        error, fails = generalisation.private_boosting_error(training, failure, epsilon, delta)
        assert error == pytest.approx(min(1.0, training + gap))
        assert fails == pytest.approx(failure + miss)
    assert generalisation.private_boosting_error(0.05, 0.01, 0.001, 1e-8) == pytest.approx((0.068, 0.01001))
    assert generalisation.private_boosting_error(0.9, 0.999, 0.2, 0.04)[0] == 1.0
    with pytest.raises(ValueError, match="Theorem 31"):
        generalisation.private_boosting_error(0.1, 0.1, 0.5, delta)


@pytest.mark.parametrize(("accuracy", "failure", "epsilon"), [(0.3, 0.2, 1.0), (0.1, 0.05, 0.001)])
def test_claims_4_and_5_of_theorem_34(accuracy: float, failure: float, epsilon: float) -> None:
    """Half of alpha is for training errors, half for what privacy lets training and true error differ by."""
    delta, margin = 1e-6, 0.5
    size = halfspaces.sample_size_by_privacy(accuracy, failure, margin, epsilon, delta)
    strict = min(epsilon, accuracy / 36, 0.33)
    gap, miss = generalisation.transfer_bound(strict, min(delta, strict * failure / 4))
    assert gap <= accuracy / 2 * (1 + 1e-9)
    assert miss <= failure / 4
    assert halfspaces.transfer_privacy(accuracy, failure, epsilon, 1.0) == pytest.approx((strict, strict * failure / 4))
    assert size.rows >= size.generalisation == generalisation.transfer_rows(strict, min(delta, strict * failure / 4))
    density = halfspaces.transfer_density(accuracy, margin, strict)
    assert density + gap == pytest.approx(halfspaces.error_on_noisy_rows(accuracy, margin))
    run = halfspaces.run_for_signs(accuracy, failure / 3, margin, density, exact=True)
    multiplier = 1 / math.sqrt(2 * halfspaces.zcdp_for(strict, min(delta, strict * failure / 4)))
    assert size.privacy == halfspaces.privacy_rows(run, multiplier)


def test_claims_2_and_3_of_theorem_34() -> None:
    # Claim 2, by simulation: label noise at the tolerated rate hits too many rows with probability at most beta / 4
    accuracy, failure, margin = 0.3, 0.2, 0.4
    rows = halfspaces.label_noise_rows(accuracy, failure, margin)
    rate = halfspaces.tolerated_noise(accuracy, margin)
    assert (rows, rate) == (math.ceil(96 * math.log(4 / 0.2) / (0.3 * 0.4)), pytest.approx(0.3 * 0.4 / 32))
    hits = np.random.default_rng(0).binomial(rows, rate, 100_000)
    assert (hits >= accuracy * margin / 16 * rows).mean() <= failure / 4
    # Claim 3: all rounds together fail with probability at most beta / 3
    run = halfspaces.printed_run(accuracy, failure, margin)
    missed = math.exp(-((margin / (8 * boosting.ADVANTAGE_CONSTANT * run.sigma)) ** 2))  # of a round's advantage
    assert 0.9 * failure / 3 < 1 - (1 - missed) ** run.rounds <= failure / 3


@pytest.mark.parametrize("analysis", ["sharp", "paper"])
def test_claim_1_rows_make_the_noise_private(analysis: boosting.Analysis) -> None:
    epsilon, delta = 1.0, 1e-6
    parameters = halfspaces.printed_run(0.2, 0.1, 0.5)
    rows = halfspaces.privacy_rows(parameters, gaussian_noise_multiplier(epsilon, delta), analysis)
    sensitivity = boosting.centering_sensitivity(parameters.density, rows, analysis)
    charge = Repeated(Gaussian(parameters.sigma / sensitivity), parameters.rounds)
    assert cost([charge], delta) <= epsilon * (1 + 1e-9)
    fewer = boosting.centering_sensitivity(parameters.density, int(rows * 0.99), analysis)
    assert cost([Repeated(Gaussian(parameters.sigma / fewer), parameters.rounds)], delta) > epsilon


def test_theorem_1_holds_as_printed_and_the_smaller_bound_counts() -> None:
    multiplier = gaussian_noise_multiplier(1.0, 1e-6)
    base = halfspaces.sample_size(0.2, 0.1, 0.4, multiplier, dimension=10)
    finer = halfspaces.sample_size(0.1, 0.1, 0.4, multiplier, dimension=10)
    narrower = halfspaces.sample_size(0.2, 0.1, 0.2, multiplier, dimension=10)
    assert 2.0 <= finer.rows / base.rows <= 2.6  # 1 / alpha, and logarithms
    assert 3.3 <= narrower.rows / base.rows <= 4.5  # 1 / tau^2
    assert base.rows == max(base.privacy, base.label_noise, base.generalisation)
    aim = halfspaces.sample_size(0.1, 0.05, 0.5, multiplier)
    assert aim.bound == "PAC-Bayes"
    assert aim.rows < 33_000
    paper = halfspaces.sample_size(0.1, 0.05, 0.5, multiplier, "paper")
    assert paper.generalisation == pytest.approx(262_300, rel=0.01)
    by_privacy = halfspaces.sample_size_by_privacy(0.2, 0.1, 0.5, 1.0, 1e-6)
    assert by_privacy.rows >= by_privacy.generalisation > 0


def test_the_cheapest_promise_is_the_smaller_of_theorems_25_and_34() -> None:
    alpha, beta, margin = 0.1, 0.05, 0.5
    strict, delta = halfspaces.transfer_privacy(alpha, beta, 1.0, 1e-6)
    assert strict == alpha / 36
    assert halfspaces.transfer_privacy(alpha, beta, 1.0, 1e-3) == pytest.approx((strict, strict * beta / 4))
    many = 10**7  # Theorem 34 has no limit on the dimension
    for epsilon, name, width in ((1.0, "PAC-Bayes", 1000), (strict, "PAC-Bayes", 1000), (strict, "Theorem 31", many)):
        multiplier = gaussian_noise_multiplier(epsilon, delta)
        promise = halfspaces.cheapest_promise(alpha, beta, margin, (epsilon, delta), multiplier, dimension=width)
        assert any(name in part for part in promise.needed)
        by_margins = halfspaces.cheapest_margin_run(alpha, beta, margin, multiplier, width)
        if name == "PAC-Bayes":
            assert (promise.run, promise.dimension) == (by_margins.run, 1000)
        else:
            assert halfspaces.transfer_density(alpha, margin, strict) == pytest.approx(alpha / 2)
            assert promise.run == halfspaces.run_for_signs(alpha, beta / 3, margin, alpha / 2)
            assert promise.dimension is None
            assert promise.rows < max(by_margins.privacy, by_margins.generalisation)
    printed = halfspaces.cheapest_promise(alpha, beta, margin, (1.0, 1e-6), multiplier, "paper")
    assert printed.run == halfspaces.printed_run(alpha, beta, margin)
    limit = halfspaces.largest_dimension(printed.run, margin / 2, 1.0, beta / 6)
    halfspaces.cheapest_promise(alpha, beta, margin, (1.0, 1e-6), multiplier, "paper", limit)
    with pytest.raises(ValueError, match=f"up to {limit} columns"):
        halfspaces.cheapest_promise(alpha, beta, margin, (1.0, 1e-6), multiplier, "paper", limit + 1)


def test_label_noise_is_paid_for_in_error_on_noisy_rows() -> None:
    """A halfspace of error e on clean rows errs at e (1 - 2 eta) + eta on noisy ones."""
    for accuracy in (0.1, 0.5, 0.9):
        rate = halfspaces.tolerated_noise(accuracy, 0.5)
        clean = (halfspaces.error_on_noisy_rows(accuracy, 0.5) - rate) / (1 - 2 * rate)
        assert clean <= accuracy + 1e-12
    assert halfspaces.error_on_noisy_rows(0.1, 0.5) == 0.1
    assert halfspaces.tolerated_noise(0.1, 0.5) == 0.1 * 0.5 / 32


def test_lemma_24_bounds_the_dimension() -> None:
    """Up to the dimension named all noise together is as long as the exact centres at most, and not far beyond."""
    run, failure = halfspaces.printed_run(0.4, 0.3, 0.9), 0.05
    largest = halfspaces.largest_dimension(run, 0.45, 1.0, failure)
    assert noise_spread(run, 0.45, largest, failure) <= 1 < noise_spread(run, 0.45, largest + 1, failure)
    assert halfspaces.largest_dimension(run, 0.45, 0.001, failure) == 0
    few = replace(run, rounds=400, sigma=1.0)
    largest = halfspaces.largest_dimension(few, 0.5, 1.0, 0.05)
    rng = np.random.default_rng(0)
    lengths = np.linalg.norm(rng.normal(0, 20.0, (1000, largest)), axis=1)  # the sum of 400 vectors
    assert (lengths > 0.5 * 400).mean() <= 0.05
    assert np.quantile(lengths, 0.9) > 0.7 * 0.5 * 400
