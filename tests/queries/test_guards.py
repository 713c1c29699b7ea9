"""Guards of the room: what fits together is taken, and what is off by one, or of another kind, is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tacit.models.tree import TreeShape
from tacit.privacy.charges import Gaussian
from tacit.queries.cells import OneCell, ProductCells, column_cells
from tacit.queries.covers.candidates import check_literals
from tacit.queries.dense.halfspace_log import HalfspaceLog, Levels, MeasureSize
from tacit.queries.dense.moments import MomentSum, ShortenedSquares
from tacit.queries.dense.vector_sum import CappedSum, VectorSum
from tacit.queries.histogram import CellFunction, Histogram, ReleaseMap, ScoreHistogram
from tacit.queries.joint_bound import JointBound, JointPart
from tacit.queries.keys import KeyCounts, gaussian_tail
from tacit.queries.margins import MARGIN_LIMIT, SCORE_LIMIT, Margins, Scores, fixed_point
from tacit.queries.query import squarable
from tacit.queries.rules import LEVELS, WEIGHT_UNIT, LabelWeights, RowRule, count_rule, weighted_rule
from tacit.queries.score_rules import LevelRule, SoftmaxRule
from tacit.queries.selection import Selection
from tacit.queries.tree_cells import SplitHistogram, TreeCells
from tests.queries.by_hand import rule_of

LOG, FOUR = HalfspaceLog(2, 100), Levels(10, 4)
LEAF = TreeCells(TreeShape(np.zeros(0, np.int64), np.zeros((0, 32), np.uint8), np.zeros((0, 2), np.int64)))
ONE = rule_of((1,), (1,))


def by_margin(channels: int, lowest: int = 0) -> RowRule:
    return RowRule(np.full((2, LEVELS, channels), lowest, np.int32), 1)


def by_level(*shape: int) -> LevelRule:
    return LevelRule(np.zeros(shape, np.int32), 1)


def row_rule(*shape: int) -> RowRule:
    return RowRule(np.zeros(shape, np.int32), 1)


def cells(columns: int, maps: int, sizes: int) -> ProductCells:
    return ProductCells((0,) * columns, (np.arange(3),) * maps, (3,) * sizes)


def splits(
    classes: list[int] | None, labels: int = 2, columns: tuple[int, ...] = (0,), codes: tuple[int, ...] = (4,)
) -> SplitHistogram:
    known = None if classes is None else np.array(classes, np.uint8)
    return SplitHistogram(LEAF, columns, codes, rule_of(*((1,),) * labels), Margins(), known)


def joint(*units: int) -> JointBound:
    return JointBound(
        tuple(
            JointPart(str(i), OneCell(), ReleaseMap(np.ones((1, 1), np.int64), u), Gaussian(1.0))
            for i, u in enumerate(units)
        ),
        5,
    )


def selection(queries: int, *shape: int) -> Selection:
    query = Histogram(OneCell(), ONE)
    return Selection((query,) * queries, lambda _: np.zeros((1, 1), np.int64), shape, 1, "x")  # type: ignore[arg-type]


def map_of(columns: int) -> ReleaseMap:
    return ReleaseMap(np.ones((1, columns), np.int64), 1)


FINE: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (Histogram, (OneCell(), by_margin(1), Margins())), (Histogram, (column_cells(0, 3), ONE, None, map_of(3))),
    (ScoreHistogram, (OneCell(), SoftmaxRule(2), Scores(2))),
    (CellFunction, (Histogram(OneCell(), ONE), lambda _: 0, 1, 1)),
    (splits, (None,)), (splits, ([0, 1, 1], 3)), (splits, (None, 2, (0, 1), (4, 5))),
    (row_rule, (2, 1, 1)), (row_rule, (2, LEVELS, 1)), (by_level, (2, LEVELS, 1)),
    (cells, (1, 1, 1)), (cells, (2, 2, 2)), (MomentSum, (1, 9, 100)), (MomentSum, (2, 9, 100)),
    (ShortenedSquares, (9, 100, 2)), (ShortenedSquares, (9, 100, 100**2)),
    (MeasureSize, (LOG, FOUR, np.zeros(4, np.int64), 1)), (VectorSum, (LOG, FOUR, np.zeros(4, np.int64), 1)),
    (CappedSum, (LOG, FOUR, np.zeros(4, np.int64), 1)),
    (joint, (6,)), (joint, (6, 6)), (selection, (1, 1, 1)), (selection, (2, 3, 1)), (Scores, (1,)),
    (KeyCounts.threshold, (math.nextafter(1.0, 0.0), lambda least: gaussian_tail(20.0, least), 1)),
    (check_literals, ([0, (0, 1)], [np.ones(3, np.bool_), np.ones((3, 2), np.bool_)])),
    (LabelWeights, (np.zeros(2, np.uint8), np.array([0, WEIGHT_UNIT]))),
    (weighted_rule, (count_rule(2), (0.0, 1.0), np.array([0.0, 1.0]))),
    (fixed_point, ([1.0, 2.0], (2,), 0, 5)),
]  # fmt: skip

REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (Histogram, (OneCell(), by_margin(1)), "needs margins"),
    *((Histogram, (column_cells(0, 3), ONE, None, map_of(n)), "for 3 cells") for n in (2, 4)),
    *((ScoreHistogram, (OneCell(), SoftmaxRule(2), Scores(n)), "looks at 2") for n in (1, 3)),
    (CellFunction, (Histogram(OneCell(), ONE, None, map_of(1)), lambda _: 0, 1, 1), "as they are"),
    (splits, ([0, 2],), "two classes"),
    (splits, ([0, 1, 1],), "two classes"),
    (splits, (None, 3), "two classes"),
    (splits, (None, 2, (0, 1)), "equal, length"),
    (splits, (None, 2, (), ()), "equal, length"),
    *(
        (row_rule, shape, "int32 table")
        for shape in ((2, 1), (2, 2, 1), (2, LEVELS - 1, 1), (2, LEVELS + 1, 1), (2, 1, 1, 1))
    ),
    *((by_level, shape, "int32 table") for shape in ((2, LEVELS), (2, 1, 1), (2, LEVELS - 1, 1), (2, LEVELS + 1, 1))),
    *((cells, given, "equal, length") for given in ((2, 1, 1), (1, 2, 1), (1, 1, 2), (0, 0, 0))),
    *((MomentSum, (order, 9, 100), "order") for order in (0, 3)),
    *(
        (kind, (LOG, FOUR, np.zeros(n, np.int64), 1), "that many")
        for kind in (MeasureSize, VectorSum, CappedSum)
        for n in (3, 5)
    ),
    (MeasureSize, (LOG, FOUR, np.array([0, 0, -1, 0]), 1), "none negative"),
    *((HalfspaceLog(2).add, ([0.0, x],), "finite") for x in (math.inf, math.nan)),
    (joint, (6, 7), "one unit"),
    (joint, (), "a part"),
    (JointBound, (joint(6).parts, 0), "limit"),
    (JointPart, ("a", column_cells(0, 5), map_of(4), Gaussian(1.0)), "for 5 cells"),
    (ScoreHistogram, (OneCell(), SoftmaxRule(2), Scores(2), map_of(2)), "for 1 cells"),
    (selection, (0, 1, 1), "at least one"),
    (selection, (1, 0, 1), "at least one"),
    (selection, (1, 1, 0), "at least one"),
    (Scores, (0,), "at least one"),
    *((KeyCounts.threshold, (delta, lambda least: 0.0, 1), "positive delta") for delta in (0.0, 1.0, math.nan)),
    (check_literals, ([0], []), "1 columns for 0"),
    (check_literals, ([0], [np.ones(3)]), "boolean"),
    (check_literals, ([0], [np.ones((3, 2), np.bool_)]), "boolean"),
    (check_literals, ([(0, 1)], [np.ones(3, np.bool_)]), "boolean"),
    (LabelWeights, (np.zeros(2, np.uint8), np.zeros(3, np.int64)), "factor"),
    *((weighted_rule, (count_rule(2), pair, np.ones(1)), "must lie") for pair in ((-0.01, 1.0), (1.0, 1.01), (1.0,))),
    (weighted_rule, (count_rule(2), (1.0, 1.0), np.array([1.01])), "must lie"),
    (fixed_point, ([1.0, 2.0], (3,), 0, 5), "shape"),
    (fixed_point, ([1.0, math.inf], (2,), 0, 5), "finite"),
]


@pytest.mark.parametrize(("made", "given"), FINE)
def test_what_fits_together_is_taken(made: Callable[..., Any], given: tuple[Any, ...]) -> None:
    made(*given)


@pytest.mark.parametrize(("made", "given", "why"), REFUSED)
def test_what_does_not_is_refused(made: Callable[..., Any], given: tuple[Any, ...], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        made(*given)


def test_when_squares_need_more_than_64_bits() -> None:
    """``4 * 2**60 * 2`` is ``2**63``, which an int64 does not hold."""
    assert squarable(np.array([[(1 << 30) - 1, 0]])).dtype == np.int64
    for entry in (1 << 30, -(1 << 30)):
        assert squarable(np.array([[entry, 0]])).dtype == object
    assert squarable(np.array([[1 << 30]])).dtype == np.int64
    assert squarable(np.array([[1 << 30], [0]])).dtype == object


@pytest.mark.parametrize(("log", "limit"), [(Margins(), MARGIN_LIMIT), (Scores(1), SCORE_LIMIT)])
def test_updates_stop_at_the_last_number_that_fits(log: Any, limit: int) -> None:
    for value in (1.0, 1e9, 1e9):
        log.add(OneCell(), [value] if isinstance(log, Margins) else [[value]])
        assert log.reach == (65536 if value == 1.0 else limit)
