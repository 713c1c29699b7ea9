"""Several classes: how many rows each is likely to have, and how softmax residuals are curved."""

from __future__ import annotations

import math

import numpy as np

from tacit.arrays import Floats
from tacit.queries.score_rules import SoftmaxRule

STEEPEST = math.sqrt(0.5)
"""No row's contribution is curved more: that of two classes with even chances, the others without any."""


def likely_counts(noisy: Floats, sd: float, total: float, spread: float) -> tuple[Floats, Floats]:
    """What counts of classes are likely to be: their posterior means, and variances of their logarithms.

    Args:
        noisy: counts with normal noise, shape ``(classes,)``.
        sd: its standard deviation; positive.
        total: released number of rows.
        spread: how much the logarithms of class sizes are thought to scatter.
    """
    logs = np.linspace(-8.0, np.log(2.0 * len(noisy)), 1600)
    sizes = total / len(noisy) * np.exp(logs)
    fit = -0.5 * (noisy[:, None] - sizes) ** 2 / (sd**2 + sizes) - 0.5 * (logs / spread + 0.5 * spread) ** 2
    weights = np.exp(fit - fit.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    means = weights @ logs
    return weights @ sizes, np.maximum(weights @ logs**2 - means**2, 0.0)


def softmax_curvature(chances: Floats, rule: SoftmaxRule) -> Floats:
    """The mean of ``c(p) (diag p - p p')``: how much contributions fall as scores rise, shape ``(classes, classes)``.

    Args:
        chances: of rows, shape ``(rows, classes)``.
        rule: what rows contribute, which says what ``c`` is.
    """
    least = chances.min(axis=1)
    longest = np.sqrt(1 - 2 * least + np.square(chances).sum(axis=1)) if rule.norm == 2 else 2 - 2 * least
    weighted = chances / longest[:, None]
    return np.asarray(np.diag(weighted.mean(axis=0)) - weighted.T @ chances / len(chances))
