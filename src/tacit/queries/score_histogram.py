"""Sums by cell of what rows with scores contribute, and counts of rows by residual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.cells import Cells
from tacit.queries.histogram import ReleaseMap, sensitivity_of_sums
from tacit.queries.row_weights import LabelWeights
from tacit.queries.rules import COUNT_UNIT, WEIGHT_UNIT
from tacit.queries.score_rules import ScoreRule, TargetScale
from tacit.queries.scores import Scores
from tacit.queries.sensitivity import Sensitivity


@dataclass(frozen=True)
class _Weighted:
    """Bounds of weighted contributions in a finer unit: entries shrink toward 0, so both bounds stay what they were."""

    rule: ScoreRule

    @property
    def longest(self) -> tuple[int, int]:
        return self._scaled(*self.rule.longest)

    @property
    def diameter(self) -> tuple[int, int]:
        return self._scaled(*self.rule.diameter)

    def _scaled(self, l1: int, l2_squared: int) -> tuple[int, int]:
        return l1 << self.rule.finer, l2_squared << (2 * self.rule.finer)


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """A query for ``sum over rows of rule(label or target, scores)`` per cell: integers, ``(outputs, channels)``.

    Sensitivity: adding or removing a row changes one cell by one vector of the rule. Replacing a row is one removal and
    one addition, whatever happens to label, target and scores: two cells by a vector each, or one cell by a difference.
    Through a release map, a vector is multiplied with a column of the map, whose outer product has the product of
    their norms (L1 and L2 alike); replacing is then bounded by the triangle inequality. Weights of rows move nothing
    farther (:mod:`tacit.queries.row_weights`).
    """

    cells: Cells
    rule: ScoreRule
    scores: Scores
    release_map: ReleaseMap | None = None
    weights: LabelWeights | None = None

    def __post_init__(self) -> None:
        if self.scores.n_scores != self.rule.n_scores:
            raise ValueError(f"the rule looks at {self.rule.n_scores} scores, and rows have {self.scores.n_scores}")
        if self.release_map is not None and self.release_map.matrix.shape[1] != self.cells.size:
            raise ValueError(
                f"the release map has {self.release_map.matrix.shape[1]} columns for {self.cells.size} cells"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """``(outputs, channels)``."""
        outputs = self.cells.size if self.release_map is None else len(self.release_map.matrix)
        return (outputs, self.rule.channels)

    @property
    def unit(self) -> int:
        """Integer units that stand for 1.0 in the answer."""
        finer = 0 if self.weights is None else self.rule.finer
        return (self.rule.unit << finer) * (1 if self.release_map is None else self.release_map.unit)

    @property
    def longest(self) -> int:
        """The squared length of the longest vector that a row can contribute to a cell."""
        return (self.rule if self.weights is None else _Weighted(self.rule)).longest[1]

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the answer, in integer units."""
        if self.weights is None:
            theorem = f"{self.rule.theorem}; one row, one cell"
            return sensitivity_of_sums(self.rule, self.cells.size, self.release_map, neighbouring, theorem)
        theorem = f"{self.rule.theorem}; weights of at most 1; one row, one cell"
        return sensitivity_of_sums(_Weighted(self.rule), self.cells.size, self.release_map, neighbouring, theorem)

    def finish(self, histogram: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The exact answer from the raw histogram of shape ``(cells, channels)``."""
        return histogram if self.release_map is None else self.release_map.matrix @ histogram


@dataclass(frozen=True, eq=False)
class ResidualLevels:
    """A query for how many rows have their residual ``t - F`` in each of the intervals between public edges.

    The answer has shape ``(len(edges) + 1, 1)``: below the first edge, from each edge (included) to the next, and from
    the last one up. A row is in one interval.

    Attributes:
        scale: how targets are compared with scores.
        edges: fixed point, increasing, shape ``(edges,)``.
        scores: one score per row.
        weights: of rows; a row counts as much as it weighs.
    """

    scale: TargetScale
    edges: npt.NDArray[np.int64]
    scores: Scores
    weights: LabelWeights | None = None

    def __post_init__(self) -> None:
        if self.scores.n_scores != 1 or len(self.edges) == 0 or (np.diff(self.edges) <= 0).any():
            raise ValueError("residuals are of one score, between increasing edges")

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.edges) + 1, 1)

    @property
    def unit(self) -> int:
        return COUNT_UNIT if self.weights is None else WEIGHT_UNIT

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the counts, in integer units."""
        theorem, unit = "counts by residual: one row, one interval", self.unit
        if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE:
            return Sensitivity(unit, unit**2, theorem)
        return Sensitivity(2 * unit, 2 * unit**2, f"{theorem}; replace")


ScoreQuery = ScoreHistogram | ResidualLevels
SCORE_QUERIES = (ScoreHistogram, ResidualLevels)
"""What can be asked of rows with scores."""
