"""How many rows of each class have which margin: what a score is calibrated on."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.halfspace_log import HalfspaceLog
from tacit.queries.levels import Levels
from tacit.queries.sensitivity import Sensitivity

DENSE_COUNT_UNIT = 1 << 10


@dataclass(frozen=True, eq=False)
class MarginCounts:
    """A query for the number of rows by margin level and label; integers of shape ``(levels.count, 2)``.

    The margin is the score itself, not its product with the label. Sensitivity: a row is counted once. Replacing one
    moves two counts by one each.

    Args:
        log: the released hypotheses that margins come from.
        levels: how margins become levels.
    """

    log: HalfspaceLog
    levels: Levels

    @property
    def shape(self) -> tuple[int, ...]:
        """``(levels.count, 2)``: label 0, label 1."""
        return (self.levels.count, 2)

    @property
    def unit(self) -> int:
        """Integer units of one row: many, so that the lattice of the noise is fine."""
        return DENSE_COUNT_UNIT

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the counts."""
        if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE:
            return Sensitivity(DENSE_COUNT_UNIT, DENSE_COUNT_UNIT**2, "counts by margin and label: one row, one cell")
        return Sensitivity(
            2 * DENSE_COUNT_UNIT, 2 * DENSE_COUNT_UNIT**2, "counts by margin and label: one row, one cell; replace"
        )
