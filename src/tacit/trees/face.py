"""What the faces of all tree learners share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.arrays import Floats
from tacit.binning.tree_bins import Column, TreeBins
from tacit.discovery.bounds import BOUNDS_SHARE
from tacit.encoding.grid import NumericGrid
from tacit.estimators.base import Task
from tacit.estimators.checks import check_choice, check_two_classes
from tacit.estimators.classifier import PrivateClassifier
from tacit.models.additive import Feature
from tacit.models.tree_ensemble import TreeEnsembleModel
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.request import Request, RequestError
from tacit.schema import OrdinalColumn
from tacit.trees.budget import SplitBudget

ANALYSES = ("sharp", "paper")

DEEPEST = 16
"""A complete tree of this depth has 2**16 leaves."""


class TreesClassifier(PrivateClassifier):
    """Base of the tree classifiers: two classes, scores, and a budget that pays for selections."""

    def decision_function(self, X: Any) -> Floats:
        """The score of the last of ``classes_``, shape ``(rows,)``; log-odds for gradient trees."""
        frame = self._frame_for_model(X)
        model = self.model_
        assert isinstance(model, TreeEnsembleModel)
        return self._sorted_scores(model.decision_function(frame))

    def _check_task(self, task: Task) -> None:
        check_two_classes(task, type(self).__name__)

    def _search_charges(self, task: Task) -> tuple[Charge, ...]:
        """What finding bounds takes, where no schema declares them."""
        if task.schema is not None:
            return ()
        return (Allowance.of(self.epsilon, self.delta).charge(BOUNDS_SHARE),)

    def _split_budget(self, task: Task) -> SplitBudget:
        """The pool for selections and releases, beside what finding bounds takes."""
        return SplitBudget.of(self.epsilon, self.delta, self._search_charges(task))

    def _split_charges(self, task: Task) -> list[Charge]:
        return [*self._search_charges(task), self._split_budget(task).whole]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def check_noise(noise: str, request: Request) -> None:
    """Raises if the noise asked for by name does not go with delta."""
    check_choice("noise", noise, ("auto", "gaussian", "laplace"))
    if noise == "gaussian" and request.delta == 0:
        raise RequestError(
            "noise='gaussian' has no finite epsilon at delta=0: use noise='laplace', or a positive delta"
        )
    if noise == "laplace" and request.delta > 0:
        raise RequestError("noise='laplace' is meant for pure epsilon: set delta=0")


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
