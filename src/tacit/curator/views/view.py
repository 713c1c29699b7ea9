"""The verb ``view``: other rows, made from the sealed ones inside the curator, on which a child learner runs.

A view says what its children may cost together, and maps that to what it costs the parent; the parent's charge is
entered before a row is read. Its children get private rows of their own, whose reservation is their declared maximum.
Rows, patterns and scores stay inside; what comes out is what the children release.

Views: :class:`~tacit.curator.views.relabel.Relabel`, those of :mod:`tacit.curator.views.view_rows`, and of Boost-S in
:mod:`tacit.curator.views.resample` and :mod:`tacit.curator.views.smooth_sample`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from tacit.arrays import Bytes
from tacit.curator.rows import PrivateRows
from tacit.encoding.frames import Frame
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.noise.source import NoiseSource
from tacit.privacy import accountants
from tacit.privacy.charges import ApproxDP, Charge, NonPrivate, Pure
from tacit.privacy.label import Label
from tacit.privacy.ledger import Reservation
from tacit.privacy.neighbouring import Neighbouring
from tacit.theory.checks import Cost

Plan = tuple[Charge, ...]
ONE = Neighbouring.ADD_OR_REMOVE_ONE


@dataclass(frozen=True, eq=False)
class Rows:
    """Sealed rows: the columns as they came, and label codes (:data:`DROPPED` where a rule drops the row)."""

    frame: Frame
    labels: Bytes


class View(Protocol):
    """A sealed transformation of rows."""

    @property
    def label_index(self) -> LabelIndex:
        """How labels become codes."""

    @property
    def children(self) -> tuple[Plan, ...]:
        """The declared maximum charge of each child."""

    def charges(self, neighbouring: Neighbouring) -> Sequence[tuple[Charge, str]]:
        """What all children cost the parent, with theorems."""

    def open(self, rows: Rows, neighbouring: Neighbouring, noise: NoiseSource) -> Sequence[Rows]:
        """The rows of each child, or of none if the view ends here. Raises for no content."""


def is_private(plan: Sequence[Charge]) -> bool:
    """Whether a plan asks for privacy at all."""
    return not any(isinstance(charge, NonPrivate) for charge in plan)


def cost_of(plan: Sequence[Charge], delta: float) -> Cost:
    """A plan as (epsilon, delta)."""
    return Cost(accountants.epsilon(plan, delta), delta)


def charge_of(cost: Cost) -> Charge:
    """A cost as a charge, rounded up."""
    epsilon = math.nextafter(cost.epsilon, math.inf)
    return Pure(epsilon) if cost.delta == 0 else ApproxDP(epsilon, cost.delta)


def open_view(private_rows: PrivateRows, view: View, label: Label | str) -> tuple[PrivateRows, ...]:
    """Private rows for each child of a view.

    Order: charge the parent, then read; see the module. The children's noise is the parent's, their reservation the
    declared maximum, and their protected unit a row. A view that tests in private whether to go on has no children when
    it ends.

    Args:
        private_rows: the parent's rows and reservation.
        view: what the children see.
        label: what this is, for the ledger.

    Raises:
        ValueError: for a unit of several rows.
        BudgetExceeded: if the parent's reservation does not cover it; nothing is read then.
    """
    private_rows.check_handed_on()
    reservation = private_rows._reservation
    for charge, theorem in view.charges(reservation.neighbouring):
        reservation.record(charge, label, theorem)
    rows = Rows(private_rows._frame, private_rows._label_codes(view.label_index))
    opened = view.open(rows, reservation.neighbouring, private_rows._noise)
    if not opened:
        return ()
    return tuple(
        _child(private_rows, part, view.label_index, Reservation(plan, reservation.neighbouring, str(label)))
        for part, plan in zip(opened, view.children, strict=True)
    )


def _child(parent: PrivateRows, rows: Rows, label_index: LabelIndex, reservation: Reservation) -> PrivateRows:
    child = copy.copy(parent)
    child._frame = rows.frame
    child._labels = labels_as_values(rows.labels, label_index)
    child._reservation = reservation
    child._unit = None
    child._is_whole = False
    return child


def labels_as_values(codes: Bytes, label_index: LabelIndex) -> pa.DictionaryArray:
    """Label codes as values that the index reads back, null where the row is dropped."""
    names = pa.array([str(name) for name in label_index.names] if _mixed(label_index) else list(label_index.names))
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=codes == DROPPED), names)


def _mixed(label_index: LabelIndex) -> bool:
    return len({type(name) for name in label_index.names}) > 1
