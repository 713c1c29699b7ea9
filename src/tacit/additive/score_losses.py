"""The losses of models with a vector of scores, or with a numeric target: what rows contribute, and its curvature."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from tacit.additive.imagined import ImaginedRows
from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD
from tacit.growing.kernel_trees import MOST_VARIANCE
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Scores
from tacit.queries.rules import fine_class_count_rule
from tacit.queries.score_rules import ScoreRule, SoftmaxRule


class Loss(Protocol):
    """What a learner of scores needs to know about its loss.

    Attributes:
        n_scores: scores per row.
        share: what :meth:`begin`, all calls of :meth:`refresh` and :meth:`level` may spend; it may be less once the
            loss has begun.
        bound: the largest contribution of a row, in units of the score.
        strength: how much a table says about this loss, relative to balanced classes of two.
        slope: curvature in one direction, as far as it is known beforehand.
        floor: no curvature is thought smaller.
        jointly: whether rows may be bounded together over a sweep, which leaves the constant to the intercept alone.
        tree_curvature: what a row adds to the last channel of :attr:`tree_rule` per unit of its curvature's trace.
        together: whether trees are heard together, where rows are not very many.
        tree_noise: the noise that trees which are heard together may leave in a score, relative to the log-odds of two
            classes.
        most_variance: the prior variance of a score that such trees learn is never larger.
    """

    n_scores: int
    share: float
    strength: float
    slope: float
    floor: float
    jointly: bool
    together: bool

    @property
    def tree_noise(self) -> float: ...

    @property
    def most_variance(self) -> float: ...

    @property
    def bound(self) -> float: ...

    @property
    def ends(self) -> tuple[float, float] | None:
        """The least and the largest contribution of a row, where these are clipped residuals; else None."""

    @property
    def rule(self) -> ScoreRule: ...

    @property
    def tree_rule(self) -> ScoreRule: ...

    @property
    def tree_curvature(self) -> float: ...

    @property
    def scatter(self) -> float:
        """Variance of a row's contribution, per unit of curvature."""

    @property
    def least_scatter(self) -> float:
        """No variance of a row's contribution is thought smaller while effects are smoothed."""

    @property
    def gain(self) -> float:
        """What the mean contribution falls by per unit of the score, as far as that changes with the rule.

        Releases under different rules are averaged in units of this; 1 where the rule stays the same.
        """

    def begin(self, budget: Budget, total: float) -> tuple[Floats, float]:
        """The constant model, shape ``(n_scores,)``, and how far off it may be: a variance."""

    def refresh(self, budget: Budget, scores: Scores, stage: str) -> None:
        """Looks again at how large contributions are; may do nothing."""

    def level(self, budget: Budget, scores: Scores, total: float) -> tuple[Floats, Floats]:
        """What the constants lack once all else is learned, and its standard deviation, both ``(n_scores,)``."""

    def curvature(self, rows: ImaginedRows) -> Floats:
        """How much the mean contribution falls as scores rise, shape ``(n_scores, n_scores)``."""


TREE_CURVATURE = 77
"""Weight of the curvature beside the gradient in a leaf, in units of 1/256: about .3."""


LEAST_COUNTED, MOST_COUNTED, COUNTING_CARE = 0.02, 0.05, 0.7
"""Counting the classes takes this part of the budget: between the two, and between them in proportion to the number of
classes and to the noise in one count per row."""

CLASS_SPREAD = 1.2
"""Logarithms of class sizes are thought to scatter this much."""

MOVES = 0.25
"""Variance by which constants move while effects are learned."""


def likely_counts(noisy: Floats, sd: float, total: float) -> tuple[Floats, Floats]:
    """What counts of classes are likely to be: their posterior means, and variances of their logarithms.

    Args:
        noisy: counts with normal noise, shape ``(classes,)``.
        sd: its standard deviation; positive.
        total: released number of rows.
    """
    logs = np.linspace(-8.0, np.log(2.0 * len(noisy)), 1600)
    sizes = total / len(noisy) * np.exp(logs)
    fit = -0.5 * (noisy[:, None] - sizes) ** 2 / (sd**2 + sizes) - 0.5 * (logs / CLASS_SPREAD + 0.5 * CLASS_SPREAD) ** 2
    weights = np.exp(fit - fit.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    means = weights @ logs
    return weights @ sizes, np.maximum(weights @ logs**2 - means**2, 0.0)


class SoftmaxLoss:
    """Several classes: scaled softmax residuals (:class:`~tacit.queries.score_rules.SoftmaxRule`).

    Args:
        n_classes: at least 3 (2 work too, but the margin of two classes is cheaper).
        pure: whether noise is Laplace, so that the L1 norm counts.
    """

    share = MOST_COUNTED
    floor = 0.02
    jointly = True
    together = True

    def __init__(self, n_classes: int, pure: bool) -> None:
        self.n_scores = n_classes
        norm = 1 if pure else 2
        self.rule: ScoreRule = SoftmaxRule(n_classes, norm)
        self.tree_rule: ScoreRule = SoftmaxRule(n_classes, norm, TREE_CURVATURE)
        self._norm = norm
        self.slope = 1.0 / n_classes
        self.strength = min(1.0, 2.0 * np.sqrt(n_classes - 1) / n_classes)

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def tree_curvature(self) -> float:
        return TREE_CURVATURE / 256

    @property
    def scatter(self) -> float:
        return 1.0

    @property
    def least_scatter(self) -> float:
        return 0.0

    @property
    def gain(self) -> float:
        return 1.0

    @property
    def tree_noise(self) -> float:
        """Half of what each of two scores may have whose difference are log-odds: the noise of every class counts."""
        return 0.5 * math.sqrt(0.5)

    @property
    def most_variance(self) -> float:
        """Of two classes, contributions differ by the root of 8 times the gradient of their margin."""
        return MOST_VARIANCE / math.sqrt(8.0)

    def begin(self, budget: Budget, total: float) -> tuple[Floats, float]:
        """Log-odds of the classes from their noisy counts; a class that drowns in noise is thought rare, not absent."""
        doubt = self.n_scores * budget.sd(1.0) / total
        self.share = min(max(COUNTING_CARE * doubt, LEAST_COUNTED), MOST_COUNTED)
        counted = fine_class_count_rule(self.n_scores)
        release = budget.measure(Histogram(OneCell(), counted), self.share, "counts of the classes")
        counts, variances = likely_counts(release.value[0], max(release.sd, LEAST_SD), total)
        logs = np.log(counts / counts.sum())
        return np.asarray(logs - logs.mean()), float(np.average(variances, weights=counts)) + MOVES

    def refresh(self, budget: Budget, scores: Scores, stage: str) -> None:
        """Nothing: contributions have norm 1, and the model says what their curvature is."""
        del budget, scores, stage

    @property
    def ends(self) -> None:
        """Contributions are no clipped residuals."""
        return None

    def level(self, budget: Budget, scores: Scores, total: float) -> tuple[Floats, Floats]:
        """Nothing: no contribution is clipped, so that the intercept's releases end where it is right."""
        del budget, total
        return np.zeros(scores.n_scores), np.zeros(scores.n_scores)

    def curvature(self, rows: ImaginedRows) -> Floats:
        """Mean of ``c(p) (diag p - p p')`` over imagined rows."""
        p = rows.probabilities()
        if self._norm == 2:
            longest = np.sqrt(1 - 2 * p.min(axis=1) + np.square(p).sum(axis=1))
        else:
            longest = 2 - 2 * p.min(axis=1)
        weighted = p / longest[:, None]
        return np.asarray(np.diag(weighted.mean(axis=0)) - weighted.T @ p / len(p))
