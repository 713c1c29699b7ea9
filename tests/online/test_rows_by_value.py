"""Rows of every type as signs, and which of them are fine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.online.rows import CUTS, NumberRows, RowError, SchemaRows, SignRows
from tacit.schema import Schema

SIGNS = [[1, -1], [-1, 1], [1, 1]]
FINE = [True, True, True]


@pytest.mark.parametrize(
    ("table", "signs", "fine"),
    [
        (np.array(SIGNS, np.int8), SIGNS, FINE),
        (np.array(SIGNS, np.float64), SIGNS, FINE),
        (np.array(SIGNS) > 0, SIGNS, FINE),
        (np.array([[1, 0], [2, -1], [-1, 1]], np.int64), [[1, -1], [1, -1], [-1, 1]], [False, False, True]),
        (np.array([[1.0, np.nan], [0.5, -1], [-1, 1]]), [[1, -1], [1, -1], [-1, 1]], [False, False, True]),
        (pd.DataFrame({"b": [-1, 1, 1], "a": [1, -1, 1]}), SIGNS, FINE),
    ],
    ids=["int8", "floats", "booleans", "numbers", "nan", "frame"],
)
def test_tables_as_signs(table: Any, signs: list[list[int]], fine: list[bool]) -> None:
    points, are_fine = SignRows(("a", "b"), declared=False).many(table)
    assert points.dtype == np.int8
    assert (points.tolist(), are_fine.tolist()) == (signs, fine)


def test_rows_as_signs() -> None:
    rows = SignRows(("a", "b"), declared=False)
    for x, signs, fine in (({"a": 1, "b": -1}, [[1, -1]], True), ({"b": 3, "a": 0}, [[-1, 1]], False)):
        points, is_fine = rows.one(x)
        assert (points.tolist(), is_fine) == (signs, fine)
    for wrong in ({"a": 1}, {"a": 1, "c": 1}, {"a": 1, "b": 1, "c": 1}):
        with pytest.raises(RowError, match="declare the columns"):
            rows.one(wrong)
    points, is_fine = SignRows(("a", "b"), declared=True).one({"b": 1, "c": 5})
    assert (points.tolist(), is_fine) == ([[-1, 1]], True)
    with pytest.raises(RowError, match="shape"):
        rows.many(np.ones((3, 3)))


def test_numbers_by_cuts() -> None:
    assert CUTS == (-10, -3, -1, -0.3, 0, 0.3, 1, 3, 10, 30, 100)
    (point,), fine = NumberRows(("a",)).one({"a": 1.0})
    assert fine
    assert point.tolist() == [1] * 7 + [-1] * 4
    (word,), _ = NumberRows(("a",)).one({"a": "north"})
    assert sorted(word.tolist()) == [-1] * 10 + [1]  # a text is one of the cuts, by its hash
    (gap,), _ = NumberRows(("a",)).one({"a": None})
    assert gap.tolist() == [-1] * 11


def test_rows_under_a_schema_by_hand() -> None:
    columns = {
        "age": {"kind": "numeric", "lower": 0, "upper": 80},
        "ward": {"kind": "categorical", "categories": ["a", "b"]},
    }
    rows = SchemaRows.of(Schema.from_dict({"columns": columns}), 4)
    assert rows.coordinates[:2] == ("age >= 20", "age >= 40")
    for age, above in ((39.0, [1, -1, -1]), (60.0, [1, 1, 1]), (None, [-1, -1, -1])):
        points, fine = rows.one({"age": age, "ward": "b"})
        assert (points[0, :5].tolist(), fine) == ([*above, -1, 1], True)
        assert set(points[0, 5:].tolist()) <= {-1}
        table, _ = rows.many(pd.DataFrame({"age": [age], "ward": ["b"]}))
        assert table.tolist() == points.tolist()


@pytest.mark.parametrize(("lower", "upper", "bins"), [(0, 100, 10), (18, 90, 12), (20, 80, 12), (20, 120, 10)])
def test_thresholds_between_equal_bins_are_named_as_they_are_meant(lower: int, upper: int, bins: int) -> None:
    """Also above the middle of the span, where the cells of the finest grid are not those of equal parts."""
    rows = SchemaRows.of(
        Schema.from_dict({"columns": {"age": {"kind": "numeric", "lower": lower, "upper": upper}}}), bins
    )
    meant = [lower + (upper - lower) // bins * k for k in range(1, bins)]
    assert rows.coordinates == tuple(f"age >= {number}" for number in meant)
    for k, number in enumerate(meant):
        point, _ = rows.one({"age": number})
        below, _ = rows.one({"age": number - 0.01})
        assert (point[0, k], below[0, k]) == (1, -1)
