"""The logistic measure: the weight of a row is the probability that the score so far gives to the other class."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import expit

from tacit.arrays import Floats
from tacit.boosting.measures.measure import DENSE_WEIGHT_UNIT, stateless_sum, weight_table
from tacit.queries.dense.halfspace_log import HalfspaceLog, MeasureSize
from tacit.queries.dense.vector_sum import VectorSum

REACH = 16.0  # log-odds beyond which the weight no longer changes: 1e-7 on one side, 1 on the other


@dataclass(frozen=True)
class LogisticMeasure:
    """``1 / (1 + exp(margin))``: boosting with it is gradient descent on the logistic loss.

    Bounded by 1 and stateless, so a round's sum has the sensitivity of one row (docs/theory/sensitivities.md, section
    1). One hypothesis moves a margin by ``step``, in log-odds.

    Example:
        >>> from tacit.boosting import HalfspaceLog, LogisticMeasure
        >>> print(LogisticMeasure().weighted_sum(HalfspaceLog(3), 0, 10.0).shape)
        (3,)
    """

    step: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.step <= 1024:
            raise ValueError(f"step must lie in (0, 1024], got {self.step}")

    def total(self, n_rows: float) -> float:
        """Sums are divided by the number of rows: an average gradient."""
        return max(1.0, n_rows)

    def weights(self, margins: Floats) -> Floats:
        """The measure of rows with these signed margins, natural units; in (0, 1), shape as ``margins``."""
        weights: Floats = expit(-margins)
        return weights

    def weighted_sum(self, log: HalfspaceLog, rounds: int, reach: float) -> VectorSum:
        """One stateless query."""
        del rounds
        return stateless_sum(log, self.weights, min(reach, REACH))

    def size(self, log: HalfspaceLog, rounds: int, reach: float) -> MeasureSize:
        """The query for the size of the measure: the expected number of mistakes of a randomised prediction."""
        del rounds
        return MeasureSize(log, *weight_table(self.weights, min(reach, REACH)), DENSE_WEIGHT_UNIT)
