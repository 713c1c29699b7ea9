"""Smoothing a noisy histogram: public shapes for the outline, a dyadic tree for the detail. Post-processing only."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tacit.arrays import Floats

DECAY_RATES = (4.0, 12.0, 40.0, 120.0, 400.0, 1200.0)
BUMP_CENTRES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)
BUMP_WIDTHS = (0.02, 0.06, 0.15)
FLOOR_SHARE = 0.03
"""Mass kept uniform, so that no cell is thought impossible."""

RELATIVE_SPREAD = 0.35
"""Prior standard deviation of a node's left share, relative to the node's mass."""


@lru_cache(maxsize=8)
def public_shapes(cells: int) -> Floats:
    """Densities that columns tend to have: flat, decaying from either end (with and without a spike at 0), bumps.

    Returns:
        Array of shape ``(shapes, cells)``, every line summing to 1.
    """
    x = (np.arange(cells) + 0.5) / cells
    first = (np.arange(cells) == 0).astype(float)
    shapes = [np.ones(cells)]
    for rate in DECAY_RATES:
        fall = np.exp(-rate * x)
        shapes += [fall, fall[::-1], 0.5 * fall / fall.sum() + 0.5 * first]
    shapes += [np.exp(-0.5 * ((x - c) / w) ** 2) + 1e-4 for c in BUMP_CENTRES for w in BUMP_WIDTHS]
    table = np.array([shape / shape.sum() for shape in shapes])
    table.flags.writeable = False
    return table


def _outline(noisy: Floats, sd: float, total: Floats) -> Floats:
    """Posterior mean over the public shapes of the share per cell, given the noise; one histogram per line."""
    shapes = public_shapes(noisy.shape[1])
    fit = total[:, None] * (noisy @ shapes.T) - 0.5 * total[:, None] ** 2 * (shapes**2).sum(axis=1)
    weights = np.exp((fit - fit.max(axis=1, keepdims=True)) / sd**2)
    share: Floats = (weights / weights.sum(axis=1, keepdims=True)) @ shapes
    mixed: Floats = (1 - FLOOR_SHARE) * share + FLOOR_SHARE / noisy.shape[1]
    return mixed


def smooth_histograms(noisy: Floats, sd: float, total: Floats) -> Floats:
    """Non-negative masses that sum to ``total`` from noisy histograms, one per line.

    Top-down over the dyadic tree: a node's known mass is split by a Kalman step between the outline's split (prior
    spread :data:`RELATIVE_SPREAD` of the mass) and the noisy sums of the two halves.

    Args:
        noisy: noisy counts, shape ``(histograms, cells)`` with ``cells`` a power of two.
        sd: standard deviation of the noise in every cell; positive.
        total: mass to distribute, shape ``(histograms,)``.
    """
    lines = len(noisy)
    observed, outline = [noisy], [_outline(noisy, sd, total)]
    while observed[-1].shape[1] > 1:
        observed.append(observed[-1].reshape(lines, -1, 2).sum(axis=2))
        outline.append(outline[-1].reshape(lines, -1, 2).sum(axis=2))
    mass: Floats = np.asarray(total, np.float64)[:, None]
    for depth in range(len(observed) - 2, -1, -1):
        halves, shares = observed[depth].reshape(lines, -1, 2), outline[depth].reshape(lines, -1, 2)
        expected = mass * shares[..., 0] / shares.sum(axis=2)
        measured = 0.5 * (halves[..., 0] + mass - halves[..., 1])
        prior_variance = (RELATIVE_SPREAD * mass) ** 2
        gain = prior_variance / (prior_variance + 0.5 * sd**2 * 2**depth + 1e-300)
        left = np.clip(expected + gain * (measured - expected), 0.02 * expected, mass - 0.02 * (mass - expected))
        mass = np.stack([left, mass - left], axis=2).reshape(lines, -1)
    return mass
