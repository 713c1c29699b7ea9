"""Additive models with a vector of scores per row: of several classes, or of a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np

from tacit.arrays import Floats
from tacit.encoding.frames import Frame
from tacit.models.additive import TREES, Feature, MainEffect, PairEffect, effects_of_rows
from tacit.models.base import Model, Predicts, floats, of_any_table
from tacit.models.tree import ScoreTree


@final
@dataclass(frozen=True, eq=False)
class AdditiveScores:
    """``scores = intercept + sum of effects``, a vector for every row. Everything in it was released.

    Attributes:
        intercept: shape ``(n_scores,)``.
        features: the columns.
        mains: effects of one column; ``effect`` and ``sd`` have shape ``(bins, n_scores)``.
        pairs: effects of two columns; ``effect`` and ``sd`` have shape ``(groups, groups, n_scores)``.
        trees: trees over the bins, for what columns and pairs leave over; columns are numbered as ``features``.
        intercept_sd: standard deviation of the noise in the intercept, shape ``(n_scores,)``; None if it is not known.
    """

    intercept: Floats
    features: tuple[Feature, ...]
    mains: tuple[MainEffect, ...]
    pairs: tuple[PairEffect, ...]
    trees: tuple[ScoreTree, ...] = ()
    intercept_sd: Floats | None = None

    @property
    def n_scores(self) -> int:
        return len(self.intercept)

    def contributions(self, frame: Any) -> tuple[list[str], Floats]:
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

    def variance(self, frame: Frame) -> Floats:
        """Variance of the scores given what was released, effects taken as independent, shape ``(rows, n_scores)``.

        Raises:
            ValueError: if the model does not know it.
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
            **({} if self.intercept_sd is None else {"intercept_sd": self.intercept_sd.tolist()}),
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
            floats(data["intercept_sd"]) if "intercept_sd" in data else None,
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

    @of_any_table
    def contributions(self, frame: Frame) -> tuple[list[str], Floats]:
        """What each term adds: names, and an array of shape ``(rows, terms, n_scores)``."""
        return self.scores.contributions(frame)

    def importance(self) -> dict[str, float]:
        """Typical size of every term's effect; larger matters more."""
        return self.scores.importance()


@final
@dataclass(frozen=True, eq=False, repr=False)
class AdditiveClassesModel(_AdditiveScoresModel):
    """Several classes: probabilities are the softmax of the scores, which are log-odds up to a constant per row.

    Attributes:
        classes: the classes, in the order of the scores.
        scores: one score per class.
    """

    kind: ClassVar[str] = "additive_classes"

    classes: tuple[Any, ...]
    scores: AdditiveScores

    @of_any_table
    def decision_function(self, frame: Frame) -> Floats:
        """The scores, shape ``(rows, classes)``."""
        return self.scores.of(frame)

    @of_any_table
    def predict_proba(self, frame: Frame) -> Floats:
        """Probabilities, shape ``(rows, classes)``; every row sums to 1."""
        scores = self.scores.of(frame)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    @of_any_table
    def log_odds(self, frame: Frame) -> Floats:
        """Log-odds of every class against all others together, shape ``(rows, classes)``."""
        powers, others = _against_others(self.scores.of(frame))
        return np.asarray(np.log(np.maximum(powers, 1e-300)) - np.log(np.maximum(others, 1e-300)))

    @of_any_table
    def log_odds_variance(self, frame: Frame) -> Floats:
        """Variance of :meth:`log_odds` given what was released, shape ``(rows, classes)``; to first order.

        The releases say nothing of the mean of the scores, so that errors of the scores are those of independent ones
        with their mean taken off. Log-odds do not change with the mean: they add the independent ones up, every other
        class with its share in the others.
        """
        variance = _without_mean(self.scores.variance(frame))
        powers, others = _against_others(self.scores.of(frame))
        of_others = np.square(powers) * variance
        rest = np.maximum(of_others.sum(axis=1, keepdims=True) - of_others, 0.0)
        return np.asarray(variance + rest / np.square(np.maximum(others, 1e-150)))

    def body(self) -> dict[str, Any]:
        return {"classes": list(self.classes), "scores": self.scores.to_dict()}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> AdditiveClassesModel:
        return cls(tuple(body["classes"]), AdditiveScores.from_dict(body["scores"]))


def _against_others(scores: Floats) -> tuple[Floats, Floats]:
    """Unnormalised probabilities of every class, and of all others together."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    others = powers.sum(axis=1, keepdims=True) - powers
    likeliest, every = scores.argmax(axis=1), np.arange(len(scores))
    rest = powers.copy()
    rest[every, likeliest] = 0.0
    others[every, likeliest] = rest.sum(axis=1)  # a difference would cancel
    return powers, others


def _without_mean(variance: Floats) -> Floats:
    """Variances of independent numbers that have these variances once their mean is taken off; at least 3 classes."""
    classes = variance.shape[1]
    total = variance.sum(axis=1, keepdims=True) * classes / (classes - 1)
    return np.asarray(np.maximum(variance - total / classes**2, 0.0) / (1 - 2 / classes))


@final
@dataclass(frozen=True, eq=False, repr=False)
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
    predicts: ClassVar[Predicts] = Predicts.NUMBERS

    target: str
    lower: float
    upper: float
    loss: str
    quantile: float
    scores: AdditiveScores
    classes: tuple[Any, ...] = field(default=(), init=False)

    @of_any_table
    def predict(self, frame: Frame) -> Floats:
        """The prediction for every row, shape ``(rows,)``."""
        return np.clip(self.scores.of(frame)[:, 0], self.lower, self.upper)

    @of_any_table
    def score_variance(self, frame: Frame) -> Floats:
        """Variance of the prediction of every row given what was released, in squared units of the target."""
        return self.scores.variance(frame)[:, 0]

    def predict_proba(self, frame: Any) -> Floats:
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
