"""What a fit of a halfspace will do: a published rule over public numbers and the released number of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

from tacit.boosting.measures.lazy_bregman import LazyBregman
from tacit.boosting.measures.logistic import LogisticMeasure
from tacit.boosting.measures.smooth import SmoothMeasure
from tacit.estimators.checks import check_choice, check_integer, check_number, check_truth, whole
from tacit.privacy.request import RequestError
from tacit.theory.boosting import Analysis

MeasureName = Literal["auto", "smooth", "lazy_bregman", "logistic"]

COUNT_SHARE = 0.02
"""Share of the budget for the number of rows."""

SCALING_SHARE = 0.10
"""Share for the moments that the row space is scaled by."""

CALIBRATION_SHARE = 0.05
"""Share for the counts that turn scores into probabilities."""

STOPPING_SHARE = 0.10
"""Share for the end tests, if there is a stopping rule."""

LOGISTIC_SIGNAL = 700.0
"""From how many rows per unit of noise and root of dimension on ``measure="auto"`` takes the logistic measure.

Below, SmoothBoost's normalised, clipped hypotheses waste less of the budget on noise; above, the logistic loss fits
tables better that no halfspace separates. Made tables show where they cross (``python -m benchmarks.halfspace_rule``).
"""

DEFAULT_ROUNDS = 40
PURE_ROUNDS = 8
"""Rounds under pure privacy, where every round divides epsilon itself."""


@dataclass(frozen=True)
class Options:
    """The learner's own parameters; see ``HalfspaceBoostClassifier``."""

    measure: MeasureName = "auto"
    rounds: int | None = None
    density: float = 0.5
    learning_rate: float = 1.0
    advantage: float = 0.4
    stop_density: float | None = None
    scaling: bool = True
    calibrate: bool = True
    analysis: Analysis = "sharp"
    shortest_centre: float = 0.0
    constant: float = 0.0

    def checked(self) -> Options:
        """The same with numbers of Python's own; raises :class:`RequestError` for a parameter that makes no sense."""
        check_choice("measure", self.measure, get_args(MeasureName))
        check_integer("rounds", self.rounds, optional=True)
        check_number("density", self.density, 0.0, 1.0)
        check_number("advantage", self.advantage, 0.0, 0.5)
        check_number("stop_density", self.stop_density, 0.0, 1.0, optional=True)
        check_number("learning_rate", self.learning_rate, 0.0, 1.0, with_high=True)
        check_number("shortest_centre", self.shortest_centre, 0.0, 1.0, with_low=True, with_high=True)
        check_choice("analysis", self.analysis, get_args(Analysis))
        check_truth("scaling", self.scaling)
        check_truth("calibrate", self.calibrate)
        if self.analysis == "paper" and self.measure != "lazy_bregman":
            raise RequestError(
                "analysis='paper' is Theorem 22 with Lemma 21, which is about measure='lazy_bregman'; "
                f"for {self.measure!r} the sharp bound is the only one that needs no stopping rule"
            )
        if self.stop_density is not None and self.measure == "lazy_bregman":
            raise RequestError("stop_density needs a measure whose size changes: 'smooth' or 'logistic'")
        return replace(
            self,
            rounds=whole(self.rounds),
            density=float(self.density),
            learning_rate=float(self.learning_rate),
            advantage=float(self.advantage),
            stop_density=None if self.stop_density is None else float(self.stop_density),
            scaling=bool(self.scaling),
            calibrate=bool(self.calibrate),
            shortest_centre=float(self.shortest_centre),
        )

    @property
    def shares(self) -> dict[str, float]:
        """How the budget is divided; the shares add up to 1."""
        shares = {"count": COUNT_SHARE}
        if self.scaling:
            shares["scaling"] = SCALING_SHARE
        if self.calibrate:
            shares["calibration"] = CALIBRATION_SHARE
        if self.stop_density is not None:
            shares["stopping"] = STOPPING_SHARE
        return {**shares, "rounds": 1.0 - math.fsum(shares.values())}

    def most_rounds(self, pure: bool) -> int:
        """The number of rounds to reserve."""
        return self.rounds or (PURE_ROUNDS if pure else DEFAULT_ROUNDS)

    def make_measure(self, n_rows: float, rounds: int, signal: float) -> SmoothMeasure | LazyBregman | LogisticMeasure:
        """The measure of a run.

        Args:
            n_rows: the released number of rows.
            rounds: T.
            signal: rows per unit of noise and root of dimension, ``n / (z sqrt(d))``; inf without privacy.
        """
        if self.measure == "lazy_bregman":
            return LazyBregman(self.density, self.learning_rate, n_rows)
        if self.measure == "logistic" or (self.measure == "auto" and signal >= LOGISTIC_SIGNAL):
            return LogisticMeasure(total_logistic_step(signal) / rounds)
        return SmoothMeasure(self.advantage)


def total_logistic_step(signal: float) -> float:
    """How far all gradient steps together go: little where noise would be all that they follow."""
    return 80.0 if math.isinf(signal) else min(80.0, max(5.0, 2.0 * math.sqrt(max(0.0, signal))))
