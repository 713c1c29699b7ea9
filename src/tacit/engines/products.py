"""Histograms over many products of columns in one pass: each row is looked at once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numba as nb
import numpy as np

from tacit.arrays import Ints
from tacit.engines.kernels import HALF, TOP, map_codes
from tacit.engines.margin_rows import MarginRows
from tacit.engines.rows import Rows
from tacit.queries.cells import ProductCells
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.query import Query
from tacit.queries.rules import LEVEL_SHIFT, LEVELS

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
            known = (k for k, (c, m) in enumerate(mappings) if c == column and m is mapping)
            sides[number, side] = place = next(known, len(mappings))
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
