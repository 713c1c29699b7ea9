"""What a stream's released weights say of rows, and these weights as a model: all of it post-processing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import CODES, Floats, Ints
from tacit.curator.streams.winnow_log import Marks, WinnowLog
from tacit.encoding.grid import NumericGrid
from tacit.estimators.binding import public_parameters, target_name
from tacit.models.binding import model_digest
from tacit.models.feature import Feature
from tacit.models.tree import Tree, TreeShape, code_set, complete_shape
from tacit.models.tree_ensemble import Link, TreeEnsembleModel
from tacit.online import rows as readers
from tacit.online.labels import as_labels, shares_of
from tacit.privacy.certificate import Certificate
from tacit.privacy.request import RequestError, declared_schema
from tacit.schema import Schema

MOST_CELLS = 1 << 26
"""Coordinates that are made at a time, rows by features."""

TIE = 1e-6
"""Not tuned: units of weight by which a model's score is lower, far below 1 and far above what rounding moves."""


class Predicting:
    """What a Winnow says. It reads released weights and what is public, and spends nothing."""

    log_: WinnowLog | None
    certificate_: Certificate | None
    signed: bool
    constant: bool
    schema: Any
    bins: int

    def predict_one(self, x: Mapping[Any, Any], **kwargs: Any) -> Any:
        """The likelier class under the released weights."""
        del kwargs
        points, _ = self._point(x)
        return self._classes[int(self._marks(points).said(self._scores(points))[0])]

    def predict_proba_one(self, x: Mapping[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The share of the released weights that vote for each class: equal shares where nothing was learned yet.

        Shares, and no calibrated probabilities: the sampled weights say how sure Winnow is, not how often it is right.
        The likelier class is that of :meth:`predict_one`; nothing is spent. With ``C > 2`` classes of scores ``s`` the
        shares are ``1/C + (s - mean(s)) / (C - 1)``, over weights of sum 1.
        """
        del kwargs
        points, _ = self._point(x)
        total = max(int(np.abs(self._log_for(points).weights).sum()), 1)
        return shares_of(self._scores(points)[0] / total, self._classes)

    def _point(self, x: Mapping[Any, Any]) -> tuple[npt.NDArray[np.int8], bool]:
        """The point of a row, and whether all its values are fine.

        Raises:
            RowError: if it is no mapping, or of other features than before; public.
        """
        if not hasattr(x, "keys"):
            raise readers.RowError(f"a row is a mapping from names to values, got {type(x).__name__}")
        point: tuple[npt.NDArray[np.int8], bool] = self._rows_for(x).one(x)
        return point

    def predict_many(self, X: Any) -> npt.NDArray[Any]:
        """The likelier class of every row, shape ``(n,)``."""
        points, _ = self._rows_for(X).many(X)
        return as_labels(self._classes)[self._marks(points).said(self._scores(points))]

    @property
    def weights_(self) -> Floats | None:
        """The released weights in use, of L1 norm 1 (0 at the start of signed ones); None before the first row.

        Shape ``(coordinates,)``, or with more than two classes ``(classes, coordinates)``.
        """
        if self.log_ is None:
            return None
        weights: Floats = self.log_.weights / max(int(np.abs(self.log_.weights).sum()), 1)
        return weights.reshape(len(self._classes), -1) if len(self._classes) > 2 else weights

    @property
    def schema_(self) -> Schema | None:
        """The schema, read from where it was declared."""
        return declared_schema(self.schema)

    def to_model(self) -> tuple[TreeEnsembleModel, Certificate]:
        """The released weights in use as a model, a stump per coordinate, and the certificate as that of this model.

        It says what :meth:`predict_one` says, with shares of the weights for probabilities.

        Raises:
            RequestError: before the first row, without a schema, for more than two classes, more than 254 categories of
                a column, or features that are conjunctions.

        Example:
            >>> from dataclasses import replace
            >>> from tacit.examples import hospital
            >>> from tacit.online import Winnow
            >>> X, y, schema = hospital(4000)
            >>> learner = Winnow(epsilon=1.0, schema=replace(schema, unit=None), horizon=4000)
            >>> learner.learn_many(X, y)
            >>> model, certificate = learner.to_model()
            >>> print(model.classes, certificate.epsilon)
            ('no', 'yes') 1.0
        """
        features = self.model_features()
        if self.log_ is None or self.certificate_ is None:
            raise RequestError("nothing was released yet: learn from rows first")
        weights, total = self.log_.weights, max(int(np.abs(self.log_.weights).sum()), 1)
        tests = [(place, right) for place, feature in enumerate(features) for right in _tests(feature)]
        children = complete_shape([0], code_set([0])[None, :]).children
        trees = []
        for (place, right), weight in zip(tests, weights.tolist(), strict=False):
            if weight:
                shape = TreeShape(np.array([place]), code_set(right)[None, :], children)
                trees.append(Tree(shape, np.array([-weight, weight]) / total, np.zeros(2)))
        # at a score of 0 the stream says the first class, however sums are rounded
        intercept = ((int(weights[-1]) if self.constant else 0) - TIE) / total
        model = TreeEnsembleModel(self._classes, intercept, features, tuple(trees), Link("share"))
        assert self.schema_ is not None
        return model, self.certificate_.bound(
            model_digest(model), self.schema_.fingerprint(), target=target_name(self.schema_, None),
            columns=model.feature_names, parameters=public_parameters(self),
        )  # fmt: skip

    def model_features(self) -> tuple[Feature, ...]:
        """The columns of the model that :meth:`to_model` makes; raises as that does, and before the first row too."""
        rows = readers.declared_rows(self.schema, None, int(self.bins))
        if not isinstance(rows, readers.SchemaRows):
            raise RequestError("a model needs a schema, which says what its columns hold")
        if len(self._classes) != 2:
            raise RequestError("a stream's model tells two classes apart, and this one has more")
        if self._expand(np.ones((1, rows.width), np.int8)).shape[1] != rows.width + int(self.constant):
            raise RequestError("a stream's model weighs single columns, and these features are conjunctions of several")
        features = []
        for name, encoder, cuts in zip(rows.encoding.names, rows.encoding.encoders, rows.cuts, strict=True):
            mapping = np.arange(encoder.n_codes)
            if isinstance(encoder, NumericGrid):
                mapping = np.append(np.searchsorted(cuts, mapping[:-1], side="right"), len(cuts) + 1)
            if mapping[-1] >= CODES:
                raise RequestError(f"column {name!r}: a model has at most {CODES - 2} categories, or bins, of a column")
            features.append(Feature(name, encoder, mapping, isinstance(encoder, NumericGrid)))
        return tuple(features)

    def _scores(self, points: npt.NDArray[np.int8]) -> Ints:
        weights, marks = self._log_for(points).weights, self._marks(points)
        step = max(1, MOST_CELLS // marks.dimension)
        starts = range(0, len(points) or 1, step)
        return np.concatenate([marks.scores(weights, self._expand(points[start : start + step])) for start in starts])

    def _marks(self, points: npt.NDArray[np.int8]) -> Marks:
        return Marks(self._width(points.shape[1]), len(self._classes))

    def _log_for(self, points: npt.NDArray[np.int8]) -> WinnowLog:
        """What was released; before the first row the start, which predicts as well."""
        return self.log_ or WinnowLog(self._marks(points).n_weights, bool(self.signed), 1)

    @property
    def _classes(self) -> tuple[Any, ...]:
        """What the classes are called, of two the positive one last."""
        raise NotImplementedError

    def _rows_for(self, x: Any) -> readers.RowReader:
        """How rows are read."""
        raise NotImplementedError

    def _width(self, columns: int) -> int:
        """Coordinates of an expanded point."""
        raise NotImplementedError

    def _expand(self, points: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        """The points with all that weights are of."""
        raise NotImplementedError


def _tests(feature: Feature) -> list[list[int]]:
    """The bins at which each coordinate of a column is 1, as :class:`~tacit.online.rows.SchemaRows` has them."""
    missing = feature.n_bins - 1
    if feature.ordered:
        return [list(range(bin_, missing)) for bin_ in range(1, missing)]
    return [[code] for code in range(missing)]
