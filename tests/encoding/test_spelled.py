"""Symbols, thousands, marks for missing and formats of dates: read alike from every kind of table, cell by cell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.encoding.grid import NumericGrid
from tacit.encoding.spelled import without_marks
from tacit.encoding.table import TableEncoding
from tacit.schema import DateColumn, Label, NumericColumn, Schema

PRICE = NumericColumn(0, 2000, bins=2000, missing_values=(-200, 999), symbol="$", thousands=",")
TEXTS = ["$1,204", "950", "$-200", "-200", "999", "12%", "", None, "$ 7"]
CODES = [1204, 950, 2000, 2000, 2000, 2000, 2000, 2000, 7]


@pytest.mark.parametrize(
    "make",
    [list, pd.Series, pl.Series, pa.array, lambda v: np.array(v, object), lambda v: pa.array(v).dictionary_encode()],
)
def test_cells_are_read_alike_however_they_come(make: Callable[[list[Any]], Any]) -> None:
    assert NumericGrid.of(PRICE).encode(make(TEXTS)).tolist() == CODES
    for text, code in zip(TEXTS, CODES, strict=True):
        assert NumericGrid.of(PRICE).encode(make([text])).tolist() == [code]


def test_numbers_among_spelled_ones_are_themselves() -> None:
    grid = NumericGrid.of(PRICE)
    assert grid.encode(pd.Series([1204, -200, 7])).tolist() == [1204, 2000, 7]
    assert grid.encode(pa.nulls(2)).tolist() == [2000, 2000]
    assert [grid.number(value) for value in ("$1,204", 7, "950")] == [1204.0, 7.0, 950.0]
    assert np.isnan([grid.number(value) for value in (-200, "$999", None, "x")]).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int16])
def test_marks_match_at_the_precision_of_the_type(kind: Any) -> None:
    numbers = np.array([-99.9, 99.9, 3], kind)
    marks = (-99.9, 3.0) if kind is not np.int16 else (-99.0, 3.0)
    assert np.isnan(without_marks(numbers, marks)).tolist() == [True, False, True]
    assert without_marks(numbers, ()) is numbers


def test_a_grid_remembers_how_cells_are_written() -> None:
    for grid in (
        NumericGrid.of(PRICE),
        NumericGrid.of_dates(DateColumn("year", "2000-01-01", "2020-12-31", format="%d.%m.%y")),
    ):
        assert NumericGrid.from_dict(grid.to_dict()) == grid
    assert "format" not in NumericGrid(0, 1).to_dict()


SCHEMA = Schema(
    {
        "price": NumericColumn(0, 2000, symbol="$", thousands=","),
        "level": NumericColumn(0, 30, missing_values=(-200,)),
        "day": DateColumn("month", "2018-01-01", "2020-12-31", format="%d.%m.%Y"),
    },
    Label("y", "classes", ("no", "yes")),
)
ROWS = {
    "price": ['"$1,204"', "$950", "?"],
    "level": ["-200", "7.5", "x"],
    "day": ["24.12.2018", "1.2.2020", "2020-03-01"],
}


def test_files_are_read_as_tables_are(tmp_path: Path) -> None:
    lines = [",".join([*cells, "no"]) for cells in zip(*ROWS.values(), strict=True)]
    (tmp_path / "d.csv").write_text("\n".join(["price,level,day,y", *lines, ""]))
    table = tacit.read_table(tmp_path / "d.csv", SCHEMA)
    assert table["price"].to_pylist() == ["$1,204", "$950", "?"]
    pq.write_table(table, tmp_path / "d.parquet")
    right = [code.tolist() for code in TableEncoding.of(SCHEMA).encode(table)]
    grids = [NumericGrid.of(SCHEMA.columns[name]) for name in ("price", "level")]  # type: ignore[arg-type]
    assert right[0][:2] == [grids[0].encode([number]).tolist()[0] for number in (1204.0, 950.0)]
    assert right[0][2] == grids[0].missing
    assert right[1][0] == right[1][2] == grids[1].missing
    assert right[2] == [11, 25, 36]
    for again in (tacit.read_table(tmp_path / "d.parquet", SCHEMA), table.to_pandas()):
        assert [code.tolist() for code in TableEncoding.of(SCHEMA).encode(again)] == right


def test_dates_of_digits_may_have_become_numbers() -> None:
    grid = NumericGrid.of_dates(DateColumn("year", "2000-01-01", "2024-12-31", format="%Y%m%d"))
    for values in (["20241231", "20001301"], pd.Series([20241231, 20001301]), np.array([20241231.0, np.nan])):
        assert grid.encode(values).tolist() == [24, 25]
