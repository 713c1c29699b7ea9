"""Boosting by a smooth function of all columns together, for several scores or a number: random Fourier features.

Trees cut columns one by one, and see slowly what depends on small differences of columns that vary together: shells
that are light for their size. Here columns are first turned into independent ones by their released scatter, and a
smooth kernel of those (Rahimi and Recht 2007, the Gaussian one) is followed as :mod:`~tacit.growing.kernel_trees`
follows the kernel of trees. Rows release the outer product of their feature vector, of norm 1, and their contribution,
which is bounded; the noise at any point is that of one sum, and ending after a way of ``v`` does what a Gaussian prior
of covariance ``v k`` does. ``v`` is estimated from the first sum, over all directions in which scores are curved: where
that shows no effect the way is short, and next to nothing is learned. Directions that many rows share are learned
within a few steps and would be overshot by longer ones, so each step is damped by the curvature that normal rows of
the released scatter have along it; that is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag

from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.curator.measurement import Measurement
from tacit.growing.normal_rows import NormalRows
from tacit.growing.random_trees import Cuts
from tacit.growing.released_features import released_features
from tacit.growing.rounds import FourierRounds
from tacit.growing.tuning import SMOOTH, Smooth
from tacit.models.fourier_features import FourierFeatures, FourierTerm
from tacit.privacy.label import Label, Stage
from tacit.queries.fourier import ScoreFourierSum

VARIANCES = np.concatenate([[0.0], np.logspace(-4.0, 1.0, 41)])
"""Prior variances of a score that are compared."""

FIRST = Label(Stage.FOURIER, "first sum", text="smooth function, first sum")


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of features along which rows vary, and how much: orthonormal vectors.

    Attributes:
        vectors: shape ``(size, directions)``, a direction per column.
        rows: squared length of all rows along each, shape ``(directions,)``.
        curvature: of the loss, of a row on average.
        own: variance of a row's weight, per unit of curvature.
        steepest: no row's curvature is larger: steps may be too short for it, not too long.
    """

    vectors: Floats
    rows: Floats
    curvature: float
    own: float
    steepest: float

    @staticmethod
    def of(normal: NormalRows, rows: float, curvature: float, own: float, steepest: float) -> Directions:
        """All directions, of so many rows: eigenvectors block by block."""
        values, vectors = zip(*map(np.linalg.eigh, normal.products), strict=True)
        lengths = np.maximum(np.concatenate(values), 0.0) * rows
        return Directions(block_diag(*vectors), lengths, curvature, own, steepest)

    def lengths(self, way: float) -> Floats:
        """How far a sum is followed along each direction: ``way``, or less where rows would answer to it."""
        return 1.0 / (1.0 / way + self.steepest * self.rows)

    def steps(self, way: float) -> Floats:
        """What a sum is multiplied by, shape ``(size, size)``."""
        return (self.vectors * self.lengths(way)) @ self.vectors.T

    def kept(self, way: float) -> Floats:
        """What is left of a score along each direction after a step, on average over labels."""
        return np.asarray(1.0 - self.curvature * self.rows * self.lengths(way), np.float64)

    def likelihood(self, seen: Floats, sd: float) -> Floats:
        """Log marginal likelihood of every prior variance, up to a constant, shape ``(len(VARIANCES),)``.

        Were scores short of a function with Gaussian prior ``v k``, a sum would have the variance
        ``(c n_k)^2 v + own c n_k + sd^2`` along a direction of squared length ``n_k``: what they lack, what rows vary
        by themselves, and noise.

        Args:
            seen: the released sum, shape ``(size,)``.
            sd: of the noise in every number of it.
        """
        squares = (self.vectors.T @ seen)[:, None] ** 2
        answer = self.curvature * self.rows[:, None]
        variance = answer**2 * VARIANCES + self.own * answer + max(sd, 1e-9) ** 2
        return np.asarray(-0.5 * (squares / variance + np.log(variance)).sum(axis=0))


def believed_way(likelihood: Floats, most: float, numbers: Smooth = SMOOTH) -> float:
    """How far to go in all: up to :attr:`~Smooth.of_the_likely` times the likely prior variance.

    Of the variances that are not 0, every power of ten is thought equally likely before.

    Args:
        likelihood: of :data:`VARIANCES`.
        most: where noise in a score ends the way.
        numbers: of the tuning.
    """
    weights = np.exp(likelihood - likelihood.max())
    weights[0] *= numbers.nothing / (1.0 - numbers.nothing) * (len(VARIANCES) - 1)
    return float(weights @ np.minimum(numbers.of_the_likely * VARIANCES, most) / weights.sum())


@dataclass(frozen=True, eq=False)
class Descent:
    """Gradient descent along random features, which goes on from a first sum.

    Attributes:
        query: what is summed at every step, of rows as they are then.
        add: adds a function to the scores of all rows, and returns its weights as they were rounded.
        normal: rows as they are thought to be.
        rows: the released number of rows.
        first: the first sum.
        along: directions of the features, for every direction in which scores are curved.
        bound: the largest contribution of a row, in units of the score.
        most_variance: the prior variance of a score is never larger.
        basis: directions in which scores are curved, shape ``(n_scores, fewer)``.
        numbers: of the tuning.
    """

    query: ScoreFourierSum
    add: Callable[[FourierFeatures, Floats], Floats]
    normal: NormalRows
    rows: float
    first: Measurement
    along: tuple[Directions, ...]
    bound: float
    most_variance: float
    basis: Floats
    numbers: Smooth = SMOOTH

    def likelihood(self, seen: Floats, sd: float) -> Floats:
        """Log marginal likelihood of every prior variance, by all directions of scores together.

        Args:
            seen: the first sum of vectors of norm 1.
            sd: of the noise in every number of it.
        """
        each = [one.likelihood(part, sd) for one, part in zip(self.along, (seen @ self.basis).T, strict=True)]
        return np.asarray(np.sum(each, axis=0))

    def go(self, budget: Budget, noise: float) -> FourierTerm:
        """Boosts the scores, spending the budget.

        Args:
            budget: what it may spend, of Gaussian noise.
            noise: standard deviation that noise may have in a score, about.
        """
        features, along, count = self.query.features, self.along, self.numbers.steps
        root, projected = math.sqrt(features.pairs), self.basis @ self.basis.T

        def add(steps: Floats, value: Floats) -> Floats:
            return self.add(features, steps @ (value / root) @ projected)

        first, first_sd = self.first.value, self.first.sd / root
        seen, left_sd = max(first_sd / self.bound, 1e-9), max(budget.sd(), 1e-9)
        part, each = left_sd**2 / (seen**2 + left_sd**2), budget.split(count)  # the first sum is one among others
        most = min(noise / (math.sqrt(1.0 - part) * left_sd * self.bound), self.most_variance)
        variance = believed_way(self.likelihood(first / root, first_sd), most, self.numbers)
        way = part * variance
        weights = add(along[0].steps(way), first)
        left = [one.lengths(way) ** 2 * first_sd**2 for one in along]  # variance of the weights along each direction
        way = (1.0 - part) * variance / count
        steps, lengths, kept = along[0].steps(way), along[0].lengths(way), [one.kept(way) for one in along]
        for number in range(count):
            release = each.measure(self.query, 1.0, Label(Stage.FOURIER, round=number + 1))
            weights += add(steps, release.value)
            added = lengths**2 * (release.sd / root) ** 2
            left = [old * share**2 + added for old, share in zip(left, kept, strict=True)]
        n_scores = weights.size // features.size
        sd = math.sqrt(sum(float(along[0].rows @ one) for one in left) / self.rows / n_scores)
        spread = math.sqrt(self.normal.variance(weights))
        return FourierTerm(features, weights, sd, spread)


def grow_fourier(
    budget: Budget,
    rows: float,
    noise: float,
    cuts: Cuts,
    rounds: FourierRounds,
    generator: np.random.Generator,
    numbers: Smooth = SMOOTH,
) -> tuple[FourierTerm | None, float]:
    """Boosts the scores by a smooth function of all columns, spending the budget.

    Args:
        budget: what it may spend, of Gaussian noise.
        rows: the released number of rows.
        noise: standard deviation that noise may have in a score, about.
        cuts: what is known of the columns; unordered ones have ranks.
        rounds: what rows contribute; every step is appended to its log.
        generator: public randomness.
        numbers: of the tuning.

    Returns:
        The function, and the share of the allowance that was spent. There is none where fewer than two columns have two
        codes.
    """
    look = budget.part(numbers.look_part)
    drawn, spent = released_features(look, rows, cuts, generator, numbers)
    if drawn is None:
        return None, 0.0
    features, normal = drawn
    query, summed = ScoreFourierSum(features, rounds.bare_rule, rounds.scores), look.part(1.0 - numbers.scatter_part)
    first = summed.measure(query, 1.0, FIRST)
    values, basis = np.linalg.eigh(rounds.curvature())
    curved = values > 1e-9 * values[-1]  # along others scores may move at will: of classes, all of them together
    plain = Directions.of(normal, rows, 1.0, rounds.scatter, rounds.steepest)
    along = tuple(replace(plain, curvature=float(one)) for one in values[curved])
    descent = Descent(
        query=query,
        add=rounds.add_features,
        normal=normal,
        rows=rows,
        first=first,
        along=along,
        bound=rounds.bound,
        most_variance=rounds.most_variance,
        numbers=numbers,
        basis=basis[:, curved],
    )
    return descent.go(budget.after(spent + summed.share), noise), budget.share
