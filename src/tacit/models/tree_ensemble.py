"""A sum of trees: what private boosted trees and private random trees give to a user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Bytes, Floats
from tacit.encoding.frames import Frame
from tacit.encoding.grid import NumericGrid
from tacit.models.base import ClassModel, of_any_table, tree_variance
from tacit.models.decision_list import threshold_text
from tacit.models.feature import Feature, features_of
from tacit.models.plain import classes_of, floats, items, number, require
from tacit.models.softmax import SoftmaxModel
from tacit.models.tree import ScoreTree, Tree, add_values, fitting
from tacit.models.tree_importance import total_effects
from tacit.theory.trees import m_alpha_inverse_link

LINKS = ("logistic", "m_alpha", "share")


@dataclass(frozen=True)
class Link:
    """How a score becomes the probability of the positive class."""

    # `logistic` (log-odds), `m_alpha` (for sums of trees on the M-alpha loss) or `share` (a mean of votes of -1 and 1)
    name: str
    # the loss parameter, for `m_alpha`. Below 1 the inverse canonical link is 1/2 on `|score| <= 2 (1 - alpha)`, where
    # most scores are: it would tell no row from another. So the score times `scale` goes through the inverse link of
    # Matsushita's loss, which rises everywhere, and is 1/2 at a score of 0 only.
    alpha: float = 1.0
    scale: float = 1.0  # positive, for `m_alpha`; from released class weights

    def __post_init__(self) -> None:
        if self.name not in LINKS:
            raise ValueError(f"unknown link {self.name!r}; known: {', '.join(LINKS)}")
        if not 0.0 < self.scale < float("inf"):
            raise ValueError(f"the scale of a link must be positive and finite, got {self.scale}")

    def probability(self, score: npt.ArrayLike) -> Floats:
        """Probability of the positive class at a score."""
        z = np.asarray(score, dtype=np.float64)
        if self.name == "logistic":
            return 0.5 * (1.0 + np.tanh(0.5 * z))
        if self.name == "m_alpha":
            return _rising(self.scale * z)
        return np.clip(0.5 * (1.0 + z), 0.0, 1.0)

    def to_dict(self) -> dict[str, Any]:
        """The link as plain data; a scale of 1 is left out."""
        plain: dict[str, Any] = {"name": self.name, "alpha": self.alpha}
        return plain if self.scale == 1.0 else {**plain, "scale": self.scale}


def _rising(z: Floats) -> Floats:
    """The inverse link of Matsushita's loss, on the side of 1/2 that the sign says even where rounding would tie."""
    chance = m_alpha_inverse_link(1.0, z)
    up, down = np.nextafter(0.5, 1.0), np.nextafter(0.5, 0.0)
    return np.where(z > 0, np.maximum(chance, up), np.where(z < 0, np.minimum(chance, down), chance))


@dataclass(frozen=True)
class TreeSpending:
    """What one tree took of the budget of the fit, as shares of it."""

    # for the splits of each depth, from the root down; nothing where splits are drawn at random
    levels: tuple[float, ...] = ()
    leaves: float = 0.0  # for what the leaves say


class BinnedTrees(ClassModel):
    """What models of trees over bins share: their columns, and how far each moves what they say."""

    features: tuple[Feature, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    @of_any_table
    def codes(self, frame: Frame) -> list[Bytes]:
        """The bins of every column, one vector of bytes each."""
        return [feature.bins(frame).astype(np.uint8) for feature in self.features]

    def _effects(self) -> Floats:
        """How far each column moves the score, shape ``(columns,)``."""
        raise NotImplementedError

    def importance(self) -> dict[str, float]:
        """Per column, how far it moves the score (:mod:`tacit.models.tree_importance`); the largest first."""
        effects = dict(zip(self.feature_names, self._effects().tolist(), strict=True))
        return dict(sorted(effects.items(), key=lambda item: -item[1]))


@dataclass(frozen=True, eq=False, repr=False)
class TreeEnsembleModel(BinnedTrees):
    """``score = intercept + sum of trees``. Frozen; everything in it was released."""

    kind: ClassVar[str] = "tree_ensemble"

    classes: tuple[Any, ...]  # the two classes, the positive one last
    intercept: float  # the score before any tree
    features: tuple[Feature, ...]  # the columns; trees test their bins
    trees: tuple[Tree, ...]  # in the order in which they were grown
    link: Link  # from scores to probabilities
    spending: TreeSpending = TreeSpending()  # of each tree
    intercept_sd: float = 0.0  # standard deviation of the noise in the intercept

    def decision_function(self, frame: Any) -> Floats:
        """The score of every row, shape ``(rows,)``."""
        codes = self.codes(frame)
        score = np.full(len(codes[0]), self.intercept)
        for tree in self.trees:
            add_values(tree.shape.find(codes), tree.values, score)
        return score

    def predict_proba(self, frame: Any) -> Floats:
        """Probabilities, shape ``(rows, 2)``, in the order of ``classes``."""
        positive = self.link.probability(self.decision_function(frame))
        return np.column_stack([1.0 - positive, positive])

    def score_variance(self, frame: Any) -> Floats:
        """Variance that noise leaves in the score of every row; :class:`ValueError` if leaves do not know theirs."""
        return self.intercept_sd**2 + tree_variance(self.trees, self.codes(frame))

    def contributions(self, frame: Any) -> tuple[list[str], Floats]:
        """What each column adds to the score of each row, beside the mean over support: names, shape (rows, columns).

        Along a row's path every split moves the mean of the leaves below; the move is put down to the column tested
        (Saabas 2014), with means over released support. Together they are the score exactly.
        """
        codes = self.codes(frame)
        out = np.zeros((len(self.features), len(codes[0])))
        for tree in self.trees:
            leaves, moves = tree.shape.find(codes), tree.leaf_contributions
            for place, column in enumerate(tree.shape.used_columns):
                add_values(leaves, np.ascontiguousarray(moves[:, place]), out[column])
        return list(self.feature_names), out.T

    def _effects(self) -> Floats:
        return total_effects(self.trees, [feature.n_bins for feature in self.features])

    def condition(self, column: int, member: Bools) -> str:
        """The test "the bin of this column is in this set", in words."""
        feature = self.features[column]
        inside = member[: feature.n_bins]
        if feature.ordered:
            return _interval_text(feature, inside)
        labels = feature.bin_labels()
        members = [label for label, member in zip(labels, inside, strict=True) if member]
        others = [label for label, member in zip(labels, inside, strict=True) if not member]
        if len(others) < len(members):
            return f"{feature.name} is not {' or '.join(others)}" if others else f"{feature.name} is anything"
        return f"{feature.name} is {' or '.join(members)}" if members else f"{feature.name} is nothing"

    def to_text(self, tree: int = 0) -> str:
        """One tree as indented rules, with the released support of every leaf."""
        member = self.trees[tree]
        shape, lines = member.shape, []
        stack: list[tuple[int, int, str]] = [(0 if shape.n_splits else -1, 0, "")]
        while stack:
            node, depth, text = stack.pop()
            indent = "  " * depth
            if node < 0:
                value, support = member.values[-1 - node], member.support[-1 - node]
                counted = self.spending != TreeSpending()  # trees of a stream count no rows
                weight = f"  (about {support:.0f} of weight)" if counted else ""
                lines.append(f"{indent}{text}add {value:+.3g}{weight}")
                continue
            if text:
                lines.append(f"{indent}{text.rstrip()}")
            column, goes_right = int(shape.columns[node]), shape.goes_right(node)
            left, right = (int(c) for c in shape.children[node])
            stack.append((right, depth + bool(text), f"if {self.condition(column, goes_right)}: "))
            stack.append((left, depth + bool(text), f"if {self.condition(column, ~goes_right)}: "))
        return "\n".join(lines)

    def body(self) -> dict[str, Any]:
        return {
            "classes": list(self.classes),
            "intercept": self.intercept,
            "features": [feature.to_dict() for feature in self.features],
            "trees": [tree.to_dict() for tree in self.trees],
            "link": self.link.to_dict(),
            "spending": {"levels": list(self.spending.levels), "leaves": self.spending.leaves},
            "intercept_sd": self.intercept_sd,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> TreeEnsembleModel:
        features, link, spending = features_of(body["features"]), body["link"], body["spending"]
        require(features, "it has no columns")
        n_bins = [feature.n_bins for feature in features]
        alpha, scale = number(link["alpha"], "alpha", 0.0, 1.0), number(link.get("scale", 1.0), "a scale", 0.0)
        levels = [number(level, "a share of the budget", 0.0) for level in items(spending["levels"], "levels")]
        return cls(
            classes_of(body, 2),
            number(body["intercept"], "the intercept"),
            features,
            tuple(fitting(Tree.from_dict(item), n_bins) for item in items(body["trees"], "trees")),
            Link(link["name"], alpha, scale),
            TreeSpending(tuple(levels), number(spending["leaves"], "a share of the budget", 0.0)),
            number(body["intercept_sd"], "the deviation of the intercept", 0.0),
        )


def _interval_text(feature: Feature, inside: Bools) -> str:
    """A set of bins of an ordered column: intervals between edges, and whether missing belongs to it."""
    edges, present = feature.edges(), inside[:-1]
    changes = np.flatnonzero(np.diff(np.concatenate([[False], present, [False]]).astype(np.int8)))
    parts = []
    for start, stop in zip(changes[::2], changes[1::2], strict=True):
        if start == 0 and stop == len(present):
            parts.append("present")
        elif start == 0:
            parts.append(f"< {_edge(feature, edges[stop])}")
        elif stop == len(present):
            parts.append(f">= {_edge(feature, edges[start])}")
        else:
            parts.append(f"in [{_edge(feature, edges[start])}, {_edge(feature, edges[stop])})")
    if inside[-1]:
        parts.append("missing")
    return f"{feature.name} {' or '.join(parts) or 'is nothing'}"


def _edge(feature: Feature, value: float) -> str:
    """Four digits, and no exponent for numbers that people write out; or a date.

    Of the latter the shortest in its cell, unless that is far off: 480000, and not 479996.
    """
    grid = feature.encoder
    if not isinstance(grid, NumericGrid) or grid.dates or not 1e4 <= abs(value) < 1e12:
        return feature.edge_text(value)
    short = threshold_text(grid, int(grid.encode(np.array([value]))[0]))
    return short if abs(float(short) - value) < abs(value) / 1e4 else f"{value:.0f}"


@final
@dataclass(frozen=True, eq=False, repr=False)
class TreeClassesModel(BinnedTrees, SoftmaxModel):
    """``scores = intercept + sum of trees``, a score per class. Frozen; everything in it was released."""

    kind: ClassVar[str] = "tree_classes"

    classes: tuple[Any, ...]  # in the order of the scores
    intercept: Floats  # scores before any tree, shape `(classes,)`
    features: tuple[Feature, ...]  # the columns; trees test their bins
    masses: tuple[Floats, ...]  # per column, the share of rows in every bin, as far as it was released
    trees: tuple[ScoreTree, ...]  # in the order in which they were grown
    intercept_sd: Floats  # standard deviation of the noise in the intercept, shape `(classes,)`

    def decision_function(self, frame: Any) -> Floats:
        """The scores, shape ``(rows, classes)``."""
        return self._sum(self.codes(frame), self.intercept, [tree.values for tree in self.trees])

    def scores_variance(self, frame: Any) -> Floats:
        """Variance that noise leaves in the scores, shape ``(rows, classes)``; leaves' noises are independent.

        Raises ``ValueError`` if a tree does not know its noise.
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
