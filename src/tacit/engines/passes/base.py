"""What a pass over rows is, and which one answers a query.

A pass is two functions. ``sums`` looks at a block of rows and returns whole numbers; those of two blocks add up to
those of both together. ``finish`` makes the answer of the total. Nothing else depends on where rows are: an engine that
has them in several places asks ``sums`` in each, adds, and finishes once.

A pass of the library may do more (:meth:`Pass.totals`): keep totals that are asked for again, or look twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary, finalize

from tacit.arrays import Codes, Ints
from tacit.queries.cells import Cells, ProductCells
from tacit.queries.covers.candidates import Conjunctions, FirstMatch, StreamedConjunctions
from tacit.queries.dense.halfspace_log import HalfspaceLog
from tacit.queries.joint_bound import JointBound
from tacit.queries.margins import Margins, Scores
from tacit.queries.rules import LabelWeights, RowRule
from tacit.queries.score_rules import LevelRule
from tacit.queries.tree_cells import TreeCells

if TYPE_CHECKING:
    from tacit.engines.rows import Rows


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


Q = TypeVar("Q")
S = TypeVar("S")


class Look(Protocol):
    """What is done with each block. A frozen dataclass: an engine may have to send it to where the rows are."""

    def __call__(self, rows: Rows) -> Ints:
        """Whole numbers about a block."""


class Blocks(Protocol):
    """All rows of a table, in one block or in several."""

    def each(self, looks: Look | Sequence[Look]) -> list[Ints]:
        """What a look says of every block, in the order of the rows; or one look for each of them."""

    def total(self, look: Look) -> Ints:
        """The sum of that."""

    def kept(self, kind: type[S], make: Callable[[], S]) -> S:
        """What a pass keeps about the whole table: made when it is first asked for."""

    def is_derived(self, cells: Cells) -> bool:
        """Whether the codes of ``cells`` are kept."""


@dataclass(frozen=True, eq=False)
class SumsOf:
    """The look of most passes."""

    query: Any

    def __call__(self, rows: Rows) -> Ints:
        return row_pass(self.query).sums(self.query, rows)


class Pass(ABC, Generic[Q]):
    """How rows answer one type of query."""

    @abstractmethod
    def sums(self, query: Q, rows: Rows) -> Ints:
        """Exact int64 sums over a block of rows, of a shape that depends on the query alone."""

    def finish(self, query: Q, sums: Ints) -> Ints:
        """The answer, from the sums over all rows."""
        del query
        return sums

    def totals(self, query: Q, blocks: Blocks) -> Ints:
        """The sums over all rows."""
        return blocks.total(SumsOf(query))

    def answer(self, query: Q, blocks: Blocks) -> Ints:
        return self.finish(query, self.totals(query, blocks))

    def answer_together(self, queries: Sequence[Q], blocks: Blocks) -> list[Ints] | None:
        """The answers to several queries of this type in fewer looks at the rows; None if there is no such way."""
        del queries, blocks
        return None


class LabelledPass(Pass[Q]):
    """A pass in which labels say how much a row counts, so that others can be put in their place."""

    @abstractmethod
    def sums_under(self, query: Q, rows: Rows, labels: Codes) -> Ints:
        """As :meth:`sums`, under these labels: those of rows that are bounded together."""

    def sums(self, query: Q, rows: Rows) -> Ints:
        return self.sums_under(query, rows, rows.labels)


class PassOf(Pass[Q]):
    """A pass that is its sums alone."""

    def __init__(self, sums: Callable[[Q, Rows], Ints]) -> None:
        self._sums = sums

    def sums(self, query: Q, rows: Rows) -> Ints:
        return self._sums(query, rows)


@singledispatch
def row_pass(query: Any) -> Pass[Any]:
    """The pass that answers a query."""
    raise TypeError(f"the engine cannot answer a {type(query).__name__}: no pass over rows is registered for it")


def register(kind: type[Q], answering: Pass[Q]) -> None:
    """Lets a pass answer the queries of a type, and of the types below it that have none of their own.

    A pass sees rows. It belongs inside the curator, and to what has to be proven of a query: that its answer moves by
    no more than the query states, and that it raises for nothing that rows hold.
    """
    row_pass.register(kind, lambda _: answering)
