"""Release maps without negative entries: a replaced row moves the release by sqrt 2 of a row, not by 2."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.encoding.values import DROPPED
from tacit.engines.blocks import MemoryTable
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import column_cells
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.query import largest_difference
from tacit.queries.rules import RowRule, class_count_rule

CODES = 4


def largest_replacement(query: Histogram) -> tuple[int, int]:
    """The largest L1 and squared L2 movement over all replacements of a single row."""
    rows = [(code, label) for code in range(CODES) for label in (0, 1, DROPPED)]
    answers = [
        MemoryTable([np.array([code], np.uint8)], np.array([label], np.uint8), [CODES], 2).answer(query)
        for code, label in rows
    ]
    moves = [a - b for a in answers for b in answers]
    return max(int(np.abs(m).sum()) for m in moves), max(int((m * m).sum()) for m in moves)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("signs", ["none negative", "map", "rule"])
def test_no_replacement_moves_a_release_by_more_than_declared(seed, signs):
    generator = np.random.default_rng(seed)
    matrix = generator.integers(-9 if signs == "map" else 0, 10, (3, CODES))
    table = generator.integers(-3 if signs == "rule" else 0, 4, (2, 1, 2)).astype(np.int32)
    query = Histogram(column_cells(0, CODES), RowRule(table, 1), None, ReleaseMap(matrix.astype(np.int64), 1))
    declared = query.sensitivity(Neighbouring.REPLACE_ONE)
    l1, l2_squared = largest_replacement(query)
    assert l1 <= declared.l1
    assert l2_squared <= declared.l2_squared


def test_the_declared_constants_are_needed():
    cells, rule = column_cells(0, CODES), class_count_rule(2)
    orthogonal = Histogram(cells, rule, None, ReleaseMap(np.eye(CODES, dtype=np.int64) * 10, 10))
    l1, l2_squared = largest_replacement(orthogonal)
    declared = orthogonal.sensitivity(Neighbouring.REPLACE_ONE)
    assert (l1, l2_squared) == (declared.l1, declared.l2_squared)
    opposite = Histogram(cells, rule, None, ReleaseMap(np.array([[10, -10, 10, -10]]), 10))
    assert largest_replacement(opposite)[1] == opposite.sensitivity(Neighbouring.REPLACE_ONE).l2_squared


@pytest.mark.parametrize("relation", list(Neighbouring))
@pytest.mark.parametrize("mapped", [False, True])
def test_sensitivities_beyond_64_bits_are_exact(relation, mapped):
    """A rule of two channels of -2**31 had a squared length of 0, so its release had next to no noise."""
    low = -(2**31)
    table = np.array([[[low, low]], [[2**31 - 1, 0]]], np.int32)
    release_map = ReleaseMap(np.array([[2**33, 0, 1, 0], [2**33, 0, 0, 0]], np.int64), 1) if mapped else None
    result = Histogram(column_cells(0, CODES), RowRule(table, 1), None, release_map).sensitivity(relation)
    l1, l2_squared = 2**32, 2**63
    if mapped:
        l1, l2_squared = l1 * 2**34, l2_squared * 2**67
    assert result.l1 >= l1
    assert result.l2_squared >= l2_squared
    assert result.l2 >= 2.0**31


@pytest.mark.parametrize("count", [3, 700])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_differences_beyond_64_bits_are_not_underestimated(count, width):
    lines = np.random.default_rng(1).integers(-(2**40), 2**40, (count, width))
    lines[0], lines[1] = 2**40, -(2**40)
    l1, l2_squared = largest_difference(lines)
    assert l1 >= width * 2**41
    assert l2_squared >= width * 2**82
