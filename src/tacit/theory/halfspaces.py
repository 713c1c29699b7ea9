"""The strong halfspace learner (Algorithm 4, Theorems 25 and 34): its parameters, and how many rows it needs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.theory.boosting import (
    ADVANTAGE_CONSTANT,
    Analysis,
    centering_sensitivity,
    lazy_bregman_learning_rate,
    lazy_bregman_rounds,
)
from tacit.theory.generalisation import margin_bound_rows, transfer_rows


@dataclass(frozen=True)
class StrongHalfspace:
    """The parameters of ``HS-StL`` (Algorithm 4) for an (alpha, beta)-PAC guarantee at margin tau.

    Attributes:
        density: kappa = alpha / 4.
        advantage: what every round has with high probability, tau / 8.
        learning_rate: lambda = tau / 32. Algorithm 4 prints tau / 8, with which the margin bound it appeals to
        (Theorem 20 at
            gamma = tau / 8) says nothing: ``theory.boosting.lazy_bregman_margin`` is negative there.
        rounds: T = 16 log(1 / kappa) / (tau / 8)^2 = 1024 log(1 / kappa) / tau^2.
        sigma: noise per coordinate of the average, so that all rounds keep the advantage with probability 1 - beta / 3.
    """

    density: float
    advantage: float
    learning_rate: float
    rounds: int
    sigma: float


def strong_halfspace(accuracy: float, failure: float, margin: float) -> StrongHalfspace:
    """Algorithm 4 with the learning rate of Theorem 20.

    Args:
        accuracy: alpha, in (0, 1).
        failure: beta, in (0, 1).
        margin: tau, in (0, 1).
    """
    for name, value in (("alpha", accuracy), ("beta", failure), ("margin", margin)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must lie in (0, 1), got {value}")
    density, advantage = accuracy / 4, margin / 8
    rounds = lazy_bregman_rounds(advantage, density)
    sigma = margin / (8 * ADVANTAGE_CONSTANT * math.sqrt(math.log(3 * rounds / failure)))
    return StrongHalfspace(density, advantage, lazy_bregman_learning_rate(advantage), rounds, sigma)


def tolerated_noise(accuracy: float, margin: float) -> float:
    """Theorem 25: the rate of random label noise that is tolerated, ``kappa tau / 8 = alpha tau / 32`` (Claim 2)."""
    return accuracy * margin / 32


def label_noise_rows(accuracy: float, failure: float, margin: float, share: float = 4.0) -> int:
    """Claim 2: rows at which label noise hits ``kappa tau n / 4`` with probability at most ``failure / share``."""
    return math.ceil(96 * math.log(share / failure) / (accuracy * margin))


def bad_noise_probability(rounds: int, failure: float) -> float:
    """Claim 3: probability that any of the rounds misses its advantage, at ``failure / (3 T)`` per round."""
    return 1 - (1 - failure / (3 * rounds)) ** rounds


def zcdp_for(epsilon: float, delta: float) -> float:
    """The rho that Lemma 15 turns into (epsilon, delta): ``rho + 2 sqrt(rho log(1/delta)) = epsilon``."""
    log_delta = math.log(1 / delta)
    return (math.sqrt(log_delta + epsilon) - math.sqrt(log_delta)) ** 2


def privacy_rows(parameters: StrongHalfspace, noise_multiplier: float, analysis: Analysis = "sharp") -> int:
    """Claim 1: the least number of rows at which ``parameters.sigma`` is as much noise as privacy asks for.

    Args:
        parameters: from :func:`strong_halfspace`.
        noise_multiplier: what the *whole* run needs as one Gaussian mechanism: a round needs ``sqrt(T)`` times it.
        analysis: the constant of one round: 2 (sharp) or 4 (paper).
    """
    per_round = noise_multiplier * math.sqrt(parameters.rounds)
    sensitivity_times_rows = centering_sensitivity(parameters.density, 1.0, analysis)
    return math.ceil(per_round * sensitivity_times_rows / parameters.sigma)


@dataclass(frozen=True)
class SampleSize:
    """Rows needed, part by part, for every step of the proof to hold; ``rows`` is the largest.

    Attributes:
        privacy: Claim 1, at the noise that the advantage allows.
        label_noise: Claim 2, if label noise is to be tolerated.
        generalisation: Theorem 23 (fat shattering), or Theorem 31 (privacy alone).
    """

    privacy: int
    label_noise: int
    generalisation: int

    @property
    def rows(self) -> int:
        return max(self.privacy, self.label_noise, self.generalisation)


def sample_size(
    accuracy: float, failure: float, margin: float, noise_multiplier: float, analysis: Analysis = "sharp"
) -> SampleSize:
    """Theorem 25 (= 26) with constants: rows for error ``alpha`` with probability ``1 - beta``, by way of margins.

    Misfits count ``2 kappa = alpha / 2`` (the bad set and the corrupted rows), so Theorem 23 may add ``alpha / 2``.
    """
    parameters = strong_halfspace(accuracy, failure, margin)
    return SampleSize(
        privacy_rows(parameters, noise_multiplier, analysis),
        label_noise_rows(accuracy, failure, margin, 3.0),
        margin_bound_rows(accuracy / 2, parameters.advantage, failure / 3),
    )


def sample_size_by_privacy(
    accuracy: float, failure: float, margin: float, epsilon: float, delta: float, analysis: Analysis = "sharp"
) -> SampleSize:
    """Theorem 34 with constants: generalisation by privacy alone, at ``eps_T = min(eps, alpha / 36)`` (by Lemma 15)."""
    strict = min(epsilon, accuracy / 36, 0.33)
    strict_delta = min(delta, strict * failure / 4)
    parameters = strong_halfspace(accuracy, failure, margin)
    multiplier = 1 / math.sqrt(2 * zcdp_for(strict, strict_delta))
    return SampleSize(
        privacy_rows(parameters, multiplier, analysis),
        label_noise_rows(accuracy, failure, margin, 4.0),
        transfer_rows(strict, strict_delta),
    )


def sample_size_order(accuracy: float, failure: float, margin: float, epsilon: float, delta: float) -> dict[str, float]:
    """Theorem 25 as printed, parts without constants: orders of growth, not numbers of rows."""
    log_accuracy = math.log(1 / accuracy)
    return {
        "privacy": math.sqrt(log_accuracy * math.log(1 / delta) * math.log(log_accuracy / (failure * margin**2)))
        / (epsilon * accuracy * margin**2),
        "accuracy": math.log(1 / (margin * accuracy)) * log_accuracy / (accuracy * margin) ** 2
        + math.log(1 / failure) / (accuracy * margin),
    }


def johnson_lindenstrauss_order(accuracy: float, failure: float, margin: float, epsilon: float) -> float:
    """Nguyen, Ullman, Zakynthinou (2019): ``1 / (eps alpha tau^2)``, the order that Theorem 25 matches."""
    return math.log(1 / failure) / (epsilon * accuracy * margin**2)
