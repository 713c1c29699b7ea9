"""The verb ``view``: other rows, made from the sealed ones inside the curator, on which a child learner runs.

A view says what its children may cost together, and maps that to what it costs the parent; the parent's charge is
entered before a row is read. Its children get private rows of their own, whose reservation is their declared maximum.
Rows, patterns and scores stay inside; what comes out is what the children release.

Views that choose rows are here; :class:`~tacit.curator.views.relabel.Relabel` and those of Boost-S
(:mod:`tacit.curator.views.resample`) are beside.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from tacit.arrays import Bools, Bytes, Ints
from tacit.curator.gate import NOBODY, Question, Witness
from tacit.curator.rows import PrivateRows
from tacit.encoding.frames import Frame, take_rows
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.noise.source import NoiseSource
from tacit.privacy import accountants
from tacit.privacy.charges import ApproxDP, Charge, NonPrivate, Pure
from tacit.privacy.label import Label
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.query import Sensitivity
from tacit.theory.checks import Cost
from tacit.theory.closure.privacy import amplified, drawn_share_with_replacement

Plan = tuple[Charge, ...]
ONE = Neighbouring.ADD_OR_REMOVE_ONE


@dataclass(frozen=True, eq=False)
class Rows:
    """Sealed rows: the columns as they came, and label codes (:data:`DROPPED` where a rule drops the row).

    ``witness`` sees what a view makes of them.
    """

    frame: Frame
    labels: Bytes
    witness: Witness = NOBODY


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

    Raises:
        ValueError: for a unit of several rows.
        BudgetExceeded: if the parent's reservation does not cover it; nothing is read then.
    """
    private_rows.check_handed_on()
    reservation = private_rows._reservation
    charges = view.charges(reservation.neighbouring)
    for charge, theorem in charges:
        reservation.record(charge, label, theorem)
    opened: list[Rows] = []

    def opening() -> list[Ints]:
        witness = private_rows.witness
        rows = Rows(private_rows._frame, private_rows._label_codes(view.label_index), witness)
        children = view.open(rows, reservation.neighbouring, private_rows._noise)
        opened.extend(witness.inside("view", view, rows, children))
        return [np.array([len(opened)], np.int64)]

    # what leaves is whether there are children: with a tape that answers, they have no rows, and no view is opened
    (charge, theorem), words = charges[0], type(view).__name__
    question = Question("view", view, charge, label, Sensitivity(0, 0, theorem), 0.0, words, 1)
    [number] = private_rows.gate.release([question], opening)
    nothing = Rows(private_rows._frame.without_rows(), np.zeros(0, np.uint8))
    if not number[0]:
        return ()
    return tuple(
        _child(private_rows, part, view.label_index, Reservation(plan, reservation.neighbouring, str(label)))
        for part, plan in zip(opened or [nothing] * int(number[0]), view.children, strict=True)
    )


def _child(parent: PrivateRows, rows: Rows, label_index: LabelIndex, reservation: Reservation) -> PrivateRows:
    child = copy.copy(parent)
    child._frame = rows.frame
    child._labels = labels_as_values(rows.labels, label_index)
    child._reservation = reservation
    child._unit = None
    child._is_whole = False
    child.witness.child(rows, reservation)
    return child


def labels_as_values(codes: Bytes, label_index: LabelIndex) -> pa.DictionaryArray:
    """Label codes as values that the index reads back, null where the row is dropped."""
    names = pa.array([str(name) for name in label_index.names] if _mixed(label_index) else list(label_index.names))
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=codes == DROPPED), names)


def _mixed(label_index: LabelIndex) -> bool:
    return len({type(name) for name in label_index.names}) > 1


@dataclass(frozen=True, eq=False)
class Sample:
    """A random part of the rows."""

    # add/remove: every row takes part with this probability, by itself. Replace: so many rows, rounded down.
    rate: float
    label_index: LabelIndex  # how labels become codes
    child: Plan  # the child's declared maximum
    delta: float = 0.0  # the delta at which the child's charge is amplified; 0 if it is pure
    replacement: bool = False  # draw with replacement (the paper's empirical learner); needs a public number of rows
    inside: str = "what the child declares, composed"  # the claims that the child's charges stand on, in words

    @property
    def children(self) -> tuple[Plan, ...]:
        return (self.child,)

    def charges(self, neighbouring: Neighbouring) -> Sequence[tuple[Charge, str]]:
        if self.replacement and not neighbouring.n_is_public:
            raise ValueError("draws with replacement are analysed for a public number of rows: use replace_one")
        if not is_private(self.child):
            return [(NonPrivate(), "no privacy")]
        inner = cost_of(self.child, self.delta)
        if self.replacement:
            theorem = f"draws with replacement (Alon et al. 2020, Lemma 3.12, sharpened) of: {self.inside}"
            return [(charge_of(drawn_share_with_replacement(inner, self.rate)), theorem)]
        theorem = self.inside
        if self.rate < 1:
            theorem = f"amplification by subsampling (Balle, Barthe, Gaboardi 2018, Theorems 8 and 9) of: {theorem}"
        return [(charge_of(amplified(inner, self.rate)), theorem)]

    def open(self, rows: Rows, neighbouring: Neighbouring, noise: NoiseSource) -> Sequence[Rows]:
        n = len(rows.labels)
        if neighbouring is ONE:
            if self.rate >= 1:
                return [rows]
            return [Rows(rows.frame, np.where(random_part(noise, self.rate, n), rows.labels, np.uint8(DROPPED)))]
        size = rows_of_share(self.rate, n)
        index = uniform_indices(noise, n, size) if self.replacement else np.sort(random_order(noise, n)[:size])
        return [Rows(take_rows(rows.frame, index), rows.labels[index])]


def rows_of_share(rate: float, n_rows: int) -> int:
    """How many of a public number of rows a :class:`Sample` of that rate takes."""
    return math.floor(rate * n_rows)


def random_part(noise: NoiseSource, rate: float, size: int) -> Bools:
    """For each of ``size`` rows whether it takes part, at a rate below 1: never likelier than the rate."""
    return noise.words(size) < np.uint64(math.floor(rate * 2.0**64))


def uniform_indices(noise: NoiseSource, bound: int, size: int) -> Ints:
    """Independent uniform indices below ``bound``, by rejection."""
    if bound == 0:
        return np.zeros(0, np.int64)
    limit = (1 << 64) - (1 << 64) % bound
    indices: list[int] = []
    while len(indices) < size:
        words = noise.words(size - len(indices))
        indices += [int(w % np.uint64(bound)) for w in words if int(w) < limit]
    return np.array(indices, np.int64).reshape(-1)


def random_order(noise: NoiseSource, size: int) -> Ints:
    """A uniform permutation: the order of random words, drawn again in the event of a tie."""
    while True:
        words = noise.words(size)
        order = np.argsort(words, kind="stable")
        if not (np.diff(words[order]) == 0).any():
            return order.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Parts:
    """Disjoint parts: every row is assigned at random by itself, so no part depends on positions.

    A row is in one part, so all children together cost what the dearest of them does (parallel composition; later
    children may be chosen from what earlier ones released). Under replace the number in each part is random as well: it
    depends on coins alone.
    """

    label_index: LabelIndex  # how labels become codes
    children: tuple[Plan, ...]  # the declared maxima
    delta: float = 0.0  # at which plans that differ are compared; 0 if they are pure
    inside: str = "what the children declare, composed"  # the claims that the children's charges stand on, in words

    def charges(self, neighbouring: Neighbouring) -> Sequence[tuple[Charge, str]]:
        del neighbouring
        theorem = f"parallel composition over {len(self.children)} disjoint parts of: {self.inside}"
        if len(set(self.children)) == 1:
            return [(charge, theorem) for charge in self.children[0]]
        if not all(is_private(child) for child in self.children):
            return [(NonPrivate(), "no privacy")]
        dearest = max((cost_of(child, self.delta) for child in self.children), key=lambda cost: cost.epsilon)
        return [(charge_of(dearest), theorem)]

    def open(self, rows: Rows, neighbouring: Neighbouring, noise: NoiseSource) -> Sequence[Rows]:
        part = uniform_indices(noise, len(self.children), len(rows.labels))
        if neighbouring is ONE:
            return [
                Rows(rows.frame, np.where(part == i, rows.labels, np.uint8(DROPPED))) for i in range(len(self.children))
            ]
        members = [np.flatnonzero(part == i) for i in range(len(self.children))]
        return [Rows(take_rows(rows.frame, index), rows.labels[index]) for index in members]
