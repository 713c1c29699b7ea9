"""Prior covariances of a column's effect: how alike neighbouring bins are thought to be. Of masses alone."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats


def centred(covariance: Floats, masses: Floats) -> Floats:
    """The covariance of the effect minus its mean under ``masses``, scaled to an average variance of 1."""
    size = len(masses)
    projection = np.eye(size) - np.outer(np.ones(size), masses)
    matrix = projection @ covariance @ projection.T
    variance = float((masses * np.diag(matrix)).sum())
    return matrix / variance if variance > 1e-9 else np.zeros_like(matrix)


def cubic_spline(position: Floats) -> Floats:
    """The covariance whose posterior mean is a cubic smoothing spline on [0, 1], lines left out (Wahba 1990, 1.2)."""
    gap = np.abs(position[:, None] - position[None, :]) - 0.5
    shifted = position - 0.5
    second = (shifted**2 - 1 / 12) / 2
    fourth = (gap**4 - gap**2 / 2 + 7 / 240) / 24
    return np.outer(second, second) - fourth


def numeric_covariances(masses: Floats) -> list[Floats]:
    """Four priors for an ordered column, from nearly linear to nearly unordered.

    Args:
        masses: shares of the bins, shape ``(bins,)``, summing to 1; the last bin is "missing" and stands apart.

    Returns:
        Matrices of shape ``(bins, bins)``: nearly linear; cubic spline; spline with jumps; jumps and unordered.
    """
    size = len(masses) - 1
    shares = masses[:size] / max(masses[:size].sum(), 1e-300)
    middle = np.cumsum(shares) - shares / 2
    position = 0.5 * middle + 0.5 * (np.arange(size) + 0.5) / size
    gap = np.abs(position[:, None] - position[None, :])
    linear = centred(np.outer(position - 0.5, position - 0.5), shares)
    cubic = centred(cubic_spline(position), shares) if size > 2 else linear
    walk = centred(-gap, shares)
    unordered = centred(np.eye(size), shares)
    blends = (
        0.9 * linear + 0.1 * cubic,
        0.3 * linear + 0.7 * cubic,
        0.2 * linear + 0.8 * walk,
        0.5 * walk + 0.5 * unordered,
    )
    out = []
    for blend in blends:
        whole = np.zeros((size + 1, size + 1))
        whole[:size, :size] = blend
        whole[size, size] = 1.0
        out.append(centred(whole, masses))
    return out


def categorical_covariances(masses: Floats) -> list[Floats]:
    """The one prior for unordered categories: exchangeable."""
    return [centred(np.eye(len(masses)), masses)]
