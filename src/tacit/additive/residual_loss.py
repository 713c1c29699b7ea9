"""The losses of a numeric target: squared and quantile, as clipped residuals whose clip follows the data, paid for.

A clip costs bias, a wide one noise. A noisy histogram of the residuals, released now and then, says how large they
still are; from it follow the clip, the curvature (the share of rows that are not clipped) and the unit of the score.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.additive.imagined import ImaginedRows
from tacit.additive.intercept import INTERCEPT_VARIANCE
from tacit.additive.residual_shape import LADDER, first_belief, residual_edges, residual_shares, spread_out
from tacit.arrays import Floats
from tacit.binning.density import smooth_histograms
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD
from tacit.queries.cells import OneCell
from tacit.queries.histogram import ResidualLevels, ScoreHistogram
from tacit.queries.margins import Scores
from tacit.queries.rules import MARGIN_BITS
from tacit.queries.score_rules import LARGEST_BOUND, TARGET_BITS, ResidualRule, TargetScale

ONE = 1 << MARGIN_BITS
START_CELLS = 64
LEAST_SCALE = 1 / 256
"""The unit of the score is at least this part of the declared range."""

LOOKS, FIRST_LOOK = 12, 4
"""What looking at residuals may cost is divided by the first; the first look, at the targets, counts for the second."""

WINDOWS = (0.15, 0.2, 0.3, 0.45, 0.65, 1.0)
"""Half-widths of the window of the quantile loss, relative to the mean size of the residuals."""

SKEW = 0.25
"""How much of what is clipped off in all counts as bias, beside what is clipped off on one side only."""


LOOKING, LEVELLING = 0.06, 0.04
"""Shares of the budget: of all looks at residuals, and of one at their mean when all else is learned."""

LEVEL_NOISE, LIKELY_LEVEL = 0.05, 0.05
"""The standard deviation of noise that this mean may have, in units of the score, and how large it is thought to be."""

TREE_NOISE = 0.45
"""The noise that trees which are heard together may leave in a score, relative to its residuals, and to the same of
log-odds."""

MOST_LEFT_OVER = 0.2
"""Such trees never think that more of the residuals' variance is left for them."""

LEAST_INSIDE = 0.3
"""The squared loss's clip leaves this share of the rows unclipped, or more: what lets fewer speak costs more than its
noise saves, and noise in the histogram would make it look cheap."""


class ResidualLoss:
    """Base of the two losses of a numeric target.

    Args:
        n_columns: how many columns share the noise.
        middle: the quantile of the targets at which the score begins.

    Attributes:
        bias: how far the smoothed loss's optimum is from the loss's own, by what was last seen of the residuals, in
            units of the score. Noise chooses how much the loss is smoothed, so that fits scatter by about as much.
    """

    n_scores = 1
    share = LOOKING
    strength = 1.0
    slope = 0.9
    floor = 0.02
    jointly = True
    together = True

    def __init__(self, n_columns: int, middle: float = 0.5) -> None:
        self._n_columns, self._middle = n_columns, middle
        self.scale = TargetScale(0, 1 << TARGET_BITS)
        self._inside, self._scatter = 0.9, 0.5
        self._looks, self._belief = FIRST_LOOK, first_belief()
        self.bias = 0.0
        self.rule = ResidualRule(self.scale, 0, -ONE, ONE)

    @property
    def bound(self) -> float:
        return max(-self.rule.low, self.rule.high) / ONE

    @property
    def ends(self) -> tuple[float, float] | None:
        """See :class:`~tacit.additive.score_losses.Loss`; a quantile is not looked for in strides."""
        return None

    @property
    def tree_rule(self) -> ResidualRule:
        """The rule with a channel that counts rows inside the clip."""
        rule = self.rule
        return ResidualRule(rule.scale, rule.shift, rule.low, rule.high, max(round(self.tree_curvature * ONE), 1))

    @property
    def tree_curvature(self) -> float:
        return 0.3 * self.bound

    @property
    def scatter(self) -> float:
        return self._scatter / self._inside

    @property
    def least_scatter(self) -> float:
        """Half the variance that the targets began with: caution that helps where noise is loud, and costs little."""
        return min(0.5, 0.25 * self.bound**2)

    @property
    def gain(self) -> float:
        return 1.0

    @property
    def tree_noise(self) -> float:
        """In proportion to the residuals: log-odds vary by 1.8 beside what scores say."""
        return TREE_NOISE * math.sqrt(self._scatter)

    @property
    def most_variance(self) -> float:
        """No more is left over than residuals vary by."""
        return MOST_LEFT_OVER * self._scatter

    def curvature(self, rows: ImaginedRows) -> Floats:
        """The share of rows that are not clipped: the same for all."""
        del rows
        return np.array([[self._inside]])

    def begin(self, budget: Budget, total: float) -> tuple[Floats, float]:
        """Finds the centre and the scale of the targets: the centre is where the score is 0."""
        edges = np.arange(1, START_CELLS, dtype=np.int64) << (TARGET_BITS - 6)
        query = ResidualLevels(TargetScale(0, 1 << TARGET_BITS), edges, Scores(1))
        release = budget.measure(query, FIRST_LOOK * LOOKING / LOOKS, "histogram of the target")
        masses = smooth_histograms(release.value[None, :, 0], max(release.sd, LEAST_SD), np.array([total]))[0] / total
        upto = np.concatenate([[0.0], np.cumsum(masses)]) / masses.sum()
        places = np.arange(START_CELLS + 1) / START_CELLS
        low, high, centre = (float(np.interp(share, upto, places)) for share in (0.16, 0.84, self._middle))
        unit = max((high - low) / 2, LEAST_SCALE) * 2**TARGET_BITS
        self.scale = TargetScale(round(centre * 2**TARGET_BITS), round(2.0 ** (MARGIN_BITS + TARGET_BITS) / unit))
        self._set_clip(2.0, 0.9, 0.5)
        return np.zeros(1), INTERCEPT_VARIANCE

    def refresh(self, budget: Budget, scores: Scores, stage: str) -> None:
        """Releases a histogram of the residuals and sets the clip by it."""
        if self._looks >= LOOKS:
            return
        self._looks += 1
        edges = np.rint(residual_edges() * ONE).astype(np.int64)
        query = ResidualLevels(self.scale, edges, scores)
        release = budget.measure(query, LOOKING / LOOKS, f"histogram of residuals, {stage}")
        shares, self._belief = residual_shares(release.value[:, 0], max(release.sd, LEAST_SD), self._belief)
        total = max(float(release.value.sum()), 30.0)
        self._choose(shares, budget, total)

    def level(self, budget: Budget, scores: Scores, total: float) -> tuple[Floats, Floats]:
        """How far the constant is from right once all else is learned, and its standard deviation: not looked at."""
        del budget, scores, total
        return np.zeros(1), np.zeros(1)

    def _noise(self, budget: Budget, total: float) -> float:
        """Standard deviation that noise gives a prediction, for contributions of at most 1 that are never clipped.

        Four directions a column are thought to matter, and columns to share the allowance: Gaussian noise goes with the
        root of how many do, Laplace noise with their number.
        """
        sharing = self._n_columns + 1.0
        louder = sharing if budget.is_pure else math.sqrt(sharing)
        return 2.0 * math.sqrt(self._n_columns) * louder * budget.sd(1.0) / total

    def _set_clip(self, clip: float, inside: float, scatter: float) -> None:
        raise NotImplementedError

    def _choose(self, shares: Floats, budget: Budget, total: float) -> None:
        raise NotImplementedError


class SquaredLoss(ResidualLoss):
    """The squared loss, as residuals clipped where clipping costs as much as noise: the clip shrinks with them."""

    share = LOOKING + LEVELLING

    @property
    def gain(self) -> float:
        """The curvature: a wider clip lets more rows speak, under more noise."""
        return self._inside

    @property
    def ends(self) -> tuple[float, float]:
        """The clip, on either side."""
        return -self.bound, self.bound

    def level(self, budget: Budget, scores: Scores, total: float) -> tuple[Floats, Floats]:
        """The mean of residuals under a clip as wide as costs little: where targets are skewed, a narrow one lies.

        Where even the clip of the sweeps would leave more noise than that, nothing is looked at.
        """
        one, whole_range = max(budget.sd(LEVELLING), LEAST_SD) / total, 2**TARGET_BITS / self.scale.codes_per_unit
        clip = min(LEVEL_NOISE / one, whole_range, LARGEST_BOUND / ONE)
        if clip <= self.bound:
            return super().level(budget, scores, total)
        rule = ResidualRule(self.scale, 0, -round(clip * ONE), round(clip * ONE))
        query = ScoreHistogram(OneCell(), rule, scores)
        release = budget.measure(query, LEVELLING, "mean of the residuals")
        noise = max(release.sd, LEAST_SD) / total
        found = float(release.value.item()) / total
        variance = max(found**2 - noise**2, LIKELY_LEVEL**2)
        kept = variance / (variance + noise**2)
        return np.array([kept * found]), np.array([kept * noise])

    def _set_clip(self, clip: float, inside: float, scatter: float) -> None:
        bound = min(max(round(clip * ONE), 64), LARGEST_BOUND)
        self.rule = ResidualRule(self.scale, 0, -bound, bound)
        self._inside, self._scatter = inside, scatter

    def _choose(self, shares: Floats, budget: Budget, total: float) -> None:
        residuals, weights = spread_out(shares)
        noise = self._noise(budget, total)
        best, clip = math.inf, float(LADDER[-1])
        for candidate in LADDER:
            over = weights @ np.maximum(residuals - candidate, 0.0)
            under = weights @ np.maximum(-residuals - candidate, 0.0)
            inside = float(weights @ (np.abs(residuals) < candidate))
            if inside < LEAST_INSIDE:
                continue
            cost = (candidate * noise / inside) ** 2 + (abs(over - under) + SKEW * (over + under)) ** 2
            if cost < best:
                best, clip = cost, float(candidate)
        inside = float(weights @ (np.abs(residuals) < clip))
        scatter = float(weights @ np.minimum(np.abs(residuals), clip) ** 2)
        self._set_clip(clip, min(max(inside, LEAST_INSIDE), 1.0), max(scatter, 1e-4))


class QuantileLoss(ResidualLoss):
    """The quantile (pinball) loss, smoothed over a window that narrows as the model comes to its end.

    A wide window has another optimum than a narrow one, so releases are not brought to one gain: those under wide
    windows, which are noisier, count less than their curvature would have them. They are also biased, which the
    intercept alone corrects too slowly: columns keep their say about the constant. Few rows are within a window, so
    that a leaf's sum says little beside its noise: trees are judged one by one, by what has been left over so far.

    Args:
        n_columns: how many columns share the noise.
        quantile: in (0, 1).
    """

    jointly = False
    together = False

    def __init__(self, n_columns: int, quantile: float) -> None:
        self.quantile = quantile
        super().__init__(n_columns, quantile)

    def _set_clip(self, clip: float, inside: float, scatter: float) -> None:
        q, window = self.quantile, clip * ONE / 2
        low, high = -max(round(2 * (1 - q) * window), 32), max(round(2 * q * window), 32)
        self.rule = ResidualRule(self.scale, round((2 * q - 1) * window), low, high)
        self._inside, self._scatter = inside, scatter

    def _choose(self, shares: Floats, budget: Budget, total: float) -> None:
        residuals, weights = spread_out(shares)
        q, size = self.quantile, max(float(weights @ np.abs(residuals)), LADDER[0])
        centred = residuals - np.interp(q, np.cumsum(weights), residuals)
        noise, best, chosen = self._noise(budget, total), math.inf, WINDOWS[-1]
        for share in WINDOWS:
            bias, inside = _smoothed(centred, weights, q, share * size)
            cost = bias**2 + (noise * 2 * max(q, 1 - q) * share * size / inside) ** 2
            if cost < best:
                best, chosen, self.bias = cost, share, abs(bias)
        _, inside = _smoothed(residuals, weights, q, chosen * size)
        window = chosen * size
        contribution = np.clip(residuals + (2 * q - 1) * window, -2 * (1 - q) * window, 2 * q * window)
        self._set_clip(2 * window, inside, max(float(weights @ contribution**2), 1e-5))


def _smoothed(residuals: Floats, weights: Floats, quantile: float, window: float) -> tuple[float, float]:
    """How far the smoothed loss's optimum is from 0, to first order, and the share of rows within the window."""
    shifted = residuals + (2 * quantile - 1) * window
    low, high = -2 * (1 - quantile) * window, 2 * quantile * window
    inside = max(float(weights @ ((shifted > low) & (shifted < high))), 0.02)
    return float(weights @ np.clip(shifted, low, high)) / inside, inside
