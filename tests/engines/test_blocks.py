"""A table in blocks answers as one in a single block does: every kind of query, every cut, bit for bit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tacit.engines.blocks import BlockTable
from tacit.engines.dense import DenseRows
from tacit.engines.rows import Rows
from tacit.models.tree import TreeShape, complete_shape, threshold_sets
from tacit.privacy.charges import Gaussian
from tacit.queries.cells import OneCell, ProductCells, column_cells, mapped_cells
from tacit.queries.covers.candidates import Conjunctions, StreamedConjunctions
from tacit.queries.dense.halfspace_log import HalfspaceLog
from tacit.queries.dense.vector_sum import TICKS, CappedSum
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.joint_bound import JointBound, JointHistogram, JointPart
from tacit.queries.margins import Margins
from tacit.queries.query import Layout
from tacit.queries.rules import LabelWeights, count_rule, level_weights, signed_margin_rule, weighted_rule
from tacit.queries.tree_cells import SplitHistogram, TreeCells, class_weight_rule
from tests.engines.test_dense import LEVELS
from tests.engines.test_passes import N_CODES, ROWS, margin, queries, world

CUTS: dict[str, list[int]] = {
    "1 block": [],
    "3 blocks": [1, 217],
    "17 blocks, some empty": [0, 0, 9, 40, 40, 100, 101, 150, 200, 256, 300, 301, 420, 500, 599, 600],
}


def table(cut: str, **columns: Any) -> BlockTable:
    """The rows of the world, cut."""
    rows = world() | columns
    edges = [0, *CUTS[cut], ROWS]
    blocks = []
    for low, high in pairwise(edges):
        part = slice(low, high)
        dense = DenseRows(rows["dense"][part], 100, 3)
        held = [column[part] for column in rows["columns"]]
        blocks.append(Rows(held, rows["labels"][part], Layout(N_CODES, 2, 3), 1, dense, rows["targets"][part]))
    return BlockTable(blocks)


@pytest.fixture(params=list(CUTS)[1:])
def cut(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("name", list(queries()))
def test_every_query_has_the_answer_that_one_block_gives(name: str, cut: str) -> None:
    query = queries()[name]
    whole = table("1 block").answer(query)
    assert whole.dtype == np.int64
    assert np.abs(whole).sum() > 0
    np.testing.assert_array_equal(table(cut).answer(query), whole)


@pytest.mark.parametrize("total", [1, 37, 211, 599, 10_000])
def test_a_capped_sum_gives_its_last_weights_in_the_order_of_all_rows(total: int, cut: str) -> None:
    """The level that is filled last has more rows than get the last units: which of them, their order says."""
    log = HalfspaceLog(3, 100)
    log.add(np.array([1.0, 0.0, 0.0]), step=0.5)
    ticks = np.rint(LEVELS.middles * 6 * TICKS).astype(np.int64)
    few = np.random.default_rng(3).integers(0, 2, (ROWS, 1)) * 30  # two margins: many rows of each level
    dense = np.hstack([few, world()["dense"][:, 1:]]).astype(np.int16)
    query = CappedSum(log, LEVELS, ticks, total)
    whole, parts = table("1 block", dense=dense), table(cut, dense=dense)
    np.testing.assert_array_equal(parts.answer(query), whole.answer(query))
    if total in (37, 211):
        upside_down = table(cut, dense=dense[::-1].copy(), labels=world()["labels"][::-1].copy())
        assert (upside_down.answer(query) != whole.answer(query)).any()
    log.add(np.array([0.2, -1.0, 0.3]), step=0.5)  # what was counted before is of other margins
    np.testing.assert_array_equal(parts.answer(query), whole.answer(query))


def test_levels_of_a_tree_follow_from_left_children_of_all_blocks(cut: str) -> None:
    margins = Margins()
    margins.add(column_cells(0, 5), np.linspace(-1, 1, 5))
    rule = class_weight_rule(margin, split=False)
    shapes: list[TreeShape] = [
        complete_shape(np.array([1]), threshold_sets(np.array([3]))),
        complete_shape(np.array([1, 0, 0]), threshold_sets(np.array([3, 1, 2]))),
    ]
    requests = [SplitHistogram(TreeCells(shape), (0, 1, 2), N_CODES, rule, margins) for shape in shapes]
    assert requests[1].is_next_level_of(requests[0])
    parts = table(cut)
    in_order = [parts.answer(query) for query in requests]
    for query, answer in zip(requests, in_order, strict=True):
        np.testing.assert_array_equal(answer, table("1 block").answer(query))


def test_counts_that_are_kept_follow_codes_and_margins(cut: str) -> None:
    parts, whole = table(cut), table("1 block")
    margins, counts = Margins(), count_rule(2)
    for each in (parts, whole):
        each.answer(Histogram(column_cells(1, 7), counts))
    margins.add(column_cells(1, 7), np.linspace(-1, 1, 7))
    coarse = np.array([0, 0, 1, 1, 1, 2, 2])
    pair = ProductCells((0, 2), (np.arange(5), np.arange(3)), (5, 3))
    requests = [
        Histogram(column_cells(1, 3), counts),
        Histogram(mapped_cells(1, np.array([0, 1, 1])), signed_margin_rule(margin), margins),
        Histogram(pair, signed_margin_rule(margin), margins),
        Histogram(OneCell(), signed_margin_rule(margin), margins),
    ]
    for each in (parts, whole):
        each.coarsen(1, coarse)
        each.derive(pair)
        assert each.layout.n_codes == (5, 3, 3)
        assert each.is_derived(pair)
    for query in requests:
        np.testing.assert_array_equal(parts.answer(query), whole.answer(query))


def test_products_of_columns_are_answered_together(cut: str) -> None:
    margins, rule = Margins(), signed_margin_rule(margin)
    margins.add(column_cells(0, 5), np.linspace(-1, 1, 5))
    sides = {0: np.arange(5), 1: np.arange(7) // 2, 2: np.arange(3)}
    pairs = [(0, 1), (0, 2), (1, 2)]
    cells = [ProductCells(p, tuple(sides[k] for k in p), tuple(int(sides[k].max()) + 1 for k in p)) for p in pairs]
    requests = [Histogram(each, rule, margins) for each in cells]
    together = table(cut).answer_all(requests)
    for query, answer in zip(requests, together, strict=True):
        np.testing.assert_array_equal(answer, table("1 block").answer(query))


def test_rows_are_bounded_together(cut: str) -> None:
    generator = np.random.default_rng(5)
    cells = [column_cells(column, size) for column, size in enumerate(N_CODES)]
    parts = tuple(
        JointPart(str(k), each, ReleaseMap(generator.integers(-9, 10, (2, each.size)), 16), Gaussian(2.0))
        for k, each in enumerate(cells)
    )
    bound, margins = JointBound(parts, 60), Margins()
    margins.add(cells[0], np.linspace(-1, 1, 5))
    rule = weighted_rule(signed_margin_rule(margin), (1.0, 1.0), level_weights())
    query = JointHistogram(Histogram(cells[1], rule, margins, parts[1].release_map), bound)
    answers = []
    for each in (table(cut), table("1 block")):
        each.bind(bound, 1)
        answers.append(each.answer(query))
    np.testing.assert_array_equal(*answers)
    assert LabelWeights.of((1.0, 1.0), level_weights()).factors.min() == 0  # some rows could weigh nothing


def test_covers_remove_rows_from_every_block(cut: str) -> None:
    columns, truths = (0, 1, 2), (np.arange(5) > 2, np.arange(7) < 3, np.arange(3) == 1)
    listed = Conjunctions(columns, truths, np.array([[0, -1], [1, -1], [0, 1], [2, 1]], np.int32))
    covers = [each.open_cover(listed) for each in (table(cut), table("1 block"))]
    streamed = StreamedConjunctions(columns, truths, 2, False, 2)
    flowing = [each.open_cover(streamed) for each in (table(cut), table("1 block"))]
    for chosen in (2, 0):
        np.testing.assert_array_equal(covers[0].counts, covers[1].counts)
        for block in range(streamed.n_blocks):
            np.testing.assert_array_equal(flowing[0].block(block), flowing[1].block(block))
        for each in (*covers, *flowing):
            each.remove(chosen)
    np.testing.assert_array_equal(covers[0].counts, covers[1].counts)
