"""Learners of classes: which order they have for scikit-learn, and what is predicted of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.estimators.base import PrivateLearner, Task


def in_order(names: Sequence[Any]) -> list[int]:
    """The places of classes in the order that scikit-learn takes for granted: sorted, where that means anything.

    Args:
        names: as declared, of two classes the positive one last.
    """
    try:
        return sorted(range(len(names)), key=names.__getitem__)
    except TypeError:  # texts beside numbers
        return list(range(len(names)))


class InOrder:
    """What has a ``model_`` of classes, and columns and signs in the order of sorted ``classes_``.

    A model keeps its classes as they were declared, of two the positive one last. Here the last of two ``classes_`` is
    what ``decision_function`` and ``predict_proba(X)[:, 1]`` are about.
    """

    model_: Any

    @property
    def _places(self) -> list[int]:
        return in_order(self.model_.classes)

    def _sorted_classes(self) -> npt.NDArray[Any]:
        """The model's classes, as ``classes_`` has them."""
        return np.asarray([self.model_.classes[place] for place in self._places])

    def _sorted_scores(self, scores: Floats) -> Floats:
        """A model's scores, of two classes ``(rows,)`` and of more ``(rows, classes)``, as ``classes_`` has them."""
        if scores.ndim > 1:
            return scores[:, self._places]
        return scores if self._places == [0, 1] else -scores


class ClassLearner(InOrder, PrivateLearner):
    """Base of the learners of classes. After ``fit`` there is also ``classes_``, sorted as scikit-learn has them."""

    classes: Sequence[Any] | None

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The likeliest class of every row, shape ``(rows,)``."""
        self._check_fitted()
        classes: npt.NDArray[Any] = self.classes_[np.asarray(self.predict_proba(X)).argmax(axis=1)]
        return classes

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities in the order of ``classes_``, shape ``(rows, classes)``."""
        frame = self._frame_for_model(X)
        return self._sorted_scores(self.model_.predict_proba(frame))

    def _describe(self, task: Task) -> None:
        del task
        self.classes_ = self._sorted_classes()
