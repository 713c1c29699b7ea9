"""What a sealed table must offer, whatever engine holds its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tacit.arrays import Ints
from tacit.engines.blocks import CoverRows
from tacit.queries.cells import Cells
from tacit.queries.covers.candidates import Conjunctions, StreamedConjunctions
from tacit.queries.joint_bound import JointBound, JointHistogram
from tacit.queries.query import Layout, Query


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

    def open_cover(self, candidates: Conjunctions | StreamedConjunctions) -> CoverRows:
        """Class counts of conjunctions over rows that leave as conjunctions are chosen."""
