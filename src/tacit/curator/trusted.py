"""The verb ``run_trusted``: a foreign learner that must see rows. Its claim is taken on trust, and marked so.

The rows it sees are encoded by a public rule and of norm at most 1; what it returns is kept behind a model that only
predicts. The charge it declares is entered before it runs. Certificates of such fits say ``unverified``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, Protocol

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.curator.rows import PrivateRows
from tacit.encoding.dense import RowEncoder
from tacit.encoding.frames import Frame
from tacit.encoding.matrix_rows import ROWS, MatrixEncoder
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.errors import TacitError
from tacit.models.base import ClassModel
from tacit.models.plain import ModelError
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label
from tacit.privacy.unit import Neighbouring


class TrustedLearner(Protocol):
    """A private learner of somebody else."""

    @property
    def name(self) -> str:
        """What it is, for the ledger and for errors."""

    def declared_charge(self, neighbouring: Neighbouring) -> tuple[Charge, ...]:
        """The most a run costs under a relation. Raises if it makes no claim under it."""

    def learn(self, rows: Floats, labels: Ints) -> Any:
        """Learns from rows of norm at most 1, shape ``(n, d)``, and 0/1 labels; returns an object with ``predict``."""


class UntrustedResult(TacitError):  # noqa: N818 - says what it is about
    """What a foreign learner returned cannot be used."""


@dataclass(frozen=True, eq=False)
class ForeignModel(ClassModel):
    """What a foreign learner made, as a model. It predicts; it has no file format."""

    kind: ClassVar[str] = "foreign"
    sees_rows_alone: ClassVar[bool] = False

    classes: tuple[Any, ...]
    encoder: RowEncoder | MatrixEncoder
    predictor: Any
    name: str

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (ROWS,) if isinstance(self.encoder, MatrixEncoder) else self.encoder.encoding.names

    def predict_proba(self, frame: Frame) -> Floats:
        """0 or 1, shape ``(rows, 2)``; what is no number counts as the first class."""
        positive = self._said(unit_rows(self.encoder.encode(frame), self.encoder.clipper.radius)) > 0.5
        return np.column_stack([~positive, positive]).astype(np.float64)

    def check(self) -> None:
        """Asks about public rows, the origin and both unit vectors of the first coordinates."""
        probe = np.vstack([np.zeros(self.encoder.width), np.eye(self.encoder.width)[:16]])
        try:
            decisions = self._said(np.vstack([probe, -probe]))
        except (TypeError, ValueError, AttributeError) as error:
            raise UntrustedResult(f"{self.name} returned something that does not predict: {error}") from error
        if decisions.shape != (2 * len(probe),) or not np.all(np.isfinite(decisions)):
            raise UntrustedResult(f"{self.name} returned a model whose predictions are not numbers")

    def _said(self, rows: Floats) -> Floats:
        return np.asarray(self.predictor.predict(rows), dtype=np.float64)

    def body(self) -> NoReturn:
        raise ModelError(f"a model of {self.name} is a foreign object and cannot be written to a file")

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> NoReturn:
        raise ModelError(f"a foreign model cannot be read from a file (of {', '.join(body)})")


class _Constant:
    """The first class for every row."""

    def predict(self, rows: Floats) -> Floats:
        return np.zeros(len(rows))


def unit_rows(rows: Any, radius: int) -> Floats:
    """Fixed-point rows as real ones of norm at most 1."""
    full = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.asarray(full, dtype=np.float64) / radius


def run_trusted(
    private_rows: PrivateRows,
    learner: TrustedLearner,
    encoder: RowEncoder | MatrixEncoder,
    label_index: LabelIndex,
    label: Label | str,
) -> ForeignModel:
    """Runs a foreign learner on private rows; its declared charge is entered first.

    Raises:
        BudgetExceeded: if the reservation does not cover the declared charge; nothing is read then.
        UntrustedResult: if what it returned does not predict.
    """
    private_rows.check_handed_on()
    reservation = private_rows._reservation
    for charge in learner.declared_charge(reservation.neighbouring):
        reservation.record(charge, label, f"declared by {learner.name}, not verified")
    codes = private_rows._label_codes(label_index)
    counted = codes != DROPPED
    rows = unit_rows(encoder.encode(private_rows._frame), encoder.clipper.radius)
    # dropped rows stay as null rows: the number of rows is public under the relation the learner claims
    rows[~counted] = 0.0
    labels = np.where(counted, codes, 0).astype(np.int64)
    try:
        predictor = learner.learn(rows, labels)
    except (ValueError, ArithmeticError):  # it may depend on rows: content never refuses
        predictor = _Constant()
    model = ForeignModel(tuple(label_index.names), encoder, predictor, learner.name)
    model.check()
    return model
