"""The losses of counts and costs: Poisson, Gamma and Tweedie deviance under a log link, as clipped residuals.

A score ``F`` is the logarithm of a mean. A row adds ``(t - mu) exp((1 - p) F)``, clipped
(:class:`~tacit.queries.score_rules.LogLink`): the score function of Tweedie's family of power ``p``. On average it is 0
at the mean, whatever law the target follows, as far as nothing is clipped. Where the clip lies follows from a noisy
histogram of the target and, in little noise, from histograms of these residuals, as for the squared loss.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np

from tacit.additive.intercept import Intercept
from tacit.additive.plan import Remainder
from tacit.additive.residual_loss import SquaredLoss
from tacit.additive.target_shapes import ONE, PARTS, part_values, target_shares
from tacit.additive.term import Directions
from tacit.additive.tuning import EFFECTS, INTERCEPTS, LOG_LINKED, RESIDUALS, TARGET_SHAPES, LogLinked, Residuals
from tacit.arrays import Floats, Ints
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD, Measurement
from tacit.encoding.labels import NumericLabelIndex
from tacit.growing.softmax import SimulatedRows
from tacit.growing.tuning import Kernel
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.histogram import ResidualLevels, ScoreHistogram
from tacit.queries.margins import Scores
from tacit.queries.rules import MARGIN_BITS
from tacit.queries.score_rules import LARGEST_BOUND, LOWEST_OFFSET, TARGET_BITS, LogLink, ResidualRule, TargetScale


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


FINEST_TOP = 1024.0
"""Not tuned, of the arithmetic: no unit of residuals is a smaller part of the upper bound (:class:`TargetScale`)."""

NOTHING = LogLink(1.0, 1)  # A mean of nearly 0: residuals are the targets


class LogLinkLoss(SquaredLoss):
    """Tweedie's deviance of power ``p`` under a log link.

    The unit of residuals is the standard deviation of the targets, as the first histogram shows it, and ``m`` the mean
    in that unit. A row's curvature is ``m exp((2 - p) F)``, and its residual has a variance in proportion: bins whose
    means are larger count for more (``growth``).

    Args:
        n_columns: how many columns share the noise.
        power: ``p``, from 1 (Poisson) to 2 (Gamma).
        label: what is public of the target: its bounds.
        numbers: of looks at residuals, and of the clip.
    """

    remainder = Remainder.AVERAGED

    linked: LogLinked = LOG_LINKED
    clips: ClassVar[Floats] = 2.0 ** (np.arange(-12, 13) / 2)

    def __init__(self, n_columns: int, power: float, label: NumericLabelIndex, numbers: Residuals = RESIDUALS) -> None:
        self.power, self.link = power, LogLink(power, ONE)
        self.growth: float = 2.0 - power
        self._level, self._ratio = 1.0, 1.0
        self._seen = self._began = np.zeros(1), np.ones(1)
        super().__init__(n_columns, numbers)
        per_code = (label.upper - label.lower) / label.unit
        self.zero = min(max(round(-label.lower / per_code), LOWEST_OFFSET), 1 << TARGET_BITS)
        top = (1 << TARGET_BITS) - min(self.zero, 0)  # of found bounds that reach below 0: all that lies between them
        self._top, self._per_weight = FINEST_TOP, 1.0
        self.scale = self._whole = TargetScale(self.zero, round(FINEST_TOP * 2.0 ** (MARGIN_BITS + TARGET_BITS) / top))

    @property
    def mean(self) -> float:
        """``m``: the mean where the score is 0, in units of residuals."""
        return self.link.mean / ONE

    @property
    def per_row(self) -> float:
        """The curvature of a row on average."""
        return self.mean * max(self._level * self._inside, EFFECTS.least_curvature)

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
        return replace(self.rule, curvature=max(round(self.numbers.tree_curvature * self.bound * ONE), 1))

    @property
    def tree_curvature(self) -> float:
        return self.numbers.tree_curvature * self.bound / self.link.largest

    @property
    def tree_noise(self) -> float:
        """In proportion to the residuals, in units of the score."""
        return min(self.numbers.tree_noise * math.sqrt(self._scatter) / self.per_row, self.linked.most_noise)

    def most_variance(self, kernel: Kernel) -> float:
        return min(self.numbers.most_left_over * self._scatter / self.per_row**2, kernel.most_variance)

    def curvature(self, rows: SimulatedRows) -> Floats:
        """The mean of ``m exp((2 - p) F)`` over simulated rows, times the share of rows that are not clipped."""
        scores = np.clip(rows.scores[:, 0], -8.0, 8.0)
        self._level, self._ratio = (float(np.exp(growth * scores).mean()) for growth in (self.growth, 1.0))
        return np.array([[self.per_row]])

    def directions(self, intercept: Floats, spread: float, rows: SimulatedRows | None) -> Directions:
        del intercept, spread
        assert rows is not None
        return Directions.of(self.curvature(rows), 0.0, self.scatter, self.least_scatter, self.gain)

    def begin(self, budget: Budget, total: float, intercept_share: float) -> Intercept:
        """Finds mean and scale of the targets; the mean is where the score is 0.

        What was seen of the targets says where to clip, too. Residuals, which shrink as ratios are learned, are looked
        at where noise does not hide their tail. Rows' weights are in what is looked at, as they are in what is clipped.
        """
        del intercept_share
        self._plan_looks(budget, total)
        counts, variance = self._count_targets(budget, self._first, "histogram of the target")
        self._begin_with(counts, math.sqrt(variance), budget, total)
        if self._seen[1][1:].sum() * total < self.linked.looks_from * budget.sd(self._each):
            again, more = self._count_targets(budget, self._left * self._each, "histogram of the target, again")
            self._left, precise = 0, 1 / variance + 1 / more
            self._begin_with((counts / variance + again / more) / precise, precise**-0.5, budget, total)
        return LogLinkIntercept(total, self.growth)

    def _count_targets(self, budget: Budget, share: float, name: str) -> tuple[Floats, float]:
        """Noisy counts of the targets by octave, and the variance of their noise."""
        edges = self._edges(FINEST_TOP, self.linked.first_octaves)
        query = ResidualLevels(self._whole, edges, Scores(1), link=NOTHING, weighted_first=True)
        release = budget.measure(query, share, Label(Stage.RESIDUALS, name))
        return release.value[:, 0], max(release.sd, LEAST_SD) ** 2

    def _begin_with(self, counts: Floats, sd: float, budget: Budget, total: float) -> None:
        """Sets the mean, the unit and the clip by counts of the targets."""
        rows = max(total, float(counts.sum())) if budget.curator.weighs_rows else total
        self._per_weight = rows / total
        shares, targets = target_shares(counts, sd, rows), part_values(self.linked.first_octaves)
        mean = min(max(self._per_weight * float(shares @ targets), 2.0**-TARGET_BITS), 1.0)
        spread = math.sqrt(float(shares @ (targets - shares @ targets) ** 2))
        unit = max(min(spread, mean / self.linked.least_ratio), mean / self.linked.most_ratio, 1 / FINEST_TOP)
        self._top = 1.0 / unit
        self.scale = TargetScale(self.zero, max(round(self._whole.numerator / (FINEST_TOP * unit)), 1))
        self.link = LogLink(self.power, max(round(min(mean / unit, self.linked.most_ratio) * ONE), 1))
        self._sees(targets / unit - self.mean / self._per_weight, shares, budget)
        self._began = self._seen

    def _edges(self, top: float, octaves: int) -> Ints:
        """Edges of octaves below the upper bound, which is ``top``, in fixed point."""
        edges: Ints = np.rint(top * ONE * 2.0 ** np.arange(-octaves, 0)).astype(np.int64)
        return edges

    def level(self, budget: Budget, total: float) -> tuple[Floats, Floats]:
        """The mean of residuals under a clip as wide as costs little, as a change of the logarithm of all means.

        It is thought about as much as the clip of the sweeps has cut off, unless it is surely more or less.
        """
        one, everybody = max(budget.sd(self.last_share), LEAST_SD) / total, self.mean * self._ratio
        clip = self._wide_clip(one)
        high, link = round(clip * ONE), replace(self.link, power=1.0)
        rule = ResidualRule(self.scale, 0, -high, high, link=link, weighted_first=True)
        query = ScoreHistogram(OneCell(), rule, self.log)
        release = budget.measure(query, self.last_share, Label(Stage.RESIDUALS, "mean of the residuals"))
        noise = max(release.sd, LEAST_SD) / total / everybody
        mean = float(release.value.item()) / total / everybody
        expected = min(self._cut_off(self.bound) / (self.mean * self._level), 1.0)
        surely = (mean - expected) ** 2 - (self.linked.surprise * noise) ** 2
        variance = max(surely, self.numbers.likely_level**2 + expected**2)
        shrinkage = variance / (variance + noise**2)
        change = expected + shrinkage * (mean - expected)
        return np.array([math.log1p(max(change, -self.linked.largest_fall))]), np.array([shrinkage * noise])

    def _wide_clip(self, one: float) -> float:
        """At least twice the clip of the sweeps: where noise costs as much as what is still cut off.

        ``one`` is the noise of the mean of what is clipped at 1.
        """
        clips = self.clips[2 * self.bound <= self.clips]
        if not len(clips):
            return min(2 * self.bound, LARGEST_BOUND / ONE)
        residuals, weights = self._began
        costs = [(clip * one) ** 2 + float(weights @ np.maximum(residuals - clip, 0.0)) ** 2 for clip in clips]
        return float(clips[int(np.argmin(costs))])

    def _see(self, release: Measurement, budget: Budget) -> None:
        """Reads the residuals above 0 as targets are read, and of those below, which a mean bounds, what is sure."""
        counts, octaves, sd = release.value[:, 0], self.linked.octaves, max(release.sd, LEAST_SD)
        rows, at_most = self._per_weight * self._total, octaves + 1
        each = np.append(math.sqrt(at_most) * sd, np.full(octaves, sd))
        above = target_shares(np.append(counts[:at_most].sum(), counts[at_most:]), each, rows)[1:]
        below = np.repeat(np.maximum(counts[:octaves] - TARGET_SHAPES.linked_sure * sd, 0.0) / (rows * PARTS), PARTS)
        values = part_values(octaves)[1:] * self._top
        among = np.concatenate([below, [max(1.0 - above.sum() - below.sum(), 0.0)], above])
        self._sees(np.concatenate([-values[::-1], [0.0], values]), among, budget)

    def _sees(self, residuals: Floats, shares: Floats, budget: Budget) -> None:
        """Sets the clip; noise and scatter are those of a unit of weight, of which a row may have less.

        Most of what a clip cuts off is lost by all rows alike, and comes back at the end (:meth:`level`), but where
        noise is large, most of the total would be cut off if it were left to noise.
        """
        self._seen = residuals, self._per_weight * shares
        noise = self._noise(budget, self._total) / self._per_weight
        above = np.maximum(residuals, 0.0)
        masses = np.array([shares @ np.minimum(above, clip) for clip in self.clips])
        clips = self.clips[masses >= self.linked.least_kept * (shares @ above)]
        self._choose_clip(residuals, shares, noise / self.linked.lasting, clips if len(clips) else self.clips[-1:])
        self._scatter *= self._per_weight

    def _cut_off(self, clip: float) -> float:
        """What a clip takes from the mean residual, by the last histogram."""
        residuals, weights = self._seen
        return abs(float(weights @ (residuals - np.clip(residuals, -clip, clip))))

    def _levels(self, log: Scores) -> ResidualLevels:
        edges = self._edges(self._top, self.linked.octaves)
        signed = np.concatenate([-edges[::-1], edges])
        return ResidualLevels(self.scale, signed, log, link=self.link, weighted_first=True)

    def _set_clip(self, clip: float, inside: float, scatter: float) -> None:
        bound = min(max(round(clip * ONE), 64), LARGEST_BOUND)
        self.rule = ResidualRule(self.scale, 0, -bound, bound, link=self.link, weighted_first=True)
        self._inside, self._scatter = inside, scatter
