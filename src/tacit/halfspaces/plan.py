"""What a fit of a halfspace will do: a published rule over public numbers and the released number of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

from tacit.boosting.measures.lazy_bregman import LazyBregman
from tacit.boosting.measures.logistic import LogisticMeasure
from tacit.boosting.measures.smooth import SmoothMeasure
from tacit.learning.checks import check_choice, check_integer, check_number, check_truth, whole
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

LOGISTIC_SIGNAL = 400.0
"""From how many rows per unit of noise and root of dimension on ``measure="auto"`` takes the logistic measure.

Below, SmoothBoost's normalised, clipped hypotheses waste less of the budget on noise; above, the logistic loss fits
tables better that no halfspace separates. Made tables show where they cross (``python -m benchmarks.halfspace_rule``).
"""

LOGISTIC_STEP = 16.0
"""How far one step of the logistic measure may move a margin, in log-odds; beyond, its weights no longer change."""

STABLE_RATE = 5.0
"""Gradient steps stay stable up to ``5.2`` over the largest second moment of a row, at momentum .9: the curvature of
the logistic loss is at most 1/4 of it, and Nesterov's steps bear ``(2 + 2 m) / (1 + 2 m)`` over that."""

MOST_RATE = 0.15
"""The longest gradient step in scaled rows, where few columns would allow more: it follows noise."""

MOST_MOMENTUM = 0.9

DEFAULT_ROUNDS = 40
PURE_ROUNDS = 8
"""Rounds under pure privacy, where every round divides epsilon itself."""

SMOOTH_ROUNDS = 80
"""Rounds of SmoothBoost from :data:`MANY_COLUMNS` columns on: one round's noise then turns a row's weight less."""

MANY_COLUMNS = 100

LAZY_ROUNDS = 200
"""Rounds of lazy Bregman, whose steps are short."""

LAZY_RATE = 0.2

LEAST_DENSITY, MOST_DENSITY = 0.1, 0.5

DENSITY_SIGNAL = 60.0
"""At this many rows per unit of noise and root of dimension lazy Bregman takes density 1; noise is one over it."""


@dataclass(frozen=True)
class Descent:
    """Gradient steps with Nesterov's momentum: ``v <- momentum v + rate g``, ``g`` at ``momentum v`` ahead."""

    rate: float
    momentum: float


@dataclass(frozen=True)
class Options:
    """The learner's own parameters; see ``HalfspaceBoostClassifier``."""

    measure: MeasureName = "auto"
    rounds: int | None = None
    density: float | None = None
    learning_rate: float | None = None
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
        check_number("density", self.density, 0.0, 1.0, optional=True)
        check_number("advantage", self.advantage, 0.0, 0.5)
        check_number("stop_density", self.stop_density, 0.0, 1.0, optional=True)
        check_number("learning_rate", self.learning_rate, 0.0, 1.0, optional=True, with_high=True)
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
            density=None if self.density is None else float(self.density),
            learning_rate=None if self.learning_rate is None else float(self.learning_rate),
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

    def measure_for(self, signal: float) -> MeasureName:
        """The measure of a run: the one asked for, or the rule's.

        Args:
            signal: rows per unit of noise and root of dimension, ``n / (z sqrt(d))``; inf without privacy.
        """
        if self.measure != "auto":
            return self.measure
        return "logistic" if signal >= LOGISTIC_SIGNAL else "smooth"

    def rounds_for(self, measure: MeasureName, width: int, pure: bool) -> int:
        """The number of rounds: the one asked for, or the rule's."""
        if self.rounds:
            return self.rounds
        if pure:
            return PURE_ROUNDS
        if measure == "lazy_bregman":
            return LAZY_ROUNDS
        return SMOOTH_ROUNDS if measure == "smooth" and width >= MANY_COLUMNS else DEFAULT_ROUNDS

    def make_measure(
        self, measure: MeasureName, n_rows: float, signal: float
    ) -> SmoothMeasure | LazyBregman | LogisticMeasure:
        """The measure of a run.

        Args:
            measure: its name, from :meth:`measure_for`.
            n_rows: the released number of rows.
            signal: as there; lazy Bregman's density is small where it is large.
        """
        if measure == "lazy_bregman":
            density = min(MOST_DENSITY, max(LEAST_DENSITY, DENSITY_SIGNAL / signal))
            return LazyBregman(self.density or density, self.learning_rate or LAZY_RATE, n_rows)
        return LogisticMeasure(LOGISTIC_STEP) if measure == "logistic" else SmoothMeasure(self.advantage)

    def descent(self, width: int, rounds: int) -> Descent:
        """The steps of the logistic measure."""
        rate = min(MOST_RATE, STABLE_RATE / width) if self.scaling else STABLE_RATE
        return Descent(rate, max(0.0, min(MOST_MOMENTUM, 1 - 4 / rounds)))
