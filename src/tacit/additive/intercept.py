"""The constant term of an additive model: of two classes by its whole posterior, of other losses by Newton steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.special import expit, ndtri

from tacit.additive.term import Directions
from tacit.additive.tuning import EFFECTS, INTERCEPTS
from tacit.arrays import Floats
from tacit.boosting.mada_boost import mada_boost
from tacit.curator.measurement import LEAST_SD, Measurement
from tacit.queries.rules import MARGIN_BITS
from tacit.queries.score_rules import LARGEST_BOUND

_QUANTILES = ndtri((np.arange(40) + 0.5) / 40)
_GRID = np.linspace(-7.0, 7.0, 281)


def curvature(intercept: float, spread: float) -> float:
    """Average of ``min(P, 1 - P)``, the slope of the expected step, when log-odds are normal around the intercept."""
    probability = expit(intercept + spread * _QUANTILES)
    return max(float(np.minimum(probability, 1 - probability).mean()), INTERCEPTS.least_curvature)


def scatter(intercept: float, spread: float) -> float:
    """Variance of what one row adds to ``sum of s w``, as it is thought of: the share of the rarer class, or less.

    A model that knows nothing but the shares leaves about that. One that knows more leaves less, but the better it
    thinks it knows, the less this is to be taken from itself: where rows are few, it is too sure. Hence
    ``EFFECTS.typical_scatter`` for classes about as frequent as one another, whatever the spread of the log-odds.
    """
    positives = float(expit(intercept + spread * _QUANTILES).mean())
    return max(min(positives, 1 - positives, EFFECTS.typical_scatter), INTERCEPTS.least_curvature)


def expected_push(intercept: float, spread: float) -> Floats:
    """What a row adds to ``sum of s w`` on average, for every true intercept of the grid, at this one.

    Log-odds are thought to be normal with deviation ``spread``, and right but for the intercept. It is 0 where the true
    one is this one.
    """
    truth = expit(_GRID[:, None] + spread * _QUANTILES[None, :])
    score = intercept + spread * _QUANTILES
    return np.asarray((truth * mada_boost(score) - (1 - truth) * mada_boost(-score)).mean(axis=1))


class Intercept(Protocol):
    """The constant term while it is being learned.

    Attributes:
        share: of the budget of a sweep, relative to a term's.
    """

    share: float

    @property
    def value(self) -> Floats:
        """As it is now, shape ``(n_scores,)``."""

    def set_recency(self, recency: float) -> None:
        """From now on later releases count so much more than earlier ones."""

    def observe(self, release: Measurement, directions: Directions, spread: float) -> Floats:
        """Takes a release of the sum of contributions in, and returns how far the intercept moves.

        The release has shape ``(1, n_scores)``; ``spread`` is the standard deviation of the other terms' sum over the
        rows.
        """

    def sd(self, directions: Directions) -> Floats:
        """Standard deviation that noise leaves in the intercept, shape ``(n_scores,)``."""


class PosteriorIntercept:
    """Of two classes: the whole posterior while little is known, damped Newton on averaged releases afterwards.

    While the noise leaves much open, the intercept is the log-odds of the mean probability under the posterior, which
    loses least where it is wrong.

    Args:
        total: released number of rows, ``n``.
        share: of the budget, relative to a term's.
    """

    def __init__(self, total: float, share: float = 1.0) -> None:
        self.total, self.share, self._at = total, share, 0.0
        self._count, self._power = 0, 1.0
        self._precision, self._sum, self._values, self._variance = 0.0, 0.0, 0.0, 0.0
        self._misfit: Floats = np.zeros(len(_GRID))
        self._weight = 0.0

    @property
    def value(self) -> Floats:
        """Log-odds, shape ``(1,)``."""
        return np.array([self._at])

    def set_recency(self, recency: float) -> None:
        """From now on later releases count more in proportion to their number, or, towards -1, all alike."""
        self._power = 1.0 + min(recency, 0.0)

    def observe(self, release: Measurement, directions: Directions, spread: float) -> Floats:
        """See :meth:`Intercept.observe`; the release is of ``sum of s w``."""
        sd, slope = max(release.sd, LEAST_SD), float(directions.curvatures[0])
        most = 2 * self.total + 20 * sd  # no table gives more; a number that overflows would say nothing
        signed_sum = min(max(float(release.value.item()), -most), most)
        posterior = self._posterior(signed_sum, sd, spread)
        mean = float(posterior @ _GRID)
        if math.sqrt(float(posterior @ (_GRID - mean) ** 2)) > INTERCEPTS.well_known:
            self._average(signed_sum, sd)
            probability = float(posterior @ expit(_GRID))
            new = math.log(probability / (1 - probability))
        else:
            new = self._newton(signed_sum, sd, slope)
        new = float(np.clip(new, -INTERCEPTS.largest, INTERCEPTS.largest))
        step, self._at = new - self._at, new
        return np.array([step])

    def _posterior(self, signed_sum: float, sd: float, spread: float) -> Floats:
        """Takes a release in and returns weights on the grid; later releases, whose model is closer, weigh more."""
        weight = (self._count + 1.0) ** self._power
        self._misfit += weight * ((signed_sum - self.total * expected_push(self._at, spread)) / sd) ** 2
        self._weight += weight
        logs = -0.5 * self._misfit * (self._count + 1) / self._weight - 0.5 * _GRID**2 / INTERCEPTS.variance
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def _average(self, signed_sum: float, sd: float) -> None:
        self._count += 1
        weight = (self._count - 1) ** self._power / sd**2 if self._count > 1 else 0.0
        self._precision += weight
        self._sum += weight * signed_sum
        self._values += weight * self._at
        self._variance += (weight * sd) ** 2

    def _newton(self, signed_sum: float, sd: float, slope: float) -> float:
        self._average(signed_sum, sd)
        if self._count == 1:  # closed form from scores of 0
            most = INTERCEPTS.largest_excess
            rate = float(np.clip(signed_sum / self.total, -most, most)) / (1 + (2 * sd / self.total) ** 2)
            return math.log((1 + rate) / (1 - rate))
        full = self._values / self._precision + self._sum / self._precision / (self.total * slope)
        variance = self._variance / self._precision**2 / (self.total * slope) ** 2
        full *= INTERCEPTS.variance / (INTERCEPTS.variance + variance)
        return float(np.clip(full, self._at - 1, self._at + 1))

    def sd(self, directions: Directions) -> Floats:
        """Standard deviation that noise leaves in the intercept, from all releases but the first."""
        slope = float(directions.curvatures[0])
        sd = math.sqrt(self._variance) / self._precision / (self.total * slope) if self._precision else 0.0
        return np.array([sd])


class OneSidedClip:
    """Whether rows are clipped on one side, by all releases in a row that point to the same side."""

    def __init__(self) -> None:
        self._found, self._variance, self._most = 0.0, 0.0, 0.0

    def sees(self, total: float, sd: float, most: float) -> bool:
        """Takes a sum of contributions, its noise, and how large it could be if all rows lay on its side."""
        if total * self._found < 0:
            self._found, self._variance, self._most = 0.0, 0.0, 0.0
        self._found, self._variance, self._most = self._found + total, self._variance + sd**2, self._most + most
        return abs(self._found) - INTERCEPTS.no_doubt * math.sqrt(self._variance) > INTERCEPTS.one_sided * self._most


class NewtonIntercept:
    """The constant term: begun by the loss, then damped Newton steps on the averaged releases.

    Args:
        value: the start, shape ``(n_scores,)``.
        total: released number of rows.
        doubt: how far off the start may be: a variance.
        ends: of a single number that is clipped: the least and the largest that a row contributes, as it is now.
    """

    share = 1.0

    def __init__(
        self, value: Floats, total: float, doubt: float, ends: Callable[[], tuple[float, float] | None] = lambda: None
    ) -> None:
        self._value, self.start, self._ends = value, value, ends
        self._total, self._doubt = total, doubt
        self._last_bracket = 0.0
        self._forget()

    @property
    def value(self) -> Floats:
        """Scores of a row of no effects, shape ``(n_scores,)``."""
        return self._value

    def set_recency(self, recency: float) -> None:
        """Nothing: later releases count more in proportion to their number, whatever the pace."""
        del recency

    def observe(self, release: Measurement, directions: Directions, spread: float) -> Floats:
        del spread  # what simulated rows have is in the directions
        ends = self._ends()
        if ends is not None and (step := self._bracketing_step(release, ends)):
            self.start = self._value + step
            return self._move(self.start)
        sd, gain = max(release.sd, LEAST_SD) / directions.gain, directions.gain
        self._count += 1
        weight = self._count / max(sd, 0.0 if ends is None else INTERCEPTS.least_doubt * self._total) ** 2
        self._precision += weight
        self._sum += weight * release.value[0] / gain
        self._values += weight * (self._value - self.start)
        self._variance += (weight * sd) ** 2
        slopes = self._total * directions.curvatures
        mean = gain * self._sum / self._precision / self._total + directions.matrix @ self._values / self._precision
        full = mean @ directions.basis / directions.curvatures
        variance = gain**2 * self._variance / self._precision**2 / slopes**2
        full *= self._doubt / (self._doubt + variance)
        target = self.start + directions.basis @ full
        reach = INTERCEPTS.largest if ends is None else LARGEST_BOUND / 2.0**MARGIN_BITS
        return self._move(np.clip(np.clip(target, self._value - 1, self._value + 1), -reach, reach))

    def _move(self, new: Floats) -> Floats:
        step, self._value = new - self._value, new
        return np.asarray(step)

    def _bracketing_step(self, release: Measurement, ends: tuple[float, float]) -> float:
        """How far to go where nearly all rows are clipped on one side, which says no more than in which direction.

        Twice as far as before, and at least as far as a row can say; 0 where rows lie on both sides as far as one can
        tell. What was released before is forgotten then: it was seen from too far off.
        """
        total = float(release.value.item())
        end = ends[1] if total > 0 else ends[0]
        if not self._one_side.sees(total, release.sd, abs(end) * self._total):
            return 0.0
        self._forget()
        longer = 2 * self._last_bracket if self._last_bracket * end > 0 else end
        self._last_bracket = math.copysign(min(max(abs(longer), abs(end)), INTERCEPTS.longest_bracket), end)
        return self._last_bracket

    def _forget(self) -> None:
        self._count, self._precision, self._variance = 0, 0.0, 0.0
        self._sum, self._values = np.zeros_like(self._value), np.zeros_like(self._value)
        self._one_side = OneSidedClip()

    def sd(self, directions: Directions) -> Floats:
        """Standard deviation that noise leaves in the intercept, shape ``(n_scores,)``."""
        if not self._precision:
            return np.zeros_like(self._value)
        variances = self._variance / (self._precision * self._total * directions.curvatures / directions.gain) ** 2
        return np.asarray(np.sqrt(np.square(directions.basis) @ variances))
