"""What the faces of all tree learners share."""

from __future__ import annotations

from typing import Any

from tacit.arrays import Floats
from tacit.estimators.classes import scores_in_order
from tacit.estimators.classifier import PrivateClassifier
from tacit.models.tree_ensemble import TreeEnsembleModel


class TreesClassifier(PrivateClassifier):
    """Base of the tree classifiers: two classes, and scores."""

    def decision_function(self, X: Any) -> Floats:
        """The score of the last of ``classes_``, shape ``(rows,)``; log-odds for gradient trees."""
        frame = self.frame_for_model(X)
        model = self.model_
        assert isinstance(model, TreeEnsembleModel)
        return scores_in_order(model.classes, model.decision_function(frame))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
