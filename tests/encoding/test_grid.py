"""The numeric grid: every float has a code, codes rise, edges are exact, rows do not see each other."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.encoding.errors import FrameError
from tacit.encoding.grid import NumericGrid
from tacit.encoding.numbers import as_numbers
from tacit.schema.values import parse_number

anything = st.floats(width=64)
small = settings(max_examples=80, deadline=None)


@st.composite
def grids(draw: st.DrawFn) -> NumericGrid:
    kind = draw(st.sampled_from(["linear", "log", "cuts"]))
    lower = draw(st.floats(1e-300, 1e100) if kind == "log" else st.floats(-1e100, 1e100))
    share = draw(st.floats(2.0**-30, 1e6))
    upper = lower + max(abs(lower) * share, 1e-280)
    cells = draw(st.sampled_from([2, 3, 7, 64, 1000, 32768, 65535]))
    if kind != "cuts":
        return NumericGrid(lower, upper, cells, kind)
    cuts = sorted({lower + (upper - lower) * draw(st.floats(0.01, 0.99)) for _ in range(draw(st.integers(1, 6)))})
    cuts = [cut for cut in cuts if lower < cut < upper]
    return NumericGrid(lower, upper, cells, tuple(cuts) if cuts else "linear")


@small
@given(grid=grids(), values=st.lists(anything, min_size=1, max_size=20))
@example(grid=NumericGrid(-1, 1), values=[math.nan, -math.nan, math.inf, -math.inf, 1.8e308, -1.7e308, 5e-324, -0.0])
@example(grid=NumericGrid(1, 1024, spacing="log"), values=[-0.0, -1.0, -1e308, math.inf, -math.inf, 1024.0, 5e-324])
def test_codes_are_in_range_and_rise(grid: NumericGrid, values: list[float]) -> None:
    codes = grid.encode(np.array(values))
    assert codes.dtype == np.uint16
    finite = np.isfinite(values)
    assert np.all(codes[~finite] == grid.missing)
    assert np.all(codes[finite] < grid.cells)
    assert grid.n_codes == grid.cells + 1
    order = np.argsort(np.array(values)[finite], kind="stable")
    assert np.all(np.diff(codes[finite][order].astype(int)) >= 0)


@small
@given(grid=grids(), values=st.lists(anything, min_size=1, max_size=40), data=st.data())
def test_a_code_does_not_depend_on_other_rows(grid: NumericGrid, values: list[float], data: st.DataObject) -> None:
    codes = grid.encode(np.array(values))
    for row, value in enumerate(values):
        assert grid.encode(np.array([value]))[0] == codes[row]
    others = data.draw(st.lists(anything, max_size=9))
    assert np.array_equal(grid.encode(np.array(others + values))[len(others) :], codes)


@settings(max_examples=60, deadline=None)
@given(grid=grids())
def test_edges_are_the_exact_thresholds(grid: NumericGrid) -> None:
    edges = grid.edges()
    assert edges[0] == grid.lower
    assert np.array_equal(grid.encode(edges), np.arange(grid.cells))
    below = np.nextafter(edges[1:], -np.inf)
    assert np.array_equal(grid.encode(below), np.arange(grid.cells - 1))
    assert grid.edge(grid.cells // 2) == edges[grid.cells // 2]
    assert grid.encode([grid.lower, grid.upper]).tolist() == [0, grid.cells - 1]


def test_the_cells_lie_where_they_should() -> None:
    linear = NumericGrid(0, 10, 10)
    assert linear.encode([-5, 0, 0.99, 1, 9.99, 10, 11]).tolist() == [0, 0, 0, 1, 9, 9, 9]
    cuts = NumericGrid(0, 10, spacing=(1, 5))
    assert cuts.cells == 3
    assert cuts.encode([-1, 0.5, 1, 4.9, 5, 99, np.nan]).tolist() == [0, 0, 1, 1, 2, 2, 3]
    log = NumericGrid(1, 1024, 10, "log")
    assert log.encode([0, 1, 1.9, 2, 3.9, 4, 512, 2000]).tolist() == [0, 0, 0, 1, 1, 2, 9, 9]
    fine = NumericGrid(1, 2.0**20, 20 * 64, "log")
    expected = np.log2(fine.edges()) * 64
    assert np.max(np.abs(expected - np.arange(fine.cells))) < 0.09 * 64


@small
@given(grid=grids())
def test_json_round_trip(grid: NumericGrid) -> None:
    assert NumericGrid.from_dict(grid.to_dict()) == grid


def test_every_way_to_hand_over_numbers_gives_the_same_codes() -> None:
    grid = NumericGrid(0, 8, 16)
    expected = [2, 16, 15, 0, 5]
    values = [1.0, None, 7.5, -3.0, 2.5]
    floats = np.array([1.0, np.nan, 7.5, -3.0, 2.5])
    matrix = np.column_stack([floats, floats])
    read_only = floats.copy()
    read_only.flags.writeable = False
    given: list[Any] = [
        floats,
        floats.astype(np.float32),
        floats.astype(np.float16),
        floats.astype(np.longdouble),
        floats.astype(">f8"),
        matrix[:, 1],
        read_only,
        np.ma.MaskedArray(np.nan_to_num(floats), mask=np.isnan(floats)),
        floats.tolist(),
        pd.Series(floats),
        pd.Series(values, dtype="Float64"),
        pd.Series(pd.arrays.SparseArray(floats)),
        pd.Series(values, dtype="float64[pyarrow]"),
        pl.Series(values),
        pl.Series([None if v is None else Decimal(str(v)) for v in values]),
        pa.array(values),
        pa.chunked_array([values[:2], values[2:]]),
        pa.array([None if v is None else Decimal(str(v)) for v in values]),
    ]
    for vector in given:
        assert grid.encode(vector).tolist() == expected, type(vector)
    ints = [
        pd.Series([1, None, 7], dtype="Int64"),
        pl.Series([1, None, 7]),
        pa.array([1, None, 7], pa.int8()),
        pl.Series([1, None, 7], dtype=pl.Int128),
    ]
    assert grid.encode([1, None, "7", "old", 2.5, Decimal(1), True]).tolist() == [2, 16, 14, 16, 5, 2, 2]
    for vector in ints:
        assert grid.encode(vector).tolist() == [2, 16, 14]
    for vector in [
        np.array([True, False]),
        pd.Series([True, False]),
        pl.Series([True, False]),
        pa.array([True, False]),
    ]:
        assert grid.encode(vector).tolist() == [2, 0]
    assert grid.encode(pd.Series([True, None], dtype="boolean")).tolist() == [2, 16]
    assert grid.encode([]).tolist() == []
    assert grid.encode(pa.nulls(2)).tolist() == [16, 16]


@pytest.mark.parametrize(
    "vector",
    [
        np.array(["1", "2"]),
        np.array([1, "2"], object),
        np.array([1 + 2j]),
        np.array(["2020-01-01"], "datetime64[D]"),
        pd.Series(["a", "b"]),
        pd.Series([1, 2], dtype=object),
        pd.Series([1, 2], dtype="category"),
        pd.Series(pd.to_datetime(["2020-01-01"])),
        pl.Series(["a"]),
        pl.Series([[1]]),
        pa.array(["1"]),
        pa.array([b"1"]),
    ],
)
def test_a_wrong_dtype_names_the_column(vector: Any) -> None:
    with pytest.raises(FrameError, match=r"column 'age' is numeric in the schema but has dtype .* Nothing was spent"):
        NumericGrid(0, 1).encode(vector, "age")


def test_numbers_are_not_copied() -> None:
    floats = np.arange(5.0)
    assert as_numbers(floats) is floats
    assert np.shares_memory(as_numbers(pd.Series(floats, copy=False)), floats)
    series = pl.Series(floats)
    assert np.shares_memory(as_numbers(series), series.to_numpy())


@pytest.mark.parametrize(
    ("text", "number"),
    [("3", 3), (" 3.50 ", 3.5), ("-1e3", -1000.0), ("+.5", 0.5), ("5.", 5.0), ("00012", 12)]
    + [(text, None) for text in ["", "a", "1_000", "nan", "inf", "1e999", "0x10", "1,5", "- 1", "٣", "--1", "1e"]],
)
def test_spelled_numbers(text: str, number: float | None) -> None:
    assert parse_number(text) == number


def test_a_grid_must_have_cells() -> None:
    for cells in (1, 65536):
        with pytest.raises(ValueError, match="2 to 65535 cells"):
            NumericGrid(0, 1, cells)
    with pytest.raises(ValueError, match="numbered"):
        NumericGrid(0, 1, 4).edge(4)


def test_the_finest_grid_has_halves_and_quarters_among_its_edges() -> None:
    grid = NumericGrid(0, 80)
    codes = grid.encode([20.0, 40.0, 60.0, 80.0])
    assert grid.edges(codes[:3]) == pytest.approx([20.0, 40.0, 60.0], rel=1e-15)
    assert codes[3] == grid.cells - 1 == grid.missing - 1


def test_dates_in_a_numeric_column_are_told_of_their_own_kind() -> None:
    with pytest.raises(FrameError, match=r"dtype datetime.*; convert it to numbers, or declare it of kind 'date'\."):
        NumericGrid(0, 1).encode(pd.Series(pd.to_datetime(["2020-01-01"])), "age")
