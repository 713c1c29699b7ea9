"""The table that stands for the rows of all sites: every pass asks each of them, and only the total comes back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, NoReturn, Protocol
from weakref import finalize

from tacit.arrays import Ints
from tacit.engines.blocks import BlockTable
from tacit.engines.joined.wire import Sender
from tacit.engines.passes.base import Look
from tacit.queries.cells import Cells
from tacit.queries.joint_bound import JointBound
from tacit.queries.query import Layout


class Sites(Protocol):
    """All sites, asked at once: each is told and asked the same."""

    @property
    def sender(self) -> Sender:
        """Turns what is asked into plain data."""

    def tell(self, what: dict[str, Any]) -> None:
        """Tells the sites something to do before they answer next."""

    def ask(self, what: dict[str, Any]) -> Ints:
        """The sum of the answers of all sites, modulo ``2**64``."""


_NUMBERS = count(1)


class JoinedTable(BlockTable):
    """Rows at sites. Only sums over all of them are to be had: not the answer of one site, and no order of the rows."""

    def __init__(self, sites: Sites, layout: Layout, recipe: dict[str, Any]) -> None:
        super().__init__([])
        self._sites, self._public = sites, layout
        self._number = next(_NUMBERS)
        sites.tell({"do": "seal", "table": self._number, "recipe": recipe})
        finalize(self, sites.tell, {"do": "unseal", "table": self._number}).atexit = False

    @property
    def layout(self) -> Layout:
        """What is public."""
        return self._public

    def each(self, looks: Look | Sequence[Look]) -> NoReturn:
        """Not over sites: the answer of a single site must not be seen."""
        del looks
        raise TypeError("sites are asked for sums over all rows alone")

    def total(self, look: Look) -> Ints:
        """The sum of what a look says of the rows of every site."""
        return self._sites.ask({"table": self._number, "look": self._sites.sender.plain(look)})

    def coarsen(self, column: int, mapping: Ints) -> None:
        """Replaces a column's codes by a public map of them (at most 256 values: one byte a cell)."""
        super().coarsen(column, mapping)
        logs, plain = self._sites.sender.open_logs(), self._sites.sender.plain(mapping)
        self._tell("coarsen", logs=logs, column=column, mapping=plain)
        self._public = self._public.coarsened(column, mapping)

    def derive(self, cells: Cells) -> None:
        """Keeps the codes of ``cells`` for as long as the object lives, because many queries will use them."""
        super().derive(cells)
        self._tell("derive", cells=self._sites.sender.plain(cells))

    def bind(self, bound: JointBound, own_levels: int) -> None:
        """Weighs every row down until it keeps the bound, for as long as that lives. Codes stay as they are then."""
        if own_levels != 1:
            raise TypeError("rows at sites have no weights of their own")
        self._tell("bind", bound=self._sites.sender.plain(bound))

    def _tell(self, what: str, **facts: Any) -> None:
        self._sites.tell({"do": what, "table": self._number, **facts})
