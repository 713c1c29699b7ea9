"""What released sums of errors say about a model of a number: figures with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, final

import numpy as np

from tacit.arrays import Floats
from tacit.evaluation.error_grid import ABOVE, BELOW, FOURTH, OVER, OVER_SQUARE, UNDER, UNDER_SQUARE
from tacit.evaluation.measure_errors import ErrorSums
from tacit.evaluation.performance import KNOWN, Estimate

NUMBER_METRICS = ("mae", "mse", "rmse", "r2", "bias", "pinball", "below", "deviance")
"""``bias`` is the mean of prediction minus target, ``below`` the share of targets below the prediction; ``deviance`` is
that of counts and costs, a release of its own, and asked for alone: ``error_clip`` is then its."""

OF_MEANS, OF_QUANTILES = ("mae", "rmse", "r2", "bias"), ("pinball", "below", "mae")

REPLICATES = 4000
LEAST_R2 = -1.0
"""R2 is not given below this: the mean of the targets would do far better, and by how much drowns in noise."""


def _form(**parts: float) -> Floats:
    """A linear form over released sums."""
    places = {
        "above": ABOVE, "below": BELOW, "over": OVER, "under": UNDER, "over_square": OVER_SQUARE,
        "under_square": UNDER_SQUARE, "fourth": FOURTH,
    }  # fmt: skip
    form = np.zeros(7)
    for name, weight in parts.items():
        form[places[name]] = weight
    return form


ROWS = _form(above=1.0, below=1.0)
SIZES, SQUARES = _form(over=1.0, under=1.0), _form(over_square=1.0, under_square=1.0)


@final
@dataclass(frozen=True)
class NumberQuestion:
    """What to compute; all of it from one set of sums.

    Bounds are those of the target (of the deviance, where that is asked for), ``clip`` the share of their distance at
    which errors are clipped, ``quantile`` the one that the pinball loss is about.
    """

    metrics: tuple[str, ...]
    quantile: float
    confidence: float
    lower: float
    upper: float
    clip: float

    @property
    def unit(self) -> float:
        """The clip, in units of the target."""
        return self.clip * (self.upper - self.lower)


@final
@dataclass(frozen=True, eq=False)
class NumberPerformance:
    """How a model of a number does on one group of rows. Errors are clipped.

    Attributes:
        metrics: by name.
        rows: number of rows; the interval is for noise alone.
        question: what was asked.
        sums: the released sums, for further post-processing.
        known: whether there are more rows than noise explains; where not, no figure says anything.
    """

    metrics: Mapping[str, Estimate]
    rows: Estimate
    question: NumberQuestion
    sums: ErrorSums
    known: bool = True

    def __getitem__(self, name: str) -> Estimate:
        return self.metrics[name]

    def pinball(self, quantile: float) -> float:
        """The mean pinball loss of the predictions as this quantile. Costs nothing."""
        form = _form(over=quantile, under=1.0 - quantile)
        return max(float(form @ self.sums.sums) / max(float(ROWS @ self.sums.sums), 1.0), 0.0) * self.question.unit

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {name: asdict(figure) for name, figure in {**self.metrics, "rows": self.rows}.items()}


def perform_numbers(sums: ErrorSums, question: NumberQuestion, generator: np.random.Generator) -> NumberPerformance:
    """Answers a question from the released sums of one group of rows; public randomness is for the intervals."""
    judge = _Judge(sums, question, generator)
    figures = {name: judge.figure(name) for name in question.metrics}
    return NumberPerformance(figures, judge.rows_found(), question, sums, judge.known)


class _Judge:
    """Figures are ratios of sums. Their errors, to first order, are drawn: noise as it is known, rows as normal."""

    def __init__(self, sums: ErrorSums, question: NumberQuestion, generator: np.random.Generator) -> None:
        self._sums, self._question, self._generator = sums, question, generator
        self._noise, self._target_noise = sums.draws(REPLICATES, generator)
        rows = float(ROWS @ sums.sums)
        self._rows = max(rows, 1.0)
        self.known = rows > max(KNOWN * sums.rows_sd, 1.0)
        self._ends = ((1 - question.confidence) / 2, (1 + question.confidence) / 2)

    def rows_found(self) -> Estimate:
        total = max(float(ROWS @ self._sums.sums), 0.0)
        reach = NormalDist().inv_cdf(self._ends[1]) * self._sums.rows_sd
        return Estimate(total, max(total - reach, 0.0), total + reach)

    def figure(self, name: str) -> Estimate:
        q, unit = self._question.quantile, self._question.unit
        if name in ("mae", "deviance"):
            return self._mean(SIZES, SQUARES, 0.0, 1.0, unit)
        if name == "mse":
            return self._mean(SQUARES, _form(fourth=1.0), 0.0, 1.0, unit**2)
        if name == "rmse":
            error = self.figure("mse")
            return Estimate(*(math.sqrt(part) for part in (error.value, error.low, error.high)))
        if name == "bias":
            return self._mean(_form(under=1.0, over=-1.0), SQUARES, -1.0, 1.0, unit)
        if name == "pinball":
            squares = _form(over_square=q**2, under_square=(1 - q) ** 2)
            return self._mean(_form(over=q, under=1 - q), squares, 0.0, max(q, 1 - q), unit)
        if name == "below":
            return self._mean(_form(below=1.0), _form(below=1.0), 0.0, 1.0, 1.0)
        return self._r2()

    def _ratio(self, form: Floats, squares: Floats) -> tuple[float, Floats]:
        """The mean of what ``form`` sums up, and drawn errors of it; ``squares`` sums up the squares of the same."""
        value = float(form @ self._sums.sums) / self._rows
        scatter = max(float(squares @ self._sums.sums) / self._rows - value**2, 0.0)
        chance = self._generator.normal(0.0, math.sqrt(scatter / self._rows), REPLICATES)
        return value, self._noise @ (form - value * ROWS) / self._rows + chance

    def _mean(self, form: Floats, squares: Floats, least: float, most: float, unit: float) -> Estimate:
        value, errors = self._ratio(form, squares)
        return self._interval(value, errors, least, most, self.known, unit)

    def _r2(self) -> Estimate:
        """1 minus the mean squared error over the variance of the targets; the two count as independent.

        They go up and down together, over rows, so that the interval is rather wide than narrow.
        """
        assert self._sums.targets is not None
        mse, errors = self._ratio(SQUARES, _form(fourth=1.0))
        units = (2 * self._question.clip / self._sums.reach) ** 2  # from squared clips to squared reaches
        mse, errors = mse * units, errors * units
        t1, t2, t3, t4 = self._sums.targets / self._rows
        variance = t2 - t1**2
        fourth = t4 - 4 * t1 * t3 + 6 * t1**2 * t2 - 3 * t1**4
        chance = self._generator.normal(0.0, math.sqrt(max(fourth - variance**2, 0.0) / self._rows), REPLICATES)
        of_rows = self._noise @ ROWS
        noise = self._target_noise
        spread = (noise[:, 1] - t2 * of_rows - 2 * t1 * (noise[:, 0] - t1 * of_rows)) / self._rows + chance
        is_known = self.known and bool(variance > KNOWN * max(float(spread.std()), 1e-9))
        variance = max(variance, 1e-9)
        draws = 1 - (mse + errors) / np.maximum(variance + spread, variance / KNOWN)
        value = 1 - max(mse, 0.0) / variance
        return self._interval(value, np.asarray(draws - value), LEAST_R2, 1.0, is_known, 1.0)

    def _interval(
        self, value: float, errors: Floats, least: float, most: float, is_known: bool, unit: float
    ) -> Estimate:
        clipped = min(max(value, least), most)
        if not is_known:
            return Estimate(clipped * unit, least * unit, most * unit)
        low, high = np.quantile(errors, self._ends)
        low, high = (min(max(value - end, least), most) for end in (high, low))
        return Estimate(clipped * unit, min(low, clipped) * unit, max(high, clipped) * unit)
