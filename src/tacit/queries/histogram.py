"""The weighted histogram: per cell, the sum of what its rows contribute, optionally through a public linear map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import Cells
from tacit.queries.margins import Margins, Scores
from tacit.queries.query import Sensitivity, largest_vector, of_one_cell
from tacit.queries.rules import COUNT_UNIT, WEIGHT_UNIT, LabelWeights, RowRule
from tacit.queries.score_rules import LogLink, ScoreRule, TargetScale


@dataclass(frozen=True, eq=False)
class ReleaseMap:
    """A public integer matrix ``A`` of shape ``(outputs, cells)``: what is released is ``A @ histogram``.

    ``unit`` integer units stand for 1.0 in ``A``. Column norms are computed in integers.
    """

    matrix: Ints
    unit: int

    @property
    def column_norms(self) -> tuple[int, int]:
        """The largest L1 norm and squared L2 norm of a column."""
        return largest_vector(np.ascontiguousarray(self.matrix.T))

    def check(self, cells: Cells) -> None:
        """Raises ``ValueError`` unless it has a column for each of these cells."""
        columns = self.matrix.shape[1]
        if columns != cells.size:
            raise ValueError(f"the release map has {columns} columns for {cells.size} cells")

    @staticmethod
    def from_floats(matrix: Floats, unit: int = 1 << 12) -> ReleaseMap:
        """Truncates a real matrix toward zero: no column norm grows."""
        return ReleaseMap(np.trunc(matrix * unit).astype(np.int64), unit)


class Contributions(Protocol):
    """How long a row's contribution can be, and how far apart two can be: L1 norm and squared L2 norm."""

    @property
    def longest(self) -> tuple[int, int]: ...

    @property
    def diameter(self) -> tuple[int, int]: ...


def sensitivity_of_sums(
    rule: Contributions,
    cells: int,
    release_map: ReleaseMap | None,
    neighbouring: Neighbouring,
    theorem: str,
    one_orthant: Callable[[], bool] = lambda: False,
) -> Sensitivity:
    """How far one row moves sums by cell, through a public map or not: see :class:`Histogram` for the argument.

    ``theorem`` is why a row moves one cell only, for the ledger; ``one_orthant``, asked where it matters, whether no
    contribution has a negative part.
    """
    l1, l2_squared = rule.longest
    if release_map is not None:
        map_l1, map_l2_squared = release_map.column_norms
        l1, l2_squared = l1 * map_l1, l2_squared * map_l2_squared
        theorem += ", through a public map"
    if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE:
        return Sensitivity(l1, l2_squared, theorem)
    if release_map is not None:
        apart = 2 if release_map.matrix.min() >= 0 and one_orthant() else 4
        return Sensitivity(2 * l1, apart * l2_squared, f"{theorem}; replace = remove + add")
    same_l1, same_l2_squared = rule.diameter
    apart = 0 if cells == 1 else 1
    return Sensitivity(
        max(2 * l1 * apart, same_l1), max(2 * l2_squared * apart, same_l2_squared), f"{theorem}; replace"
    )


class _ReleasedSums:
    """What sums by cell share that are released through a public linear map, or as they are."""

    cells: Cells
    rule: RowRule | ScoreRule
    release_map: ReleaseMap | None

    def check_map(self) -> None:
        if self.release_map is not None:
            self.release_map.check(self.cells)

    @property
    def shape(self) -> tuple[int, ...]:
        outputs = self.cells.size if self.release_map is None else len(self.release_map.matrix)
        return (outputs, self.rule.channels)

    @property
    def map_unit(self) -> int:
        """Integer units that stand for 1.0 in the map."""
        return 1 if self.release_map is None else self.release_map.unit

    def finish(self, histogram: Ints) -> Ints:
        """The exact answer from the raw histogram of shape ``(cells, channels)``."""
        return histogram if self.release_map is None else self.release_map.matrix @ histogram


@dataclass(frozen=True, eq=False)
class Histogram(_ReleasedSums):
    """A query for ``sum over rows of rule(label, margin)`` per cell: integers of shape ``(outputs, channels)``.

    Sensitivity (docs/theory/sensitivities.md, section 0): adding or removing a row changes one cell by one vector of
    the rule.
    Replacing a row is one removal and one addition, whatever happens to its label and margin: either the two vectors
    fall into different cells (squared norms add) or into one (their difference counts; a row that a public rule drops
    counts as the zero vector); through a release map, the triangle inequality gives twice the add/remove bound, and
    where nothing is negative the two vectors point into one orthant, so that squared norms bound their difference.
    """

    cells: Cells
    rule: RowRule
    margins: Margins | None = None
    release_map: ReleaseMap | None = None

    def __post_init__(self) -> None:
        if self.rule.uses_margin and self.margins is None:
            raise ValueError("a rule that depends on the margin needs margins")
        self.check_map()

    @property
    def unit(self) -> int:
        return self.rule.unit * self.map_unit

    @property
    def longest(self) -> tuple[int, int]:
        """The largest L1 norm and squared L2 norm of a vector that a row can contribute to a cell."""
        return self.rule.longest

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        rule = self.rule
        return sensitivity_of_sums(
            rule,
            self.cells.size,
            self.release_map,
            neighbouring,
            "weighted histogram: one row, one cell",
            lambda: rule.vectors.min() >= 0,
        )


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
class ScoreHistogram(_ReleasedSums):
    """A query for ``sum over rows of rule(label or target, scores)`` per cell: integers, ``(outputs, channels)``.

    Sensitivity: adding or removing a row changes one cell by one vector of the rule. Replacing a row is one removal and
    one addition, whatever happens to label, target and scores: two cells by a vector each, or one cell by a difference.
    Through a release map, a vector is multiplied with a column of the map, whose outer product has the product of
    their norms (L1 and L2 alike); replacing is then bounded by the triangle inequality. Weights of rows move nothing
    farther (:mod:`tacit.queries.rules`).
    """

    cells: Cells
    rule: ScoreRule
    scores: Scores
    release_map: ReleaseMap | None = None
    weights: LabelWeights | None = None

    def __post_init__(self) -> None:
        if self.scores.n_scores != self.rule.n_scores:
            raise ValueError(f"the rule looks at {self.rule.n_scores} scores, and rows have {self.scores.n_scores}")
        self.check_map()

    @property
    def unit(self) -> int:
        finer = 0 if self.weights is None else self.rule.finer
        return (self.rule.unit << finer) * self.map_unit

    @property
    def longest(self) -> tuple[int, int]:
        """The largest L1 norm and squared L2 norm of a vector that a row can contribute to a cell."""
        return (self.rule if self.weights is None else _Weighted(self.rule)).longest

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        if self.weights is None:
            theorem = f"{self.rule.theorem}; one row, one cell"
            return sensitivity_of_sums(self.rule, self.cells.size, self.release_map, neighbouring, theorem)
        theorem = f"{self.rule.theorem}; weights of at most 1; one row, one cell"
        return sensitivity_of_sums(_Weighted(self.rule), self.cells.size, self.release_map, neighbouring, theorem)


@dataclass(frozen=True, eq=False)
class ResidualLevels:
    """A query for how many rows have their residual ``t - F`` in each of the intervals between public edges.

    The answer has shape ``(len(edges) + 1, 1)``: below the first edge, from each edge (included) to the next, and from
    the last one up. A row is in one interval.
    """

    scale: TargetScale  # how targets are compared with scores
    edges: Ints  # fixed point, increasing, shape `(edges,)`
    scores: Scores  # one score per row
    weights: LabelWeights | None = None  # of rows; a row counts as much as it weighs
    link: LogLink | None = None  # if there is one, residuals are what `ResidualRule` clips
    # a row's weight multiplies its residual, and the row counts 1 then, or 0 where it weighs nothing
    weighted_first: bool = False

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
        return of_one_cell(self.unit, "counts by residual: one row, one interval", neighbouring)


ScoreQuery = ScoreHistogram | ResidualLevels
SCORE_QUERIES = (ScoreHistogram, ResidualLevels)  # what can be asked of rows with scores


@dataclass(frozen=True, eq=False)
class CellFunction:
    """A query for ``function(sums of the cell)``, cell by cell, clipped to ``[-bound, bound]``.

    Sensitivity: adding or removing a row changes the sums of one cell, hence one value, by at most the width of the
    clip; replacing a row changes two. It holds for every function, because the query does the clipping and shows the
    function one cell at a time.
    """

    histogram: Histogram  # one line of integer sums per cell; no release map
    # from the sums of one cell, shape `(channels,)`, to an integer; pure, and raises for no content
    function: Callable[[Ints], int]
    bound: int  # in integer units, positive
    unit: int  # integer units that stand for 1.0

    def __post_init__(self) -> None:
        if self.histogram.release_map is not None:
            raise ValueError("a function of cells takes their sums as they are, without a release map")
        if self.bound < 1 or self.unit < 1:
            raise ValueError("bound and unit must be positive")

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.histogram.cells.size,)

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        width = 2 * self.bound
        one_cell = neighbouring is Neighbouring.ADD_OR_REMOVE_ONE or self.histogram.cells.size == 1
        cells = 1 if one_cell else 2
        return Sensitivity(cells * width, cells * width**2, f"clipped function of cells: a row touches {cells}")

    def finish(self, sums: Ints) -> Ints:
        """The exact answer from the sums, shape ``(cells, channels)``."""
        values = [min(max(int(self.function(line)), -self.bound), self.bound) for line in sums]
        return np.array(values, np.int64)
