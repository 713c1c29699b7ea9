"""The constant term of models with a vector of scores, or with a numeric target."""

from __future__ import annotations

import math

import numpy as np

from tacit.additive.intercept import LARGEST_INTERCEPT
from tacit.additive.score_term import Directions
from tacit.arrays import Floats
from tacit.curator.measurement import LEAST_SD, Measurement
from tacit.queries.rules import MARGIN_BITS
from tacit.queries.score_rules import LARGEST_BOUND

ONE_SIDED, NO_DOUBT = 0.4, 4.0
"""Rows lie on one side of the intercept where their contributions add up to more than this part of the most they could,
by so many standard deviations of noise."""

LEAST_DOUBT = 0.2
"""A sum of clipped numbers is thought to leave at least this much open about the intercept, while sums are weighed
against each other: a clip that was chosen far too narrow looks exact, and says next to nothing."""

LONGEST_STRIDE = 4.0
"""No stride of the intercept is longer."""


class OneSide:
    """Whether rows are clipped on one side, by all releases in a row that point to the same side."""

    def __init__(self) -> None:
        self._found, self._variance, self._most = 0.0, 0.0, 0.0

    def sees(self, found: float, sd: float, most: float) -> bool:
        """Takes a sum of contributions, its noise, and how large it could be if all rows lay on its side."""
        if found * self._found < 0:
            self._found, self._variance, self._most = 0.0, 0.0, 0.0
        self._found, self._variance, self._most = self._found + found, self._variance + sd**2, self._most + most
        return abs(self._found) - NO_DOUBT * math.sqrt(self._variance) > ONE_SIDED * self._most


class ScoreIntercept:
    """The constant term: begun by the loss, then damped Newton steps on the averaged releases.

    Args:
        value: the start, shape ``(n_scores,)``.
        total: released number of rows.
        doubt: how far off the start may be: a variance.
    """

    def __init__(self, value: Floats, total: float, doubt: float) -> None:
        self.value, self.start = value, value
        self._total, self._doubt = total, doubt
        self._last_stride = 0.0
        self._forget()

    def observe(self, release: Measurement, directions: Directions, ends: tuple[float, float] | None = None) -> Floats:
        """Takes a release of the sum of contributions and returns how far the intercept moves.

        Args:
            release: the sum.
            directions: where the loss is curved.
            ends: of a single number that is clipped: the least and the largest that a row contributes.
        """
        if ends is not None and (stride := self._stride(release, ends)):
            self.start = self.value + stride
            return self._move(self.start)
        sd, gain = max(release.sd, LEAST_SD) / directions.gain, directions.gain
        self._count += 1
        weight = self._count / max(sd, 0.0 if ends is None else LEAST_DOUBT * self._total) ** 2
        self._precision += weight
        self._sum += weight * release.value[0] / gain
        self._values += weight * (self.value - self.start)
        self._variance += (weight * sd) ** 2
        slopes = self._total * directions.curvatures
        mean = gain * self._sum / self._precision / self._total + directions.matrix @ self._values / self._precision
        full = mean @ directions.basis / directions.curvatures
        variance = gain**2 * self._variance / self._precision**2 / slopes**2
        full *= self._doubt / (self._doubt + variance)
        wanted = self.start + directions.basis @ full
        reach = LARGEST_INTERCEPT if ends is None else LARGEST_BOUND / 2.0**MARGIN_BITS
        return self._move(np.clip(np.clip(wanted, self.value - 1, self.value + 1), -reach, reach))

    def _move(self, new: Floats) -> Floats:
        step, self.value = new - self.value, new
        return np.asarray(step)

    def _stride(self, release: Measurement, ends: tuple[float, float]) -> float:
        """How far to go where nearly all rows are clipped on one side, which says no more than in which direction.

        Twice as far as before, and at least as far as a row can say; 0 where rows lie on both sides as far as one can
        tell. What was released before is forgotten then: it was seen from too far off.
        """
        found = float(release.value.item())
        end = ends[1] if found > 0 else ends[0]
        if not self._one_side.sees(found, release.sd, abs(end) * self._total):
            return 0.0
        self._forget()
        longer = 2 * self._last_stride if self._last_stride * end > 0 else end
        self._last_stride = math.copysign(min(max(abs(longer), abs(end)), LONGEST_STRIDE), end)
        return self._last_stride

    def _forget(self) -> None:
        self._count, self._precision, self._variance = 0, 0.0, 0.0
        self._sum, self._values = np.zeros_like(self.value), np.zeros_like(self.value)
        self._one_side = OneSide()

    def sd(self, directions: Directions) -> Floats:
        """Standard deviation that noise leaves in the intercept, shape ``(n_scores,)``."""
        if not self._precision:
            return np.zeros_like(self.value)
        variances = self._variance / (self._precision * self._total * directions.curvatures / directions.gain) ** 2
        return np.asarray(np.sqrt(np.square(directions.basis) @ variances))
