"""The weighted sum of dense rows: what a centering weak learner asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Ints
from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.dense.halfspace_log import HalfspaceLog, Levels
from tacit.queries.sensitivity import Sensitivity

WEIGHT_LIMIT = 1 << 15
"""No weight table may exceed this many units: sums of 2**25 rows of 32 bits, or 2**32 of 16, then fit an int64."""


@dataclass(frozen=True, eq=False)
class VectorSum:
    """A query for ``sum over rows of sign * table[level(sign * margin)] * row``; integers of shape ``(n_features,)``.

    ``sign`` is +1 for label 1 and -1 for label 0; ``table`` is the measure, a public function of the signed margin.

    Sensitivity (docs/theory/sensitivities.md, section 1, sums without state): a row of norm at most ``radius`` and
    weight at most ``max |table|`` contributes nothing but itself, so adding or removing it moves the sum by at most
    their product, and replacing it by at most twice that, whatever happens to its label, margin and weight. Both are
    attained.

    Args:
        log: the released hypotheses that margins come from.
        levels: how margins become levels.
        table: integer weights by level, shape ``(levels.count,)``.
        weight_unit: units of a weight of 1.
    """

    log: HalfspaceLog
    levels: Levels
    table: Ints
    weight_unit: int

    def __post_init__(self) -> None:
        if self.table.shape != (self.levels.count,):
            raise ValueError(
                f"a measure over {self.levels.count} levels needs that many weights, got {self.table.shape}"
            )
        if int(np.abs(self.table).max()) > WEIGHT_LIMIT:
            raise ValueError(f"weights must not exceed {WEIGHT_LIMIT} units")

    @property
    def shape(self) -> tuple[int, ...]:
        """``(n_features,)``."""
        return (self.log.n_features,)

    @property
    def unit(self) -> int:
        """Integer units of one row of norm 1 at full weight."""
        return self.weight_unit * self.log.radius

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the sum, in integer units."""
        largest = int(np.abs(self.table).max())
        name = "weighted vector sum, stateless measure: max weight x row norm"
        if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE:
            return norm_ball(largest * self.log.radius, self.log.n_features, name)
        return norm_ball(2 * largest * self.log.radius, self.log.n_features, f"{name}; replace = remove + add")


def norm_ball(l2: int, dimension: int, theorem: str) -> Sensitivity:
    """The sensitivity of a sum of vectors that moves within a Euclidean ball of integer radius ``l2``."""
    return Sensitivity(math.isqrt(l2 * l2 * dimension) + (dimension > 1), l2 * l2, theorem)
