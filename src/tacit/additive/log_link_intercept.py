"""The constant term under a log link: Newton steps on averaged releases, each referred to where it is now."""

from __future__ import annotations

import math

import numpy as np

from tacit.additive.term import Directions
from tacit.additive.tuning import INTERCEPTS
from tacit.arrays import Floats
from tacit.curator.measurement import LEAST_SD, Measurement


class LogLinkIntercept:
    """The logarithm of the mean of a row without effects, relative to where it began.

    At the intercept ``F`` a sum of contributions is in proportion to ``exp(G + (1 - p) F) - exp((2 - p) F)`` where
    ``G`` is right: see :meth:`Term._as_if_linear <tacit.additive.term.Term>`.

    Args:
        total: released number of rows.
        growth: ``2 - p``.
    """

    share = 1.0

    def __init__(self, total: float, growth: float) -> None:
        self._total, self._growth, self._at = total, growth, 0.0
        self._count, self._precision, self._variance, self._sum = 0, 0.0, 0.0, 0.0
        self._powers: Floats = np.zeros(2)

    @property
    def value(self) -> Floats:
        """Shape ``(1,)``."""
        return np.array([self._at])

    def set_recency(self, recency: float) -> None:
        """Nothing: later releases count more in proportion to their number, whatever the pace."""
        del recency

    def observe(self, release: Measurement, directions: Directions, spread: float) -> Floats:
        """See :meth:`tacit.additive.intercept.Intercept.observe`; no step is longer than 1."""
        del spread
        gain, slope = directions.gain, float(directions.curvatures[0])
        sd = max(release.sd, LEAST_SD) / gain
        self._count += 1
        weight = self._count / sd**2
        self._precision += weight
        self._variance += (weight * sd) ** 2
        self._sum += weight * float(release.value.item()) / gain
        self._powers = self._powers + weight * np.exp(self._at * np.array([self._growth - 1.0, self._growth]))
        one, two = self._powers / self._precision
        since = (two - math.exp(self._at) * one) * math.exp(-self._growth * self._at)
        step = gain * self._sum / self._precision / self._total / slope + since
        step = math.log1p(step) if step > 0 else step
        variance = self._variance / (self._precision * self._total * slope / gain) ** 2
        new = (self._at + step) * INTERCEPTS.variance / (INTERCEPTS.variance + variance)
        new = float(np.clip(np.clip(new, self._at - 1, self._at + 1), -INTERCEPTS.largest, INTERCEPTS.largest))
        moved, self._at = new - self._at, new
        return np.array([moved])

    def sd(self, directions: Directions) -> Floats:
        """Standard deviation that noise leaves in the intercept, shape ``(1,)``."""
        if not self._precision:
            return np.zeros(1)
        slope = self._precision * self._total * float(directions.curvatures[0]) / directions.gain
        return np.array([math.sqrt(self._variance) / slope])
