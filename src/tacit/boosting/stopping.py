"""Stopping rules (Appendix K): end a run when the measure has become small, tested in private before every round.

Under a stateless measure an unnormalised sum has the sensitivity of one row whatever the size of the measure, so the
test is a choice, not a condition of privacy: each test costs its own release. For a weak learner that is private only
on slick measures (Definition 47: it is given a *normalised* measure), the test is what makes a round private:
propose-test-release (Lemmas 49 and 50), in :mod:`tacit.curator.views.resample`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tacit.boosting.measures import Measure
from tacit.curator.curator import Curator
from tacit.privacy.charges import Charge, Laplace
from tacit.privacy.label import Label, Stage
from tacit.queries.dense.halfspace_log import HalfspaceLog, MeasureSize
from tacit.theory.boosting import end_test_threshold


@runtime_checkable
class SizedMeasure(Measure, Protocol):
    """A measure whose size changes, and can be asked for. Lazy Bregman's is constant."""

    def size(self, log: HalfspaceLog, rounds: int, reach: float) -> MeasureSize:
        """The query for its size."""


@dataclass(frozen=True, eq=False)
class EndTest:
    """``?END`` (Algorithms 11 and 12): true when the noisy size of the measure is not clearly above a threshold.

    Args:
        log: the released hypotheses.
        threshold: ``kappa n``, in rows at full weight; a constant.
        charge: of one test. Algorithm 11 draws Laplace noise of scale ``1 / epsilon``: ``Laplace(1 / epsilon)``.
        reach: a public bound on all margins of the run.
        surplus: how far above the threshold the noisy size must be to go on; see :meth:`of_paper`.

    Example:
        >>> from tacit.boosting import EndTest, HalfspaceLog
        >>> from tacit.privacy.charges import Laplace
        >>> test = EndTest(HalfspaceLog(3), threshold=400.0, charge=Laplace(10.0), reach=9.0)
        >>> print(test.threshold, test.surplus)
        400.0 0.0
    """

    log: HalfspaceLog
    threshold: float
    charge: Charge
    reach: float
    surplus: float = 0.0

    @staticmethod
    def of_paper(log: HalfspaceLog, threshold: float, epsilon: float, delta: float, reach: float) -> EndTest:
        """The test as printed in Algorithm 11: Laplace noise, surplus ``2 + log(1 / delta) / epsilon``."""
        return EndTest(log, threshold, Laplace(1 / epsilon), reach, end_test_threshold(epsilon, delta))

    def __call__(self, curator: Curator, measure: Measure, rounds: int) -> bool:
        """Whether to stop before the next round. One release.

        Raises:
            TypeError: for a measure of constant size.
        """
        if not isinstance(measure, SizedMeasure):
            raise TypeError(f"{type(measure).__name__} has a constant size, so a test of it would never change")
        query = measure.size(self.log, rounds, self.reach)
        release = curator.measure(query, self.charge, Label(Stage.END_TEST, round=rounds + 1))
        return bool(float(release.value[0]) - self.threshold <= self.surplus)
