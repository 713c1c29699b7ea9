"""The posterior of a term's effect given all its releases: Gaussian likelihood, known noise, a mixture of priors.

A release is ``x = A (r + h D theta) + noise``: ``A`` the release map, ``D`` the bin counts, ``h`` the curvature,
``theta`` the effect still to be found. The prior is a mixture over smoothness (which covariance) and size (which
``tau``), weighted by marginal likelihood and by what the other columns of the same kind look like (empirical Bayes on
released numbers).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats

SCALES = np.array([1e-4, 0.01, 0.03, 0.07, 0.15, 0.3, 0.6, 1.0, 1.6, 2.5]) ** 2
"""Prior variances of an effect (squared log-odds)."""

LARGEST_EFFECT = 4.0


@dataclass(frozen=True, eq=False)
class _Spectrum:
    """One covariance, diagonal in the whitened release.

    Eigenvalues; the maps from release to modes and from modes to bins; prior variances of the bins.
    """

    values: Floats
    analyse: Floats
    synthesise: Floats
    variances: Floats


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
        self._spectra = []
        for covariance in covariances:
            image = whitened @ covariance
            values, vectors = np.linalg.eigh(image @ whitened.T)
            keep = values > 1e-8 * values[-1]
            values, vectors = values[keep], vectors[:, keep]
            self._spectra.append(_Spectrum(values, vectors.T @ whiten, image.T @ vectors, np.diag(covariance).copy()))

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
        noise = noise_variance / curvature**2
        scores = np.empty((len(self._spectra), len(SCALES)))
        modes, variances = [], []
        for index, spectrum in enumerate(self._spectra):
            z = spectrum.analyse @ (release / curvature)
            variance = SCALES[:, None] * spectrum.values[None, :] + noise
            scores[index] = -0.5 * np.log(variance / noise).sum(axis=1) + 0.5 * (1 / noise - 1 / variance) @ (z * z)
            modes.append(z)
            variances.append(variance)
        if log_prior is not None:
            scores = scores + log_prior
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        mean = np.zeros(self._spectra[0].synthesise.shape[0])
        for spectrum, z, variance, weight in zip(self._spectra, modes, variances, weights, strict=True):
            mean += spectrum.synthesise @ (z * (weight @ (SCALES[:, None] / variance)))
        return np.clip(mean, -LARGEST_EFFECT, LARGEST_EFFECT), weights

    def sd(self, noise_variance: float, curvature: float, weights: Floats) -> Floats:
        """Posterior standard deviation of the effect in every bin, averaged over the mixture; shape ``(bins,)``."""
        noise = noise_variance / curvature**2
        total = np.zeros(self._spectra[0].synthesise.shape[0])
        for spectrum, weight in zip(self._spectra, weights, strict=True):
            variance = SCALES[:, None] * spectrum.values[None, :] + noise
            explained = spectrum.synthesise**2 @ (weight @ (SCALES[:, None] ** 2 / variance))
            total += np.maximum((weight @ SCALES) * spectrum.variances - explained, 0.0)
        return np.sqrt(total)
