"""The paper's bounds with constants: what holds, and what is printed and does not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.privacy.accountants import epsilon as cost
from tacit.privacy.calibration import gaussian_noise_multiplier
from tacit.privacy.charges import ApproxDP, Gaussian, Laplace, Repeated
from tacit.theory import boosting, generalisation, halfspaces


@pytest.mark.parametrize("advantage", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("density", [0.01, 0.2])
def test_theorem_20_solves_lemma_39_for_the_rounds(advantage: float, density: float) -> None:
    rounds = boosting.lazy_bregman_rounds(advantage, density)
    rate = boosting.lazy_bregman_learning_rate(advantage)
    assert boosting.lazy_bregman_margin(advantage, rate, density, rounds) >= advantage
    assert boosting.lazy_bregman_margin(advantage, rate, density, int(rounds * 0.9)) < advantage
    # lambda = gamma / 4 is a good choice, not the best: no other one does much better with these rounds
    rates = advantage * np.linspace(0.05, 0.9, 200)
    best = max(boosting.lazy_bregman_margin(advantage, rate, density, rounds) for rate in rates)
    assert best <= advantage * 1.001


def test_algorithm_4_as_printed_is_vacuous() -> None:
    """lambda = tau / 8 where gamma = tau / 8: the margin bound is negative. tau / 32 gives it back."""
    margin, accuracy = 0.3, 0.1
    parameters = halfspaces.strong_halfspace(accuracy, 0.05, margin)
    gamma, density, rounds = parameters.advantage, parameters.density, parameters.rounds
    assert rounds == math.ceil(1024 * math.log(4 / accuracy) / margin**2)
    assert boosting.lazy_bregman_margin(gamma, margin / 8, density, rounds) < 0
    assert parameters.learning_rate == margin / 32
    assert boosting.lazy_bregman_margin(gamma, parameters.learning_rate, density, rounds) >= gamma


def test_sharp_constants_are_half_of_the_paper_s() -> None:
    assert boosting.centering_sensitivity(0.1, 1000, "paper") == 2 * boosting.centering_sensitivity(0.1, 1000)
    assert boosting.centering_zcdp(0.1, 1000, 0.05, "paper") == pytest.approx(8 / (0.1 * 1000 * 0.05) ** 2)
    assert boosting.centering_zcdp(0.1, 1000, 0.05) == pytest.approx(2 / (0.1 * 1000 * 0.05) ** 2)
    assert boosting.lazy_bregman_slickness(0.1, 1000) == boosting.smoothness(0.1, 1000)
    with pytest.raises(ValueError, match="analysis"):
        boosting.centering_sensitivity(0.1, 1000, "best")  # type: ignore[arg-type]


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
    sigma = halfspaces.strong_halfspace(0.1, 0.05, margin).sigma
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
    assert printed[0] < sharp[0]
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
    assert stated[0] == 2 * epsilon
    surplus = boosting.end_test_threshold(epsilon, delta)
    assert breach(epsilon, delta, surplus) <= stated[1]
    assert breach(epsilon, delta, 0.7 * surplus) > stated[1]


def test_theorem_51_and_its_relatives() -> None:
    assert boosting.smooth_boost_rounds(0.1, 0.1) == math.ceil(2 / (0.1 * 0.01 * math.sqrt(0.9)))
    assert boosting.smooth_boost_margin(0.1) == pytest.approx(0.1 / 2.1)
    assert boosting.smooth_boost_slickness(0.1, 1000) == pytest.approx(0.02)


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
    with pytest.raises(ValueError, match="margin"):
        generalisation.fat_shattering_halfspaces(0.0)


def test_theorem_23_shrinks_with_rows_and_is_inverted() -> None:
    bounds = [generalisation.margin_bound(0.05, n, 0.3, 0.05) for n in (10**5, 10**7, 10**9, 10**12)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < 0.06
    rows = generalisation.margin_bound_rows(0.05, 0.3, 0.05)
    assert generalisation.margin_bound(0.0, rows, 0.3, 0.05) <= 0.05
    assert generalisation.margin_bound(0.0, rows - 1, 0.3, 0.05) > 0.05
    assert generalisation.margin_bound(0.0, 10, 0.3, 0.05) == 1.0


def test_theorem_31_transfer() -> None:
    rows = generalisation.transfer_rows(0.1, 1e-6)
    assert rows == math.ceil(math.log(4e5) / 0.01)
    assert generalisation.transfer_bound(0.1, 1e-6) == pytest.approx((1.8, 1e-5))
    for epsilon, delta in ((0.4, 1e-6), (0.1, 0.1)):
        with pytest.raises(ValueError, match="Theorem 31"):
            generalisation.transfer_rows(epsilon, delta)


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
    assert size.rows >= size.generalisation == generalisation.transfer_rows(strict, min(delta, strict * failure / 4))
    parameters = halfspaces.strong_halfspace(accuracy, failure, margin)
    assert boosting.lazy_bregman_margin(
        parameters.advantage, parameters.learning_rate, parameters.density, parameters.rounds
    ) >= parameters.advantage * (1 - 1e-9)  # all rows but a share of kappa have it,
    assert 2 * parameters.density == pytest.approx(accuracy / 2)  # and label noise spoils as many again


def test_claims_2_and_3_of_theorem_34() -> None:
    # Claim 2, by simulation: label noise at the tolerated rate hits too many rows with probability at most beta / 4
    accuracy, failure, margin = 0.3, 0.2, 0.4
    rows = halfspaces.label_noise_rows(accuracy, failure, margin)
    rate = halfspaces.tolerated_noise(accuracy, margin)
    hits = np.random.default_rng(0).binomial(rows, rate, 100_000)
    assert (hits >= accuracy * margin / 16 * rows).mean() <= failure / 4
    # Claim 3: all rounds together fail with probability at most beta / 3
    parameters = halfspaces.strong_halfspace(accuracy, failure, margin)
    assert 0.9 * failure / 3 < halfspaces.bad_noise_probability(parameters.rounds, failure) <= failure / 3


@pytest.mark.parametrize("analysis", ["sharp", "paper"])
def test_claim_1_rows_make_the_noise_private(analysis: boosting.Analysis) -> None:
    epsilon, delta = 1.0, 1e-6
    parameters = halfspaces.strong_halfspace(0.2, 0.1, 0.5)
    rows = halfspaces.privacy_rows(parameters, gaussian_noise_multiplier(epsilon, delta), analysis)
    sensitivity = boosting.centering_sensitivity(parameters.density, rows, analysis)
    charge = Repeated(Gaussian(parameters.sigma / sensitivity), parameters.rounds)
    assert cost([charge], delta) <= epsilon * (1 + 1e-9)
    fewer = boosting.centering_sensitivity(parameters.density, int(rows * 0.9), analysis)
    assert cost([Repeated(Gaussian(parameters.sigma / fewer), parameters.rounds)], delta) > epsilon


def test_sample_sizes_grow_as_printed() -> None:
    multiplier = gaussian_noise_multiplier(1.0, 1e-6)
    base = halfspaces.sample_size(0.2, 0.1, 0.5, multiplier)
    finer = halfspaces.sample_size(0.1, 0.1, 0.5, multiplier)
    narrower = halfspaces.sample_size(0.2, 0.1, 0.25, multiplier)
    assert 2.0 <= finer.privacy / base.privacy <= 2.5  # 1 / alpha, and logarithms
    assert 4.0 <= narrower.privacy / base.privacy <= 4.5  # 1 / tau^2
    assert 4.0 <= finer.generalisation / base.generalisation <= 6.0  # 1 / alpha^2
    assert base.rows == max(base.privacy, base.label_noise, base.generalisation)
    by_privacy = halfspaces.sample_size_by_privacy(0.2, 0.1, 0.5, 1.0, 1e-6)
    assert by_privacy.rows >= by_privacy.generalisation > 0
    orders = halfspaces.sample_size_order(0.1, 0.1, 0.25, 1.0, 1e-6)
    assert orders["privacy"] > halfspaces.johnson_lindenstrauss_order(0.1, 0.1, 0.25, 1.0)
    rho = halfspaces.zcdp_for(1.0, 1e-6)
    assert rho + 2 * math.sqrt(rho * math.log(1e6)) == pytest.approx(1.0)


def test_bad_arguments_name_themselves() -> None:
    for arguments, name in (((0.0, 0.1, 0.1), "alpha"), ((0.1, 1.0, 0.1), "beta"), ((0.1, 0.1, 1.5), "margin")):
        with pytest.raises(ValueError, match=name):
            halfspaces.strong_halfspace(*arguments)
    with pytest.raises(ValueError, match="advantage"):
        boosting.lazy_bregman_rounds(0.6, 0.1)
    with pytest.raises(ValueError, match="density"):
        boosting.lazy_bregman_rounds(0.1, 1.0)
    assert Laplace(2.0).epsilon == 0.5
