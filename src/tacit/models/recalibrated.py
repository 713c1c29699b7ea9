"""A model whose probabilities were put right: a rising curve over the log-odds of another model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.arrays import Floats
from tacit.models.base import LEAST_CHANCE, ClassModel, Model, Nest, class_models, nested
from tacit.models.links import logistic
from tacit.models.plain import floats


@dataclass(frozen=True, eq=False, repr=False)
class RecalibratedModel(Nest, ClassModel):
    """Log-odds ``curve(log-odds of base)``: linear between knots, of slope 1 beyond them.

    Frozen; everything in it was released or public.
    """

    kind: ClassVar[str] = "recalibrated"

    base: ClassModel  # the model underneath; two classes
    knots: Floats  # log-odds of the base, increasing
    values: Floats  # log-odds there, increasing: the order of the rows, and with it the AUC, stays

    def __post_init__(self) -> None:
        if len(self.base.classes) != 2:
            raise ValueError(f"a curve over log-odds is for two classes, and there are {len(self.base.classes)}")
        if self.knots.ndim != 1 or self.knots.shape != self.values.shape or len(self.knots) == 0:
            raise ValueError("a curve needs as many values as knots, and at least one")
        if not (np.all(np.isfinite(self.knots)) and np.all(np.isfinite(self.values))):
            raise ValueError("a curve must be finite")
        if np.any(np.diff(self.knots) <= 0) or np.any(np.diff(self.values) <= 0):
            raise ValueError("knots and values must increase")

    @property
    def classes(self) -> tuple[Any, ...]:  # type: ignore[override]
        """The classes of the model underneath."""
        return self.base.classes

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.base.feature_names

    def decision_function(self, frame: Any) -> Floats:
        """Log-odds of the positive class, shape ``(rows,)``."""
        chance = np.clip(self.base.predict_proba(frame)[:, 1], LEAST_CHANCE, 1.0 - LEAST_CHANCE)
        odds = np.log(chance) - np.log1p(-chance)
        inside = np.interp(odds, self.knots, self.values)
        beyond = np.minimum(odds - self.knots[0], 0.0) + np.maximum(odds - self.knots[-1], 0.0)
        curve: Floats = inside + beyond
        return curve

    def predict_proba(self, frame: Any) -> Floats:
        """Probabilities, shape ``(rows, 2)``, in the order of ``classes``."""
        positive = logistic(self.decision_function(frame))
        return np.column_stack([1.0 - positive, positive])

    def body(self) -> dict[str, Any]:
        """The model as plain data, the one underneath inside it."""
        return {"base": nested([self.base])[0], "knots": self.knots.tolist(), "values": self.values.tolist()}

    @classmethod
    def inside(cls, body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        return [body["base"]]

    @classmethod
    def of_parts(cls, body: Mapping[str, Any], parts: Sequence[Model]) -> RecalibratedModel:
        return cls(class_models(parts)[0], floats(body["knots"], "knots"), floats(body["values"], "values"))
