"""`BoostedTreesClassifier`: the scikit-learn face of private boosted trees."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.curator.curator import Curator
from tacit.encoding.grid import NumericGrid
from tacit.faces.base import PrivateClassifier, Task
from tacit.faces.request import Request, RequestError
from tacit.models.additive import Feature
from tacit.models.tree_ensemble import Link, TreeEnsembleModel
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.purse import Purse
from tacit.schema import OrdinalColumn
from tacit.trees.bins import Column, TreeBins
from tacit.trees.gradient import learn_gradient_trees

DEEPEST = 16
"""A complete tree of this depth has 2**16 leaves."""


class BoostedTreesClassifier(PrivateClassifier):
    """Private boosted decision trees.

    By default, gradient trees: their structure looks at no row, their leaves take private Newton steps, one release
    per tree. Bins, the number of trees and their depth follow from public and released numbers by a fixed rule;
    nothing is to be tuned.

    Args:
        epsilon: privacy parameter, positive; ``inf`` for no privacy.
        delta: probability that the guarantee may fail, in [0, 1); 0 asks for pure differential privacy.
        neighbouring: ``"add_or_remove_one"`` (the number of rows is private) or ``"replace_one"``.
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file. None: all columns are numeric, and their
            bounds are found with 5 % of the budget.
        classes: the two classes, the positive one last, when no schema names them; None for 0 and 1.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this fit alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.
        n_trees: how many trees; None for the rule's number.
        max_depth: depth of every tree, 1 to 16; None for the rule's.

    Attributes:
        model_: the frozen :class:`~tacit.models.tree_ensemble.TreeEnsembleModel`.
        certificate_: what was spent, on what, by which theorem.
        classes_: the two classes.
        n_features_in_: number of columns seen by ``fit``.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        neighbouring: str = "add_or_remove_one",
        schema: Any = None,
        classes: Sequence[Any] | None = None,
        account: PrivacyAccount | None = None,
        random_state: int | None = None,
        n_trees: int | None = None,
        max_depth: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbouring = neighbouring
        self.schema = schema
        self.classes = classes
        self.account = account
        self.random_state = random_state
        self.n_trees = n_trees
        self.max_depth = max_depth

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The score of the positive class (log-odds for gradient trees), shape ``(rows,)``."""
        frame = self._frame_for_model(X)
        model = self.model_
        assert isinstance(model, TreeEnsembleModel)
        return model.decision_function(frame)

    def _check_parameters(self, request: Request) -> None:
        del request
        check_count("n_trees", self.n_trees, 10_000)
        check_count("max_depth", self.max_depth, DEEPEST)

    def _check_task(self, task: Task) -> None:
        check_two_classes(task, type(self).__name__)

    def _learn(self, curator: Curator, purse: Purse, task: Task) -> TreeEnsembleModel:
        learned = learn_gradient_trees(
            curator, purse, columns_of_task(task), n_trees=self.n_trees, depth=self.max_depth
        )
        features = features_of(task, learned.bins)
        return TreeEnsembleModel(task.label_index.names, learned.intercept, features, learned.trees, Link("logistic"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def check_count(name: str, value: Any, most: int) -> None:
    """Raises unless ``value`` is None or an integer from 1 to ``most``."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) <= most:
        raise RequestError(f"{name} must be None or an integer from 1 to {most}, got {value!r}")


def check_two_classes(task: Task, name: str) -> None:
    """Raises unless the task has two classes."""
    if task.label_index.n_classes != 2:
        raise RequestError(
            f"there are {task.label_index.n_classes} classes and {name} tells two apart: name the positive ones in the "
            "schema"
        )


def columns_of_task(task: Task) -> list[Column]:
    """The columns as the learners know them; ordinal categories are ordered as declared."""
    assert task.encoding is not None
    declared = {} if task.schema is None else task.schema.columns
    return [
        Column(index, name, isinstance(encoder, NumericGrid) or isinstance(declared.get(name), OrdinalColumn))
        for index, (name, encoder) in enumerate(zip(task.names, task.encoding.encoders, strict=True))
    ]


def features_of(task: Task, bins: Sequence[TreeBins]) -> tuple[Feature, ...]:
    """The model's columns: the public encoding and the bins it is mapped to."""
    assert task.encoding is not None
    return tuple(
        Feature(name, encoder, made.mapping, isinstance(encoder, NumericGrid))
        for name, encoder, made in zip(task.names, task.encoding.encoders, bins, strict=True)
    )
