"""Learners as scikit-learn's estimators: parameters, tags, scores and clones by its public base classes."""

from __future__ import annotations

from typing import Any, NoReturn

from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags

from tacit.estimators.base import Estimator
from tacit.estimators.classes import ClassEstimator, accuracy
from tacit.learning.learner import Learner
from tacit.privacy.request import Request


class PrivateEstimator(BaseEstimator, Estimator):
    """Base of the private estimators."""

    @property
    def feature_importances_(self) -> NoReturn:
        """Not there: what matters are columns, and what several of them do together, which has no share of a column's.

        Raises:
            AttributeError: with where importances are.
        """
        raise AttributeError(
            f"{type(self).__name__} has no feature_importances_: columns act together, too. A fitted one has "
            "model_.importance(), by the names of its parts, unless its model is of halfspaces or a list of rules"
        )

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
        epsilon=request.epsilon,
        delta=request.delta,
        neighbouring=str(request.neighbouring),
        account=None,
        **declared,
    )
    learner: Learner = own.make_learner(request)
    return learner
