"""Class weights by leaf, column and code, by which splits are scored."""

from __future__ import annotations

from tacit.arrays import Ints
from tacit.engines.margin_rows import MarginRows
from tacit.engines.passes.base import Pass, register
from tacit.engines.rows import Rows, leaves_of
from tacit.engines.tree_rows import SplitCache, split_histogram
from tacit.queries.tree_cells import SplitHistogram


class SplitPass(Pass[SplitHistogram]):
    """Sums of shape ``query.shape``; the last ones are kept for the level below."""

    def sums(self, query: SplitHistogram, rows: Rows) -> Ints:
        kept = rows.kept(SplitCache, lambda _: SplitCache())
        return kept.of(query, lambda: _looked_at(query, rows, kept))


def _looked_at(query: SplitHistogram, rows: Rows, kept: SplitCache) -> Ints:
    held = tuple(rows.layout.n_codes[column] for column in query.columns)
    if any(asked < codes for asked, codes in zip(query.n_codes, held, strict=True)):
        raise ValueError(f"the columns have {held} codes, and the query knows {query.n_codes}")
    margins, _ = MarginRows.of(rows).caught_up(query.margins)
    leaves, parents = leaves_of(rows).of(query.cells), kept.parents(query)
    return split_histogram(query, leaves, rows.columns, rows.labels, margins, rows.run, parents)


register(SplitHistogram, SplitPass())
