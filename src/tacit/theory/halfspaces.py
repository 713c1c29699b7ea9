"""The strong halfspace learner (Algorithm 4, Theorems 25 and 34): its parameters, and how many rows it needs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from tacit.theory.averaged_noise import AveragedRun, averaged_run, noise_spread, shortest_centre
from tacit.theory.boosting import ADVANTAGE_CONSTANT, Analysis, centering_sensitivity, lazy_bregman_rounds
from tacit.theory.checks import check_probability
from tacit.theory.generalisation import (
    LEAST_PAC_BAYES_ROWS,
    new_rows,
    pac_bayes_margin_proves,
    transfer_bound,
    transfer_rows,
)

DIMENSION = 1000  # columns up to which margins are promised where nobody says how many there are


def printed_run(accuracy: float, failure: float, margin: float) -> AveragedRun:
    """Algorithm 4 as printed: ``kappa = alpha / 4``, ``lambda = gamma = tau / 8``, ``T = 16 ln(1 / kappa) / gamma^2``.

    Its noise leaves every round the advantage ``tau / 8`` with probability ``1 - beta / 3`` (Claim 3); that advantage
    is of centres divided by ``tau / 2`` (docs/theory/lazy_bregman.md).
    """
    check_probability(alpha=accuracy, beta=failure, margin=margin)
    density, advantage = accuracy / 4, margin / 8
    rounds = lazy_bregman_rounds(advantage, density, "errors", "paper")
    sigma = margin / (8 * ADVANTAGE_CONSTANT * math.sqrt(math.log(3 * rounds / failure)))
    return AveragedRun(density, rounds, sigma, margin / 2, advantage)


def violating_share(accuracy: float, margin: float) -> float:
    """The share of rows that may violate the margin: twice the rate of label noise that is tolerated (Claim 2)."""
    return 2 * tolerated_noise(accuracy, margin)


def run_for_signs(accuracy: float, failure: float, margin: float, density: float, exact: bool = False) -> AveragedRun:
    """The run after which all but kappa n rows are on their side, with probability ``1 - failure``."""
    check_probability(alpha=accuracy, beta=failure, margin=margin)
    return averaged_run(
        density, failure, shortest_centre(margin, violating_share(accuracy, margin) / density), exact=exact
    )


def largest_dimension(run: AveragedRun, shortest: float, spread: float, failure: float) -> int:
    """Up to how many columns the sum of all noise is at most ``spread`` times as long as the exact centres together.

    But for probability ``failure``; 0 if there is none. The inverse of
    :func:`tacit.theory.averaged_noise.noise_spread`.
    """
    root = spread * shortest * math.sqrt(run.rounds) / run.sigma - math.sqrt(2 * math.log(1 / failure))
    return math.floor(root**2) if root > 0 else 0


def tolerated_noise(accuracy: float, margin: float) -> float:
    """Theorem 25: the rate of random label noise that is tolerated, ``kappa tau / 8 = alpha tau / 32`` (Claim 2)."""
    return accuracy * margin / 32


def label_noise_rows(accuracy: float, failure: float, margin: float, share: float = 4.0) -> int:
    """Claim 2: rows at which label noise hits ``kappa tau n / 4`` with probability at most ``failure / share``."""
    return math.ceil(96 * math.log(share / failure) / (accuracy * margin))


def zcdp_for(epsilon: float, delta: float) -> float:
    """The rho that Lemma 15 turns into (epsilon, delta): ``rho + 2 sqrt(rho log(1/delta)) = epsilon``."""
    log_delta = math.log(1 / delta)
    return (math.sqrt(log_delta + epsilon) - math.sqrt(log_delta)) ** 2


def privacy_rows(run: AveragedRun, noise_multiplier: float, analysis: Analysis = "sharp") -> int:
    """Claim 1: the least number of rows at which the noise that privacy asks for is as much as the run allows.

    The cap of the weights, ``kappa n`` rows, is a whole number. ``noise_multiplier`` is what the *whole* run needs as
    one Gaussian mechanism: a round needs ``sqrt(T)`` times it.
    """
    per_round = noise_multiplier * math.sqrt(run.rounds)
    cap = math.ceil(per_round * centering_sensitivity(1.0, 1.0, analysis) / run.sigma)
    return math.ceil(cap / run.density)


@dataclass(frozen=True)
class SampleSize:
    """Rows needed, part by part, for every step of the proof to hold; ``rows`` is the largest."""

    privacy: int  # Claim 1, at the noise that the advantage allows
    label_noise: int  # Claim 2, if label noise is to be tolerated
    generalisation: int  # that margins generalise, or privacy (Theorem 31)
    bound: str  # what `generalisation` follows from

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


@dataclass(frozen=True)
class MarginRun:
    """A run for a margin on all but kappa n rows, and the rows that noise and new rows need."""

    run: AveragedRun  # its parameters; margins are over the lengths of all exact centres together
    privacy: int  # rows at which the noise is as little as the run takes for granted
    generalisation: int  # rows at which the margin proves the error on new rows


def margin_runs(
    accuracy: float, failure: float, margin: float, exact: bool = False
) -> Iterator[tuple[AveragedRun, float]]:
    """Runs to choose from, with their shortest centres: by kappa, margin, and noise over the shortest centre."""
    for part in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        density = part * accuracy
        shortest = shortest_centre(margin, violating_share(accuracy, margin) / density)
        for target in (0.2, 0.3, 0.4, 0.5, 0.6):
            for ratio in (0.25, 0.5, 1.0, 2.0):
                if shortest > 0:
                    try:
                        yield averaged_run(density, failure / 3, shortest, ratio, target, exact), shortest
                    except ValueError:  # too short for integers, at this margin
                        continue


def cheapest_margin_run(
    accuracy: float, failure: float, margin: float, noise_multiplier: float, dimension: int, exact: bool = False
) -> MarginRun:
    """The run whose margin proves an error of alpha on new rows with the fewest rows, by the PAC-Bayes bound.

    beta / 3 is for the rounds, beta / 6 for the length of the noise, beta / 4 for label noise, beta / 4 for new rows.
    Raises ``ValueError`` where no run can be kept in integers.
    """
    check_probability(alpha=accuracy, beta=failure, margin=margin)
    target, best = error_on_noisy_rows(accuracy, margin), None
    for run, shortest in margin_runs(accuracy, failure, margin, exact):
        privacy = privacy_rows(run, noise_multiplier)
        theta = run.margin / (1 + noise_spread(run, shortest, dimension, failure / 6))

        def proves(n: int, run: AveragedRun = run, theta: float = theta) -> bool:
            return pac_bayes_margin_proves(target, run.density, n, theta, failure / 4, 1.0)

        most = 1 << 40 if best is None else max(best.privacy, best.generalisation) - 1
        if privacy <= most and proves(most):
            least = LEAST_PAC_BAYES_ROWS
            while most - least > max(1, most // 1000):
                middle = (least + most) // 2
                least, most = (least, middle) if proves(middle) else (middle, most)
            best = MarginRun(run, privacy, most)
    if best is None:
        raise ValueError(
            f"alpha={accuracy:g} and margin={margin:g} are too small together for weights that are integers"
        )
    return best


def sample_size(
    accuracy: float,
    failure: float,
    margin: float,
    noise_multiplier: float,
    analysis: Analysis = "sharp",
    dimension: int = DIMENSION,
) -> SampleSize:
    """Theorem 25 (= 26) with constants: rows for error ``alpha`` with probability ``1 - beta``, by way of margins.

    Weights are real numbers, as in the theorem. Sharp: the cheapest of :func:`margin_runs`. Paper: rounds as printed,
    margin ``tau / 8`` on all but kappa n rows, length at most 2 (Lemma 24); of the bounds in
    ``generalisation.MARGIN_BOUNDS`` the one that needs the fewest rows counts.
    """
    label_noise = label_noise_rows(accuracy, failure, margin)
    if analysis == "sharp":
        cheapest = cheapest_margin_run(accuracy, failure, margin, noise_multiplier, dimension, exact=True)
        return SampleSize(cheapest.privacy, label_noise, cheapest.generalisation, "PAC-Bayes")
    run = printed_run(accuracy, failure, margin)
    bounds = new_rows(error_on_noisy_rows(accuracy, margin), run.density, run.learning_rate, failure / 4)
    bound = min(bounds, key=bounds.__getitem__)
    return SampleSize(privacy_rows(run, noise_multiplier, analysis), label_noise, bounds[bound], bound)


def transfer_privacy(accuracy: float, failure: float, epsilon: float, delta: float) -> tuple[float, float]:
    """Theorem 34: the privacy that makes errors generalise by alpha / 2, or the one asked for where it is stricter."""
    strict = min(epsilon, accuracy / 36, 0.33)
    return strict, min(delta, strict * failure / 4)


def transfer_density(accuracy: float, margin: float, strict: float) -> float:
    """What Theorem 34 leaves for errors on the training rows, beside the ``18 epsilon`` of Theorem 31."""
    return error_on_noisy_rows(accuracy, margin) - transfer_bound(strict, strict / 8)[0]


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

    ``accuracy`` is alpha, ``failure`` beta, ``margin`` tau; ``noise_multiplier`` is what the whole run needs at eps_T,
    None for Lemma 15's.
    """
    strict, strict_delta = transfer_privacy(accuracy, failure, epsilon, delta)
    run = printed_run(accuracy, failure, margin)
    if analysis == "sharp":
        run = run_for_signs(accuracy, failure / 3, margin, transfer_density(accuracy, margin, strict), exact=True)
    multiplier = noise_multiplier or 1 / math.sqrt(2 * zcdp_for(strict, strict_delta))
    return SampleSize(
        privacy_rows(run, multiplier, analysis),
        label_noise_rows(accuracy, failure, margin),
        transfer_rows(strict, strict_delta),
        "Theorem 31",
    )


@dataclass(frozen=True)
class Promise:
    """A run that keeps a promise of error alpha, the rows that each part of its proof needs, and its limit on columns.

    ``dimension`` is None where there is none.
    """

    run: AveragedRun
    needed: dict[str, int]
    dimension: int | None = None

    @property
    def rows(self) -> int:
        return max(self.needed.values())


def promise_on_training_rows(
    accuracy: float, failure: float, margin: float, noise_multiplier: float, analysis: Analysis = "sharp"
) -> Promise:
    """Errors on the rows themselves: only the noise can fail, so kappa is alpha and all of beta is for it."""
    run = printed_run(accuracy, failure, margin)
    if analysis == "sharp":
        run = run_for_signs(accuracy, failure, margin, accuracy)
    return Promise(run, {"that noise averages out": max(1, privacy_rows(run, noise_multiplier, analysis))})


def cheapest_promise(
    accuracy: float,
    failure: float,
    margin: float,
    privacy: tuple[float, float],
    noise_multiplier: float,
    analysis: Analysis = "sharp",
    dimension: int = DIMENSION,
) -> Promise:
    """The smaller of Theorems 25 and 34 for the error on new rows of a run at this privacy.

    ``accuracy`` is alpha, ``failure`` beta, ``margin`` tau. Theorem 34 speaks of (epsilon, delta) of the run where
    epsilon is at most alpha / 36. ``noise_multiplier`` is what the whole run needs as one Gaussian mechanism, 0 without
    privacy; ``dimension`` the most columns. Raises ``ValueError`` where the margin is too small for integers.
    """
    check_probability(alpha=accuracy, beta=failure, margin=margin)
    label_noise = {"that label noise is tolerated": label_noise_rows(accuracy, failure, margin)}
    if analysis == "sharp":
        cheapest = cheapest_margin_run(accuracy, failure, margin, noise_multiplier, dimension)
        run, size = cheapest.run, SampleSize(cheapest.privacy, 0, cheapest.generalisation, "PAC-Bayes")
    else:
        run = printed_run(accuracy, failure, margin)
        limit = largest_dimension(run, margin / 2, 1.0, failure / 6)
        if dimension > limit:
            raise ValueError(f"with the constants as printed halfspaces have length 2 up to {limit} columns alone")
        size = sample_size(accuracy, failure, margin, noise_multiplier, analysis)
    averages = "that noise averages out"
    by_margins = {averages: max(1, size.privacy), f"that margins generalise, by {size.bound}": size.generalisation}
    promise = Promise(run, by_margins | label_noise, dimension)
    if privacy != transfer_privacy(accuracy, failure, *privacy):
        return promise
    signs = (
        run
        if analysis == "paper"
        else run_for_signs(accuracy, failure / 3, margin, transfer_density(accuracy, margin, privacy[0]))
    )
    alone = {averages: max(1, privacy_rows(signs, noise_multiplier, analysis))}
    transfer = {"that private errors generalise, by Theorem 31": transfer_rows(*privacy)}
    return min(promise, Promise(signs, alone | transfer | label_noise), key=lambda promise: promise.rows)
