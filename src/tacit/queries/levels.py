"""Levels: signed margins cut into finitely many public steps, so that a measure is a table and not code."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.queries.rules import MARGIN_BITS

N_LEVELS = 4096
"""Levels of a measure over halfspace margins."""


@dataclass(frozen=True)
class Levels:
    """Level ``l`` holds fixed-point margins from ``(l - count/2) << shift`` on, up to the next; ends are clipped.

    Attributes:
        shift: a level is ``2**shift`` fixed-point units wide.
        count: how many levels there are.
    """

    shift: int
    count: int = N_LEVELS

    def __post_init__(self) -> None:
        if self.shift < 0 or self.count < 2 or self.count > 1 << 16 or self.count % 2:
            raise ValueError(f"levels need shift >= 0 and an even count of 2..65536, got {self.shift} and {self.count}")

    @property
    def middles(self) -> npt.NDArray[np.float64]:
        """The margin in the middle of every level, in natural units."""
        middles: npt.NDArray[np.float64] = np.ldexp(
            np.arange(self.count) - self.count // 2 + 0.5, self.shift - MARGIN_BITS
        )
        return middles

    @staticmethod
    def covering(limit: float, count: int = N_LEVELS) -> Levels:
        """The finest levels that reach from ``-limit`` to ``limit`` (natural units of margin)."""
        units = limit * 2**MARGIN_BITS / (count // 2)
        return Levels(max(0, math.ceil(math.log2(max(units, 1.0)))), count)
