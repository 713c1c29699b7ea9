"""A public scaling of the row space from released moments: the covariance as a diagonal plus the mean's direction."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Floats
from tacit.curator.curator import Curator
from tacit.halfspaces.tuning import TUNING, Tuning
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.dense.moments import MomentSum, ShortenedSquares


@dataclass(frozen=True, eq=False)
class Scaling:
    """``A = diag(variances) + mean mean^T``: a model of the average of ``x x^T``. Everything here was released.

    Real tables have coordinates of very different spread, and means far from zero; a plain average of rows then points
    along the mean and the widest columns, whatever the labels are. ``A^-1`` takes both out. It costs two releases of
    ``d`` numbers, of the sensitivity of one row each, whatever ``d`` is.
    """

    variances: Floats  # positive, shape `(d,)`
    mean: Floats  # shape `(d,)`; zero for no scaling by the mean
    # how far the coordinates are known to differ in spread, or their means from 0, from 0 (all of it may be noise) to
    # 1; None where it was not asked, or where one of them is constant
    told_apart: float | None = None

    @staticmethod
    def none(width: int) -> Scaling:
        """No scaling: ``A`` is the identity, as in the paper."""
        return Scaling(np.ones(width), np.zeros(width))

    @property
    def _pull(self) -> tuple[Floats, float]:
        pull: Floats = self.mean / self.variances
        return pull, 1.0 + float(self.mean @ pull)

    def solve(self, vector: Floats) -> Floats:
        """``A^-1 vector`` in time ``O(d)`` (Sherman, Morrison)."""
        pull, weight = self._pull
        return vector / self.variances - pull * (float(pull @ vector) / weight)

    @property
    def trace(self) -> float:
        """Trace of ``A^-1``: what noise of variance 1 per coordinate adds to ``v^T A^-1 v`` on average."""
        pull, weight = self._pull
        return float(np.sum(1.0 / self.variances) - pull @ pull / weight)

    @property
    def trace_of_square(self) -> float:
        """Trace of ``A^-2``: what noise of variance 1 per coordinate becomes in ``A^-1`` times it, all together."""
        pull, weight = self._pull
        crossed = float(pull @ (pull / self.variances))
        return float(np.sum(self.variances**-2.0) - 2 * crossed / weight + (pull @ pull / weight) ** 2)

    @property
    def noise_profile(self) -> Floats:
        """Noise of each coordinate in ``A^-1`` times noise that is alike in all, per root mean square; shape ``(d,)``.

        Coordinates of few rows have small variances, and much of it.
        """
        pull, weight = self._pull
        squares = self.variances**-2.0 - 2 * pull * pull / (self.variances * weight)
        squares += pull * pull * float(pull @ pull) / weight**2
        return np.asarray(np.sqrt(np.maximum(squares, 0.0) * (len(squares) / self.trace_of_square)))

    def noise_spread(self, around_mean: bool) -> float:
        """Standard deviation of the scores that noise in a hypothesis gives to rows, per root mean square of it.

        With ``around_mean``, of scores less those of the mean row.
        """
        pull, weight = self._pull
        scores = self.trace - (float(pull @ pull) / weight**2 if around_mean else 0.0)
        return math.sqrt(max(0.0, scores) * len(self.variances) / self.trace_of_square)


def measure_scaling(
    curator: Curator, radius: int, n_rows: float, charges: tuple[Charge, Charge], longest: float | None = None,
    tuning: Tuning = TUNING,
) -> Scaling:  # fmt: skip
    """Releases the sums of the rows and of their squares, for a charge each, and makes a scaling of them.

    Where squares are shortened, the noise is measured against the length that is left: among many coordinates, the
    ratios of their variances are known far better. ``longest`` is what the squares of a row of norm 1 are shortened to,
    as a vector, in (0, 1], where 1 leaves them as they are; None for rows with a constant coordinate, which nearly all
    of a row's length may be in.
    ``radius`` is the integer length of a row of norm 1.
    """
    width, n = curator.layout.n_dense, max(1.0, n_rows)
    first = curator.measure(MomentSum(1, width, radius), charges[0], Label(Stage.SCALING, "sum of the rows"))
    mean, mean_sd, label = first.value / n, first.sd / n, Label(Stage.SCALING, "sum of the squared rows")
    surplus = (0.0, 0.0) if longest is None else (tuning.mean_surplus, tuning.square_surplus)
    if longest is None or longest >= 1:
        second = curator.measure(MomentSum(2, width, radius), charges[1], label)
        scaling = make_scaling(mean, second.value / n, mean_sd, second.sd / n, surplus, tuning)
        return replace(scaling, told_apart=None) if longest is None else scaling
    query = ShortenedSquares(width, radius, math.ceil(longest * MomentSum(2, width, radius).unit))
    second = curator.measure(query, charges[1], label)
    squares, length = second.value[:-1], float(second.value[-1]) / query.length_weight
    # what shortening leaves: it cannot be less than the longest
    remainder = min(max(float(squares.sum()) / max(length, 1e-12), longest), 1.0)
    return make_scaling(mean, squares / (remainder * n), mean_sd, second.sd / (remainder * n), surplus, tuning)


def make_scaling(
    mean: Floats, squares: Floats, mean_sd: float, square_sd: float, surplus: tuple[float, float] = (0.0, 0.0),
    tuning: Tuning = TUNING,
) -> Scaling:  # fmt: skip
    """A scaling from noisy moments, drawn as far towards the identity as the noise asks for (James and Stein).

    The mean is drawn towards 0, and the mean squares towards what they have in common: where noise makes up all the
    differences between coordinates, dividing by them would only turn every hypothesis by the same wrong angle. A few
    wide coordinates among many, which all that noise would hide, are told by the least that is sure of each: what they
    have above the largest that noise alone would be expected to show (Donoho and Johnstone).

    ``mean`` and ``squares`` are noisy averages, shape ``(d,)``. ``surplus`` says of both by how many of its standard
    deviations the noise counts as longer than it is on average; where it is 0, all that is told of a coordinate is told
    by James and Stein.
    """
    width = len(mean)
    off_centre = _kept(mean, mean_sd, surplus[0])
    mean = mean * off_centre
    common = max(0.0, float(squares.mean())) + square_sd / math.sqrt(width)
    shrinkage = _kept(squares - squares.mean(), square_sd, surplus[1])
    apart = shrinkage * (squares - squares.mean())
    told_apart = shrinkage
    if surplus[1] > 0:
        sure = np.maximum(0.0, squares - squares.mean() - square_sd * math.sqrt(2.0 * math.log(2.0 * width)))
        sure = np.minimum(sure, tuning.most_apart * common)
        apart = np.where(sure > 0, np.maximum(apart, sure), apart)
        energy = float(sure @ sure)
        told_apart = max(shrinkage, energy / (energy + width * common**2)) if energy else shrinkage
    own = max(shrinkage * square_sd, tuning.relative_floor * float(np.clip(squares.sum(), 0.0, 1.0)), 1e-12)
    variances = common + apart - mean * mean
    floor = max(own, (1 - shrinkage) * tuning.shared_floor * common)
    variances = np.maximum(variances, floor) + tuning.noise_floor * shrinkage * square_sd
    return Scaling(variances, mean, max(told_apart, off_centre))


def _kept(vector: Floats, sd: float, surplus: float) -> float:
    """The share of a noisy vector's squared length that is not noise, on average or surely; at least 0."""
    length, width = float(vector @ vector), len(vector)
    noise = (width + surplus * math.sqrt(2 * width)) * sd * sd
    return max(0.0, 1.0 - noise / length) if length > 0 else 0.0
