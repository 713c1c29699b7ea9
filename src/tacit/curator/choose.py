"""Choices by errors on the sealed rows that are released: among public concepts, or among released models."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tacit.arrays import Ints
from tacit.curator.gate import Question
from tacit.curator.rows import PrivateRows
from tacit.curator.select import selection_scale
from tacit.curator.views.relabel import Relabel
from tacit.curator.views.resample import said_by
from tacit.curator.views.view import ONE, Rows
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.models.base import ClassModel
from tacit.privacy.charges import BoundedRange, Charge, NonPrivate
from tacit.privacy.label import Label
from tacit.queries.query import Sensitivity


def select_concept(private_rows: PrivateRows, choice: Relabel, label: Label | str) -> int:
    """Draws a pattern among public candidates as :class:`Relabel` would, and releases its number.

    Cost: bounded range ``choice.span``; nothing depends on the rows but the scores.

    Raises:
        ValueError: if the candidates depend on the rows: then the number itself would tell of them.
        BudgetExceeded: if the reservation does not cover it; nothing is read then.
    """
    private_rows.check_handed_on()
    if not choice.public:
        raise ValueError("only a choice among public candidates may be released")
    charge = NonPrivate() if math.isinf(choice.epsilon) else BoundedRange(choice.span)

    def chosen() -> int:
        rows = Rows(private_rows._frame, private_rows._label_codes(choice.label_index), private_rows.witness)
        return choice.choose(rows, private_rows._noise).index

    return _released(private_rows, choice, charge, label, choice.theorem, chosen)


def select_member(
    private_rows: PrivateRows, models: Sequence[ClassModel], label_index: LabelIndex, charge: Charge, label: Label | str
) -> int:
    """The index of a released model with (about) the fewest errors, by the exponential mechanism on error counts.

    Adding a row moves each count by 0 or 1: range 1; replacing: 2. Without noise it is the first best.

    Raises:
        BudgetExceeded: if the reservation does not cover it; nothing is read then.
    """
    private_rows.check_handed_on()
    if not isinstance(charge, BoundedRange | NonPrivate):
        raise TypeError(f"choosing a model takes a BoundedRange or NonPrivate charge, got {type(charge).__name__}")

    def chosen() -> int:
        codes = private_rows._label_codes(label_index)
        counted = codes != DROPPED
        votes = said_by(models, private_rows._frame)[counted]
        errors = (votes != codes[counted][:, None]).sum(axis=0).astype(np.int64)
        if isinstance(charge, NonPrivate):
            return int(errors.argmin())
        scale = selection_scale(1 if private_rows._reservation.neighbouring is ONE else 2, charge)
        return private_rows._noise.exponential(-errors, scale)

    return _released(private_rows, tuple(models), charge, label, "error counts: a row adds an error or none", chosen)


def _released(
    rows: PrivateRows, subject: Any, charge: Charge, label: Label | str, theorem: str, choose: Callable[[], int]
) -> int:
    """An index that leaves, through the gate; numbers of candidates may have more than 64 bits."""
    gate, words = rows.gate, f"choice by {type(subject).__name__}"
    question = Question("choose", subject, charge, label, Sensitivity(0, 0, theorem), 0.0, words, 1)
    gate.charge(question)
    [index] = gate.release([question], lambda: [two_words(choose())])
    return int(index[0]) << WORD | int(index[1])


WORD = 62


def two_words(index: int) -> Ints:
    """A number below ``2**65`` as two words, the high one first."""
    return np.array([index >> WORD, index & ((1 << WORD) - 1)], np.int64)
