"""Columns as numbers, and random Fourier features of them as they vary together: see :mod:`tacit.growing.fourier`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from tacit.arrays import Floats, Ints
from tacit.curator.budget import Budget
from tacit.growing.normal_rows import NormalRows
from tacit.growing.random_trees import Cuts
from tacit.growing.tuning import SMOOTH, Smooth
from tacit.models.fourier_features import FourierFeatures
from tacit.privacy.label import Label, Stage
from tacit.queries.fourier import ScatterSum
from tacit.queries.rules import fine_count_rule

SCORE_UNIT = 1 << 7
"""Not tuned: integer units of a column's score."""

DIGITS = 6
"""Not tuned: of numbers that a model file holds; they are as public as the random ones they come from."""


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


def normal_scores(mass: Floats, rank: Ints | None, numbers: Smooth = SMOOTH) -> Floats:
    """A number for each code of a column: the normal quantile of the middle of its mass, centred.

    Args:
        mass: how much of the rows each code is believed to hold.
        rank: the place of each code in the order that it has; None for codes in order, of which the last stands for
            "missing" and gets the mean.
        numbers: of the tuning.
    """
    held = np.maximum(mass, 1e-9)
    present = held[:-1] if rank is None else held
    order = np.arange(len(present)) if rank is None else np.argsort(rank)
    ordered = present[order] / present.sum()
    scores = np.zeros(len(held))
    scores[order] = ndtri(np.clip(np.cumsum(ordered) - ordered / 2.0, numbers.edge, 1.0 - numbers.edge))
    shares = present / present.sum()
    values = scores[: len(present)]
    values -= float(shares @ values)
    values /= max(math.sqrt(float(shares @ values**2)), numbers.least_sd)
    return scores


def released_axes(
    budget: Budget,
    rows: float,
    masses: Sequence[Floats],
    ranks: Sequence[Ints | None],
    numbers: Smooth = SMOOTH,
) -> tuple[Axes, float]:
    """Columns as numbers, and how they vary together, for all of the budget.

    Where noise would hide that, columns are taken to be independent and nothing is asked.

    Args:
        budget: what the scatter may spend, of Gaussian noise.
        rows: the released number of rows.
        masses: per column of the table, how much of the rows each code is believed to hold; columns of one code are
            left out.
        ranks: as :class:`~tacit.growing.random_trees.RandomStructures` takes them.
        numbers: of the tuning.

    Returns:
        The axes, and the share of the allowance that was spent.
    """
    columns = tuple(column for column, mass in enumerate(masses) if len(mass) > 1)
    scores = tuple(normal_scores(masses[column], ranks[column], numbers) for column in columns)
    count = len(columns)
    noise = numbers.noise_variance * numbers.longest_square * count**1.5 * budget.sd() / max(rows, 1.0)
    if noise >= numbers.most_noise:
        return Axes(columns, scores, np.eye(count)), 0.0
    whole = tuple(np.rint(z * SCORE_UNIT).astype(np.int64) for z in scores)
    longest = int(math.sqrt(numbers.longest_square * count) * SCORE_UNIT)
    query = ScatterSum(columns, whole, longest, fine_count_rule(budget.layout.n_labels))
    release = budget.measure(query, 1.0, Label(Stage.COVARIANCE, "how columns vary together"))
    scatter = query.matrix(release.value) * (longest / SCORE_UNIT) ** 2
    values, vectors = np.linalg.eigh(scatter / max(rows, 1.0))
    covariance = (vectors * np.maximum(values, max(noise, numbers.least_variance))) @ vectors.T
    return Axes(columns, scores, covariance), budget.share


def draw_features(
    axes: Axes, generator: np.random.Generator, numbers: Smooth = SMOOTH
) -> tuple[FourierFeatures, NormalRows]:
    """Random features whose kernel is round where columns are independent.

    Args:
        axes: of the table.
        generator: public randomness.
        numbers: of the tuning.

    Returns:
        The features, and what they are of rows from the normal distribution of the axes.
    """
    count = len(axes.columns)
    values, vectors = np.linalg.eigh(axes.covariance)
    values = np.maximum(values, 1e-6)
    whitening = (vectors * values**-0.5) @ vectors.T / math.sqrt(count)
    frequencies = np.round(generator.standard_normal((numbers.pairs, count)) @ whitening / numbers.width, DIGITS)
    scores = tuple(np.round(z, DIGITS) for z in axes.scores)
    return FourierFeatures(axes.columns, scores, frequencies), NormalRows(frequencies, (vectors * values) @ vectors.T)


def released_features(
    budget: Budget, rows: float, cuts: Cuts, generator: np.random.Generator, numbers: Smooth = SMOOTH
) -> tuple[tuple[FourierFeatures, NormalRows] | None, float]:
    """Random features for columns as they vary together, and the share that was spent on that.

    Args:
        budget: of the features and their first sum, of Gaussian noise.
        rows: the released number of rows.
        cuts: what is known of the columns; unordered ones have ranks.
        generator: public randomness.
        numbers: of the tuning.

    Returns:
        As :func:`draw_features` does, and the share of the allowance that was spent. There are none where fewer than
        two columns have two codes.
    """
    masses, ranks = cuts.masses, cuts.ranks or [None] * len(cuts.masses)
    if sum(len(mass) > 1 for mass in masses) < 2:
        return None, 0.0
    axes, spent = released_axes(budget.part(numbers.scatter_part), rows, masses, ranks, numbers)
    return draw_features(axes, generator, numbers), spent
