"""The strong halfspace learner (Algorithm 4, Theorems 25 and 34): its parameters, and how many rows it needs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.theory.boosting import (
    ADVANTAGE_CONSTANT,
    Aim,
    Analysis,
    centering_sensitivity,
    lazy_bregman_learning_rate,
    lazy_bregman_rounds,
)
from tacit.theory.checks import check_probability
from tacit.theory.generalisation import new_rows, transfer_rows


@dataclass(frozen=True)
class StrongHalfspace:
    """The parameters of ``HS-StL`` (Algorithm 4) for an (alpha, beta)-PAC guarantee at margin tau.

    Attributes:
        density: kappa = alpha / 4.
        advantage: gamma = tau / 8, what every round has with high probability.
        learning_rate: lambda = 2 gamma = tau / 4 for the margin, 4 gamma = tau / 2 for the signs; printed: tau / 8.
        rounds: T = 2 log(1 / kappa) / gamma^2 for the margin, a quarter of it for the signs; printed: eight times it.
        sigma: noise per coordinate of the average, so that all rounds keep the advantage with probability 1 - beta / 3.
    """

    density: float
    advantage: float
    learning_rate: float
    rounds: int
    sigma: float


def strong_halfspace(
    accuracy: float, failure: float, margin: float, aim: Aim = "margin", analysis: Analysis = "sharp"
) -> StrongHalfspace:
    """Algorithm 4, with the rounds and the learning rate that Theorem 20 needs (docs/theory/lazy_bregman.md).

    Args:
        accuracy: alpha, in (0, 1).
        failure: beta, in (0, 1).
        margin: tau, in (0, 1).
        aim: ``"margin"``: all but kappa n rows have margin at least gamma; ``"errors"``: the right sign.
        analysis: ``"sharp"``, or ``"paper"`` for rounds and learning rate as printed, with margin ``13 gamma / 8``.
    """
    check_probability(alpha=accuracy, beta=failure, margin=margin)
    density, advantage = accuracy / 4, margin / 8
    rounds = lazy_bregman_rounds(advantage, density, aim, analysis)
    rate = advantage if analysis == "paper" else lazy_bregman_learning_rate(advantage, aim)
    sigma = margin / (8 * ADVANTAGE_CONSTANT * math.sqrt(math.log(3 * rounds / failure)))
    return StrongHalfspace(density, advantage, rate, rounds, sigma)


def largest_dimension(parameters: StrongHalfspace, failure: float) -> int:
    """Lemma 24's bound on the dimension, which it does not state: up to here halfspaces have length at most 2.

    With probability ``1 - beta / 6``, as noise takes beta / 3, and label noise and new rows beta / 4 each; 0 if there
    is none. From :func:`tacit.theory.boosting.divided_noise_length`.
    """
    margin = 8 * parameters.advantage
    spread = margin / (2 * parameters.sigma) - 1
    root = spread * math.sqrt(parameters.rounds) - math.sqrt(2 * math.log(6 / failure))
    return math.floor(root**2) if root > 0 else 0


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
        generalisation: that margins generalise, or privacy (Theorem 31).
        bound: what ``generalisation`` follows from.
    """

    privacy: int
    label_noise: int
    generalisation: int
    bound: str

    @property
    def rows(self) -> int:
        return max(self.privacy, self.label_noise, self.generalisation)


def error_on_noisy_rows(accuracy: float, margin: float) -> float:
    """The error on rows with noisy labels that is enough for ``alpha`` on clean ones, at the noise tolerated.

    A halfspace that errs at rate ``e`` on clean rows errs at ``e (1 - 2 eta) + eta`` on noisy ones. For alpha up to 1/2
    an error of alpha there is enough: label noise costs nothing but Claim 2's rows.
    """
    rate = tolerated_noise(accuracy, margin)
    return min(accuracy, accuracy * (1 - 2 * rate) + rate)


def sample_size(
    accuracy: float, failure: float, margin: float, noise_multiplier: float, analysis: Analysis = "sharp"
) -> SampleSize:
    """Theorem 25 (= 26) with constants: rows for error ``alpha`` with probability ``1 - beta``, by way of margins.

    All but kappa n of the rows, with the labels that were learned from, have margin tau / 8 (Theorem 20), and
    halfspaces have length at most 2 (Lemma 24). Of the bounds in ``generalisation.MARGIN_BOUNDS`` the one that needs
    the fewest rows counts. With PAC-Bayes all parts grow as Theorem 1 says, with ``1 / (alpha tau^2)``.
    """
    parameters = strong_halfspace(accuracy, failure, margin, "margin", analysis)
    target = error_on_noisy_rows(accuracy, margin)
    bounds = new_rows(target, parameters.density, parameters.advantage, failure / 4)
    bound = min(bounds, key=bounds.__getitem__)
    return SampleSize(
        privacy_rows(parameters, noise_multiplier, analysis),
        label_noise_rows(accuracy, failure, margin),
        bounds[bound],
        bound,
    )


def transfer_privacy(accuracy: float, failure: float, epsilon: float, delta: float) -> tuple[float, float]:
    """Theorem 34: the privacy that makes errors generalise by alpha / 2, or the one asked for where it is stricter."""
    strict = min(epsilon, accuracy / 36, 0.33)
    return strict, min(delta, strict * failure / 4)


def sample_size_by_privacy(
    accuracy: float,
    failure: float,
    margin: float,
    epsilon: float,
    delta: float,
    analysis: Analysis = "sharp",
    noise_multiplier: float | None = None,
) -> SampleSize:
    """Theorem 34 with constants: generalisation by privacy alone, at ``eps_T = min(eps, alpha / 36)``.

    No margin is needed, so the rounds are those for the signs alone.

    Args:
        accuracy: alpha.
        failure: beta.
        margin: tau.
        epsilon: the privacy asked for.
        delta: see ``epsilon``.
        analysis: of rounds and of one round's privacy.
        noise_multiplier: what the whole run needs at eps_T; None for Lemma 15's.
    """
    strict, strict_delta = transfer_privacy(accuracy, failure, epsilon, delta)
    parameters = strong_halfspace(accuracy, failure, margin, "errors", analysis)
    multiplier = noise_multiplier or 1 / math.sqrt(2 * zcdp_for(strict, strict_delta))
    return SampleSize(
        privacy_rows(parameters, multiplier, analysis),
        label_noise_rows(accuracy, failure, margin),
        transfer_rows(strict, strict_delta),
        "Theorem 31",
    )


@dataclass(frozen=True)
class Promise:
    """Parameters that keep a promise of error alpha, and the rows that each part of its proof needs."""

    parameters: StrongHalfspace
    needed: dict[str, int]

    @property
    def rows(self) -> int:
        return max(self.needed.values())


def cheapest_promise(
    accuracy: float,
    failure: float,
    margin: float,
    epsilon: float,
    delta: float,
    noise_multiplier: float,
    analysis: Analysis = "sharp",
    on_new_rows: bool = True,
) -> Promise:
    """The smaller of Theorems 25 and 34 for a run at this privacy, or of errors on the training rows alone.

    Args:
        accuracy: alpha.
        failure: beta.
        margin: tau.
        epsilon: of the run. Theorem 34 speaks of it where it is at most alpha / 36.
        delta: of the run.
        noise_multiplier: what the whole run needs as one Gaussian mechanism; 0 without privacy.
        analysis: of rounds and of one round's privacy.
        on_new_rows: whether errors on new rows are promised.
    """
    signs = strong_halfspace(accuracy, failure, margin, "errors", analysis)
    alone = {"that noise leaves the advantage": max(1, privacy_rows(signs, noise_multiplier, analysis))}
    if not on_new_rows:
        return Promise(signs, alone)
    label_noise = {"that label noise is tolerated": label_noise_rows(accuracy, failure, margin)}
    size = sample_size(accuracy, failure, margin, noise_multiplier, analysis)
    by_margins = Promise(
        strong_halfspace(accuracy, failure, margin, "margin", analysis),
        {
            "that noise leaves the advantage": size.privacy,
            f"that margins generalise, by {size.bound}": size.generalisation,
            **label_noise,
        },
    )
    if (epsilon, delta) != transfer_privacy(accuracy, failure, epsilon, delta):
        return by_margins
    transfer = {"that private errors generalise, by Theorem 31": transfer_rows(epsilon, delta)}
    return min(by_margins, Promise(signs, alone | transfer | label_noise), key=lambda promise: promise.rows)


def sample_size_order(accuracy: float, failure: float, margin: float, epsilon: float, delta: float) -> dict[str, float]:
    """Theorem 25, parts without constants: orders of growth, not numbers of rows.

    ``accuracy`` is as printed, of Theorem 23; ``relative`` of the PAC-Bayes bound, with which Theorem 1 holds.
    """
    log_accuracy = math.log(1 / accuracy)
    return {
        "relative": (log_accuracy / margin**2 + math.log(1 / failure)) / accuracy,
        "privacy": math.sqrt(log_accuracy * math.log(1 / delta) * math.log(log_accuracy / (failure * margin**2)))
        / (epsilon * accuracy * margin**2),
        "accuracy": math.log(1 / (margin * accuracy)) * log_accuracy / (accuracy * margin) ** 2
        + math.log(1 / failure) / (accuracy * margin),
    }


def johnson_lindenstrauss_order(accuracy: float, failure: float, margin: float, epsilon: float) -> float:
    """Nguyen, Ullman, Zakynthinou (2019): ``1 / (eps alpha tau^2)``, the order that Theorem 25 matches."""
    return math.log(1 / failure) / (epsilon * accuracy * margin**2)
