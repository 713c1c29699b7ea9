"""Sums over dense fixed-point rows."""

from __future__ import annotations

from tacit.arrays import Ints
from tacit.engines.dense import DenseEngine
from tacit.engines.passes.base import Pass, register
from tacit.engines.rows import Rows
from tacit.queries.dense.capped_sum import CappedSum
from tacit.queries.dense.halfspace_log import MarginCounts, MeasureSize
from tacit.queries.dense.moments import MomentSum
from tacit.queries.dense.vector_sum import VectorSum


def dense_of(rows: Rows) -> DenseEngine:
    """The dense rows of a block.

    Raises:
        TypeError: if it has none.
    """
    if rows.dense is None:
        raise TypeError("this table holds no dense rows")
    dense = rows.dense
    return rows.kept(DenseEngine, lambda rows: DenseEngine(dense, rows.classes(), rows.run))


class VectorPass(Pass[VectorSum]):
    """A weighted sum of the rows, under a measure without a state."""

    def sums(self, query: VectorSum, rows: Rows) -> Ints:
        return dense_of(rows).vector_sum(query)


class CappedPass(Pass[CappedSum]):
    """The same under a capped measure, whose scale follows from all rows, and whose last weights from their order.

    It takes two passes, and so its sums over blocks add up only where the block is all there is.
    """

    def sums(self, query: CappedSum, rows: Rows) -> Ints:
        return dense_of(rows).capped_sum(query)


class SizePass(Pass[MeasureSize]):
    """The size of a measure."""

    def sums(self, query: MeasureSize, rows: Rows) -> Ints:
        return dense_of(rows).measure_size(query)


class MarginCountPass(Pass[MarginCounts]):
    """Rows by margin and label."""

    def sums(self, query: MarginCounts, rows: Rows) -> Ints:
        return dense_of(rows).margin_counts(query)


class MomentPass(Pass[MomentSum]):
    """The sum of rows, or of squared rows."""

    def sums(self, query: MomentSum, rows: Rows) -> Ints:
        return dense_of(rows).moments(query)


register(VectorSum, VectorPass())
register(CappedSum, CappedPass())
register(MeasureSize, SizePass())
register(MarginCounts, MarginCountPass())
register(MomentSum, MomentPass())
