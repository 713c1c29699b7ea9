"""What a fit of a halfspace will do: a published rule over public numbers and the released number of rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from tacit.boosting.measures import LazyBregman, LogisticMeasure, SmoothMeasure
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
    divisor: float = 0.0
    promise: Mapping[str, Any] | None = None
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
        check_number("divisor", self.divisor, 0.0, 1.0, with_low=True, with_high=True)
        check_promise(self.promise)
        if self.divisor and self.measure != "lazy_bregman":
            raise RequestError("divisor is of the theorem about measure='lazy_bregman': give that, or divisor=0")
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
            divisor=float(self.divisor),
        )

    @property
    def shares(self) -> dict[str, float]:
        """How the budget is divided where there is little noise; the shares add up to 1."""
        return self.shares_for(math.inf, 1)

    def shares_for(self, signal: float, width: int) -> dict[str, float]:
        """How the budget is divided; the shares add up to 1.

        Where there is little signal, noise in the rounds costs more than noise in the scaling does; and counts of so
        few rows in a class, or on a side, would tell less than what is believed beforehand: nothing is spent on them.

        ``signal`` counts rows per unit of the noise of the whole budget and root of dimension; inf without privacy.
        """
        numbers, constant = self.tuning, self.constant != 0
        shares = {"count": numbers.class_counts_share if constant else numbers.count_share}
        if self.scaling:
            full = 1.0 if constant else min(1.0, signal / numbers.scaling_signal)
            shares["scaling"] = numbers.scaling_share * (numbers.least_scaling + (1.0 - numbers.least_scaling) * full)
        if self.calibrate and (constant or signal * math.sqrt(width) >= numbers.least_counted):
            shares["calibration"] = numbers.calibration_share if constant else numbers.slope_share
            shares["errors"] = numbers.errors_share
        far = self.far_share(signal * math.sqrt(width))
        if far:
            shares["far"] = far
        if self.stop_density is not None:
            shares["stopping"] = numbers.stopping_share
        return {**shares, "rounds": 1.0 - math.fsum(shares.values())}

    def far_share(self, rows_per_noise: float, is_long: bool = False) -> float:
        """The share of the rule's count of rows that are far on the wrong side; 0 where it does not ask.

        ``rows_per_noise``: rows per unit of the whole budget's noise; inf without privacy. ``is_long``: whether the
        first centre says that many may be.
        """
        numbers, free = self.tuning, self.measure == "auto" and self.rounds is None and self.stop_density is None
        if not (free and self.scaling) or self.constant:
            return 0.0
        target = (numbers.far_deviations / (numbers.far_noise * rows_per_noise)) ** 2 if rows_per_noise else math.inf
        most = numbers.long_far_share if is_long else numbers.most_far_share
        share = min(max(target, numbers.least_far_share), most)
        hides = numbers.far_deviations / math.sqrt(share) > numbers.far_hides * rows_per_noise
        return 0.0 if hides else share

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

    def make_measure(self, measure: MeasureName, n_rows: float) -> SmoothMeasure | LazyBregman | LogisticMeasure:
        """The measure of a run, for the released number of rows, or the declared one of a promise."""
        numbers = self.tuning
        if measure == "lazy_bregman":
            density, rate = self.density or numbers.lazy_density, self.learning_rate or numbers.lazy_rate
            rows = n_rows if self.promise is None else float(self.promise["rows"])
            return LazyBregman(density, rate, rows, fine=self.divisor > 0)
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


PROMISED = ("error", "failure", "margin", "violating", "errors_on", "rows", "columns")
"""What ``from_theorem`` declares of a promise."""


def check_promise(promise: Any) -> None:
    """Raises :class:`RequestError` for what is no promise of ``from_theorem``."""
    if promise is not None and (not isinstance(promise, Mapping) or set(promise) != set(PROMISED)):
        raise RequestError(f"promise is what HalfspaceBoostClassifier.from_theorem makes, got {promise!r}")


DEFAULTS = Options()
