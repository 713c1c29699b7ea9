"""Row rules: an integer table over (label, margin) that says what a row contributes.

A weight rule is data, not code: the engine looks the contribution up, so a round needs no floating point per row, gives
the same bits on every machine, and its sensitivity is read off the table exactly.

Weights of classes and of rows are part of a rule: a weighted row contributes less than an unweighted one, never more.
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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes, Floats, Ints
from tacit.queries.query import largest_difference, largest_vector

MARGIN_BITS = 16  # margins are fixed point: one unit of log-odds is `2**MARGIN_BITS`
LEVEL_BITS = 7  # A level is `2**-LEVEL_BITS` of log-odds wide
LEVELS = 2048  # levels in a rule: margins in [-8, 8), clipped
WEIGHT_UNIT = 1 << 15  # integer units of a weight of 1
COUNT_UNIT = 64  # integer units of a row that is counted finely: the lattice then does not coarsen small noise

LEVEL_SHIFT = MARGIN_BITS - LEVEL_BITS


@dataclass(frozen=True, eq=False)
class RowRule:
    """What a row contributes: an integer vector looked up by label and margin level."""

    # int32 array of shape `(n_labels, n_levels, n_channels)`; `n_levels` is 1 (the margin does not matter) or `LEVELS`
    # (level `l` holds margins in `[(l - LEVELS/2), (l + 1 - LEVELS/2)) / 2**LEVEL_BITS`)
    table: npt.NDArray[np.int32]
    unit: int  # integer units that stand for 1.0

    def __post_init__(self) -> None:
        if self.table.ndim != 3 or self.table.shape[1] not in (1, LEVELS) or self.table.dtype != np.int32:
            raise ValueError(f"a rule is an int32 table of shape (labels, 1 or {LEVELS}, channels)")

    @property
    def channels(self) -> int:
        return int(self.table.shape[2])

    @property
    def uses_margin(self) -> bool:
        return bool(self.table.shape[1] > 1)

    @cached_property
    def vectors(self) -> Ints:
        """All contributions any row can make, one per line."""
        rows = self.table.reshape(-1, self.channels).astype(np.int64)
        rows = rows[np.lexsort(rows.T[::-1])]
        first = np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)])
        return np.asarray(rows[first], np.int64)

    @cached_property
    def longest(self) -> tuple[int, int]:
        """The largest L1 norm and squared L2 norm of a contribution."""
        return largest_vector(self.table.reshape(-1, self.channels).astype(np.int64))

    @cached_property
    def diameter(self) -> tuple[int, int]:
        """The largest L1 norm and squared L2 norm of a difference of two contributions; a dropped row gives nothing."""
        nothing = np.zeros((1, self.channels), np.int64)
        return largest_difference(np.concatenate([self.vectors, nothing]))


def count_rule(n_labels: int) -> RowRule:
    """Every row counts 1."""
    return RowRule(np.ones((n_labels, 1, 1), np.int32), unit=1)


def fine_count_rule(n_labels: int) -> RowRule:
    """Every row counts 1, on a lattice of ``1 / COUNT_UNIT``."""
    return RowRule(np.full((n_labels, 1, 1), COUNT_UNIT, np.int32), unit=COUNT_UNIT)


def fine_class_count_rule(n_labels: int) -> RowRule:
    """A row counts 1 in the channel of its label, on a lattice of ``1 / COUNT_UNIT``."""
    return RowRule(np.eye(n_labels, dtype=np.int32)[:, None, :] * COUNT_UNIT, unit=COUNT_UNIT)


def class_count_rule(n_labels: int) -> RowRule:
    """A row counts 1 in the channel of its label."""
    return RowRule(np.eye(n_labels, dtype=np.int32)[:, None, :], unit=1)


def signed_margin_rule(weight: Callable[[Floats], Floats]) -> RowRule:
    """The boosting contribution ``s * w(s F)`` of a binary row (label 1: s = +1, label 0: s = -1).

    Args:
        weight: the measure, a function of the signed margin with values in [0, 1]; evaluated at the middle of each
            level and truncated toward zero, which never enlarges it.
    """
    middle = (np.arange(LEVELS) - LEVELS // 2 + 0.5) / 2**LEVEL_BITS
    table = np.zeros((2, LEVELS, 1), np.int32)
    for label, sign in ((0, -1), (1, 1)):
        values = np.clip(weight(sign * middle), 0.0, 1.0)
        table[label, :, 0] = sign * np.floor(values * WEIGHT_UNIT).astype(np.int32)
    return RowRule(table, WEIGHT_UNIT)


STEPS = 10  # levels to an octave: a weight is off by at most 3.6 %
OCTAVES = 12  # weights below about `2**-OCTAVES` are 0

N_LEVELS = STEPS * OCTAVES + 1


@final
@dataclass(frozen=True, eq=False)
class LabelWeights:
    """What the label codes of a weighted table mean to rules that compute contributions."""

    classes: Bytes  # the class of every label code, uint8, shape `(n_labels,)`
    factors: Ints  # its weight in units of 1 / `WEIGHT_UNIT`, int64 in `0 .. WEIGHT_UNIT`, the same shape.

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
    """The rule for labels ``class * len(levels) + level``, from the one for unweighted rows."""
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
