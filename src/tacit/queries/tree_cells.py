"""The leaves of a tree as cells, and what a row contributes to a Newton leaf."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tacit.arrays import Bytes, Floats, Ints
from tacit.models.tree import TreeShape
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import Cells
from tacit.queries.margins import Margins
from tacit.queries.query import Sensitivity
from tacit.queries.rules import LEVEL_BITS, LEVELS, WEIGHT_UNIT, RowRule

HESSIAN_IS_FREE = 11.09
"""For the logistic loss ``g**2 + c**2 h**2 <= 1`` for every ``c**2`` up to this number
(docs/theory/sensitivities.md, section 2)."""


@dataclass(frozen=True, eq=False)
class TreeCells(Cells):
    """Every row in the leaf of a public tree: one cell per row, so one row moves one cell."""

    shape: TreeShape

    @property
    def size(self) -> int:
        return self.shape.n_leaves


@dataclass(frozen=True, eq=False)
class SplitHistogram:
    """A query for the weight of each class, by leaf, column and code: what the splits of a level are scored by.

    The answer has shape ``(leaves, codes of all columns side by side, 2)``. A row adds its weight once per column, so
    the answer is not for release by itself; it is made to be scored inside a selection.
    """

    cells: TreeCells  # the leaves
    columns: tuple[int, ...]  # the columns, each of at most 256 codes
    n_codes: tuple[int, ...]  # how many codes each has
    rule: RowRule  # one channel: the weight of a row by label and margin, not negative
    margins: Margins  # the score the weights depend on
    # the class, 0 or 1, of every label code, where labels hold weights of rows beside classes; None where they are
    # classes
    classes: Bytes | None = None

    def __post_init__(self) -> None:
        if self.rule.channels != 1 or self.rule.table.shape[0] != len(self.class_of) or self.rule.table.min() < 0:
            raise ValueError("splits are scored by one weight per row, not negative, and two classes")
        if self.class_of.max() > 1:
            raise ValueError("splits are scored by two classes")
        if len(self.columns) != len(self.n_codes) or not self.columns:
            raise ValueError("columns and n_codes must have one, equal, length of at least 1")

    @property
    def shape(self) -> tuple[int, int, int]:
        return (self.cells.size, sum(self.n_codes), 2)

    @property
    def unit(self) -> int:
        return self.rule.unit

    @property
    def class_of(self) -> Bytes:
        return np.arange(2, dtype=np.uint8) if self.classes is None else self.classes

    @property
    def offsets(self) -> Ints:
        """Where each column's codes begin."""
        return np.cumsum((0, *self.n_codes[:-1]), dtype=np.int64)

    def is_next_level_of(self, other: SplitHistogram) -> bool:
        """Whether this asks the same of a complete tree as ``other`` does of the same tree without its last level."""
        mine, theirs = self.cells.shape, other.cells.shape
        above = theirs.n_splits
        return (
            self.rule is other.rule
            and self.margins is other.margins
            and self.classes is other.classes
            and (self.columns, self.n_codes) == (other.columns, other.n_codes)
            and mine.n_leaves == 2 * theirs.n_leaves
            and mine.is_complete
            and theirs.is_complete
            and np.array_equal(mine.columns[:above], theirs.columns)
            and np.array_equal(mine.right[:above], theirs.right)
        )

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """A row adds its weight to one cell per column; a replaced one may leave as many."""
        largest = int(self.rule.table.max())
        cells = len(self.columns) * (1 if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE else 2)
        return Sensitivity(cells * largest, cells * largest**2, "class weights: one row, one cell per column")


def middle_margins() -> Floats:
    """The margin in the middle of each level of a rule."""
    levels = np.arange(LEVELS, dtype=np.float64)
    middles: Floats = (levels - LEVELS // 2 + 0.5) / 2**LEVEL_BITS
    return middles


def middle_chances() -> Floats:
    """The chance of label 1 there: the logistic function of that margin."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * middle_margins())), np.float64)


@lru_cache(maxsize=16)
def logistic_gradient_rule(clip: float, hessian_scale: float, norm: int, variance: bool = False) -> RowRule:
    """The contribution ``w (g, c h)`` of a binary row to a Newton step on the logistic loss, no longer than ``clip``.

    ``g = y - p`` and ``h = p (1 - p)`` with ``p`` the logistic function of the margin; ``w`` is 1, or less where the
    longer of the two vectors that a row of this margin could have exceeds ``clip``. As ``w`` does not depend on the
    label, rows whose label is 1 with probability ``p`` contribute a gradient of 0 on average: the optimum is the
    log-odds. Were every vector cut to the clip by itself, rows that are badly wrong would say too little, and the
    optimum would be too far from 1/2. With a clip of 1/2 and hardly any curvature this is MadaBoost's measure (Domingo
    and Watanabe 2000), as in :class:`~tacit.queries.score_rules.SoftmaxRule`. Values are truncated toward zero, which
    never lengthens them.

    Args:
        clip: the largest norm, at most 1.
        hessian_scale: ``c``.
        norm: 2 for Gaussian noise, 1 for Laplace noise.
        variance: the second number is ``c w**2 h``, the variance of ``w g`` where scores are right, instead of
            ``c w h``. As ``w`` is at most 1, it is no longer.
    """
    if not 0 < clip <= 1 or hessian_scale <= 0 or norm not in (1, 2):
        raise ValueError(f"need 0 < clip <= 1, c > 0 and norm 1 or 2, got {clip}, {hessian_scale}, {norm}")
    p = middle_chances()
    vectors = np.stack([np.stack([label - p, hessian_scale * p * (1.0 - p)], axis=1) for label in (0, 1)])
    longest = np.linalg.norm(vectors, ord=norm, axis=2).max(axis=0)
    weight = np.minimum(1.0, clip * (1.0 - 1e-12) / longest)
    weights = np.stack([weight, weight**2 if variance else weight], axis=1)
    return RowRule(np.trunc(vectors * weights[None] * WEIGHT_UNIT).astype(np.int32), WEIGHT_UNIT)


def class_weight_rule(weight: Callable[[Floats], Floats], split: bool) -> RowRule:
    """The boosting weight ``weight(s F)`` of a binary row with label ``s`` and score ``F``, in [0, 1], truncated.

    It is evaluated in the middle of each level. ``split``: two channels, each for the rows of one class; otherwise one.
    """
    middle = middle_margins()
    table = np.zeros((2, LEVELS, 2 if split else 1), np.int32)
    for label, sign in ((0, -1.0), (1, 1.0)):
        values = np.floor(np.clip(weight(sign * middle), 0.0, 1.0) * WEIGHT_UNIT).astype(np.int32)
        table[label, :, label if split else 0] = values
    return RowRule(table, WEIGHT_UNIT)
