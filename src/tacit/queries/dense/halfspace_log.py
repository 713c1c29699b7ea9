"""The released halfspaces of a boosting run, in integers, as an append-only public log.

A row's margin under the log is a sum of clipped integer products: it does not depend on other rows, on the order of the
additions or on the machine. Engines cache it, because it follows from the log alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.privacy.unit import Neighbouring
from tacit.queries.query import Sensitivity, of_one_cell
from tacit.queries.rules import MARGIN_BITS

N_LEVELS = 4096  # levels of a measure over halfspace margins


@dataclass(frozen=True)
class Levels:
    """Level ``l`` holds fixed-point margins from ``(l - count/2) << shift`` on, up to the next; ends are clipped."""

    shift: int
    count: int = N_LEVELS

    def __post_init__(self) -> None:
        if self.shift < 0 or self.count < 2 or self.count > 1 << 16 or self.count % 2:
            raise ValueError(f"levels need shift >= 0 and an even count of 2..65536, got {self.shift} and {self.count}")

    @property
    def middles(self) -> Floats:
        """The margin in the middle of every level, in natural units."""
        middles: Floats = np.ldexp(np.arange(self.count) - self.count // 2 + 0.5, self.shift - MARGIN_BITS)
        return middles

    @staticmethod
    def covering(limit: float, count: int = N_LEVELS) -> Levels:
        """The finest levels that reach from ``-limit`` to ``limit`` (natural units of margin)."""
        units = limit * 2**MARGIN_BITS / (count // 2)
        return Levels(max(0, math.ceil(math.log2(max(units, 1.0)))), count)


RADIUS_16 = (1 << 15) - 1  # integer length of a row of norm 1, stored in 16 bits
RADIUS_32 = 1 << 22  # integer length of a row of norm 1, stored in 32 bits

VECTOR_NORM = (1 << 15) - 1
"""No released integer vector is longer: with :data:`RADIUS_16`, every partial sum of a product fits an int32."""

MULTIPLIER_BITS = 24


@dataclass(frozen=True, eq=False)
class HalfspaceStep:
    """Adds ``clip((vector . x * multiplier) >> shift, -limit, limit)`` to the margin of a row ``x`` (fixed point)."""

    vector: npt.NDArray[np.int16]
    multiplier: int
    shift: int
    limit: int


def quantise(direction: Floats) -> tuple[npt.NDArray[np.int16], float]:
    """A real vector as 16-bit integers of length at most :data:`VECTOR_NORM`, and the length of one unit.

    Truncation never enlarges the norm; the error along any row of norm 1 is below ``|direction| * sqrt(d) / 32767``,
    and typically ``|direction| / 50000``.
    """
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        return np.zeros(len(direction), np.int16), 1.0
    scale = (VECTOR_NORM - 1) / length
    integers = np.trunc(direction * scale).astype(np.int64)
    while int(integers @ integers) > VECTOR_NORM**2:  # only if the floating-point length was off by one part in 32767
        scale *= 1 - 2.0**-16
        integers = np.trunc(direction * scale).astype(np.int64)
    return integers.astype(np.int16), 1.0 / scale


@dataclass(eq=False)
class HalfspaceLog:
    """The log of one score over dense rows. Identity is the object: an engine caches by it.

    Args:
        n_features: width of the rows.
        radius: the integer length that stands for a row of norm 1 (:data:`RADIUS_16` or :data:`RADIUS_32`).

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import HalfspaceLog
        >>> log = HalfspaceLog(3)
        >>> log.add(np.array([1.0, 0.0, 0.0]))
        >>> print(len(log.steps))
        1
    """

    n_features: int
    radius: int = RADIUS_16
    steps: list[HalfspaceStep] = field(default_factory=list)

    def add(self, direction: npt.ArrayLike, step: float = 1.0) -> None:
        """Appends ``step * clip(direction . x, -1, 1)``: a finite, released direction, and a step in (0, 1024]."""
        vector = np.asarray(direction, dtype=np.float64)
        if vector.shape != (self.n_features,):
            raise ValueError(f"a halfspace over {self.n_features} features has that many weights, got {vector.shape}")
        if not np.all(np.isfinite(vector)):
            raise ValueError("a halfspace must be finite")
        if not 0 < step <= 1024:
            raise ValueError(f"step must lie in (0, 1024], got {step}")
        integers, unit = quantise(vector)
        factor = unit * step * 2.0**MARGIN_BITS / self.radius
        shift = max(0, MULTIPLIER_BITS - math.ceil(math.log2(factor)))
        shift = min(shift, 62)
        limit = max(1, round(step * 2**MARGIN_BITS))
        multiplier = min(round(factor * 2.0**shift), 1 << MULTIPLIER_BITS)
        self.steps.append(HalfspaceStep(integers, multiplier, shift, limit))

    def add_whole(self, direction: Floats) -> None:
        """Appends ``direction . x`` for rows of norm at most 1, clipped nowhere and to about 30 bits.

        Steps of at most 1024, and what 16 bits leave of each as a step of its own. ``direction``, shape
        ``(n_features,)``, was released.
        """
        length = float(np.linalg.norm(direction))
        if not math.isfinite(length):
            raise ValueError("a halfspace must be finite")
        parts = max(1, math.ceil(length / 1000))
        for _ in range(parts):
            integers, unit = quantise(direction / parts)
            for part in (direction / parts, direction / parts - integers * unit):
                step = 1.001 * float(np.linalg.norm(part)) + 2.0 ** (1 - MARGIN_BITS)
                self.add(part / step, step)

    def add_sign(self, integers: Ints) -> None:
        """Appends 1 (natural units, or less) where ``integers . x > 0``, minus as much where it is below 0, exactly.

        The integers were released, and are a vector of length at most :data:`VECTOR_NORM`.
        """
        if integers.shape != (self.n_features,):
            raise ValueError(f"a halfspace over {self.n_features} features has that many, got {integers.shape}")
        if int(integers @ integers) > VECTOR_NORM**2:
            raise ValueError(f"a halfspace of integers has length at most {VECTOR_NORM}")
        self.steps.append(HalfspaceStep(integers.astype(np.int16), 1, 0, 1 << MARGIN_BITS))

    @property
    def reach(self) -> float:
        """The largest margin any row can have under the log so far, natural units."""
        return sum(step.limit for step in self.steps) / 2.0**MARGIN_BITS


@dataclass(frozen=True, eq=False)
class MeasureSize:
    """A query for ``sum over rows of table[level(sign * margin)]``; one integer, shape ``(1,)``.

    Sensitivity: one row's weight. Adding or removing a row moves the size by at most the largest weight; replacing it
    by at most the largest weight too, as weights (by level, a weight of 1 in ``unit`` units) are not negative,
    and a dropped row weighs nothing.
    """

    log: HalfspaceLog
    levels: Levels
    table: Ints
    unit: int

    def __post_init__(self) -> None:
        if self.table.shape != (self.levels.count,) or int(self.table.min()) < 0:
            raise ValueError(f"a measure over {self.levels.count} levels needs that many weights, none negative")

    @property
    def shape(self) -> tuple[int, ...]:
        return (1,)

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the size, in integer units: the same under both relations."""
        del neighbouring
        largest = int(self.table.max())
        return Sensitivity(largest, largest * largest, "size of a stateless measure: largest weight")


DENSE_COUNT_UNIT = 1 << 10


@dataclass(frozen=True, eq=False)
class MarginCounts:
    """A query for the number of rows by margin level and label; integers of shape ``(levels.count, 2)``.

    The margin is the score itself, not its product with the label. Sensitivity: a row is counted once. Replacing one
    moves two counts by one each.
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
        return of_one_cell(DENSE_COUNT_UNIT, "counts by margin and label: one row, one cell", neighbouring)
