"""Boosting by a smooth function of all columns together: gradient descent over random Fourier features.

Trees cut columns one by one, and see slowly what depends on small differences of columns that vary together: shells
that are light for their size. Here columns are first turned into independent ones by their released scatter, and a
smooth kernel of those (Rahimi and Recht 2007, the Gaussian one) is followed as :mod:`~tacit.growing.kernel_trees`
follows the kernel of trees: every row releases its gradient times its feature vector of norm 1, the noise at any point
is that of one sum, and ending after a way of ``v`` does what a Gaussian prior of covariance ``v k`` does. Directions
that many rows share are learned within a few steps and would be overshot by longer ones, so each step is damped by the
curvature that imagined rows have along it; that is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from tacit.arrays import Floats, Ints
from tacit.curator.budget import Budget
from tacit.growing.kernel_trees import MOST_VARIANCE
from tacit.growing.random_trees import Cuts
from tacit.models.fourier_features import FourierFeatures, FourierTerm
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.fourier import FourierSum, ScatterSum
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.rules import WEIGHT_UNIT, RowRule, fine_count_rule
from tacit.queries.tree_cells import logistic_gradient_rule, middle_chances

CLIP = 0.5
"""The largest weight of a row's vector: that of a row of which scores say nothing."""

PAIRS, STEPS = 256, 50

WIDTH = 0.65
"""The width of the kernel, relative to the typical distance of a row from the middle."""

SCATTER_SHARE = 0.15
"""Of the budget goes to how columns vary together."""

LONGEST_SQUARE = 1.5
"""Rows' scores are cut to the root of so many times the number of columns; theirs is 1 per column on average."""

SCORE_UNIT = 1 << 7

LEAST_VARIANCE, NOISE_VARIANCE = 0.02, 1.4
"""Directions are thought to vary at least so much, and at least so many times the noise in the scatter's numbers."""

HOPELESS = 0.7
"""Where noise in eigenvalues is this large nothing is asked about how columns vary together."""

EDGE = 0.002
"""Scores of codes end at the quantiles of this share of the mass on either side."""

LEAST_SD = 0.3
"""Scores of columns that hardly vary are not blown up to vary by more than their share."""

LARGEST_CURVATURE = 0.25
"""Of the logistic loss: steps may be too short for it, not too long."""

LOOK = 0.2
"""Of the budget goes to the first sum, which tells how much there is to learn."""

VARIANCES = np.concatenate([[0.0], np.logspace(-4.0, 1.0, 41)])
"""Prior variances of a score that it tells apart."""

NOTHING = 0.4
"""How likely it is thought to be beforehand that columns together say nothing more."""

OF_THE_LIKELY = 2.0
"""The way goes up to so many times the variance that it speaks for."""

SILENT = 0.1
"""Where the way is shorter than this part of what noise would allow, nothing more is asked."""

IMAGINED_ROWS = 3000

DIGITS = 6
"""Of numbers that a model file holds; they are as public as the random ones they come from."""


@dataclass(frozen=True, eq=False)
class Axes:
    """Columns as numbers, and how they vary together.

    Attributes:
        columns: which columns of the table.
        scores: per column, a number for each code; mean 0 and at most variance 1 over the rows.
        covariance: of these numbers, as far as it is known; shape ``(columns, columns)``.
    """

    columns: tuple[int, ...]
    scores: tuple[Floats, ...]
    covariance: Floats


def normal_scores(mass: Floats, rank: Ints | None) -> Floats:
    """A number for each code of a column: the normal quantile of the middle of its mass, centred.

    Args:
        mass: how much of the rows each code is believed to hold.
        rank: the place of each code in the order that it has; None for codes in order, of which the last stands for
            "missing" and gets the mean.
    """
    held = np.maximum(mass, 1e-9)
    present = held[:-1] if rank is None else held
    order = np.arange(len(present)) if rank is None else np.argsort(rank)
    ordered = present[order] / present.sum()
    scores = np.zeros(len(held))
    scores[order] = ndtri(np.clip(np.cumsum(ordered) - ordered / 2.0, EDGE, 1.0 - EDGE))
    shares = present / present.sum()
    values = scores[: len(present)]
    values -= float(shares @ values)
    values /= max(math.sqrt(float(shares @ values**2)), LEAST_SD)
    return scores


def released_axes(
    budget: Budget, rows: float, masses: Sequence[Floats], ranks: Sequence[Ints | None]
) -> tuple[Axes, float]:
    """Columns as numbers, and how they vary together, for all of the budget.

    Where noise would drown that, columns are taken to be independent and nothing is asked.

    Args:
        budget: what the scatter may spend, of Gaussian noise.
        rows: the released number of rows.
        masses: per column of the table, how much of the rows each code is believed to hold; columns of one code are
            left out.
        ranks: as :class:`~tacit.growing.random_trees.RandomStructures` takes them.

    Returns:
        The axes, and the share of the allowance that was spent.
    """
    columns = tuple(column for column, mass in enumerate(masses) if len(mass) > 1)
    scores = tuple(normal_scores(masses[column], ranks[column]) for column in columns)
    count = len(columns)
    noise = NOISE_VARIANCE * LONGEST_SQUARE * count**1.5 * budget.sd() / max(rows, 1.0)
    if noise >= HOPELESS:
        return Axes(columns, scores, np.eye(count)), 0.0
    whole = tuple(np.rint(z * SCORE_UNIT).astype(np.int64) for z in scores)
    longest = int(math.sqrt(LONGEST_SQUARE * count) * SCORE_UNIT)
    query = ScatterSum(columns, whole, longest, fine_count_rule(budget.layout.n_labels))
    release = budget.measure(query, 1.0, Label(Stage.COVARIANCE, "how columns vary together"))
    scatter = query.matrix(release.value) * (longest / SCORE_UNIT) ** 2
    values, vectors = np.linalg.eigh(scatter / max(rows, 1.0))
    covariance = (vectors * np.maximum(values, max(noise, LEAST_VARIANCE))) @ vectors.T
    return Axes(columns, scores, covariance), budget.share


def draw_features(axes: Axes, generator: np.random.Generator) -> tuple[FourierFeatures, Floats]:
    """Random features whose kernel is round where columns are independent, and the vectors of imagined rows.

    Args:
        axes: of the table.
        generator: public randomness.

    Returns:
        The features, and vectors of norm 1 of rows drawn from the normal distribution of the axes, shape
        ``(IMAGINED_ROWS, features.size)``.
    """
    count = len(axes.columns)
    values, vectors = np.linalg.eigh(axes.covariance)
    values = np.maximum(values, 1e-6)
    whitening = (vectors * values**-0.5) @ vectors.T / math.sqrt(count)
    frequencies = np.round(generator.standard_normal((PAIRS, count)) @ whitening / WIDTH, DIGITS)
    rows = generator.standard_normal((IMAGINED_ROWS, count)) @ ((vectors * values**0.5) @ vectors.T)
    phases = rows @ frequencies.T
    imagined = np.concatenate([np.cos(phases), np.sin(phases)], axis=1) / math.sqrt(PAIRS)
    scores = tuple(np.round(z, DIGITS) for z in axes.scores)
    return FourierFeatures(axes.columns, scores, frequencies), imagined


@dataclass(frozen=True, eq=False)
class Directions:
    """The directions of features along which imagined rows vary, and how much: an orthonormal basis.

    Attributes:
        vectors: shape ``(size, size)``, a direction per column.
        rows: squared length of all rows along each, shape ``(size,)``.
        curvature: of the loss, of a row on average.
    """

    vectors: Floats
    rows: Floats
    curvature: float

    @staticmethod
    def of(imagined: Floats, rows: float, curvature: float) -> Directions:
        """Of so many rows like imagined ones, which have vectors of norm 1: shape ``(imagined rows, size)``."""
        values, vectors = np.linalg.eigh(imagined.T @ imagined / len(imagined))
        return Directions(vectors, np.maximum(values, 0.0) * rows, curvature)

    def lengths(self, way: float) -> Floats:
        """How far a sum is followed along each direction: ``way``, or less where rows would answer to it."""
        return 1.0 / (1.0 / way + LARGEST_CURVATURE * self.rows)

    def steps(self, way: float) -> Floats:
        """What a sum is multiplied by, shape ``(size, size)``."""
        return (self.vectors * self.lengths(way)) @ self.vectors.T

    def kept(self, way: float) -> Floats:
        """What is left of a score along each direction after a step, on average over labels."""
        return np.asarray(1.0 - self.curvature * self.rows * self.lengths(way), np.float64)

    def way(self, seen: Floats, sd: float, most: float) -> float:
        """How far to go in all: up to :data:`OF_THE_LIKELY` times the prior variance that the first sum speaks for.

        Were scores short of a function with Gaussian prior ``v k``, a sum would have the variance
        ``(c n_k)^2 v + c n_k + sd^2`` along a direction of squared length ``n_k``: what they lack, what rows vary by
        themselves, and noise. Of those that are not 0, every power of ten is thought equally likely before.

        Args:
            seen: the released sum, shape ``(size,)``.
            sd: of the noise in every number of it.
            most: where noise in a score ends the way.
        """
        squares = (self.vectors.T @ seen)[:, None] ** 2
        answer = self.curvature * self.rows[:, None]
        variance = answer**2 * VARIANCES + answer + max(sd, 1e-9) ** 2
        likelihood = -0.5 * (squares / variance + np.log(variance)).sum(axis=0)
        weights = np.exp(likelihood - likelihood.max())
        weights[0] *= NOTHING / (1.0 - NOTHING) * (len(VARIANCES) - 1)
        return float(weights @ np.minimum(OF_THE_LIKELY * VARIANCES, most) / weights.sum())


def fourier_rule() -> RowRule:
    """A row's weight: its gradient, less where scores are badly wrong; no more than :data:`CLIP`."""
    both = logistic_gradient_rule(CLIP, 1e-3, 2)
    return RowRule(np.ascontiguousarray(both.table[:, :, :1]), both.unit)


def grow_fourier_term(
    budget: Budget,
    rows: float,
    curvature: float,
    noise: float,
    cuts: Cuts,
    margins: Margins,
    generator: np.random.Generator,
) -> tuple[FourierTerm | None, float]:
    """Boosts the margins by a smooth function of all columns, spending at most the budget.

    Args:
        budget: what it may spend, of Gaussian noise, on a table with two labels.
        rows: the released number of rows.
        curvature: of the loss, of a row on average, with weights of at most :data:`CLIP`.
        noise: standard deviation that noise may have in a score, about (log-odds).
        cuts: what is known of the columns; unordered ones have ranks.
        margins: the log; every step is appended.
        generator: public randomness.

    Returns:
        The function, and the share of the allowance that was not needed. There is no function where fewer than two
        columns have two codes, and where a first look finds nothing that columns together would say.
    """
    masses, ranks = cuts.masses, cuts.ranks or [None] * len(cuts.masses)
    if sum(len(mass) > 1 for mass in masses) < 2:
        return None, budget.share
    axes, spent = released_axes(budget.part(SCATTER_SHARE), rows, masses, ranks)
    features, imagined = draw_features(axes, generator)
    directions, rest = Directions.of(imagined, rows, curvature), budget.after(spent)
    rule, root = fourier_rule(), math.sqrt(features.pairs)
    first = rest.measure(
        FourierSum(features, rule, margins), LOOK, Label(Stage.FOURIER, "a look", text="smooth function, a look")
    )
    most = min(noise / (rest.sd() * CLIP), MOST_VARIANCE)
    variance = directions.way(first.value / root, first.sd / root, most)
    if variance < SILENT * most:
        return None, (1.0 - LOOK) * rest.share
    way = LOOK * variance
    weights = margins.add_features(features, directions.steps(way) @ (first.value / root))
    left = directions.lengths(way) ** 2 * (first.sd / root) ** 2  # variance of the weights along each direction
    way = (1.0 - LOOK) * variance / STEPS
    steps, kept, each = directions.steps(way), directions.kept(way), rest.part(1.0 - LOOK).split(STEPS)
    for number in range(STEPS):
        release = each.measure(FourierSum(features, rule, margins), 1.0, Label(Stage.FOURIER, round=number + 1))
        weights += margins.add_features(features, steps @ (release.value / root))
        left = left * kept**2 + directions.lengths(way) ** 2 * (release.sd / root) ** 2
    sd = math.sqrt(float(directions.rows @ left) / rows)
    return FourierTerm(features, weights, sd, float((imagined @ weights).std())), 0.0


TYPICAL_CURVATURE, CURVATURE_SPREAD = 0.15, 0.05
"""What rows are thought to have on average, and how far that may be off, before it is released."""

LEAST_CURVATURE = 0.005

TYPICAL_SHARE, SHARE_SPREAD = 0.6, 0.25
"""The same for the share of the labels' variance that scores leave open."""

CHANCE_SCALE = 0.25
"""Chances are summed in this scale: none of the three numbers is then longer than the others."""

RARE = 0.01
"""Classes are not thought to be rarer than this."""

MOST_LOUDNESS = 2.0


@dataclass(frozen=True)
class LeftOpen:
    """What scores leave open; what is typical, where nothing is known.

    Attributes:
        curvature: the mean variance of rows' weights, where scores are right.
        share: of the variance of the labels: 1 where scores say nothing of them, 0 where all labels follow.
    """

    curvature: float = TYPICAL_CURVATURE
    share: float = TYPICAL_SHARE

    @property
    def loudness(self) -> float:
        """By what noise in a score may be more than where much is left open.

        Noise of variance ``s^2`` costs log loss ``s^2 p (1 - p) / 2``. Where labels follow from columns log-odds are
        large, and so is what they lack; the same noise hides less of it.
        """
        return min(max(math.sqrt(TYPICAL_SHARE / self.share), 1.0), MOST_LOUDNESS)


def left_open_rule(clip: float) -> RowRule:
    """What a row says of it: the variance of its weight where its score is right, that of its label, and its chance.

    Args:
        clip: weights of rows are no longer than this: the first number is ``w^2 p (1 - p)``, ``w`` being 1 or less so
            that ``w max(p, 1 - p)`` is at most the clip.
    """
    p = middle_chances()
    weight, variance = np.minimum(1.0, clip / np.maximum(p, 1.0 - p)), p * (1.0 - p)
    numbers = np.stack([weight**2 * variance, variance, CHANCE_SCALE * p], axis=-1)
    values = np.trunc(numbers * WEIGHT_UNIT).astype(np.int32)
    return RowRule(np.ascontiguousarray(np.stack([values, values])), WEIGHT_UNIT)


def released_left_open(budget: Budget, rows: float, clip: float, margins: Margins) -> LeftOpen:
    """What scores leave open, for all of the budget; near what is typical in loud noise.

    Args:
        budget: what it may spend, of Gaussian noise, on a table with two labels.
        rows: the released number of rows.
        clip: see :func:`left_open_rule`.
        margins: the log of the scores.
    """
    query = Histogram(OneCell(), left_open_rule(clip), margins)
    release = budget.measure(query, 1.0, Label(Stage.UNEXPLAINED, "what scores leave open"))
    curvature, variance, chance = (float(number) / max(rows, 1.0) for number in release.value[0])
    sd = release.sd / max(rows, 1.0)
    chance = min(max(chance / CHANCE_SCALE, RARE), 1.0 - RARE)
    whole = chance * (1.0 - chance)
    share_sd = sd / whole * math.hypot(1.0, variance / whole * (1.0 - 2.0 * chance) / CHANCE_SCALE)
    return LeftOpen(
        max(_believed(curvature, sd, TYPICAL_CURVATURE, CURVATURE_SPREAD), LEAST_CURVATURE),
        max(_believed(variance / whole, share_sd, TYPICAL_SHARE, SHARE_SPREAD), 1e-3),
    )


def _believed(found: float, sd: float, typical: float, spread: float) -> float:
    """The posterior mean of a number with a Gaussian prior, from one look with noise."""
    return typical + spread**2 / (spread**2 + sd**2) * (found - typical)
