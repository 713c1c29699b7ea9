"""A weighted mean of released models: what several fits to different rows say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.arrays import Floats
from tacit.models.additive_scores import AdditiveRegressionModel
from tacit.models.base import LEAST_CHANCE, ClassModel, Model, Nest, NumberModel, class_models, nested
from tacit.models.links import log_softmax, softmax
from tacit.models.plain import ModelError, floats


def _weights_of(body: Mapping[str, Any]) -> tuple[float, ...]:
    """The weights of members in plain data."""
    return tuple(floats(body["weights"], "weights").tolist())


@dataclass(frozen=True, eq=False, repr=False)
class _Mean(Nest):
    """What means of classes and of numbers share: released members, each with a positive weight."""

    members: tuple[Model, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.members or len(self.members) != len(self.weights) or min(self.weights) <= 0:
            raise ValueError("a mean needs at least one member, and a positive weight for each")

    @property
    def shares(self) -> Floats:
        """The weights as parts of a whole."""
        return np.asarray(self.weights) / sum(self.weights)

    def score_variance(self, frame: Any) -> Floats:
        """Variance that noise leaves in the score: members have noise of their own.

        Raises ``ValueError`` if a member does not know its own.
        """
        variances = []
        for member, share in zip(self.members, self.shares, strict=True):
            if not hasattr(member, "score_variance"):
                raise ValueError(f"a model of the kind {member.kind!r} does not say how sure it is")
            variances.append(share**2 * member.score_variance(frame))
        return np.asarray(np.sum(variances, axis=0))

    def _averaged(self, predictions: Sequence[Floats]) -> Floats:
        """The mean of what the members say, member by member.

        A product of matrices rounds a row by how many others there are, and evaluations rest on a row's score being
        that row's alone.
        """
        total = np.zeros_like(predictions[0])
        for share, values in zip(self.shares, predictions, strict=True):
            total += share * values
        return total

    def body(self) -> dict[str, Any]:
        """The model as plain data, its members inside it."""
        return {"members": nested(self.members), "weights": list(self.weights)}


@dataclass(frozen=True, eq=False, repr=False)
class MeanModel(_Mean, ClassModel):
    """Log-probabilities averaged, and made to add up to 1 again. Of two classes: log-odds averaged.

    Frozen; every member was released.
    """

    kind: ClassVar[str] = "mean"

    members: tuple[ClassModel, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(member.classes != self.members[0].classes for member in self.members):
            raise ValueError("the members of a mean must tell the same classes apart")

    @property
    def classes(self) -> tuple[Any, ...]:  # type: ignore[override]
        """The classes of every member."""
        return self.members[0].classes

    def log_probabilities(self, frame: Any) -> Floats:
        """Averaged, not yet adding up to 1; shape ``(rows, classes)``."""
        return self._averaged([np.log(np.maximum(m.predict_proba(frame), LEAST_CHANCE)) for m in self.members])

    def decision_function(self, frame: Any) -> Floats:
        """Log-odds of the positive class, shape ``(rows,)``; of several classes log-probabilities, (rows, classes)."""
        logs = self.log_probabilities(frame)
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else log_softmax(logs)

    def predict_proba(self, frame: Any) -> Floats:
        """Probabilities, shape ``(rows, classes)``."""
        return softmax(self.log_probabilities(frame))

    @classmethod
    def of_parts(cls, body: Mapping[str, Any], parts: Sequence[Model]) -> MeanModel:
        return cls(class_models(parts), _weights_of(body))


@dataclass(frozen=True, eq=False, repr=False)
class MeanNumberModel(_Mean, NumberModel):
    """Predictions of a number averaged. Frozen; every member was released."""

    kind: ClassVar[str] = "mean_number"

    members: tuple[AdditiveRegressionModel, ...]  # of one number between the same bounds

    def __post_init__(self) -> None:
        super().__post_init__()
        facts = [(m.target, m.lower, m.upper, m.loss, m.quantile, m.power) for m in self.members]
        if any(each != facts[0] for each in facts):
            raise ValueError("the members of a mean must speak of the same number")

    @property
    def target(self) -> str:
        """Name of the target's column."""
        return self.members[0].target

    @property
    def lower(self) -> float:
        """The target's lower bound."""
        return self.members[0].lower

    @property
    def upper(self) -> float:
        """The target's upper bound."""
        return self.members[0].upper

    @property
    def loss(self) -> str:
        """What members were learned by."""
        return self.members[0].loss

    @property
    def quantile(self) -> float:
        """Which quantile, if they are about one."""
        return self.members[0].quantile

    def predict(self, frame: Any) -> Floats:
        """The prediction for every row, shape ``(rows,)``."""
        return self._averaged([member.predict(frame) for member in self.members])

    @classmethod
    def of_parts(cls, body: Mapping[str, Any], parts: Sequence[Model]) -> MeanNumberModel:
        members = tuple(part for part in parts if isinstance(part, AdditiveRegressionModel))
        if len(members) != len(parts):
            raise ModelError("the model is damaged: a mean of numbers holds a model of classes")
        return cls(members, _weights_of(body))
