"""Trees: the leaf of a row, its path, its explanation, its JSON; and the tree as cells of a query."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

from tacit.checks import check_query
from tacit.encoding.values import DROPPED
from tacit.engines.blocks import MemoryTable
from tacit.models.tree import Tree, TreeShape, code_set, complete_shape, threshold_sets
from tacit.privacy.unit import Neighbouring
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.rules import class_count_rule
from tacit.queries.tree_cells import (
    HESSIAN_IS_FREE,
    SplitHistogram,
    TreeCells,
    class_weight_rule,
    logistic_gradient_rule,
    middle_margins,
)
from tacit.trees.losses import MAlphaLoss


def random_shape(rng: np.random.Generator, splits: int, columns: int) -> TreeShape:
    """A tree of any form, with tests on any set of codes."""
    left_sizes = {}

    def grow(size: int, out: list[list[int]], leaf: list[int]) -> int:
        if size == 0:
            leaf[0] += 1
            return -leaf[0]
        node = len(out)
        out.append([0, 0])
        left = int(rng.integers(0, size))
        left_sizes[node] = left
        out[node][0] = grow(left, out, leaf)
        out[node][1] = grow(size - 1 - left, out, leaf)
        return node

    children: list[list[int]] = []
    grow(splits, children, [0])
    right = np.array([code_set(rng.random(256) < 0.5) for _ in range(splits)], np.uint8).reshape(splits, 32)
    return TreeShape(rng.integers(0, columns, splits), right, np.array(children, np.int64).reshape(splits, 2))


def walk(shape: TreeShape, row: np.ndarray) -> int:
    node = 0 if shape.n_splits else -1
    while node >= 0:
        node = int(shape.children[node, int(shape.goes_right(node)[row[shape.columns[node]]])])
    return -1 - node


@pytest.mark.parametrize("splits", [0, 1, 5, 63, 64, 200])
def test_find_is_the_walk(splits: int) -> None:
    rng = np.random.default_rng(splits)
    shape = random_shape(rng, splits, 7)
    rows = rng.integers(0, 256, (300, 7)).astype(np.uint8)
    result = shape.find(list(np.ascontiguousarray(rows.T)))
    assert result.tolist() == [walk(shape, row) for row in rows]
    assert len(set(result.tolist())) > min(splits, 3)


def test_complete_trees_and_thresholds() -> None:
    shape = complete_shape([0, 1, 1], threshold_sets([9, 4, 200]))
    assert shape.children.tolist() == [[1, 2], [-1, -2], [-3, -4]]
    assert (shape.depth, shape.n_leaves) == (2, 4)
    codes = [np.array([9, 9, 10, 10], np.uint8), np.array([4, 5, 200, 201], np.uint8)]
    assert shape.find(codes).tolist() == [0, 1, 2, 3]
    assert shape.path(2) == [(0, True), (2, False)]
    assert complete_shape([], np.zeros((0, 32), np.uint8)).n_leaves == 1
    with pytest.raises(ValueError, match="complete"):
        complete_shape([0, 1], threshold_sets([1, 1]))


def test_leaves_must_be_numbered_from_the_left() -> None:
    sets = threshold_sets([1, 1])
    TreeShape(np.array([0, 0]), sets, np.array([[-1, 1], [-2, -3]]))
    with pytest.raises(ValueError, match="left to right"):
        TreeShape(np.array([0, 0]), sets, np.array([[-2, 1], [-1, -3]]))
    many = 1 << 16
    columns = np.zeros(many, np.int64)
    children = np.stack([-1 - np.arange(many), np.append(np.arange(1, many), -1 - many)], axis=1)
    with pytest.raises(ValueError, match="at most"):
        TreeShape(columns, np.zeros((many, 32), np.uint8), children)


def test_json_round_trip() -> None:
    rng = np.random.default_rng(3)
    for shape in (random_shape(rng, 20, 4), complete_shape([0, 1, 1], threshold_sets([9, 4, 255]))):
        tree = Tree(shape, rng.normal(size=shape.n_leaves), rng.random(shape.n_leaves))
        again = Tree.from_dict(json.loads(json.dumps(tree.to_dict())))
        assert np.array_equal(again.shape.right, shape.right)
        assert np.array_equal(again.shape.children, shape.children)
        assert np.array_equal(again.values, tree.values)
    assert complete_shape([3], threshold_sets([9])).to_dict() == {"complete": {"columns": [3], "right": [9]}}


def test_explanations_add_up_and_gains_are_explained_variance() -> None:
    rng = np.random.default_rng(4)
    shape = random_shape(rng, 30, 5)
    tree = Tree(shape, rng.normal(size=31), rng.random(31) * 100)
    total = tree.node_mean(0) + tree.leaf_contributions.sum(axis=1)
    assert total == pytest.approx(tree.values)
    mean = np.average(tree.values, weights=tree.support)
    assert tree.node_mean(0) == pytest.approx(mean)
    variance = (tree.support * (tree.values - mean) ** 2).sum()
    assert tree.split_gains().sum() == pytest.approx(variance)


def test_the_engine_sums_by_leaf_and_updates_margins() -> None:
    """Against numpy, for both engines' thread counts and trees of one and of several mask words."""
    rng = np.random.default_rng(5)
    n, columns = 140_000, 4
    codes = [rng.integers(0, 250, n).astype(np.uint8) for _ in range(columns)]
    labels = rng.integers(0, 2, n).astype(np.uint8)
    rule = logistic_gradient_rule(0.55, 0.87, 2)
    for threads, splits in ((1, 63), (2, 150)):
        table = MemoryTable(codes, labels, [250] * columns, 2, threads=threads)
        margins, score = Margins(), np.zeros(n, np.int64)
        for _ in range(3):
            cells = TreeCells(random_shape(rng, splits, columns))
            level = np.clip((score >> 9) + 1024, 0, 2047)
            leaf = cells.shape.find(codes)
            expected = np.zeros((cells.size, 2), np.int64)
            np.add.at(expected, leaf, rule.table[labels, level].astype(np.int64))
            assert np.array_equal(table.answer(Histogram(cells, rule, margins)), expected)
            values = rng.normal(size=cells.size)
            margins.add(cells, values)
            score += np.rint(values * 65536).astype(np.int64)[leaf]
        counts = table.answer(Histogram(cells, class_count_rule(2)))
        assert np.array_equal(counts[:, 1], np.bincount(leaf, weights=labels, minlength=cells.size))


def test_trees_ask_for_bytes() -> None:
    table = MemoryTable([np.zeros(5, np.uint16)], np.zeros(5, np.uint8), [300], 2)
    cells = TreeCells(complete_shape([0], threshold_sets([4])))
    with pytest.raises(TypeError, match="coarsen"):
        table.answer(Histogram(cells, class_count_rule(2)))


@pytest.mark.parametrize("variance", [False, True])
@pytest.mark.parametrize(("clip", "scale", "norm"), [(0.55, 0.87, 2), (1.0, 3.33, 2), (0.55, 0.3, 1), (1.0, 1.0, 1)])
def test_no_row_contributes_more_than_the_clip(clip: float, scale: float, norm: int, variance: bool) -> None:
    """In exact integers; and the bound is reached, so a constant 10 % smaller would be found out."""
    rule = logistic_gradient_rule(clip, scale, norm, variance)
    limit = clip * rule.unit
    vectors = rule.table.reshape(-1, 2).astype(object)
    longest = max(sum(abs(v) ** norm for v in row) for row in vectors)
    assert longest <= limit**norm
    assert longest > (0.99 * limit) ** norm
    p = 1 / (1 + np.exp(-middle_margins()))
    assert np.all(np.abs(rule.table[1, :, 0]) <= (1 - p) * rule.unit)
    assert np.all(rule.table[0, :, 0] <= 0)


@pytest.mark.parametrize(("clip", "scale", "norm"), [(0.55, 0.87, 2), (0.505, 0.27, 2), (1.0, 3.33, 2), (0.65, 0.6, 1)])
def test_rows_whose_label_is_as_likely_as_their_score_says_push_nowhere(clip: float, scale: float, norm: int) -> None:
    """The optimum is the log-odds, at every margin and to the rounding of the table; and its slope is the curvature."""
    rule, p = logistic_gradient_rule(clip, scale, norm), 1 / (1 + np.exp(-middle_margins()))
    push = p * rule.table[1, :, 0] + (1 - p) * rule.table[0, :, 0]
    assert np.abs(push).max() <= 1
    assert np.array_equal(rule.table[0, :, 1], rule.table[1, :, 1])  # one weight for both labels
    slope = (p * (1 - p)) * (rule.table[1, :, 0] - rule.table[0, :, 0])  # of the push, in the chance of label 1
    assert np.abs(slope * scale - rule.table[0, :, 1]).max() <= 2 + 2 * scale


def test_the_second_number_may_be_the_variance_of_the_first() -> None:
    """Of labels that are as likely as scores say, to the rounding of the table."""
    rule, p = logistic_gradient_rule(0.55, 0.87, 2, variance=True), 1 / (1 + np.exp(-middle_margins()))
    values = rule.table[:, :, 0] / rule.unit
    variance = p * values[1] ** 2 + (1 - p) * values[0] ** 2 - (p * values[1] + (1 - p) * values[0]) ** 2
    assert np.abs(0.87 * variance - rule.table[0, :, 1] / rule.unit).max() < 1e-3
    assert np.array_equal(rule.table[0, :, 1], rule.table[1, :, 1])


def test_the_hessian_is_free_up_to_the_stated_constant() -> None:
    """With clip 1, c^2 = 11.09 clips no row under the L2 norm and 10 % more does; under L1 the limit is c = 1."""
    p = np.linspace(0, 1, 100001)
    for scale_squared, free in ((HESSIAN_IS_FREE, True), (1.1 * HESSIAN_IS_FREE, False)):
        assert bool(np.all(p**2 + scale_squared * (p * (1 - p)) ** 2 <= 1 + 1e-12)) is free
    assert np.all(p + p * (1 - p) <= 1 + 1e-12)
    assert np.any(p + 1.1 * p * (1 - p) > 1)


@pytest.mark.parametrize("columns", [(0, 2), (2,), (0, 2, 1)])
def test_the_engine_counts_class_weights_for_splits(columns: tuple[int, ...]) -> None:
    """Against numpy; and the declared bound is what neighbours can move it by."""
    rng = np.random.default_rng(9)
    n, sizes = 70_000, (4, 250, 2)
    codes = [rng.integers(0, size, n).astype(np.uint8) for size in sizes]
    labels = rng.integers(0, 2, n).astype(np.uint8)
    rule = class_weight_rule(MAlphaLoss(0.5).boosting_weight, split=False)
    margins = Margins()
    first = TreeCells(complete_shape([1], threshold_sets([100])))
    margins.add(first, [2.5, -2.5])
    score = np.where(codes[1] > 100, -2.5, 2.5)
    level = np.clip((score * 128).astype(int) + 1024, 0, 2047)
    cells = TreeCells(complete_shape([0, 1, 1], threshold_sets([1, 60, 180])))
    query = SplitHistogram(cells, columns, tuple(sizes[column] for column in columns), rule, margins)
    expected = np.zeros(query.shape, np.int64)
    leaf, weight = cells.shape.find(codes), rule.table[labels, level, 0]
    for offset, column in zip(query.offsets, columns, strict=True):
        np.add.at(expected, (leaf, offset + codes[column], labels), weight)
    for threads in (1, 2):
        table = MemoryTable(codes, labels, sizes, 2, threads=threads)
        assert np.array_equal(table.answer(query), expected)
    one = [c[:1] for c in codes]
    single = MemoryTable(one, labels[:1], sizes, 2).answer(query)
    none = MemoryTable([c[:0] for c in codes], labels[:0], sizes, 2).answer(query)
    bound = query.sensitivity(Neighbouring.ADD_OR_REMOVE_ONE)
    assert int(np.abs(single - none).sum()) == len(columns) * int(weight[0]) <= bound.l1
    assert int(((single - none) ** 2).sum()) <= bound.l2_squared
    assert bound.l1 == len(columns) * int(rule.table.max()) <= len(columns) * rule.unit


@pytest.mark.sensitivity_of("SplitHistogram")
def test_no_neighbour_moves_counts_for_splits_farther_than_declared() -> None:
    rule, margins = class_weight_rule(MAlphaLoss(0.5).boosting_weight, split=False), Margins()
    margins.add(TreeCells(complete_shape([0], threshold_sets([1]))), [3.0, -3.0])
    query = SplitHistogram(TreeCells(complete_shape([0], threshold_sets([1]))), (0, 1), (3, 2), rule, margins)

    def sealed(rows: list[tuple[int, int, int]]) -> MemoryTable:
        data = np.array(rows, np.uint8).reshape(-1, 3)
        return MemoryTable([data[:, 0], data[:, 1]], data[:, 2], (3, 2), 2)

    check_query(query, product(range(3), range(2), (0, 1, DROPPED)), sealed, tight=0.9)


def test_class_weight_rules() -> None:
    loss = MAlphaLoss(1.0)
    together, apart = (class_weight_rule(loss.boosting_weight, split) for split in (False, True))
    assert np.array_equal(apart.table.sum(axis=2), together.table[:, :, 0])
    assert np.all(apart.table[0, :, 1] == 0)
    assert together.table.min() > 0
    assert together.table.max() <= together.unit
    assert np.all(np.diff(together.table[1, :, 0]) <= 0)
    with pytest.raises(ValueError, match="one weight"):
        SplitHistogram(TreeCells(complete_shape([], threshold_sets([]))), (0,), (2,), apart, Margins())


def test_a_split_query_is_answered_afresh_when_margins_move() -> None:
    rng = np.random.default_rng(2)
    codes = [rng.integers(0, 4, 500).astype(np.uint8)]
    labels = rng.integers(0, 2, 500).astype(np.uint8)
    margins, cells = Margins(), TreeCells(complete_shape([0], threshold_sets([1])))
    rule = class_weight_rule(MAlphaLoss(1.0).boosting_weight, split=False)
    query = SplitHistogram(cells, (0,), (4,), rule, margins)
    table = MemoryTable(codes, labels, [4], 2)
    first = table.answer(query)
    assert np.array_equal(table.answer(query), first)
    margins.add(cells, [1.0, -1.0])
    assert np.array_equal(table.answer(query), MemoryTable(codes, labels, [4], 2).answer(query))
    assert not np.array_equal(table.answer(query), first)


def test_a_split_query_that_does_not_know_the_columns_codes_or_classes_is_refused() -> None:
    rule = class_weight_rule(MAlphaLoss(1.0).boosting_weight, split=False)
    cells = TreeCells(complete_shape([], threshold_sets([])))
    table = MemoryTable([np.array([3], np.uint8)], np.array([1], np.uint8), [4], 2)
    with pytest.raises(ValueError, match="codes"):
        table.answer(SplitHistogram(cells, (0,), (3,), rule, Margins()))
    with pytest.raises(ValueError, match="two classes"):
        SplitHistogram(cells, (0,), (4,), rule, Margins(), np.array([0, 2], np.uint8))
    with pytest.raises(ValueError, match="two classes"):
        SplitHistogram(cells, (0,), (4,), rule, Margins(), np.zeros(3, np.uint8))


def test_a_level_made_from_the_one_above_is_exact() -> None:
    """Right children as parent minus sibling: the same integers as from all rows, and only where it applies."""
    rng = np.random.default_rng(12)
    n, sizes = 90_000, (5, 200)
    codes = [rng.integers(0, size, n).astype(np.uint8) for size in sizes]
    labels = rng.integers(0, 2, n).astype(np.uint8)
    rule, margins = class_weight_rule(MAlphaLoss(1.0).boosting_weight, split=False), Margins()
    margins.add(TreeCells(complete_shape([1], threshold_sets([99]))), [0.7, -0.4])
    tests, cuts = [0, 1, 1, 0, 1, 1, 0], [1, 50, 120, 3, 20, 160, 0]
    table = MemoryTable(codes, labels, sizes, 2, threads=2)
    previous = None
    for splits in (0, 1, 3, 7):
        cells = TreeCells(complete_shape(tests[:splits], threshold_sets(cuts[:splits])))
        query = SplitHistogram(cells, (0, 1), sizes, rule, margins)
        assert previous is None or query.is_next_level_of(previous)
        assert np.array_equal(table.answer(query), MemoryTable(codes, labels, sizes, 2).answer(query))
        previous = query
    other = SplitHistogram(TreeCells(complete_shape([1], threshold_sets([7]))), (0, 1), sizes, rule, margins)
    after = SplitHistogram(TreeCells(complete_shape(tests[:3], threshold_sets(cuts[:3]))), (0, 1), sizes, rule, margins)
    assert not after.is_next_level_of(other)
    table.answer(other)
    assert np.array_equal(table.answer(after), MemoryTable(codes, labels, sizes, 2).answer(after))


def test_the_diameter_of_a_rule_is_exact() -> None:
    """By its convex hull, against all pairs; a dropped row contributes nothing and counts too."""
    for rule in (logistic_gradient_rule(0.55, 0.87, 2), class_weight_rule(MAlphaLoss(0.5).boosting_weight, split=True)):
        points = np.concatenate([rule.vectors, [[0, 0]]])
        l1 = l2_squared = 0
        for start in range(0, len(points), 64):
            gaps = points[start : start + 64, None] - points[None]
            l1 = max(l1, int(np.abs(gaps).sum(axis=2).max()))
            l2_squared = max(l2_squared, int((gaps * gaps).sum(axis=2).max()))
        assert rule.diameter == (l1, l2_squared)


@pytest.mark.parametrize("depth", [1, 2, 6, 7, 8, 9, 10])
@pytest.mark.parametrize("columns", [1, 4, 6, 9])
@pytest.mark.parametrize("sets", [False, True])
def test_tables_of_masks_lead_every_row_where_its_tests_lead_it(depth: int, columns: int, sets: bool) -> None:
    """One step and two, few columns and many, thresholds and other sets of codes among them."""
    rng = np.random.default_rng(depth)
    splits = 2**depth - 1
    right = threshold_sets(rng.integers(-1, 256, splits))
    if sets:
        right[::3] = rng.integers(0, 256, right[::3].shape)
    shape = complete_shape(rng.integers(0, columns, splits), right)
    rows = rng.integers(0, 256, (60, columns)).astype(np.uint8)
    assert shape.find(list(np.ascontiguousarray(rows.T))).tolist() == [walk(shape, row) for row in rows]
    assert np.array_equal(TreeShape.from_dict(shape.to_dict()).right, right)
