"""Numbers for objects that are distinguished by identity: each travels once, and of a log only what is new."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary, finalize

from tacit.queries.cells import ProductCells
from tacit.queries.covers.candidates import Conjunctions, FirstMatch, StreamedConjunctions
from tacit.queries.dense.halfspace_log import HalfspaceLog
from tacit.queries.joint_bound import JointBound
from tacit.queries.margins import Margins, Scores
from tacit.queries.rules import LabelWeights, RowRule
from tacit.queries.score_rules import LevelRule
from tacit.queries.tree_cells import TreeCells

SHARED = (
    ProductCells, TreeCells, FirstMatch, Conjunctions, StreamedConjunctions, RowRule, LevelRule, LabelWeights,
    JointBound,
)  # fmt: skip
"""What is large, or what engines know by its identity: sent once, under a number."""

ENTRIES = {Margins: "updates", Scores: "updates", HalfspaceLog: "steps"}
"""Logs, and what grows of each."""


def entries_of(log: Any) -> list[Any]:
    """What grows of a log."""
    entries: list[Any] = getattr(log, ENTRIES[type(log)])
    return entries


class Numbering:
    """What was sent so far, to everybody alike; an object keeps its number for as long as somebody refers to it."""

    def __init__(self) -> None:
        self._numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._sent: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._gone: deque[int] = deque()  # appended to in whatever thread the last reference is dropped
        self._next = 0

    def of(self, value: Any) -> tuple[int, bool]:
        """The number of an object, and whether it had one already."""
        number = self._numbers.get(value)
        if number is not None:
            return number, True
        self._next += 1
        self._numbers[value] = self._next
        finalize(value, self._gone.append, self._next).atexit = False
        return self._next, False

    def new_entries(self, log: Any) -> tuple[int, Sequence[Any]]:
        """How many entries of a log were sent, and those that follow: they count as sent from now on."""
        start, entries = self._sent.get(log, 0), entries_of(log)
        self._sent[log] = len(entries)
        return start, entries[start:]

    def open_logs(self) -> list[Any]:
        """All logs that have grown: to be sent before codes change, of which their entries speak."""
        return [log for log, sent in list(self._sent.items()) if len(entries_of(log)) > sent]

    def gone(self) -> list[int]:
        """Numbers of what is no longer referred to."""
        return [self._gone.popleft() for _ in range(len(self._gone))]
