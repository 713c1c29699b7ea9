"""What a measure is to the boosting schema, a rule that follows from released hypotheses alone; and three of them.

Lazy Bregman (Algorithm 3): multiplicative weights, projected once per round onto the dense measures. SmoothBoost's
(Servedio 2003; Algorithm 13): one weight rule per round. The logistic one: the probability of the other class.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from scipy.special import expit

from tacit.arrays import Floats, Ints
from tacit.queries.dense.halfspace_log import N_LEVELS, HalfspaceLog, Levels, MeasureSize
from tacit.queries.dense.vector_sum import TICKS, WEIGHT_BITS, CappedSum, VectorSum
from tacit.queries.query import Query
from tacit.theory.averaged_noise import BITS, LEVELS

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
