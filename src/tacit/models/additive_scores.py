"""Additive models of several classes, of ordered ones, and of a number: what is made of the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from tacit.arrays import Floats
from tacit.encoding.frames import Frame
from tacit.models.additive import AdditiveModel, AdditiveScores
from tacit.models.base import ClassModel, Model, NumberModel, of_any_table
from tacit.models.feature import Feature
from tacit.models.links import LEAST, OrderedChances
from tacit.models.plain import ModelError, classes_of, floats, number, require, text
from tacit.models.softmax import SoftmaxModel

POWERS = ("poisson", "gamma", "tweedie")
"""Losses with a log link."""

LARGEST = 300.0
"""The exponential of no score overflows."""


def additive_scores(model: Model) -> AdditiveScores | None:
    """The sum that an additive model is made of, whatever it predicts; None of other models."""
    return model.scores if isinstance(model, AdditiveModel | _AdditiveScoresModel) else None


def power_of(loss: str, power: float) -> float | None:
    """The power of the variance of a loss with a log link (of ``"tweedie"`` the one given); None for other losses."""
    return {"poisson": 1.0, "gamma": 2.0, "tweedie": float(power)}.get(loss)


def means(scores: Floats) -> Floats:
    """The means that scores stand for."""
    return np.exp(np.clip(scores, -LARGEST, LARGEST))


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
class AdditiveClassesModel(_AdditiveScoresModel, SoftmaxModel):
    """Several classes: probabilities are the softmax of the scores, which are log-odds up to a constant per row."""

    kind: ClassVar[str] = "additive_classes"

    classes: tuple[Any, ...]  # the classes, in the order of the scores
    scores: AdditiveScores  # one score per class

    @of_any_table
    def decision_function(self, frame: Frame) -> Floats:
        """The scores, shape ``(rows, classes)``."""
        return self.scores.of(frame)

    @of_any_table
    def scores_variance(self, frame: Frame) -> Floats:
        """Variance of the scores given what was released, effects taken as independent, shape ``(rows, classes)``."""
        return self.scores.variance(frame)

    def body(self) -> dict[str, Any]:
        return {"classes": list(self.classes), "scores": self.scores.to_dict()}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> AdditiveClassesModel:
        classes, scores = classes_of(body), AdditiveScores.from_dict(body["scores"])
        require(scores.n_scores == len(classes), "it needs a score for every class")
        return cls(classes, scores)


@final
@dataclass(frozen=True, eq=False, repr=False)
class AdditiveOrderedModel(_AdditiveScoresModel, ClassModel):
    """Ordered classes: one score, the higher the later the class, and cut points on it (proportional odds).

    ``P(y <= k) = 1 / (1 + exp(F - c_k))``: an effect multiplies the odds of a higher class, at every cut alike.
    """

    kind: ClassVar[str] = "additive_ordered"

    classes: tuple[Any, ...]  # the classes, in their order
    cuts: Floats  # cut points between them, in increasing order, shape `(classes - 1,)`
    scores: AdditiveScores  # one score

    def __post_init__(self) -> None:
        if self.cuts.shape != (len(self.classes) - 1,) or (np.diff(self.cuts) < 0).any() or self.scores.n_scores != 1:
            raise ModelError("the model is damaged: ordered classes need one score and rising cut points between them")

    @property
    def says(self) -> str:
        return " < ".join(str(name) for name in self.classes)

    def _chances(self, frame: Frame) -> OrderedChances:
        return OrderedChances.of(self.cuts, self.scores.of(frame)[:, 0])

    @of_any_table
    def order_score(self, frame: Frame) -> Floats:
        """The score, shape ``(rows,)``: the log-odds of a higher class, up to a constant at each cut."""
        return self.scores.of(frame)[:, 0]

    @of_any_table
    def decision_function(self, frame: Frame) -> Floats:
        """Logarithms of the probabilities, shape ``(rows, classes)``: as scores whose softmax they are."""
        return np.log(np.maximum(self._chances(frame).chances.T, LEAST))

    @of_any_table
    def predict_proba(self, frame: Frame) -> Floats:
        """Probabilities, shape ``(rows, classes)``; every row sums to 1."""
        return np.ascontiguousarray(self._chances(frame).chances.T)

    @of_any_table
    def log_odds(self, frame: Frame) -> Floats:
        """Log-odds of every class against all others together, shape ``(rows, classes)``."""
        return np.ascontiguousarray(self._chances(frame).log_odds.T)

    @of_any_table
    def log_odds_variance(self, frame: Frame) -> Floats:
        """Variance of :meth:`log_odds` given what was released, shape ``(rows, classes)``; to first order.

        Cut points count as off by as much as all of them are together.
        """
        slopes = self._chances(frame).log_odds_slopes.T
        return np.asarray(np.square(slopes) * self.scores.variance(frame))

    def body(self) -> dict[str, Any]:
        return {"classes": list(self.classes), "cuts": self.cuts.tolist(), "scores": self.scores.to_dict()}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> AdditiveOrderedModel:
        cuts = floats(body["cuts"], "cut points")
        return cls(classes_of(body), cuts, AdditiveScores.from_dict(body["scores"]))


@final
@dataclass(frozen=True, eq=False, repr=False)
class AdditiveRegressionModel(_AdditiveScoresModel, NumberModel):
    """A number: the sum of an intercept and of effects, in units of the target, kept within its declared bounds.

    Under a log link the sum is the logarithm of the mean.
    """

    kind: ClassVar[str] = "additive_regression"

    target: str  # name of the target's column
    lower: float  # `lower`, `upper`: its declared bounds
    upper: float
    # `"squared"` (predictions are means), `"quantile"`, or one with a log link: `"poisson"`, `"gamma"`, `"tweedie"`
    # (predictions are means)
    loss: str
    quantile: float  # which quantile, for the second
    scores: AdditiveScores  # one score, in units of the target, or of its logarithm
    power: float | None = None  # of the variance, where there is a log link; else None

    @of_any_table
    def predict(self, frame: Frame) -> Floats:
        """The prediction for every row, shape ``(rows,)``."""
        scores = self.scores.of(frame)[:, 0]
        return np.clip(scores if self.power is None else means(scores), self.lower, self.upper)

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
        target, loss, power = text(body["target"], "the name of the target"), body["loss"], body.get("power")
        require(loss in ("squared", "quantile", *POWERS), "its loss is none of the library's")
        require((power is None) == (loss not in POWERS), "a power belongs to a loss with a log link")
        lower, upper, quantile = body["lower"], body["upper"], body["quantile"]
        require(number(lower, "the lower bound") < number(upper, "the upper bound"), "its bounds must rise")
        number(quantile, "the quantile", 0.0, 1.0)
        power = None if power is None else number(power, "the power of the variance", 1.0, 2.0)
        scores = AdditiveScores.from_dict(body["scores"])
        require(scores.n_scores == 1, "a number has one score")
        return cls(target, lower, upper, loss, quantile, scores, power)
