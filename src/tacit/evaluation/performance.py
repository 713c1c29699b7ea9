"""Released counts of one group of rows as metrics with confidence intervals, curves, thresholds: post-processing.

Counts have shape ``(..., cells, 2)``; they may be noisy and negative. Every function is finite for every input. Those
that are a ratio of two sums, or of two products of sums, are given as such, too: an interval needs both parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, NamedTuple, final

import numpy as np

from tacit.arrays import Floats
from tacit.evaluation import calibration
from tacit.evaluation.error_grid import ScoreGrid
from tacit.evaluation.measure_scores import GroupCounts, ScoreCounts, row_draws
from tacit.evaluation.ranked import ROWS, SCORES, SQUARES, RankedSums


@final
class Ratio(NamedTuple):
    """A metric before it is divided: of unbiased counts whose labels have independent noise both parts are unbiased."""

    over: Floats
    under: Floats


def rows(counts: Floats) -> Floats:
    """Number of rows, at least 1; ``counts`` are ``(..., cells, 2)`` here and below, and figures ``(...)``."""
    figure: Floats = np.maximum(counts.sum(axis=(-2, -1)), 1.0)
    return figure


def positive_parts(counts: Floats) -> Ratio:
    """Rows with label 1, and all rows."""
    return Ratio(counts[..., 1].sum(axis=-1), counts.sum(axis=(-2, -1)))


def auc_parts(counts: Floats) -> Ratio:
    """Pairs of a positive and a negative row in the right order (ties count half), and all pairs."""
    negative, positive = counts[..., 0], counts[..., 1]
    below = np.cumsum(negative, axis=-1) - negative / 2
    return Ratio((positive * below).sum(axis=-1), negative.sum(axis=-1) * positive.sum(axis=-1))


def correct_parts(counts: Floats, cut: int) -> Ratio:
    """Rows called right when the cells from ``cut`` on are called positive, and all rows."""
    negative, positive = _errors(counts)
    total = counts.sum(axis=(-2, -1))
    return Ratio(total - negative[..., cut] - positive[..., cut], total)


def correct_at_cuts(counts: Floats) -> Floats:
    """Share of rows called right when the cells from ``k`` on are called positive; shape ``(..., cells + 1)``."""
    negative, positive = _errors(counts)
    total = rows(counts)[..., None]
    return np.clip(1.0 - (negative + positive) / total, 0.0, 1.0)


def cost_at_cuts(counts: Floats, cost: tuple[float, float]) -> Floats:
    """Cost per row of a false positive and a false negative, by cut; shape ``(..., cells + 1)``."""
    false_positive, false_negative = _errors(counts)
    return np.maximum((cost[0] * false_positive + cost[1] * false_negative) / rows(counts)[..., None], 0.0)


def roc(counts: Floats) -> tuple[Floats, Floats]:
    """False-positive and true-positive rates, shape ``(..., cells + 1)``, each forced to fall as the cut rises."""
    false_positive, false_negative = _errors(counts)
    totals = np.maximum(counts.sum(axis=-2), 1.0)
    false_rate = np.clip(false_positive / totals[..., :1], 0.0, 1.0)
    true_rate = np.clip(1.0 - false_negative / totals[..., 1:], 0.0, 1.0)
    return np.minimum.accumulate(false_rate, axis=-1), np.minimum.accumulate(true_rate, axis=-1)


def log_loss_parts(counts: Floats, grid: ScoreGrid, clip: float) -> Ratio:
    """The sum of the labels' negative log-likelihoods, probabilities clipped to ``[clip, 1 - clip]``; and rows."""
    chance = np.clip(grid.probabilities, clip, 1.0 - clip)
    losses = np.stack([-np.log1p(-chance), -np.log(chance)], axis=1)
    return Ratio((counts * losses).sum(axis=(-2, -1)), counts.sum(axis=(-2, -1)))


def brier_parts(counts: Floats, grid: ScoreGrid) -> Ratio:
    """The sum of squared differences of probability and label (Brier 1950), and rows."""
    losses = np.stack([grid.probabilities**2, (1.0 - grid.probabilities) ** 2], axis=1)
    return Ratio((counts * losses).sum(axis=(-2, -1)), counts.sum(axis=(-2, -1)))


def _errors(counts: Floats) -> tuple[Floats, Floats]:
    """False positives and false negatives by cut."""
    start = np.zeros((*counts.shape[:-2], 1, 2))
    below = np.concatenate([start, np.cumsum(counts, axis=-2)], axis=-2)
    return below[..., -1:, 0] - below[..., 0], below[..., 1]


RANKED = "ranked_probability_score"

REPLICATES = 300
MOST_STEPS, CLOSE_ENOUGH = 40, 1e-6
"""How far the end of an interval is looked for."""

KNOWN = 4.0
"""A count is known when it is this many standard deviations of its noise above 0; what divides by it is not before."""


@final
@dataclass(frozen=True)
class Estimate:
    """A figure and the interval it lies in with the stated confidence, for noise and for chance in the rows.

    Attributes:
        value: the estimate.
        low, high: the interval; all possible values where the noise leaves nothing to say.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.value:.4g} (estimate out of range, truncated)"
        digits = next(d for d in (*range(4, 17), 17) if f"{self.low:.{d}g}" != f"{self.high:.{d}g}")
        return f"{self.value:.{digits}g} ({self.low:.{digits}g} to {self.high:.{digits}g})"


@final
@dataclass(frozen=True)
class Question:
    """What to compute; all of it from one release."""

    metrics: tuple[str, ...]  # among `auc`, `accuracy`, `log_loss`, `calibration`, `ranked_probability_score`
    threshold: float  # probability from which a row is called positive
    cost: tuple[float, float] | None  # of a false positive and of a false negative, or None
    clip: float  # probabilities are clipped to `[clip, 1 - clip]` in the log loss
    confidence: float  # of the intervals
    calls_positive: bool = True  # whether label 1 is a class; otherwise it says that the likeliest class was right


@final
@dataclass(frozen=True, eq=False)
class Performance:
    """How a model does on one group of rows.

    Attributes:
        metrics: by name.
        rows: number of rows; the interval is for noise alone.
        positives: share of rows of the positive class (of rows called right where there are more than two classes).
        best_threshold: the least costly threshold, if costs were stated.
        counts: the released counts, for further post-processing.
        class_auc: of more than two classes, where the AUC was asked for: that of each class against the rest.
        calls_positive: whether there are two classes, one of them positive: only then there are thresholds.
        known: whether there are more rows than noise explains; where not, no figure says anything.
    """

    metrics: Mapping[str, Estimate]
    rows: Estimate
    positives: Estimate
    best_threshold: float | None
    counts: ScoreCounts
    class_auc: tuple[Estimate, ...] = ()
    calls_positive: bool = True
    known: bool = True

    def __getitem__(self, name: str) -> Estimate:
        return self.metrics[name]

    def accuracy_at(self, threshold: float) -> tuple[float, float]:
        """The available threshold nearest to ``threshold``, and the accuracy there. Costs nothing.

        Raises:
            ValueError: of more than two classes.
        """
        self._check_two("accuracy_at")
        cut = self.counts.grid.cut(threshold)
        return float(self.counts.grid.thresholds[cut]), float(correct_at_cuts(self.counts.estimate)[cut])

    def roc(self) -> tuple[Floats, Floats, Floats]:
        """Thresholds, false-positive rates and true-positive rates, the threshold rising.

        Raises:
            ValueError: of more than two classes.
        """
        self._check_two("roc")
        return (self.counts.grid.thresholds, *roc(self.counts.estimate))

    def _check_two(self, metric: str) -> None:
        if not self.calls_positive:
            raise ValueError(
                f"{metric} is about a threshold between two classes, and this model tells more apart, of which it says "
                "the likeliest: class_auc has the AUC of each class against the rest, where metrics names 'auc'"
            )

    def reliability(self) -> list[dict[str, float]]:
        """Per group of cells: share of rows, mean promised probability, observed share of positives, its noise."""
        groups, chances = calibration.equal_groups(self.counts), self.counts.grid.probabilities
        estimate, likely = self.counts.estimate, self.counts.likely.sum(axis=1)
        sizes = np.maximum(groups.members @ likely, 1.0)
        promised = (groups.members @ (likely * chances)) / sizes
        gaps = groups.gaps(estimate, chances) / sizes
        spreads = calibration.gap_spreads(self.counts, groups, chances) / sizes
        total = float(sizes.sum())
        return [
            {"share": s / total, "promised": p, "observed": min(max(p + g, 0.0), 1.0), "sd": sd}
            for s, p, g, sd in zip(*(a.tolist() for a in (sizes, promised, gaps, spreads)), strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        data: dict[str, Any] = {name: asdict(value) for name, value in self.metrics.items()}
        data |= {"rows": asdict(self.rows), "positives": asdict(self.positives)}
        if self.best_threshold is not None:
            data["best_threshold"] = self.best_threshold
        if self.class_auc:
            data["class_auc"] = [asdict(estimate) for estimate in self.class_auc]
        return data


def perform(released: GroupCounts, question: Question, generator: np.random.Generator) -> Performance:
    """Answers a question about a group of rows, or about all; public randomness is for the bootstrap."""
    counts, losses, ranked = released.counts, released.losses, released.ranked
    bootstrap = _Bootstrap(counts, question, generator)
    figures: dict[str, Estimate] = {}
    best, each = None, tuple(_auc(_Bootstrap(one, question, generator)) for one in released.classes)
    if "auc" in question.metrics:
        figures["auc"] = _mean(each) if each else _auc(bootstrap)
    if "accuracy" in question.metrics:
        cut = counts.grid.cut(question.threshold) if question.calls_positive else 0  # 0: rows that were called right
        figures["accuracy"] = bootstrap.of(lambda h: correct_parts(h, cut), 1.0)
    if "log_loss" in question.metrics:
        source = bootstrap if losses is None else _Bootstrap(losses, question, generator)
        figures["log_loss"] = source.of(_loss(counts, losses is not None, question.clip), -np.log(question.clip))
    if "calibration" in question.metrics:
        figures["calibration"] = bootstrap.calibration_error()
    if RANKED in question.metrics:
        figures[RANKED] = (
            bootstrap.of(lambda h: brier_parts(h, counts.grid), 1.0)
            if ranked is None
            else ranked_estimate(ranked, question.confidence, generator)
        )
    if question.cost is not None:
        best, figures["cost"] = bootstrap.least_cost(question.cost)
    positives = bootstrap.of(positive_parts, 1.0)
    rows = bootstrap.rows()
    return Performance(figures, rows, positives, best, counts, each, question.calls_positive, bootstrap.known)


def _auc(bootstrap: _Bootstrap) -> Estimate:
    return bootstrap.of(auc_parts, 1.0, bootstrap.both_known)


def _mean(each: Sequence[Estimate]) -> Estimate:
    """The mean of estimates whose errors may go together: ends are averaged, which is rather wide than narrow."""
    return Estimate(*(float(np.mean(part)) for part in zip(*((e.value, e.low, e.high) for e in each), strict=True)))


def _loss(counts: ScoreCounts, of_true_class: bool, clip: float) -> Callable[[Floats], Ratio]:
    def loss(draws: Floats) -> Ratio:
        if of_true_class:
            every = draws.sum(axis=-1)
            draws = np.stack([np.zeros_like(every), every], axis=-1)
        return log_loss_parts(draws, counts.grid, clip)

    return loss


def ranked_estimate(sums: RankedSums, confidence: float, generator: np.random.Generator) -> Estimate:
    """The mean ranked probability score; its interval holds those means that the released sums do not contradict.

    As of other ratios (Fieller 1954), with noise as it is known and rows as normal: their number varies, too.
    """
    over, under = float(SCORES @ sums.values), float(ROWS @ sums.values)
    value = min(max(over / max(under, 1.0), 0.0), 1.0)
    if under <= max(KNOWN * sums.rows_sd, 1.0):
        return Estimate(value, 0.0, 1.0)
    squares = min(max(float(SQUARES @ sums.values) / under, value**2), value)
    noise = sums.noise_draws(REPLICATES, generator)
    rows = generator.normal(0.0, np.sqrt(under), REPLICATES)
    scatter = generator.normal(0.0, np.sqrt(under * (squares - value**2)), REPLICATES)
    errors = Ratio(noise @ SCORES + value * rows + scatter, noise @ ROWS + rows)
    ends = ((1 + confidence) / 2, (1 - confidence) / 2)
    low, high = (_end(over, under, errors, share, 1.0) for share in ends)
    return Estimate(value, min(low, value), max(high, value))


def _end(over: float, under: float, errors: Ratio, share: float, most: float) -> float:
    """The ratio at which ``share`` of the errors lie below what was released: found by going there step by step.

    As ``under`` is several standard deviations above 0 every step is a fraction of the one before.
    """
    ratio, place = over / under, round(share * (REPLICATES - 1))
    for _ in range(MOST_STEPS):
        last = ratio
        stray = float(np.partition(errors.over - last * errors.under, place)[place])
        ratio = min(max((over - stray) / under, 0.0), most)
        if abs(ratio - last) < CLOSE_ENOUGH:
            break
    return ratio


class _Bootstrap:
    """Parametric bootstrap over rows and noise: how far sums stray around a likely truth."""

    def __init__(self, counts: ScoreCounts, question: Question, generator: np.random.Generator) -> None:
        self._counts = counts
        self._generator = generator
        self._ends = ((1 - question.confidence) / 2, (1 + question.confidence) / 2)
        self._truth = counts.likely
        self._noise = counts.noise_draws(REPLICATES, generator)
        self._drawn = self._noise + row_draws(self._truth, REPLICATES, generator)
        self._one = float(counts.sd_of(np.ones(counts.grid.cells)))
        totals = counts.estimate.sum(axis=0)
        self.known = bool(totals.sum() > max(KNOWN * self._one * np.sqrt(2.0), 1.0))
        self.both_known = self.known and bool(totals.min() > max(KNOWN * self._one, 1.0))

    def of(self, parts: Callable[[Floats], Ratio], most: float, is_known: bool | None = None) -> Estimate:
        """A ratio between 0 and ``most``; its interval holds those ratios that the released sums do not contradict.

        If ``r`` is the true ratio, ``over - r * under`` has mean 0, however large the noise below the line is; where it
        lies too far from that, ``r`` is out (Fieller 1954, with quantiles of drawn errors for those of the normal).
        """
        over, under = (float(part) for part in parts(self._counts.estimate))
        value = min(max(over / max(under, 1.0), 0.0), most)
        if not (self.known if is_known is None else is_known):
            return Estimate(value, 0.0, most)
        truth, draws = parts(self._truth), parts(self._drawn)
        errors = Ratio(draws.over - truth.over, draws.under - truth.under)
        low, high = (_end(over, under, errors, share, most) for share in self._ends[::-1])
        return Estimate(value, min(low, value), max(high, value))

    def rows(self) -> Estimate:
        total = float(self._counts.estimate.sum())
        reach = NormalDist().inv_cdf(self._ends[1]) * self._one * np.sqrt(2.0)
        return Estimate(max(total, 0.0), max(total - reach, 0.0), max(total + reach, 0.0))

    def least_cost(self, cost: tuple[float, float]) -> tuple[float, Estimate]:
        """The least costly threshold; the interval knows that the least of many noisy figures looks too good."""
        observed = cost_at_cuts(self._counts.estimate, cost)
        best = int(observed.argmin())
        threshold, value = float(self._counts.grid.thresholds[best]), float(observed[best])
        if not self.known:
            return threshold, Estimate(value, 0.0, max(cost))
        draws, truth = cost_at_cuts(self._drawn, cost), cost_at_cuts(self._truth, cost)
        cuts = draws.argmin(axis=-1)
        errors = np.take_along_axis(draws, cuts[:, None], axis=-1)[:, 0] - truth[cuts]
        return threshold, self._interval(value, errors, 0.0, max(cost))

    def calibration_error(self) -> Estimate:
        """The expected calibration error; its interval holds the errors under which the observed gaps are plausible."""
        counts, chances = self._counts, self._counts.grid.probabilities
        groups = calibration.equal_groups(counts)
        spreads = calibration.gap_spreads(counts, groups, chances)
        gaps = groups.gaps(counts.estimate, chances)
        value = float(calibration.expected_error(gaps, spreads, rows(counts.estimate)))
        if not self.known:
            return Estimate(value, 0.0, 1.0)
        sizes = calibration.unfolded(gaps, spreads)
        world = calibration.with_gaps(counts, groups, chances, np.sign(gaps) * sizes)
        draws = self._noise + row_draws(world, REPLICATES, self._generator)
        errors = groups.gaps(draws, chances) - groups.gaps(world, chances)
        low, high = calibration.plausible_errors(np.sign(gaps), np.abs(gaps).sum(), sizes, spreads, errors, self._ends)
        total = float(rows(counts.estimate))
        return Estimate(value, min(low / total, value), min(max(high / total, value), 1.0))

    def _interval(self, value: float, errors: Floats, least: float, most: float) -> Estimate:
        low, high = np.quantile(errors, self._ends)
        bounds = np.clip([value - high, value - low], least, most)
        return Estimate(value, float(min(bounds[0], value)), float(max(bounds[1], value)))
