"""Weights of classes and of rows as part of a rule: a weighted row contributes less than an unweighted one, never more.

A row's weight becomes one of finitely many public levels, and a level and a class together act as a label: the rule
for a weighted row is looked up like any other, and its sensitivity is read off the table like any other.

Sensitivity (both relations): class weights and levels lie in [0, 1], so every entry of the weighted table is an entry
of the rule, shrunk and truncated toward zero. Adding or removing a row of whatever class and weight therefore moves an
answer by one of the weighted table's vectors, none of which is longer than the longest of the rule. Replacing a row
may change its class and its weight: two such vectors, whose differences are among those of the weighted table's.

What rows with scores contribute (:mod:`tacit.queries.score_rules`) is not looked up but computed; there every entry is
multiplied by the row's :class:`LabelWeights` factor, at most 1, and truncated toward zero. So a weighted contribution
lies, entry by entry, between 0 and an unweighted one: no norm grows. Two of them differ by at most twice the longest;
those for residuals, which lie in ``[low, high]`` around 0, stay there and differ by at most ``high - low``. Residuals
that are weighted first and clipped then are in ``[low, high]`` by the clip, and what their rows count for is at most
what unweighted ones do: the same bounds. A row in a histogram of residuals is in one interval, and counts there as much
as it weighs; or, where its weight is in the residual, 1 or nothing: in both cases at most 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes, Floats, Ints
from tacit.queries.rules import WEIGHT_UNIT, RowRule

STEPS = 10
"""Levels to an octave: a weight is off by at most 3.6 %."""

OCTAVES = 12
"""Weights below about ``2**-OCTAVES`` are 0."""

N_LEVELS = STEPS * OCTAVES + 1


@final
@dataclass(frozen=True, eq=False)
class LabelWeights:
    """What the label codes of a weighted table mean to rules that compute contributions.

    Attributes:
        classes: the class of every label code, uint8, shape ``(n_labels,)``.
        factors: its weight in units of 1 / :data:`WEIGHT_UNIT`, int64 in ``0 .. WEIGHT_UNIT``, the same shape.
    """

    classes: Bytes
    factors: Ints

    def __post_init__(self) -> None:
        if self.classes.shape != self.factors.shape or self.factors.min() < 0 or self.factors.max() > WEIGHT_UNIT:
            raise ValueError(f"every label code needs a class and a factor of 0..{WEIGHT_UNIT}")

    @staticmethod
    def of(classes: Sequence[float], levels: Floats) -> LabelWeights:
        """For labels ``class * len(levels) + level``, weights in [0, 1] of every class and level rounded down."""
        weights = np.multiply.outer(np.asarray(classes, np.float64), levels).ravel()
        names = np.repeat(np.arange(len(classes)), len(levels)).astype(np.uint8)
        return LabelWeights(names, np.floor(weights * WEIGHT_UNIT).astype(np.int64))


def level_weights() -> Floats:
    """The weight of every level: 0, and from about ``2**-12`` to exactly 1; shape ``(N_LEVELS,)``."""
    steps = np.arange(N_LEVELS, dtype=np.float64)
    weights: Floats = 2.0 ** ((steps - (N_LEVELS - 1)) / STEPS)
    weights[0] = 0.0
    return weights


def weight_levels(weights: npt.ArrayLike) -> Bytes:
    """The nearest level of every weight, shape ``(rows,)``: clipped into [0, 1]; what is no number weighs nothing.

    Each level depends on its own weight only.
    """
    clipped = np.clip(np.nan_to_num(np.asarray(weights, np.float64), nan=0.0), 0.0, 1.0)
    with np.errstate(divide="ignore"):
        levels = np.rint(STEPS * np.log2(clipped)) + (N_LEVELS - 1)
    return np.where(levels >= 1, levels, 0).astype(np.uint8)


def weighted_rule(rule: RowRule, classes: Sequence[float], levels: Floats) -> RowRule:
    """The rule for labels ``class * len(levels) + level``, from the one for unweighted rows.

    Raises:
        ValueError: if a weight of a class or a level lies outside [0, 1].
    """
    return _weighted(rule, tuple(classes), tuple(levels.tolist()))


@lru_cache(maxsize=16)  # a table of a megabyte or two: every fit asks for the same one
def _weighted(rule: RowRule, classes: tuple[float, ...], each_level: tuple[float, ...]) -> RowRule:
    by_class, levels = np.asarray(classes, np.float64), np.asarray(each_level, np.float64)
    scale = np.multiply.outer(by_class, levels).ravel()
    if len(classes) != len(rule.table) or not ((scale >= 0) & (scale <= 1)).all():
        raise ValueError(f"weights of {len(rule.table)} classes must lie in [0, 1], got {list(classes)}")
    blow_up = max(WEIGHT_UNIT // max(int(np.abs(rule.table).max(initial=0)), 1), 1)  # so that small weights survive
    # classes first: no entry is then longer than its level's part of the same class's longest, which noise follows
    whole = np.trunc(rule.table.astype(np.float64) * blow_up * by_class[:, None, None])
    table = np.repeat(whole, len(levels), axis=0) * np.tile(levels, len(classes))[:, None, None]
    return RowRule(np.trunc(table).astype(np.int32), rule.unit * blow_up)
