"""The verb ``select``: indices chosen by the exponential mechanism. Scores never leave."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.arrays import Ints
from tacit.curator.gate import Gate, Question
from tacit.engines.blocks import SealedTable
from tacit.noise.source import check_scale
from tacit.privacy.charges import BoundedRange, Charge, NonPrivate
from tacit.privacy.label import Label
from tacit.queries.query import Sensitivity
from tacit.queries.selection import Selection


@dataclass(frozen=True, eq=False)
class Choice:
    """What a selection lets out: the chosen candidate of every node, shape ``(nodes,)``."""

    label: str
    indices: Ints
    charge: Charge
    theorem: str


def selection_scale(score_range: int, charge: BoundedRange) -> float:
    """The scale at which ``exp(score / scale)`` costs the charge: the :func:`least_scale`."""
    if charge.range == 0:
        raise ValueError("a selection at range 0 would be a random choice; make it with public randomness")
    return least_scale(score_range, charge.range)


def least_scale(score_range: int, largest: float) -> float:
    """The least float ``s`` with ``score_range / s <= largest``, exactly."""
    scale = score_range / largest
    while Fraction(scale) * Fraction(largest) < score_range:
        scale = math.nextafter(scale, math.inf)
    return check_scale(scale)


def select(table: SealedTable, gate: Gate, selection: Selection, charge: Charge, label: Label | str) -> Choice:
    """Chooses an index per node: validate, charge, aggregate, draw, release.

    See :meth:`tacit.curator.curator.Curator.select`.
    """
    if not isinstance(charge, BoundedRange | NonPrivate):
        raise TypeError(f"select takes a BoundedRange or NonPrivate charge, got {type(charge).__name__}")
    spread = selection.score_range(gate.reservation.neighbouring)
    moved = Sensitivity(spread, spread**2, selection.theorem).times(gate.rows_per_unit)
    scale = selection_scale(moved.l1, charge) if isinstance(charge, BoundedRange) else 0.0
    words = f"choice {selection.shape}"
    question = Question("select", selection, charge, label, moved, scale, words, gate.rows_per_unit)
    gate.charge(question)

    def chosen() -> list[Ints]:
        scores = selection.score(table.answer(query) for query in selection.queries)
        if scores.dtype != np.int64 or scores.shape != selection.shape:
            raise TypeError(
                f"the score function made {scores.dtype} of shape {scores.shape}, not int64 of {selection.shape}"
            )
        gate.drawn(question, scores)
        if isinstance(charge, NonPrivate):
            return [scores.argmax(axis=1).astype(np.int64)]
        return [np.array([gate.noise.exponential(row, scale) for row in scores], dtype=np.int64)]

    [indices] = gate.release([question], chosen)
    return Choice(str(label), indices, charge, moved.theorem)
