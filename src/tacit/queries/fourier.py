"""Sums over rows of vectors that are public maps of their codes: random Fourier features, and products of scores."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.models.fourier_features import LENGTH, FourierFeatures
from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.margins import Scores
from tacit.queries.row_weights import LabelWeights
from tacit.queries.rules import RowRule
from tacit.queries.score_rules import ScoreRule
from tacit.queries.sensitivity import Sensitivity

PAIR_L1 = math.isqrt(2 * LENGTH**2) + 1
"""The largest L1 norm of a cosine and a sine, rounded up."""

ON_DIAGONAL, OFF_DIAGONAL = 5, 7
"""A product of two scores stands for two entries of a symmetric matrix, so it may weigh the root of two times as much:
7 / 5 is just below."""


@dataclass(frozen=True, eq=False)
class ScoreFourierSum:
    """A query for ``sum over rows of phi(codes) rule(label or target, scores)'``; shape ``(features.size, channels)``.

    Sensitivity (docs/theory/sensitivities.md, section 2): a row's part is the outer product of two vectors, whose norm
    (L1 and L2 alike) is the product of theirs. Every pair of cosine and sine is at most
    :data:`~tacit.models.fourier_features.LENGTH` long, so ``phi`` is at most that times the root of the pairs, and the
    rule bounds the other. Replacing is removing and adding: parts may be opposite, which is attained. Weights of rows
    move nothing farther (:mod:`tacit.queries.row_weights`).
    """

    features: FourierFeatures
    rule: ScoreRule
    scores: Scores
    weights: LabelWeights | None = None

    def __post_init__(self) -> None:
        if self.scores.n_scores != self.rule.n_scores:
            raise ValueError(f"the rule looks at {self.rule.n_scores} scores, and rows have {self.scores.n_scores}")

    @property
    def shape(self) -> tuple[int, ...]:
        """``(features.size, channels)``."""
        return (self.features.size, self.rule.channels)

    @property
    def unit(self) -> int:
        """Integer units of a cosine of 1 times a contribution of 1."""
        return (self.rule.unit << self._finer) * LENGTH

    @property
    def _finer(self) -> int:
        return 0 if self.weights is None else self.rule.finer

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the sum, in integer units."""
        l1, l2_squared = self.rule.longest
        pairs, weighted = self.features.pairs, "" if self.weights is None else "; weights of at most 1"
        times, how = (1, "") if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE else (2, "; replace = remove + add")
        return Sensitivity(
            times * (l1 << self._finer) * PAIR_L1 * pairs,
            (times * LENGTH) ** 2 * pairs * (l2_squared << (2 * self._finer)),
            f"{self.rule.theorem}{weighted}; times Fourier features: product of norms{how}",
        )


@dataclass(frozen=True, eq=False)
class ScatterSum:
    """A query for ``sum over rows of rule(label) * z z'``: how scores of columns vary together.

    ``z`` holds the score of a row's code in every column, cut to the length ``longest``. The answer has a number for
    every ``i <= j``, row by row: ``5 z_i z_i`` on the diagonal and ``7 z_i z_j`` off it, as such a product stands for
    two entries.

    Sensitivity (docs/theory/sensitivities.md, section 2): the squared length of a row's part is
    ``25 sum z_i^4 + 49 sum_{i<j} z_i^2 z_j^2 <= 25 |z|^4``. Two such parts ``u``, ``v`` have the product
    ``24.5 (z . z')^2 + 0.5 sum z_i^2 z_i'^2 >= 0``, so that a replaced row moves the sum by at most the root of two
    times as much as an added one.

    Attributes:
        columns: which columns.
        scores: per column, an integer for every code.
        longest: the length of a row's scores at most.
        rule: one channel, that does not depend on margins; not negative.
    """

    columns: tuple[int, ...]
    scores: tuple[Ints, ...]
    longest: int
    rule: RowRule

    def __post_init__(self) -> None:
        if self.rule.channels != 1 or self.rule.uses_margin or self.rule.table.min() < 0:
            raise ValueError("products of scores are weighed by a rule of one channel, without margins, not negative")
        if len(self.scores) != len(self.columns) or not self.columns:
            raise ValueError("every column needs scores of its codes, and there must be one at least")

    @property
    def shape(self) -> tuple[int, ...]:
        """``(d (d + 1) / 2,)``."""
        count = len(self.columns)
        return (count * (count + 1) // 2,)

    @property
    def unit(self) -> int:
        """Integer units of the squared length of the longest row, on the diagonal, at full weight."""
        return self.rule.unit * ON_DIAGONAL * self.longest**2

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the sum, in integer units."""
        largest, square = self.rule.longest[0], self.longest**2
        replaces = neighbouring is Neighbouring.REPLACE_ONE
        return Sensitivity(
            (2 if replaces else 1) * largest * OFF_DIAGONAL * square * len(self.columns),
            (2 if replaces else 1) * (largest * ON_DIAGONAL * square) ** 2,
            "scatter of clipped scores: squared norm" + ("; replace: no two parts point apart" if replaces else ""),
        )

    def matrix(self, released: Floats) -> Floats:
        """The symmetric matrix that an answer in natural units stands for, shape ``(d, d)``."""
        count = len(self.columns)
        upper = np.zeros((count, count))
        upper[np.triu_indices(count)] = released
        off = np.triu(upper, 1) * (ON_DIAGONAL / OFF_DIAGONAL)
        return np.diag(np.diag(upper)) + off + off.T
