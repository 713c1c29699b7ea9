"""A majority vote of released models: what boosting by resampling returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.models.base import Model

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class VoteModel(Model):
    """``MAJ`` of several models. Frozen; every member was released.

    Attributes:
        classes: the two classes, the positive one last.
        members: the models, in the order they were learned.
    """

    kind: ClassVar[str] = "vote"

    classes: tuple[Any, ...]
    members: tuple[Model, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for member in self.members for name in member.feature_names))

    def votes(self, frame: Any) -> npt.NDArray[np.bool_]:
        """Whether each member says the positive class, shape ``(rows, members)``."""
        said = [member.predict_proba(frame)[:, 1] >= 0.5 for member in self.members]
        return np.column_stack(said) if said else np.zeros((self.frame_of(frame).n_rows, 0), bool)

    def predict_proba(self, frame: Any) -> Floats:
        """Shares of votes, shape ``(rows, 2)``; one half where nobody votes."""
        votes = self.votes(frame)
        positive = votes.mean(axis=1) if votes.shape[1] else np.full(len(votes), 0.5)
        return np.column_stack([1 - positive, positive])

    def body(self) -> dict[str, Any]:
        """The model as plain data."""
        return {
            "classes": list(self.classes),
            "members": [{"kind": member.kind, "model": member.body()} for member in self.members],
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> VoteModel:
        """The inverse of :meth:`body`."""
        from tacit.models.files import model_from_dict  # files knows every kind, this one too

        return cls(tuple(body["classes"]), tuple(model_from_dict(item) for item in body["members"]))
