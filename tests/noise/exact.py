"""Exact distributions and tests with exact error bounds, for the tests of noise.

False alarms. Every test below has a false-alarm probability of at most ``ALPHA = 1e-11``, by an inequality that holds
for every number of draws: no normal or chi-square approximation is used, whose far tails are not to be trusted.

* :func:`likelihood_ratio_rejects`: under the claimed pmf the likelihood ratio has mean at most 1, so that it exceeds
  ``1 / ALPHA`` with probability at most ``ALPHA`` (Markov). The number of draws is such that the alternative is
  rejected with probability at least ``1 - ALPHA`` (Chernoff with exponent 1/2: ``ALPHA**-0.5 * affinity**n <= ALPHA``).
* :func:`kolmogorov_rejects`: Dvoretzky, Kiefer, Wolfowitz with Massart's constant, valid for discrete distributions
  too.
* :func:`hoeffding_rejects`: Hoeffding, for means of bounded independent terms.

Draws of the operating system's entropy are tested this way fewer than 200 times in a run, so that all of them together
raise a false alarm with probability below 2e-9; seeded draws give the same outcome every time.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats

ALPHA = 1e-11


class Pmf:
    """A distribution on the integers ``first .. first + len(p) - 1``."""

    def __init__(self, first: int, weights: Floats) -> None:
        self.first = first
        self.p = weights / weights.sum()
        self.cdf = np.cumsum(self.p)

    def log_p(self, draws: npt.NDArray[np.int64]) -> Floats:
        with np.errstate(divide="ignore"):  # no draw comes from where the mass is 0 in double precision
            return np.log(self.p)[draws - self.first]

    def at(self, draws: npt.NDArray[np.int64]) -> Floats:
        """The cdf at the draws."""
        steps = np.concatenate(([0.0], self.cdf))
        return steps[np.clip(draws - self.first + 1, 0, len(self.cdf))]


def gaussian_pmf(scale: float, reach: float = 30.0) -> Pmf:
    """The discrete Gaussian out to ``reach`` scales of 12 % more (the mass beyond is below 1e-190)."""
    bound = math.ceil(reach * 1.12 * scale) + 3
    k = np.arange(-bound, bound + 1, dtype=np.float64)
    return Pmf(-bound, np.exp(np.maximum(-(k * k) / (2 * scale * scale), -700.0)))


def laplace_pmf(scale: float, reach: float = 60.0) -> Pmf:
    """The discrete Laplace; the mass beyond is below 1e-26."""
    bound = math.ceil(reach * 1.12 * scale) + 3
    k = np.arange(-bound, bound + 1, dtype=np.float64)
    return Pmf(-bound, np.exp(-np.abs(k) / scale))


def softmax_pmf(scores: npt.ArrayLike, scale: float) -> Pmf:
    """The exponential mechanism."""
    values = np.asarray(scores, dtype=np.float64)
    return Pmf(0, np.exp((values - values.max()) / scale))


def draws_needed(claimed: Pmf, other: Pmf) -> int:
    """Draws after which the likelihood ratio tells ``other`` with probability at least ``1 - ALPHA``."""
    affinity = float(np.sqrt(claimed.p * _on(claimed, other)).sum())
    return math.ceil(1.5 * math.log(1 / ALPHA) / -math.log(affinity))


def likelihood_ratio_rejects(draws: npt.NDArray[np.int64], claimed: Pmf, other: Pmf) -> bool:
    """Whether the draws speak for ``other`` against ``claimed``."""
    alternative = Pmf(claimed.first, _on(claimed, other))
    return float((alternative.log_p(draws) - claimed.log_p(draws)).sum()) >= math.log(1 / ALPHA)


def kolmogorov_distance(draws: npt.NDArray[np.int64], claimed: Pmf) -> float:
    """The largest distance between the empirical and the claimed cdf."""
    values, counts = np.unique(draws, return_counts=True)
    empirical = np.cumsum(counts) / len(draws)
    below = np.concatenate(([0.0], empirical[:-1]))
    return float(max(np.abs(empirical - claimed.at(values)).max(), np.abs(below - claimed.at(values - 1)).max()))


def kolmogorov_bound(n: int) -> float:
    """The distance that ``n`` draws from the claimed distribution exceed with probability at most ``ALPHA``."""
    return math.sqrt(math.log(2 / ALPHA) / (2 * n))


def kolmogorov_rejects(draws: npt.NDArray[np.int64], claimed: Pmf) -> bool:
    """Whether the shape is wrong, whatever the true one may be."""
    return kolmogorov_distance(draws, claimed) > kolmogorov_bound(len(draws))


def hoeffding_rejects(terms: Floats, mean: float, low: float, high: float) -> bool:
    """Whether independent terms in ``[low, high]`` have another mean."""
    radius = (high - low) * math.sqrt(math.log(2 / ALPHA) / (2 * len(terms)))
    return abs(float(terms.mean()) - mean) > radius


def _on(claimed: Pmf, other: Pmf) -> Floats:
    """``other`` on the support of ``claimed``; both are cut where their mass is negligible."""
    k = np.arange(len(claimed.p)) + claimed.first - other.first
    return np.where((k >= 0) & (k < len(other.p)), other.p[np.clip(k, 0, len(other.p) - 1)], 0.0)
