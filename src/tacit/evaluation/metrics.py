"""Metrics as functions of counts by score cell and label: post-processing, exact up to the width of a cell.

Counts have shape ``(..., cells, 2)``; they may be noisy and negative. Every function is finite for every input. Those
that are a ratio of two sums, or of two products of sums, are given as such, too: an interval needs both parts.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from tacit.arrays import Floats
from tacit.evaluation.error_grid import ScoreGrid


@final
class Ratio(NamedTuple):
    """A metric before it is divided: of unbiased counts whose labels have independent noise both parts are unbiased."""

    over: Floats
    under: Floats


def rows(counts: Floats) -> Floats:
    """Number of rows, at least 1; ``counts`` are ``(..., cells, 2)`` here and below, and figures ``(...)``."""
    figure: Floats = np.maximum(counts.sum(axis=(-2, -1)), 1.0)
    return figure


def positive_share(counts: Floats) -> Floats:
    """Share of rows with label 1."""
    figure: Floats = np.clip(counts[..., 1].sum(axis=-1) / rows(counts), 0.0, 1.0)
    return figure


def positive_parts(counts: Floats) -> Ratio:
    """What :func:`positive_share` divides."""
    return Ratio(counts[..., 1].sum(axis=-1), counts.sum(axis=(-2, -1)))


def auc_parts(counts: Floats) -> Ratio:
    """Pairs of a positive and a negative row in the right order (ties count half), and all pairs."""
    negative, positive = counts[..., 0], counts[..., 1]
    below = np.cumsum(negative, axis=-1) - negative / 2
    return Ratio((positive * below).sum(axis=-1), negative.sum(axis=-1) * positive.sum(axis=-1))


def auc(counts: Floats) -> Floats:
    """Area under the ROC curve; rows of one cell count as ties."""
    totals = np.maximum(counts.sum(axis=-2), 1.0)
    figure: Floats = np.clip(auc_parts(counts).over / totals.prod(axis=-1), 0.0, 1.0)
    return figure


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


def log_loss(counts: Floats, grid: ScoreGrid, clip: float) -> Floats:
    """Mean negative log-likelihood of the labels, probabilities clipped to ``[clip, 1 - clip]``."""
    return np.clip(log_loss_parts(counts, grid, clip).over / rows(counts), 0.0, -np.log(clip))


def brier_parts(counts: Floats, grid: ScoreGrid) -> Ratio:
    """The sum of squared differences of probability and label (Brier 1950), and rows."""
    losses = np.stack([grid.probabilities**2, (1.0 - grid.probabilities) ** 2], axis=1)
    return Ratio((counts * losses).sum(axis=(-2, -1)), counts.sum(axis=(-2, -1)))


def _errors(counts: Floats) -> tuple[Floats, Floats]:
    """False positives and false negatives by cut."""
    start = np.zeros((*counts.shape[:-2], 1, 2))
    below = np.concatenate([start, np.cumsum(counts, axis=-2)], axis=-2)
    return below[..., -1:, 0] - below[..., 0], below[..., 1]
