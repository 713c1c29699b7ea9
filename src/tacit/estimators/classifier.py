"""Learners as scikit-learn's estimators: parameters, tags, scores and clones by its public base classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags

from tacit.arrays import Floats
from tacit.encoding.frames import numbered
from tacit.encoding.values import LabelIndex
from tacit.estimators.base import Estimator, check_fitted
from tacit.estimators.classes import ClassEstimator, accuracy
from tacit.learning.declared import Declared
from tacit.learning.learner import Learner
from tacit.models.importance import column_importance
from tacit.privacy.request import Request, RequestError


class PrivateEstimator(BaseEstimator, Estimator):
    """Base of the private estimators."""

    @property
    def feature_importances_(self) -> Floats:
        """How far each column moves the score, as shares of 1, shape ``(n_features_in_,)``; from the model alone.

        Total effects (:func:`tacit.models.importance.column_importance`): what columns do together counts for each of
        them. ``model_.importance()`` has the terms of a sum one by one.

        Raises:
            AttributeError: before a fit, and where columns have no share of their own: halfspaces, rules, votes.
        """
        check_fitted(self)
        importances, name = column_importance(self.model_), type(self).__name__
        if importances is None:
            raise AttributeError(f"{name} has no feature_importances_: columns have no share of its model of their own")
        stated = getattr(self, "feature_names_in_", self.certificate_.columns)
        names = numbered(self.n_features_in_) if stated is None or isinstance(stated, int) else stated
        if not importances.keys() <= {str(column) for column in names}:
            raise AttributeError(f"{name} learned from a mapping, whose columns have no order: see model_.importance()")
        values = np.array([importances.get(str(column), 0.0) for column in names])
        return np.asarray(values / total) if (total := float(values.sum())) > 0 else values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = True
        return tags


class PrivateClassifier(ClassifierMixin, PrivateEstimator, ClassEstimator):
    """Base of the private classifiers. After ``fit`` there is also ``classes_``."""

    @property
    def tells_several_classes(self) -> bool:
        """Whether more than two classes are declared, and can be learned."""
        return False

    def _declared(self, y: Any = None) -> Declared:
        declared = super()._declared(y)
        several = isinstance(declared.label, LabelIndex) and declared.label.n_classes > 2
        if isinstance(self.classes, str) and several and not self.tells_several_classes:
            raise RequestError(
                "Only binary classification is supported. The type of the target is multiclass: y holds more than two "
                f"classes, and {self.algorithm} tells two apart"
            )
        return declared

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, with labels read as ``fit`` reads them. Not private: never publish it for private rows."""
        predicted = self.predict(X)
        return accuracy(self.model_, self.schema_, predicted, y, sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.tells_several_classes
        return tags


def child_learner(estimator: PrivateEstimator, request: Request, **declared: Any) -> Learner:
    """A learner with the parameters of an estimator, but not its budget; ``declared`` are schema and classes.

    Raises:
        RequestError: for parameters that make no sense at this request.
    """
    own = clone(estimator).set_params(
        epsilon=request.epsilon, delta=request.delta, neighbouring=str(request.neighbouring), account=None, **declared
    )
    learner: Learner = own.make_learner(request)
    return learner
