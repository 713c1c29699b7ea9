"""Metrics as functions of counts by score cell and label: post-processing, exact up to the width of a cell.

Counts have shape ``(..., cells, 2)``; they may be noisy and negative. Every function is finite for every input.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.evaluation.grid import ScoreGrid

Floats = npt.NDArray[np.float64]


def rows(counts: Floats) -> Floats:
    """Number of rows, at least 1."""
    figure: Floats = np.maximum(counts.sum(axis=(-2, -1)), 1.0)
    return figure


def positive_share(counts: Floats) -> Floats:
    """Share of rows with label 1."""
    figure: Floats = np.clip(counts[..., 1].sum(axis=-1) / rows(counts), 0.0, 1.0)
    return figure


def auc(counts: Floats) -> Floats:
    """Area under the ROC curve; rows of one cell count as ties."""
    negative, positive = counts[..., 0], counts[..., 1]
    below = np.cumsum(negative, axis=-1) - negative / 2
    pairs = np.maximum(negative.sum(axis=-1), 1.0) * np.maximum(positive.sum(axis=-1), 1.0)
    figure: Floats = np.clip((positive * below).sum(axis=-1) / pairs, 0.0, 1.0)
    return figure


def correct_at_cuts(counts: Floats) -> Floats:
    """Share of rows called right when the cells from ``k`` on are called positive; shape ``(..., cells + 1)``."""
    negative, positive = _errors(counts)
    total = rows(counts)[..., None]
    figure: Floats = np.clip(1.0 - (negative + positive) / total, 0.0, 1.0)
    return figure


def cost_at_cuts(counts: Floats, cost: tuple[float, float]) -> Floats:
    """Cost per row of a false positive and a false negative, by cut; shape ``(..., cells + 1)``."""
    false_positive, false_negative = _errors(counts)
    figure: Floats = np.maximum((cost[0] * false_positive + cost[1] * false_negative) / rows(counts)[..., None], 0.0)
    return figure


def roc(counts: Floats) -> tuple[Floats, Floats]:
    """False-positive and true-positive rates by cut, each forced to fall as the threshold rises."""
    false_positive, false_negative = _errors(counts)
    totals = np.maximum(counts.sum(axis=-2), 1.0)
    false_rate = np.clip(false_positive / totals[..., :1], 0.0, 1.0)
    true_rate = np.clip(1.0 - false_negative / totals[..., 1:], 0.0, 1.0)
    return np.minimum.accumulate(false_rate, axis=-1), np.minimum.accumulate(true_rate, axis=-1)


def log_loss(counts: Floats, grid: ScoreGrid, clip: float) -> Floats:
    """Mean negative log-likelihood of the labels, probabilities clipped to ``[clip, 1 - clip]``."""
    chance = np.clip(grid.probabilities, clip, 1.0 - clip)
    losses = np.stack([-np.log1p(-chance), -np.log(chance)], axis=1)
    mean = (counts * losses).sum(axis=(-2, -1)) / rows(counts)
    figure: Floats = np.clip(mean, 0.0, -np.log(clip))
    return figure


def _errors(counts: Floats) -> tuple[Floats, Floats]:
    """False positives and false negatives by cut."""
    start = np.zeros((*counts.shape[:-2], 1, 2))
    below = np.concatenate([start, np.cumsum(counts, axis=-2)], axis=-2)
    return below[..., -1:, 0] - below[..., 0], below[..., 1]
