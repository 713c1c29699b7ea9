"""Weighted sums of dense rows: plain, and under a capped measure of exact total, whose weights depend on all rows.

The projection of a measure ``m`` onto the dense measures is ``min(1, c m)`` with ``c`` such that the total is ``M``
(Barak, Hardt, Kale 2009; Lemma 9 of Bun, Carmosino, Sorrell 2020). The scale ``c`` depends on all rows, so rounding
matters: rounded row by row, the total is off by up to one unit per row, and a single row can then move a sum over all
rows. Here the total is exact, by a divisor rule:

* Time runs on a public clock, ``TICKS`` ticks for every factor ``e`` of ``c``. A row of a level is entitled at each
  tick to a public number of weight units, which never falls and ends at ``2**bits``, the weight 1.
* All units of all rows stand in one line: by tick, then by level, then by the order of the rows, then row by row.
* The first ``M * 2**bits`` units of the line are handed out.

A row's place in the line depends on nothing but itself. Adding a row therefore pushes out exactly as many units of
others as it takes, at most ``2**bits``, and they all move the same way: this is the whole privacy proof
(docs/theory/sensitivities.md, section 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.privacy.unit import Neighbouring
from tacit.queries.dense.halfspace_log import HalfspaceLog, Levels
from tacit.queries.query import Sensitivity

TICKS = 1 << 14  # ticks of the clock for a factor `e`: between ticks a weight grows by less than one part in 16,000
WEIGHT_BITS = 10  # A weight of 1 is `2**WEIGHT_BITS` units: 64 products with a 16-bit row still fit an int32


@lru_cache(maxsize=8)
def entitlements(bits: int) -> npt.NDArray[np.int32]:
    """Weight units of a row whose cap lies ``u`` ticks ahead, for ``u = 0, 1, ...`` until it is zero for good.

    A public table that falls from ``2**bits`` to 0. Its entries are what the rule *is*, not an approximation that
    privacy would rest on.
    """
    ticks = int(np.ceil((bits + 1) * np.log(2.0) * TICKS)) + 1
    table = np.floor(2.0**bits * np.exp(-np.arange(ticks + 1) / TICKS)).astype(np.int32)
    table.setflags(write=False)
    return table


@dataclass(frozen=True, eq=False)
class CappedWeights:
    """Who gets how many units, as a function of level and of the rank among the rows of one level."""

    table: Ints  # units by level, int64
    level: int  # the level at which the line was cut; -1 if it was not
    full_rows: int  # how many rows of that level, in row order, get `step` units more than `table` says
    step: int  # see `full_rows`
    partial: int  # what the next row of that level gets more

    def per_row(self, levels: npt.NDArray[np.integer]) -> Ints:
        """Units of every row, given the rows' levels in row order."""
        weights: Ints = self.table[levels]
        if self.level >= 0:
            rows = np.flatnonzero(levels == self.level)
            weights[rows[: self.full_rows]] += self.step
            weights[rows[self.full_rows : self.full_rows + 1]] += self.partial
        return weights


def level_units(ticks: Ints, clock: int, bits: int) -> Ints:
    """Units that a row of each level is entitled to at a tick of the clock."""
    table = entitlements(bits)
    ahead = np.minimum(np.maximum(ticks - clock, 0), len(table) - 1)  # np.clip takes longer to ask for bounds
    return table[ahead].astype(np.int64)


def capped_scaling(histogram: Ints, ticks: Ints, total: int, bits: int = WEIGHT_BITS) -> CappedWeights:
    """Scales a measure to the exact total ``total`` under the cap 1.

    Args:
        histogram: number of rows per level.
        ticks: per level, minus the logarithm of the unscaled measure, in ticks (``-log m * TICKS``); any offset.
        total: the total weight to reach, in rows at full weight (``M``; an integer).
        bits: a weight of 1 is ``2**bits`` units.

    Returns:
        Weights whose sum is ``min(total, number of rows) << bits`` units exactly, none above ``1 << bits``.
    """
    if histogram.shape != ticks.shape or histogram.ndim != 1:
        raise ValueError(f"one tick per level is needed, got shapes {ticks.shape} and {histogram.shape}")
    if total < 0:
        raise ValueError(f"total must not be negative, got {total}")
    units = total << bits
    low, high = int(ticks.min()) - len(entitlements(bits)), int(ticks.max())
    if int(histogram.sum()) <= total:
        return CappedWeights(level_units(ticks, high, bits), -1, 0, 0, 0)
    occupied = np.flatnonzero(histogram)  # few of the levels, as a rule
    rows, due = histogram[occupied], ticks[occupied]
    while high - low > 1:  # invariant: the rows ask for at most `units` at `low`, for more at `high`
        middle = (low + high) // 2
        if int(rows @ level_units(due, middle, bits)) <= units:
            low = middle
        else:
            high = middle
    table = level_units(ticks, low, bits)
    steps = level_units(ticks, low + 1, bits) - table
    remaining = units - int(histogram @ table)
    targets = np.cumsum(histogram * steps)
    cut = int(np.searchsorted(targets, remaining, side="right"))  # the first level that cannot be served whole
    remaining -= int(targets[cut - 1]) if cut else 0
    table[:cut] += steps[:cut]
    step = int(steps[cut])
    return CappedWeights(table, cut, remaining // step, step, remaining % step)


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
    """

    log: HalfspaceLog  # the released hypotheses that margins come from
    levels: Levels  # how margins become levels
    table: Ints  # integer weights by level, shape `(levels.count,)`
    weight_unit: int  # units of a weight of 1

    def __post_init__(self) -> None:
        if self.table.shape != (self.levels.count,):
            raise ValueError(
                f"a measure over {self.levels.count} levels needs that many weights, got {self.table.shape}"
            )
        if int(np.abs(self.table).max()) > WEIGHT_LIMIT:
            raise ValueError(f"weights must not exceed {WEIGHT_LIMIT} units")

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.log.n_features,)

    @property
    def unit(self) -> int:
        """Integer units of one row of norm 1 at full weight."""
        return self.weight_unit * self.log.radius

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
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
    """

    log: HalfspaceLog  # the released hypotheses that margins come from
    levels: Levels  # how margins become levels
    ticks: Ints  # minus the logarithm of the unscaled measure by level, in clock ticks (`queries.capped_scaling`)
    total: int  # total weight after scaling, in rows at full weight
    bits: int = WEIGHT_BITS  # a weight of 1 is `2**bits` units

    def __post_init__(self) -> None:
        if self.ticks.shape != (self.levels.count,):
            raise ValueError(f"a measure over {self.levels.count} levels needs that many ticks, got {self.ticks.shape}")
        if self.total < 1:
            raise ValueError(f"total must be at least 1, got {self.total}")
        if not 1 <= self.bits <= 15:
            raise ValueError(f"bits must lie in 1..15, got {self.bits}")

    @property
    def shape(self) -> tuple[int, ...]:
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
