"""Sealed tables: what they offer, and those whose rows are in one block in memory or in several, whose sums add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Codes, Ints
from tacit.encoding.values import DROPPED
from tacit.engines.dense import DenseRows
from tacit.engines.passes.base import Look, row_pass
from tacit.engines.passes.dense import CoverSums
from tacit.engines.rows import FollowsCodes, Rows
from tacit.queries.cells import Cells
from tacit.queries.covers.candidates import Conjunctions, StreamedConjunctions
from tacit.queries.joint_bound import JointBound, JointHistogram
from tacit.queries.query import Layout, Query

S = TypeVar("S")


class BlockTable:
    """Rows in blocks of one layout. How they are cut changes no answer: sums are of integers."""

    def __init__(self, blocks: Sequence[Rows]) -> None:
        self._blocks = list(blocks)
        self._kept: dict[type, Any] = {}
        self._derived: WeakSet[Cells] = WeakSet()

    @property
    def layout(self) -> Layout:
        return self._blocks[0].layout

    # What passes see of it.

    def each(self, looks: Look | Sequence[Look]) -> list[Ints]:
        """What a look says of every block, in their order; or one look for each of them."""
        if isinstance(looks, Sequence):
            return [look(block) for look, block in zip(looks, self._blocks, strict=True)]
        return [looks(block) for block in self._blocks]

    def total(self, look: Look) -> Ints:
        """The sum of what a look says of the blocks."""
        return reduce(np.add, (look(block) for block in self._blocks))

    def kept(self, kind: type[S], make: Callable[[], S]) -> S:
        """What a pass keeps about the table: made when it is first asked for."""
        value: S | None = self._kept.get(kind)
        if value is None:
            value = self._kept[kind] = make()
        return value

    def is_derived(self, cells: Cells) -> bool:
        return cells in self._derived

    # What the curator asks.

    def answer(self, query: Query | JointHistogram) -> Ints:
        """The exact answer to a query, shape ``query.shape``."""
        return row_pass(query).answer(query, self)

    def answer_all(self, queries: Sequence[Query]) -> list[Ints]:
        """The exact answers to several queries; together where all are of one type and its pass can do that."""
        passes = [row_pass(query) for query in queries]
        if len(passes) > 1 and all(each is passes[0] for each in passes):
            together = passes[0].answer_together(queries, self)
            if together is not None:
                return together
        return [each.answer(query, self) for each, query in zip(passes, queries, strict=True)]

    def coarsen(self, column: int, mapping: Ints) -> None:
        """Replaces a column's codes by a public map of them (at most 256 values: one byte a cell)."""
        for value in list(self._kept.values()):
            if isinstance(value, FollowsCodes):
                value.before_codes_change(column)
        for block in self._blocks:
            block.coarsen(column, mapping)

    def derive(self, cells: Cells) -> None:
        """Keeps the codes of ``cells`` for as long as the object lives, because many queries will use them."""
        for block in self._blocks:
            block.derive(cells)
        self._derived.add(cells)

    def bind(self, bound: JointBound, own_levels: int) -> None:
        """Weighs every row down until it keeps the bound, for as long as that lives. Codes stay as they are then."""
        for block in self._blocks:
            block.bind(bound, own_levels)

    def open_cover(self, candidates: Conjunctions | StreamedConjunctions) -> CoverRows:
        """Class counts of conjunctions over rows that leave as conjunctions are chosen."""
        return CoverRows(self, candidates)


class CoverRows:
    """The rows that are left of a cover. Which these are follows from the conjunctions that were removed."""

    def __init__(self, table: BlockTable, candidates: Conjunctions | StreamedConjunctions) -> None:
        self._table, self._candidates = table, candidates
        self._removed: tuple[int, ...] = ()
        self._counts: Ints | None = None

    @property
    def counts(self) -> Ints:
        """Class counts of every conjunction over them, shape ``(conjunctions, classes)``."""
        if self._counts is None:
            self._counts = self.block(0)
        return self._counts

    def block(self, block: int) -> Ints:
        """Class counts of a block's conjunctions over the rows that are left, shape ``(size, classes)``."""
        return self._table.total(CoverSums(self._candidates, self._removed, block))

    def remove(self, conjunction: int) -> None:
        self._removed, self._counts = (*self._removed, conjunction), None


WIDE_DROPPED = 65535
"""What :data:`~tacit.encoding.values.DROPPED` is where label codes are uint16."""


def counting(labels: Codes) -> Bools:
    """Which rows no public rule drops."""
    counts: Bools = labels != (WIDE_DROPPED if labels.dtype == "uint16" else DROPPED)
    return counts


class MemoryTable(BlockTable):
    """Rows in memory, column by column: one block, which every pass looks at whole.

    Args:
        columns: one vector of codes per column, uint8 or uint16, all of one length.
        labels: uint8 class codes; rows with :data:`DROPPED` are left out, whatever the rest holds. Codes that hold a
            weight beside the class may be uint16, with :data:`WIDE_DROPPED`.
        n_codes: number of codes of every column (public).
        n_labels: number of classes (public).
        threads: how many cores to use; None for all.
        dense: fixed-point rows beside the columns, for vector sums.
        targets: numeric labels in fixed point, int32; a label code then only says whether a row counts.
    """

    def __init__(
        self,
        columns: Sequence[Codes],
        labels: Codes,
        n_codes: Sequence[int],
        n_labels: int,
        threads: int | None = None,
        dense: DenseRows | None = None,
        targets: npt.NDArray[np.int32] | None = None,
    ) -> None:
        keep = counting(labels)
        if not keep.all():
            columns = [column[keep] for column in columns]
            labels = labels[keep]
            targets = None if targets is None else targets[keep]
            dense = None if dense is None else dense.keep(keep)
        layout = Layout(tuple(n_codes), n_labels, 0 if dense is None else dense.n_features)
        super().__init__([Rows(columns, labels, layout, threads, dense, targets)])


class SealedTable(Protocol):
    """Rows that answer queries exactly, as :class:`BlockTable`, and give themselves to nobody but the curator."""

    @property
    def layout(self) -> Layout: ...

    def answer(self, query: Query | JointHistogram) -> Ints: ...

    def answer_all(self, queries: Sequence[Query]) -> list[Ints]: ...

    def coarsen(self, column: int, mapping: Ints) -> None: ...

    def derive(self, cells: Cells) -> None: ...

    def bind(self, bound: JointBound, own_levels: int) -> None: ...

    def open_cover(self, candidates: Conjunctions | StreamedConjunctions) -> CoverRows: ...
