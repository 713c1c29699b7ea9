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
from tacit.cli.findings import find
from tacit.encoding.frames import columns_of
from tacit.encoding.grid import NumericGrid
from tacit.encoding.inputs import numbers_of
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import without_marks
from tacit.evaluation.number_scorer import NumberScorer
from tacit.schema import DateColumn, Label, NumericColumn, Schema, SchemaError

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


WRITTEN = {"symbol": "$", "thousands": ",", "missing_values": [-1]}


@pytest.mark.parametrize(
    "make", [list, pd.Series, pl.Series, pa.array, lambda v: np.array(v, object), lambda v: [n and f" {n} " for n in v]]
)
def test_targets_are_read_as_features_are(make: Callable[[list[Any]], Any]) -> None:
    label = Label.from_dict({"column": "y", "kind": "numeric", "lower": 0, "upper": 2000, **WRITTEN})
    assert Label.from_dict(label.to_dict()) == label
    index = NumericLabelIndex.of(label, 4)
    assert NumericLabelIndex.from_dict(index.to_dict()) == index
    read = numbers_of(make(["$1,204", "950", "-1", "$-1", "", None, "1,20", "$ 7"]), "y", index.format)
    assert np.array_equal(read, [1204, 950, *[np.nan] * 5, 7], equal_nan=True)
    assert np.array_equal(numbers_of([7, -1, None], "y", index.format), [7, np.nan, np.nan], equal_nan=True)


@pytest.mark.usefixtures("few_rounds")
def test_a_fit_a_score_and_a_check_read_targets_alike(tmp_path: Path) -> None:
    """Models of the three ways in are those of the plain numbers, bit by bit."""
    numbers = [1000 + 37 * (i % 40) for i in range(300)]
    cells = ["$-1" if i % 50 == 0 else f"${number:,}" for i, number in enumerate(numbers)]
    x = {"x": [float(i % 40) for i in range(300)]}
    columns = {"x": {"kind": "numeric", "lower": 0, "upper": 40}}
    label: dict[str, Any] = {"column": "y", "kind": "numeric", "lower": 0, "upper": 3000}
    plain = {"columns": columns, "label": label}
    written = {"columns": columns, "label": {**label, **WRITTEN}}
    file = tmp_path / "d.csv"
    file.write_text("x,y\n" + "".join(f'{a},"{b}"\n' for a, b in zip(x["x"], cells, strict=True)))

    def learner(schema: Any) -> Any:
        return tacit.AdditiveBoostRegressor(epsilon=8, interactions=False, schema=schema, random_state=1)

    right = learner(plain).fit(x, [None if i % 50 == 0 else number for i, number in enumerate(numbers)])
    table = tacit.read_table(file, written)
    assert table["y"].to_pylist() == cells
    for model in (
        learner(written).fit(x, cells),
        learner(written).fit(table.drop_columns("y"), table["y"]),
        learner(written).fit(tacit.read_source(file)),
    ):
        assert model.model_.to_dict() == right.model_.to_dict()
        assert model.score(x, cells) == right.score(x, [None if i % 50 == 0 else n for i, n in enumerate(numbers)]) > 0
    judge = NumberScorer.of(right.model_, Schema.from_dict(written), None)
    columns_of_rows = judge.columns(columns_of(x), x, cells)
    assert np.flatnonzero(columns_of_rows["label"]).tolist() == list(range(0, 300, 50))
    findings = find(file, Schema.from_dict(written))
    assert findings.label["dropped"] == 6
    assert findings.label["unknown_values"] == []


@pytest.mark.parametrize(
    ("given", "words"),
    [({"symbol": "7"}, "symbol"), ({"thousands": "x"}, "thousands"), ({"missing_values": "1"}, "missing_values")],
)
def test_formats_that_no_target_can_have_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        Label("y", "numeric", lower=0, upper=1, **given)
    with pytest.raises(SchemaError, match="belongs to a numeric label"):
        Label("y", "classes", (0, 1), **given)
