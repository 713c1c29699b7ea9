"""What to release of a smooth column: not its bins, but the few directions in which its effect can be large."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats
from tacit.binning.tuning import RELEASING

SHORTEST = 0.3  # not tuned, a guard: images shorter than this part of the median one are not blown up further


def _leading_modes(masses: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues of a prior from the largest on, and its eigenmodes by bin, of mean square 1 over the rows."""
    root = np.sqrt(np.maximum(masses, 1e-12))
    values, vectors = np.linalg.eigh(root[:, None] * covariance * root[None, :])
    return np.maximum(values[::-1], 0.0), (vectors[:, ::-1] / root[:, None]).T


def natural_modes(masses: Floats, covariance: Floats, noise_to_signal: float) -> Floats:
    """A release map of leading prior eigenmodes, shape ``(modes, bins)``, water-filled against the known noise.

    A bin's image is its column of the map. Squared images are 1 on the average of the rows. ``masses`` are shares of
    the bins, ``covariance`` is the prior's of the effect; ``noise_to_signal`` the noise variance over the squared
    signal that a mode of eigenvalue 1 makes in the sum.
    """
    values, modes = _leading_modes(masses, covariance)
    count = max(int((values > 1e-6 * values[0]).sum()), 1)
    values = values[:count]
    price = noise_to_signal / np.maximum(values, 1e-12)
    total = np.cumsum(price)
    level = price[0] + 1.0
    for number in range(count, 0, -1):
        level = (1 + total[number - 1]) / number
        if level > price[number - 1]:
            break
    weights = np.maximum(level - price, 0.0)
    n_modes = max(int((weights > RELEASING.kept * weights[0]).sum()), 1)
    return np.asarray(np.sqrt(weights[:n_modes])[:, None] * modes[:n_modes])


def principal_modes(masses: Floats, covariance: Floats, noise_to_signal: float) -> Floats:
    """:func:`natural_modes` where a release costs as much as its longest image: columns of norm at most 1.

    Bins with very short images are not blown up beyond what the median allows.
    """
    images = natural_modes(masses, covariance, noise_to_signal)
    norms = np.sqrt((images**2).sum(axis=0))
    return np.asarray(images / np.maximum(norms, 1e-9 + SHORTEST * np.median(norms))[None, :])


def with_missing(modes: Floats, longest: float = 1.0) -> Floats:
    """Adds the missing bin as an output of its own, and makes sure that no column is longer than allowed."""
    outputs, bins = modes.shape
    whole = np.zeros((outputs + 1, bins + 1))
    whole[:-1, :-1] = modes
    whole[-1, -1] = 1.0
    norms = np.sqrt((whole**2).sum(axis=0))
    return np.asarray(whole / np.maximum(1.0, norms / longest)[None, :])


def centred_map(release_map: Floats, masses: Floats) -> Floats:
    """The map, shape ``(outputs, bins)``, less the image of the average row: what all have belongs to the intercept."""
    return np.asarray(release_map - (release_map @ masses)[:, None])


def few_modes(masses: Floats, covariance: Floats, noise_to_signal: float) -> Floats:
    """A release map for Laplace noise, which follows the L1 norm of an image: as many leading modes as pay, all alike.

    With ``k`` modes each has a ``k``-th of the length, and its noise ``k**2`` times the variance; in the bins
    themselves a mode's noise is that of all bins. What leaves the smallest expected error is released: so many modes,
    or the bins. Arguments and shape are those of :func:`natural_modes`; the squared image of a mode is ``1 / modes**2``
    on the average of the rows.
    """
    values, modes = _leading_modes(masses, covariance)

    def precision_of(count: int, noise: float) -> float:
        return float((values[:count] ** 2 / (values[:count] + noise)).sum())

    by_modes = [precision_of(count, noise_to_signal * count**2) for count in range(1, len(values) + 1)]
    if precision_of(len(values), noise_to_signal * RELEASING.noise_of_bins * len(masses)) > max(by_modes):
        return np.eye(len(masses))
    count = int(np.argmax(by_modes)) + 1
    return np.asarray(modes[:count] / count)


def without_largest(masses: Floats) -> Floats:
    """A release map, ``(bins - 1, bins)``, of every bin but the one that most rows share, which contribute nothing.

    What all bins have in common belongs to the intercept, so the sums of the others determine all of them.
    """
    plain = np.eye(len(masses))
    return plain if len(masses) < 2 else np.asarray(np.delete(plain, int(np.argmax(masses)), axis=0))
