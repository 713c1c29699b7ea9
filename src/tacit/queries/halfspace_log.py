"""The released halfspaces of a boosting run, in integers, as an append-only public log.

A row's margin under the log is a sum of clipped integer products: it does not depend on other rows, on the order of the
additions or on the machine. Engines cache it, because it follows from the log alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tacit.queries.rules import MARGIN_BITS

RADIUS_16 = (1 << 15) - 1
"""Integer length of a row of norm 1, stored in 16 bits."""

RADIUS_32 = 1 << 22
"""Integer length of a row of norm 1, stored in 32 bits."""

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


def quantise(direction: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int16], float]:
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
    """

    n_features: int
    radius: int = RADIUS_16
    steps: list[HalfspaceStep] = field(default_factory=list)

    def add(self, direction: npt.ArrayLike, step: float = 1.0) -> None:
        """Appends ``step * clip(direction . x, -1, 1)``.

        Args:
            direction: released vector, shape ``(n_features,)``, finite.
            step: length of the step, in (0, 1024].
        """
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

    @property
    def reach(self) -> float:
        """The largest margin any row can have under the log so far, natural units."""
        return sum(step.limit for step in self.steps) / 2.0**MARGIN_BITS


def fixed_margins(log: HalfspaceLog, rows: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Margins of integer rows of shape ``(n, n_features)`` under a log: the definition that engines must reproduce."""
    exact = np.zeros(len(rows), np.int64)
    for step in log.steps:
        product = rows.astype(np.int64) @ step.vector.astype(np.int64)
        exact += np.clip((product * step.multiplier) >> step.shift, -step.limit, step.limit)
    return exact
