"""Learners as scikit-learn's estimators: parameters, tags, scores and clones by its public base classes."""

from __future__ import annotations

from collections import defaultdict
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
from tacit.models.additive import AdditiveModel, AdditiveScores
from tacit.models.additive_scores import AdditiveClassesModel, AdditiveOrderedModel, AdditiveRegressionModel
from tacit.models.base import Model, Nest
from tacit.models.mean import MeanModel, MeanNumberModel
from tacit.models.recalibrated import RecalibratedModel
from tacit.models.tree_ensemble import BinnedTrees
from tacit.models.tree_importance import total_effects
from tacit.privacy.request import Request, RequestError


class PrivateEstimator(BaseEstimator, Estimator):
    """Base of the private estimators."""

    @property
    def feature_importances_(self) -> Floats:
        """How far each column moves the score, as shares of 1, shape ``(n_features_in_,)``; from the model alone.

        Total effects (:func:`column_importance`): what columns do together counts for each of them.
        ``model_.importance()`` has the terms of a sum one by one.

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
    """A learner with the parameters of an estimator, but not its budget; ``declared`` are schema and classes."""
    own = clone(estimator).set_params(
        epsilon=request.epsilon, delta=request.delta, neighbouring=str(request.neighbouring), account=None, **declared
    )
    learner: Learner = own.make_learner(request)
    return learner


def column_importance(model: Model) -> dict[str, float] | None:
    """Per column, how far it moves the score, in units of the score; None where columns have no share of their own.

    A total effect (Sobol 2001): what a column does together with another counts for both. Columns that a model does
    not use have none. Of a mean of models, the mean; of a recalibrated one, that of the model underneath.
    """
    if isinstance(model, AdditiveModel | AdditiveClassesModel | AdditiveOrderedModel | AdditiveRegressionModel):
        return _of_scores(model.scores)
    if isinstance(model, BinnedTrees):
        return model.importance()
    if not isinstance(model, Nest):
        return None
    if isinstance(model, RecalibratedModel):
        return column_importance(model.base)
    if not isinstance(model, MeanModel | MeanNumberModel):
        return None
    importance: defaultdict[str, float] = defaultdict(float)
    for member, share in zip(model.members, model.shares, strict=True):
        inside = column_importance(member)
        if inside is None:
            return None
        for name, value in inside.items():
            importance[name] += float(share) * value
    return dict(importance)


def _of_scores(scores: AdditiveScores) -> dict[str, float]:
    """Squares of independent effects add up."""
    own = scores.importance()
    squares = np.zeros(len(scores.features))
    for main in scores.mains:
        squares[main.feature] += own[scores.features[main.feature].name] ** 2
    for pair in scores.pairs:
        squares[list(pair.features)] += own[scores.pair_name(pair)] ** 2
    if scores.trees:
        squares += total_effects(scores.trees, [feature.n_bins for feature in scores.features]) ** 2
    return dict(zip((feature.name for feature in scores.features), np.sqrt(squares).tolist(), strict=True))
