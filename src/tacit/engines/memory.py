"""The memory engine: sealed columns of small integers, aggregated by all cores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.arrays import Codes, Ints, Numbers32
from tacit.encoding.values import DROPPED
from tacit.engines.cover import CoverCounts, StreamedCounts
from tacit.engines.dense import DenseRows
from tacit.engines.passes import library
from tacit.engines.passes.base import row_pass
from tacit.engines.rows import Rows
from tacit.queries.cells import Cells
from tacit.queries.covers.candidates import Conjunctions, StreamedConjunctions
from tacit.queries.joint_bound import JointBound, JointHistogram
from tacit.queries.query import Layout, Query

WIDE_DROPPED = 65535
"""What :data:`~tacit.encoding.values.DROPPED` is where label codes are uint16."""

PASSES = library.LIBRARY
"""What it can answer, beside what others register."""


class MemoryTable:
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
        targets: Numbers32 | None = None,
    ) -> None:
        keep = labels != (WIDE_DROPPED if labels.dtype == np.uint16 else DROPPED)
        if not keep.all():
            columns = [column[keep] for column in columns]
            labels = labels[keep]
            targets = None if targets is None else targets[keep]
            dense = None if dense is None else dense.keep(keep)
        layout = Layout(tuple(n_codes), n_labels, 0 if dense is None else dense.n_features)
        self._rows = Rows(columns, labels, layout, threads, dense, targets)

    @property
    def layout(self) -> Layout:
        """What is public."""
        return self._rows.layout

    def answer(self, query: Query | JointHistogram) -> Ints:
        """The exact answer to a query, shape ``query.shape``."""
        return row_pass(query).answer(query, self._rows)

    def answer_all(self, queries: Sequence[Query]) -> list[Ints]:
        """The exact answers to several queries; together where all are of one type and its pass can do that."""
        passes = [row_pass(query) for query in queries]
        if len(passes) > 1 and all(each is passes[0] for each in passes):
            together = passes[0].answer_together(queries, self._rows)
            if together is not None:
                return together
        return [self.answer(query) for query in queries]

    def coarsen(self, column: int, mapping: Ints) -> None:
        """Replaces a column's codes by a public map of them (at most 256 values: one byte a cell)."""
        self._rows.coarsen(column, mapping)

    def derive(self, cells: Cells) -> None:
        """Keeps the codes of ``cells`` for as long as the object lives, because many queries will use them."""
        self._rows.derive(cells)

    def bind(self, bound: JointBound, own_levels: int) -> None:
        """Weighs every row down until it keeps the bound, for as long as that lives. Codes stay as they are then."""
        self._rows.bind(bound, own_levels)

    def open_cover(self, conjunctions: Conjunctions) -> CoverCounts:
        """Class counts of conjunctions over rows that leave as conjunctions are chosen."""
        rows = self._rows
        return CoverCounts(conjunctions, rows.columns, rows.classes(), rows.layout.n_labels, rows.threads)

    def open_streamed_cover(self, conjunctions: StreamedConjunctions) -> StreamedCounts:
        """The same for candidates that are made block by block."""
        rows = self._rows
        return StreamedCounts(conjunctions, rows.columns, rows.classes(), rows.layout.n_labels, rows.threads)
