"""Several classes: how many rows each is likely to have, how softmax residuals are curved, and simulated rows.

Those are drawn from released counts, column by column, independently, and scored by the released model: they tell how
scores are spread over rows, which no release says, without asking about any row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tacit.arrays import Bytes, Floats, Ints
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import Cells, OneCell, ProductCells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_class_count_rule
from tacit.queries.score_rules import SoftmaxRule
from tacit.queries.tree_cells import TreeCells


def likely_counts(noisy: Floats, sd: float, total: float, spread: float) -> tuple[Floats, Floats]:
    """What counts of classes are likely to be: their posterior means, and variances of their logarithms.

    ``noisy`` has shape ``(classes,)``; ``spread`` is how much the logarithms of class sizes are thought to scatter.
    """
    logs = np.linspace(-8.0, np.log(2.0 * len(noisy)), 1600)
    sizes = total / len(noisy) * np.exp(logs)
    fit = -0.5 * (noisy[:, None] - sizes) ** 2 / (sd**2 + sizes) - 0.5 * (logs / spread + 0.5 * spread) ** 2
    weights = np.exp(fit - fit.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    means = weights @ logs
    return weights @ sizes, np.maximum(weights @ logs**2 - means**2, 0.0)


def released_counts(
    budget: Budget, share: float, what: str, spread: float, total: float | None = None
) -> tuple[Floats, float]:
    """Releases the rows of each class: what counts are likely to be, and the variance of their logarithms over rows.

    One that noise hides is thought rare, not absent. ``spread`` is how much the logarithms of class sizes are thought
    to scatter; ``total`` is None for what the counts add up to.
    """
    query = Histogram(OneCell(), fine_class_count_rule(budget.layout.n_labels))
    release = budget.measure(query, share, Label(Stage.COUNTS, what))
    counted, sd = release.value[0], max(release.sd, LEAST_SD)
    if total is None:
        total = max(float(counted.sum()), math.sqrt(len(counted)) * sd, 1.0)
    counts, variances = likely_counts(counted, sd, total, spread)
    return counts, float(np.average(variances, weights=counts))


def log_odds_of(counts: Floats) -> Floats:
    """Scores whose softmax are the shares of these counts, of mean 0."""
    logs = np.log(counts / counts.sum())
    return np.asarray(logs - logs.mean())


def softmax_curvature(chances: Floats, rule: SoftmaxRule) -> Floats:
    """The mean of ``c(p) (diag p - p p')`` over rows, shape ``(classes, classes)``; the rule says what ``c`` is."""
    least = chances.min(axis=1)
    longest = np.sqrt(1 - 2 * least + np.square(chances).sum(axis=1)) if rule.norm == 2 else 2 - 2 * least
    weighted = chances / longest[:, None]
    return np.asarray(np.diag(weighted.mean(axis=0)) - weighted.T @ chances / len(chances))


class SimulatedRows:
    """Rows that follow the released distribution of every column (``counts`` per bin), with their scores."""

    def __init__(self, counts: Sequence[Floats], n_scores: int, generator: np.random.Generator, rows: int) -> None:
        spread = (np.arange(rows) + 0.5) / rows  # one row in every such part of the mass, in random order
        self._codes = []
        for count in counts:
            upto = np.cumsum(count) / count.sum()
            codes = np.searchsorted(upto, generator.permutation(spread), side="right")
            self._codes.append(np.minimum(codes, len(count) - 1))
        self.scores: Floats = np.zeros((rows, n_scores))

    @cached_property
    def _bytes(self) -> list[Bytes]:
        return [codes.astype(np.uint8) for codes in self._codes]

    def add(self, cells: Cells, values: Floats) -> None:
        """Adds ``values[cell]`` to the scores of every row."""
        self.scores += values[self.places(cells)]

    def places(self, cells: Cells) -> Ints:
        """The cell of every row."""
        if isinstance(cells, OneCell):
            return np.zeros(len(self.scores), np.int64)
        if isinstance(cells, ProductCells):
            parts = [offsets[self._codes[column]] for column, offsets in zip(cells.columns, cells.offsets, strict=True)]
            return np.asarray(np.sum(parts, axis=0), np.int64)
        assert isinstance(cells, TreeCells)
        return cells.shape.find(self._bytes).astype(np.int64)

    def probabilities(self) -> Floats:
        """Softmax of the scores, shape ``(ROWS, n_scores)``."""
        powers = np.exp(self.scores - self.scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))
