"""Sensitivities, units and tables of every query as numbers, worked out by hand.

The searches for neighbours say that a bound is large enough, and nearly reached; these say what it is.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.models.tree import TreeShape
from tacit.privacy.charges import Gaussian, Laplace
from tacit.queries.cells import OneCell, ProductCells, column_cells, mapped_cells
from tacit.queries.dense.vector_sum import norm_ball
from tacit.queries.histogram import CellFunction, Histogram, ReleaseMap, ResidualLevels, ScoreHistogram
from tacit.queries.joint_bound import FINE, JointBound, JointPart, joint_sensitivity
from tacit.queries.keys import KEY_UNIT, KeyCounts, gaussian_tail, laplace_tail
from tacit.queries.margins import Margins, Scores
from tacit.queries.query import Layout, Sensitivity, largest_difference, largest_vector
from tacit.queries.rules import (
    COUNT_UNIT,
    N_LEVELS,
    OCTAVES,
    STEPS,
    WEIGHT_UNIT,
    LabelWeights,
    class_count_rule,
    count_rule,
    level_weights,
    weight_levels,
    weighted_rule,
)
from tacit.queries.score_rules import (
    SoftmaxRule,
    TargetScale,
)
from tacit.queries.selection import Selection, floored, floored_movement, per_query
from tacit.queries.tree_cells import (
    SplitHistogram,
    TreeCells,
)
from tests.queries.by_hand import ADD, REPLACE, moves, rule_of

# sensitivities and norms


def test_l2_is_the_root_rounded_up() -> None:
    assert Sensitivity(1, 49, "x").l2 == 7.0
    for square in (2, 3, 48, 50, 10**15 + 1, (1 << 52) + 1):
        root = Sensitivity(1, square, "x").l2
        assert root > math.sqrt(square) or root == math.nextafter(math.sqrt(square), math.inf)
        assert root <= math.nextafter(math.sqrt(square), math.inf)
    # the double nearest to this root is a whole number below it
    assert Sensitivity(1, (1 << 54) + 2, "x").l2 > float(1 << 27)


def test_rows_of_a_unit_add_up() -> None:
    one = Sensitivity(5, 13, "x")
    assert one.times(1) is one
    assert (one.times(3).l1, one.times(3).l2_squared) == (15, 117)
    assert one.times(3).theorem == "x; 3 rows per unit"


def test_norms_of_lines() -> None:
    assert largest_vector(np.array([[3, -4], [6, 0], [-2, -3]])) == (7, 36)
    assert largest_vector(np.zeros((0, 2), np.int64)) == (0, 0)
    assert largest_difference(np.array([[3, -4, 0], [6, 0, 1], [-2, -3, 0]])) == (12, 74)
    assert largest_difference(np.array([[3], [-4], [5]])) == (9, 81)


def test_many_lines_are_bounded_by_range_and_by_the_longest() -> None:
    """Beyond 512 lines: the smaller of the range per number, and of what two of the longest are apart."""
    spread = np.zeros((600, 3), np.int64)
    spread[:200, 0], spread[200:400, 1], spread[400:, 2] = (np.arange(1, 201) for _ in range(3))
    assert largest_difference(spread) == (400, 2 * 200**2)  # the range says 600 and 3 * 200**2
    signed = spread.copy()
    signed[200:400] *= -1
    assert largest_difference(signed) == (400, 3 * 200**2)  # the longest says 4 * 200**2
    both = np.concatenate([spread, -spread])
    assert largest_difference(both) == (400, 4 * 200**2)  # the range says 3 * 400**2
    assert largest_difference(np.arange(-300, 400)[:, None]) == (699, 699**2)


@pytest.mark.parametrize("seed", range(3))
def test_in_the_plane_many_points_are_exact(seed: int) -> None:
    generator = np.random.default_rng(seed)
    points = generator.integers(-40, 40, (700, 2)) * (1 if seed else np.array([1, 3]))
    gaps = points[:, None, :] - points[None, :, :]
    exact = int(np.abs(gaps).sum(axis=2).max()), int((gaps * gaps).sum(axis=2).max())
    assert largest_difference(points.astype(np.int64)) == exact


def test_a_ball_of_several_dimensions() -> None:
    assert (norm_ball(7, 1, "x").l1, norm_ball(7, 1, "x").l2_squared) == (7, 49)
    assert (norm_ball(7, 3, "x").l1, norm_ball(7, 3, "x").l2_squared) == (13, 49)  # 12.1, rounded up
    assert norm_ball(7, 4, "x").l1 == 15  # 14 and one more: no need to know that the root is whole


# histograms


def test_histograms() -> None:
    rule = rule_of((3, -4), (1, 1))
    cells = column_cells(0, 4)
    assert moves(Histogram(cells, rule), ADD) == (7, 25)
    assert moves(Histogram(cells, rule), REPLACE) == (14, 50)
    one = Histogram(OneCell(), rule)
    assert moves(one, ADD) == (7, 25)
    assert moves(one, REPLACE) == (7, 29)  # (3, -4) and (1, 1), or nothing: 7 and 25; (2, -5): 7 and 29
    assert (one.shape, one.unit, Histogram(cells, rule).shape) == ((1, 2), 3, (4, 2))
    assert Histogram(cells, rule).longest == (7, 25)


def test_a_difference_in_one_cell_may_be_the_larger_one() -> None:
    opposite = rule_of((3, -4), (-3, 4))
    assert moves(Histogram(column_cells(0, 2), opposite), REPLACE) == (14, 100)
    assert moves(Histogram(OneCell(), opposite), REPLACE) == (14, 100)


def test_histograms_through_a_map() -> None:
    positive, signed = rule_of((3, 4), (1, 1)), rule_of((3, -4), (1, 1))
    plain = ReleaseMap(np.array([[1, 2, 0], [2, 1, 2]]), 5)
    minus = ReleaseMap(np.array([[1, 2, 0], [2, -1, 2]]), 5)
    assert plain.column_norms == (3, 5)
    cells = column_cells(0, 3)
    for rule in (positive, signed):
        for public in (plain, minus):
            query = Histogram(cells, rule, release_map=public)
            apart = 2 if rule is positive and public is plain else 4
            assert moves(query, ADD) == (21, 125)
            assert moves(query, REPLACE) == (42, apart * 125)
            assert (query.shape, query.unit) == ((2, 2), 15)
    assert ReleaseMap.from_floats(np.array([[0.9999, -0.9999]]), 10).matrix.tolist() == [[9, -9]]
    assert ReleaseMap.from_floats(np.eye(1)).matrix.tolist() == [[4096]]


def test_histograms_of_scores_and_their_weights() -> None:
    cells, scores = column_cells(0, 3), Scores(3)
    rule, weights = SoftmaxRule(3), LabelWeights.of((1.0, 0.5, 0.25), level_weights())
    one = WEIGHT_UNIT
    l1 = math.ceil(math.sqrt(3) * one)
    plain, weighted = ScoreHistogram(cells, rule, scores), ScoreHistogram(cells, rule, scores, None, weights)
    assert moves(plain, ADD) == (l1, one**2)
    assert moves(plain, REPLACE) == (2 * l1, 4 * one**2)  # opposite vectors in one cell
    assert moves(weighted, ADD) == (64 * l1, (64 * one) ** 2)
    assert moves(ScoreHistogram(OneCell(), rule, scores), REPLACE) == (2 * l1, 4 * one**2)
    assert moves(ScoreHistogram(OneCell(), rule, scores, None, weights), REPLACE) == (128 * l1, 4 * (64 * one) ** 2)
    public = ReleaseMap(np.array([[1, 2, 0], [2, 1, 2]]), 5)
    mapped = ScoreHistogram(cells, rule, scores, public, weights)
    assert moves(mapped, ADD) == (3 * 64 * l1, 5 * (64 * one) ** 2)
    assert moves(mapped, REPLACE) == (6 * 64 * l1, 20 * (64 * one) ** 2)
    assert (plain.unit, weighted.unit, mapped.unit) == (one, 64 * one, 320 * one)
    assert (plain.longest[1], weighted.longest[1]) == (one**2, (64 * one) ** 2)
    assert (plain.shape, mapped.shape) == ((3, 3), (2, 3))


def test_counts_by_residual() -> None:
    scale = TargetScale(1 << 23, 1 << 14)
    plain = ResidualLevels(scale, np.array([-5, 0, 9]), Scores(1))
    weighted = ResidualLevels(scale, np.array([-5, 0, 9]), Scores(1), LabelWeights.of((1.0,), level_weights()))
    for asked, unit in ((plain, COUNT_UNIT), (weighted, WEIGHT_UNIT)):
        assert (asked.shape, asked.unit) == ((4, 1), unit)
        assert moves(asked, ADD) == (unit, unit**2)
        assert moves(asked, REPLACE) == (2 * unit, 2 * unit**2)
    for edges in ([], [3, 3], [3, 2]):
        with pytest.raises(ValueError, match="increasing edges"):
            ResidualLevels(scale, np.array(edges, np.int64), Scores(1))
    with pytest.raises(ValueError, match="one score"):
        ResidualLevels(scale, np.array([0]), Scores(2))


def test_functions_of_cells() -> None:
    for cells, touched in ((column_cells(0, 3), 2), (OneCell(), 1)):
        asked = CellFunction(Histogram(cells, rule_of((1,), (2,))), lambda sums: int(sums[0]), 7, 5)
        assert moves(asked, ADD) == (14, 196)
        assert moves(asked, REPLACE) == (14 * touched, 196 * touched)
        assert asked.shape == (cells.size,)
    assert asked.finish(np.array([[8], [-8], [6]])).tolist() == [7, -7, 6]
    wide = CellFunction(Histogram(OneCell(), rule_of((1,), (2,))), lambda sums: int(sums[0]), 1000, 5)
    assert wide.finish(np.array([[1001], [-1001], [999]])).tolist() == [1000, -1000, 999]
    CellFunction(Histogram(OneCell(), rule_of((1,), (2,))), lambda _: 0, 1, 1)
    for bound, unit in ((0, 5), (7, 0)):
        with pytest.raises(ValueError, match="positive"):
            CellFunction(Histogram(OneCell(), rule_of((1,), (2,))), lambda _: 0, bound, unit)


def test_split_histograms() -> None:
    shape = TreeShape(np.zeros(0, np.int64), np.zeros((0, 32), np.uint8), np.zeros((0, 2), np.int64))
    query = SplitHistogram(TreeCells(shape), (0, 2, 5), (4, 3, 2), rule_of((5,), (7,)), Margins())
    assert moves(query, ADD) == (21, 3 * 49)
    assert moves(query, REPLACE) == (42, 6 * 49)
    assert (query.shape, query.offsets.tolist(), query.unit) == ((1, 9, 2), [0, 4, 7], 3)
    SplitHistogram(TreeCells(shape), (0,), (4,), rule_of((0,), (7,)), Margins())
    for wrong in (rule_of((-1,), (7,)), rule_of((1, 1), (7, 7)), rule_of((1,), (7,), (7,))):
        with pytest.raises(ValueError, match="one weight per row"):
            SplitHistogram(TreeCells(shape), (0,), (4,), wrong, Margins())


# cells, weights, choices, keys


def test_cells_of_several_columns_are_numbered_row_by_row() -> None:
    cells = ProductCells((4, 1, 0), tuple(np.arange(n) for n in (2, 3, 5)), (2, 3, 5))
    assert cells.size == 30
    assert [offsets.tolist() for offsets in cells.offsets] == [[0, 15], [0, 5, 10], [0, 1, 2, 3, 4]]
    assert mapped_cells(0, [2, 0, 1, 2]).size == 3
    for mapping in ([0, 3], [-1, 0], []):
        with pytest.raises(ValueError, match="values in 0"):
            ProductCells((0,), (np.array(mapping, np.int64),), (3,))


def test_levels_of_weights() -> None:
    weights = level_weights()
    assert (STEPS, OCTAVES, N_LEVELS) == (10, 12, 121)
    assert (weights[0], weights[120], weights[110], weights[1]) == (0.0, 1.0, 0.5, 2.0**-11.9)
    assert weight_levels([1.0, 0.5, 2.0**-11.9, 2.0**-12, 7.0, -1.0, math.nan]).tolist() == [120, 110, 1, 0, 120, 0, 0]
    made = LabelWeights.of((1.0, 0.25), np.array([0.0, 0.7, 1.0]))
    assert made.classes.tolist() == [0, 0, 0, 1, 1, 1]
    floors = [0, math.floor(0.7 * WEIGHT_UNIT), WEIGHT_UNIT, 0, math.floor(0.175 * WEIGHT_UNIT), WEIGHT_UNIT // 4]
    assert made.factors.tolist() == floors
    for factor in (-1, WEIGHT_UNIT + 1):
        with pytest.raises(ValueError, match="factor"):
            LabelWeights(np.zeros(1, np.uint8), np.array([factor]))


def test_units_of_weighted_rules() -> None:
    """As fine as fits WEIGHT_UNIT, so that small weights survive; a rule that is finer already stays as it is."""
    assert (count_rule(2).unit, class_count_rule(2).unit) == (1, 1)
    assert count_rule(2).table.ravel().tolist() == [1, 1]
    counts = weighted_rule(count_rule(2), (1.0, 0.5), np.array([0.25, 1.0]))
    assert counts.unit == WEIGHT_UNIT
    assert counts.table.ravel().tolist() == [WEIGHT_UNIT // 4, WEIGHT_UNIT, WEIGHT_UNIT // 8, WEIGHT_UNIT // 2]
    fives = weighted_rule(rule_of((5,), (3,)), (1.0, 1.0), np.ones(1))
    assert (fives.unit, fives.longest[0]) == (3 * (WEIGHT_UNIT // 5), 5 * (WEIGHT_UNIT // 5))
    large = weighted_rule(rule_of((3 * WEIGHT_UNIT,), (1,)), (0.5, 1.0), np.ones(1))
    assert (large.unit, large.table.ravel().tolist()) == (3, [3 * WEIGHT_UNIT // 2, 1])


def test_layouts() -> None:
    layout = Layout((4, 9), 2)
    assert (layout.n_columns, layout.n_dense) == (2, 0)
    assert layout.coarsened(1, np.array([0, 2, 1])) == Layout((4, 3), 2, 0)


def test_rows_bounded_together() -> None:
    """Two parts of precisions 1 and 1/4: shares 4/5 and 1/5; squared lengths (25, 4) and (9, 16, 0)."""
    parts = (
        JointPart("a", column_cells(0, 2), ReleaseMap(np.array([[3, 2], [4, 0]]), 6), Gaussian(1.0)),
        JointPart("b", column_cells(1, 3), ReleaseMap(np.array([[3, -4, 0]]), 6), Gaussian(2.0)),
    )
    bound = JointBound(parts, 10)
    assert FINE == 16
    costs = [made.tolist() for made in bound.costs]
    assert costs == [[321, 52], [29, 52, 0]]  # 320, 51.2; 28.8, 51.2, rounded up after a safe step
    assert len(bound.lengths) == N_LEVELS - 1
    assert bound.lengths[0] == 159  # 160, but for a safe step
    assert bound.lengths[5] == 319
    assert bound.lengths[7] == math.floor(160 * 2**1.4)
    assert bound.levels(np.array([159, 160, 319, 320, 1 << 62])).tolist() == [120, 119, 115, 114, 0]
    for relation, times in ((ADD, 1), (REPLACE, 4)):
        result = joint_sensitivity(bound, (7, 49), relation)
        assert (result.l1, result.l2_squared) == (times * 490, times * 490)
    JointBound(parts, 1)


def test_rows_bounded_together_in_laplace_noise() -> None:
    """The same parts with epsilons 1 and 1/4: lengths (7, 2) and (3, 4, 0)."""
    parts = (
        JointPart("a", column_cells(0, 2), ReleaseMap(np.array([[3, 2], [4, 0]]), 6), Laplace(1.0)),
        JointPart("b", column_cells(1, 3), ReleaseMap(np.array([[3, -4, 0]]), 6), Laplace(4.0)),
    )
    bound = JointBound(parts, 10)
    assert [made.tolist() for made in bound.costs] == [[90, 26], [10, 13, 0]]  # 89.6, 25.6; 9.6, 12.8, rounded up
    assert bound.lengths[0] == 159  # 160, but for a safe step
    assert bound.lengths[5] == math.floor(160 * 2**0.5)
    assert bound.lengths[10] == 319
    for relation, times in ((ADD, 1), (REPLACE, 2)):
        result = joint_sensitivity(bound, (7, 49), relation)
        assert (result.l1, result.l2_squared) == (times * 70, times**2 * 4900)


def test_choices() -> None:
    query = Histogram(OneCell(), rule_of((1,), (1,)))

    def selection(nodes: int, replaced: int | None = None, movement: int = 5) -> Selection:
        return Selection((query,), lambda _: np.zeros((1, 2), np.int64), (nodes, 2), movement, "x", replaced)

    assert [selection(1).score_range(relation) for relation in (ADD, REPLACE)] == [5, 10]
    assert [selection(1, 7).score_range(relation) for relation in (ADD, REPLACE)] == [5, 7]
    assert [selection(2, 7).score_range(REPLACE), selection(2, 11).score_range(REPLACE)] == [10, 11]
    selection(1, 1, 1)
    for nodes, replaced, movement in ((0, None, 5), (1, 0, 5), (1, None, 0)):
        with pytest.raises(ValueError, match=r"positive|at least one"):
            selection(nodes, replaced, movement)
    side_by_side = per_query(lambda position, answer: (position + 1) * answer)
    assert side_by_side(iter([np.array([[1, 2]]), np.array([[3]])])).tolist() == [[1, 2, 6]]


def test_real_scores_as_integers() -> None:
    values = np.array([0.99, -0.01, math.inf, -math.inf, math.nan, 1e300])
    assert floored(values, 10).tolist() == [9, -1, -(2**62), -(2**62), -(2**62), 2**62]
    assert floored_movement(-0.5, 1.25, 8, 0.0) == 11 + 5  # 10 and -4, each a step outwards
    assert floored_movement(0.0, 1.0, 10, 0.25) == 16 + 6  # 15 and -5
    floored_movement(1.0, 1.0, 8, 0.0)
    with pytest.raises(ValueError, match="must not exceed"):
        floored_movement(1.1, 1.0, 8, 0.0)


def test_keys() -> None:
    assert moves(KeyCounts(), ADD) == (KEY_UNIT, KEY_UNIT**2)
    assert moves(KeyCounts(), REPLACE) == (2 * KEY_UNIT, 2 * KEY_UNIT**2)
    assert gaussian_tail(20.0, 31) == pytest.approx(0.5 * math.erfc(1.5 / math.sqrt(2)))
    assert laplace_tail(20.0, 30) == pytest.approx(math.exp(-1.5) / (1 + math.exp(-0.05)))
    for tail in (gaussian_tail, laplace_tail):
        assert (tail(20.0, 0), tail(20.0, -5)) == (1.0, 1.0)
        assert tail(20.0, 1) < 1.0
    # of three rows a unit may hold one key three times, or three keys once
    flat, steep = (KeyCounts.leak(500, lambda least, base=base: base ** (-least / 64), 3) for base in (1.2, 16.0))
    assert flat == pytest.approx(3 * 1.2 ** (1 - 500 / 64))
    assert steep == pytest.approx(16.0 ** (3 - 500 / 64))
