"""Losses: what a row contributes to a release, and what a learner needs to know about it.

There is one engine, and three ways in which rows contribute: a table over margins for two classes
(:class:`TwoClassLoss`), softmax residuals for several (:class:`SoftmaxLoss`), and clipped residuals for numbers
(:mod:`tacit.additive.residual_loss`). A loss is asked at every place where they differ, and nowhere else.
"""

from __future__ import annotations

import math
from typing import Protocol, cast

import numpy as np

from tacit.additive.intercept import Intercept, NewtonIntercept, PosteriorIntercept, curvature, scatter
from tacit.additive.plan import Remainder
from tacit.additive.term import Directions, strongest_order
from tacit.additive.tuning import COUNTING, EFFECTS, Counting
from tacit.arrays import Floats, Ints
from tacit.boosting.mada_boost import mada_boost_rule
from tacit.curator.budget import Budget
from tacit.growing.softmax import SimulatedRows, log_odds_of, released_counts, softmax_curvature
from tacit.growing.tuning import SOFTMAX, Kernel
from tacit.queries.cells import Cells
from tacit.queries.histogram import Histogram, ReleaseMap, ScoreHistogram
from tacit.queries.margins import Margins, Scores
from tacit.queries.rules import RowRule
from tacit.queries.score_rules import ScoreRule, SoftmaxRule


class Loss(Protocol):
    """What the engine needs to know about a loss.

    Attributes:
        n_scores: scores per row, ``k``.
        share: what :meth:`begin`, all calls of :meth:`refresh` and :meth:`level` may spend; it may be another one
            once the loss has begun.
        strength: how much a table says about this loss, relative to balanced classes of two.
        slope: curvature in one direction, as far as it is known beforehand.
        jointly: whether rows may be bounded together over a sweep, which leaves the constant to the intercept alone.
        remainder: what may follow columns and pairs.
        tuned: whether the loss has what was judged on left-out tables, so far for two classes alone: recency, a costly
            intercept, patience and chosen splits. Other losses follow simulated rows and the rounding of their log.
        growth: None, or under a log link the ``g`` with which a row of score ``F`` is curved by ``exp(g F)``. Rows' own
            weights then multiply what they contribute before it is clipped.
    """

    share: float

    @property
    def n_scores(self) -> int: ...

    @property
    def strength(self) -> float: ...

    @property
    def slope(self) -> float: ...

    @property
    def jointly(self) -> bool: ...

    @property
    def remainder(self) -> Remainder: ...

    @property
    def tuned(self) -> bool: ...

    @property
    def growth(self) -> float | None: ...

    @property
    def log(self) -> Margins | Scores:
        """The scores of every row, as the engine knows them."""

    @property
    def bound(self) -> float:
        """The largest contribution of a row, in units of the score."""

    @property
    def rule(self) -> RowRule | ScoreRule:
        """What a row contributes: by label and margin, or by label or target and scores."""

    @property
    def intercept_rule(self) -> RowRule | ScoreRule:
        """What a row contributes to a release of the constants."""

    def add(self, cells: Cells, values: Floats) -> Floats:
        """Adds an update, shape ``(cells, n_scores)``, to the log of all scores; returns it as it was rounded."""

    def query(
        self, cells: Cells, rule: RowRule | ScoreRule, release_map: ReleaseMap | None
    ) -> Histogram | ScoreHistogram:
        """The query for what rows contribute by this rule, by cell, at the scores of the log."""

    def begin(self, budget: Budget, total: float, intercept_share: float) -> Intercept:
        """The constant model.

        ``intercept_share`` is what the intercept's releases cost relative to a column's.
        """

    def refresh(self, budget: Budget, stage: str) -> None:
        """Looks again at how large contributions are; may do nothing."""

    def level(self, budget: Budget, total: float) -> tuple[Floats, Floats]:
        """What the constants lack once all else is learned, and its standard deviation, both ``(n_scores,)``."""

    def directions(self, intercept: Floats, spread: float, rows: SimulatedRows | None) -> Directions:
        """Where the loss is curved now, and how much rows scatter.

        ``spread`` is the standard deviation over the rows of the sum of terms; ``rows`` are simulated ones, where they
        are used.
        """

    def order(self, effect: Floats, counts: Floats) -> Ints:
        """The place of each bin of an unordered column in the order of its effects."""


class ScoreLoss(Loss, Protocol):
    """A loss whose trees add vectors to scores.

    Attributes:
        tree_rule: what rows contribute to a leaf; the last channel is their curvature.
        tree_curvature: what a row adds to that channel per unit of its curvature's trace.
        tree_noise: the noise that kernel trees may leave in a score, relative to the log-odds of two classes.
        scatter: variance of a row's contribution, per unit of curvature.
    """

    rule: ScoreRule

    @property
    def log(self) -> Scores: ...

    @property
    def tree_rule(self) -> ScoreRule: ...

    @property
    def tree_curvature(self) -> float: ...

    @property
    def tree_noise(self) -> float: ...

    def most_variance(self, kernel: Kernel) -> float:
        """The prior variance of a score that kernel trees learn is never larger."""

    @property
    def scatter(self) -> float: ...

    def curvature(self, rows: SimulatedRows) -> Floats:
        """How much the mean contribution falls as scores rise, shape ``(n_scores, n_scores)``."""


class OfScores:
    """Base of losses of several scores, or of a number: their log, and what is asked about it."""

    tuned = False
    log: Scores

    def add(self, cells: Cells, values: Floats) -> Floats:
        return self.log.add(cells, values)

    def query(self, cells: Cells, rule: RowRule | ScoreRule, release_map: ReleaseMap | None) -> ScoreHistogram:
        return ScoreHistogram(cells, cast(ScoreRule, rule), self.log, release_map)


class Unclipped:
    """Base of losses whose contributions are at most 1 as they are: the model says what their curvature is.

    Nothing is clipped, so that the intercept's releases end where it is right.
    """

    n_scores: int
    growth = None

    def refresh(self, budget: Budget, stage: str) -> None:
        """Nothing."""
        del budget, stage

    def level(self, budget: Budget, total: float) -> tuple[Floats, Floats]:
        """Nothing."""
        del budget, total
        return np.zeros(self.n_scores), np.zeros(self.n_scores)


class TwoClassLoss(Unclipped):
    """Two classes: MadaBoost's weights over one margin, ``s min(1, exp(-s F))``, whose optimum is the log-odds.

    The weight of a row is looked up by its class and its margin (:class:`~tacit.queries.rules.RowRule`), and is at most
    1, so that nothing has to be released before the first sweep.
    """

    n_scores = 1
    strength = 1.0
    slope = EFFECTS.mode_curvature
    bound = 1.0
    jointly = True
    remainder = Remainder.EXPLAINED
    tuned = True

    def __init__(self) -> None:
        self.share, self.log = 0.0, Margins()
        self.rule = mada_boost_rule()

    @property
    def intercept_rule(self) -> RowRule:
        return self.rule

    def add(self, cells: Cells, values: Floats) -> Floats:
        return self.log.add(cells, values[:, 0])[:, None]

    def query(self, cells: Cells, rule: RowRule | ScoreRule, release_map: ReleaseMap | None) -> Histogram:
        return Histogram(cells, cast(RowRule, rule), self.log, release_map)

    def begin(self, budget: Budget, total: float, intercept_share: float) -> Intercept:
        """From margins of 0: the sweeps find the intercept."""
        del budget
        return PosteriorIntercept(total, intercept_share)

    def directions(self, intercept: Floats, spread: float, rows: SimulatedRows | None) -> Directions:
        """By the intercept and the spread of the terms, taken to be normal."""
        del rows
        at = float(intercept[0])
        return Directions.alone(curvature(at, spread), scatter(at, spread))

    def order(self, effect: Floats, counts: Floats) -> Ints:
        """By log-odds."""
        del counts
        return np.argsort(np.argsort(effect[:, 0], kind="stable"), kind="stable")


def count_classes(budget: Budget, total: float, n_classes: int, numbers: Counting) -> tuple[Floats, float, float]:
    """Releases counts of the classes, for more of the budget where classes are many and noise hides them.

    Returns:
        What counts are likely to be, how far off constants that follow from them may be (a variance), and the share
        of the budget that it took.
    """
    noise = n_classes * budget.sd(1.0) / total
    if budget.is_pure:
        share = min(max(numbers.pure_care * noise ** (2 / 3), numbers.least_counted), numbers.pure_counted)
    else:
        share = min(max(numbers.counting_care * noise, numbers.least_counted), numbers.most_counted)
    counts, variance = released_counts(budget, share, "counts of the classes", SOFTMAX.class_spread, total)
    return counts, variance + numbers.moves, share


class SoftmaxLoss(Unclipped, OfScores):
    """Several classes: scaled softmax residuals (:class:`~tacit.queries.score_rules.SoftmaxRule`).

    Args:
        n_classes: at least 3 (2 work too, but the margin of two classes is cheaper).
        pure: whether noise is Laplace, so that the L1 norm counts.
        numbers: of counting the classes.
    """

    jointly = True
    remainder = Remainder.AVERAGED

    def __init__(self, n_classes: int, pure: bool, numbers: Counting = COUNTING) -> None:
        self.numbers = numbers
        self.n_scores, self.share, self.log = n_classes, self.numbers.most_counted, Scores(n_classes)
        norm = 1 if pure else 2
        self.rule = SoftmaxRule(n_classes, norm)
        self.tree_rule = SoftmaxRule(n_classes, norm, SOFTMAX.tree_curvature)
        self.slope = 1.0 / n_classes
        self.strength = min(1.0, 2.0 * np.sqrt(n_classes - 1) / n_classes)

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def tree_curvature(self) -> float:
        return SOFTMAX.tree_curvature / 256

    @property
    def scatter(self) -> float:
        return 1.0

    @property
    def tree_noise(self) -> float:
        """Half of what each of two scores may have whose difference are log-odds: the noise of every class counts."""
        return 0.5 * math.sqrt(0.5)

    def most_variance(self, kernel: Kernel) -> float:
        """Of two classes, contributions differ by the root of 8 times the gradient of their margin."""
        return kernel.most_variance / math.sqrt(8.0)

    @property
    def intercept_rule(self) -> SoftmaxRule:
        return self.rule

    def begin(self, budget: Budget, total: float, intercept_share: float) -> Intercept:
        """Log-odds of the classes from their noisy counts; a class that noise hides is thought rare, not absent."""
        del intercept_share
        counts, doubt, self.share = count_classes(budget, total, self.n_scores, self.numbers)
        return NewtonIntercept(log_odds_of(counts), total, doubt)

    def directions(self, intercept: Floats, spread: float, rows: SimulatedRows | None) -> Directions:
        """By the probabilities of simulated rows."""
        del intercept, spread
        assert rows is not None
        return Directions.of(self.curvature(rows), EFFECTS.least_curvature, self.scatter)

    def order(self, effect: Floats, counts: Floats) -> Ints:
        """Along the direction in which effects vary most."""
        return strongest_order(effect, counts)

    def curvature(self, rows: SimulatedRows) -> Floats:
        """Over simulated rows."""
        return softmax_curvature(rows.probabilities(), self.rule)
