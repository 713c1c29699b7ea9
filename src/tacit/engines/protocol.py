"""What a sealed table must offer, whatever engine holds its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tacit.arrays import Ints
from tacit.queries.cells import Cells
from tacit.queries.covers.candidates import Conjunctions, StreamedConjunctions
from tacit.queries.joint_bound import JointBound, JointHistogram
from tacit.queries.query import Layout, Query


class CoverRows(Protocol):
    """The rows that are left of a cover."""

    @property
    def counts(self) -> Ints:
        """Class counts of every conjunction over them, shape ``(conjunctions, classes)``."""

    def remove(self, conjunction: int) -> None:
        """Takes away the rows that a conjunction covers."""


class StreamedCoverRows(Protocol):
    """The same for candidates that are made block by block."""

    def block(self, block: int) -> Ints:
        """Class counts of a block's conjunctions over the rows that are left, shape ``(size, classes)``."""

    def remove(self, conjunction: int) -> None:
        """Takes away the rows that a conjunction covers."""


class SealedTable(Protocol):
    """Rows that answer queries exactly and give themselves to nobody but the curator."""

    @property
    def layout(self) -> Layout:
        """What is public."""

    def answer(self, query: Query | JointHistogram) -> Ints:
        """The exact answer, the same on one thread or many."""

    def answer_all(self, queries: Sequence[Query]) -> list[Ints]:
        """The exact answers to several queries, in fewer passes over the rows where the engine can."""

    def coarsen(self, column: int, mapping: Ints) -> None:
        """Replaces a column's codes by a public map of them (at most 256 values: one byte a cell)."""

    def derive(self, cells: Cells) -> None:
        """Keeps the codes of ``cells`` for as long as the object lives."""

    def bind(self, bound: JointBound, own_levels: int) -> None:
        """Weighs every row down until it keeps the bound, while that lives; codes cannot change meanwhile."""

    def open_cover(self, conjunctions: Conjunctions) -> CoverRows:
        """Class counts of conjunctions over rows that leave as conjunctions are chosen."""

    def open_streamed_cover(self, conjunctions: StreamedConjunctions) -> StreamedCoverRows:
        """The same, a block at a time."""
