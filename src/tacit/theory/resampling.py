"""Bounds on boosting by resampling (Appendix L of Bun, Carmosino, Sorrell 2020; Dwork, Rothblum, Vadhan 2010)."""

from __future__ import annotations

import math

from tacit.theory.boosting import Analysis, lazy_bregman_rounds, lazy_bregman_slickness
from tacit.theory.checks import Cost, require


def sampling_amplification(base: Cost, distance: float, sample_size: int) -> Cost:
    """Lemma 55: a private mechanism on ``k`` independent draws from distributions at total variation ``zeta``.

    ``(4 eps zeta k, delta (1 + e^(2 zeta k)))`` for ``eps <= 1/2``. Raises ``ValueError`` for a base learner with
    epsilon above 1/2, which the lemma does not cover.
    """
    if base.epsilon > 0.5:
        raise ValueError(
            f"Lemma 55 needs a base learner with epsilon at most 0.5, got {base.epsilon}; sampled_round does not"
        )
    return Cost(4 * base.epsilon * distance * sample_size, base.delta * (1 + math.exp(2 * distance * sample_size)))


def sampled_round(base: Cost, distance: float, sample_size: int) -> Cost:
    """Lemma 55 without its condition, and sharper; what this library charges.

    Write both distributions as ``(1 - zeta) C + zeta A`` and ``(1 - zeta) C + zeta B``. The number ``K`` of draws
    outside ``C`` is binomial. Given ``K = j`` the two outputs are within group privacy ``j eps`` of each other, and
    each of them of the output on draws from ``C`` alone. With ``R = E e^(K eps) <= e^eps``, mixing the two comparisons
    so that the first gets the factor ``R`` for every ``j >= 1`` gives ``epsilon' = log R``, about ``eps zeta k``: a
    quarter of the lemma's. For larger ``R``, going from one to the other by way of ``C`` gives ``epsilon' = log(R / E
    e^(-K eps))``. In both cases ``delta' = delta (e^epsilon' - 1) / (e^eps - 1)``. The first is attained by geometric
    noise on a count.

    ``base`` is of the base learner on ``k`` rows, under replacement; ``distance`` is zeta, in [0, 1], ``sample_size``
    k. Raises ``ValueError`` for a distance out of range.
    """
    require(0 <= distance <= 1, f"a total variation lies in [0, 1], got {distance}")
    if base.epsilon == 0:
        return Cost(0.0, min(1.0, base.delta * distance * sample_size))
    up = sample_size * math.log1p(distance * math.expm1(base.epsilon))
    down = sample_size * math.log1p(distance * math.expm1(-base.epsilon))
    epsilon = up if up <= base.epsilon else up - down
    if epsilon > 700:
        return Cost(epsilon, 1.0 if base.delta else 0.0)
    return Cost(epsilon, min(1.0, base.delta * math.expm1(epsilon) / math.expm1(base.epsilon)))


def cost_of_draws(base: Cost, distance: float, sample_size: int, analysis: Analysis) -> Cost:
    """What a learner of cost ``base`` costs on independent draws from distributions at total variation ``distance``.

    :func:`sampled_round` for ``"sharp"``, :func:`sampling_amplification` for ``"paper"``.
    """
    bound = sampled_round if analysis == "sharp" else sampling_amplification
    return bound(base, distance, sample_size)


def printed_round(base: Cost, density: float, n_rows: int, sample_size: int) -> Cost:
    """Theorem 57's round as printed: ``e^(2 eps m / (kappa n))`` in its delta, where Lemma 55 has no ``eps``.

    Too small; here so that a test can show it. Never charged.
    """
    distance = lazy_bregman_slickness(density, n_rows)
    return Cost(
        4 * base.epsilon * distance * sample_size,
        base.delta * (1 + math.exp(2 * base.epsilon * distance * sample_size)),
    )


def boost_s_sample_size(
    accuracy: float, slack: float, base_epsilon: float, base_size: int, epsilon: float, advantage: float
) -> float:
    """Theorem 57: rows that Boost-S needs, with constant 1: ``sqrt(log(1/a) ln(1/delta')) eps_b m / (eps gamma a)``."""
    return (
        math.sqrt(math.log(1 / accuracy) * math.log(1 / slack))
        * base_epsilon
        * base_size
        / (epsilon * advantage * accuracy)
    )


def boost_for_people_sample_size(
    accuracy: float,
    slack: float,
    base_epsilon: float,
    base_size: int,
    epsilon: float,
    advantage: float,
    failure_exponent: float = 1.0,
) -> float:
    """Theorem 56 (Dwork, Rothblum, Vadhan 2010), with constant 1: larger by ``v log(1/a) / gamma^2``."""
    return (
        boost_s_sample_size(accuracy, slack, base_epsilon, base_size, epsilon, advantage)
        * failure_exponent
        * math.log(1 / accuracy)
        / advantage**2
    )


def boost_s_rounds(advantage: float, accuracy: float) -> int:
    """Theorem 57 by way of Theorem 20: rounds to a training error below ``accuracy``; a vote needs no margin."""
    return lazy_bregman_rounds(advantage, accuracy, "errors")
