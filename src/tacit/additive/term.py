"""A term of the additive model while it is being learned: a column's bins, or a pair's cells, and their effects.

Every bin has an effect on each of the ``k`` scores. The curvature of the loss is a ``k x k`` matrix ``H``: along its
eigenvectors releases are independent problems with one curvature each, and noise is the same in all of them, because a
rotation does not change it. Two classes, and numbers, have ``k = 1`` and one direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.additive.posterior import SCALES, Posterior, project
from tacit.additive.tuning import EFFECTS
from tacit.arrays import Floats, Ints
from tacit.curator.measurement import LEAST_SD, Measurement
from tacit.queries.cells import Cells
from tacit.queries.histogram import ReleaseMap

SCATTER_STEPS = 8
"""Not tuned, of the arithmetic: posteriors are factored anew when the scatter of rows of two classes has changed by
this root of 2."""

AVERAGING_LOSS = 4 / 3
"""Not tuned, of the weights: variance of the weighted average of releases, relative to spending the whole share on
one."""

NEGLIGIBLE_CURVATURE = 1e-9
"""Not tuned, of the arithmetic: directions of relative curvature below this are no directions: softmax scores may all
move together."""


@dataclass(frozen=True, eq=False)
class Directions:
    """The eigenvectors of a curvature matrix that matter."""

    matrix: Floats  # `H`, shape `(n_scores, n_scores)`
    basis: Floats  # orthonormal columns, shape `(n_scores, directions)`
    curvatures: Floats  # one per direction, none below the floor
    scatters: Floats  # variance of a row's contribution, one per direction
    gain: float = 1.0  # what a release made now says per row about effects, relative to others: see `gain>`

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
        significant = values > NEGLIGIBLE_CURVATURE * max(float(values[-1]), 1e-300)
        curvatures = np.maximum(values[significant], floor)
        return Directions(
            matrix, vectors[:, significant], curvatures, np.maximum(scatter * curvatures, least_scatter), gain
        )

    @staticmethod
    def alone(curvature: float, scatter: float) -> Directions:
        """The one direction of one score."""
        return Directions(np.array([[curvature]]), np.eye(1), np.array([curvature]), np.array([scatter]))


class ReleaseAverage:
    """The average of a term's releases, each with the effects at which it was made.

    Later ones, whose model is closer to the end, count more: the t-th by the root of t, by t where ``recency`` is 1,
    and all alike where it is -1.

    Args:
        released: shape of a release.
        effects: shape of the effects.
    """

    def __init__(self, released: tuple[int, ...], effects: tuple[int, ...]) -> None:
        self._releases = 0
        self.recency = 0.0
        self.precision = 0.0
        self.sum: Floats = np.zeros(released)
        self.effects: Floats = np.zeros(effects)
        self._variance = 0.0

    def add(self, value: Floats, sd: float, effect: Floats) -> None:
        """Takes a release in."""
        self._releases += 1
        sd = max(sd, LEAST_SD)
        weight = np.sqrt(self._releases) * self._releases ** (0.5 * self.recency) / sd**2
        self.precision += weight
        self.sum += weight * value
        self.effects += weight * effect
        self._variance += (weight * sd) ** 2

    @property
    def noise_variance(self) -> float:
        """Of the average; at least the square of :data:`LEAST_SD`."""
        return max(self._variance / self.precision**2, LEAST_SD**2)


@dataclass(frozen=True, eq=False)
class Prior:
    """What is known of a term before its effect is learned."""

    kind: str  # terms of one kind share a hyper-prior: `"numeric"`, `"categorical"` or `"pair"`
    cells: Cells  # which rows fall where
    counts: Floats  # released bin counts, smoothed, summing to the released number of rows
    guard: Floats | float  # added to the counts where they act as curvature, against their own noise
    covariances: list[Floats]  # priors of the effect, the same for every score
    release_map: Floats | None  # what is released of the bins, `(outputs, bins)`; None for the bins themselves


class Term:
    """A block of the embedding (a column's bins, or a pair's cells) with its releases so far and its effects.

    ``prior_mean`` is what the schema expects of the effects, shape ``(bins,)``, of one score; None for nothing
    (:mod:`tacit.additive.public_prior`).

    Args:
        name: for ledger and people.
        prior: what is known of it.
        noise_variance: noise variance of the averaged release that is expected at the end.
        n_scores: how many effects a bin has.
        follows_scatter: whether the scatter of rows is followed to a few percent, as for two classes, and relative to
            what is typical; else to a factor of the root of 2, relative to the noise.
        growth: None, or under a log link the ``2 - p`` by which a row of effect ``f`` is curved, and scatters, in
            proportion to ``exp((2 - p) f)``.
    """

    def __init__(
        self,
        name: str,
        prior: Prior,
        noise_variance: float,
        n_scores: int = 1,
        follows_scatter: bool = False,
        growth: float | None = None,
    ) -> None:
        self.name, self.kind, self.cells, self.counts = name, prior.kind, prior.cells, prior.counts
        self._total = prior.counts.sum()
        self.release_map = None if prior.release_map is None else ReleaseMap.from_floats(prior.release_map)
        self._guarded, self._covariances, self._told = prior.counts + prior.guard, prior.covariances, noise_variance
        self._follows_scatter, self._growth = follows_scatter, growth
        self._direction_weights: list[Floats] = []
        self.expect()
        bins, mixed = len(prior.counts), (len(prior.covariances), len(SCALES))
        self.effect: Floats = np.zeros((bins, n_scores))
        self.monotone = 0
        self.prior_mean: Floats | None = None
        self.weights: Floats = np.full(mixed, 1.0 / (mixed[0] * mixed[1]))
        self._average = ReleaseAverage((len(self._design), n_scores), (bins, n_scores if growth is None else 2))

    @property
    def map_values(self) -> Floats:
        """The release map as numbers, shape ``(outputs, bins)``."""
        release_map = self.release_map
        return np.eye(len(self.counts)) if release_map is None else np.asarray(release_map.matrix / release_map.unit)

    def expect(self, weight: Floats | float = 1.0, coming: float | None = None) -> None:
        """Says what releases will be like.

        ``weight`` is that of the rows of every bin, where rows are bounded together; ``coming`` the noise variance of
        the average of the releases still to come, of what the term was made for if None.
        """
        self._matrix, self._seen = self.map_values, self._guarded * weight
        expected = self._told if coming is None else coming
        # releases of earlier sweeps go on counting: the posterior is factored for both together
        if self.is_known:
            expected = 1.0 / (1.0 / expected + 1.0 / self.noise_variance)
        self._expected = max(expected, LEAST_SD**2)
        self._bend(np.ones(1))

    def _bend(self, curvatures: Floats) -> None:
        relative = curvatures * (self.counts.sum() / float(self.counts @ curvatures)) if len(curvatures) > 1 else 1.0
        self._weighted = self._seen * relative
        self._design = self._matrix * self._weighted[None, :]
        self._posteriors: dict[int, Posterior] = {}

    def _powers(self) -> Floats:
        """Under a log link: ``exp((1 - p) f)`` and ``exp((2 - p) f)`` of the effects, shape ``(bins, 2)``."""
        assert self._growth is not None
        effect = np.clip(self.effect, -EFFECTS.largest, EFFECTS.largest)
        return np.asarray(np.exp(effect * np.array([[self._growth - 1.0, self._growth]])))

    @property
    def variance(self) -> float:
        """Variance of the effects over the rows, summed over scores: its importance."""
        return float((self.counts[:, None] * self.effect**2).sum() / self._total)

    def doubt(self, directions: Directions, noise: float = 1.0) -> float:
        """Posterior variance of the effects over the rows, summed over scores; arguments as in :meth:`sd`."""
        return mean_square(self.counts, self.sd(directions, noise))

    @property
    def is_known(self) -> bool:
        """Whether its effect was solved for already."""
        return bool(self._direction_weights)

    @property
    def noise_variance(self) -> float:
        """Of the average of its releases."""
        return self._average.noise_variance

    def set_recency(self, recency: float) -> None:
        """From now on later releases count so much more than earlier ones, from -1 (all alike) to 1."""
        self._average.recency = recency

    def observe(self, release: Measurement, gain: float = 1.0) -> None:
        """Adds a release to the average, in units of its gain: releases of one effect then agree but for noise."""
        at = self.effect if self._growth is None else self._powers()
        self._average.add(release.value / gain, release.sd / gain, at)

    def solve(self, directions: Directions, log_prior: Floats | None) -> Floats:
        """The posterior mean of the effects given all releases, each referred to the effects at which it was made.

        ``directions`` say how much what a row contributes falls as its effects rise, and how much it scatters;
        ``log_prior`` has the log weights of the mixture, None for a flat one.

        Returns:
            Effects of shape ``(bins, n_scores)``.
        """
        # under a log link bins of larger means are curved more, and say more
        if self._growth:
            self._bend(self._powers()[:, 1])
        referred, mean = self._referred(directions), self.prior_mean
        if mean is not None:  # the posterior is that of what the effect is beside it
            referred = referred - float(directions.curvatures[0]) * (self._design @ mean)[:, None]
        means, self._direction_weights = np.empty((len(self.counts), len(directions.curvatures))), []
        for j, curvature in enumerate(directions.curvatures):
            means[:, j], weights = self._posterior(directions, j).solve(
                referred[:, j], self._noise_variance(directions), float(curvature), log_prior
            )
            self._direction_weights.append(weights)
        first = self._direction_weights[0]
        self.weights = first if len(self._direction_weights) == 1 else np.mean(self._direction_weights, axis=0)
        effects = np.asarray(means @ directions.basis.T)
        return project(effects if mean is None else effects + mean[:, None], self.counts, self.monotone)

    def size_along(self, shape: Floats, directions: Directions) -> tuple[float, float]:
        """How large the effect is along a shape over the bins, by all releases, and the variance of that.

        The variance is that of the noise, and of the scatter of as many rows; one score alone.
        """
        image = float(directions.curvatures[0]) * (self._design @ shape)
        square = max(float(image @ image), NEGLIGIBLE_CURVATURE)
        rows = max(float(self.counts @ shape**2) * float(directions.curvatures[0]), NEGLIGIBLE_CURVATURE)
        size = float(image @ self._referred(directions)[:, 0]) / square
        return size, self._noise_variance(directions) / square + 1.0 / rows

    def sd(self, directions: Directions, noise: float = 1.0) -> Floats:
        """Posterior standard deviation of the effects from the known noise, shape ``(bins, n_scores)``.

        ``noise``: how large its variance is, relative to that of what was released.
        """
        variance = noise * self._noise_variance(directions)
        sds = [
            self._posterior(directions, j).sd(variance, float(directions.curvatures[j]), weights)
            for j, weights in enumerate(self._direction_weights)
        ]
        return np.asarray(np.sqrt(np.square(np.array(sds)).T @ np.square(directions.basis).T))

    def _referred(self, directions: Directions) -> Floats:
        """The averaged release as it would be where effects are 0, shape ``(outputs, directions)``.

        Both ways of writing it are one formula; they round differently.
        """
        average = self._average
        # one score: a scalar slope, in the order of operations that golden fits hold
        if self._follows_scatter:
            slope, precision = directions.curvatures[0], average.precision
            referred = average.sum[:, 0] / precision + slope * (self._design @ (average.effects[:, 0] / precision))
            return np.asarray(referred)[:, None]
        if self._growth is not None:
            known_effects = self._as_if_linear(average.effects / average.precision) * average.precision
        else:
            known_effects = average.effects
        both = directions.gain * average.sum + self._design @ known_effects @ directions.matrix
        return np.asarray(both / average.precision @ directions.basis)

    def _as_if_linear(self, powers: Floats) -> Floats:
        """Under a log link: the effects at which a linear model would have had the average release, ``(bins, 1)``.

        A bin's mean contribution at the effect ``f`` is in proportion to ``exp(g + (1 - p) f) - exp((2 - p) f)`` where
        ``g`` is right. Taken to be right now, that says by how much each release would have differed from one made now.

        Args:
            powers: averages over releases of :meth:`_powers`.
        """
        now = np.clip(self.effect[:, 0], -EFFECTS.largest, EFFECTS.largest)
        more = (powers[:, 1] - np.exp(now) * powers[:, 0]) / self._powers()[:, 1]
        return np.asarray(self.effect[:, 0] + more)[:, None]

    def _noise_variance(self, directions: Directions) -> float:
        return directions.gain**2 * self._average.noise_variance

    def _posterior(self, directions: Directions, direction: int) -> Posterior:
        """The posterior for how much rows scatter in a direction, relative to the noise.

        Only that ratio matters to what is factored, once for every rounded ratio. The noise is that of the end, so that
        the first releases, of more noise, are read with more caution.
        """
        scatter = float(directions.scatters[direction])
        # two classes: to a few percent, as the scatter changes much while scores spread; else to a factor of root two,
        # as a factorisation takes time
        if self._follows_scatter:
            key = round(SCATTER_STEPS * math.log2(scatter / EFFECTS.typical_scatter))
            ratio = EFFECTS.typical_scatter * 2.0 ** (key / SCATTER_STEPS) / self._expected
        else:
            key = round(math.log2(max(scatter / self._expected, 1e-9)))
            ratio = 2.0**key
        posterior = self._posteriors.get(key)
        if posterior is None:  # first time at this ratio
            posterior = Posterior(self._weighted, self._matrix, self._covariances, ratio)
            self._posteriors[key] = posterior
        return posterior


def mean_square(counts: Floats, change: Floats) -> float:
    """The mean square over the rows of a change of effects, summed over scores.

    Args:
        counts: rows by cell, shape ``(cells,)``.
        change: shape ``(cells, n_scores)``.
    """
    return float(counts @ (change**2).sum(axis=1) / max(float(counts.sum()), 1e-9))


def strongest_order(effect: Floats, counts: Floats) -> Ints:
    """The bins in the order of their effects along the direction in which effects vary most; rank per bin."""
    _, _, directions = np.linalg.svd(np.sqrt(counts)[:, None] * effect, full_matrices=False)
    along = effect @ directions[0]
    return np.argsort(np.argsort(along, kind="stable"), kind="stable")
