"""Histograms: no neighbour moves an answer by more than the query declares, and the declared bound is needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacit.checks import check_query
from tacit.encoding.values import DROPPED
from tacit.engines.blocks import MemoryTable
from tacit.queries.cells import OneCell, ProductCells, column_cells
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.margins import Margins
from tacit.queries.rules import LEVELS, RowRule, class_count_rule, count_rule, signed_margin_rule

CODES = (5, 3)


def mada(margin: np.ndarray) -> np.ndarray:
    return np.minimum(1.0, np.exp(-margin))


def table_of(rows: list[tuple[int, int, int]]) -> MemoryTable:
    data = np.array(rows, dtype=np.int64).reshape(-1, 3)
    columns = [data[:, j].astype(np.uint8) for j in range(2)]
    return MemoryTable(columns, data[:, 2].astype(np.uint8), CODES, 2)


def random_margins(seed: int) -> Margins:
    generator = np.random.default_rng(seed)
    margins = Margins()
    margins.add(column_cells(0, CODES[0]), generator.normal(0, 3, CODES[0]))
    margins.add(column_cells(1, CODES[1]), generator.normal(0, 3, CODES[1]))
    return margins


def queries(seed: int) -> list[Histogram]:
    generator = np.random.default_rng(seed)
    pair = ProductCells((0, 1), (np.array([0, 0, 1, 1, 2]), np.arange(3)), (3, 3))
    release_map = ReleaseMap.from_floats(generator.normal(size=(2, 9)), 1 << 6)
    rule, margins = signed_margin_rule(mada), random_margins(seed)
    two_channels = RowRule(generator.integers(-9, 9, (2, 1, 2)).astype(np.int32), 8)
    return [
        Histogram(column_cells(0, 5), count_rule(2)),
        Histogram(OneCell(), rule, margins),
        Histogram(OneCell(), count_rule(2)),
        Histogram(column_cells(0, 5), rule, margins),
        Histogram(pair, rule, margins, release_map),
        Histogram(pair, class_count_rule(2)),
        Histogram(column_cells(1, 3), two_channels),
        Histogram(OneCell(), two_channels),
    ]


ROWS = [(a, b, label) for a in range(5) for b in range(3) for label in (0, 1, DROPPED)]


@pytest.mark.sensitivity_of("Histogram")
@pytest.mark.parametrize("index", range(8))
def test_no_neighbour_moves_an_answer_further_than_declared_and_some_move_it_so_far(index: int) -> None:
    """A constant a tenth smaller would be refuted by single rows (the weight rule is truncated: it reaches 0.9999)."""
    query = queries(3)[index]
    check_query(query, ROWS, table_of)
    if query.rule.uses_margin:
        query = replace(query, margins=Margins())
    check_query(query, ROWS, table_of, tight=0.0 if query.release_map is not None else 0.9)


def test_truncation_never_lengthens_a_column():
    generator = np.random.default_rng(0)
    exact = generator.normal(size=(6, 40))
    exact /= np.sqrt((exact**2).sum(axis=0))
    assert ReleaseMap.from_floats(exact, 512).column_norms[1] <= 512**2


def test_a_weight_rule_is_bounded_and_signed():
    rule = signed_margin_rule(lambda margin: np.full_like(margin, 7.0))
    assert rule.table[1].max() == rule.unit
    assert rule.table[0].min() == -rule.unit


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_the_vectors_of_a_rule_are_its_different_lines_in_order(channels):
    table = np.random.default_rng(channels).integers(-2, 3, (2, LEVELS, channels)).astype(np.int32)
    expected = np.unique(table.reshape(-1, channels), axis=0)
    vectors = RowRule(table, 1).vectors
    assert vectors.dtype == np.int64
    assert vectors.tolist() == expected.tolist()
