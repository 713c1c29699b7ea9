"""Columns of any type: read value by value, or refused by their type in words of this library."""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import columns_of, take_rows
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.numbers import as_numbers
from tacit.encoding.table import encoder_of
from tacit.encoding.values import LabelIndex
from tacit.errors import TacitError
from tacit.schema import BooleanColumn, CategoricalColumn, Column, DateColumn, NumericColumn

N = 6
FAR = pa.array([2**62, -(2**62)] * 3, pa.int64())
DATES = DateColumn("month", dt.date(2000, 1, 1), dt.date(2020, 12, 31))
COLUMNS: tuple[Column, ...] = (NumericColumn(0, 9), CategoricalColumn(("a", "b")), BooleanColumn(), DATES)

NUMPY: list[Any] = [
    np.arange(N).astype(np.longdouble),
    np.array([np.longdouble("1e4000")] * N),
    np.arange(N).astype(complex),
    np.zeros(N, [("x", "i4"), ("y", "f8")]),
    np.zeros(N, "V8"),
    np.array([b"a", b"\xff\xfe"] * 3),
    np.array(["\ud800", "a"] * 3),
    np.arange(N).astype("m8[s]"),
    np.array(["200000-01-01", "0001-01-01"] * 3, "M8[D]"),
    (np.arange(N) * 10**15).astype("M8[Y]"),
    np.array([np.datetime64("NaT")] * N),
    *[np.arange(N).astype(f"M8[{unit}]") for unit in ("ps", "fs", "as")],
    np.fromiter([np.arange(3) for _ in range(N)], object, N),
    np.fromiter([{}, set(), 1j, dt.date(1, 1, 1), decimal.Decimal("sNaN"), np.longdouble(1)], object, N),
    np.fromiter([pd.NaT, pd.NA, 10**400, "\ud800", pd.Timestamp.max, pd.Interval(0, 1)], object, N),
]
PANDAS: list[Any] = [
    *[
        pd.Series(array, dtype=object if array.dtype == object else None)
        for array in NUMPY
        if array.dtype.names is None and array.dtype.kind not in "UM"
    ],
    *[pd.Series(np.arange(N).astype(kind)) for kind in (">f8", ">i4", ">f4")],
    pd.Series(pd.period_range("2000", periods=N, freq="M")),
    pd.Series(pd.interval_range(0, N)),
    pd.Series(pd.date_range("2000", periods=N, tz="Europe/Rome")),
    pd.Series(pd.timedelta_range("1s", periods=N)),
    pd.Series(pd.arrays.SparseArray(np.arange(N).astype(complex))),
    pd.Series(pd.Categorical.from_codes([0, 1] * 3, [(1, 2), (3, 4)])),
    pd.Series(pd.Categorical(pd.date_range("2000", periods=N))),
]
ARROW: list[Any] = [
    pa.array([[1]] * N),
    pa.array([[1]] * N, pa.large_list(pa.int64())),
    pa.array([[1, 2]] * N, pa.list_(pa.int64(), 2)),
    pa.array([{"x": 1}] * N),
    pa.array([[("k", 1)]] * N, pa.map_(pa.string(), pa.int64())),
    pa.array([b"a", b"\xff"] * 3),
    pa.array([b"ab", b"cd"] * 3, pa.binary(2)),
    pa.array([b"a", b"b"] * 3, pa.binary_view()),
    pa.array(["a", "b"] * 3, pa.string_view()),
    pa.array([2**31 - 1, -(2**31)] * 3, pa.int32()).cast(pa.date32()),
    FAR.view(pa.date64()),
    *[FAR.view(pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")],
    *[FAR.view(pa.timestamp("s", zone)) for zone in ("Europe/Rome", "Mars/Olympus")],
    pa.array([1] * N, pa.int32()).view(pa.time32("s")),
    FAR.view(pa.duration("s")),
    pa.array([pa.MonthDayNano([1, 1, 1])] * N),
    *[pa.array([decimal.Decimal("1.5")] * N, kind(9, 2)) for kind in (pa.decimal32, pa.decimal64, pa.decimal256)],
    pa.array([decimal.Decimal("1E+5")] * N, pa.decimal128(5, -5)),
    pa.nulls(N),
    pa.array(np.arange(N).astype("f2")),
    pa.RunEndEncodedArray.from_arrays([N], pa.array([1])),
    pa.array([dt.date(2000, 1, 1)] * N).dictionary_encode(),
]
ARROW += [
    pa.array([decimal.Decimal(100)] * N, pa.decimal256(50, -2)),
    *[pa.array([1, 2] * 3, kind).dictionary_encode() for kind in (pa.int8(), pa.float32(), pa.timestamp("s"))],
    *[pa.array(["1", "x"] * 3, kind).dictionary_encode() for kind in (pa.string(), pa.binary())],
    pa.DictionaryArray.from_arrays([0, 1] * 3, pa.array(["1", "x"], pa.string_view())),
    pa.DictionaryArray.from_arrays([0, 1] * 3, pa.array([True, False])),
]
PANDAS += [pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))) for array in ARROW]
POLARS: list[Any] = [
    pl.Series([[1]] * N),
    pl.Series([[1, 2]] * N, dtype=pl.Array(pl.Int64, 2)),
    pl.Series([{"a": 1}] * N),
    pl.Series([object()] * N, dtype=pl.Object),
    pl.Series([b"a"] * N),
    pl.Series(["a", "b"] * 3, dtype=pl.Enum(["a", "b"])),
    pl.Series([dt.time(1)] * N),
    pl.Series([dt.timedelta(1)] * N),
    pl.Series([1] * N, dtype=pl.Int128),
    pl.Series([2**62] * N).cast(pl.Datetime("ms")),
]


def _table(values: Any) -> Any:
    if isinstance(values, pa.Array):
        return pa.table({"a": values})
    if isinstance(values, pd.Series):
        return pd.DataFrame({"a": values})
    return pl.DataFrame({"a": values}) if isinstance(values, pl.Series) else {"a": values}


@pytest.mark.parametrize(
    "values", [*NUMPY, *PANDAS, *ARROW, *POLARS], ids=lambda v: f"{type(v).__module__}-{getattr(v, 'dtype', '')}"
)
def test_no_type_ends_in_an_error_of_another_library(values: Any) -> None:
    """A type is read or refused for its sake, the same with rows and without."""
    frame = columns_of(_table(values))
    if "V8" not in str(getattr(values, "dtype", "")):  # refused by every learner before rows are taken
        assert len(take_rows(frame, np.array([1, 0])).column("a")) == 2
    for column in COLUMNS:
        outcomes = []
        for each in (frame, frame.without_rows()):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error", RuntimeWarning)
                    encoder: Any = encoder_of(column)
                    codes = encoder.codes(each, "a") if hasattr(encoder, "codes") else encoder.encode(each.column("a"))
                    assert len(codes) == each.n_rows
                outcomes.append("")
            except FrameError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1], column
    for index in (LabelIndex(("a", "b")), NumericLabelIndex(0, 9)):
        for vector in (frame.column("a"), frame.without_rows().column("a")):
            with contextlib.suppress(TacitError):
                index.encode(vector)


@pytest.mark.parametrize("kind", [pa.int8(), pa.float64(), pa.decimal128(4, -1), pa.string(), pa.binary(), pa.bool_()])
@pytest.mark.parametrize("library", ["arrow", "pandas", "pandas with Arrow", "polars", "polars Enum"])
def test_categoricals_are_read_as_the_values_that_they_list(library: str, kind: pa.DataType) -> None:
    """Whether a library keeps each value once says nothing of the column."""
    texts = pa.types.is_string(kind) or pa.types.is_binary(kind)
    values: list[Any] = ["10", "x", None] if texts else [True, False, None] if kind == pa.bool_() else [10, 20, None]
    known: Any = list(map(decimal.Decimal, values[:2])) if pa.types.is_decimal(kind) else values[:2]
    stored: Any = pa.DictionaryArray.from_arrays([0, 1, None], pa.array(known, kind))
    if library == "pandas":
        stored = pd.Series(pd.Categorical(values))
    elif library == "pandas with Arrow":
        stored = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([stored])))
    elif library != "arrow":
        names = ["10", "x"] if texts else ["10", "20"]
        stored = pl.Series([*names, None], dtype=pl.Categorical if library == "polars" else pl.Enum(names))
        values = [*names, None]
    expected = [1.0, 0.0] if kind == pa.bool_() and "polars" not in library else [10.0, np.nan if texts else 20.0]
    np.testing.assert_array_equal(columns_of(_table(stored)).numbers("a"), [*expected, np.nan])
    index = LabelIndex(tuple(dict.fromkeys(values[:2])))
    assert index.encode(stored).tolist() == [0, 1, 255]
    with pytest.raises(FrameError, match="is numeric in the schema"):
        as_numbers(stored, "a")


def test_binary_columns_are_the_texts_that_a_csv_file_would_hold(tmp_path: Any) -> None:
    """As Hive and Impala write them: numbers, categories, dates and labels, whatever the width."""
    texts = {"n": ["1.5", "7", "x", ""], "c": ["é", "b", "z", ""], "d": ["2001-02-03", "2020-12-31", "?", ""]}
    schema = tacit.Schema({"n": NumericColumn(0, 9), "c": CategoricalColumn(("é", "b")), "d": DATES})
    lines = [",".join(row) for row in zip(*texts.values(), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["n,c,d", *lines]), "utf-8")
    expected = _codes(schema, tacit.read_table(tmp_path / "t.csv", schema))
    for kind in (pa.binary(), pa.large_binary()):
        columns = {name: pa.array([cell.encode() or None for cell in cells], kind) for name, cells in texts.items()}
        pq.write_table(pa.table(columns), tmp_path / "t.parquet")
        table = tacit.read_table(tmp_path / "t.parquet", schema)
        assert _codes(schema, table) == expected
        assert _codes(schema, table.to_pandas()) == expected
        assert _codes(schema, pl.from_arrow(table)) == expected
    fixed = pa.table({"n": pa.array([b"1.5", b"7.0"], pa.binary(3))})
    assert columns_of(fixed).numbers("n").tolist() == [1.5, 7]


def _codes(schema: tacit.Schema, table: Any) -> list[list[int]]:
    from tacit.encoding.table import TableEncoding

    return [column.tolist() for column in TableEncoding.of(schema).encode(columns_of(table, schema.features))]


@pytest.mark.parametrize(
    "values", [["a", "b", "zz"], ["1.5", "9", "x"], ["true", "false", ""], ["2001-05-02", "1990", ""]]
)
def test_texts_of_numpy_and_runs_of_arrow_are_read_as_texts_are(values: list[str]) -> None:
    """``StringDType`` and run-end encoding say how texts are stored, not what they are."""
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3], pa.int32()), pa.array(values))
    texts = np.array(values, np.dtypes.StringDType())
    for stored in (texts, runs, pa.chunked_array([runs])):
        for column in COLUMNS[1:]:
            assert encoder_of(column).encode(stored).tolist() == encoder_of(column).encode(pa.array(values)).tolist()
        numbers = as_numbers(pa.array(values), "x", loose=True)
        np.testing.assert_array_equal(as_numbers(stored, "x", loose=True), numbers)
    assert columns_of(texts.reshape(3, 1), ["x"]).mixed
    with pytest.raises(FrameError, match="got a generator"):
        columns_of(value for value in values)
