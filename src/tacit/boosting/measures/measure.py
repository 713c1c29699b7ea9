"""What a measure is to the boosting schema: a public rule that follows from the released hypotheses alone."""

from __future__ import annotations

from typing import Protocol

from tacit.queries.dense.halfspace_log import HalfspaceLog
from tacit.queries.query import Query


class Measure(Protocol):
    """``NxM`` of Algorithm 2: the next measure, given the hypotheses so far.

    A measure of this kind has no state: it never holds a weight, it says how a weight follows from a row's label and
    its margin under the released hypotheses. That is what makes boosting private with one noisy sum per round.
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
