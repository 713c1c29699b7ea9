"""Sums over dense fixed-point rows, and class counts of what conjunctions cover."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from tacit.arrays import Ints
from tacit.engines.cover import CoverCounts, StreamedCounts
from tacit.engines.dense import DenseEngine
from tacit.engines.passes.base import Blocks, Pass, PassOf, register
from tacit.engines.rows import FollowsCodes, Rows
from tacit.queries.covers.candidates import Conjunctions, StreamedConjunctions
from tacit.queries.dense.halfspace_log import MarginCounts, MeasureSize
from tacit.queries.dense.moments import MomentSum, ShortenedSquares
from tacit.queries.dense.vector_sum import CappedSum, CappedWeights, VectorSum


def dense_of(rows: Rows) -> DenseEngine:
    """The dense rows of a block."""
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


@dataclass(frozen=True, eq=False)
class CoverSums:
    """Class counts of conjunctions, shape ``(conjunctions, classes)``: no pass, as a cover is asked step by step.

    Rows of ``removed`` ones have left, in their order; ``block`` is the one of streamed candidates to count, else 0.
    """

    candidates: Conjunctions | StreamedConjunctions
    removed: tuple[int, ...]
    block: int

    def __call__(self, rows: Rows) -> Ints:
        return rows.kept(_KeptCover, _KeptCover).counts(self)


class _KeptCover(FollowsCodes):
    """The rows that are left of the cover that was asked last: what goes on with it counts on from there."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._counted: CoverCounts | StreamedCounts | None = None
        self._removed: tuple[int, ...] = ()

    def counts(self, query: CoverSums) -> Ints:
        counted, removed = self._counted, len(self._removed)
        if counted is None or counted.conjunctions is not query.candidates or query.removed[:removed] != self._removed:
            counted, removed = _counts_of(query.candidates, self._rows), 0
        for conjunction in query.removed[removed:]:
            counted.remove(conjunction)
        self._counted, self._removed = counted, query.removed
        return counted.counts if isinstance(counted, CoverCounts) else counted.block(query.block)

    def before_codes_change(self, column: int) -> None:
        """Literals are of codes."""
        del column
        self._counted = None


def _counts_of(candidates: Conjunctions | StreamedConjunctions, rows: Rows) -> CoverCounts | StreamedCounts:
    """Over all rows."""
    facts = (rows.columns, rows.classes(), rows.layout.n_labels, rows.threads)
    if isinstance(candidates, StreamedConjunctions):
        return StreamedCounts(candidates, *facts)
    return CoverCounts(candidates, *facts)
