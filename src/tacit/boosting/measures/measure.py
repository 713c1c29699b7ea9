"""What a measure is to the boosting schema: a public rule that follows from the released hypotheses alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.queries.dense.halfspace_log import HalfspaceLog, Levels
from tacit.queries.dense.vector_sum import VectorSum
from tacit.queries.query import Query

DENSE_WEIGHT_UNIT = 1 << 10  # units of a weight of 1: 64 products with a 16-bit row fit an int32


class Measure(Protocol):
    """``NxM`` of Algorithm 2: the next measure, given the hypotheses so far.

    A measure of this kind has no state: it never holds a weight, it says how a weight follows from a row's label and
    its margin under the released hypotheses. That is what makes boosting private with one noisy sum per round.

    Example:
        >>> from tacit.boosting import HalfspaceLog, Measure, stateless_sum
        >>> class Wrong(Measure):  # rows on the wrong side weigh 1, the others nothing
        ...     def weighted_sum(self, log, rounds, reach):
        ...         return stateless_sum(log, lambda margin: (margin <= 0).astype(float), reach)
        >>> print(Wrong().weighted_sum(HalfspaceLog(3), 0, 1.0).shape)
        (3,)
    """

    @property
    def step(self) -> float:
        """How far a hypothesis with values in [-1, 1] moves a row's margin."""

    def weighted_sum(self, log: HalfspaceLog, rounds: int, reach: float) -> Query:
        """The query for ``sum of measure(row) * sign * row``.

        Args:
            log: the released hypotheses.
            rounds: how many hypotheses the log holds that were boosted (an offset that a user gave does not count).
            reach: a public bound on all margins the run can produce; fixes the levels once for all rounds.
        """

    def total(self, n_rows: float) -> float:
        """The total weight that the sum is divided by to make it an average, given the released number of rows."""


def stateless_sum(log: HalfspaceLog, weights: Callable[[Floats], Floats], reach: float) -> VectorSum:
    """The query of a measure whose weights follow from a row's own margin: ``sum of weight(margin) * sign * row``.

    Sensitivity: the largest weight times the largest norm of a row, twice that for replacing one. Truncation
    to integers never enlarges a weight.

    Args:
        log: the released hypotheses.
        weights: signed margins, shape ``(k,)``, to weights in [0, 1].
        reach: a public bound on all margins; beyond it, weights are those at its ends.

    Raises:
        ValueError: for weights outside [0, 1].

    Example:
        >>> from tacit.boosting import HalfspaceLog, stateless_sum
        >>> query = stateless_sum(HalfspaceLog(3), lambda margin: (margin <= 0).astype(float), 1.0)
        >>> print(query.shape)
        (3,)
    """
    return VectorSum(log, *weight_table(weights, reach), DENSE_WEIGHT_UNIT)


def weight_table(weights: Callable[[Floats], Floats], reach: float) -> tuple[Levels, Ints]:
    """Levels of the margin and their integer weights; see :func:`stateless_sum`."""
    levels = Levels.covering(reach)
    table = np.asarray(weights(levels.middles), np.float64)
    if table.shape != levels.middles.shape or not ((table >= 0) & (table <= 1)).all():
        raise ValueError("a measure gives every margin a weight in [0, 1]")
    return levels, np.floor(table * DENSE_WEIGHT_UNIT).astype(np.int64)
