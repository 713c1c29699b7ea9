"""From a model of a number and rows to two private columns: the error of every row, and its target. Row by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.encoding.frames import Frame, without_rows
from tacit.encoding.inputs import no_rows_of, numbers_of
from tacit.encoding.values import DROPPED
from tacit.models.base import Model, NumberModel
from tacit.privacy.request import RequestError, is_number, two_bounds
from tacit.schema import Schema
from tacit.schema.cell_format import PLAIN_CELLS, CellFormat


def predicts_numbers(predictor: Any) -> bool:
    """Whether a model, or something that was fitted, is about a number and not about classes."""
    model = getattr(predictor, "model_", predictor)
    if isinstance(model, Model):
        return isinstance(model, NumberModel)
    return hasattr(predictor, "predict") and not (hasattr(predictor, "classes_") or hasattr(predictor, "predict_proba"))


@final
@dataclass(frozen=True, eq=False)
class NumberScorer:
    """A public function from rows to numbers, and the declared range of the truth."""

    predictor: Any  # a model, or an estimator that was fitted
    lower: float  # `lower`, `upper`: public bounds of the target
    upper: float
    quantile: float | None  # which quantile the model is about; None if it is about means, or that is not known
    verified: bool  # whether the prediction for a row is known to depend on that row alone
    power: float | None = None  # of the variance, if the model is of a count or a cost under a log link
    of_deviance: bool = False  # whether the error of a row is its deviance, as a share of the largest
    cell_format: CellFormat = PLAIN_CELLS  # how the cells of the target are written

    @staticmethod
    def of(predictor: Any, schema: Schema | None, bounds: Any) -> NumberScorer:
        """The scorer of a model of this library, or of anything fitted with ``predict``.

        Bounds of the target are those given; by default the schema's, or the model's own. Raises ``RequestError`` if
        nobody declares them, or an estimator of this library was not fitted.
        """
        model = getattr(predictor, "model_", predictor)
        if model is predictor and hasattr(predictor, "declared_charge"):
            raise RequestError(f"this {type(predictor).__name__} was not fitted: fit it, or give its model")
        label = None if schema is None else schema.label
        if label is not None and not label.is_numeric:
            raise RequestError(f"this is a model of a number, and the schema's label '{label.column}' has classes")
        if bounds is not None:
            lower, upper = two_bounds(bounds, "target_bounds")
        elif label is not None and label.lower is not None and label.upper is not None:
            lower, upper = label.lower, label.upper
        elif isinstance(model, Model):
            lower, upper = float(getattr(model, "lower", -1.0)), float(getattr(model, "upper", 1.0))
        else:
            raise RequestError(
                "nothing declares the bounds of the target: give target_bounds=(lower, upper), or a schema with a "
                "numeric label"
            )
        quantile = getattr(model, "quantile", None) if getattr(model, "loss", "") == "quantile" else None
        verified = isinstance(model, Model) and model.sees_rows_alone
        power = getattr(model, "power", None)
        cell_format = PLAIN_CELLS if label is None else label.cell_format
        return NumberScorer(predictor, float(lower), float(upper), quantile, verified, power, cell_format=cell_format)

    @property
    def range(self) -> float:
        """The largest error."""
        if self.of_deviance:
            assert self.power is not None
            return largest_deviance(self.power, self.lower, self.upper)
        return self.upper - self.lower

    def by_deviance(self) -> NumberScorer:
        """The same model, judged by its deviance; raises ``RequestError`` unless it is of a count or a cost."""
        if self.power is None or self.upper <= 0:
            raise RequestError(
                "the deviance is that of a model of a count or a cost (loss poisson, gamma or tweedie): this is none"
            )
        return replace(self, of_deviance=True)

    def check(self, frame: Frame, data: Any, targets: Any) -> None:
        """Raises for what is public: a column that is missing, or one or targets of the wrong kind. Reads no row."""
        if self.verified and frame.names:
            self.predictions(frame.without_rows(), no_rows_of(data, frame))
        numbers_of(without_rows(targets), cell_format=self.cell_format)

    def columns(self, frame: Frame, data: Any, targets: Any) -> dict[str, npt.NDArray[Any]]:
        """Private columns, shape ``(rows,)`` each.

        Returns:
            ``error``, target minus prediction (or the deviance) as a share of the range; ``target``, clipped into the
            bounds and scaled to [-1, 1]; ``label``, 0 or :data:`DROPPED` where there is no target.
        """
        truth = numbers_of(targets, cell_format=self.cell_format)
        finite = np.isfinite(truth)
        middle = (self.lower + self.upper) / 2
        truth = np.clip(np.where(finite, truth, middle), self.lower, self.upper)
        predictions = self.predictions(frame, data)
        predictions = np.clip(np.where(np.isnan(predictions), middle, predictions), self.lower, self.upper)
        away = truth - predictions
        if self.of_deviance:
            assert self.power is not None
            away = unit_deviance(truth, predictions, self.power, self.upper)
        return {
            "error": away / self.range,
            "target": (truth - middle) / (self.range / 2),
            "label": np.where(finite, 0, DROPPED),
        }

    def predictions(self, frame: Frame, data: Any) -> Floats:
        """Predictions, shape ``(rows,)``."""
        takes_frame = isinstance(self.predictor, Model)
        values = np.asarray(self.predictor.predict(frame if takes_frame else data), np.float64)
        if values.shape != (frame.n_rows,):
            raise RequestError(f"predict gave shape {values.shape[1:]} per row for a number")
        return values


def clip_share(error_clip: Any, span: float) -> float:
    """Where errors are clipped as a share of the range; raises :class:`RequestError` for a clip that is none."""
    if error_clip is None:
        return 1.0
    if not is_number(error_clip) or not 0 < error_clip <= span:
        raise RequestError(f"error_clip must lie between 0 and the range of the target, {span:g}, got {error_clip!r}")
    return float(error_clip) / span


FLOOR = 2.0**-10
"""Means, and for a power of 2 targets too, count as at least this part of the upper bound: no deviance is infinite."""


def unit_deviance(targets: Floats, means: Floats, power: float, upper: float) -> Floats:
    """The deviance of every row, at least 0 (Jorgensen 1987), shape ``(rows,)``; targets are at most ``upper``.

    ``2 (t log(t / mu) - t + mu)`` for a power of 1 (Poisson), ``2 (t / mu - 1 - log(t / mu))`` for 2 (Gamma), and
    between them ``2 (t**(2 - p) / ((1 - p) (2 - p)) - t mu**(1 - p) / (1 - p) + mu**(2 - p) / (2 - p))``.
    """
    least = FLOOR * upper
    t, mu = np.maximum(targets, 0.0), np.maximum(means, least)
    if power == 1:
        deviance = t * np.log(np.maximum(t, 1e-300) / mu) - t + mu
    elif power == 2:
        t = np.maximum(t, least)
        deviance = t / mu - 1.0 - np.log(t / mu)
    else:
        p, q = power - 1.0, 2.0 - power
        deviance = mu**q / q + t * mu**-p / p - t**q / (p * q)
    return np.asarray(np.maximum(2.0 * deviance, 0.0))


def largest_deviance(power: float, lower: float, upper: float) -> float:
    """The largest deviance between public bounds: it grows away from ``t = mu``, so at a corner."""
    corners = np.array([max(lower, 0.0), upper])
    return float(unit_deviance(corners, corners[::-1], power, upper).max())
