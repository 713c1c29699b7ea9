"""What the faces of all tree learners share."""

from __future__ import annotations

from typing import Any

from tacit.arrays import Floats
from tacit.estimators.classes import scores_in_order
from tacit.estimators.classifier import PrivateClassifier
from tacit.models.tree_classes import TreeClassesModel
from tacit.models.tree_ensemble import TreeEnsembleModel


class TreesClassifier(PrivateClassifier):
    """Base of the tree classifiers: they have scores."""

    @property
    def tells_several_classes(self) -> bool:
        """Whether there may be more than two classes."""
        return False

    def decision_function(self, X: Any) -> Floats:
        """The score of the last of two ``classes_``, shape ``(rows,)``; of more a score each, ``(rows, classes)``.

        For gradient trees they are log-odds; of more than two classes up to a constant per row.
        """
        frame = self.frame_for_model(X)
        model = self.model_
        assert isinstance(model, TreeEnsembleModel | TreeClassesModel)
        return scores_in_order(model.classes, model.decision_function(frame))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.tells_several_classes
        return tags
