"""What right guesses about many canaries of one fit prove of Gaussian noise.

*Whatever hangs together.* If each canary alone is mu-Gaussian private given all others, right guesses obey a recursion
over their number (:func:`gaussian_refuted`). Nothing is assumed of how canaries depend on each other.

*Independent canaries.* If canaries are told apart by noise of their own, the privacy losses ``|L|`` of ``n`` canaries
are independent, and given them a guess is wrong with a chance of ``1 / (1 + e^|L|)``. Of the ``r`` canaries with the
largest losses nothing is surer than that: given the quantile ``t`` of the next one, which is Beta(n - r, r + 1), errors
are Binomial(r, m(t)) with ``m(t)`` the mean chance of an error above ``t``. This is tight for noise in disjoint cells.
It is no bound for mechanisms whose canaries share their luck, which no privacy claim forbids.

Source: Mahloujifar, Melis, Chaudhuri 2025, "Auditing f-differential privacy in one run" (arXiv:2410.22235); Xiang and
others 2025, "Tight privacy audit in one run" (arXiv:2509.08704), whose tail over ranks is exact here.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, expit, ndtr, ndtri
from scipy.stats import binom

from tacit.arrays import Floats
from tacit.audit.bound import epsilon_of_shift, largest_where

QUANTILES = 20_000
"""Cells of equal chance into which losses are divided."""

FAR = 9.0
"""Standard deviations beyond which Gaussian noise does not fall."""


def gaussian_refuted(mu: float, right: int, guesses: int, canaries: int, error: float) -> bool:
    """Whether so many right guesses, or more, have a chance of less than ``error`` where all canaries are mu-Gaussian.

    Source: Mahloujifar, Melis, Chaudhuri 2025, Algorithm 2 with abstentions.
    """
    bar, most = error * (guesses - right) / canaries, guesses / canaries
    total = error * right / canaries
    for wrong in range(right - 1, -1, -1):
        higher = max(bar, float(ndtr(ndtri(min(total, 1.0)) - mu)))
        total += wrong / (guesses - wrong) * (higher - bar)
        bar = higher
        if total + bar > most:
            return True
    return total + bar > most


def errors_above(mu: float) -> Floats:
    """The mean chance of an error where the loss is above a quantile, by quantile; shape ``(QUANTILES,)``."""
    losses = np.linspace(0.0, mu * (mu / 2 + FAR), 2 * QUANTILES)
    below = ndtr(losses / mu - mu / 2) - ndtr(-losses / mu - mu / 2)
    middles = (np.arange(QUANTILES) + 0.5) / QUANTILES
    chances = expit(-np.interp(middles, below, losses))
    means: Floats = np.cumsum(chances[::-1])[::-1] / np.arange(QUANTILES, 0, -1)
    return means


def independent_chance(mu: float, right: int, guesses: int, canaries: int) -> float:
    """The chance of so many right guesses, or more, about the most telling of independent mu-Gaussian canaries."""
    means = errors_above(mu)
    if guesses == canaries:
        return float(binom.cdf(guesses - right, guesses, means[0]))
    edges = betainc(canaries - guesses, guesses + 1, np.arange(QUANTILES + 1) / QUANTILES)
    return float(np.diff(edges) @ binom.cdf(guesses - right, guesses, means))


def gaussian_epsilons(right: int, guesses: int, canaries: int, delta: float, error: float) -> tuple[float, float]:
    """Lower bounds on epsilon, each but for a chance of ``error``: for any canaries, and for independent ones."""
    shifts = (
        largest_where(lambda mu: gaussian_refuted(mu, right, guesses, canaries, error)),
        largest_where(lambda mu: independent_chance(mu, right, guesses, canaries) < error),
    )
    whatever, independent = (epsilon_of_shift(mu, delta) if mu > 0 else 0.0 for mu in shifts)
    return whatever, independent


def usually_right(mu: float, guesses: int, canaries: int) -> int:
    """Right guesses about the most telling of independent canaries, on average."""
    wrong = float(errors_above(mu)[round(QUANTILES * (1 - guesses / canaries))])
    return round(guesses * (1 - wrong))
