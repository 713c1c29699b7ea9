"""The base class of the regressors: as the classifiers', with a numeric label between public bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from sklearn.base import RegressorMixin

from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.curator.rows import Vault
from tacit.discovery.bounds import BOUNDS_SHARE, find_bounds
from tacit.discovery.undeclared import NUMBERS, Undeclared
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame
from tacit.encoding.grid import NumericGrid
from tacit.encoding.inputs import numbers_of
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.estimators.base import FINE_CELLS, Task
from tacit.estimators.classifier import PrivateEstimator
from tacit.estimators.uncertainty import deviations_within
from tacit.estimators.weights import row_weights_of
from tacit.models.base import Model
from tacit.privacy.budget import Allowance
from tacit.privacy.request import Request, RequestError, two_bounds
from tacit.queries.score_rules import TARGET_BITS
from tacit.schema import Schema

TARGET = "target"
"""What the label is called where no schema names it."""

UNBOUNDED = NumericLabelIndex(-1.0, 1.0, TARGET_BITS)
"""Stands for the label while its bounds are looked for: which rows count does not depend on them."""


class PrivateRegressor(RegressorMixin, PrivateEstimator):
    """Base of the private regressors. A subclass has a parameter ``target_bounds`` and implements :meth:`_learn`.

    Bounds of the target are public: from the schema's label, or from ``target_bounds``; where nobody declares them they
    are found before anything is learned, with a share of the budget of their own.
    """

    target_bounds: Sequence[float] | None
    least_budget = 2e-5

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns a model under the requested privacy.

        Args:
            X: a table: pandas, polars, pyarrow, a mapping of columns or a matrix; shape ``(rows, columns)``.
            y: numbers, shape ``(rows,)``, clipped into their bounds; rows without one are dropped.
            sample_weight: a public weight in (0, 1] for every row, shape ``(rows,)``, as
                :meth:`tacit.AdditiveBoostClassifier.fit` takes them: weights only ever shrink what a row contributes,
                so they cost nothing. Bounds that nobody declared are found from unweighted rows. None: all rows
                count 1.

        Raises:
            ValueError: for mistakes that are public: arguments, columns, dtypes, schema. Nothing was spent then.
            BudgetExceeded: if the account cannot pay for the fit; nothing was read.
        """
        return self._fit(X, y, row_weights_of(sample_weight))

    def predict(self, X: Any) -> Floats:
        """The prediction for every row, within the target's bounds, shape ``(rows,)``."""
        frame = self._frame_for_model(X)
        predictions: Floats = self.model_.predict(frame)
        return predictions

    def predict_std(self, X: Any) -> Floats:
        """Standard deviation that the privacy noise leaves in the prediction for every row, shape ``(rows,)``.

        In units of the target. Curves and pairs: the posterior standard deviation of the effect given all releases;
        trees: the answer of every leaf to the noise in its sum, less what later trees take back. What smoothing the
        loss of a quantile leaves open is in it. Effects count as independent, and bins, pairs, clips and structures as
        given; of quantiles at ``delta=0`` it is too small, by more than half under loud noise.
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
        said, index = self.predict(X), self.model_
        ends = np.stack([said - reach, said + reach], axis=1)
        return np.clip(ends, getattr(index, "lower", -np.inf), getattr(index, "upper", np.inf))

    def _variance(self, X: Any) -> Floats:
        frame = self._frame_for_model(X)
        try:
            variance: Floats = self.model_.score_variance(frame)  # type: ignore[attr-defined]
        except (AttributeError, ValueError):
            raise RequestError("this model does not say how sure it is") from None
        return variance

    def target_name(self, task: Task) -> str:
        """The label's column, or :data:`TARGET`."""
        label = None if task.schema is None else task.schema.label
        return TARGET if label is None else label.column

    def target_index(self, task: Task) -> NumericLabelIndex:
        """How targets become integers."""
        return cast("NumericLabelIndex", task.label_index)

    def _label_index(self, schema: Schema | None) -> LabelIndex:
        label = None if schema is None else schema.label
        if label is not None and not label.is_numeric:
            raise RequestError(
                f"label '{label.column}' has classes, and {type(self).__name__} learns numbers: declare kind = "
                "'numeric' with lower and upper"
            )
        if label is not None:
            index = NumericLabelIndex.of(label, TARGET_BITS)
        elif self.target_bounds is None:
            index = UNBOUNDED
        else:
            index = NumericLabelIndex(*two_bounds(self.target_bounds, "target_bounds"), TARGET_BITS)
        return cast("LabelIndex", index)

    def _check_labels(self, nothing: Any, label_index: LabelIndex, name: str) -> None:
        del label_index
        try:
            numbers_of(nothing, name or TARGET)
        except FrameError:
            if name:
                raise
            raise RequestError(
                f"Unknown label type: the targets have dtype {getattr(nothing, 'dtype', 'unknown')}, and "
                f"{type(self).__name__} learns numbers: convert them to numbers, or take a classifier for classes"
            ) from None

    def _read(self, frame: Frame, labels: Any, task: Task) -> tuple[Frame, Any]:
        return frame, numbers_of(labels, self.target_name(task))

    @property
    def _discovers(self) -> bool:
        return True

    def _undeclared(self, frame: Frame, labels: Any, schema: Schema | None) -> Undeclared | None:
        del labels
        if schema is not None:
            return None
        request = Request.of(self.epsilon, self.delta, self.neighbouring, self.random_state)
        return Undeclared.of(frame, True, NUMBERS, False, request)

    def _learn_from(self, vault: Vault, allowance: Allowance, task: Task) -> Model:
        if self.target_index(task) is not UNBOUNDED and task.encoding is not None:
            return self._learn(Budget(_sealed(vault, task.encoding, self.target_index(task)), allowance), task)
        target = free_name(vault.names)
        unknown = (target,) if task.encoding is not None else (*task.names, target)
        bounds = find_bounds(vault.with_labels_as(target), unknown, task.label_index, allowance, BOUNDS_SHARE)
        encoding = task.encoding or TableEncoding(
            task.names, tuple(NumericGrid(*bounds[name], FINE_CELLS) for name in task.names)
        )
        index = NumericLabelIndex(*bounds[target], TARGET_BITS)
        found = replace(task, label_index=cast("LabelIndex", index), encoding=encoding)
        return self._learn(Budget(_sealed(vault, encoding, index), allowance.part(1 - BOUNDS_SHARE)), found)


def free_name(taken: Sequence[str]) -> str:
    """What a target without a schema is called among the columns: :data:`TARGET`, unless one of them has that name."""
    name = TARGET
    while name in taken:
        name += " (label)"
    return name


def _sealed(vault: Vault, encoding: TableEncoding, index: NumericLabelIndex) -> Curator:
    """The rows behind the gate, with their weights if they have any."""
    return vault.seal_weighted(encoding, index, (1.0,)) if vault.has_row_weights else vault.seal(encoding, index)
