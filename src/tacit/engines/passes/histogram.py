"""Sums by cell of what rows contribute by label and margin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.arrays import Codes, Ints, Numbers32
from tacit.engines import kernels
from tacit.engines.margin_rows import MarginRows
from tacit.engines.passes.base import LabelledPass, register
from tacit.engines.products import are_products, product_histograms
from tacit.engines.rows import RowRange, Rows
from tacit.queries.cells import Cells, ProductCells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import RowRule


class HistogramPass(LabelledPass[Histogram]):
    """Histograms; sums of shape ``(cells, channels)``."""

    def sums_under(self, query: Histogram, rows: Rows, labels: Codes) -> Ints:
        channels, rule = query.rule.channels, query.rule.table.reshape(-1)
        run: RowRange
        if query.margins is None or not query.rule.uses_margin:
            if labels is not rows.labels:
                raise TypeError("rows are bounded together in sums that depend on margins")
            codes, lookup = rows.codes(query.cells)
            return folded(KeptCounts.of(rows).counts(query, codes, len(lookup)), lookup, query.cells.size)
        state = MarginRows.of(rows)
        if channels <= 2:
            margins, last = state.caught_up(query.margins, leave=1)  # before leaves: trees share the memory for them
            old_codes, steps = state.steps(last)
            codes, lookup = rows.codes(query.cells)
            fused = kernels.update_and_sum if channels == 1 else kernels.update_and_sum_two

            def run(start: int, stop: int, sums: Ints) -> None:
                fused(old_codes, steps, codes, labels, rule, margins, sums, start, stop)

        else:
            margins, _ = state.caught_up(query.margins)
            codes, lookup = rows.codes(query.cells)

            def run(start: int, stop: int, sums: Ints) -> None:
                kernels.weighted_sum(codes, labels, rule, channels, margins, sums, start, stop)

        by_code = rows.run(run, len(lookup) * channels).reshape(len(lookup), channels)
        return folded(by_code, lookup, query.cells.size)

    def finish(self, query: Histogram, sums: Ints) -> Ints:
        return query.finish(sums)

    def answer_together(self, queries: Sequence[Histogram], rows: Rows) -> list[Ints] | None:
        """Products of columns under one rule take one look at the rows together."""
        if not are_products(queries):
            return None
        margins, _ = MarginRows.of(rows).caught_up(queries[0].margins)
        histograms = product_histograms(queries, rows.columns, rows.labels, margins, rows.run)
        return [query.finish(found) for query, found in zip(queries, histograms, strict=True)]


class KeptCounts:
    """Sums by code of rules without margins. A column's last ones are kept: bins ask coarsely, then finely."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._counted: dict[int, tuple[RowRule, Ints]] = {}

    @classmethod
    def of(cls, rows: Rows) -> KeptCounts:
        """Those of a block."""
        return rows.kept(cls, cls)

    def counts(self, query: Histogram, codes: Codes, size: int) -> Ints:
        """Sums by code."""
        rule, column = query.rule, -1 if self._rows.is_derived(query.cells) else _only_column(query.cells)
        if column in self._counted and self._counted[column][0] is rule:
            return self._counted[column][1]
        flat, labels, channels = rule.table.reshape(-1), self._rows.labels, rule.channels

        def run(start: int, stop: int, sums: Ints) -> None:
            kernels.count(codes, labels, flat, channels, sums, start, stop)

        by_code = self._rows.run(run, size * channels).reshape(size, channels)
        if column >= 0:
            self._counted[column] = (rule, by_code)
        return by_code

    def before_codes_change(self, column: int) -> None:
        """Forgets the counts of a column."""
        self._counted.pop(column, None)


def folded(by_code: Ints, lookup: Numbers32, size: int) -> Ints:
    """Sums by cell from sums by code."""
    by_cell = np.zeros((size, by_code.shape[1]), np.int64)
    np.add.at(by_cell, lookup, by_code)
    return by_cell


def _only_column(cells: Cells) -> int:
    """The column whose codes these cells merge, or -1."""
    return cells.columns[0] if isinstance(cells, ProductCells) and len(cells.columns) == 1 else -1


register(Histogram, HistogramPass())
