"""A smooth function of all columns for several scores, or for a number: see :mod:`tacit.growing.fourier`.

Rows release the outer product of their feature vector and their contribution, which is bounded. Along every direction
in which scores are curved the function has the same prior ``v k``; what the first sum says of ``v`` is told by all of
them together: how far the function is followed. Where it speaks for none the way is short, and what is learned is next
to nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.curator.measurement import Measurement
from tacit.growing.fourier import SCATTER_PART, STEPS, Directions, believed_way, draw_features, released_axes
from tacit.growing.random_trees import Cuts
from tacit.models.fourier_features import FourierFeatures, FourierTerm
from tacit.privacy.label import Label, Stage
from tacit.queries.fourier import ScoreFourierSum
from tacit.queries.margins import Scores
from tacit.queries.score_rules import ScoreRule

LOOK_PART = 0.36
"""Share of how columns vary together and of the first sum, as in :data:`SCATTER_PART`; the rest goes to the steps."""


class Contributions(Protocol):
    """What a learner tells of its rows.

    Attributes:
        scores: the log.
        bare_rule: what rows contribute, without their curvature.
        bound: the largest contribution of a row, in units of the score.
        scatter: variance of a row's contribution per unit of curvature.
        steepest: no row's curvature is larger.
        most_variance: the prior variance of a score is never larger.
    """

    @property
    def scores(self) -> Scores: ...

    @property
    def bare_rule(self) -> ScoreRule: ...

    @property
    def bound(self) -> float: ...

    @property
    def scatter(self) -> float: ...

    @property
    def steepest(self) -> float: ...

    @property
    def most_variance(self) -> float: ...

    def curvature(self) -> Floats:
        """Of one row on average, shape ``(n_scores, n_scores)``."""

    def add_features(self, features: FourierFeatures, weights: Floats) -> Floats:
        """Adds a function to the scores of all rows, and returns its weights as they were rounded."""


def grow_score_fourier(
    budget: Budget, rows: float, noise: float, cuts: Cuts, rounds: Contributions, generator: np.random.Generator
) -> tuple[FourierTerm | None, float]:
    """Boosts the scores by a smooth function of all columns, spending the budget.

    Args:
        budget: what it may spend, of Gaussian noise.
        rows: the released number of rows.
        noise: standard deviation that noise may have in a score, about.
        cuts: what is known of the columns; unordered ones have ranks.
        rounds: what rows contribute; every step is appended to its log.
        generator: public randomness.

    Returns:
        The function, and the share of the allowance that was spent. There is none where fewer than two columns have two
        codes.
    """
    masses, ranks = cuts.masses, cuts.ranks or [None] * len(cuts.masses)
    if sum(len(mass) > 1 for mass in masses) < 2:
        return None, 0.0
    look = budget.part(LOOK_PART)
    axes, spent = released_axes(look.part(SCATTER_PART), rows, masses, ranks)
    features, imagined, _ = draw_features(axes, generator)
    query = ScoreFourierSum(features, rounds.bare_rule, rounds.scores)
    first = look.part(1.0 - SCATTER_PART).measure(
        query, 1.0, Label(Stage.FOURIER, "a look", text="smooth function, a look")
    )
    values, basis = np.linalg.eigh(rounds.curvature())
    curved = values > 1e-9 * values[-1]  # along others scores may move at will: of classes, all of them together
    seen = _Look(
        features, imagined, basis[:, curved], Directions.of(imagined, rows, 1.0), values[curved], first, rounds
    )
    return seen.grow(budget.after(spent + look.part(1.0 - SCATTER_PART).share), rows, noise), budget.share


@dataclass(frozen=True, eq=False)
class _Look:
    """A first sum of features.

    Attributes:
        features, imagined: what is summed, and vectors of imagined rows.
        basis: directions in which scores are curved, shape ``(n_scores, fewer)``.
        plain: directions of the features, of curvature 1.
        curvatures: of scores, along ``basis``.
        first: the first sum.
        rounds: what rows contribute.
    """

    features: FourierFeatures
    imagined: Floats
    basis: Floats
    plain: Directions
    curvatures: Floats
    first: Measurement
    rounds: Contributions

    @cached_property
    def along(self) -> tuple[Directions, ...]:
        """Directions of the features, for each of ``basis``."""
        own, steepest = self.rounds.scatter, self.rounds.steepest
        return tuple(
            replace(self.plain, curvature=float(value), own=own, steepest=steepest) for value in self.curvatures
        )

    @cached_property
    def likelihood(self) -> Floats:
        """Log marginal likelihood of every prior variance, by all directions of scores together."""
        root = math.sqrt(self.features.pairs)
        seen, sd = self.first.value / root @ self.basis, self.first.sd / root
        each = [one.likelihood(column, sd) for one, column in zip(self.along, seen.T, strict=True)]
        return np.asarray(np.sum(each, axis=0))

    def grow(self, budget: Budget, rows: float, noise: float) -> FourierTerm:
        """Goes on from the first sum; arguments as for :func:`grow_score_fourier`."""
        rounds, root, first, along = self.rounds, math.sqrt(self.features.pairs), self.first, self.along
        seen, left_sd = max(first.sd / root / rounds.bound, 1e-9), max(budget.sd(), 1e-9)
        part, each = left_sd**2 / (seen**2 + left_sd**2), budget.split(STEPS)  # the look is one sum among others
        most = min(noise / (math.sqrt(1.0 - part) * left_sd * rounds.bound), rounds.most_variance)
        variance, projected = believed_way(self.likelihood, most), self.basis @ self.basis.T
        way = part * variance
        weights = rounds.add_features(self.features, along[0].steps(way) @ (first.value / root) @ projected)
        left = [one.lengths(way) ** 2 * (first.sd / root) ** 2 for one in along]
        way = (1.0 - part) * variance / STEPS
        steps, lengths, kept = along[0].steps(way), along[0].lengths(way), [one.kept(way) for one in along]
        for number in range(STEPS):
            query = ScoreFourierSum(self.features, rounds.bare_rule, rounds.scores)
            release = each.measure(query, 1.0, Label(Stage.FOURIER, round=number + 1))
            weights += rounds.add_features(self.features, steps @ (release.value / root) @ projected)
            added = lengths**2 * (release.sd / root) ** 2
            left = [old * share**2 + added for old, share in zip(left, kept, strict=True)]
        squared = sum(float(along[0].rows @ one) for one in left) / rows / rounds.scores.n_scores
        spread = math.sqrt(float((self.imagined @ weights).var(axis=0).sum()))
        return FourierTerm(self.features, weights, math.sqrt(squared), spread)
