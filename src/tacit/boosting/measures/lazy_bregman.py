"""Lazy Bregman: multiplicative weights, projected once per round onto the dense measures (Algorithm 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Ints
from tacit.queries.dense.halfspace_log import N_LEVELS, HalfspaceLog, Levels
from tacit.queries.dense.vector_sum import TICKS, WEIGHT_BITS, CappedSum
from tacit.theory.averaged_noise import BITS, LEVELS


@dataclass(frozen=True)
class LazyBregman:
    """``LB-NxM``: row ``i`` weighs ``exp(-lambda * sum_j l_j(i))``, scaled under a cap to density ``kappa``.

    The loss of a hypothesis is ``l_j = 1 - |h_j(x) - y| / 2 = (1 + y h_j(x)) / 2``. What all rows have in common
    cancels in the scaling, so the unscaled measure is ``exp(-lambda / 2 * margin)``: a table over margin levels. The
    capped scaling is the Bregman projection (Lemma 9). Projecting once, at the end, is what keeps neighbouring tables'
    measures within total variation ``1 / (kappa n)`` (Lemma 21).

    Args:
        density: ``kappa``, the share of rows whose weight the measure adds up to, in (0, 1).
        learning_rate: ``lambda``, in (0, 1]; a quarter of the advantage in Theorem 20.
        n_rows: the released (or public) number of rows that ``kappa`` is a share of.
        fine: whether levels and weights are as fine as the theorem of a run takes for granted, and rounds slower.

    Example:
        >>> from tacit.boosting import HalfspaceLog, LazyBregman
        >>> query = LazyBregman(density=0.2, learning_rate=0.2, n_rows=4000).weighted_sum(HalfspaceLog(3), 0, 10.0)
        >>> print(query.shape)
        (3,)
    """

    density: float
    learning_rate: float
    n_rows: float
    fine: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.density < 1:
            raise ValueError(f"density must lie in (0, 1), got {self.density}")
        if not 0 < self.learning_rate <= 1:
            raise ValueError(f"learning_rate must lie in (0, 1], got {self.learning_rate}")
        if not math.isfinite(self.n_rows):
            raise ValueError(f"n_rows must be finite, got {self.n_rows}")

    @property
    def step(self) -> float:
        """Margins are plain sums of the hypotheses' values."""
        return 1.0

    @property
    def rows_at_cap(self) -> int:
        """``M = kappa n``: the total of every projected measure, in rows at full weight."""
        return max(1, round(self.density * self.n_rows))

    def total(self, n_rows: float) -> float:
        """``M``; the number of rows is in it already."""
        del n_rows
        return float(self.rows_at_cap)

    def ticks(self, levels: Levels) -> Ints:
        """Minus the logarithm of the unscaled measure, on the clock of the capped scaling; shape ``(levels,)``."""
        return np.rint(levels.middles * (self.learning_rate / 2 * TICKS)).astype(np.int64)

    def weighted_sum(self, log: HalfspaceLog, rounds: int, reach: float) -> CappedSum:
        """One query: histogram, projection and sum happen inside the curator."""
        del rounds
        levels = Levels.covering(reach, LEVELS if self.fine else N_LEVELS)
        return CappedSum(log, levels, self.ticks(levels), self.rows_at_cap, BITS if self.fine else WEIGHT_BITS)
