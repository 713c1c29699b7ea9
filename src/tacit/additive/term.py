"""A term of the additive model while it is being learned."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from tacit.additive.monotone import project
from tacit.additive.posterior import SCALES, Posterior
from tacit.curator.measurement import LEAST_SD, Measurement
from tacit.queries.cells import Cells
from tacit.queries.histogram import ReleaseMap

Floats = npt.NDArray[np.float64]


class ReleaseAverage:
    """The average of a term's releases, each with the effects at which it was made.

    Later ones, whose model is closer to the end, count more: the t-th by the root of t, or by t where ``haste`` is 1.

    Args:
        released: shape of a release.
        effects: shape of the effects.
    """

    def __init__(self, released: tuple[int, ...], effects: tuple[int, ...]) -> None:
        self._releases = 0
        self.haste = 0.0
        self.precision = 0.0
        self.sum: Floats = np.zeros(released)
        self.effects: Floats = np.zeros(effects)
        self._variance = 0.0

    def add(self, value: Floats, sd: float, effect: Floats) -> None:
        """Takes a release in."""
        self._releases += 1
        sd = max(sd, LEAST_SD)
        weight = np.sqrt(self._releases) * self._releases ** (0.5 * self.haste) / sd**2
        self.precision += weight
        self.sum += weight * value
        self.effects += weight * effect
        self._variance += (weight * sd) ** 2

    @property
    def noise_variance(self) -> float:
        """Of the average; as large as :class:`Posterior` was told at least, or the rows' own would be lost."""
        return max(self._variance / self.precision**2, LEAST_SD**2)


def map_values(release_map: ReleaseMap | None, bins: int) -> Floats:
    """A release map as numbers, shape ``(outputs, bins)``; None stands for the bins themselves."""
    return np.eye(bins) if release_map is None else np.asarray(release_map.matrix / release_map.unit)


class Term:
    """A block of the embedding (a column's bins, or a pair's cells) with its releases so far and its effect.

    Args:
        name: for ledger and people.
        kind: terms of one kind share a hyper-prior: ``"numeric"``, ``"categorical"`` or ``"pair"``.
        cells: which rows fall where.
        counts: released bin counts, smoothed, summing to the released number of rows.
        guard: added to the counts where they act as curvature, against their own noise.
        covariances: priors of the effect.
        release_map: what is released of the bins, ``(outputs, bins)``; None for the bins themselves.
        noise_variance: noise variance of the averaged release that is expected at the end.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        cells: Cells,
        counts: Floats,
        guard: Floats | float,
        covariances: list[Floats],
        release_map: Floats | None,
        noise_variance: float,
    ) -> None:
        self.name, self.kind, self.cells, self.counts = name, kind, cells, counts
        self.release_map = None if release_map is None else ReleaseMap.from_floats(release_map)
        self._guarded, self._covariances, self._noise_variance = counts + guard, covariances, noise_variance
        self.expect()
        self.effect: Floats = np.zeros(len(counts))
        self.share, self.monotone = 1.0, 0
        self.weights: Floats = np.full((len(covariances), len(SCALES)), 1.0 / (len(covariances) * len(SCALES)))
        self._average = ReleaseAverage((len(self._design),), (len(counts),))

    @property
    def map_values(self) -> Floats:
        """The release map as numbers, shape ``(outputs, bins)``."""
        return map_values(self.release_map, len(self.counts))

    def expect(self, seen: Floats | float = 1.0, noise: float = 1.0) -> None:
        """Says what releases will be like.

        Args:
            seen: weight of the rows of every bin, where rows are bounded together.
            noise: variance of the noise, relative to what the term was told.
        """
        matrix, weighted = self.map_values, self._guarded * seen
        self._design = matrix * weighted[None, :]
        variance = max(self._noise_variance * noise, LEAST_SD**2)
        self._factored: Posterior | None = None
        self._factor = partial(Posterior, weighted, matrix, self._covariances, variance)

    @property
    def _posterior(self) -> Posterior:
        """Factored when it is first needed: by then the term knows what to expect."""
        if self._factored is None:
            self._factored = self._factor()
        return self._factored

    @property
    def variance(self) -> float:
        """Variance of the effect over the rows: its importance."""
        return float((self.counts * self.effect**2).sum() / self.counts.sum())

    @property
    def liveliness(self) -> float:
        """Posterior probability that the effect is not negligible (over .05 log-odds)."""
        return float(self.weights[:, SCALES > 0.05**2].sum())

    def hurry(self, haste: float) -> None:
        """From now on later releases count so much more than earlier ones, from 0 to 1."""
        self._average.haste = haste

    def observe(self, release: Measurement) -> None:
        """Adds a release to the average."""
        self._average.add(release.value[:, 0], release.sd, self.effect)

    def solve(self, curvature: float, log_prior: Floats | None) -> Floats:
        """The posterior mean of the effect given all releases, each referred to the effect at which it was made."""
        known = self._average
        referred = known.sum / known.precision + curvature * (self._design @ (known.effects / known.precision))
        mean, self.weights = self._posterior.solve(referred, known.noise_variance, curvature, log_prior)
        return project(mean, self.counts, self.monotone)

    def sd(self, curvature: float) -> Floats:
        """Posterior standard deviation of the effect per bin, from the known noise; shape ``(bins,)``."""
        return self._posterior.sd(self._average.noise_variance, curvature, self.weights)
