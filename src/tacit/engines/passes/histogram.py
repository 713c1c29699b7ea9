"""Sums by cell of what rows contribute by label and margin, and functions of these sums; many products in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numba as nb
import numpy as np

from tacit.arrays import Codes, Ints
from tacit.engines import kernels
from tacit.engines.kernels import HALF, TOP, map_codes
from tacit.engines.passes.base import Blocks, LabelledPass, Pass, PassOf, SumsOf, register, row_pass
from tacit.engines.rows import FollowsCodes, RowRange, Rows, folded
from tacit.engines.score_rows import MarginRows, ScoreRows
from tacit.queries.cells import ProductCells
from tacit.queries.histogram import CellFunction, Histogram, ResidualLevels, ScoreHistogram
from tacit.queries.joint_bound import JointHistogram
from tacit.queries.margins import Margins
from tacit.queries.query import Query
from tacit.queries.rules import LEVEL_SHIFT, LEVELS, RowRule

BLOCK = 1 << 12
"""Rows at a time: their groups and weights stay in the cache."""


class ProductHistogram(Histogram):
    """What this pass answers: one weight per row that depends on margins, cells of two columns."""

    cells: ProductCells
    margins: Margins


def are_products(queries: Sequence[Query]) -> TypeGuard[Sequence[ProductHistogram]]:
    """Whether there are several queries, all of them over two columns with one rule and one score."""
    if len(queries) < 2:
        return False
    first = queries[0]
    return isinstance(first, Histogram) and all(
        isinstance(query, Histogram)
        and query.rule is first.rule
        and query.margins is first.margins is not None
        and query.rule.uses_margin
        and query.rule.channels == 1
        and isinstance(query.cells, ProductCells)
        and len(query.cells.columns) == 2
        and max(query.cells.sizes) <= 256
        for query in queries
    )


@nb.njit(nogil=True, cache=True)
def weigh_rows(labels, rule, margins, weights, start, stop):  # type: ignore[no-untyped-def]
    """The weight ``rule[label, level]`` of rows ``start .. stop - 1``, written from position 0."""
    own_labels, own_margins = labels[start:stop], margins[start:stop]
    for i in range(len(own_labels)):
        level = max(min((own_margins[i] >> LEVEL_SHIFT) + HALF, TOP), 0)
        weights[i] = rule[nb.uintp(own_labels[i] * LEVELS + level)]


@nb.njit(nogil=True, cache=True)
def add_products(groups, weights, count, sides, strides, starts, sums):  # type: ignore[no-untyped-def]
    """Adds the weights of ``count`` rows to their cells in every product."""
    for product in range(len(starts)):
        left, right = groups[sides[product, 0]], groups[sides[product, 1]]
        stride, first = nb.uintp(strides[product]), nb.uintp(starts[product])
        for i in range(nb.uintp(count)):
            sums[first + left[i] * stride + right[i]] += weights[i]


def product_histograms(queries: Sequence[ProductHistogram], rows: Rows) -> list[Ints]:
    """The raw histograms of shape ``(cells, 1)``, in the order of the queries, which are :func:`are_products`."""
    margins, _ = MarginRows.of(rows).caught_up(queries[0].margins)
    labels, rule = rows.labels, np.ascontiguousarray(queries[0].rule.table.reshape(-1))
    mappings: list[tuple[int, Ints]] = []
    sides = np.zeros((len(queries), 2), np.int64)
    for number, query in enumerate(queries):
        for side in (0, 1):
            column, mapping = query.cells.columns[side], query.cells.maps[side]
            places = (k for k, (c, m) in enumerate(mappings) if c == column and m is mapping)
            sides[number, side] = place = next(places, len(mappings))
            if place == len(mappings):
                mappings.append((column, mapping))
    sizes = [query.cells.size for query in queries]
    strides = np.array([query.cells.sizes[1] for query in queries], np.int64)
    starts = np.cumsum([0, *sizes[:-1]], dtype=np.int64)
    grouped = [(rows.columns[column], mapping.astype(np.uint8)) for column, mapping in mappings]

    def run(start: int, stop: int, sums: Ints) -> None:
        groups, weights = np.empty((len(grouped), BLOCK), np.uint8), np.empty(BLOCK, np.int32)
        for low in range(start, stop, BLOCK):
            high = min(low + BLOCK, stop)
            weigh_rows(labels, rule, margins, weights, low, high)
            for place, (codes, mapping) in enumerate(grouped):
                map_codes(codes[low:high], mapping, groups[place], 0, high - low)
            add_products(groups, weights, high - low, sides, strides, starts, sums)

    sums = rows.run(run, sum(sizes))
    return [sums[first : first + size, None] for first, size in zip(starts, sizes, strict=True)]


class HistogramPass(LabelledPass[Histogram]):
    """Histograms; sums of shape ``(cells, channels)``."""

    def sums_under(self, query: Histogram, rows: Rows, labels: Codes) -> Ints:
        channels, rule = query.rule.channels, query.rule.table.reshape(-1)
        run: RowRange
        if query.margins is None or not query.rule.uses_margin:
            if labels is not rows.labels:
                raise TypeError("rows are bounded together in sums that depend on margins")
            return folded(CodeCounts(query)(rows), rows.codes(query.cells)[1], query.cells.size)
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

    def totals(self, query: Histogram, blocks: Blocks) -> Ints:
        cells = query.cells
        column = cells.columns[0] if isinstance(cells, ProductCells) and len(cells.columns) == 1 else -1
        if column < 0 or blocks.is_derived(cells) or (query.margins is not None and query.rule.uses_margin):
            return blocks.total(SumsOf(query))
        by_code = blocks.kept(KeptCounts, KeptCounts).of(column, query.rule, lambda: blocks.total(CodeCounts(query)))
        assert isinstance(query.cells, ProductCells)
        return folded(by_code, query.cells.offsets[0], query.cells.size)

    def answer_together(self, queries: Sequence[Histogram], blocks: Blocks) -> list[Ints] | None:
        """Products of columns under one rule take one look at the rows together."""
        if not are_products(queries):
            return None
        sums = blocks.total(ProductSums(tuple(queries)))
        ends = np.cumsum([query.cells.size for query in queries])
        parts = np.split(sums, ends[:-1])
        return [query.finish(part[:, None]) for query, part in zip(queries, parts, strict=True)]


class CellFunctionPass(Pass[CellFunction]):
    """Sums of the histogram underneath; the function is of the totals."""

    def sums(self, query: CellFunction, rows: Rows) -> Ints:
        return row_pass(query.histogram).sums(query.histogram, rows)

    def totals(self, query: CellFunction, blocks: Blocks) -> Ints:
        return row_pass(query.histogram).totals(query.histogram, blocks)

    def finish(self, query: CellFunction, sums: Ints) -> Ints:
        return query.finish(sums)


class JointPass(Pass[JointHistogram]):
    """A histogram over rows that are bounded together: its own pass under labels that weigh rows down."""

    def sums(self, query: JointHistogram, rows: Rows) -> Ints:
        own = row_pass(query.histogram)
        if not isinstance(own, LabelledPass):
            raise TypeError(f"rows cannot be bounded together in a {type(query.histogram).__name__}")
        return own.sums_under(query.histogram, rows, rows.bounded_labels(query.bound))

    def finish(self, query: JointHistogram, sums: Ints) -> Ints:
        return row_pass(query.histogram).finish(query.histogram, sums)


class ScorePass(LabelledPass[ScoreHistogram]):
    """Sums of shape ``(cells, channels)``."""

    def sums_under(self, query: ScoreHistogram, rows: Rows, labels: Codes) -> Ints:
        return ScoreRows.of(rows).histogram(query, labels)

    def finish(self, query: ScoreHistogram, sums: Ints) -> Ints:
        return query.finish(sums)


@dataclass(frozen=True, eq=False)
class CodeCounts:
    """Sums by code of a rule without margins, shape ``(codes, channels)``."""

    query: Histogram

    def __call__(self, rows: Rows) -> Ints:
        rule = self.query.rule
        codes, lookup = rows.codes(self.query.cells)
        flat, labels, channels = rule.table.reshape(-1), rows.labels, rule.channels

        def run(start: int, stop: int, sums: Ints) -> None:
            kernels.count(codes, labels, flat, channels, sums, start, stop)

        return rows.run(run, len(lookup) * channels).reshape(len(lookup), channels)


@dataclass(frozen=True, eq=False)
class ProductSums:
    """Histograms over many products of columns, one behind the other."""

    queries: tuple[Histogram, ...]

    def __call__(self, rows: Rows) -> Ints:
        assert are_products(self.queries)
        return np.concatenate(product_histograms(self.queries, rows))[:, 0]


class KeptCounts(FollowsCodes):
    """Sums by code of rules without margins. A column's last ones are kept: bins ask coarsely, then finely."""

    def __init__(self) -> None:
        self._counted: dict[int, tuple[RowRule, Ints]] = {}

    def of(self, column: int, rule: RowRule, count: Callable[[], Ints]) -> Ints:
        """Sums by code, counted unless they are at hand."""
        if column not in self._counted or self._counted[column][0] is not rule:
            self._counted[column] = (rule, count())
        return self._counted[column][1]

    def before_codes_change(self, column: int) -> None:
        self._counted.pop(column, None)


register(Histogram, HistogramPass())
register(CellFunction, CellFunctionPass())
register(JointHistogram, JointPass())
register(ScoreHistogram, ScorePass())
register(ResidualLevels, PassOf(lambda query, rows: ScoreRows.of(rows).levels(query)))
