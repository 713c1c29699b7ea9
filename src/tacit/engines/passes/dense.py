"""Sums over dense fixed-point rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from tacit.arrays import Ints
from tacit.engines.dense import DenseEngine
from tacit.engines.passes.base import Blocks, Pass, PassOf, register
from tacit.engines.rows import Rows
from tacit.queries.dense.halfspace_log import MarginCounts, MeasureSize
from tacit.queries.dense.moments import MomentSum, ShortenedSquares
from tacit.queries.dense.vector_sum import CappedSum, CappedWeights, VectorSum


def dense_of(rows: Rows) -> DenseEngine:
    """The dense rows of a block.

    Raises:
        TypeError: if it has none.
    """
    if rows.dense is None:
        raise TypeError("this table holds no dense rows")
    dense = rows.dense
    return rows.kept(DenseEngine, lambda rows: DenseEngine(dense, rows.classes(), rows.run, rows.workspace.zeros))


class CappedPass(Pass[CappedSum]):
    """A sum under a capped measure, whose scale follows from all rows, and whose last weights from their order.

    So it looks twice: at the levels of all rows, from which the weights follow; then at the rows under these weights,
    every block knowing how many rows of the level that is filled last stand before it.
    """

    def sums(self, query: CappedSum, rows: Rows) -> Ints:
        """The answer where a block is all there is: sums of two blocks do not add up."""
        capped = query.weights(LevelCounts(query)(rows))
        return CappedShare(query, capped, 0)(rows)

    def totals(self, query: CappedSum, blocks: Blocks) -> Ints:
        counts = blocks.each(LevelCounts(query))
        capped = query.weights(np.sum(counts, axis=0, dtype=np.int64))
        before = accumulate((int(level_counts[capped.level]) for level_counts in counts[:-1]), initial=0)
        shares = blocks.each([CappedShare(query, capped, seen) for seen in before])
        total: Ints = np.sum(shares, axis=0, dtype=np.int64)
        return total


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """Rows by the level of their margin."""

    query: CappedSum

    def __call__(self, rows: Rows) -> Ints:
        return dense_of(rows).level_counts(self.query)


@dataclass(frozen=True, eq=False)
class CappedShare:
    """The part of a capped sum that a block contributes; weights follow from the levels of all rows.

    ``seen``: how many rows of the level that is filled last stand in the blocks before.
    """

    query: CappedSum
    capped: CappedWeights
    seen: int

    def __call__(self, rows: Rows) -> Ints:
        return dense_of(rows).capped_sum(self.query, self.capped, self.seen)


register(VectorSum, PassOf(lambda query, rows: dense_of(rows).vector_sum(query)))
register(CappedSum, CappedPass())
register(MeasureSize, PassOf(lambda query, rows: dense_of(rows).measure_size(query)))
register(MarginCounts, PassOf(lambda query, rows: dense_of(rows).margin_counts(query)))
register(MomentSum, PassOf(lambda query, rows: dense_of(rows).moments(query)))
register(ShortenedSquares, PassOf(lambda query, rows: dense_of(rows).shortened_squares(query)))
