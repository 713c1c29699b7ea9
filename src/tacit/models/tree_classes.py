"""A sum of trees with a score per class: what private boosted trees of several classes give to a user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from tacit.arrays import Bytes, Floats
from tacit.models.feature import Feature, features_of
from tacit.models.plain import classes_of, floats, items, require
from tacit.models.softmax import SoftmaxModel
from tacit.models.tree import ScoreTree, fitting
from tacit.models.tree_ensemble import BinnedTrees
from tacit.models.tree_importance import total_effects


@final
@dataclass(frozen=True, eq=False, repr=False)
class TreeClassesModel(BinnedTrees, SoftmaxModel):
    """``scores = intercept + sum of trees``, a score per class. Frozen; everything in it was released.

    Attributes:
        classes: in the order of the scores.
        intercept: scores before any tree, shape ``(classes,)``.
        features: the columns; trees test their bins.
        masses: per column, the share of rows in every bin, as far as it was released.
        trees: in the order in which they were grown.
        intercept_sd: standard deviation of the noise in the intercept, shape ``(classes,)``.
    """

    kind: ClassVar[str] = "tree_classes"

    classes: tuple[Any, ...]
    intercept: Floats
    features: tuple[Feature, ...]
    masses: tuple[Floats, ...]
    trees: tuple[ScoreTree, ...]
    intercept_sd: Floats

    def decision_function(self, frame: Any) -> Floats:
        """The scores, shape ``(rows, classes)``."""
        return self._sum(self.codes(frame), self.intercept, [tree.values for tree in self.trees])

    def scores_variance(self, frame: Any) -> Floats:
        """Variance that noise leaves in the scores, shape ``(rows, classes)``; leaves' noises are independent.

        Raises:
            ValueError: if a tree does not know its noise.
        """
        if any(tree.sd is None for tree in self.trees):
            raise ValueError("the model holds no standard deviations of its leaves")
        variances = [np.square(floats(tree.sd)) for tree in self.trees]
        return self._sum(self.codes(frame), np.square(self.intercept_sd), variances)

    def _sum(self, codes: Sequence[Bytes], start: Floats, by_tree: Sequence[Floats]) -> Floats:
        out: Floats = np.repeat(start[None, :], len(codes[0]), axis=0)
        for tree, values in zip(self.trees, by_tree, strict=True):
            out += values[tree.shape.find(codes)]
        return out

    def _effects(self) -> Floats:
        return total_effects(self.trees, [feature.n_bins for feature in self.features], self.masses)

    def body(self) -> dict[str, Any]:
        return {
            "classes": list(self.classes),
            "intercept": self.intercept.tolist(),
            "features": [feature.to_dict() for feature in self.features],
            "masses": [mass.tolist() for mass in self.masses],
            "trees": [tree.to_dict() for tree in self.trees],
            "intercept_sd": self.intercept_sd.tolist(),
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> TreeClassesModel:
        classes, features = classes_of(body), features_of(body["features"])
        n_bins, shape = [feature.n_bins for feature in features], (len(classes),)
        trees = tuple(fitting(ScoreTree.from_dict(item), n_bins) for item in items(body["trees"], "trees"))
        require(features and all(tree.values.shape[1:] == shape for tree in trees), "it needs a score for every class")
        require(len(body["masses"]) == len(features), "it needs the masses of every column")
        masses = [floats(mass, "masses", (n,), least=0.0) for mass, n in zip(body["masses"], n_bins, strict=True)]
        intercept, sd = (floats(body[name], name, shape) for name in ("intercept", "intercept_sd"))
        return cls(classes, intercept, features, tuple(masses), trees, sd)
