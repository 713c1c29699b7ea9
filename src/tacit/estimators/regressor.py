"""The base class of the regressors: as the classifiers', with a numeric label between public bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from tacit.arrays import Floats
from tacit.encoding.inputs import label_vector, numbers_of
from tacit.estimators.classes import RowWeights, deviations_within
from tacit.estimators.classifier import PrivateEstimator
from tacit.learning.declared import Declared, number_declared
from tacit.privacy.request import RequestError
from tacit.schema import Schema
from tacit.schema.cell_format import PLAIN_CELLS


def r_squared(schema: Schema | None, predicted: Floats, y: Any, sample_weight: Any) -> float:
    """R squared of predictions, with labels read as a fit reads them. Not private.

    Rows without a number are left out, as in a fit; refused if none is left. All vectors have shape ``(rows,)``; the
    schema's label says how labels are written, without one they are plain numbers.
    """
    cell_format = PLAIN_CELLS if schema is None or schema.label is None else schema.label.cell_format
    truth = numbers_of(label_vector(y), cell_format=cell_format)
    weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    if len(truth) != len(predicted) or weights.shape != truth.shape:
        raise RequestError(f"X and y must have the same number of rows, got {len(predicted)} and {len(truth)}")
    counted = np.isfinite(truth)
    if not counted.any():
        raise RequestError("no label of y is a number")
    return float(r2_score(truth[counted], predicted[counted], sample_weight=weights[counted]))


class PrivateRegressor(RowWeights, RegressorMixin, PrivateEstimator):
    """Base of the private regressors. A subclass has a parameter ``target_bounds``.

    Bounds of the target are public: from the schema's label, or from ``target_bounds``; where nobody declares them they
    are found before anything is learned, with a share of the budget of their own.
    """

    target_bounds: Sequence[float] | None
    instead = "of counts with an exposure, y is count / exposure, and sample_weight exposure over its public bound"

    def predict(self, X: Any) -> Floats:
        """The prediction for every row, within the target's bounds, shape ``(rows,)``."""
        frame = self.frame_for_model(X)
        predictions: Floats = self.model_.predict(frame)
        return predictions

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R squared, with labels read as ``fit`` reads them. Not private: never publish it for private rows."""
        return r_squared(self.schema_, self.predict(X), y, sample_weight)

    def predict_std(self, X: Any) -> Floats:
        """Standard deviation that the privacy noise leaves in the prediction for every row, shape ``(rows,)``.

        In units of the target. Curves and pairs: the posterior standard deviation of the effect given all releases;
        trees: the noise of every leaf's sum as it reaches the score, less what later trees correct; for quantiles also
        the bias of the smoothed loss. Effects count as independent, and bins, pairs, clips and structures as given; of
        quantiles at ``delta=0`` it is too small, by more than half where noise is large.
        """
        return np.sqrt(self._variance(X))

    def predict_interval(self, X: Any, confidence: float = 0.95) -> Floats:
        """An interval for what fits to the same rows predict on average over the noise, shape ``(rows, 2)``.

        It says nothing about how far targets scatter, nor how well a model of this kind describes the population.

        Args:
            X: a table.
            confidence: strictly between 0 and 1.
        """
        reach = deviations_within(confidence) * self.predict_std(X)
        predictions, index = self.predict(X), self.model_
        ends = np.stack([predictions - reach, predictions + reach], axis=1)
        return np.clip(ends, getattr(index, "lower", -np.inf), getattr(index, "upper", np.inf))

    def _variance(self, X: Any) -> Floats:
        frame = self.frame_for_model(X)
        try:
            variance: Floats = self.model_.score_variance(frame)
        except (AttributeError, ValueError):
            raise RequestError("this model does not say how sure it is") from None
        return variance

    def _declared(self, y: Any = None) -> Declared:
        del y
        return number_declared(self.declared()[0], self.target_bounds, self.algorithm)
