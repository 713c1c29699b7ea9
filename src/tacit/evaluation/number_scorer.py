"""From a model of a number and rows to two private columns: the error of every row, and its target. Row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.encoding.frames import Frame, without_rows
from tacit.encoding.inputs import no_rows_of, numbers_of
from tacit.encoding.values import DROPPED
from tacit.models.base import Model
from tacit.privacy.request import RequestError, is_number, two_bounds
from tacit.schema import Schema


def predicts_numbers(predictor: Any) -> bool:
    """Whether a model, or something that was fitted, is about a number and not about classes."""
    model = getattr(predictor, "model_", predictor)
    if isinstance(model, Model):
        return model.says_numbers
    return hasattr(predictor, "predict") and not (hasattr(predictor, "classes_") or hasattr(predictor, "predict_proba"))


@final
@dataclass(frozen=True, eq=False)
class NumberScorer:
    """A public function from rows to numbers, and the declared range of the truth.

    Attributes:
        predictor: a model, or an estimator that was fitted.
        lower, upper: public bounds of the target.
        quantile: which quantile the model is about; None if it is about means, or that is not known.
        verified: whether the prediction for a row is known to depend on that row alone.
    """

    predictor: Any
    lower: float
    upper: float
    quantile: float | None
    verified: bool

    @staticmethod
    def of(predictor: Any, schema: Schema | None, bounds: Any) -> NumberScorer:
        """The scorer of a model of a number.

        Args:
            predictor: of this library, or anything fitted with ``predict``.
            schema: may declare the bounds of the target.
            bounds: those bounds; by default the schema's, or the model's own.

        Raises:
            RequestError: if nobody declares them, or an estimator of this library was not fitted.
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
        return NumberScorer(predictor, float(lower), float(upper), quantile, verified)

    @property
    def range(self) -> float:
        return self.upper - self.lower

    def check(self, frame: Frame, data: Any, targets: Any) -> None:
        """Raises for what is public: a column that is missing, or one or targets of the wrong kind. Reads no row."""
        if self.verified and frame.names:
            self.predictions(frame.without_rows(), no_rows_of(data, frame))
        numbers_of(without_rows(targets))

    def columns(self, frame: Frame, data: Any, targets: Any) -> dict[str, npt.NDArray[Any]]:
        """Private columns, shape ``(rows,)`` each.

        Returns:
            ``error``, target minus prediction as a share of the range; ``target``, clipped into the bounds and scaled
            to [-1, 1]; ``label``, 0 or :data:`DROPPED` where there is no target.
        """
        truth = numbers_of(targets)
        known = np.isfinite(truth)
        middle = (self.lower + self.upper) / 2
        truth = np.clip(np.where(known, truth, middle), self.lower, self.upper)
        said = self.predictions(frame, data)
        said = np.clip(np.where(np.isnan(said), middle, said), self.lower, self.upper)
        return {
            "error": (truth - said) / self.range,
            "target": (truth - middle) / (self.range / 2),
            "label": np.where(known, 0, DROPPED),
        }

    def predictions(self, frame: Frame, data: Any) -> Floats:
        """Predictions, shape ``(rows,)``."""
        takes_frame = isinstance(self.predictor, Model)
        said = np.asarray(self.predictor.predict(frame if takes_frame else data), np.float64)
        if said.shape != (frame.n_rows,):
            raise RequestError(f"predict gave shape {said.shape[1:]} per row for a number")
        return said


def clip_share(error_clip: Any, span: float) -> float:
    """Where errors are clipped as a share of the range; raises :class:`RequestError` for a clip that is none."""
    if error_clip is None:
        return 1.0
    if not is_number(error_clip) or not 0 < error_clip <= span:
        raise RequestError(f"error_clip must lie between 0 and the range of the target, {span:g}, got {error_clip!r}")
    return float(error_clip) / span
