"""Additive models: an intercept, one curve or row of bars per column, a table per interaction, and what these leave.

:class:`AdditiveScores` is the sum, of ``k`` scores per row. Models of two classes, of several and of numbers
differ in what is made of the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar, final

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.display import Brief
from tacit.encoding.frames import Frame
from tacit.models.base import ClassModel, of_any_table
from tacit.models.feature import Feature, features_of
from tacit.models.links import logistic
from tacit.models.plain import classes_of, floats, ints, items, number, require, whole
from tacit.models.tree import ScoreTree, Tree, add_values, fitting

TREES = "trees over the residual"
"""What the trees together are called among the terms."""

LEAST_ROWS = 1e-9
"""So many rows are divided by at least."""


@dataclass(frozen=True, eq=False, repr=False)
class MainEffect(Brief):
    """Log-odds per bin of one column, with the standard deviation due to noise and the released number of rows."""

    feature: int
    effect: Floats
    sd: Floats
    counts: Floats

    def to_dict(self) -> dict[str, Any]:
        return {
            "feature": self.feature,
            "effect": self.effect.tolist(),
            "sd": self.sd.tolist(),
            "counts": self.counts.tolist(),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> MainEffect:
        """The inverse of :meth:`to_dict`."""
        return MainEffect(whole(data["feature"], "the number of a column"), *_numbers_of(data))


@dataclass(frozen=True, eq=False, repr=False)
class PairEffect(Brief):
    """Log-odds per pair of groups of two columns; ``groups[j]`` maps the bins of column ``features[j]`` to groups.

    ``effect``, ``sd`` and ``counts`` have shape ``(groups of the first, groups of the second)``.
    """

    features: tuple[int, int]
    groups: tuple[Ints, Ints]
    effect: Floats
    sd: Floats
    counts: Floats

    def to_dict(self) -> dict[str, Any]:
        return {
            "features": list(self.features),
            "groups": [group.tolist() for group in self.groups],
            "effect": self.effect.tolist(),
            "sd": self.sd.tolist(),
            "counts": self.counts.tolist(),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> PairEffect:
        """The inverse of :meth:`to_dict`."""
        first, second = (whole(feature, "the number of a column") for feature in data["features"])
        of_first, of_second = (ints(groups, "groups") for groups in data["groups"])
        return PairEffect((first, second), (of_first, of_second), *_numbers_of(data))


@final
@dataclass(frozen=True, eq=False, repr=False)
class AdditiveScores(Brief):
    """``scores = intercept + sum of effects``, ``k`` of them for every row. Everything in it was released."""

    intercept: Floats  # shape `(n_scores,)`
    features: tuple[Feature, ...]  # the columns
    mains: tuple[MainEffect, ...]  # effects of one column; `effect` and `sd` have shape `(bins, n_scores)`
    pairs: tuple[PairEffect, ...]  # effects of two columns; `effect` and `sd` have shape `(groups, groups, n_scores)`
    # trees over the bins, for what columns and pairs leave over; columns are numbered as `features`
    trees: tuple[ScoreTree, ...] = ()
    # standard deviation of the noise in the intercept, shape `(n_scores,)`; None if it is not known
    intercept_sd: Floats | None = None

    @property
    def n_scores(self) -> int:
        return len(self.intercept)

    def check(self) -> None:
        """Refuses what does not fit together."""
        require(self.intercept.ndim == 1 and self.n_scores > 0, "it needs an intercept for every score")
        n_bins = [feature.n_bins for feature in self.features]
        for main in self.mains:
            require(main.feature < len(n_bins), "an effect is of a column that is not there")
            _check_effect(main, (n_bins[main.feature],), self.n_scores)
        for pair in self.pairs:
            require(max(pair.features) < len(n_bins), "an effect is of a column that is not there")
            fit = [len(group) == n_bins[f] for f, group in zip(pair.features, pair.groups, strict=True)]
            require(all(fit), "every bin of a pair of columns needs a group")
            _check_effect(pair, tuple(int(group.max()) + 1 for group in pair.groups), self.n_scores)
        for tree in self.trees:
            require(fitting(tree, n_bins).values.shape[1] == self.n_scores, "a tree needs a value for every score")

    def pair_name(self, pair: PairEffect) -> str:
        """What to call an interaction."""
        i, j = pair.features
        return f"{self.features[i].name} x {self.features[j].name}"

    def _parts(self, frame: Frame) -> Iterator[tuple[str, Floats]]:
        """What each term adds to the scores of every row: its name, and an array of shape ``(rows, n_scores)``."""
        bins = [feature.bins(frame) for feature in self.features]
        for main in self.mains:
            yield self.features[main.feature].name, main.effect[bins[main.feature]]
        for pair in self.pairs:
            i, j = pair.features
            yield self.pair_name(pair), pair.effect[pair.groups[0][bins[i]], pair.groups[1][bins[j]]]
        if self.trees:
            codes = [column.astype(np.uint8) for column in bins]
            total = np.zeros((frame.n_rows, self.n_scores))
            for tree in self.trees:
                leaves = tree.shape.find(codes)
                for score in range(self.n_scores):
                    add_values(leaves, tree.values[:, score], total[:, score])
            yield TREES, total

    def contributions(self, frame: Frame) -> tuple[list[str], Floats]:
        """What each term adds to the scores: names, and an array of shape ``(rows, terms, n_scores)``."""
        names, parts = [], []
        for name, part in self._parts(frame):
            names.append(name)
            parts.append(part)
        return names, np.stack(parts, axis=1) if parts else np.zeros((frame.n_rows, 0, self.n_scores))

    def of(self, frame: Frame) -> Floats:
        """The scores, shape ``(rows, n_scores)``."""
        total = np.repeat(self.intercept[None, :], frame.n_rows, axis=0)
        for _, part in self._parts(frame):
            total += part
        return total

    def variance(self, frame: Frame) -> Floats:
        """Variance of the scores given what was released, effects taken as independent, shape ``(rows, n_scores)``.

        Raises ``ValueError`` if the model does not know it.
        """
        if self.intercept_sd is None or any(tree.sd is None for tree in self.trees):
            raise ValueError("the model holds no standard deviations of all its parts")
        bins = [feature.bins(frame) for feature in self.features]
        variance = np.repeat(np.square(self.intercept_sd)[None, :], frame.n_rows, axis=0)
        for main in self.mains:
            variance += np.square(main.sd[bins[main.feature]])
        for pair in self.pairs:
            i, j = pair.features
            variance += np.square(pair.sd[pair.groups[0][bins[i]], pair.groups[1][bins[j]]])
        codes = [column.astype(np.uint8) for column in bins] if self.trees else []
        for tree in self.trees:
            variance += np.square(floats(tree.sd))[tree.shape.find(codes)]
        return variance

    def importance(self) -> dict[str, float]:
        """Typical size of every term's effect over the released counts, in units of the scores; larger matters more.

        The root of the mean, over rows, of the squared effect summed over scores.
        """
        out = {}
        for main in self.mains:
            share = shares(main.counts)
            out[self.features[main.feature].name] = float(np.sqrt((share[:, None] * main.effect**2).sum()))
        for pair in self.pairs:
            share = shares(pair.counts)
            out[self.pair_name(pair)] = float(np.sqrt((share[:, :, None] * pair.effect**2).sum()))
        if self.trees:  # a tree's leaves are weighed by the released curvature that stands in them
            squares = [np.average((t.values**2).sum(axis=1), weights=t.support + 1e-9) for t in self.trees]
            out[TREES] = float(np.sqrt(np.sum(squares)))
        return dict(sorted(out.items(), key=lambda item: -item[1]))

    def to_dict(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "intercept": self.intercept.tolist(),
            "features": [feature.to_dict() for feature in self.features],
            "mains": [main.to_dict() for main in self.mains],
            "pairs": [pair.to_dict() for pair in self.pairs],
            "trees": [tree.to_dict() for tree in self.trees],
            **({} if self.intercept_sd is None else {"intercept_sd": self.intercept_sd.tolist()}),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> AdditiveScores:
        """The inverse of :meth:`to_dict`."""
        intercept = floats(data["intercept"], "intercepts")
        scores = AdditiveScores(
            intercept,
            features_of(data["features"]),
            tuple(MainEffect.from_dict(item) for item in data["mains"]),
            tuple(PairEffect.from_dict(item) for item in data["pairs"]),
            tuple(ScoreTree.from_dict(item) for item in data["trees"]),
            floats(data["intercept_sd"], "deviations", intercept.shape, 0.0) if "intercept_sd" in data else None,
        )
        scores.check()
        return scores


def shares(counts: Floats) -> Floats:
    """Released numbers of rows as parts of all; nothing where there are none."""
    return np.asarray(counts / max(float(counts.sum()), LEAST_ROWS))


def _numbers_of(data: Mapping[str, Any]) -> tuple[Floats, Floats, Floats]:
    """Effects, deviations and rows in the plain data of an effect."""
    sd, counts = floats(data["sd"], "deviations", least=0.0), floats(data["counts"], "numbers of rows", least=0.0)
    return floats(data["effect"], "effects"), sd, counts


def _check_effect(effect: MainEffect | PairEffect, n_bins: tuple[int, ...], n_scores: int) -> None:
    """Refuses an effect that has not a number for every bin and score."""
    shape = (*n_bins, n_scores)
    require(effect.effect.shape == shape, f"an effect must have the shape {shape}, got {effect.effect.shape}")
    require(effect.sd.shape == shape, f"deviations must have the shape {shape}, got {effect.sd.shape}")
    require(effect.counts.shape == n_bins, f"rows must have the shape {n_bins}, got {effect.counts.shape}")


E = TypeVar("E", MainEffect, PairEffect)


def _of_one_score(effect: E) -> E:
    """An effect of numbers as one of vectors of one; a single deviation or count stands for all."""
    shape = effect.effect.shape
    sd, counts = np.broadcast_to(effect.sd, shape)[..., None], np.broadcast_to(effect.counts, shape)
    return replace(effect, effect=effect.effect[..., None], sd=sd, counts=counts)


@dataclass(frozen=True, eq=False, repr=False)
class AdditiveModel(ClassModel):
    """``log-odds = intercept + sum of effects``. Frozen; everything in it was released."""

    kind: ClassVar[str] = "additive"

    classes: tuple[Any, ...]  # the two classes, the positive one last
    intercept: float  # log-odds at average effects
    features: tuple[Feature, ...]  # the columns
    mains: tuple[MainEffect, ...]  # one effect per column
    pairs: tuple[PairEffect, ...]  # effects of two columns
    # trees over the bins, for what columns and pairs leave over; columns are numbered as `features`
    trees: tuple[Tree, ...] = ()
    intercept_sd: float = 0.0  # standard deviation of the noise in the intercept

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    @cached_property
    def scores(self) -> AdditiveScores:
        """The same as a sum of one score."""
        return AdditiveScores(
            np.array([self.intercept]),
            self.features,
            tuple(_of_one_score(main) for main in self.mains),
            tuple(_of_one_score(pair) for pair in self.pairs),
            tuple(ScoreTree.of(tree) for tree in self.trees),
            np.array([self.intercept_sd]),
        )

    @of_any_table
    def contributions(self, frame: Frame) -> tuple[list[str], Floats]:
        """What each term adds to the log-odds of each row: names, and an array of shape ``(rows, terms)``."""
        names, parts = self.scores.contributions(frame)
        return names, parts[:, :, 0]

    @of_any_table
    def decision_function(self, frame: Frame) -> Floats:
        """Log-odds of the positive class, shape ``(rows,)``."""
        return self.scores.of(frame)[:, 0]

    @of_any_table
    def score_variance(self, frame: Frame) -> Floats:
        """Variance of the log-odds of every row given what was released, effects taken as independent."""
        return self.scores.variance(frame)[:, 0]

    def predict_proba(self, frame: Frame) -> Floats:
        """Probabilities, shape ``(rows, 2)``, in the order of ``classes``."""
        positive = logistic(self.decision_function(frame))
        return np.column_stack([1 - positive, positive])

    def importance(self) -> dict[str, float]:
        """Standard deviation of every term's effect over the released counts: log-odds, larger matters more."""
        return self.scores.importance()

    def body(self) -> dict[str, Any]:
        return {
            "classes": list(self.classes),
            "intercept": self.intercept,
            "features": [feature.to_dict() for feature in self.features],
            "mains": [main.to_dict() for main in self.mains],
            "pairs": [pair.to_dict() for pair in self.pairs],
            "trees": [tree.to_dict() for tree in self.trees],
            "intercept_sd": self.intercept_sd,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> AdditiveModel:
        model = cls(
            classes_of(body, 2),
            number(body["intercept"], "the intercept"),
            features_of(body["features"]),
            tuple(MainEffect.from_dict(item) for item in body["mains"]),
            tuple(PairEffect.from_dict(item) for item in body["pairs"]),
            tuple(Tree.from_dict(item) for item in items(body["trees"], "trees")),
            number(body["intercept_sd"], "the deviation of the intercept", least=0.0),
        )
        effects: list[MainEffect | PairEffect] = [*model.mains, *model.pairs]
        for effect in effects:
            require(effect.sd.shape in ((), effect.effect.shape), "every effect needs its deviation")
            require(effect.counts.shape in ((), effect.effect.shape), "every effect needs its rows")
        model.scores.check()
        return model
