"""The posterior of a term's effect given all its releases: Gaussian likelihood, known noise, a mixture of priors.

A release is ``x = A (r + h D theta) + noise``: ``A`` the release map, ``D`` the bin counts, ``h`` the curvature,
``theta`` the remaining effect. The prior is a mixture over smoothness (which covariance) and size (which
``tau``), weighted by marginal likelihood and by what the other columns of the same kind look like (empirical Bayes on
released numbers). Covariances say how alike neighbouring bins are thought to be; they follow from masses alone.

Limits: a bin that differs from smooth neighbours is shrunk to them, and columns of one kind share their prior, so that
one large effect among many small ones is shrunk with these.

Curves that are declared to rise or to fall are projections of what was released. The best rising curve, in squares
weighted by released counts, is isotonic regression: a function of released numbers alone, so it costs nothing. A
boosting step goes part of the way from one such curve to another and stays one, so the rows' margins during the fit are
those of curves that hold the constraint, too, and other columns learn beside it.

Several classes are a scale then, in their declared order: what is held to is the log-odds of every class against the
one before it. If all of those rise with a column, so does the probability of the classes beyond any place on the scale
(monotone likelihood ratios imply stochastic dominance: Lehmann 1955).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numba as nb
import numpy as np

from tacit.additive.tuning import EFFECTS
from tacit.arrays import Floats, Ints

SCALES = np.array([1e-4, 0.01, 0.03, 0.07, 0.15, 0.3, 0.6, 1.0, 1.6, 2.5]) ** 2
"""Prior variances of an effect (squared log-odds)."""

LARGE = 1e100
"""Not tuned, of the arithmetic: products of variances stay finite."""


@dataclass(frozen=True, eq=False)
class _Spectra:
    """Covariances, each diagonal in the whitened release; their modes stand one after another."""

    values: Floats  # eigenvalues, shape `(modes,)`
    # how many modes there are up to each covariance, its own included, after a 0; shape `(covariances + 1,)`
    ends: Ints
    analyse: Floats  # from release to modes, shape `(modes, outputs)`
    synthesise: Floats  # from modes to bins, shape `(bins, modes)`
    variances: Floats  # prior variances of the bins, shape `(covariances, bins)`


@nb.njit(nogil=True, cache=True)
def log_likelihoods(modes, values, ends, scales, noise):  # type: ignore[no-untyped-def]
    """Log marginal likelihoods of a release by its modes, above that of no effect: ``(covariances, scales)``."""
    likelihoods = np.empty((len(ends) - 1, len(scales)))
    for index in range(len(likelihoods)):
        for k in range(len(scales)):
            total, ratio = 0.0, 1.0
            for m in range(ends[index], ends[index + 1]):
                variance = scales[k] * values[m] + noise
                total += scales[k] * values[m] / variance * modes[m] * modes[m] / noise
                ratio *= variance / noise
                if ratio > LARGE:  # a logarithm takes longer than all else
                    total -= math.log(ratio)
                    ratio = 1.0
            likelihoods[index, k] = 0.5 * (total - math.log(ratio))
    return likelihoods


@nb.njit(nogil=True, cache=True)
def shrink(modes, values, ends, scales, noise, weights):  # type: ignore[no-untyped-def]
    """Multiplies modes by what a mixture makes of them, ``sum of weight scale / (scale value + noise)``."""
    for index in range(len(weights)):
        for m in range(ends[index], ends[index + 1]):
            shrinkage = 0.0
            for k in range(len(scales)):
                shrinkage += weights[index, k] * scales[k] / (scales[k] * values[m] + noise)
            modes[m] *= shrinkage


class Posterior:
    """Everything about a term that can be factored once, before the sweeps.

    Args:
        counts: bin counts (with a guard for their own noise), shape ``(bins,)``.
        release_map: ``A``, shape ``(outputs, bins)``.
        covariances: priors, each ``(bins, bins)``.
        scatter: variance of what one row contributes, relative to the noise variance of the averaged release.
    """

    def __init__(self, counts: Floats, release_map: Floats, covariances: list[Floats], scatter: float) -> None:
        design = release_map * counts[None, :]
        # a release also carries the sampling noise of the rows, of variance A (scatter D) A'
        blur = np.eye(len(release_map)) + (design @ release_map.T) * scatter
        whiten = np.linalg.inv(np.linalg.cholesky(blur))
        whitened = whiten @ design
        values_of, analyse, synthesise = [], [], []
        images = [whitened @ covariance for covariance in covariances]
        spectra = np.linalg.eigh(np.array([image @ whitened.T for image in images]))
        for image, values, vectors in zip(images, *spectra, strict=True):
            keep = values > 1e-8 * values[-1]
            modes = vectors[:, keep]
            values_of.append(values[keep])
            analyse.append(modes.T @ whiten)
            synthesise.append(image.T @ modes)
        self._spectra = _Spectra(
            np.concatenate(values_of),
            np.cumsum([0, *map(len, values_of)]),
            np.concatenate(analyse),
            np.concatenate(synthesise, axis=1),
            np.array([np.diag(covariance) for covariance in covariances]),
        )

    def solve(
        self, release: Floats, noise_variance: float, curvature: float, log_prior: Floats | None
    ) -> tuple[Floats, Floats]:
        """Posterior mean of the effect and the weights of the mixture.

        Args:
            release: averaged release referred to ``theta = 0``, shape ``(outputs,)``.
            noise_variance: of each coordinate of ``release``.
            curvature: ``h``.
            log_prior: log weights of the mixture, shape ``(covariances, scales)``, or None for a flat one.

        Returns:
            The mean, shape ``(bins,)``, and the posterior weights, shape ``(covariances, scales)``.
        """
        spectra, noise = self._spectra, noise_variance / curvature**2
        modes = spectra.analyse @ (release / curvature)
        scores = log_likelihoods(modes, spectra.values, spectra.ends, SCALES, noise)
        if log_prior is not None:
            scores = scores + log_prior
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        shrink(modes, spectra.values, spectra.ends, SCALES, noise, weights)
        largest = EFFECTS.largest
        return np.minimum(np.maximum(spectra.synthesise @ modes, -largest), largest), weights

    def sd(self, noise_variance: float, curvature: float, weights: Floats) -> Floats:
        """Posterior standard deviation of the effect in every bin, averaged over the mixture; shape ``(bins,)``."""
        spectra, noise = self._spectra, noise_variance / curvature**2
        total = np.zeros(spectra.synthesise.shape[0])
        for index, weight in enumerate(weights):
            own = slice(spectra.ends[index], spectra.ends[index + 1])
            variance = SCALES[:, None] * spectra.values[None, own] + noise
            explained = spectra.synthesise[:, own] ** 2 @ (weight @ (SCALES[:, None] ** 2 / variance))
            total += np.maximum((weight @ SCALES) * spectra.variances[index] - explained, 0.0)
        return np.sqrt(total)


def centred(covariance: Floats, masses: Floats) -> Floats:
    """The covariance of the effect minus its mean under ``masses``, scaled to an average variance of 1."""
    size = len(masses)
    projection = np.eye(size) - masses
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
        EFFECTS.straight[0] * linear + EFFECTS.straight[1] * cubic,
        EFFECTS.curved[0] * linear + EFFECTS.curved[1] * cubic,
        EFFECTS.rough[0] * linear + EFFECTS.rough[1] * walk,
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


RISES, FALLS = 1, -1  # not tuned: names of signs

DIRECTIONS = {"increasing": RISES, "decreasing": FALLS}
NAMES = {direction: name for name, direction in DIRECTIONS.items()}


def project(effect: Floats, counts: Floats, direction: int) -> Floats:
    """The nearest monotone effect, the last bin ("missing") left as it is.

    Args:
        effect: per bin, shape ``(bins,)`` or ``(bins, n_scores)``; of several scores, the differences of neighbouring
            ones are projected, and their mean is kept.
        counts: released rows of every bin, which weigh it, shape ``(bins,)``.
        direction: :data:`RISES`, :data:`FALLS`, or 0 for no constraint.
    """
    if direction == 0 or len(effect) < 3:
        return effect
    from scipy.optimize import isotonic_regression  # takes longer to load than a fit of a small table

    if effect.ndim == 2 and effect.shape[1] > 1:
        return _from_differences(effect, project(np.diff(effect, axis=1)[:, :, None], counts, direction))
    out = np.array(effect, np.float64)
    weights = np.maximum(counts[:-1], 1e-9 * max(float(counts.sum()), 1e-300))
    for column in out.reshape(len(out), -1).T:  # views: what is written there is written to ``out``
        column[:-1] = direction * isotonic_regression(direction * column[:-1], weights=weights).x
    return exactly(out, direction)


def exactly(effect: Floats, direction: int) -> Floats:
    """The effect without rounding errors that go the wrong way, the last bin left as it is."""
    if direction == 0 or len(effect) < 3:
        return effect
    if effect.ndim == 2 and effect.shape[1] > 1:
        return _from_differences(effect, exactly(np.diff(effect, axis=1)[:, :, None], direction))
    rising = np.maximum.accumulate(direction * effect[:-1], axis=0)
    return np.concatenate([direction * rising, effect[-1:]])


def _from_differences(effect: Floats, differences: Floats) -> Floats:
    """Scores with these differences of neighbours, shape ``(bins, n_scores - 1, 1)``, and the mean that they had."""
    scores = np.concatenate([np.zeros((len(effect), 1)), np.cumsum(differences[:, :, 0], axis=1)], axis=1)
    return np.asarray(scores + (effect.mean(axis=1) - scores.mean(axis=1))[:, None])
