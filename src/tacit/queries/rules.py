"""Row rules: an integer table over (label, margin) that says what a row contributes.

A weight rule is data, not code: the engine looks the contribution up, so a round needs no floating point per row, gives
the same bits on every machine, and its sensitivity is read off the table exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.queries.query import largest_difference, largest_vector

MARGIN_BITS = 16
"""Margins are fixed point: one unit of log-odds is ``2**MARGIN_BITS``."""

LEVEL_BITS = 7
"""A level is ``2**-LEVEL_BITS`` of log-odds wide."""

LEVELS = 2048
"""Levels in a rule: margins in [-8, 8), clipped."""

WEIGHT_UNIT = 1 << 15
"""Integer units of a weight of 1."""

COUNT_UNIT = 64
"""Integer units of a row that is counted finely: the lattice then does not coarsen small noise."""

LEVEL_SHIFT = MARGIN_BITS - LEVEL_BITS


@dataclass(frozen=True, eq=False)
class RowRule:
    """What a row contributes: an integer vector looked up by label and margin level.

    Attributes:
        table: int32 array of shape ``(n_labels, n_levels, n_channels)``; ``n_levels`` is 1 (the margin does not matter)
            or :data:`LEVELS` (level ``l`` holds margins in ``[(l - LEVELS/2), (l + 1 - LEVELS/2)) / 2**LEVEL_BITS``).
        unit: integer units that stand for 1.0.
    """

    table: npt.NDArray[np.int32]
    unit: int

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
