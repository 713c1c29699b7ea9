"""The face of learners of classes whose rows may have weights."""

from __future__ import annotations

from typing import Any, Self

from tacit.estimators.classes import ClassEstimator
from tacit.learning.weights import row_weights_of


class Weighting(ClassEstimator):
    """An estimator of classes whose rows may have weights. A subclass has a parameter ``class_weight``.

    Weights only ever shrink what a row contributes, so the charge of a fit is the same with and without them.
    """

    class_weight: Any

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns a model under the requested privacy.

        Args:
            X: a table: pandas, polars, pyarrow, a mapping of columns or a matrix; shape ``(rows, columns)``. Or what
                :func:`tacit.read_source` gives, which holds the labels, too.
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
