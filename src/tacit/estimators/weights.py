"""Weights of classes and rows in the faces of learners that ask by weighted histograms alone."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.curator.rows import Vault
from tacit.encoding.errors import FrameError
from tacit.encoding.numbers import as_numbers
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.estimators.base import Task
from tacit.estimators.classes import ClassLearner
from tacit.models.base import Model
from tacit.privacy.budget import Allowance
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import RequestError, is_number
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.rules import WEIGHT_UNIT, class_count_rule

BALANCED = "balanced"

BALANCE_SHARE = 0.02
"""Share of the budget that counts the classes, when their weights are to balance them."""

LEAST_LARGEST = 1 / 16
"""Weights whose largest is smaller are warned of: somebody has divided them by their sum."""

LEAST_BALANCE = 1 / 1024
"""No class weighs less than this when classes are balanced: integer units would run out."""


class Weighting(ClassLearner):
    """A learner of classes whose rows may have weights. A subclass has a parameter ``class_weight``.

    Weights only ever shrink what a row contributes, so the charge of a fit is the same with and without them.
    """

    class_weight: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns a model under the requested privacy.

        Args:
            X: a table: pandas, polars, pyarrow, a mapping of columns or a matrix; shape ``(rows, columns)``.
            y: labels, shape ``(rows,)``: classes declared or found, or 0/1 with 1 the positive one. Others are dropped.
            sample_weight: a weight in (0, 1] for every row, shape ``(rows,)``: divide by a bound that is public, not
                by the largest weight found. Weights are public, as all arguments are: one outside is refused, and
                the error shows it. Clip weights that follow from private columns, row by row, before they come here.
                A weight must be a matter of its own row (how it was sampled, how sure its label is) and must not be
                derived from other rows, or the guarantee fails: no weights by class counts, residuals of a model
                fitted to these rows, or ranks. Weights are kept to within 4 %, and below 1/4000 are 0. None: all
                rows count 1.

        Raises:
            ValueError: for mistakes that are public: arguments, columns, dtypes, schema. Nothing was spent then.
            BudgetExceeded: if the account cannot pay for the fit; nothing was read.
        """
        return self._fit(X, y, row_weights_of(sample_weight))

    def _check_task(self, task: Task) -> None:
        super()._check_task(task)
        check_class_weight(self.class_weight, task)
        if self.class_weight is not None:
            self._check_weighted(task)

    def _learn_from(self, vault: Vault, allowance: Allowance, task: Task) -> Model:
        if task.encoding is None or (self.class_weight is None and not vault.has_row_weights):
            return super()._learn_from(vault, allowance, task)
        weights, left = self._class_weights(vault, allowance, task)
        return self._learn(Budget(vault.seal_weighted(task.encoding, task.label_index, weights), left), task)

    def _class_weights(self, vault: Vault, allowance: Allowance, task: Task) -> tuple[tuple[float, ...], Allowance]:
        """A weight in (0, 1] for every class, the largest 1, and what is left of the allowance."""
        index = task.label_index
        if self.class_weight is None:
            return (1.0,) * index.n_classes, allowance
        if self.class_weight != BALANCED:
            return declared_weights(self.class_weight, index), allowance
        budget = Budget(vault.seal_weighted(TableEncoding((), ()), index, (1.0,) * index.n_classes), allowance)
        query = Histogram(OneCell(), class_count_rule(index.n_classes))
        label = Label(Stage.COUNTS, "rows of each class, to balance them")
        counts = budget.measure(query, BALANCE_SHARE, label)
        inverse = 1.0 / np.maximum(counts.value[0], max(2.0 * counts.sd, 1.0))
        weights = np.maximum(inverse / inverse.max(), LEAST_BALANCE)
        return tuple(weights.tolist()), allowance.part(1 - BALANCE_SHARE)


def row_weights_of(given: Any) -> Floats | None:
    """The weights of rows, shape ``(rows,)``, from an argument; raises :class:`RequestError` for public mistakes."""
    if given is None:
        return None
    try:
        weights = np.asarray(as_numbers(given, "sample_weight"), np.float64)
    except FrameError as error:
        raise RequestError(f"sample_weight must be a vector of numbers: {error.message}") from None
    check_row_weights(weights)
    return weights


def check_row_weights(weights: Floats) -> None:
    """Raises :class:`RequestError` unless all weights, shape ``(rows,)``, lie in (0, 1].

    This looks at weights alone, which are public by declaration, and decides the same whatever the rows hold. The
    guarantee is about tables whose weights lie within: there it never refuses.
    """
    wrong = np.flatnonzero(~((weights > 0) & (weights <= 1)))  # not a number is neither
    if not len(wrong):
        if len(weights) and weights.max() < LEAST_LARGEST:  # no refusal: weights may follow from the rows
            warnings.warn(
                "every sample_weight is so small that rows hardly count: weights are not rescaled, and below 1/4000 "
                "they are 0. Weights that add up to 1 are too small; multiply them by a bound that is public",
                UserWarning,
                stacklevel=4,
            )
        return
    value = float(weights[wrong[0]])
    if np.isnan(value):
        remedy = "every row needs a weight"
    elif value > 1:
        remedy = "divide by a bound that is public, not by the largest weight found"
    else:
        remedy = "leave out rows that are not to count, instead of a weight of zero"
    raise RequestError(
        f"sample_weight must lie in (0, 1], and the weight of row {wrong[0]} is {value!r}: {remedy}. Weights are "
        "public: clip those that follow from private columns row by row before the fit"
    )


def check_class_weight(given: Any, task: Task) -> None:
    """Raises :class:`RequestError` unless ``given`` is None, ``"balanced"``, or positive weights of classes."""
    if given is None or (isinstance(given, str) and given == BALANCED):
        return
    if not isinstance(given, Mapping):
        raise RequestError(f"class_weight must be None, 'balanced' or a dict of public weights, got {given!r}")
    for value, weight in given.items():
        if not is_number(weight) or not math.isfinite(weight) or weight <= 0:
            raise RequestError(f"the weight of class {value!r} must be a positive number, got {weight!r}")
    if task.undeclared is not None and task.undeclared.unknowns.classes:
        return  # which classes there are is found later, and then tells nobody anything
    unknown = [value for value in given if task.label_index.code_of(value) == DROPPED]
    if unknown:
        raise RequestError(f"class_weight names {unknown[0]!r}, and the classes are {list(task.label_index.names)!r}")


def declared_weights(given: Mapping[Any, float], index: LabelIndex) -> tuple[float, ...]:
    """Weights by class, the largest 1; a class that is not named weighs as much as a weight of 1 does."""
    weights = np.ones(index.n_classes)
    for value, weight in given.items():
        code = index.code_of(value)
        if code != DROPPED:
            weights[code] = float(weight)
    scaled: Floats = np.maximum(weights / weights.max(), 1.0 / WEIGHT_UNIT)
    return tuple(scaled.tolist())
