"""The memory engine: sealed columns of small integers, aggregated by all cores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Codes
from tacit.encoding.values import DROPPED
from tacit.engines.blocks import BlockTable
from tacit.engines.dense import DenseRows
from tacit.engines.rows import Rows
from tacit.queries.query import Layout

WIDE_DROPPED = 65535
"""What :data:`~tacit.encoding.values.DROPPED` is where label codes are uint16."""


def counting(labels: Codes) -> Bools:
    """Which rows no public rule drops."""
    kept: Bools = labels != (WIDE_DROPPED if labels.dtype == "uint16" else DROPPED)
    return kept


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
