"""A term with a vector of effects per bin (one per score) while it is being learned.

What :class:`tacit.additive.term.Term` is for one margin. The curvature is a matrix ``H`` now: in the directions of its
eigenvectors releases are independent problems with one curvature each, and noise is the same in all of them, because a
rotation does not change it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.additive.monotone import project
from tacit.additive.posterior import Posterior
from tacit.additive.term import AnyTerm, Prior
from tacit.arrays import Floats, Ints
from tacit.curator.measurement import Measurement

NEGLIGIBLE = 1e-9
"""Directions of relative curvature below this are no directions: softmax scores may all move together."""


@dataclass(frozen=True, eq=False)
class Directions:
    """The eigenvectors of a curvature matrix that matter.

    Attributes:
        matrix: ``H``, shape ``(n_scores, n_scores)``.
        basis: orthonormal columns, shape ``(n_scores, directions)``.
        curvatures: one per direction, none below the floor.
        scatters: variance of a row's contribution, one per direction.
        gain: what a release made now says per row about effects, relative to others: see :attr:`Loss.gain
            <tacit.additive.score_losses.Loss.gain>`.
    """

    matrix: Floats
    basis: Floats
    curvatures: Floats
    scatters: Floats
    gain: float = 1.0

    @staticmethod
    def of(matrix: Floats, floor: float, scatter: float, least_scatter: float = 0.0, gain: float = 1.0) -> Directions:
        """Directions of a positive semidefinite matrix.

        Args:
            matrix: the curvature.
            floor: smaller curvatures count as this.
            scatter: variance of a row's contribution per unit of curvature.
            least_scatter: no variance is thought smaller.
            gain: see the attribute.
        """
        values, vectors = np.linalg.eigh(matrix)
        kept = values > NEGLIGIBLE * max(float(values[-1]), 1e-300)
        curvatures = np.maximum(values[kept], floor)
        return Directions(matrix, vectors[:, kept], curvatures, np.maximum(scatter * curvatures, least_scatter), gain)


class ScoreTerm(AnyTerm):
    """A term of several scores: a vector of effects per bin.

    Args:
        name: for ledger and people.
        prior: what is known of it.
        noise_variance: noise variance of the averaged release that is expected at the end.
        n_scores: how many effects a bin has.
    """

    def __init__(self, name: str, prior: Prior, noise_variance: float, n_scores: int) -> None:
        super().__init__(name, prior, noise_variance, (n_scores,))
        self._direction_weights: list[Floats] = []

    @property
    def variance(self) -> float:
        """Variance of the effects over the rows, summed over scores: its importance."""
        return float((self.counts[:, None] * self.effect**2).sum() / self.counts.sum())

    def observe(self, release: Measurement, gain: float = 1.0) -> None:
        """Adds a release to the average, in units of its gain: releases of one effect then agree but for noise."""
        self._average.add(release.value / gain, release.sd / gain, self.effect)

    def solve(self, directions: Directions, log_prior: Floats | None) -> Floats:
        """The posterior mean of the effects given all releases, shape ``(bins, n_scores)``."""
        known = self._average
        referred = (
            (directions.gain * known.sum + self._design @ known.effects @ directions.matrix)
            / known.precision
            @ directions.basis
        )
        means, self._direction_weights = np.empty((len(self.counts), len(directions.curvatures))), []
        for j, curvature in enumerate(directions.curvatures):
            means[:, j], weights = self._posterior(directions, j).solve(
                referred[:, j], self._noise_variance(directions), float(curvature), log_prior
            )
            self._direction_weights.append(weights)
        self.weights = np.asarray(np.mean(self._direction_weights, axis=0))
        return project(np.asarray(means @ directions.basis.T), self.counts, self.monotone)

    def _noise_variance(self, directions: Directions) -> float:
        return directions.gain**2 * self._average.noise_variance

    def _posterior(self, directions: Directions, direction: int) -> Posterior:
        """The posterior for how much rows scatter in a direction, relative to the noise: to a factor of the root of 2.

        Only that ratio matters to what is factored once.
        """
        ratio = float(directions.scatters[direction]) / self._expected
        power = round(math.log2(max(ratio, 1e-9)))
        return self._factored(power, 2.0**power)

    def sd(self, directions: Directions) -> Floats:
        """Posterior standard deviation of the effects from the known noise, shape ``(bins, n_scores)``."""
        sds = [
            self._posterior(directions, j).sd(
                self._noise_variance(directions), float(directions.curvatures[j]), weights
            )
            for j, weights in enumerate(self._direction_weights)
        ]
        return np.asarray(np.sqrt(np.square(np.array(sds)).T @ np.square(directions.basis).T))


def strongest_order(effect: Floats, counts: Floats) -> Ints:
    """The bins in the order of their effects along the direction in which effects vary most; rank per bin."""
    _, _, directions = np.linalg.svd(np.sqrt(counts)[:, None] * effect, full_matrices=False)
    along = effect @ directions[0]
    ranks: Ints = np.argsort(np.argsort(along, kind="stable"), kind="stable")
    return ranks
