"""The memory engine: exact, and the same however the rows are cut up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.encoding.values import DROPPED
from tacit.engines import rows
from tacit.engines.blocks import MemoryTable
from tacit.models.tree import complete_shape, threshold_sets
from tacit.queries.cells import OneCell, ProductCells, column_cells, mapped_cells
from tacit.queries.histogram import Histogram
from tacit.queries.margins import MARGIN_LIMIT, Margins
from tacit.queries.rules import (
    LEVEL_SHIFT,
    LEVELS,
    RowRule,
    class_count_rule,
    count_rule,
    signed_margin_rule,
)
from tacit.queries.tree_cells import TreeCells


def mada(margin: np.ndarray) -> np.ndarray:
    return np.minimum(1.0, np.exp(-margin))


def make(n: int, seed: int = 0, threads: int = 1) -> tuple[MemoryTable, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 7, (3, n)).astype(np.uint8)
    labels = generator.integers(0, 2, n).astype(np.uint8)
    return MemoryTable(list(codes), labels, [7] * 3, 2, threads), codes, labels


def by_hand(codes, labels, updates, rule, cells_of_row, size):
    """The same sums, row by row in Python integers."""
    out = np.zeros((size, rule.channels), np.int64)
    for i, label in enumerate(labels):
        margin = sum(int(values[codes[column, i]]) for column, values in updates)
        level = min(max((margin >> LEVEL_SHIFT) + LEVELS // 2, 0), LEVELS - 1) if rule.uses_margin else 0
        out[cells_of_row(codes[:, i])] += rule.table[label, level]
    return out


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 60), st.integers(0, 10_000), st.booleans())
def test_answers_equal_a_row_by_row_sum(n, seed, interleave):
    table, codes, labels = make(n, seed)
    generator = np.random.default_rng(seed)
    margins, updates = Margins(), []
    vector_rule = RowRule(generator.integers(-99, 99, (2, LEVELS, 3)).astype(np.int32), 1)
    for step in range(5):
        column, order = step % 3, np.arange(7)[:: (-1) ** step]
        values = generator.normal(0, 4, 7)
        if interleave:
            table.answer(Histogram(column_cells(column, 7), signed_margin_rule(mada), margins))
        margins.add(mapped_cells(column, order), values)
        updates.append((column, margins.updates[-1].values[order]))
    pair = ProductCells((0, 2), (np.array([0, 0, 1, 1, 2, 2, 2]), np.arange(7)), (3, 7))
    for rule in (signed_margin_rule(mada), vector_rule, class_count_rule(2)):
        for cells, place in (
            (column_cells(1, 7), lambda c: c[1]),
            (mapped_cells(1, np.arange(7)[::-1]), lambda c: 6 - c[1]),
            (OneCell(), lambda c: 0),
            (mapped_cells(2, [0, 0, 1, 1, 1, 0, 2]), lambda c: [0, 0, 1, 1, 1, 0, 2][c[2]]),
            (pair, lambda c: [0, 0, 1, 1, 2, 2, 2][c[0]] * 7 + c[2]),
        ):
            answer = table.answer(Histogram(cells, rule, margins))
            assert (answer == by_hand(codes, labels, updates, rule, place, cells.size)).all()


def test_one_thread_or_several_give_the_same_integers(monkeypatch):
    monkeypatch.setattr(rows, "BLOCK", 100)
    answers = []
    for threads in (1, 2, 17):
        table, _, _ = make(1709, threads=threads)
        margins, records = Margins(), []
        for step in range(6):
            records.append(table.answer(Histogram(column_cells(step % 3, 7), signed_margin_rule(mada), margins)))
            margins.add(column_cells(step % 3, 7), np.linspace(-1, 2, 7) * (step + 1))
        answers.append(np.stack(records))
    assert (answers[0] == answers[1]).all()
    assert (answers[0] == answers[2]).all()


def test_an_answer_does_not_depend_on_the_order_of_rows():
    table, codes, labels = make(500)
    order = np.random.default_rng(1).permutation(500)
    shuffled = MemoryTable(list(codes[:, order]), labels[order], [7] * 3, 2)
    margins = Margins()
    margins.add(column_cells(0, 7), np.linspace(-3, 3, 7))
    query = Histogram(column_cells(1, 7), signed_margin_rule(mada), margins)
    assert (table.answer(query) == shuffled.answer(query)).all()


def test_a_row_with_an_unknown_label_counts_nowhere():
    labels = np.array([0, DROPPED, 1], np.uint8)
    table = MemoryTable([np.array([2, 2, 2], np.uint8)], labels, [3], 2)
    assert table.answer(Histogram(column_cells(0, 3), count_rule(2))).ravel().tolist() == [0, 0, 2]


def test_coarsening_replaces_codes_and_keeps_old_margins():
    generator = np.random.default_rng(0)
    fine = generator.integers(0, 1000, 400).astype(np.uint16)
    table = MemoryTable([fine], generator.integers(0, 2, 400).astype(np.uint8), [1000], 2)
    mapping = np.arange(1000) // 100
    table.coarsen(0, mapping)
    assert table.layout.n_codes == (10,)
    counts = table.answer(Histogram(column_cells(0, 10), count_rule(2)))[:, 0]
    assert (counts == np.bincount(mapping[fine], minlength=10)).all()
    with pytest.raises(ValueError, match="column 0"):
        table.coarsen(0, np.arange(1000))


def test_derived_cells_answer_as_the_columns_they_came_from():
    table, _, _ = make(300)
    pair = ProductCells((0, 1), (np.arange(7), np.arange(7)), (7, 7))
    before = table.answer(Histogram(pair, count_rule(2)))
    table.derive(pair)
    assert (table.answer(Histogram(pair, count_rule(2))) == before).all()


def test_margins_cannot_overflow():
    table, _, _ = make(50)
    margins = Margins()
    for _ in range(40):
        margins.add(OneCell(), [2000.0])
    assert margins.reach <= MARGIN_LIMIT
    answer = table.answer(Histogram(OneCell(), signed_margin_rule(mada), margins))
    assert answer.item() < 0  # every positive row is at rest, every negative one has full weight


def test_an_empty_table_answers_zero():
    table = MemoryTable([np.zeros(0, np.uint8)], np.zeros(0, np.uint8), [4], 2)
    assert (table.answer(Histogram(column_cells(0, 4), signed_margin_rule(mada), Margins())) == 0).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 9000), st.integers(0, 1000), st.integers(1, 3))
def test_products_answered_together_are_what_they_are_alone(n, seed, threads):
    generator = np.random.default_rng(seed)
    columns = [generator.integers(0, 7, n).astype(np.uint8), generator.integers(0, 900, n).astype(np.uint16)]
    columns.append(generator.integers(0, 7, n).astype(np.uint8))
    n_codes = [7, 900, 7]
    labels = generator.integers(0, 2, n).astype(np.uint8)
    maps = [generator.integers(0, 5, size) for size in n_codes]
    pairs = [(0, 1), (0, 2), (1, 2), (2, 0)]
    rule, margins = signed_margin_rule(mada), Margins()
    margins.add(column_cells(0, 7), generator.normal(0, 3, 7))
    queries = [Histogram(ProductCells((a, b), (maps[a], maps[b]), (5, 5)), rule, margins) for a, b in pairs]
    together = MemoryTable(columns, labels, n_codes, 2, threads)
    answers = together.answer_all(queries)
    alone = MemoryTable(columns, labels, n_codes, 2)
    for query, answer in zip(queries, answers, strict=True):
        np.testing.assert_array_equal(answer, alone.answer(query))
    margins.add(column_cells(2, 7), generator.normal(0, 3, 7))
    again = together.answer_all(queries)
    assert n < 50 or any((a != b).any() for a, b in zip(answers, again, strict=True))
    np.testing.assert_array_equal(again[1], MemoryTable(columns, labels, n_codes, 2).answer(queries[1]))


def random_tree(generator: np.random.Generator) -> TreeCells:
    """A complete tree of depth 2 over random columns and thresholds."""
    columns = generator.integers(0, 3, 3)
    return TreeCells(complete_shape(columns, threshold_sets(generator.integers(1, 7, 3))))


@pytest.mark.parametrize("pending", [1, 2, 3, 5])
@pytest.mark.parametrize("channels", [1, 2, 3])
def test_leaves_are_those_of_the_tree_asked_about_however_many_updates_wait(pending: int, channels: int) -> None:
    """A tree's leaves share memory with those of others: pending updates wrote over what the query was to read."""
    generator = np.random.default_rng(pending)
    table, codes, labels = make(400)
    margins, updates = Margins(), []
    for _ in range(pending):
        cells, values = random_tree(generator), generator.normal(0, 1, 4)
        margins.add(cells, values)
        updates.append((cells, margins.updates[-1].values))
    asked = random_tree(generator)
    rule = RowRule(generator.integers(-99, 99, (2, LEVELS, channels)).astype(np.int32), 1)
    sums = np.sum([values[cells.shape.find(list(codes))] for cells, values in updates], axis=0)
    levels = np.clip((sums >> LEVEL_SHIFT) + LEVELS // 2, 0, LEVELS - 1)
    expected = np.zeros((asked.size, channels), np.int64)
    np.add.at(expected, asked.shape.find(list(codes)), rule.table[labels, levels])
    np.testing.assert_array_equal(table.answer(Histogram(asked, rule, margins)), expected)


def test_an_older_trees_update_keeps_its_leaves_while_a_new_tree_takes_memory_over() -> None:
    """Two trees are kept; the one asked for first is updated next, and a third takes the memory of the other."""
    generator = np.random.default_rng(3)
    table, codes, labels = make(400)
    rule = RowRule(generator.integers(-99, 99, (2, LEVELS, 1)).astype(np.int32), 1)
    first, second, third = (random_tree(generator) for _ in range(3))
    margins = Margins()
    for cells in (first, second):
        table.answer(Histogram(cells, rule, margins))
    margins.add(first, generator.normal(0, 1, 4))
    sums = margins.updates[-1].values[first.shape.find(list(codes))]
    levels = np.clip((sums >> LEVEL_SHIFT) + LEVELS // 2, 0, LEVELS - 1)
    expected = np.zeros((third.size, 1), np.int64)
    np.add.at(expected, third.shape.find(list(codes)), rule.table[labels, levels])
    np.testing.assert_array_equal(table.answer(Histogram(third, rule, margins)), expected)


def test_counts_of_derived_cells_are_not_taken_for_a_columns() -> None:
    table, codes, _ = make(300)
    rule, halves, thirds = count_rule(2), [0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 2, 2]
    derived, other = mapped_cells(1, halves), mapped_cells(1, thirds)
    for turn in range(2):
        if turn:
            table.derive(derived)
        for cells, places in ((derived, halves), (other, thirds), (derived, halves)):
            counts = table.answer(Histogram(cells, rule))[:, 0]
            np.testing.assert_array_equal(counts, np.bincount(np.array(places)[codes[1]]))
