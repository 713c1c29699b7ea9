"""What a fit of a halfspace will do: a published rule over public numbers and the released number of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

from tacit.boosting.measures.lazy_bregman import LazyBregman
from tacit.boosting.measures.logistic import LogisticMeasure
from tacit.boosting.measures.smooth import SmoothMeasure
from tacit.halfspaces.tuning import TUNING, Tuning
from tacit.learning.checks import check_choice, check_integer, check_number, check_truth, whole
from tacit.privacy.request import RequestError
from tacit.theory.boosting import Analysis

MeasureName = Literal["auto", "smooth", "lazy_bregman", "logistic"]


@dataclass(frozen=True)
class Descent:
    """Gradient steps with Nesterov's momentum: ``v <- momentum v + rate g``, ``g`` at ``momentum v`` ahead."""

    rate: float
    momentum: float


@dataclass(frozen=True)
class Options:
    """The learner's own parameters: the one place that has their defaults. ``HalfspaceBoostClassifier`` explains them.

    ``constant`` is the value of the rows' last coordinate where it is the same in all; 0 if there is none such.
    """

    measure: MeasureName = "auto"
    rounds: int | None = None
    density: float | None = None
    learning_rate: float | None = None
    advantage: float | None = None
    stop_density: float | None = None
    scaling: bool = True
    calibrate: bool = True
    analysis: Analysis = "sharp"
    shortest_centre: float = 0.0
    constant: float = 0.0
    tuning: Tuning = TUNING

    def checked(self) -> Options:
        """The same with numbers of Python's own; raises :class:`RequestError` for a parameter that makes no sense."""
        check_choice("measure", self.measure, get_args(MeasureName))
        check_integer("rounds", self.rounds, optional=True)
        check_number("density", self.density, 0.0, 1.0, optional=True)
        check_number("advantage", self.advantage, 0.0, 0.5, optional=True)
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
            advantage=None if self.advantage is None else float(self.advantage),
            stop_density=None if self.stop_density is None else float(self.stop_density),
            scaling=bool(self.scaling),
            calibrate=bool(self.calibrate),
            shortest_centre=float(self.shortest_centre),
        )

    @property
    def shares(self) -> dict[str, float]:
        """How the budget is divided where there is little noise; the shares add up to 1."""
        return self.shares_for(math.inf, 1)

    def shares_for(self, signal: float, width: int) -> dict[str, float]:
        """How the budget is divided; the shares add up to 1.

        Where there is little signal, noise in the rounds costs more than noise in the scaling does; and counts of so
        few rows in a class, or on a side, would tell less than what is believed beforehand: nothing is spent on them.

        Args:
            signal: rows per unit of the noise of the whole budget and root of dimension; inf without privacy.
            width: number of coordinates.
        """
        numbers, constant = self.tuning, self.constant != 0
        shares = {"count": numbers.class_counts_share if constant else numbers.count_share}
        if self.scaling:
            full = 1.0 if constant else min(1.0, signal / numbers.scaling_signal)
            shares["scaling"] = numbers.scaling_share * (numbers.least_scaling + (1.0 - numbers.least_scaling) * full)
        if self.calibrate and (constant or signal * math.sqrt(width) >= numbers.least_counted):
            shares["calibration"] = numbers.calibration_share if constant else numbers.slope_share
            shares["errors"] = numbers.errors_share
        if self.stop_density is not None:
            shares["stopping"] = numbers.stopping_share
        return {**shares, "rounds": 1.0 - math.fsum(shares.values())}

    def longest_squares(self, width: int, signal: float) -> float | None:
        """What squared rows are shortened to: what those have whose coordinates are alike; more with much signal."""
        if self.constant:
            return None
        numbers = self.tuning
        return min(1.0, math.sqrt(numbers.typical_kurtosis / width) * max(1.0, signal / numbers.shortening_signal))

    def measure_for(self, signal: float) -> MeasureName:
        """The measure of a run: the one asked for, or the rule's at ``n / (z sqrt(d))`` rows per unit of noise."""
        if self.measure != "auto":
            return self.measure
        return "logistic" if signal >= self.tuning.logistic_signal else "smooth"

    def rounds_for(self, measure: MeasureName, width: int, pure: bool) -> int:
        """The number of rounds: the one asked for, or the rule's."""
        numbers = self.tuning
        if self.rounds:
            return self.rounds
        if pure:
            return numbers.pure_rounds
        if measure == "lazy_bregman":
            return numbers.lazy_rounds
        return numbers.smooth_rounds if measure == "smooth" and width >= numbers.many_columns else numbers.rounds

    def make_measure(
        self, measure: MeasureName, n_rows: float, signal: float
    ) -> SmoothMeasure | LazyBregman | LogisticMeasure:
        """The measure of a run, for the released number of rows; lazy Bregman's density is small for much signal."""
        numbers = self.tuning
        if measure == "lazy_bregman":
            density = min(numbers.most_density, max(numbers.least_density, numbers.density_signal / signal))
            return LazyBregman(self.density or density, self.learning_rate or numbers.lazy_rate, n_rows)
        if measure == "logistic":
            return LogisticMeasure(numbers.logistic_step)
        return SmoothMeasure(self.advantage or (numbers.classes_advantage if self.constant else numbers.advantage))

    def start(self, measure: SmoothMeasure | LazyBregman | LogisticMeasure, log_odds: float) -> float:
        """The score that all rows start from, so that the classes weigh the same: what has no class has no direction.

        At a score of 0 the first centre is the mean of the rows, the other way round where positive ones are rare:
        whoever is in a sparse group would be told to be one of them, whatever the labels are. Lazy Bregman starts from
        0, as its weights follow all rows.
        """
        if isinstance(measure, SmoothMeasure):
            return 2.0 * log_odds / -math.log1p(-measure.advantage)
        return log_odds if isinstance(measure, LogisticMeasure) else 0.0

    def descent(self, width: int, rounds: int) -> Descent:
        """The steps of the logistic measure."""
        numbers = self.tuning
        rate = min(numbers.most_rate, numbers.stable_rate / width) if self.scaling else numbers.stable_rate
        return Descent(rate, max(0.0, min(numbers.most_momentum, 1 - 4 / rounds)))


DEFAULTS = Options()
