"""Additive models with a vector of scores per row: of several classes, or of a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt

from tacit.encoding.frames import Frame
from tacit.models.additive import TREES, Feature, MainEffect, PairEffect, effects_of_rows
from tacit.models.base import Model, floats
from tacit.models.tree import TreeShape

Floats = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class ScoreTree:
    """A tree whose leaves add a vector to the scores.

    Attributes:
        shape: the splits.
        values: what leaves add, shape ``(leaves, n_scores)``.
        support: per leaf, how much released (noisy) weight it stands on; never negative.
    """

    shape: TreeShape
    values: Floats
    support: Floats

    def to_dict(self) -> dict[str, Any]:
        """As JSON data."""
        return {**self.shape.to_dict(), "values": self.values.tolist(), "support": self.support.tolist()}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> ScoreTree:
        """The inverse of :meth:`to_dict`."""
        return ScoreTree(TreeShape.from_dict(data), floats(data["values"]), floats(data["support"]))


@final
@dataclass(frozen=True, eq=False)
class AdditiveScores:
    """``scores = intercept + sum of effects``, a vector for every row. Everything in it was released.

    Attributes:
        intercept: shape ``(n_scores,)``.
        features: the columns.
        mains: effects of one column; ``effect`` and ``sd`` have shape ``(bins, n_scores)``.
        pairs: effects of two columns; ``effect`` and ``sd`` have shape ``(groups, groups, n_scores)``.
        trees: shallow trees over the bins, for what columns and pairs leave over; columns are numbered as ``features``.
    """

    intercept: Floats
    features: tuple[Feature, ...]
    mains: tuple[MainEffect, ...]
    pairs: tuple[PairEffect, ...]
    trees: tuple[ScoreTree, ...] = ()

    @property
    def n_scores(self) -> int:
        return len(self.intercept)

    def contributions(self, frame: Frame) -> tuple[list[str], Floats]:
        """What each term adds to the scores: names, and an array of shape ``(rows, terms, n_scores)``."""
        bins = [feature.bins(frame) for feature in self.features]
        names, parts = effects_of_rows(self.features, self.mains, self.pairs, bins)
        if self.trees:
            names.append(TREES)
            codes = [column.astype(np.uint8) for column in bins]
            total = np.zeros((frame.n_rows, self.n_scores))
            for tree in self.trees:
                total += tree.values[tree.shape.find(codes)]
            parts.append(total)
        return names, np.stack(parts, axis=1) if parts else np.zeros((frame.n_rows, 0, self.n_scores))

    def of(self, frame: Frame) -> Floats:
        """The scores, shape ``(rows, n_scores)``."""
        return np.asarray(self.intercept + self.contributions(frame)[1].sum(axis=1))

    def pair_name(self, pair: PairEffect) -> str:
        """What to call an interaction."""
        i, j = pair.features
        return f"{self.features[i].name} x {self.features[j].name}"

    def importance(self) -> dict[str, float]:
        """Typical size of every term's effect over the released counts, in units of the scores; larger matters more.

        The root of the mean, over rows, of the squared effect summed over scores.
        """
        out = {}
        for main in self.mains:
            share = main.counts / main.counts.sum()
            out[self.features[main.feature].name] = float(np.sqrt((share[:, None] * main.effect**2).sum()))
        for pair in self.pairs:
            share = pair.counts / pair.counts.sum()
            out[self.pair_name(pair)] = float(np.sqrt((share[:, :, None] * pair.effect**2).sum()))
        if self.trees:
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
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> AdditiveScores:
        """The inverse of :meth:`to_dict`."""
        return AdditiveScores(
            floats(data["intercept"]),
            tuple(Feature.from_dict(item) for item in data["features"]),
            tuple(MainEffect.from_dict(item) for item in data["mains"]),
            tuple(PairEffect.from_dict(item) for item in data["pairs"]),
            tuple(ScoreTree.from_dict(item) for item in data["trees"]),
        )


class _AdditiveScoresModel(Model):
    """What the two models share: the sum, and where its columns come from."""

    scores: AdditiveScores

    @property
    def features(self) -> tuple[Feature, ...]:
        """The columns."""
        return self.scores.features

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    def contributions(self, frame: Frame) -> tuple[list[str], Floats]:
        """What each term adds: names, and an array of shape ``(rows, terms, n_scores)``."""
        return self.scores.contributions(frame)

    def importance(self) -> dict[str, float]:
        """Typical size of every term's effect; larger matters more."""
        return self.scores.importance()


@final
@dataclass(frozen=True, eq=False)
class AdditiveClassesModel(_AdditiveScoresModel):
    """Several classes: probabilities are the softmax of the scores, which are log-odds up to a constant per row.

    Attributes:
        classes: the classes, in the order of the scores.
        scores: one score per class.
    """

    kind: ClassVar[str] = "additive_classes"

    classes: tuple[Any, ...]
    scores: AdditiveScores

    def decision_function(self, frame: Frame) -> Floats:
        """The scores, shape ``(rows, classes)``."""
        return self.scores.of(frame)

    def predict_proba(self, frame: Frame) -> Floats:
        """Probabilities, shape ``(rows, classes)``; every row sums to 1."""
        scores = self.scores.of(frame)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def body(self) -> dict[str, Any]:
        return {"classes": list(self.classes), "scores": self.scores.to_dict()}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> AdditiveClassesModel:
        return cls(tuple(body["classes"]), AdditiveScores.from_dict(body["scores"]))


@final
@dataclass(frozen=True, eq=False)
class AdditiveRegressionModel(_AdditiveScoresModel):
    """A number: the sum of an intercept and of effects, in units of the target, kept within its declared bounds.

    Attributes:
        target: name of the target's column.
        lower, upper: its declared bounds.
        loss: ``"squared"`` (predictions are means) or ``"quantile"``.
        quantile: which quantile, for the latter.
        scores: one score, in units of the target.
    """

    kind: ClassVar[str] = "additive_regression"
    predicts: ClassVar[str] = "numbers"

    target: str
    lower: float
    upper: float
    loss: str
    quantile: float
    scores: AdditiveScores
    classes: tuple[Any, ...] = field(default=(), init=False)

    def predict(self, frame: Frame) -> Floats:
        """The prediction for every row, shape ``(rows,)``."""
        return np.clip(self.scores.of(frame)[:, 0], self.lower, self.upper)

    def predict_proba(self, frame: Frame) -> Floats:
        """There are none: raises ``TypeError``."""
        del frame
        raise TypeError(f"this is a model of the number “{self.target}”: it has no classes; use predict")

    def body(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "lower": self.lower,
            "upper": self.upper,
            "loss": self.loss,
            "quantile": self.quantile,
            "scores": self.scores.to_dict(),
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> AdditiveRegressionModel:
        facts = {name: body[name] for name in ("target", "lower", "upper", "loss", "quantile")}
        return cls(**facts, scores=AdditiveScores.from_dict(body["scores"]))
