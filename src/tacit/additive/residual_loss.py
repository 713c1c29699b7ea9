"""The losses of a numeric target: squared and quantile, as clipped residuals whose clip follows the data, paid for.

A clip costs bias, a wide one noise. A noisy histogram of the residuals, released now and then, says how large they
still are; from it follow the clip, the curvature (the share of rows that are not clipped) and the unit of the score.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tacit.additive.intercept import Intercept, NewtonIntercept
from tacit.additive.losses import OfScores
from tacit.additive.plan import Remainder
from tacit.additive.target_shapes import (
    LADDER,
    ONE,
    first_belief,
    residual_edges,
    residual_shares,
    spread_out,
    target_spread,
)
from tacit.additive.term import Directions, strongest_order
from tacit.additive.tuning import EFFECTS, INTERCEPTS, RESIDUALS, Residuals
from tacit.arrays import Floats, Ints
from tacit.binning.tuning import FEWEST_ROWS
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD, Measurement
from tacit.growing.softmax import SimulatedRows
from tacit.growing.tuning import Kernel
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.histogram import ResidualLevels, ScoreHistogram
from tacit.queries.margins import Scores
from tacit.queries.rules import MARGIN_BITS
from tacit.queries.score_rules import LARGEST_BOUND, TARGET_BITS, ResidualRule, TargetScale


def first_looks(numbers: Residuals) -> tuple[float, float, int]:
    """The shares of the first look and of each later one, and how many of those there may be."""
    return (
        numbers.first_look * numbers.looking / numbers.looks,
        numbers.looking / numbers.looks,
        numbers.looks - numbers.first_look,
    )


class ResidualLoss(OfScores):
    """Base of the two losses of a numeric target.

    Args:
        n_columns: how many columns share the noise.
        middle: the quantile of the targets at which the score begins.
        numbers: of looks at residuals, and of the clip.

    Attributes:
        bias: how far the smoothed loss's optimum is from the loss's own, by what was last seen of the residuals, in
            units of the score. Noise chooses how much the loss is smoothed, so that fits scatter by about as much.
    """

    n_scores = 1
    strength = 1.0
    jointly = True
    remainder = Remainder.AVERAGED
    growth: float | None = None

    def __init__(self, n_columns: int, middle: float = 0.5, numbers: Residuals = RESIDUALS) -> None:
        self._n_columns, self._middle, self.numbers = n_columns, middle, numbers
        self.share, self.log = numbers.looking, Scores(1)
        self.scale = TargetScale(0, 1 << TARGET_BITS)
        self._inside, self._scatter = numbers.usual_inside, 0.5
        self._total, self._pure, self._belief = 0.0, False, first_belief()
        self._first, self._each, self._left = first_looks(numbers)
        self.bias = 0.0
        self.rule = ResidualRule(self.scale, 0, -ONE, ONE)

    @property
    def slope(self) -> float:
        return self.numbers.usual_inside

    @property
    def bound(self) -> float:
        return max(-self.rule.low, self.rule.high) / ONE

    @property
    def intercept_rule(self) -> ResidualRule:
        return self.rule

    @property
    def ends(self) -> tuple[float, float] | None:
        """The least and the largest contribution of a row, where the intercept may be looked for in bracketing steps.

        A quantile is not.
        """
        return None

    @property
    def tree_rule(self) -> ResidualRule:
        """The rule with a channel that counts rows inside the clip."""
        return replace(self.rule, curvature=max(round(self.tree_curvature * ONE), 1))

    @property
    def tree_curvature(self) -> float:
        return self.numbers.tree_curvature * self.bound

    @property
    def scatter(self) -> float:
        return self._scatter / self._inside

    @property
    def least_scatter(self) -> float:
        """Half the variance that the targets began with: caution that helps where noise is large, and costs little."""
        return min(0.5, self.bound**2 / 4)

    @property
    def gain(self) -> float:
        return 1.0

    @property
    def tree_noise(self) -> float:
        """In proportion to the residuals: log-odds vary by 1.8 beside what scores say."""
        return self.numbers.tree_noise * math.sqrt(self._scatter)

    def most_variance(self, kernel: Kernel) -> float:
        """No more is left over than residuals vary by."""
        del kernel
        return self.numbers.most_left_over * self._scatter

    def curvature(self, rows: SimulatedRows) -> Floats:
        """The share of rows that are not clipped: the same for all."""
        del rows
        return np.array([[self._inside]])

    def directions(self, intercept: Floats, spread: float, rows: SimulatedRows | None) -> Directions:
        """One, in which all rows that are not clipped are curved alike."""
        del intercept, spread, rows
        matrix = np.array([[self._inside]])
        return Directions.of(matrix, EFFECTS.least_curvature, self.scatter, self.least_scatter, self.gain)

    def order(self, effect: Floats, counts: Floats) -> Ints:
        """By effects, rising or falling."""
        return strongest_order(effect, counts)

    def begin(self, budget: Budget, total: float, intercept_share: float) -> Intercept:
        """Finds the centre and the scale of the targets: the centre is where the score is 0."""
        del intercept_share
        self._plan_looks(budget, total)
        cells = 1 << self.numbers.start_bits
        edges = np.arange(1, cells, dtype=np.int64) << (TARGET_BITS - self.numbers.start_bits)
        query = ResidualLevels(TargetScale(0, 1 << TARGET_BITS), edges, Scores(1))
        release = budget.measure(query, self._first, Label(Stage.RESIDUALS, "histogram of the target"))
        centre, half = target_spread(release.value[:, 0], max(release.sd, LEAST_SD), total, self._middle)
        unit = max(half, self.numbers.least_scale) * 2**TARGET_BITS
        self.scale = TargetScale(round(centre * 2**TARGET_BITS), round(2.0 ** (MARGIN_BITS + TARGET_BITS) / unit))
        self._set_clip(2.0, self.numbers.usual_inside, 0.5)
        doubt = INTERCEPTS.pure_variance if self._pure else INTERCEPTS.variance
        return NewtonIntercept(np.zeros(1), total, doubt, lambda: self.ends)

    def refresh(self, budget: Budget, stage: str) -> None:
        """Releases a histogram of the residuals and sets the clip by it."""
        if not self._left:
            return
        self._left -= 1
        query = self._levels(self.log)
        release = budget.measure(query, self._each, Label(Stage.RESIDUALS, f"histogram of residuals, {stage}"))
        self._see(release, budget)

    def _see(self, release: Measurement, budget: Budget) -> None:
        """Sets the clip by a histogram of the residuals."""
        total = self._total if self._pure else None
        shares, self._belief = residual_shares(release.value[:, 0], max(release.sd, LEAST_SD), self._belief, total)
        self._choose(shares, budget, max(float(release.value.sum()), FEWEST_ROWS) if total is None else total)

    def level(self, budget: Budget, total: float) -> tuple[Floats, Floats]:
        """How far the constant is from right once all else is learned, and its standard deviation: not looked at."""
        del budget, total
        return np.zeros(1), np.zeros(1)

    def _plan_looks(self, budget: Budget, total: float) -> None:
        """Looks cost more where noise would hide the rows, and at delta 0 they are fewer.

        Under Gaussian noise that is the look at the targets alone: if their scale is wrong, so is all that is thought
        of the size of effects. Laplace noise goes with one over a share and not over its root, so that many small looks
        see nothing where a few would. And what rows are seen in all their cells together is mostly noise then: the
        released number is known better.
        """
        self._total, self._pure = total, budget.is_pure
        numbers, before = self.numbers, self._first + self._left * self._each
        if not self._pure:
            share = (numbers.seen * budget.sd(1.0) / total) ** 2
            self._first = max(self._first, min(share, numbers.most_seen))
            self.share += self._first + self._left * self._each - before
            return
        share = numbers.pure_seen * budget.sd(1.0) / (math.sqrt(2.0) * total)
        later = min(max(2.0 * share, self._left * self._each), numbers.pure_looking / 2)
        self._first = min(max(share, self._first), numbers.pure_looking / 2)
        self._each = min(max(share, self._each), later / 2)
        self._left = round(later / self._each)
        self.share += self._first + self._left * self._each - before

    def _levels(self, log: Scores) -> ResidualLevels:
        return ResidualLevels(self.scale, np.rint(residual_edges() * ONE).astype(np.int64), log)

    def _noise(self, budget: Budget, total: float) -> float:
        """Standard deviation that noise gives a prediction, for contributions of at most 1 that are never clipped.

        Four directions a column are thought to matter, and columns to share the allowance: Gaussian noise goes with the
        root of how many do, Laplace noise with their number.
        """
        sharing = self._n_columns + 1.0
        factor = sharing if budget.is_pure else math.sqrt(sharing)
        return 2.0 * math.sqrt(self._n_columns) * factor * budget.sd(1.0) / total

    def _set_clip(self, clip: float, inside: float, scatter: float) -> None:
        raise NotImplementedError

    def _choose(self, shares: Floats, budget: Budget, total: float) -> None:
        raise NotImplementedError


class SquaredLoss(ResidualLoss):
    """The squared loss, as residuals clipped where clipping costs as much as noise: the clip shrinks with them."""

    remainder = Remainder.AVERAGED

    def __init__(self, n_columns: int, numbers: Residuals = RESIDUALS) -> None:
        super().__init__(n_columns, numbers=numbers)
        self.share = numbers.looking + numbers.levelling

    @property
    def last_share(self) -> float:
        """What is left for the mean of the residuals at the end: its own share, and that of looks never taken."""
        return self.numbers.levelling + self._left * self._each

    @property
    def gain(self) -> float:
        """The curvature: a wider clip lets more rows count, under more noise."""
        return self._inside

    @property
    def ends(self) -> tuple[float, float] | None:
        """The clip, on either side."""
        return -self.bound, self.bound

    def level(self, budget: Budget, total: float) -> tuple[Floats, Floats]:
        """The mean of residuals under a clip as wide as costs little: a narrow one is biased for skewed targets.

        Where even the clip of the sweeps would leave more noise than that, nothing is looked at.
        """
        one = max(budget.sd(self.last_share), LEAST_SD) / total
        whole_range = 2**TARGET_BITS / self.scale.codes_per_unit
        clip = min(self.numbers.level_noise / one, whole_range, LARGEST_BOUND / ONE)
        if clip <= self.bound:
            return super().level(budget, total)
        rule = ResidualRule(self.scale, 0, -round(clip * ONE), round(clip * ONE))
        query = ScoreHistogram(OneCell(), rule, self.log)
        release = budget.measure(query, self.last_share, Label(Stage.RESIDUALS, "mean of the residuals"))
        noise = max(release.sd, LEAST_SD) / total
        mean = float(release.value.item()) / total
        variance = max(mean**2 - noise**2, self.numbers.likely_level**2)
        shrinkage = variance / (variance + noise**2)
        return np.array([shrinkage * mean]), np.array([shrinkage * noise])

    def _set_clip(self, clip: float, inside: float, scatter: float) -> None:
        bound = min(max(round(clip * ONE), 64), LARGEST_BOUND)
        self.rule = ResidualRule(self.scale, 0, -bound, bound)
        self._inside, self._scatter = inside, scatter

    def _choose(self, shares: Floats, budget: Budget, total: float) -> None:
        self._choose_clip(*spread_out(shares), self._noise(budget, total))

    def _choose_clip(self, residuals: Floats, weights: Floats, noise: float, clips: Floats = LADDER) -> None:
        best, clip = math.inf, float(clips[-1])
        for candidate in clips:
            over = weights @ np.maximum(residuals - candidate, 0.0)
            under = weights @ np.maximum(-residuals - candidate, 0.0)
            inside = float(weights @ (np.abs(residuals) < candidate))
            if inside < self.numbers.least_inside:
                continue
            cost = (candidate * noise / inside) ** 2 + (abs(over - under) + self.numbers.skew * (over + under)) ** 2
            if cost < best:
                best, clip = cost, float(candidate)
        inside = float(weights @ (np.abs(residuals) < clip))
        scatter = float(weights @ np.minimum(np.abs(residuals), clip) ** 2)
        self._set_clip(clip, min(max(inside, self.numbers.least_inside), 1.0), max(scatter, 1e-4))


class QuantileLoss(ResidualLoss):
    """The quantile (pinball) loss, smoothed over a window that narrows as the model comes to its end.

    A wide window has another optimum than a narrow one, so releases are not brought to one gain: those under wide
    windows, which are noisier, count less than their curvature would have them. They are also biased, which the
    intercept alone corrects too slowly: columns keep their say about the constant. Few rows are within a window, so
    that a leaf's sum says little beside its noise: trees are Newton's, each as sure as earlier ones prove useful.

    Args:
        n_columns: how many columns share the noise.
        quantile: in (0, 1).
        numbers: of looks at residuals, and of the window.
    """

    jointly = False
    remainder = Remainder.NEWTON

    def __init__(self, n_columns: int, quantile: float, numbers: Residuals = RESIDUALS) -> None:
        self.quantile = quantile
        super().__init__(n_columns, quantile, numbers)

    def _set_clip(self, clip: float, inside: float, scatter: float) -> None:
        q, window = self.quantile, clip * ONE / 2
        low, high = -max(round(2 * (1 - q) * window), 32), max(round(2 * q * window), 32)
        self.rule = ResidualRule(self.scale, round((2 * q - 1) * window), low, high)
        self._inside, self._scatter = inside, scatter

    def _choose(self, shares: Floats, budget: Budget, total: float) -> None:
        residuals, weights = spread_out(shares)
        q, size = self.quantile, max(float(weights @ np.abs(residuals)), LADDER[0])
        centred = residuals - np.interp(q, np.cumsum(weights), residuals)
        noise, best, best_share = self._noise(budget, total), math.inf, self.numbers.windows[-1]
        for share in self.numbers.windows:
            bias, inside = _smoothed(centred, weights, q, share * size, self.numbers.least_within)
            cost = bias**2 + (noise * 2 * max(q, 1 - q) * share * size / inside) ** 2
            if cost < best:
                best, best_share, self.bias = cost, share, abs(bias)
        _, inside = _smoothed(residuals, weights, q, best_share * size, self.numbers.least_within)
        window = best_share * size
        contribution = np.clip(residuals + (2 * q - 1) * window, -2 * (1 - q) * window, 2 * q * window)
        self._set_clip(2 * window, inside, max(float(weights @ contribution**2), 1e-5))


def _smoothed(residuals: Floats, weights: Floats, quantile: float, window: float, least: float) -> tuple[float, float]:
    """How far the smoothed loss's optimum is from 0, to first order, and the share of rows within the window."""
    shifted = residuals + (2 * quantile - 1) * window
    low, high = -2 * (1 - quantile) * window, 2 * quantile * window
    inside = max(float(weights @ ((shifted > low) & (shifted < high))), least)
    return float(weights @ np.clip(shifted, low, high)) / inside, inside
