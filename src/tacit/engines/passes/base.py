"""What a pass over rows is, and which one answers a query.

A pass is two functions. ``sums`` looks at a block of rows and returns whole numbers; those of two blocks add up to
those of both together. ``finish`` makes the answer of the total. Nothing else depends on where rows are: an engine that
has them in several places asks ``sums`` in each, adds, and finishes once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tacit.arrays import Codes, Ints

if TYPE_CHECKING:
    from tacit.engines.rows import Rows

Q = TypeVar("Q")


class Pass(ABC, Generic[Q]):
    """How rows answer one type of query."""

    @abstractmethod
    def sums(self, query: Q, rows: Rows) -> Ints:
        """Exact int64 sums over a block of rows, of a shape that depends on the query alone."""

    def finish(self, query: Q, sums: Ints) -> Ints:
        """The answer, from the sums over all rows."""
        del query
        return sums

    def answer(self, query: Q, rows: Rows) -> Ints:
        """The answer where one block holds all rows."""
        return self.finish(query, self.sums(query, rows))

    def answer_together(self, queries: Sequence[Q], rows: Rows) -> list[Ints] | None:
        """The answers to several queries of this type in fewer looks at the rows; None if there is no such way."""
        del queries, rows
        return None


class LabelledPass(Pass[Q]):
    """A pass in which labels say how much a row counts, so that others can be put in their place."""

    @abstractmethod
    def sums_under(self, query: Q, rows: Rows, labels: Codes) -> Ints:
        """As :meth:`sums`, under these labels: those of rows that are bounded together."""

    def sums(self, query: Q, rows: Rows) -> Ints:
        return self.sums_under(query, rows, rows.labels)


@singledispatch
def row_pass(query: Any) -> Pass[Any]:
    """The pass that answers a query.

    Raises:
        TypeError: if none is registered for its type.
    """
    raise TypeError(f"the engine cannot answer a {type(query).__name__}: no pass over rows is registered for it")


def register(kind: type[Q], answering: Pass[Q]) -> None:
    """Lets a pass answer the queries of a type, and of the types below it that have none of their own.

    A pass sees rows. It belongs behind the gate, and to what has to be proven of a query: that its answer moves by no
    more than the query states, and that it raises for nothing that rows hold.
    """
    row_pass.register(kind, lambda _: answering)
