"""A term of the additive model while it is being learned."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.additive.intercept import TYPICAL_SCATTER
from tacit.additive.monotone import project
from tacit.additive.posterior import SCALES, Posterior
from tacit.arrays import Floats
from tacit.curator.measurement import LEAST_SD, Measurement
from tacit.queries.cells import Cells
from tacit.queries.histogram import ReleaseMap

NEGLIGIBLE_SD = 0.05
"""Effects that vary by no more than this (log-odds) are negligible."""

SCATTER_STEPS = 8
"""Posteriors are factored anew when the scatter of rows has changed by this root of 2."""


class ReleaseAverage:
    """The average of a term's releases, each with the effects at which it was made.

    Later ones, whose model is closer to the end, count more: the t-th by the root of t, by t where ``haste`` is 1, and
    all alike where it is -1.

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


@dataclass(frozen=True, eq=False)
class Prior:
    """What is known of a term before its effect is learned.

    Attributes:
        kind: terms of one kind share a hyper-prior: ``"numeric"``, ``"categorical"`` or ``"pair"``.
        cells: which rows fall where.
        counts: released bin counts, smoothed, summing to the released number of rows.
        guard: added to the counts where they act as curvature, against their own noise.
        covariances: priors of the effect, the same for every score.
        release_map: what is released of the bins, ``(outputs, bins)``; None for the bins themselves.
    """

    kind: str
    cells: Cells
    counts: Floats
    guard: Floats | float
    covariances: list[Floats]
    release_map: Floats | None


class AnyTerm:
    """A block of the embedding (a column's bins, or a pair's cells) with its releases so far and its effect.

    What terms of one margin and of several scores have in common.

    Args:
        name: for ledger and people.
        prior: what is known of it.
        noise_variance: noise variance of the averaged release that is expected at the end.
        per_bin: shape of the effect of one bin.
    """

    def __init__(self, name: str, prior: Prior, noise_variance: float, per_bin: tuple[int, ...]) -> None:
        self.name, self.kind, self.cells, self.counts = name, prior.kind, prior.cells, prior.counts
        self.release_map = None if prior.release_map is None else ReleaseMap.from_floats(prior.release_map)
        self._guarded, self._covariances, self._told = prior.counts + prior.guard, prior.covariances, noise_variance
        self.expect()
        bins, mixed = len(prior.counts), (len(prior.covariances), len(SCALES))
        self.effect: Floats = np.zeros((bins, *per_bin))
        self.share, self.monotone = 1.0, 0
        self.weights: Floats = np.full(mixed, 1.0 / (mixed[0] * mixed[1]))
        self._average = ReleaseAverage((len(self._design), *per_bin), (bins, *per_bin))

    @property
    def map_values(self) -> Floats:
        """The release map as numbers, shape ``(outputs, bins)``."""
        known = self.release_map
        return np.eye(len(self.counts)) if known is None else np.asarray(known.matrix / known.unit)

    def expect(self, seen: Floats | float = 1.0, noise: float = 1.0) -> None:
        """Says what releases will be like.

        Args:
            seen: weight of the rows of every bin, where rows are bounded together.
            noise: variance of the noise, relative to what the term was told.
        """
        self._matrix, self._weighted = self.map_values, self._guarded * seen
        self._design = self._matrix * self._weighted[None, :]
        self._expected = max(self._told * noise, LEAST_SD**2)
        self._posteriors: dict[int, Posterior] = {}

    def _factored(self, key: int, scatter: float) -> Posterior:
        """The posterior where rows scatter so much, factored when first needed: by then what to expect is known.

        Args:
            key: what it is remembered by.
            scatter: variance of what one row contributes to a release, relative to the noise. The noise is that of the
                end, so that the first releases, of more noise, are read with more caution.
        """
        found = self._posteriors.get(key)
        if found is None:
            found = Posterior(self._weighted, self._matrix, self._covariances, scatter)
            self._posteriors[key] = found
        return found

    @property
    def liveliness(self) -> float:
        """Posterior probability that the effect is not negligible."""
        return float(self.weights[:, SCALES > NEGLIGIBLE_SD**2].sum())


class Term(AnyTerm):
    """A term of one margin: one effect per bin.

    Args:
        name: for ledger and people.
        prior: what is known of it.
        noise_variance: noise variance of the averaged release that is expected at the end.
    """

    def __init__(self, name: str, prior: Prior, noise_variance: float) -> None:
        super().__init__(name, prior, noise_variance, ())
        self._scatter = TYPICAL_SCATTER

    def _posterior(self) -> Posterior:
        """The posterior for the scatter of the last solution, to a few percent."""
        step = round(SCATTER_STEPS * math.log2(self._scatter / TYPICAL_SCATTER))
        return self._factored(step, TYPICAL_SCATTER * 2.0 ** (step / SCATTER_STEPS) / self._expected)

    @property
    def variance(self) -> float:
        """Variance of the effect over the rows: its importance."""
        return float((self.counts * self.effect**2).sum() / self.counts.sum())

    def hurry(self, haste: float) -> None:
        """From now on later releases count so much more than earlier ones, from -1 (all alike) to 1."""
        self._average.haste = haste

    def observe(self, release: Measurement) -> None:
        """Adds a release to the average."""
        self._average.add(release.value[:, 0], release.sd, self.effect)

    def solve(self, curvature: float, scatter: float, log_prior: Floats | None) -> Floats:
        """The posterior mean of the effect given all releases, each referred to the effect at which it was made.

        Args:
            curvature: how much what a row contributes falls as its effect rises, on average.
            scatter: variance of what one row contributes.
            log_prior: log weights of the mixture, or None for a flat one.
        """
        known, self._scatter = self._average, scatter
        referred = known.sum / known.precision + curvature * (self._design @ (known.effects / known.precision))
        mean, self.weights = self._posterior().solve(referred, known.noise_variance, curvature, log_prior)
        return project(mean, self.counts, self.monotone)

    def sd(self, curvature: float) -> Floats:
        """Posterior standard deviation of the effect per bin, from the known noise; shape ``(bins,)``."""
        return self._posterior().sd(self._average.noise_variance, curvature, self.weights)
