"""Frames and the encoding of whole tables: the same codes from every container, on any number of threads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame, columns_of, without_rows
from tacit.encoding.grid import NumericGrid
from tacit.encoding.inputs import table_of
from tacit.encoding.numbers import as_numbers
from tacit.encoding.table import TableEncoding, encoder_from_dict, encoder_of
from tacit.encoding.values import CategoryIndex
from tacit.schema import (
    BooleanColumn,
    CategoricalColumn,
    IdColumn,
    IgnoredColumn,
    NumericColumn,
    OrdinalColumn,
    Schema,
)

SCHEMA = Schema(
    {
        "age": NumericColumn(0, 100, bins=10),
        "person": IdColumn(),
        "work": CategoricalColumn(("a", "b")),
        "note": IgnoredColumn(),
        "rank": OrdinalColumn((1, 2, 3)),
        "married": BooleanColumn(),
    }
)
ROWS: dict[str, list[Any]] = {
    "extra": [None, None, None],
    "married": [True, None, False],
    "rank": [3, 1, 7],
    "work": ["a", "q", None],
    "age": [5.0, None, 250.0],
}
CODES = [[0, 10, 9], [0, 2, 3], [2, 0, 3], [1, 2, 0]]


@pytest.mark.parametrize(
    "table",
    [
        ROWS,
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS).convert_dtypes(),
        pl.DataFrame(ROWS),
        pa.table(ROWS),
        pa.RecordBatch.from_pydict(ROWS),
        columns_of(ROWS),
        {name: np.array(values, object) if name == "work" else values for name, values in ROWS.items()},
        pd.DataFrame(ROWS, index=[7, 7, -1])[["age", "work", "rank", "married"]],
    ],
    ids=lambda table: type(table).__module__,
)
def test_tables_of_all_kinds(table: Any) -> None:
    encoding = TableEncoding.of(SCHEMA)
    assert encoding.names == ("age", "work", "rank", "married")
    assert encoding.n_codes == (11, 4, 5, 3)
    assert [codes.tolist() for codes in encoding.encode(table)] == CODES


def test_matrices_go_by_position() -> None:
    schema = Schema({"x0": NumericColumn(0, 4, bins=4), "x1": NumericColumn(0, 4, bins=4)})
    encoding = TableEncoding.of(schema)
    matrix = np.array([[0.5, 3.5], [np.nan, 1.5]])
    for data in (
        matrix,
        matrix.tolist(),
        matrix.astype(object),
        np.asfortranarray(matrix),
        pd.DataFrame(matrix).to_numpy(),
    ):
        assert [codes.tolist() for codes in encoding.encode(data)] == [[0, 4], [3, 1]]
    mixed = np.array([[5.0, "a", 3, True], ["17", None, "2", "no"], ["old", "b", 9, 3]], object)
    assert [c.tolist() for c in TableEncoding.of(SCHEMA).encode(mixed)] == [[0, 1, 10], [0, 3, 1], [2, 1, 3], [1, 0, 2]]
    assert columns_of(matrix).names == ("x0", "x1")
    assert np.shares_memory(columns_of(matrix).column("x1"), matrix)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_and_layouts_do_not_matter(threads: int) -> None:
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(150_001, 3))
    matrix[rng.random(matrix.shape) < 0.01] = np.nan
    schema = Schema(
        {
            "a": NumericColumn(-3, 3),
            "b": NumericColumn(0.01, 3, spacing="log"),
            "c": NumericColumn(-3, 3, spacing=(-1, 0, 0.5)),
        }
    )
    encoding = TableEncoding.of(schema)
    expected = [encoding.encoders[j].encode(matrix[:, j].copy()) for j in range(3)]
    for data in (matrix, np.asfortranarray(matrix), pd.DataFrame(matrix, columns=list("abc"))):
        for codes, wanted in zip(encoding.encode(data, threads), expected, strict=True):
            assert np.array_equal(codes, wanted)


def test_json_round_trip() -> None:
    encoding = TableEncoding.of(SCHEMA, cells=64)
    assert TableEncoding.from_dict(json.loads(json.dumps(encoding.to_dict()))) == encoding
    with pytest.raises(ValueError, match="unknown encoder kind 'x'"):
        encoder_from_dict({"kind": "x"})
    with pytest.raises(ValueError, match="'id' is not a feature"):
        encoder_of(IdColumn())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"ages": [1], "work": ["a"], "rank": [1], "married": [True]}, "column 'age' is missing .* mean 'ages'"),
        (
            pd.DataFrame({"age": pd.to_datetime(["2020"]), "work": ["a"], "rank": [1], "married": [True]}),
            "column 'age' is numeric",
        ),
        (pd.DataFrame({"age": [1], "work": pd.to_datetime(["2020"]), "rank": 1, "married": True}), "column 'work' has"),
        ({"age": [1, 2], "work": ["a"]}, "'age' and 'work' have different lengths"),
        (pd.DataFrame([[1, 2]], columns=["age", "age"]), "two columns have the same name, 'age'; rename one"),
        ("rows.csv", "tacit.read_table reads a file"),
        (Path("rows.csv"), "tacit.read_table reads a file"),
        (pa.table([[1], [2]], names=["age", "age"]), "two columns have the same name, 'age'; rename one"),
        ({1: [1], "1": [1]}, "two columns have the same name"),
        (pl.LazyFrame(ROWS), "lazy; collect it"),
        (np.zeros((2, 3)), "3 columns, but 4 were expected"),
        (np.zeros(3), r"got shape \(3,\); reshape one column"),
        ([[1, 2], [3]], "different lengths"),
        (sparse.csr_matrix(np.eye(4)), "sparse"),
        (np.zeros((2, 4), complex), "dtype complex128"),
        (3, "expected a table"),
        ({"age": 3}, r"column 'age' is a single int; .* written {'age': \[value\], \.\.\.}"),
        ([{"age": 3}], r"got shape \(1,\); of rows that are mappings, pandas.DataFrame\(rows\)"),
        ({"age": "x"}, "column 'age' is a single str"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "flatten their names"),
    ],
)
def test_public_mistakes_are_named(data: Any, message: str) -> None:
    with pytest.raises(FrameError, match=message) as caught:
        TableEncoding.of(SCHEMA).encode(data)
    assert str(caught.value).endswith("Nothing was spent.")


def test_one_row_of_a_data_frame_is_told_how_to_stay_a_table() -> None:
    with pytest.raises(FrameError, match=r"got shape \(2,\)\. Reshape your data \(one row .* is frame\.iloc\[\[0\]\]"):
        table_of(pd.DataFrame({"a": [1], "b": [2]}).iloc[0])
    with pytest.raises(FrameError, match=r"Reshape your data\. Nothing was spent"):
        table_of(np.zeros(2))


def test_check_raises_on_dtypes_before_anything_is_encoded() -> None:
    encoding = TableEncoding.of(SCHEMA)
    assert encoding.check(pa.table(ROWS)).names == encoding.names
    with pytest.raises(FrameError, match="'age'"):
        encoding.check(pa.table({**ROWS, "age": [[1], [2], [3]]}))


TEXTS = ["5", " 2.5", "forty,1", None, ""]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype=object),
        pd.Series([5, 2.5, "forty,1", None, np.nan], dtype=object),
        pl.Series(TEXTS),
        pa.array(TEXTS),
        pa.array(TEXTS, pa.string_view()),
        np.array(TEXTS, object),
        np.array([str(text) for text in TEXTS]),
        TEXTS,
    ],
    ids=lambda column: (
        f"{type(column).__module__.split('.')[0]} {getattr(column, 'dtype', getattr(column, 'type', ''))}"
    ),
)
def test_one_cell_decides_of_itself_alone_whatever_dtype_a_reader_makes_of_it(column: Any) -> None:
    numbers = Frame({"age": column}, len(TEXTS)).numbers("age")
    assert np.isnan(numbers).tolist() == [False, False, True, True, True]
    assert numbers[:2].tolist() == [5.0, 2.5]


@pytest.mark.parametrize("cell", [None, 1, True, "x", (1, 2), 2.5, [1], float("nan")])
def test_no_cell_of_a_list_of_rows_changes_what_other_cells_are(cell: Any) -> None:
    rows = [[True, 1.5, "a"]] * 3 + [[cell, cell, cell]]
    frame = columns_of(rows)
    assert frame.mixed
    for column, value in zip(frame.columns.values(), (True, 1.5, "a"), strict=True):
        assert column.dtype == object
        assert [type(item) for item in column[:3]] == [type(value)] * 3


@pytest.mark.parametrize("odd", ["x", b"x", None, 1j, [2.0], np.datetime64("2020-01-01")])
def test_a_value_in_a_list_does_not_depend_on_its_neighbours(odd: Any) -> None:
    """In an array a text among numbers makes texts of all of them, and one row would change every code."""
    values = [True, 2.5, "3"]
    numbers = as_numbers([*values, odd])
    assert numbers[:3].tolist() == [1.0, 2.5, 3.0]
    assert np.isnan(numbers[3])
    codes = CategoryIndex(("3", 2.5, "TRUE")).encode([*values, odd])
    assert codes[:3].tolist() == [2, 1, 0]
    encoding = TableEncoding(("a", "b"), (NumericGrid(0.0, 4.0, 64), CategoryIndex(("3", 2.5, "TRUE"))))
    matrix = [[value, value] for value in values]
    if not isinstance(odd, list):
        for alone, beside in zip(encoding.encode(matrix), encoding.encode([*matrix, [odd, odd]]), strict=True):
            assert (alone == beside[:3]).all()


def test_lists_of_lists_hold_no_values() -> None:
    assert np.isnan(as_numbers([[1, 2], [3, 4]])).all()
    assert CategoryIndex((1,)).encode([[1, 2], [3, 4]]).tolist() == [1, 1]


@pytest.mark.parametrize(
    "values",
    [np.array([1.5]), pd.Series([1.5], index=[7.0]), pl.Series([1.5]), pa.array([1.5]), pa.chunked_array([[1.5]])],
)
def test_a_vector_without_rows_keeps_its_kind(values: Any) -> None:
    nothing = without_rows(values)
    assert len(nothing) == 0
    assert type(nothing) is type(values)
    assert getattr(nothing, "dtype", None) == getattr(values, "dtype", None)


def test_numbers_of_pandas_are_taken_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without asking narwhals, which takes a tenth of a millisecond a column: longer than a fit needs for its rows."""
    column = pd.DataFrame({"x": [1.5, np.nan, 2.0]}, index=[2.0, 0.0, 1.0])["x"]
    monkeypatch.setattr("narwhals.from_native", None)
    np.testing.assert_array_equal(as_numbers(column), [1.5, np.nan, 2.0])
    nothing = without_rows(column)
    assert len(nothing) == 0
    assert isinstance(nothing, pd.Series)
    assert nothing.dtype == column.dtype


def test_a_matrix_under_a_schema_of_names_is_told_that_it_has_none() -> None:
    with pytest.raises(
        FrameError,
        match=r"'age' is missing from the data; an array has no names, .* give a data frame, .*BaggingClassifier",
    ):
        columns_of(np.zeros((3, 2))).column("age")
