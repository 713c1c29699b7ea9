"""Indexes of declared values: what a cell means depends on the cell and the declaration alone."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.encoding.errors import FrameError
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.units import key_codes
from tacit.encoding.values import DROPPED, BooleanIndex, CategoryIndex, LabelIndex
from tacit.schema import Label, SchemaError

cells = (
    st.none()
    | st.text(max_size=4)
    | st.sampled_from(["a", "b ", "3", "3.0", "true", "1", "0", "", " "])
    | st.integers(-3, 4)
    | st.floats(width=16)
    | st.booleans()
    | st.decimals(allow_nan=True, places=1, min_value=-3, max_value=3)
    | st.binary(max_size=2)
)
indexes = st.sampled_from(
    [
        CategoryIndex(("a", "b", "c")),
        CategoryIndex((3, 1, "x", 2.5)),
        CategoryIndex(("3", "1", "02139")),
        CategoryIndex((True, "b")),
        CategoryIndex(tuple(range(300))),
        BooleanIndex(),
        LabelIndex(("a", "b")),
        LabelIndex((3, 1, 0), (1,)),
    ]
)


@settings(max_examples=100, deadline=None)
@given(index=indexes, column=st.lists(cells, max_size=8))
def test_a_column_is_read_cell_by_cell(index: CategoryIndex | BooleanIndex | LabelIndex, column: list[Any]) -> None:
    vector = np.empty(len(column), object)
    vector[:] = column
    codes = index.encode(vector)
    assert codes.dtype == (np.uint8 if index.n_codes <= 256 else np.uint16)
    assert codes.tolist() == [index.code_of(cell) for cell in column]
    legal = set(range(index.n_codes)) | ({DROPPED} if isinstance(index, LabelIndex) else set())
    assert set(codes.tolist()) <= legal
    assert type(index).from_dict(index.to_dict()) == index


def test_texts_numbers_and_booleans_meet_by_value() -> None:
    numbers = CategoryIndex((3, 2.5, 10**15))
    for value in (3, 3.0, "3", " 3 ", "3.0", "03", "+3", "30e-1", np.int8(3), np.float32(3), Decimal("3.0"), b"3"):
        assert numbers.code_of(value) == 0, value
    for value in (10**15, 10**15 + 1, 1e15, "1e15", "1000000000000001"):
        assert numbers.code_of(value) == 2, value
    texts = CategoryIndex(("3", "02139", "a", "inf"))
    assert [texts.code_of(v) for v in (3, 3.0, 2139, "2139", "3.0", "A", " a ")] == [0, 0, 1, 1, 0, 4, 2]
    assert [texts.code_of(v) for v in (math.inf, "inf", " Infinity", "1e999", "-inf", "+-inf")] == [3, 3, 3, 3, 4, 4]
    flags = CategoryIndex((True, False))
    for value, code in ((True, 0), ("TRUE", 0), (1, 0), ("1", 0), (1.0, 0), (np.False_, 1), ("false", 1), ("0.0", 1)):
        assert flags.code_of(value) == code, value
    assert flags.code_of(2) == flags.code_of("2") == flags.other
    assert [CategoryIndex(("True", 0)).code_of(v) for v in (True, False, "true", 0)] == [0, 1, 0, 1]
    for nothing in (None, float("nan"), np.nan, pd.NA, pd.NaT, "", "  ", Decimal("nan")):
        assert texts.code_of(nothing) == texts.missing == 5


def test_spelling_counts_where_a_schema_says_so() -> None:
    codes = CategoryIndex(("250.1", "250.10", "007", "true", 8), exact=True)
    assert [codes.code_of(v) for v in ("250.1", " 250.10", "007", "7", "true", "True", "8", "8.0")] == [
        *[0, 1, 2, 5, 3],
        *[5, 4, 4],
    ]
    assert [codes.code_of(v) for v in (250.1, 7, True, 8)] == [0, 2, 3, 4]
    assert CategoryIndex.from_dict(codes.to_dict()) == codes
    assert CategoryIndex.from_dict({"kind": "category_index", "categories": ["7"]}) == CategoryIndex(("7",))
    labels = LabelIndex(("1.1", "1.10"), exact=True)
    assert labels.encode(["1.10", "1.1", "1.100"]).tolist() == [1, 0, DROPPED]
    assert LabelIndex.from_dict(labels.to_dict()) == labels


@pytest.mark.parametrize("kind", [CategoryIndex, LabelIndex])
@pytest.mark.parametrize(
    "alike", [("7", "007"), ("1.1", "1.10"), ("1e3", 1000), ("true", "True"), (True, "TRUE"), ("inf", "Infinity")]
)
def test_values_that_some_reader_could_not_tell_apart_are_refused(kind: Any, alike: tuple[Any, Any]) -> None:
    with pytest.raises(SchemaError, match=r"holds both .* exact = true"):
        kind(alike)
    with pytest.raises(SchemaError, match="exact = true"):
        kind(("a", 2**53 + 1))
    with pytest.raises(SchemaError, match="exact = true"):
        kind(("a", "9007199254740993"))
    with pytest.raises(SchemaError, match="in quotes"):
        kind(("a", 2**53 + 1), exact=True)
    quoted = kind(("a", "9007199254740993"), exact=True)
    assert [quoted.code_of(value) == 1 for value in ("9007199254740993", "9007199254740992")] == [True, False]


def test_every_way_to_hand_over_texts_gives_the_same_codes() -> None:
    values = ["a", None, "z", "b", "a"]
    expected = [0, 3, 2, 1, 0]
    given: list[Any] = [
        values,
        np.array(values, object),
        pd.Series(values),
        pd.Series(values, dtype=object),
        pd.Series(values, dtype="category"),
        pd.Series(values, dtype="string[pyarrow]"),
        pl.Series(values),
        pl.Series(values, dtype=pl.Categorical),
        pl.Series(values, dtype=pl.Enum(["z", "b", "a"])),
        pa.array(values),
        pa.array(values).dictionary_encode(),
        pa.chunked_array([values[:2], values[2:]]),
        pa.array([None if v is None else v.encode() for v in values]),
    ]
    index = CategoryIndex(("a", "b"))
    for vector in given:
        assert index.encode(vector).tolist() == expected, type(vector)
    assert index.encode(np.array(["a", "", "z"])).tolist() == [0, 3, 2]
    assert index.encode(pa.nulls(2)).tolist() == [3, 3]
    assert index.encode([]).tolist() == []


def test_a_categorical_made_from_data_declares_nothing() -> None:
    index = CategoryIndex(("a", "b"))
    seen = pd.Series(pd.Categorical(["b", "q"], categories=["q", "b"]))
    assert index.encode(seen).tolist() == [1, 2]
    assert index.n_codes == 4


def test_columns_of_numbers_read_as_categories() -> None:
    index = CategoryIndex((1, 2))
    for vector in (
        np.array([1.0, 2.0, np.nan, 3.0]),
        pd.Series([1, 2, None, 3], dtype="Int64"),
        pl.Series([1, 2, None, 3]),
        pd.Series([1, 2, None, 3], dtype="category"),
        ["1", "2", "", "three"],
    ):
        assert index.encode(vector).tolist() == [0, 1, 3, 2]
    assert index.encode(np.array([1, 2], np.longdouble)).tolist() == [0, 1]
    assert index.encode(np.array([1, 2], ">i4")).tolist() == [0, 1]
    assert index.encode(np.array([1, 2], np.float16)).tolist() == [0, 1]
    assert index.encode(pa.array([1, 2, None], pa.decimal128(5, 0))).tolist() == [0, 1, 3]
    if hasattr(pa, "decimal32"):  # which Arrow has, and tells no values of apart
        assert index.encode(pa.array([1, 2, None], pa.decimal32(5, 0))).tolist() == [0, 1, 3]
    assert index.encode(np.ma.MaskedArray([1, 2], mask=[False, True])).tolist() == [0, 3]
    assert index.encode(pl.Series([1, 2, None], dtype=pl.Int128)).tolist() == [0, 1, 3]
    assert index.encode(pd.Series(pd.arrays.SparseArray([1.0, np.nan, 2.0]))).tolist() == [0, 3, 1]


@pytest.mark.parametrize(
    "vector",
    [
        pd.Series(pd.to_datetime(["2020-01-01"])),
        pd.Series(pd.period_range("2020", periods=2)),
        pd.Series(pd.arrays.IntervalArray.from_breaks([0, 1, 2])),
        pl.Series([[1]]),
        np.array([1j]),
        np.array([0], "m8[s]"),
        np.eye(2),
    ],
)
def test_dates_and_lists_are_refused_by_dtype(vector: Any) -> None:
    with pytest.raises(FrameError, match=r"column 'c' has .*Nothing was spent"):
        CategoryIndex(("a",)).encode(vector, "c")


def test_booleans() -> None:
    index = BooleanIndex()
    yes: list[Any] = [True, 1, 1.0, "true", "T", " Yes", "1", "1.0", np.True_, b"y"]
    no: list[Any] = [False, 0, -0.0, "FALSE", "f", "no", "0", np.int8(0)]
    neither: list[Any] = [None, float("nan"), 2, "", "maybe", pd.NA, float("inf"), [1]]
    assert [index.code_of(v) for v in yes] == [1] * len(yes)
    assert [index.code_of(v) for v in no] == [0] * len(no)
    assert [index.code_of(v) for v in neither] == [2] * len(neither)
    assert index.encode(pd.Series([True, None, False], dtype="boolean")).tolist() == [1, 2, 0]


def test_labels() -> None:
    income = LabelIndex(("<=50K", ">50K"))
    assert income.names == ("<=50K", ">50K")
    assert income.encode(["<=50K", " >50K", ">50K.", None, "1"]).tolist() == [0, 1, DROPPED, DROPPED, 1]
    assert income.encode(np.array([0, 1, 2])).tolist() == [0, 1, DROPPED]
    assert income.encode(np.array([False, True])).tolist() == [0, 1]
    first = LabelIndex(("bad", "good"), ("bad",))
    assert first.names == ("good", "bad")
    assert first.encode(["bad", "good"]).tolist() == [1, 0]
    many = LabelIndex((">50K", "<=50K", ">50K.", "<=50K."), (">50K", ">50K."))
    assert many.names == ("<=50K", ">50K")
    assert many.encode(["<=50K.", ">50K.", "x"]).tolist() == [0, 1, DROPPED]
    three = LabelIndex(("a", "b", "c"))
    assert three.n_classes == 3
    assert three.encode(["c", "d", "1"]).tolist() == [2, DROPPED, DROPPED]
    one_two = LabelIndex((1, 2), (2,))  # 1 is a class here, so 0 and 1 mean nothing else
    assert one_two.encode([1, 2, 0]).tolist() == [0, 1, DROPPED]
    assert LabelIndex.of(Label("y", classes=(0, 1))).encode(np.array([1.0, 0.0, np.nan])).tolist() == [1, 0, DROPPED]


@pytest.mark.parametrize(
    ("classes", "positive", "codes"),
    [
        ((1, 2), (), [0, 1]),
        ((1, 2), (1,), [0, 1]),
        (("1", "2"), (), [0, 1]),
        ((-1, 1), (), [0, 1]),
        ((0, 2), (), [0, 1]),
        ((0, 1), (), [0, 1]),
        ((1, 0), (), [1, 0]),  # here 1 is a class as 0 is, and true is 1
        ((0, 1, 2), (2,), [0, 0]),
        ((True, False), (), [1, 0]),
        (("true", "maybe"), (), [DROPPED, 0]),
        ((1, 2, 3), (), [DROPPED, 0]),
    ],
)
def test_truth_values_are_sides_unless_classes_mean_both(classes: Any, positive: Any, codes: list[int]) -> None:
    index = LabelIndex(classes, positive)
    assert index.encode(np.array([False, True])).tolist() == codes
    assert index.encode(["false", "TRUE"]).tolist() == codes
    assert index.encode([True, False, None, "x"]).tolist() == [*codes[::-1], DROPPED, DROPPED]


@settings(max_examples=80, deadline=None)
@given(values=st.lists(st.floats(), max_size=9))
def test_numeric_labels_stay_in_range(values: list[float]) -> None:
    index = NumericLabelIndex(-2, 6, 10)
    codes = index.encode(np.array(values, float))
    good = np.isfinite(np.array(values, float))
    assert np.all(codes[~good] == -1)
    assert np.all((codes[good] >= 0) & (codes[good] <= index.unit))
    inside = np.clip(np.array(values, float)[good], -2, 6)
    assert np.all(np.abs(index.value(codes[good]) - inside) <= 8 / 1024 + 1e-12)
    assert NumericLabelIndex.from_dict(index.to_dict()) == index


def test_a_label_index_checks_its_classes() -> None:
    with pytest.raises(SchemaError, match="is not one of classes"):
        LabelIndex(("a", "b"), ("c",))
    with pytest.raises(ValueError, match="'y' is not numeric"):
        NumericLabelIndex.of(Label("y", classes=("a", "b")))


def _narrow_vectors(numbers: list[float | None], kind: str) -> list[Any]:
    """The numbers in every container that has floats of 32 or 16 bits."""
    array = np.array([np.nan if number is None else number for number in numbers], kind)
    arrow = pa.array(array, mask=np.isnan(array))
    vectors: list[Any] = [
        array,
        pd.Series(array),
        np.ma.masked_invalid(array),
        arrow,
        pa.chunked_array([arrow[:2], arrow[2:]]),
        list(array),
        np.array([*array, None], object)[:-1],
        pd.Series([*array], dtype=object),
    ]
    if kind == "float32":
        vectors += [
            pd.Series(array).astype("category"),
            arrow.dictionary_encode(),
            pd.Series(array, dtype="Float32"),
            pd.Series(pd.arrays.SparseArray(array)),
        ]
        vectors += [pd.Series(arrow.to_pandas(), dtype="float[pyarrow]"), pl.Series(array, dtype=pl.Float32)]
    return vectors


@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_narrow_floats_are_what_they_were_written_as(kind: str) -> None:
    """0.1 in 32 bits is a declared 0.1; so is what differs from a declared number beyond that precision."""
    declared = (0.1, 0.2, "0.30", 1.23456789012, 7, 1e-9, 1e6)
    cells = [0.1, 0.2, 0.3, 1.23456789012, 7.0, None, 0.5, 0.0]
    for vector in _narrow_vectors(cells, kind):
        assert CategoryIndex(declared).encode(vector).tolist() == [0, 1, 2, 3, 4, 8, 7, 7], type(vector)
        assert LabelIndex((0.1, 0.2, 0.3)).encode(vector).tolist() == [0, 1, 2, *[DROPPED] * 5], type(vector)
        assert key_codes(vector)[1] == ("0.1", "0.2", "0.3", str(np.dtype(kind).type(1.23456789012)), "7", "0.5", "0")
    infinite = np.array([np.inf, 1e-9], kind)
    assert CategoryIndex(declared).encode(infinite).tolist() == [7, 5 if kind == "float32" else 7]
    assert CategoryIndex((0.1, 0.1000001)).encode(np.array([0.1], "float16")).tolist() == [0]  # the first, of one float
    assert CategoryIndex((0.1,)).encode(np.array([0.1], "float32").astype("float64")).tolist() == [1]
