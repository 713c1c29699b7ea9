"""Rules a user gets: one concept over the public cells of a few columns, and compositions of several models."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.arrays import Bools, Floats, Ints
from tacit.encoding.frames import Frame, numbered
from tacit.encoding.table import Encoder, TableEncoding
from tacit.models.base import ClassModel, Model, Nest, models_of_two_classes, nested, of_any_table
from tacit.models.plain import ModelError, classes_of, encoder_of, ints, items, names, number, require, text


@dataclass(frozen=True, eq=False, repr=False)
class RuleModel(ClassModel):
    """``positive if the row's cell is in the concept``. Frozen; everything in it was released or public."""

    kind: ClassVar[str] = "rule"

    classes: tuple[Any, ...]  # the two classes, the positive one last
    names: tuple[str, ...]  # columns the concept looks at
    encoders: tuple[Encoder, ...]  # their public encodings
    positive: Bools  # which cells the concept holds, row-major; shape `(product of the numbers of codes,)`
    text: str  # the concept in words
    # released share of the positive class outside and inside the concept, each on its side of one half
    rates: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        if self.positive.shape != (int(np.prod([e.n_codes for e in self.encoders])),):
            raise ModelError("the model is damaged: its table does not fit its columns")

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.names

    @property
    def matrix_names(self) -> tuple[str, ...]:
        """The columns; of a matrix all up to the last that the concept looks at, which are not in its order."""
        places = [int(name[1:]) for name in self.names if re.fullmatch(r"x(0|[1-9]\d*)", name)]
        return numbered(max(places) + 1) if places and len(places) == len(self.names) else self.names

    @of_any_table
    def holds(self, frame: Frame) -> Bools:
        """Whether the concept holds each row, shape ``(rows,)``."""
        codes = TableEncoding(self.names, self.encoders).encode(frame)
        cells = np.ravel_multi_index(
            tuple(column.astype(np.int64) for column in codes), tuple(e.n_codes for e in self.encoders)
        )
        return self.positive[cells]

    def predict_proba(self, frame: Any) -> Floats:
        """Probabilities, shape ``(rows, 2)``, in the order of ``classes``."""
        positive = np.asarray(self.rates)[self.holds(frame).astype(np.int64)]
        return np.column_stack([1 - positive, positive])

    def to_text(self) -> str:
        """The rule in one line."""
        return f"{self.classes[1]} if {self.text}, else {self.classes[0]}"

    def body(self) -> dict[str, Any]:
        return {
            "classes": list(self.classes),
            "names": list(self.names),
            "encoders": [encoder.to_dict() for encoder in self.encoders],
            "positive": np.packbits(self.positive).tobytes().hex(),
            "text": self.text,
            "rates": list(self.rates),
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> RuleModel:
        encoders = tuple(encoder_of(item) for item in items(body["encoders"], "encoders"))
        columns = names(items(body["names"], "names"))
        require(len(columns) == len(encoders) > 0, "every column needs its encoding")
        size = math.prod(encoder.n_codes for encoder in encoders)
        raw = np.frombuffer(bytes.fromhex(text(body["positive"], "the table")), np.uint8)
        require(len(raw) == -(-size // 8), "its table does not fit its columns")
        low, high = (number(rate, "a rate", 0.0, 1.0) for rate in items(body["rates"], "rates"))
        positive = np.unpackbits(raw)[:size].astype(bool)
        return cls(classes_of(body, 2), columns, encoders, positive, text(body["text"], "its text"), (low, high))


@dataclass(frozen=True, eq=False, repr=False)
class ComposedModel(Nest, ClassModel):
    """A boolean function of the sides that several models put a row on."""

    kind: ClassVar[str] = "composed"

    classes: tuple[Any, ...]  # the two classes, the positive one last
    function: tuple[int, ...]  # truth table, index `sum of side_i * 2^i`
    members: tuple[ClassModel, ...]  # the models
    text: str  # the function in words, with `x1, x2, ..` for the members

    def __post_init__(self) -> None:
        if len(self.function) != 1 << len(self.members):
            raise ModelError("the model is damaged: its truth table does not fit its members")

    def sides(self, frame: Any) -> Ints:
        """The side of each member, shape ``(rows, members)``."""
        columns = [member.predict_proba(frame)[:, 1] >= 0.5 for member in self.members]
        return np.column_stack(columns).astype(np.int64)

    def predict_proba(self, frame: Any) -> Floats:
        """0 or 1, shape ``(rows, 2)``, in the order of ``classes``."""
        index = self.sides(frame) @ (1 << np.arange(len(self.members)))
        positive = np.asarray(self.function, np.float64)[index]
        return np.column_stack([1 - positive, positive])

    def to_text(self) -> str:
        """The function, then every member that can be written in a line."""
        lines = [f"{self.classes[1]} if {self.text}, else {self.classes[0]}"]
        for i, member in enumerate(self.members):
            lines.append(f"  x{i + 1}: {member.text if isinstance(member, RuleModel) else member.kind}")
        return "\n".join(lines)

    def body(self) -> dict[str, Any]:
        return {
            "classes": list(self.classes),
            "function": list(self.function),
            "members": nested(self.members),
            "text": self.text,
        }

    @classmethod
    def of_parts(cls, body: Mapping[str, Any], parts: Sequence[Model]) -> ComposedModel:
        function = tuple(ints(body["function"], "its truth table", most=1).tolist())
        return cls(classes_of(body, 2), function, models_of_two_classes(parts), text(body["text"], "its text"))


@dataclass(frozen=True, eq=False, repr=False)
class VoteModel(Nest, ClassModel):
    """``MAJ`` of several models. Frozen; every member was released."""

    kind: ClassVar[str] = "vote"

    classes: tuple[Any, ...]  # the two classes, the positive one last
    members: tuple[ClassModel, ...]  # the models, in the order they were learned

    def votes(self, frame: Any) -> Bools:
        """Whether each member says the positive class, shape ``(rows, members)``."""
        votes = [member.predict_proba(frame)[:, 1] >= 0.5 for member in self.members]
        return np.column_stack(votes) if votes else np.zeros((self.frame_of(frame).n_rows, 0), bool)

    def predict_proba(self, frame: Any) -> Floats:
        """Shares of votes, shape ``(rows, 2)``; one half where nobody votes."""
        votes = self.votes(frame)
        positive = votes.mean(axis=1) if votes.shape[1] else np.full(len(votes), 0.5)
        return np.column_stack([1 - positive, positive])

    def body(self) -> dict[str, Any]:
        """The model as plain data."""
        return {"classes": list(self.classes), "members": nested(self.members)}

    @classmethod
    def of_parts(cls, body: Mapping[str, Any], parts: Sequence[Model]) -> VoteModel:
        return cls(classes_of(body, 2), models_of_two_classes(parts) if parts else ())
