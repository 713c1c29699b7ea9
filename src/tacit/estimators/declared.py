"""`DeclaredScaler` and `DeclaredEncoder`: what `StandardScaler` and `OneHotEncoder` are reached for, without the data.

A scaler that is fitted to private rows carries their mean and their extremes into every later step, and no noise covers
that. These take bounds and categories from a public schema: fitting reads no row, and one row never moves another.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags

from tacit.arrays import Floats
from tacit.encoding.grid import NumericGrid
from tacit.encoding.inputs import table_of
from tacit.encoding.table import encoder_of
from tacit.privacy.request import RequestError, declared_schema
from tacit.schema import DateColumn, NumericColumn, Schema

OTHER, MISSING = "(other)", "(missing)"


class _Declared(TransformerMixin, BaseEstimator):
    """What both share: a schema, and a fit that reads no row."""

    schema: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Checks that the declared columns are there. Reads no row.

        Raises:
            ValueError: if a column is missing, or no column is of the kinds that this transformer takes.
        """
        del y
        names = table_of(X).names
        missing = [name for name in self._columns() if name not in names]
        if missing:
            raise RequestError(
                f"X lacks the column {missing[0]!r}, which the schema declares; for some columns alone, as in a "
                "ColumnTransformer, give a schema of those"
            )
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.asarray(names, dtype=object)
        return self

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the columns that come out, shape ``(columns,)``."""
        del input_features
        return np.asarray(self._names_out(), dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _schema(self) -> Schema:
        schema = declared_schema(self.schema)
        if schema is None:
            raise RequestError(f"{type(self).__name__} needs a schema, which says what is public about the columns")
        return schema

    def _columns(self) -> list[str]:
        numeric = [name for name in self._schema().features if self._takes(self._schema().columns[name])]
        if not numeric:
            raise RequestError(f"the schema declares no column that {type(self).__name__} takes")
        return numeric

    def _takes(self, column: Any) -> bool:
        raise NotImplementedError

    def _names_out(self) -> list[str]:
        raise NotImplementedError


class DeclaredScaler(_Declared):
    """Scales numeric columns from their declared bounds into a range; values out of bounds are clipped, gaps stay gaps.

    Guarantee: row by row and without the data; it costs no privacy, and adds none.

    Args:
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file; its numeric columns are taken.
        low: what the lower bound becomes.
        high: what the upper bound becomes.

    Example:
        >>> from tacit import DeclaredScaler
        >>> schema = {"columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100}}}
        >>> DeclaredScaler(schema).fit_transform({"age": [25.0, 150.0]})
        array([[0.25],
               [1.  ]])
    """

    def __init__(self, schema: Any = None, low: float = 0.0, high: float = 1.0) -> None:
        self.schema = schema
        self.low = low
        self.high = high

    def transform(self, X: Any) -> Floats:
        """The scaled columns, shape ``(rows, numeric columns)``, in the schema's order."""
        frame, schema = table_of(X), self._schema()
        out = np.empty((frame.n_rows, len(self._columns())))
        for place, name in enumerate(self._columns()):
            column = schema.columns[name]
            assert isinstance(column, NumericColumn)
            values = NumericGrid.of(column).numbers(frame, name)
            values = np.clip(np.asarray(values, np.float64), column.lower, column.upper)
            share = (values - column.lower) / (column.upper - column.lower)
            out[:, place] = self.low + share * (self.high - self.low)
        return out

    def _takes(self, column: Any) -> bool:
        return isinstance(column, NumericColumn)

    def _names_out(self) -> list[str]:
        return self._columns()


class DeclaredEncoder(_Declared):
    """One indicator per declared category, one for all others and one for gaps.

    Guarantee: row by row and without the data; it costs no privacy, and adds none.

    Args:
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file; its columns of categories are taken, and
            those of truth values.

    Example:
        >>> from tacit import DeclaredEncoder
        >>> schema = {"columns": {"ward": {"kind": "categorical", "categories": ["a", "b"]}}}
        >>> DeclaredEncoder(schema).fit_transform({"ward": ["a", "b", "z"]})
        array([[1., 0., 0., 0.],
               [0., 1., 0., 0.],
               [0., 0., 1., 0.]])
    """

    def __init__(self, schema: Any = None) -> None:
        self.schema = schema

    def transform(self, X: Any) -> Floats:
        """The indicators, shape ``(rows, categories of all columns)``, column by column in the schema's order."""
        frame, schema = table_of(X), self._schema()
        parts = []
        for name in self._columns():
            encoder: Any = encoder_of(schema.columns[name])
            codes = encoder.encode(frame.column(name), name)
            parts.append((codes[:, None] == np.arange(encoder.n_codes)).astype(np.float64))
        return np.concatenate(parts, axis=1)

    def _takes(self, column: Any) -> bool:
        return not isinstance(column, NumericColumn)

    def _names_out(self) -> list[str]:
        names = []
        for name in self._columns():
            column: Any = self._schema().columns[name]
            if isinstance(column, DateColumn):
                grid = NumericGrid.of_dates(column)
                names += [f"{name}={value}" for value in (*map(grid.text, grid.edges()), MISSING)]
                continue
            values = (*column.categories, OTHER, MISSING) if hasattr(column, "categories") else (False, True, MISSING)
            names += [f"{name}={value}" for value in values]
        return names


WEIGHTS = {
    "check_sample_weights_list": "weights are at most 1, and public: that check's 3 is refused",
    "check_sample_weights_not_overwritten": "as above: that check's 10 is refused",
    "check_sample_weight_equivalence_on_dense_data": "weights are at most 1; a row that stands twice is two rows",
}
WEIGHTED = {
    **WEIGHTS,
    "check_classifiers_one_label_sample_weights": "that check leaves rows out by a weight of 0, which is refused",
}

DECLARED = {
    "check_n_features_in_after_fitting": "columns are taken by name: others may come and go",
    "check_estimators_empty_data_messages": "a fit reads no row: a table without rows is as good as another",
}
"""With a schema of the columns of those checks; without one they have nothing to scale by."""

EXPECTED_FAILED_CHECKS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "AdditiveBoostClassifier": WEIGHTED,
        "AdditiveBoostRegressor": {
            "check_estimators_empty_data_messages": "that there are no rows is private: the fit returns a constant",
            "check_supervised_y_no_nan": "what labels hold never raises: missing ones are dropped",
            **WEIGHTS,
        },
        "AgnosticClassifier": {},
        "BoostedTreesClassifier": WEIGHTED,
        "ComposedClassifier": {},
        "DecisionListClassifier": {},
        "DeclaredEncoder": DECLARED,
        "DeclaredScaler": DECLARED,
        "FiniteClassClassifier": {},
        "HalfspaceBoostClassifier": {},
        "MAlphaBoostClassifier": {},
        "RandomTreesClassifier": {},
        "ResampledBoostClassifier": {
            "check_classifiers_train": "a voter learns from a part of that check's 200 rows, for a part of the budget",
            "check_classifiers_one_label": "a voter learns from 2 of that check's 10 rows, and noise may outweigh both",
        },
    }
)
"""By the name of an estimator, the checks that it fails and why; with ``classes="public"`` where it learns classes.

Example:
    >>> from sklearn.utils.estimator_checks import check_estimator
    >>> from tacit import EXPECTED_FAILED_CHECKS, RandomTreesClassifier
    >>> learner = RandomTreesClassifier(epsilon=50.0, classes="public", random_state=0)
    >>> expected = dict(EXPECTED_FAILED_CHECKS[type(learner).__name__])
    >>> results = check_estimator(learner, expected_failed_checks=expected, on_fail="raise")
"""
