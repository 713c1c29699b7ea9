"""Boosting by a smooth function of all columns together: gradient descent over random Fourier features.

Trees cut columns one by one, and see slowly what depends on small differences of columns that vary together: shells
that are light for their size. Here columns are first turned into independent ones by their released scatter, and a
smooth kernel of those (Rahimi and Recht 2007, the Gaussian one) is followed as :mod:`~tacit.growing.kernel_trees`
follows the kernel of trees: every row releases its gradient times its feature vector of norm 1, the noise at any point
is that of one sum, and ending after a way of ``v`` does what a Gaussian prior of covariance ``v k`` does. Directions
that many rows share are learned within a few steps and would be overshot by longer ones, so each step is damped by the
curvature that normal rows of the released scatter have along it; that is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.curator.measurement import Measurement
from tacit.growing.normal_rows import NormalRows
from tacit.growing.random_trees import Cuts
from tacit.growing.released_features import released_features
from tacit.growing.tuning import GROWING, SMOOTH, Growing, Smooth
from tacit.models.fourier_features import FourierFeatures, FourierTerm
from tacit.privacy.label import Label, Stage
from tacit.queries.fourier import FourierSum, ScoreFourierSum
from tacit.queries.margins import Margins
from tacit.queries.rules import RowRule
from tacit.queries.tree_cells import logistic_gradient_rule

VARIANCES = np.concatenate([[0.0], np.logspace(-4.0, 1.0, 41)])
"""Prior variances of a score that are compared."""

DEPENDENT = 1e-7
"""Not tuned, of the arithmetic: vectors are dependent whose singular values are this much smaller than the first."""

LOOK = Label(Stage.FOURIER, "a look", text="smooth function, a look")


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
    own: float = 1.0
    steepest: float = 0.25  # of the logistic loss

    @staticmethod
    def of(normal: NormalRows, rows: float, curvature: float) -> Directions:
        """All directions, of so many rows."""
        return Directions._of_blocks(normal.products, [None, None], rows, curvature)

    @staticmethod
    def beyond_single_columns(normal: NormalRows, rows: float, curvature: float, powers: int) -> Directions:
        """Those in which a sum does not answer to functions of one column each.

        Args:
            normal: the rows, as they are thought to be.
            rows: how many.
            curvature: of the loss, of a row on average.
            powers: functions of one column are polynomials of this degree.
        """
        return Directions._of_blocks(
            normal.products, [_rest(block) for block in normal.of_single_columns(powers)], rows, curvature
        )

    @staticmethod
    def _of_blocks(
        products: Sequence[Floats], bases: Sequence[Floats | None], rows: float, curvature: float
    ) -> Directions:
        """Eigenvectors block by block, each within the span of a basis, or of all of the block."""
        values_of, vectors_of = [], []
        for block, basis in zip(products, bases, strict=True):
            values, vectors = np.linalg.eigh(block if basis is None else basis.T @ block @ basis)
            values_of.append(values)
            vectors_of.append(vectors if basis is None else basis @ vectors)
        lengths = np.maximum(np.concatenate(values_of), 0.0) * rows
        return Directions(block_diag(*vectors_of), lengths, curvature)

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


def evidence(likelihood: Floats) -> float:
    """Log marginal likelihood of a function with a Gaussian prior ``v k``, any ``v`` alike, above that of none."""
    some = likelihood[1:]
    return float(some.max() + math.log(np.exp(some - some.max()).mean()) - likelihood[0])


def fourier_rule(clip: float = SMOOTH.clip) -> RowRule:
    """A row's weight: its gradient, less where scores are badly wrong; no more than the clip."""
    both = logistic_gradient_rule(clip, 1e-3, 2)
    return RowRule(np.ascontiguousarray(both.table[:, :, :1]), both.unit)


def _rest(answers: Floats) -> Floats:
    """An orthonormal basis of what is orthogonal to all columns, shape ``(size, fewer)``."""
    vectors, lengths, _ = np.linalg.svd(answers, full_matrices=False)
    rank = int((lengths > DEPENDENT * lengths[0]).sum())
    whole, _ = np.linalg.qr(vectors[:, :rank], mode="complete")
    return np.asarray(whole[:, rank:])


def _powers(columns: int, features: int, numbers: Smooth) -> int:
    """Of a column: up to half of all features go to functions of single columns."""
    return min(max(features // 2 // columns, numbers.least_powers), numbers.most_powers)


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
        numbers: of the tuning.
        basis: directions in which scores are curved, shape ``(n_scores, fewer)``; None for a margin.
    """

    query: FourierSum | ScoreFourierSum
    add: Callable[[FourierFeatures, Floats], Floats]
    normal: NormalRows
    rows: float
    first: Measurement
    along: tuple[Directions, ...]
    bound: float
    most_variance: float
    numbers: Smooth = SMOOTH
    basis: Floats | None = None

    def likelihood(self, seen: Floats, sd: float) -> Floats:
        """Log marginal likelihood of every prior variance, by all directions of scores together.

        Args:
            seen: the first sum of vectors of norm 1.
            sd: of the noise in every number of it.
        """
        parts = seen[None] if self.basis is None else (seen @ self.basis).T
        each = [one.likelihood(part, sd) for one, part in zip(self.along, parts, strict=True)]
        return np.asarray(np.sum(each, axis=0))

    def go(self, budget: Budget, noise: float) -> FourierTerm:
        """Boosts the scores, spending the budget.

        Args:
            budget: what it may spend, of Gaussian noise.
            noise: standard deviation that noise may have in a score, about.
        """
        features, along, count = self.query.features, self.along, self.numbers.steps
        root, basis = math.sqrt(features.pairs), self.basis
        projected = None if basis is None else basis @ basis.T

        def add(steps: Floats, value: Floats) -> Floats:
            step = steps @ (value / root)
            return self.add(features, step if projected is None else step @ projected)

        first, first_sd = self.first.value, self.first.sd / root
        seen, left_sd = max(first_sd / self.bound, 1e-9), max(budget.sd(), 1e-9)
        part, each = left_sd**2 / (seen**2 + left_sd**2), budget.split(count)  # the look is one sum among others
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


@dataclass(frozen=True, eq=False)
class FourierLook:
    """A first sum of features: whether columns say more together than one by one.

    Attributes:
        query, normal: what is summed, and rows as they are thought to be.
        rows: the released number of rows.
        curvature: of the loss, of a row on average.
        first: the first sum.
        evidence: log odds that columns together say anything that no function of one column does; a pair of columns
            may still say it.
        numbers: of the tuning.
    """

    query: FourierSum
    normal: NormalRows
    rows: float
    curvature: float
    first: Measurement
    evidence: float
    numbers: Growing = GROWING

    def grow(self, budget: Budget, noise: float) -> FourierTerm:
        """Boosts the margins of the query's log by a smooth function of all columns, spending the budget.

        Args:
            budget: what it may spend, of Gaussian noise, on a table with two labels.
            noise: standard deviation that noise may have in a score, about (log-odds).
        """
        along = (Directions.of(self.normal, self.rows, self.curvature),)  # takes long: only where something follows
        descent = Descent(
            query=self.query,
            add=self.query.margins.add_features,
            normal=self.normal,
            rows=self.rows,
            first=self.first,
            along=along,
            bound=self.numbers.smooth.clip,
            most_variance=self.numbers.kernel.most_variance,
            numbers=self.numbers.smooth,
        )
        return descent.go(budget, noise)


def look_together(
    budget: Budget,
    rows: float,
    cuts: Cuts,
    margins: Margins,
    generator: np.random.Generator,
    numbers: Growing = GROWING,
) -> FourierLook | None:
    """Looks whether columns together say more than they do one by one, spending the budget.

    Args:
        budget: what it may spend, of Gaussian noise, on a table with two labels.
        rows: the released number of rows.
        cuts: what is known of the columns; unordered ones have ranks.
        margins: the log.
        generator: public randomness.
        numbers: of the tuning.

    Returns:
        The look; None, and nothing is spent, where fewer than two columns have two codes.
    """
    drawn, spent = released_features(budget, rows, cuts, generator, numbers.smooth)
    if drawn is None:
        return None
    features, normal = drawn
    query = FourierSum(features, fourier_rule(numbers.smooth.clip), margins)
    first, root = budget.after(spent).measure(query, 1.0, LOOK), math.sqrt(features.pairs)
    powers, curvature = _powers(len(features.columns), features.size, numbers.smooth), numbers.smooth.typical_curvature
    others = Directions.beyond_single_columns(normal, rows, curvature, powers)
    found = evidence(others.likelihood(first.value / root, first.sd / root))
    return FourierLook(query, normal, rows, curvature, first, found, numbers)
