"""A function of each cell's sums."""

from __future__ import annotations

from tacit.arrays import Ints
from tacit.engines.passes.base import Blocks, Pass, register, row_pass
from tacit.engines.rows import Rows
from tacit.queries.histogram import CellFunction


class CellFunctionPass(Pass[CellFunction]):
    """Sums of the histogram underneath; the function is of the totals."""

    def sums(self, query: CellFunction, rows: Rows) -> Ints:
        return row_pass(query.histogram).sums(query.histogram, rows)

    def totals(self, query: CellFunction, blocks: Blocks) -> Ints:
        return row_pass(query.histogram).totals(query.histogram, blocks)

    def finish(self, query: CellFunction, sums: Ints) -> Ints:
        return query.finish(sums)


register(CellFunction, CellFunctionPass())
