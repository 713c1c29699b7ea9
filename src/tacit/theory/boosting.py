"""Bounds of the private boosting paper (Bun, Carmosino, Sorrell 2020), one function per theorem.

``gamma`` is an advantage in the sense of Definition 11: half the average of ``y h(x)``. ``kappa`` is a density,
``lambda`` a learning rate, ``tau`` the margin of a halfspace with rows in the unit ball. Where the paper's constant
and the sharper one of this library differ, ``analysis`` chooses: ``"paper"`` or ``"sharp"``.
"""

from __future__ import annotations

import math
from typing import Literal

from tacit.theory.checks import require

Analysis = Literal["paper", "sharp"]

ADVANTAGE_CONSTANT = math.sqrt(0.5)
"""``c`` of Theorem 22: a Gaussian of deviation sigma falls below ``-sigma sqrt(2 log 1/xi)`` with probability at most
xi."""


def _check_analysis(analysis: str) -> None:
    require(analysis in ("paper", "sharp"), f"analysis is 'paper' or 'sharp', got {analysis!r}")


# --- Section 4: lazy Bregman ---------------------------------------------------------------------------------------

Aim = Literal["margin", "errors"]
"""What a run is for: all but a share kappa of the rows with margin at least gamma, or with the right sign alone."""


def lazy_bregman_rounds(advantage: float, density: float, aim: Aim = "margin", analysis: Analysis = "sharp") -> int:
    """Theorem 20: rounds after which fewer than a share ``density`` of the rows miss what ``aim`` asks for.

    Sharp, by Lemma 35 with ``lambda / 8`` (docs/theory/lazy_bregman.md): ``2 log(1 / kappa) / gamma^2`` for margin
    gamma, ``log(1 / kappa) / (2 gamma^2)`` for the signs. Paper: ``16 log(1 / kappa) / gamma^2`` for both.
    """
    require(0 < advantage <= 0.5, f"advantage must lie in (0, 0.5], got {advantage}")
    require(0 < density < 1, f"density must lie in (0, 1), got {density}")
    _check_analysis(analysis)
    if analysis == "paper":
        return math.ceil(16 * math.log(1 / density) / advantage**2)
    rate = lazy_bregman_learning_rate(advantage, aim)
    slack = advantage - (advantage / 2 if aim == "margin" else 0.0) - rate / 8
    rounds = math.log(1 / density) / (rate * slack)
    return math.ceil(rounds) if aim == "margin" else math.floor(rounds) + 1  # a sign has to be right, not 0


def lazy_bregman_learning_rate(advantage: float, aim: Aim = "margin", analysis: Analysis = "sharp") -> float:
    """The rate that needs the fewest rounds: ``2 gamma`` for the margin, ``4 gamma`` (at most 1) for the signs.

    Paper: ``gamma / 4`` (Theorem 20), which is right for a stability term of ``lambda``.
    """
    require(aim in ("margin", "errors"), f"aim is 'margin' or 'errors', got {aim!r}")
    _check_analysis(analysis)
    if analysis == "paper":
        return advantage / 4
    return 2 * advantage if aim == "margin" else min(1.0, 4 * advantage)


def lazy_bregman_regret(
    learning_rate: float, divergence: float, density: float, n_rows: float, rounds: int, analysis: Analysis = "sharp"
) -> float:
    """Lemma 35: how much more the booster's average loss may be than that of a fixed dense measure.

    ``lambda / 8 + KL / (lambda kappa n T)``. The paper has ``lambda`` for the first term; losses in [0, 1] may be
    centred, and the second derivative of the conjugate of KL is their variance, at most 1/4
    (docs/theory/lazy_bregman.md). Two blocks of rows that lose by turns attain 99 % of the first term.

    ``divergence`` is the KL divergence of the fixed measure from the uniform one of density kappa; ``rounds`` is T,
    ``n_rows`` the number of pure strategies. ``analysis="paper"`` takes the term as printed.
    """
    _check_analysis(analysis)
    stability = learning_rate / 8 if analysis == "sharp" else learning_rate
    return stability + divergence / (learning_rate * density * n_rows * rounds)


def lazy_bregman_margin(
    advantage: float, learning_rate: float, density: float, rounds: int, analysis: Analysis = "sharp"
) -> float:
    """Lemma 39 for any learning rate: the margin reached outside the bad set; not positive means no statement.

    From ``gamma <= theta / 2 + lambda / 8 + log(1 / kappa) / (T lambda)``. At ``T = 16 log(1 / kappa) / gamma^2``, the
    rounds that Algorithm 4 prints, and its ``lambda = gamma``, it is ``13 gamma / 8``; by the paper's own Lemma 35 it
    would be negative there.
    """
    regret = lazy_bregman_regret(learning_rate, math.log(1 / density), density, 1 / density, rounds, analysis)
    return 2 * (advantage - regret)


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
    require(0 < advantage < 0.5, f"advantage must lie in (0, 0.5), got {advantage}")
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

    Both are of the weak learner on slick measures and of the test, whose Laplace noise is for that epsilon.
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
