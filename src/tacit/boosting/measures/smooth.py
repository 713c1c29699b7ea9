"""SmoothBoost's measure (Servedio 2003; Algorithm 13): one weight rule per round, no projection, no state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from tacit.arrays import Floats
from tacit.boosting.measures.measure import DENSE_WEIGHT_UNIT, stateless_sum, weight_table
from tacit.queries.dense.halfspace_log import HalfspaceLog, MeasureSize
from tacit.queries.dense.vector_sum import VectorSum


@dataclass(frozen=True)
class SmoothMeasure:
    """``SB-NxM``: weight 1 where the margin lags behind ``theta`` per round, ``(1 - gamma)**(s/2)`` at a lead of ``s``.

    Args:
        advantage: ``gamma``, what the weak learner is trusted to achieve, in (0, 1/2).
        margin: ``theta`` in [0, gamma]; None for Servedio's ``gamma / (2 + gamma)``.

    Example:
        >>> from tacit.boosting import HalfspaceLog, SmoothMeasure
        >>> print(SmoothMeasure(advantage=0.1).weighted_sum(HalfspaceLog(3), 0, 10.0).shape)
        (3,)
    """

    advantage: float
    margin: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.advantage < 0.5:
            raise ValueError(f"advantage must lie in (0, 0.5), got {self.advantage}")
        if self.margin is not None and not 0 <= self.margin <= self.advantage:
            raise ValueError(f"margin must lie in [0, {self.advantage}], got {self.margin}")

    @property
    def theta(self) -> float:
        """The margin that every round must add."""
        return self.advantage / (2 + self.advantage) if self.margin is None else self.margin

    @property
    def step(self) -> float:
        """Margins are plain sums of the hypotheses' values."""
        return 1.0

    def total(self, n_rows: float) -> float:
        """Sums are divided by the number of rows; the measure's own size is never released."""
        return max(1.0, n_rows)

    def weights(self, margins: Floats, rounds: int) -> Floats:
        """The measure of rows with these signed margins after ``rounds`` hypotheses; in [0, 1], their shape."""
        lead = np.maximum(margins - rounds * self.theta, 0.0)
        return (1 - self.advantage) ** (lead / 2)

    def weighted_sum(self, log: HalfspaceLog, rounds: int, reach: float) -> VectorSum:
        """One stateless query."""
        return stateless_sum(log, partial(self.weights, rounds=rounds), reach)

    def size(self, log: HalfspaceLog, rounds: int, reach: float) -> MeasureSize:
        """The query for the size of the measure, which Algorithm 12 compares with ``kappa n``."""
        return MeasureSize(log, *weight_table(partial(self.weights, rounds=rounds), reach), DENSE_WEIGHT_UNIT)
