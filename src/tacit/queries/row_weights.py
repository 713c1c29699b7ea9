"""Weights of classes and of rows as part of a rule: a weighted row contributes less than an unweighted one, never more.

A row's weight becomes one of finitely many public levels, and a level and a class together act as a label: the rule
for a weighted row is looked up like any other, and its sensitivity is read off the table like any other.

Sensitivity (both relations): class weights and levels lie in [0, 1], so every entry of the weighted table is an entry
of the rule, shrunk and truncated toward zero. Adding or removing a row of whatever class and weight therefore moves an
answer by one of the weighted table's vectors, none of which is longer than the longest of the rule. Replacing a row
may change its class and its weight: two such vectors, whose differences are among those of the weighted table's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tacit.queries.rules import WEIGHT_UNIT, RowRule

STEPS = 10
"""Levels to an octave: a weight is off by at most 3.6 %."""

OCTAVES = 12
"""Weights below about ``2**-OCTAVES`` are 0."""

N_LEVELS = STEPS * OCTAVES + 1


def level_weights() -> npt.NDArray[np.float64]:
    """The weight of every level: 0, and from about ``2**-12`` to exactly 1; shape ``(N_LEVELS,)``."""
    steps = np.arange(N_LEVELS, dtype=np.float64)
    weights: npt.NDArray[np.float64] = 2.0 ** ((steps - (N_LEVELS - 1)) / STEPS)
    weights[0] = 0.0
    return weights


def weight_levels(weights: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """The nearest level of every weight, shape ``(rows,)``: clipped into [0, 1]; what is no number weighs nothing.

    Each level depends on its own weight only.
    """
    clipped = np.clip(np.nan_to_num(np.asarray(weights, np.float64), nan=0.0), 0.0, 1.0)
    with np.errstate(divide="ignore"):
        levels = np.rint(STEPS * np.log2(clipped)) + (N_LEVELS - 1)
    return np.where(levels >= 1, levels, 0).astype(np.uint8)


def weighted_rule(rule: RowRule, classes: Sequence[float], levels: npt.NDArray[np.float64]) -> RowRule:
    """The rule for labels ``class * len(levels) + level``.

    Args:
        rule: for unweighted rows.
        classes: weight of every class, in [0, 1].
        levels: weight of every level, in [0, 1].

    Raises:
        ValueError: if a weight lies outside.
    """
    scale = np.multiply.outer(np.asarray(classes, np.float64), levels).ravel()
    if len(classes) != len(rule.table) or not ((scale >= 0) & (scale <= 1)).all():
        raise ValueError(f"weights of {len(rule.table)} classes must lie in [0, 1], got {list(classes)}")
    blow_up = max(WEIGHT_UNIT // max(int(np.abs(rule.table).max(initial=0)), 1), 1)  # so that small weights survive
    table = np.repeat(rule.table.astype(np.float64) * blow_up, len(levels), axis=0) * scale[:, None, None]
    return RowRule(np.trunc(table).astype(np.int32), rule.unit * blow_up)
