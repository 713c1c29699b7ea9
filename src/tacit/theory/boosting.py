"""Bounds of the private boosting paper (Bun, Carmosino, Sorrell 2020), one function per theorem.

``gamma`` is an advantage in the sense of Definition 11: half the average of ``y h(x)``. ``kappa`` is a density,
``lambda`` a learning rate, ``tau`` the margin of a halfspace with rows in the unit ball. Where the paper's constant
and the sharper one of this library differ, ``analysis`` chooses: ``"paper"`` or ``"sharp"``.
"""

from __future__ import annotations

import math
from typing import Literal

Analysis = Literal["paper", "sharp"]

ADVANTAGE_CONSTANT = math.sqrt(0.5)
"""``c`` of Theorem 22: a Gaussian of deviation sigma falls below ``-sigma sqrt(2 log 1/xi)`` with probability at most
xi."""


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _check_analysis(analysis: str) -> None:
    _require(analysis in ("paper", "sharp"), f"analysis is 'paper' or 'sharp', got {analysis!r}")


# --- Section 4: lazy Bregman ---------------------------------------------------------------------------------------


def lazy_bregman_rounds(advantage: float, density: float) -> int:
    """Theorem 20: rounds after which all but a share ``density`` of the rows have margin above ``advantage``."""
    _require(0 < advantage <= 0.5, f"advantage must lie in (0, 0.5], got {advantage}")
    _require(0 < density < 1, f"density must lie in (0, 1), got {density}")
    return math.ceil(16 * math.log(1 / density) / advantage**2)


def lazy_bregman_learning_rate(advantage: float) -> float:
    """Theorem 20: the learning rate that goes with its number of rounds, ``gamma / 4``."""
    return advantage / 4


def lazy_bregman_regret(learning_rate: float, divergence: float, density: float, n_rows: float, rounds: int) -> float:
    """Lemma 35: how much more the booster's average loss may be than that of a fixed dense measure.

    Args:
        learning_rate: lambda.
        divergence: KL divergence of the fixed measure from the uniform measure of density kappa.
        density: kappa.
        n_rows: number of pure strategies.
        rounds: T.
    """
    return learning_rate + divergence / (learning_rate * density * n_rows * rounds)


def lazy_bregman_margin(advantage: float, learning_rate: float, density: float, rounds: int) -> float:
    """Lemma 39 for any learning rate: the margin reached outside the bad set; not positive means no statement.

    From ``gamma <= theta / 2 + lambda + log(1 / kappa) / (T lambda)``. At ``lambda = gamma / 4`` and the rounds of
    Theorem 20 it is ``gamma``. At ``lambda = gamma``, as Algorithm 4 prints it for ``gamma = tau / 8``, it is
    negative: vacuous.
    """
    return 2 * (advantage - learning_rate - math.log(1 / density) / (rounds * learning_rate))


def smoothness(density: float, n_rows: float) -> float:
    """Theorem 20: no row has more probability than this, ``1 / (kappa n)``."""
    return 1 / (density * n_rows)


def lazy_bregman_slickness(density: float, n_rows: float, analysis: Analysis = "sharp") -> float:
    """Lemma 21: total variation between neighbours' distributions under replacement.

    The lemma's statement is ``1 / (kappa n)``; its proof goes by way of a third table and the triangle inequality,
    which gives twice that. The direct argument (docs/theory/sensitivities.md, section 1) gives the statement.
    """
    _check_analysis(analysis)
    return (1 if analysis == "sharp" else 2) / (density * n_rows)


# --- Section 5: halfspaces -----------------------------------------------------------------------------------------


def centering_sensitivity(density: float, n_rows: float, analysis: Analysis = "sharp") -> float:
    """Theorem 22 with Lemma 21: how far one row moves the average ``sum of mu-hat(i) y_i x_i``.

    Paper: ``2 (1 / (kappa n) + s)`` with ``s = 1 / (kappa n)``, so ``4 / (kappa n)``. Sharp: ``2 / (kappa n)``,
    attained.
    """
    _check_analysis(analysis)
    return (2 if analysis == "sharp" else 4) / (density * n_rows)


def centering_zcdp(density: float, n_rows: float, sigma: float, analysis: Analysis = "sharp") -> float:
    """Theorem 22: rho of one round of centering with noise of standard deviation ``sigma`` per coordinate.

    Paper: ``8 / (kappa n sigma)**2``. (Its first display prints ``2 (1/(kappa n) + s) / sigma**2``, without the square
    that the proof has.) Sharp: a quarter of it.
    """
    return centering_sensitivity(density, n_rows, analysis) ** 2 / (2 * sigma**2)


def centering_advantage(margin: float, sigma: float = 0.0, failure: float = 1.0) -> float:
    """Theorems 22 and 27: the advantage of the noisy centre with probability ``1 - failure``.

    ``tau / 4 - c sigma sqrt(log(1 / xi))``, for a hypothesis divided by the length of the exact centre and at most
    ``kappa tau / 4 n`` rows that violate the margin. (Undivided, as printed, ``h(x) = z . x`` has advantage ``|z|**2 /
    2``, which may be as small as ``tau**2 / 8``: tests hold an example.)
    """
    return margin / 4 - ADVANTAGE_CONSTANT * sigma * math.sqrt(math.log(1 / failure))


def undivided_centering_advantage(margin: float) -> float:
    """What ``h(x) = z . x`` as printed in Theorem 27 guarantees: ``|z| >= tau / 2``, so ``tau**2 / 8``."""
    return margin**2 / 8


def average_noise_length(sigma: float, dimension: int, rounds: int, failure: float) -> float:
    """Lemma 24 repaired: what the average of ``T`` noise vectors is longer than with probability at most ``failure``.

    The lemma bounds every noise vector by ``tau / 8``, which is false for more than a few dimensions: its length is
    about ``sigma sqrt(d)``. The average of all rounds is shorter by ``sqrt(T)``, and this is all the lemma needs.
    """
    return sigma / math.sqrt(rounds) * (math.sqrt(dimension) + math.sqrt(2 * math.log(1 / failure)))


# --- Appendix K: stopping rules ------------------------------------------------------------------------------------


def smooth_boost_rounds(advantage: float, density: float) -> int:
    """Theorem 51: rounds until SmoothBoost is below density ``kappa``: ``2 / (kappa gamma^2 sqrt(1 - gamma))``."""
    _require(0 < advantage < 0.5, f"advantage must lie in (0, 0.5), got {advantage}")
    return math.ceil(2 / (density * advantage**2 * math.sqrt(1 - advantage)))


def smooth_boost_margin(advantage: float) -> float:
    """Theorem 51: the margin on all but a share ``kappa`` of the rows, ``gamma / (2 + gamma)``."""
    return advantage / (2 + advantage)


def smooth_boost_slickness(density: float, n_rows: float) -> float:
    """Lemma 52: total variation between neighbours' distributions, both of density ``kappa``: ``2 / (kappa n)``."""
    return 2 / (density * n_rows)


def end_test_threshold(epsilon: float, delta: float) -> float:
    """Algorithm 11: how far a noisy size must be above its threshold to go on, ``2 + log(1 / delta) / epsilon``."""
    return 2 + math.log(1 / delta) / epsilon


def tested_round(epsilon: float, delta: float) -> tuple[float, float]:
    """Lemma 49 and Lemma 50: one round with an end test costs ``(2 epsilon, e^epsilon delta)``.

    Args:
        epsilon: of the weak learner on slick measures, and of the Laplace noise in the test.
        delta: of the weak learner, and of the test.
    """
    return 2 * epsilon, math.exp(epsilon) * delta


def advanced_composition(epsilon: float, delta: float, rounds: int, slack: float) -> tuple[float, float]:
    """Theorem 48: ``k`` uses of an (epsilon, delta) mechanism."""
    return rounds * epsilon**2 / 2 + epsilon * math.sqrt(2 * rounds * math.log(1 / slack)), rounds * delta + slack


def stopping_rule_privacy(
    epsilon: float, delta: float, rounds: int, slack: float, analysis: Analysis = "sharp"
) -> tuple[float, float]:
    """Theorem 53, part 2: what boosting with a stopping rule costs.

    Paper: ``2 T eps^2 + 2 eps sqrt(T log(1/delta'))``. Theorem 48 applied to rounds of ``2 eps`` gives ``sqrt(2)``
    times its second term, so the printed figure is too small; sharp is the composition itself.
    """
    _check_analysis(analysis)
    round_epsilon, round_delta = tested_round(epsilon, delta)
    sharp = advanced_composition(round_epsilon, round_delta, rounds, slack)
    if analysis == "sharp":
        return sharp
    return 2 * rounds * epsilon**2 + 2 * epsilon * math.sqrt(rounds * math.log(1 / slack)), sharp[1]
