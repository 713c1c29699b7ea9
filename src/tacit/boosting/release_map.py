"""What to release of a smooth column: not its bins, but the few directions in which its effect can be large."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

KEPT = 0.02
"""Directions whose water-filled weight is below this share of the first one's are not released."""


def principal_modes(masses: Floats, covariance: Floats, noise_to_signal: float) -> Floats:
    """A release map of leading prior eigenmodes, water-filled against the known noise.

    A bin's image is its column of the map. The release costs as much as its longest image, so columns are scaled to
    norm at most 1; bins with very short images are not blown up beyond what the median allows.

    Args:
        masses: shares of the bins, shape ``(bins,)``, summing to 1.
        covariance: prior covariance of the effect, shape ``(bins, bins)``.
        noise_to_signal: noise variance over the squared signal that a mode of eigenvalue 1 makes in the sum.

    Returns:
        Array of shape ``(modes, bins)``, column norms at most 1.
    """
    root = np.sqrt(np.maximum(masses, 1e-12))
    values, vectors = np.linalg.eigh(root[:, None] * covariance * root[None, :])
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    count = max(int((values > 1e-6 * values[0]).sum()), 1)
    values, vectors = values[:count], vectors[:, :count]
    price = noise_to_signal / np.maximum(values, 1e-12)
    total = np.cumsum(price)
    level = price[0] + 1.0
    for modes in range(count, 0, -1):
        level = (1 + total[modes - 1]) / modes
        if level > price[modes - 1]:
            break
    weights = np.maximum(level - price, 0.0)
    kept = max(int((weights > KEPT * weights[0]).sum()), 1)
    images = np.sqrt(weights[:kept])[:, None] * (vectors[:, :kept] / root[:, None]).T
    norms = np.sqrt((images**2).sum(axis=0))
    scaled: Floats = images / np.maximum(norms, 1e-9 + 0.3 * np.median(norms))[None, :]
    return scaled


def with_missing(modes: Floats) -> Floats:
    """Adds the missing bin as an output of its own, and makes sure that no column is longer than 1."""
    outputs, bins = modes.shape
    whole = np.zeros((outputs + 1, bins + 1))
    whole[:-1, :-1] = modes
    whole[-1, -1] = 1.0
    shortened: Floats = whole / np.maximum(1.0, np.sqrt((whole**2).sum(axis=0)))[None, :]
    return shortened
