"""Smoothing a noisy histogram: public shapes for the outline, a dyadic tree for the detail. Post-processing only."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tacit.arrays import Floats
from tacit.binning.tuning import SMOOTHING, Smoothing


@lru_cache(maxsize=8)
def public_shapes(cells: int, numbers: Smoothing = SMOOTHING) -> Floats:
    """Densities that columns tend to have: flat, decaying from either end (with and without a spike at 0), bumps.

    Returns:
        Array of shape ``(shapes, cells)``, every line summing to 1.
    """
    x = (np.arange(cells) + 0.5) / cells
    first = (np.arange(cells) == 0).astype(float)
    shapes = [np.ones(cells)]
    for rate in numbers.decay_rates:
        fall = np.exp(-rate * x)
        shapes += [fall, fall[::-1], 0.5 * fall / fall.sum() + 0.5 * first]
    shapes += [np.exp(-0.5 * ((x - c) / w) ** 2) + 1e-4 for c in numbers.bump_centres for w in numbers.bump_widths]
    table = np.array([shape / shape.sum() for shape in shapes])
    table.flags.writeable = False
    return table


def _outline(noisy: Floats, sd: float, total: Floats, numbers: Smoothing) -> Floats:
    """Posterior mean over the public shapes of the share per cell, given the noise; one histogram per line."""
    shapes = public_shapes(noisy.shape[1], numbers)
    fit = total[:, None] * (noisy @ shapes.T) - 0.5 * total[:, None] ** 2 * (shapes**2).sum(axis=1)
    weights = np.exp((fit - fit.max(axis=1, keepdims=True)) / sd**2)
    share: Floats = (weights / weights.sum(axis=1, keepdims=True)) @ shapes
    mixed: Floats = (1 - numbers.floor_share) * share + numbers.floor_share / noisy.shape[1]
    return mixed


def smooth_histograms(noisy: Floats, sd: float, total: Floats, numbers: Smoothing = SMOOTHING) -> Floats:
    """Non-negative masses that sum to ``total`` from noisy histograms, one per line.

    Top-down over the dyadic tree: a node's known mass is split by a Kalman step between the outline's split (prior
    spread ``relative_spread`` of the mass) and the noisy sums of the two halves.

    Args:
        noisy: noisy counts, shape ``(histograms, cells)`` with ``cells`` a power of two.
        sd: standard deviation of the noise in every cell; positive.
        total: mass to distribute, shape ``(histograms,)``.
        numbers: by which it is tuned.
    """
    lines = len(noisy)
    observed, outline = [noisy], [_outline(noisy, sd, total, numbers)]
    while observed[-1].shape[1] > 1:
        observed.append(observed[-1].reshape(lines, -1, 2).sum(axis=2))
        outline.append(outline[-1].reshape(lines, -1, 2).sum(axis=2))
    mass: Floats = np.asarray(total, np.float64)[:, None]
    for depth in range(len(observed) - 2, -1, -1):
        halves, shares = observed[depth].reshape(lines, -1, 2), outline[depth].reshape(lines, -1, 2)
        expected = mass * shares[..., 0] / shares.sum(axis=2)
        measured = 0.5 * (halves[..., 0] + mass - halves[..., 1])
        prior_variance = (numbers.relative_spread * mass) ** 2
        gain = prior_variance / (prior_variance + 0.5 * sd**2 * 2**depth + 1e-300)
        left = np.clip(expected + gain * (measured - expected), 0.02 * expected, mass - 0.02 * (mass - expected))
        mass = np.stack([left, mass - left], axis=2).reshape(lines, -1)
    return mass
