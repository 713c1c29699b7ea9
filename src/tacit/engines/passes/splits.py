"""Class weights by leaf, column and code, by which splits are scored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Ints
from tacit.engines.margin_rows import MarginRows
from tacit.engines.passes.base import Blocks, Pass, SumsOf, register
from tacit.engines.rows import Rows, leaves_of
from tacit.engines.tree_rows import SplitCache, split_histogram
from tacit.queries.tree_cells import SplitHistogram


class SplitPass(Pass[SplitHistogram]):
    """Sums of shape ``query.shape``; the last ones are kept for the level below."""

    def sums(self, query: SplitHistogram, rows: Rows) -> Ints:
        return _looked_at(query, rows, left_only=False)

    def totals(self, query: SplitHistogram, blocks: Blocks) -> Ints:
        kept = blocks.kept(SplitCache, SplitCache)

        def make() -> Ints:
            parents = kept.parents(query)
            if parents is None:
                return blocks.total(SumsOf(query))
            left = blocks.total(LeftSums(query))
            return np.stack([left, parents - left], axis=1).reshape(query.shape)

        return kept.of(query, make)


@dataclass(frozen=True, eq=False)
class LeftSums:
    """Sums over the rows of left children: a right child is its parent minus its sibling, exactly."""

    query: SplitHistogram

    def __call__(self, rows: Rows) -> Ints:
        return _looked_at(self.query, rows, left_only=True)


def _looked_at(query: SplitHistogram, rows: Rows, left_only: bool) -> Ints:
    held = tuple(rows.layout.n_codes[column] for column in query.columns)
    if any(asked < codes for asked, codes in zip(query.n_codes, held, strict=True)):
        raise ValueError(f"the columns have {held} codes, and the query knows {query.n_codes}")
    margins, _ = MarginRows.of(rows).caught_up(query.margins)
    leaves = leaves_of(rows).of(query.cells)
    return split_histogram(query, leaves, rows.columns, rows.labels, margins, rows.run, left_only)


register(SplitHistogram, SplitPass())
