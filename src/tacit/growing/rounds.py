"""What learners of several scores, or of a number, tell of their rows to what boosts them."""

from __future__ import annotations

from typing import Protocol

from tacit.arrays import Floats, Ints
from tacit.models.fourier_features import FourierFeatures
from tacit.queries.margins import Scores
from tacit.queries.score_rules import ScoreRule
from tacit.queries.tree_cells import TreeCells


class Rounds(Protocol):
    """What all boosting asks for.

    Attributes:
        scores: the log that is appended to.
        bound: the largest contribution of a row, in units of the score.
        scatter: variance of a row's contribution per unit of curvature.
    """

    @property
    def scores(self) -> Scores: ...

    @property
    def bound(self) -> float: ...

    @property
    def scatter(self) -> float: ...

    def curvature(self) -> Floats:
        """Of one row on average, shape ``(n_scores, n_scores)``."""


class TreeRounds(Rounds, Protocol):
    """What trees ask for.

    Attributes:
        rule: what rows contribute to a leaf; the last channel is their curvature.
        unit: what a row adds to that channel per unit of its curvature's trace.
    """

    @property
    def rule(self) -> ScoreRule: ...

    @property
    def unit(self) -> float: ...

    def add(self, cells: TreeCells, values: Floats) -> Floats:
        """Adds the values of a tree's leaves to all rows, and returns them as they were rounded."""

    def places(self, cells: TreeCells) -> Ints:
        """The leaf of every simulated row."""


class FourierRounds(Rounds, Protocol):
    """What smooth functions ask for.

    Attributes:
        bare_rule: what rows contribute, without their curvature.
        steepest: no row's curvature is larger.
        most_variance: the prior variance of a score is never larger.
    """

    @property
    def bare_rule(self) -> ScoreRule: ...

    @property
    def steepest(self) -> float: ...

    @property
    def most_variance(self) -> float: ...

    def add_features(self, features: FourierFeatures, weights: Floats) -> Floats:
        """Adds a function to the scores of all rows, and returns its weights as they were rounded."""
