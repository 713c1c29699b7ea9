"""Weighted sums of dense rows: plain, and under a capped measure of exact total, whose weights depend on all rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Ints
from tacit.privacy.unit import Neighbouring
from tacit.queries.dense.capped_scaling import WEIGHT_BITS, CappedWeights, capped_scaling
from tacit.queries.dense.halfspace_log import HalfspaceLog, Levels
from tacit.queries.query import Sensitivity

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


@dataclass(frozen=True, eq=False)
class CappedSum:
    """A query for ``sum over rows of sign * W * row``: ``W`` is the measure scaled to ``total`` under a cap of 1.

    The level histogram, the scaling and the sum all happen inside the query: neither the scale nor any weight leaves
    it.

    Sensitivity (docs/theory/sensitivities.md, section 1; sharper than Theorem 22 with Lemma 21, which give 4): one row
    of norm at most ``radius`` takes at most ``2**bits`` units of weight, the others give up or get exactly as many, so
    the sum moves by at most ``2 * 2**bits * radius``. Under replacement the others move by the *difference* of the two
    rows' units, and the bound is the same. It is attained. ``total`` must be a constant: released or public, never the
    count of the rows.

    Args:
        log: the released hypotheses that margins come from.
        levels: how margins become levels.
        ticks: minus the logarithm of the unscaled measure by level, in clock ticks (``queries.capped_scaling``).
        total: total weight after scaling, in rows at full weight.
        bits: a weight of 1 is ``2**bits`` units.
    """

    log: HalfspaceLog
    levels: Levels
    ticks: Ints
    total: int
    bits: int = WEIGHT_BITS

    def __post_init__(self) -> None:
        if self.ticks.shape != (self.levels.count,):
            raise ValueError(f"a measure over {self.levels.count} levels needs that many ticks, got {self.ticks.shape}")
        if self.total < 1:
            raise ValueError(f"total must be at least 1, got {self.total}")
        if not 1 <= self.bits <= 15:
            raise ValueError(f"bits must lie in 1..15, got {self.bits}")

    @property
    def shape(self) -> tuple[int, ...]:
        """``(n_features,)``."""
        return (self.log.n_features,)

    @property
    def unit(self) -> int:
        """Integer units of one row of norm 1 at full weight."""
        return self.log.radius << self.bits

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the sum, in integer units: the same under both relations."""
        del neighbouring
        theorem = "capped sum of exact total (Lemma 21 made sharp): 2 x row norm"
        return norm_ball(2 * (self.log.radius << self.bits), self.log.n_features, theorem)

    def weights(self, histogram: Ints) -> CappedWeights:
        """The integer weights that follow from the exact level histogram. For engines; the result is private."""
        return capped_scaling(histogram, self.ticks, self.total, self.bits)
