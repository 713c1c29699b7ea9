"""The halfspace a user gets: one weight per coordinate of a public row encoding. Proper: no vote, no ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.arrays import Floats
from tacit.encoding.dense import RowClipper, RowEncoder
from tacit.encoding.matrix_rows import ROWS, MatrixEncoder
from tacit.models.base import ClassModel
from tacit.models.evidence import FAILURE, CountedErrors, ErrorPromise
from tacit.models.links import logistic
from tacit.models.plain import classes_of, floats, items, number, require, table_encoding_of, truth, whole

BLOCK_CELLS = 1 << 20
"""Cells multiplied at a time."""


def products(rows: Any, weights: Floats) -> Floats:
    """``rows @ weights``, shape ``(rows,)``, where the last bit of a row's product depends on that row alone.

    A matrix product's does not: how it blocks rows depends on their number, and a score that is judged privately must
    not move when another row is added.
    """
    if hasattr(rows, "tocsr"):
        return np.asarray(rows @ weights, np.float64).reshape(-1)
    step = max(1, BLOCK_CELLS // max(1, len(weights)))
    blocks = [(rows[start : start + step] * weights).sum(axis=1) for start in range(0, len(rows), step)]
    return np.concatenate(blocks) if blocks else np.empty(0)


@dataclass(frozen=True, eq=False, repr=False)
class HalfspaceModel(ClassModel):
    """Log-odds ``slope * weights . x + offset`` over encoded rows ``x`` of norm at most 1.

    Frozen; everything in it was released or public.
    """

    kind: ClassVar[str] = "halfspace"

    classes: tuple[Any, ...]  # the two classes, the positive one last
    encoder: RowEncoder | MatrixEncoder  # the public row encoding
    weights: Floats  # one per coordinate, the constant last if there is one; shape `(encoder.width,)`
    # standard deviations of the noise in the weights, shape `(encoder.width,)`, or one of all of them
    noise_sd: float | Floats
    slope: float = 1.0  # log-odds per unit of `weights . x`.
    offset: float = 0.0  # log-odds where `weights . x` is 0.
    # its counted errors and the length of its code, where a bound on new rows follows from them
    evidence: CountedErrors | None = None
    promise: ErrorPromise | None = None  # of `from_theorem`, and whether the released number of rows withdraws it

    def __post_init__(self) -> None:
        if self.weights.shape != (self.encoder.width,):
            raise ValueError(f"{self.encoder.width} weights are needed, got shape {self.weights.shape}")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Columns that prediction needs; one matrix of rows where the encoder takes matrices."""
        return (ROWS,) if isinstance(self.encoder, MatrixEncoder) else self.encoder.encoding.names

    def decision_function(self, frame: Any) -> Floats:
        """Log-odds of the positive class, shape ``(rows,)``; its sign is the side of the halfspace."""
        rows = self.encoder.encode(frame if isinstance(self.encoder, MatrixEncoder) else self.frame_of(frame))
        scores = products(rows, self.weights) / self.encoder.clipper.radius
        return self.slope * scores + self.offset

    def predict_proba(self, frame: Any) -> Floats:
        """Probabilities in the order of ``classes``, shape ``(rows, 2)``."""
        positive = logistic(self.decision_function(frame))
        return np.column_stack([1 - positive, positive])

    def error_bound(self, failure: float = FAILURE) -> float | None:
        return None if self.evidence is None else self.evidence.bound(failure)

    def coefficients(self) -> list[tuple[str, float]]:
        """Names of coordinates and log-odds per unit of each, as it was before rows were scaled; largest first."""
        return [(name, weight) for name, weight, _ in self.noisy_coefficients()]

    def noisy_coefficients(self) -> list[tuple[str, float, float]]:
        """The same with the standard deviation of the noise in each."""
        natural = self.slope * self.weights / self.encoder.clipper.norm
        noise = np.abs(self.slope) * np.broadcast_to(self.noise_sd, natural.shape) / self.encoder.clipper.norm
        order = np.argsort(-np.abs(natural), kind="stable")
        return [(self.encoder.names[j], float(natural[j]), float(noise[j])) for j in order]

    def body(self) -> dict[str, Any]:
        """The model as plain data."""
        return {
            "classes": list(self.classes),
            "encoder": self.encoder.to_dict(),
            "weights": self.weights.tolist(),
            "noise_sd": np.asarray(self.noise_sd).tolist(),
            "slope": self.slope,
            "offset": self.offset,
            **({} if self.evidence is None else {"evidence": self.evidence.to_dict()}),
            **({} if self.promise is None else {"promise": self.promise.to_dict()}),
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> HalfspaceModel:
        """The inverse of :meth:`body`."""
        encoder = _row_encoder_of(body["encoder"])
        return cls(
            classes_of(body, 2),
            encoder,
            floats(body["weights"], "weights", (encoder.width,)),
            _noise_of(body["noise_sd"], encoder.width),
            number(body["slope"], "the slope"),
            number(body["offset"], "the offset"),
            None if body.get("evidence") is None else CountedErrors.from_dict(body["evidence"]),
            None if body.get("promise") is None else ErrorPromise.from_dict(body["promise"]),
        )


def _noise_of(data: Any, width: int) -> float | Floats:
    """One deviation, or one per coordinate."""
    what = "the deviation of the noise"
    return floats(data, what, (width,), least=0.0) if isinstance(data, list) else number(data, what, least=0.0)


def _row_encoder_of(data: Mapping[str, Any]) -> RowEncoder | MatrixEncoder:
    """The row encoding in plain data."""
    norm, radius = data["clipper"]["norm"], data["clipper"]["radius"]
    clipper = RowClipper(number(norm, "a norm"), whole(radius, "the radius of rows", 1))
    intercept = data["intercept"]
    if not isinstance(intercept, bool):
        number(intercept, "the constant", 0.0)
    if data["kind"] == "matrix_encoder":
        return MatrixEncoder(whole(data["n_features"], "the number of columns", 1), clipper, float(intercept))
    require(data["kind"] == "row_encoder", "it has no encoding of rows")
    encoding = table_encoding_of(data["encoding"])
    ordinal = tuple(truth(value, "ordinal") for value in items(data["ordinal"], "ordinal"))
    require(len(ordinal) == len(encoding.names), "every column is ordinal, or is not")
    return RowEncoder(encoding, ordinal, clipper, intercept)
