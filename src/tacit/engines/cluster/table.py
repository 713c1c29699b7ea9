"""The table that stands for the parts of all workers: every pass asks each of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any
from weakref import finalize

from tacit.arrays import Ints
from tacit.engines.blocks import BlockTable
from tacit.engines.cluster.rounds import Rounds
from tacit.engines.cluster.work import Ask, Bind, Coarsen, Derive, Seal, Unseal
from tacit.engines.passes.base import Look
from tacit.queries.cells import Cells
from tacit.queries.joint_bound import JointBound
from tacit.queries.query import Layout

_NUMBERS = count(1)


class ClusterTable(BlockTable):
    """Rows in parts on workers, which make of them what the recipe says; a block is a part."""

    def __init__(self, workers: Rounds, layout: Layout, recipe: Any) -> None:
        super().__init__([])
        self._workers, self._public = workers, layout
        self._number = next(_NUMBERS)
        workers.tell(Seal(self._number, recipe))
        finalize(self, workers.tell, Unseal(self._number)).atexit = False

    @property
    def layout(self) -> Layout:
        """What is public."""
        return self._public

    def each(self, looks: Look | Sequence[Look]) -> list[Ints]:
        """What a look says of every part, in their order; or one look for each of them."""
        return self._workers.each(Ask(self._number, looks))

    def total(self, look: Look) -> Ints:
        """The sum of what a look says of the parts."""
        return self._workers.total(Ask(self._number, look))

    def coarsen(self, column: int, mapping: Ints) -> None:
        """Replaces a column's codes by a public map of them (at most 256 values: one byte a cell)."""
        super().coarsen(column, mapping)
        self._workers.tell(Coarsen(self._number, column, mapping, self._workers.open_logs()))
        self._public = self._public.coarsened(column, mapping)

    def derive(self, cells: Cells) -> None:
        """Keeps the codes of ``cells`` for as long as the object lives, because many queries will use them."""
        super().derive(cells)
        self._workers.tell(Derive(self._number, cells))

    def bind(self, bound: JointBound, own_levels: int) -> None:
        """Weighs every row down until it keeps the bound, for as long as that lives. Codes stay as they are then."""
        self._workers.tell(Bind(self._number, bound, own_levels))
