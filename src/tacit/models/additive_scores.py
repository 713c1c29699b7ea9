"""Additive models of several classes, and of a number: what is made of the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from tacit.arrays import Floats
from tacit.encoding.frames import Frame
from tacit.models.additive import AdditiveScores, Feature
from tacit.models.base import ClassModel, Model, NumberModel, of_any_table
from tacit.models.log_linked import means


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
class AdditiveClassesModel(_AdditiveScoresModel, ClassModel):
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
class AdditiveRegressionModel(_AdditiveScoresModel, NumberModel):
    """A number: the sum of an intercept and of effects, in units of the target, kept within its declared bounds.

    Under a log link the sum is the logarithm of the mean.

    Attributes:
        target: name of the target's column.
        lower, upper: its declared bounds.
        loss: ``"squared"`` (predictions are means), ``"quantile"``, or one with a log link: ``"poisson"``, ``"gamma"``,
            ``"tweedie"`` (predictions are means).
        quantile: which quantile, for the second.
        scores: one score, in units of the target, or of its logarithm.
        power: of the variance, where there is a log link; else None.
    """

    kind: ClassVar[str] = "additive_regression"

    target: str
    lower: float
    upper: float
    loss: str
    quantile: float
    scores: AdditiveScores
    power: float | None = None

    @of_any_table
    def predict(self, frame: Frame) -> Floats:
        """The prediction for every row, shape ``(rows,)``."""
        said = self.scores.of(frame)[:, 0]
        return np.clip(said if self.power is None else means(said), self.lower, self.upper)

    @of_any_table
    def score_variance(self, frame: Frame) -> Floats:
        """Variance of the prediction of every row given what was released, in squared units of the target.

        Under a log link to first order.
        """
        variance = self.scores.variance(frame)[:, 0]
        if self.power is None:
            return variance
        return np.asarray(variance * np.square(self.predict(frame)))

    def body(self) -> dict[str, Any]:
        linked = {} if self.power is None else {"power": self.power}
        return linked | {
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
        return cls(**facts, scores=AdditiveScores.from_dict(body["scores"]), power=body.get("power"))
