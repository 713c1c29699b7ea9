"""The variance of what trees still have to learn, by empirical Bayes on what is released: costs nothing."""

from __future__ import annotations

import math

from scipy.special import log_ndtr

from tacit.arrays import Floats
from tacit.growing.tuning import STEPPING, Stepping

FAR_BELOW = -1e3
"""Not tuned, of the arithmetic: standard deviations below 0 at which only the tail of a normal distribution is left."""


def mean_above_zero(mean: float, sd: float) -> float:
    """The mean of a normal variable that is known to be positive.

    Args:
        mean: without that knowledge.
        sd: positive.
    """
    ratio = mean / sd
    if ratio < FAR_BELOW:  # the first term of its asymptotic series; the difference below would cancel
        return -sd / ratio
    return mean + sd * math.exp(-0.5 * ratio**2 - 0.5 * math.log(2.0 * math.pi) - float(log_ndtr(ratio)))


class VarianceFilter:
    """The variance of leaves' true steps, from the sums of all trees so far.

    A leaf's sum of ``y - p`` varies by the step that its rows need on average, by the rows themselves and by the
    noise: ``E g**2 = h**2 v + k h + sd**2``. On rows whose own variation earlier trees have fitted in part, ``k`` is
    below 1. A filter over the trees finds ``v``, each tree weighing as much as it can tell: where noise is large that
    is next to nothing, and the first belief stays. A variance is not negative: what is believed is the mean of the
    filter's normal distribution cut off at 0, so that a few unlucky trees do not stop all others.

    Args:
        drift: by how much the variance may change from one tree to the next (standard deviation).
        numbers: of the tuning.
    """

    def __init__(self, drift: float, numbers: Stepping = STEPPING) -> None:
        self._found, self._uncertainty, self._drift = numbers.first_variance, numbers.first_spread**2, drift

    def at_most(self, sds: float) -> float:
        """The variance so many standard deviations above what was found."""
        return self._found + sds * math.sqrt(self._uncertainty)

    def learn(self, gradients: Floats, own: float, squares: float, sd: float) -> float:
        """Takes a tree's released sums and returns the variance that is believed.

        Args:
            gradients: sums by leaf, with noise.
            own: how much they vary by the rows themselves, ``k h``, on average.
            squares: the mean of ``h**2``, positive.
            sd: standard deviation of the noise in the gradients.
        """
        excess = float((gradients**2).mean()) - own - sd**2
        expected = (sd**2 + max(own, 0.5)) / squares + max(self._found, 0.0)
        variance = 2.0 / len(gradients) * expected**2
        self._uncertainty += self._drift**2
        gain = self._uncertainty / (self._uncertainty + variance)
        self._found += gain * (excess / squares - self._found)
        self._uncertainty *= 1.0 - gain
        return mean_above_zero(self._found, math.sqrt(self._uncertainty))
