"""The size of a stateless measure over dense rows: what a stopping rule tests (Algorithm 12)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.halfspace_log import HalfspaceLog
from tacit.queries.levels import Levels
from tacit.queries.sensitivity import Sensitivity


@dataclass(frozen=True, eq=False)
class MeasureSize:
    """A query for ``sum over rows of table[level(sign * margin)]``; one integer, shape ``(1,)``.

    Sensitivity: one row's weight. Adding or removing a row moves the size by at most the largest weight; replacing it
    by at most the largest weight too, as weights are not negative (a dropped row weighs nothing).

    Args:
        log: the released hypotheses that margins come from.
        levels: how margins become levels.
        table: weights by level, not negative.
        weight_unit: units of a weight of 1.
    """

    log: HalfspaceLog
    levels: Levels
    table: npt.NDArray[np.int64]
    weight_unit: int

    def __post_init__(self) -> None:
        if self.table.shape != (self.levels.count,) or int(self.table.min()) < 0:
            raise ValueError(f"a measure over {self.levels.count} levels needs that many weights, none negative")

    @property
    def shape(self) -> tuple[int, ...]:
        """``(1,)``."""
        return (1,)

    @property
    def unit(self) -> int:
        """Integer units of a weight of 1."""
        return self.weight_unit

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the size, in integer units: the same under both relations."""
        del neighbouring
        largest = int(self.table.max())
        return Sensitivity(largest, largest * largest, "size of a stateless measure: largest weight")
