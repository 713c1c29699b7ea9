"""The constant term of the additive model: what all its releases say of the log-odds of the class shares."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit, ndtri

from tacit.arrays import Floats
from tacit.boosting.measures.mada_boost import mada_boost
from tacit.curator.measurement import LEAST_SD

LEAST_CURVATURE = 0.005
TYPICAL_SCATTER = 0.35
"""Variance of what a row contributes where no class is rare."""

INTERCEPT_VARIANCE = 6.0
"""Prior variance of the intercept (squared log-odds)."""

LARGEST_INTERCEPT = 6.0
WELL_KNOWN = 0.1
"""Posterior standard deviation (log-odds) below which one Newton step on the averaged releases says it all."""

_QUANTILES = ndtri((np.arange(40) + 0.5) / 40)
_GRID = np.linspace(-7.0, 7.0, 281)


def curvature(intercept: float, spread: float) -> float:
    """Average of ``min(P, 1 - P)``, the slope of the expected step, when log-odds are normal around the intercept."""
    probability = expit(intercept + spread * _QUANTILES)
    return max(float(np.minimum(probability, 1 - probability).mean()), LEAST_CURVATURE)


def scatter(intercept: float, spread: float) -> float:
    """Variance of what one row adds to ``sum of s w``, as it is thought of: the share of the rarer class, or less.

    A model that knows nothing but the shares leaves about that. One that knows more leaves less, but the better it
    thinks it knows, the less this is to be taken from itself: where rows are few, it is too sure. Hence
    :data:`TYPICAL_SCATTER` for classes about as frequent as one another, whatever the spread of the log-odds.
    """
    positives = float(expit(intercept + spread * _QUANTILES).mean())
    return max(min(positives, 1 - positives, TYPICAL_SCATTER), LEAST_CURVATURE)


def expected_push(intercept: float, spread: float) -> Floats:
    """What a row adds to ``sum of s w`` on average, for every true intercept of the grid, at this one.

    Log-odds are thought to be normal with deviation ``spread``, and right but for the intercept. It is 0 where the true
    one is this one.
    """
    truth = expit(_GRID[:, None] + spread * _QUANTILES[None, :])
    score = intercept + spread * _QUANTILES
    return np.asarray((truth * mada_boost(score) - (1 - truth) * mada_boost(-score)).mean(axis=1))


class Intercept:
    """The constant term: the whole posterior while little is known, damped Newton on averaged releases afterwards.

    While the noise leaves much open, the intercept is the log-odds of the mean probability under the posterior, which
    loses least where it is wrong.

    Args:
        total: released number of rows, ``n``.
        share: of the budget, relative to a term's.
    """

    def __init__(self, total: float, share: float = 1.0) -> None:
        self.total, self.share, self.value = total, share, 0.0
        self._count, self._power = 0, 1.0
        self._precision, self._sum, self._values, self._variance = 0.0, 0.0, 0.0, 0.0
        self._misfit: Floats = np.zeros(len(_GRID))
        self._weight = 0.0

    def hurry(self, haste: float) -> None:
        """From now on later releases count more in proportion to their number, or, towards a haste of -1, all alike."""
        self._power = 1.0 + min(haste, 0.0)

    def observe(self, signed_sum: float, sd: float, spread: float) -> float:
        """Takes a release of ``sum of s w`` and returns how far the intercept moves.

        Args:
            signed_sum: as released.
            sd: of its noise.
            spread: standard deviation of the other terms' sum over the rows.
        """
        sd, slope = max(sd, LEAST_SD), curvature(self.value, spread)
        most = 2 * self.total + 20 * sd  # no table gives more; a number that overflows would say nothing
        signed_sum = min(max(signed_sum, -most), most)
        posterior = self._posterior(signed_sum, sd, spread)
        mean = float(posterior @ _GRID)
        if math.sqrt(float(posterior @ (_GRID - mean) ** 2)) > WELL_KNOWN:
            self._average(signed_sum, sd)
            probability = float(posterior @ expit(_GRID))
            new = math.log(probability / (1 - probability))
        else:
            new = self._newton(signed_sum, sd, slope)
        new = float(np.clip(new, -LARGEST_INTERCEPT, LARGEST_INTERCEPT))
        step, self.value = new - self.value, new
        return step

    def _posterior(self, signed_sum: float, sd: float, spread: float) -> Floats:
        """Takes a release in and returns weights on the grid; later releases, whose model is closer, weigh more."""
        weight = (self._count + 1.0) ** self._power
        self._misfit += weight * ((signed_sum - self.total * expected_push(self.value, spread)) / sd) ** 2
        self._weight += weight
        logs = -0.5 * self._misfit * (self._count + 1) / self._weight - 0.5 * _GRID**2 / INTERCEPT_VARIANCE
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def _average(self, signed_sum: float, sd: float) -> None:
        self._count += 1
        weight = (self._count - 1) ** self._power / sd**2 if self._count > 1 else 0.0
        self._precision += weight
        self._sum += weight * signed_sum
        self._values += weight * self.value
        self._variance += (weight * sd) ** 2

    def _newton(self, signed_sum: float, sd: float, slope: float) -> float:
        self._average(signed_sum, sd)
        if self._count == 1:  # closed form from scores of 0
            rate = float(np.clip(signed_sum / self.total, -0.97, 0.97)) / (1 + (2 * sd / self.total) ** 2)
            return math.log((1 + rate) / (1 - rate))
        full = self._values / self._precision + self._sum / self._precision / (self.total * slope)
        variance = self._variance / self._precision**2 / (self.total * slope) ** 2
        full *= INTERCEPT_VARIANCE / (INTERCEPT_VARIANCE + variance)
        return float(np.clip(full, self.value - 1, self.value + 1))

    def sd(self, slope: float) -> float:
        """Standard deviation that noise leaves in the intercept, from all releases but the first."""
        return math.sqrt(self._variance) / self._precision / (self.total * slope) if self._precision else 0.0
