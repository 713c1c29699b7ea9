"""The verb ``view``: other rows, made from the sealed ones behind the gate, on which a child learner runs.

A view says what its children may cost together, and maps that to what it costs the parent; the parent's charge is
entered before a row is read. Its children get a vault of their own, whose reservation is their declared maximum. Rows,
patterns and scores stay inside; what comes out is what the children release.

Views: :class:`Relabel` (closure paper, Algorithm 2), and those of :mod:`tacit.curator.view_rows`. Beside them
:func:`select_concept` releases a choice among public candidates, :func:`select_model` one among released models.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.curator.select import selection_scale
from tacit.curator.vault import Vault
from tacit.curator.view_base import (
    ONE,
    IntArray,
    Plan,
    Rows,
    View,
    charge_of,
    cost_of,
    is_private,
)
from tacit.curator.view_rows import Parts, Sample, random_order, uniform_indices
from tacit.curator.votes import said_by
from tacit.encoding.table import TableEncoding
from tacit.encoding.take import take_rows
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.models.base import Model
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import BoundedRange, Charge, NonPrivate
from tacit.privacy.ledger import Reservation
from tacit.privacy.neighbouring import Neighbouring
from tacit.theory.cost import Cost

__all__ = [
    "Candidates",
    "Parts",
    "Plan",
    "Points",
    "Relabel",
    "Rows",
    "Sample",
    "View",
    "charge_of",
    "cost_of",
    "is_private",
    "labels_as_values",
    "open_view",
    "random_order",
    "select_concept",
    "select_model",
    "uniform_indices",
]

# Relabel.


@dataclass(frozen=True, eq=False)
class Points:
    """The distinct points of the rows, as a candidate function sees them.

    Attributes:
        codes: cells of the columns that concepts look at, shape ``(points, columns)``.
        said: what earlier released models say of the points, 0/1, shape ``(points, models)``.
        counts: scored rows by label, shape ``(points, 2)``; zero where only unscored rows are.
    """

    codes: IntArray
    said: npt.NDArray[np.uint8]
    counts: IntArray


class Candidates(Protocol):
    """Patterns on the points, with a score each."""

    @property
    def scores(self) -> IntArray:
        """Errors, or a minimum of errors: integers, lower is better; one-sided under adding a row."""

    def labels(self, index: int) -> npt.NDArray[np.bool_]:
        """The labels that a pattern gives to the points."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """A drawn pattern, behind the gate: its number, the candidates, and the point of each row that counts."""

    index: int
    candidates: Candidates
    kept: IntArray
    place: IntArray


@dataclass(frozen=True, eq=False)
class Relabel:
    """Relabels all rows by a pattern chosen by the exponential mechanism, ``P(h) ~ exp(-epsilon q(h) / 2)``.

    The pattern is not released; the child learns from the relabelled rows. Cost: the choice of a group of patterns,
    which has bounded range ``span``, composed with the child (:mod:`tacit.theory.closure_privacy`).

    Attributes:
        encoding: the columns that concepts look at.
        label_index: two classes.
        models: released models whose labels the scores use.
        candidates: patterns and scores from points: a pure function that keeps nothing and raises for no content.
        epsilon: Relabel's parameter; ``inf`` for the best pattern without privacy.
        span: the bounded range that is charged.
        child: the child's declared maximum.
        scored_share: share of the rows that scores are made of and the child gets (the paper's D); the others (T)
            only define points. Below 1 the split goes by position, and needs a public number of rows.
        theorem: the claim.
        stated: a larger cost to charge instead of the sum, such as the paper's constant.
        public: whether the candidates are the same whatever the rows are, so that an index may be released.
    """

    encoding: TableEncoding
    label_index: LabelIndex
    models: tuple[Model, ...]
    candidates: Callable[[Points], Candidates]
    epsilon: float
    span: float
    child: Plan
    theorem: str
    scored_share: float = 1.0
    stated: Cost | None = None
    public: bool = False

    @property
    def children(self) -> tuple[Plan, ...]:
        return (self.child,)

    def charges(self, neighbouring: Neighbouring) -> Sequence[tuple[Charge, str]]:
        if self.scored_share < 1 and not neighbouring.n_is_public:
            raise ValueError("a split by position needs a public number of rows")
        if math.isinf(self.epsilon):
            return [(NonPrivate(), self.theorem)]
        learned = f"{self.theorem}, then the learner on the relabelled rows"
        parts = [(BoundedRange(self.span), self.theorem), *((charge, learned) for charge in self.child)]
        if self.stated is None:
            return parts
        least = cost_of([charge for charge, _ in parts], self.stated.delta)
        if least.epsilon > self.stated.epsilon:
            raise ValueError(f"the stated epsilon {self.stated.epsilon} is below the cost {least.epsilon}")
        return [(charge_of(self.stated), learned)]

    def open(self, rows: Rows, neighbouring: Neighbouring, noise: NoiseSource) -> Sequence[Rows]:
        del neighbouring
        choice = self.choose(rows, noise)
        labels = np.full(len(rows.labels), DROPPED, np.uint8)
        labels[choice.kept] = choice.candidates.labels(choice.index)[choice.place]
        if self.scored_share < 1:  # the learner gets D; T has done its work
            n_scored = scored_rows(self.scored_share, len(rows.labels))
            return [Rows(take_rows(rows.frame, np.arange(n_scored)), labels[:n_scored])]
        return [Rows(rows.frame, labels)]

    def choose(self, rows: Rows, noise: NoiseSource) -> Chosen:
        """Draws a pattern. Stays behind the gate."""
        kept = np.flatnonzero(rows.labels != DROPPED)
        codes = np.column_stack([column[kept].astype(np.int64) for column in self.encoding.encode(rows.frame)])
        said = said_by(self.models, rows.frame)[kept]
        cells, place = np.unique(np.hstack([codes, said]), axis=0, return_inverse=True)
        place = place.reshape(-1)
        scored = kept < scored_rows(self.scored_share, len(rows.labels))
        counts = np.zeros((len(cells), 2), np.int64)
        np.add.at(counts, (place[scored], rows.labels[kept][scored].astype(np.int64)), 1)
        width = codes.shape[1]
        found = self.candidates(Points(cells[:, :width], cells[:, width:].astype(np.uint8), counts))
        if math.isinf(self.epsilon):
            index = int(found.scores.argmin())
        else:
            index = noise.exponential(-found.scores, math.nextafter(2 / self.epsilon, math.inf))
        return Chosen(index, found, kept, place)


def scored_rows(share: float, n_rows: int) -> int:
    """How many of a public number of rows :class:`Relabel` makes scores of, and hands to the child."""
    return math.ceil(share * n_rows)


# Opening.


def open_view(vault: Vault, view: View, label: str) -> tuple[Vault, ...]:
    """A vault for each child of a view.

    Order: charge the parent, then read; see the module. The children's noise is the parent's, their reservation the
    declared maximum, and their protected unit a row (a unit of several rows has to be refused before). A view that
    tests in private whether to go on has no children when it ends.

    Args:
        vault: the parent's rows and reservation.
        view: what the children see.
        label: what this is, for the ledger.

    Raises:
        BudgetExceeded: if the parent's reservation does not cover it; nothing is read then.
    """
    if vault._rows_per_unit != 1:
        raise ValueError("views protect single rows; a unit of several rows is not supported")
    reservation = vault._reservation
    for charge, theorem in view.charges(reservation.neighbouring):
        reservation.record(charge, label, theorem)
    rows = Rows(vault._frame, vault._label_codes(view.label_index))
    opened = view.open(rows, reservation.neighbouring, vault._noise)
    if not opened:
        return ()
    return tuple(
        _child(vault, part, view.label_index, Reservation(plan, reservation.neighbouring, label))
        for part, plan in zip(opened, view.children, strict=True)
    )


def _child(parent: Vault, rows: Rows, label_index: LabelIndex, reservation: Reservation) -> Vault:
    child = copy.copy(parent)
    child._frame = rows.frame
    child._labels = labels_as_values(rows.labels, label_index)
    child._reservation = reservation
    child._unit = None
    return child


def labels_as_values(codes: npt.NDArray[np.uint8], label_index: LabelIndex) -> pa.DictionaryArray:
    """Label codes as values that the index reads back, null where the row is dropped."""
    names = pa.array([str(name) for name in label_index.names] if _mixed(label_index) else list(label_index.names))
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=codes == DROPPED), names)


def _mixed(label_index: LabelIndex) -> bool:
    return len({type(name) for name in label_index.names}) > 1


# Choosing in the open.


def select_concept(vault: Vault, choice: Relabel, label: str) -> int:
    """Draws a pattern among public candidates as :class:`Relabel` would, and releases its number.

    Cost: bounded range ``choice.span``; nothing depends on the rows but the scores.

    Raises:
        ValueError: if the candidates depend on the rows: then the number itself would tell of them.
        BudgetExceeded: if the reservation does not cover it; nothing is read then.
    """
    if not choice.public:
        raise ValueError("only a choice among public candidates may be released")
    private = not math.isinf(choice.epsilon)
    vault._reservation.record(BoundedRange(choice.span) if private else NonPrivate(), label, choice.theorem)
    rows = Rows(vault._frame, vault._label_codes(choice.label_index))
    return choice.choose(rows, vault._noise).index


def select_model(vault: Vault, models: Sequence[Model], label_index: LabelIndex, charge: Charge, label: str) -> int:
    """The index of a released model with (about) the fewest errors, by the exponential mechanism on error counts.

    Adding a row moves each count by 0 or 1: range 1; replacing: 2.

    Args:
        vault: the rows to count on.
        models: released models of two classes.
        label_index: how labels become codes.
        charge: ``BoundedRange``, or ``NonPrivate`` for the first best.
        label: what this is, for the ledger.

    Raises:
        BudgetExceeded: if the reservation does not cover it; nothing is read then.
    """
    reservation = vault._reservation
    if not isinstance(charge, BoundedRange | NonPrivate):
        raise TypeError(f"choosing a model takes a BoundedRange or NonPrivate charge, got {type(charge).__name__}")
    reservation.record(charge, label, "error counts: a row adds an error or none")
    codes = vault._label_codes(label_index)
    kept = codes != DROPPED
    said = said_by(models, vault._frame)[kept]
    errors = (said != codes[kept][:, None]).sum(axis=0).astype(np.int64)
    if isinstance(charge, NonPrivate):
        return int(errors.argmin())
    scale = selection_scale(1 if reservation.neighbouring is ONE else 2, charge)
    return vault._noise.exponential(-errors, scale)
