"""The losses of counts and costs: Poisson, Gamma and Tweedie deviance under a log link, as clipped residuals.

A score ``F`` is the logarithm of a mean. A row adds ``(t - mu) exp((1 - p) F)``, clipped
(:class:`~tacit.queries.log_link.LogLink`): the score function of Tweedie's family of power ``p``. On average it is 0 at
the mean, whatever law the target follows, as far as nothing is clipped. Where the clip lies follows from a noisy
histogram of the target and, of weighted rows or in little noise, from histograms of these residuals, as for the
squared loss.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tacit.additive.intercept import Intercept
from tacit.additive.log_link_intercept import LogLinkIntercept
from tacit.additive.losses import Uses
from tacit.additive.plan import Rest
from tacit.additive.residual_loss import SquaredLoss
from tacit.additive.residual_shapes import LADDER, ONE, spread_out
from tacit.additive.target_shapes import part_values, target_shares
from tacit.additive.term import Directions
from tacit.additive.tuning import EFFECTS, LINKED, RESIDUALS, Linked, Residuals
from tacit.arrays import Floats, Ints
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD
from tacit.encoding.labels import NumericLabelIndex
from tacit.growing.simulated_rows import SimulatedRows
from tacit.growing.tuning import Kernel
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.histogram import ResidualLevels, ScoreHistogram
from tacit.queries.log_link import LogLink
from tacit.queries.margins import Margins, Scores
from tacit.queries.rules import MARGIN_BITS
from tacit.queries.score_rules import LARGEST_BOUND, LOWEST_OFFSET, TARGET_BITS, ResidualRule, TargetScale


class LogLinkLoss(SquaredLoss):
    """Tweedie's deviance of power ``p`` under a log link.

    The unit of residuals is the standard deviation of the targets, as the first histogram shows it, and ``m`` the mean
    in that unit. A row's curvature is ``m exp((2 - p) F)``, and its residual has a variance in proportion: bins whose
    means are larger count for more (:meth:`growth`).

    Args:
        n_columns: how many columns share the noise.
        power: ``p``, from 1 (Poisson) to 2 (Gamma).
        label: what is public of the target: its bounds.
        numbers: of looks at residuals, and of the clip.
    """

    rest = Rest.AVERAGED

    linked: Linked = LINKED

    def __init__(self, n_columns: int, power: float, label: NumericLabelIndex, numbers: Residuals = RESIDUALS) -> None:
        self.link = LogLink(power, ONE)
        self.growth = 2.0 - power
        self.uses = Uses(growth=self.growth, weights_first=True)
        self._level = 1.0
        self._seen = np.zeros(1), np.ones(1)
        super().__init__(n_columns, numbers)
        per_code = (label.upper - label.lower) / label.unit
        self.zero = min(max(round(-label.lower / per_code), LOWEST_OFFSET), 1 << TARGET_BITS)
        self.scale = TargetScale(self.zero, 1 << TARGET_BITS)

    @property
    def mean(self) -> float:
        """``m``: the mean where the score is 0, in units of residuals."""
        return self.link.mean / ONE

    @property
    def per_row(self) -> float:
        """The curvature of a row on average."""
        return max(self.mean * self._level * self._inside, EFFECTS.least_curvature)

    @property
    def slope(self) -> float:
        return self.per_row

    @property
    def gain(self) -> float:
        return self.per_row

    @property
    def ends(self) -> None:
        """The intercept is not looked for in bracketing steps: one of 4 is a factor of 55."""
        return None

    @property
    def scatter(self) -> float:
        return self._scatter / self.per_row

    @property
    def tree_rule(self) -> ResidualRule:
        return replace(self.rule, curvature=max(round(0.3 * self.bound * ONE), 1))

    @property
    def tree_curvature(self) -> float:
        return 0.3 * self.bound / self.link.largest

    @property
    def tree_noise(self) -> float:
        """In proportion to the residuals, in units of the score."""
        return min(self.numbers.tree_noise * math.sqrt(self._scatter) / self.per_row, self.linked.most_noise)

    def most_variance(self, kernel: Kernel) -> float:
        return min(self.numbers.most_left_over * self._scatter / self.per_row**2, kernel.most_variance)

    def curvature(self, rows: SimulatedRows) -> Floats:
        """The mean of ``m exp((2 - p) F)`` over simulated rows, times the share of rows that are not clipped."""
        self._level = float(np.exp(self.growth * np.clip(rows.scores[:, 0], -8.0, 8.0)).mean())
        return np.array([[self.per_row]])

    def directions(self, intercept: Floats, spread: float, rows: SimulatedRows | None) -> Directions:
        del intercept, spread
        assert rows is not None
        return Directions.of(self.curvature(rows), EFFECTS.least_curvature, self.scatter, self.least_scatter, self.gain)

    def begin(self, budget: Budget, total: float, intercept_share: float) -> Intercept:
        """Finds mean and scale of the targets; the mean is where the score is 0.

        What was seen of the targets says where to clip, too. Residuals, which shrink as ratios are learned, are looked
        at where noise does not hide their tail, and where rows have weights, of which targets say nothing.
        """
        del intercept_share
        self._plan_looks(budget, total)
        edges = self.first_edges()
        query = ResidualLevels(TargetScale(self.zero, 1 << TARGET_BITS), edges, Scores(1))
        release = budget.measure(query, self._first, Label(Stage.RESIDUALS, "histogram of the target"))
        shares = target_shares(release.value[:, 0], max(release.sd, LEAST_SD), total)
        targets = part_values(len(edges)) * float((1 << TARGET_BITS) - self.zero)
        mean = max(float(shares @ targets), 1.0)
        spread = math.sqrt(float(shares @ (targets - mean) ** 2))
        unit = max(
            min(spread, mean / self.linked.least_ratio), mean / self.linked.most_ratio, 2.0 ** (TARGET_BITS - 10)
        )
        self.scale = TargetScale(self.zero, round(2.0 ** (MARGIN_BITS + TARGET_BITS) / unit))
        self.link = LogLink(self.link.power, max(round(min(mean / unit, self.linked.most_ratio) * ONE), 1))
        self._seen = targets / unit - self.mean, shares
        self._choose_clip(*self._seen, self._noise(budget, total))
        hidden = total < self.linked.looks_from * budget.sd(self._each)
        if hidden and not budget.curator.weighs_rows:
            self.share, self._left = self.share - self._left * self._each, 0
        return LogLinkIntercept(total, self.growth)

    def first_edges(self) -> Ints:
        """Edges of the histogram of the target, in codes from the target of 0; public."""
        top = (1 << TARGET_BITS) - self.zero
        edges = top * 2.0 ** np.arange(-self.linked.octaves, 0)
        return np.unique(np.maximum(np.rint(edges), 1).astype(np.int64))

    def level(self, budget: Budget, log: Margins | Scores, total: float) -> tuple[Floats, Floats]:
        """The mean of residuals under a clip as wide as costs little, as a change of the logarithm of all means."""
        one, everybody = max(budget.sd(self.numbers.levelling), LEAST_SD) / total, self.mean * self._level
        clip = self._wide_clip(one)
        rule = ResidualRule(self.scale, 0, -round(clip * ONE), round(clip * ONE), link=self.link, weighted_first=True)
        assert isinstance(log, Scores)
        query = ScoreHistogram(OneCell(), rule, log)
        release = budget.measure(query, self.numbers.levelling, Label(Stage.RESIDUALS, "mean of the residuals"))
        noise = max(release.sd, LEAST_SD) / total / everybody
        found = float(release.value.item()) / total / everybody
        likely = self.numbers.likely_level**2 + (self._cut_off(self.bound) / everybody) ** 2
        variance = max(found**2 - noise**2, likely)
        kept = variance / (variance + noise**2)
        return np.array([math.log1p(max(kept * found, -0.9))]), np.array([kept * noise])

    def _wide_clip(self, one: float) -> float:
        """At least twice the clip of the sweeps: where noise costs as much as what is still cut off.

        Args:
            one: the noise of the mean of what is clipped at 1.
        """
        clips = LADDER[2 * self.bound <= LADDER]
        if not len(clips):
            return min(2 * self.bound, LARGEST_BOUND / ONE)
        costs = [(clip * one) ** 2 + self._cut_off(float(clip)) ** 2 for clip in clips]
        return float(clips[int(np.argmin(costs))])

    def _choose(self, shares: Floats, budget: Budget, total: float) -> None:
        super()._choose(shares, budget, total)
        self._seen = spread_out(shares)

    def _cut_off(self, clip: float) -> float:
        """What a clip takes from the mean residual, by the last histogram."""
        residuals, weights = self._seen
        return abs(float(weights @ (residuals - np.clip(residuals, -clip, clip))))

    def _levels(self, edges: Ints, log: Scores) -> ResidualLevels:
        return ResidualLevels(self.scale, edges, log, link=self.link)

    def _set_clip(self, clip: float, inside: float, scatter: float) -> None:
        bound = min(max(round(clip * ONE), 64), LARGEST_BOUND)
        self.rule = ResidualRule(self.scale, 0, -bound, bound, link=self.link, weighted_first=True)
        self._inside, self._scatter = inside, scatter
