"""Truth tables, random pairs, limits of searches and irreducible rows as numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.theory.closure.formula import TruthTable, named_function
from tacit.theory.closure.limit import Limit
from tacit.theory.closure.threshold_search import irreducible
from tests.theory.closure.extremal import random_pairs


def test_truth_tables_by_hand() -> None:
    table = TruthTable((0, 1, 1, 0, 1, 0, 0, 0))
    assert table.negated().values == (1, 0, 0, 1, 0, 1, 1, 1)
    assert [table((a, b, c)) for a, b, c in ((1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 1, 1))] == [1, 1, 0, 1, 0]
    assert TruthTable.of(lambda bits: bits[0] > bits[1], 2).values == (0, 1, 0, 0)
    assert table.arity == 3
    assert named_function("maj", 3) == named_function("majority", 3) == TruthTable((0, 0, 0, 1, 0, 1, 1, 1))


@pytest.mark.parametrize(("bound", "points"), [(4, 1), (5, 2), (14, 4), (15, 8)])
def test_random_pairs_make_thresholds(bound: int, points: int) -> None:
    """Twice as many functions as points; two by two their ORs are 1 up to the point on which they meet."""
    result = random_pairs(bound, np.random.default_rng(0))
    assert result.shape == (2 * points, points)
    assert ((result[:points] | result[points:]) == np.tri(points, dtype=int)).all()
    assert not (result[:points] & result[points:]).any()


def test_limits_of_searches() -> None:
    limit = Limit(5, math.inf)
    assert [limit.reached(work) for work in (5, 6, 1)] == [False, True, True]
    assert Limit(5, 1e-9).reached(0)


def test_rows_that_are_no_intersection_of_others() -> None:
    """The third is that of the first two; the whole holds no point back, and is that of none."""
    rows = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1]], np.uint8)
    assert irreducible(rows).tolist() == rows[[0, 1, 4]].tolist()
