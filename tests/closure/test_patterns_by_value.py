"""Patterns on a few points, row by row; and sums over them, which follow from the rows."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.closure import patterns as module
from tacit.closure.composed import in_words, truth_table
from tacit.closure.patterns import (
    BoxPatterns,
    JoinedPatterns,
    ListedPatterns,
    Patterns,
    PatternsOnGroups,
    tight_boxes,
    without_duplicates,
)
from tacit.errors import TacitError

BOXES = BoxPatterns(
    np.array([[0, 0], [1, 2], [2, 1], [-1, 0], [2, 2]]),
    np.array([[0, -1, 0, -1], [0, 2, 0, 2], [1, 2, 1, 2], [2, 2, 0, 1]]),
)
IN_BOXES = [[0, 0, 0, 0, 0], [1, 1, 1, 0, 1], [0, 1, 1, 0, 1], [0, 0, 1, 0, 0]]
LISTED = ListedPatterns.of([[1, 0, 1], [0, 0, 1], [1, 0, 1], [1, 1, 0]])
NINE = ListedPatterns.of_integers([0b100000001, 0b010000000], 9)


@pytest.mark.parametrize(
    ("patterns", "rows"),
    [
        (BOXES, IN_BOXES),
        (LISTED, [[1, 1, 0], [0, 0, 1], [1, 0, 1]]),
        (NINE, [[1, 0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 1, 0]]),
        (PatternsOnGroups(LISTED, np.array([0, 2, -1, 0, 1])), [[1, 0, 0, 1, 1], [0, 1, 0, 0, 0], [1, 1, 0, 1, 0]]),
        (JoinedPatterns([LISTED, LISTED]), [[1, 1, 0], [0, 0, 1], [1, 0, 1]] * 2),
        (without_duplicates(JoinedPatterns([LISTED, LISTED])), [[1, 1, 0], [0, 0, 1], [1, 0, 1]]),
    ],
    ids=["boxes", "listed", "integers", "groups", "joined", "distinct"],
)
def test_rows_and_sums(patterns: Patterns, rows: list[list[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    assert (len(patterns), patterns.n_points) == (len(rows), len(rows[0]))
    assert patterns.matrix().astype(int).tolist() == rows
    values = np.array([[3**i for i in range(len(rows[0]))], [-(7**i) for i in range(len(rows[0]))]])
    for block in (module.BLOCK, 1):
        monkeypatch.setattr(module, "BLOCK", block)
        assert patterns.sums(values).tolist() == (values @ np.array(rows).T).tolist()


def test_where_joined_patterns_are() -> None:
    joined = JoinedPatterns([LISTED, ListedPatterns.of([[1, 1, 1]]), LISTED])
    assert [joined.place(i) for i in range(7)] == [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (2, 1), (2, 2)]


def test_boxes_each_side_of_which_holds_a_point() -> None:
    """Of two points in a square: the empty box, one of each point, one of both."""
    assert sorted(map(tuple, tight_boxes(np.array([[0, 1], [1, 0]])))) == [
        (0, -1, 0, -1), (0, 0, 1, 1), (0, 1, 0, 1), (1, 1, 0, 0)
    ]  # fmt: skip
    assert len(tight_boxes(np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]]))) == 1 + 3 + 3 + 1
    assert tight_boxes(np.zeros((0, 2), np.int64)).tolist() == [[0, -1, 0, -1]]


@pytest.mark.parametrize(
    ("function", "values", "words"),
    [
        ("or", (0, 1, 1, 1), "x1 or x2"),
        ("AND", (0, 0, 0, 1), "x1 and x2"),
        ("xor", (0, 1, 1, 0), "x1 xor x2"),
        ("x1 and not x2", (0, 1, 0, 0), "x1 and not x2"),
        ("x1 ^ x2 or x2", (0, 1, 1, 1), "x1 ^ x2 or x2"),
        (lambda a, b: a and not b, (0, 1, 0, 0), "a function of x1, x2"),
        ([1, 0, 0, 1], (1, 0, 0, 1), "a function of x1, x2"),
    ],
)
def test_functions_of_two_concepts(function: object, values: tuple[int, ...], words: str) -> None:
    assert tuple(truth_table(function, 2).values) == values  # type: ignore[arg-type]
    assert in_words(function, 2) == words  # type: ignore[arg-type]


def test_functions_that_cannot_be_read() -> None:
    assert in_words("majority", 3) == in_words("maj", 3) == "the majority of x1, x2, x3"
    for wrong in ("x1", "x1 and x3", "x1 +", "x1 + x2", "x1 < x2", [0, 1], "-x1 and x2"):
        with pytest.raises(TacitError):
            truth_table(wrong, 2)
