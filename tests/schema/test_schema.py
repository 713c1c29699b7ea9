"""The schema: exact round trips, and errors that name the place and say what would be right."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.schema import (
    BooleanColumn,
    CategoricalColumn,
    Label,
    NumericColumn,
    Schema,
    SchemaError,
    Unit,
)
from tacit.schema.columns import column_from_dict
from tacit.schema.errors import MOST_LISTED, nearest, resembles

PAGE = """
[label]
column = "income"
kind = "classes"            # or "numeric" with lower, upper
classes = ["<=50K", ">50K"]
positive = ">50K"           # or a list

[unit]                      # optional: people with several rows
column = "person_id"
max_rows = 3

[columns.age]
kind = "numeric"
lower = 17
upper = 90

[columns.workclass]
kind = "categorical"
categories = ["Private", "State-gov", "Self-emp-inc"]
missing = true
"""


def make(**changes: Any) -> dict[str, Any]:
    """A valid schema as plain data, with a column ``x`` changed."""
    column = {"kind": "numeric", "lower": 0, "upper": 1}
    column.update(changes)
    return {"columns": {"x": {key: value for key, value in column.items() if value is not None}}}


def test_the_file_of_the_architecture_page_reads_as_it_says(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(PAGE)
    schema = Schema.from_toml(path)
    assert schema.features == ("age", "workclass")
    assert schema.columns["age"] == NumericColumn(17, 90)
    assert schema.columns["workclass"] == CategoricalColumn(("Private", "State-gov", "Self-emp-inc"), missing=True)
    assert schema.label == Label("income", classes=("<=50K", ">50K"), positive=">50K")
    assert schema.unit == Unit("person_id", 3)
    assert schema.id_column == "person_id"


def test_the_fingerprint_sees_what_matters() -> None:
    x, y = NumericColumn(0, 1), BooleanColumn()
    prints = {
        Schema(columns, label).fingerprint()
        for columns, label in [
            ({"x": x, "y": y}, None),
            ({"y": y, "x": x}, None),
            ({"x": NumericColumn(0, 2), "y": y}, None),
            ({"x": CategoricalColumn((True,)), "y": y}, None),
            ({"x": CategoricalColumn((1,)), "y": y}, None),
            ({"x": CategoricalColumn(("1",)), "y": y}, None),
            ({"x": x, "y": y}, Label("z", classes=("a", "b"))),
            ({"x": x, "y": y}, Label("z", classes=("b", "a"))),
        ]
    }
    assert len(prints) == 8
    assert Schema({"x": NumericColumn(np.float32(0), np.int64(1))}) == Schema({"x": NumericColumn(-0.0, 1.0)})


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (make(lower=90, upper=17), ["column 'x'", "'lower'", "90", "17", "lower < upper"]),
        (make(lower=1, upper=1), ["column 'x'", "not below"]),
        (make(upper=float("inf")), ["column 'x'", "'upper'", "not finite", "finite bound"]),
        (make(lower=float("nan")), ["column 'x'", "'lower'", "not finite"]),
        (make(upper=10**400), ["column 'x'", "'upper'", "not finite"]),
        (make(lower=1e16, upper=1e16 + 4), ["column 'x'", "too narrow", "rescale"]),
        (make(lower=-1e308, upper=1e308), ["column 'x'", "too wide"]),
        (make(lower="0"), ["column 'x'", "'lower'", "without quotes"]),
        (make(lower=True), ["column 'x'", "'lower'", "must be a number"]),
        (make(upper=None), ["column 'x'", "'upper'", "is missing"]),
        (make(spacing="log"), ["column 'x'", "'spacing'", "lower above 0"]),
        (make(spacing="loq"), ["column 'x'", "'spacing'", "did you mean 'log'"]),
        (make(spacing=[0.5, 0.4]), ["column 'x'", "'spacing'", "increase"]),
        (make(spacing=[0.0, 0.4]), ["column 'x'", "'spacing'", "strictly between"]),
        (make(spacing=[]), ["column 'x'", "'spacing'", "0 cuts"]),
        (make(spacing=3), ["column 'x'", "'spacing'", "list of cuts"]),
        (make(spacing=[0.5], bins=3), ["column 'x'", "'bins'", "make 2 bins"]),
        (make(bins=1), ["column 'x'", "'bins'", "2 to"]),
        (make(bins=2.5), ["column 'x'", "'bins'", "whole number"]),
        (make(monotone="up"), ["column 'x'", "'monotone'", "increasing"]),
        (make(uper=3), ["column 'x'", "'uper'", "did you mean 'upper'"]),
        (make(kind="numerical"), ["column 'x'", "'kind'", "did you mean 'numeric'"]),
        (make(kind=["numeric"]), ["column 'x'", "unknown kind"]),
        (make(kind=None), ["column 'x'", "'kind'", "is missing"]),
        ({"columns": {"x": {"kind": "categorical"}}}, ["column 'x'", "'categories'", "is missing"]),
        ({"columns": {"x": {"kind": "categorical", "categories": []}}}, ["column 'x'", "has 0 values"]),
        ({"columns": {"x": {"kind": "categorical", "categories": "abc"}}}, ["column 'x'", "must be a list"]),
        ({"columns": {"x": {"kind": "categorical", "categories": ["a", " a"]}}}, ["column 'x'", "read the same"]),
        ({"columns": {"x": {"kind": "categorical", "categories": [3, "3"]}}}, ["column 'x'", "read the same"]),
        ({"columns": {"x": {"kind": "ordinal", "categories": ["a", ""]}}}, ["column 'x'", "empty", "missing bin"]),
        ({"columns": {"x": {"kind": "categorical", "categories": [float("nan")]}}}, ["column 'x'", "missing has"]),
        (
            {"columns": {"x": {"kind": "categorical", "categories": list(range(60_001))}}},
            ["column 'x'", "60001", "60000", "merge rare"],
        ),
        ({"columns": {"x": 3}}, ["column 'x'", "table of keys"]),
        ({"columns": {}}, ["no columns"]),
        ({}, ["no columns"]),
        ({"columns": {"x": {"kind": "ignore"}}}, ["no column to learn from"]),
        ({**make(), "colums": {}}, ["'colums'", "did you mean 'columns'"]),
        ({**make(), "label": {"column": "y"}}, ["section [label]", "'classes'", "0 values"]),
        ({**make(), "label": {"column": "y", "classes": ["a"]}}, ["section [label]", "2 to"]),
        ({**make(), "label": {"classes": ["a", "b"]}}, ["section [label]", "'column'", "is missing"]),
        (
            {**make(), "label": {"column": "y", "classes": ["yes", "no"], "positive": "yess"}},
            ["section [label]", "'positive'", "did you mean 'yes'"],
        ),
        ({**make(), "label": {"column": "y", "classes": [0, 1], "positive": [0, 1]}}, ["all classes are positive"]),
        ({**make(), "label": {"column": "y", "kind": "numeric", "lower": 1}}, ["section [label]", "'upper'"]),
        ({**make(), "label": {"column": "y", "kind": "numeric", "lower": 1, "upper": 0}}, ["section [label]", "below"]),
        ({**make(), "label": {"column": "y", "kind": "class", "classes": [0, 1]}}, ["did you mean 'classes'"]),
        ({**make(), "label": {"column": "y", "classes": [0, 1], "lower": 0}}, ["'lower'", "numeric label"]),
        ({**make(), "label": {"column": "x", "classes": [0, 1]}}, ["column 'x'", "label and listed"]),
        ({**make(), "unit": {"column": "x", "max_rows": 1}}, ["column 'x'", "unit and a feature", "'id'"]),
        ({**make(), "unit": {"column": "u", "max_rows": 0}}, ["section [unit]", "'max_rows'", "from 1"]),
        ({**make(), "unit": {"column": "u", "max_rows": True}}, ["section [unit]", "'max_rows'"]),
        ({**make(), "unit": {"column": "u"}}, ["section [unit]", "'max_rows'", "is missing"]),
    ],
)
def test_errors_name_the_place_and_the_remedy(data: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict(data)
    for word in [*words, "Nothing was spent."]:
        assert word in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[columns.x\nkind = 1", ["not valid TOML", "line 1"]),
        (b'[columns.x]\nkind = "numeric"\nlower = \n', ["not valid TOML", "line 3"]),
        (b"x = " + b"[" * 5000, ["not valid TOML", "nested too deeply"]),
        (b"x = " + b"9" * 5000, ["not valid TOML", "digits"]),
        (b"[columns.x]\nkind = '\xff'", ["not UTF-8"]),
        (b"[columns.x]\nkind = 2020-01-01", ["unknown kind"]),
        (b'[columns.x]\nkind = "categorical"\ncategories = [2020-01-01]', ["column 'x'", "date", "quotes"]),
        (b"", ["no columns"]),
        (None, ["cannot be read", "No such file"]),
    ],
)
def test_files_that_are_no_schema(tmp_path: Path, content: bytes | None, words: list[str]) -> None:
    path = tmp_path / "wrong.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SchemaError) as caught:
        Schema.from_toml(path)
    for word in [*words, "wrong.toml", "Nothing was spent."]:
        assert word in str(caught.value)


def test_positive_classes() -> None:
    assert Label("y", classes=("a", "b")).positive_classes == ("b",)
    assert Label("y", classes=("a", "b", "c")).positive_classes == ()
    assert Label("y", classes=("a", "b", "c"), positive=["c", "a"]).positive_classes == ("a", "c")
    assert Label("y", classes=(0, 1), positive="1").positive_classes == (1,)
    assert Label("y", classes=(0, 1), positive=0).to_dict()["positive"] == 0


def test_a_schema_cannot_be_changed() -> None:
    schema = Schema.from_dict(make())
    with pytest.raises(TypeError):
        schema.columns["y"] = BooleanColumn()  # type: ignore[index]
    with pytest.raises(AttributeError):
        schema.label = None  # type: ignore[misc]


def test_bounds_of_a_label_of_classes_say_what_is_missing():
    with pytest.raises(SchemaError, match="kind = 'numeric'"):
        Label.from_dict({"column": "cost", "lower": 0, "upper": 50})


@pytest.mark.parametrize("number", [2**53, -(2**53) - 1, 10**20])
def test_an_integer_that_readers_of_json_round_is_refused(number: int) -> None:
    with pytest.raises(SchemaError, match="write it in quotes"):
        CategoricalColumn((1, number), exact=True)
    assert CategoricalColumn((1, 1e300), exact=True).categories == (1, 1e300)


@pytest.mark.parametrize(("word", "meant"), [("age", "AGE"), ("sex", " Sex "), ("BMI", "bmi"), ("bmii", "bmi")])
def test_the_word_that_was_meant(word: str, meant: str) -> None:
    assert resembles(word, ["AGE", " Sex ", "bmi"]) == [meant]
    assert nearest(word, ["AGE", " Sex ", "bmi"]) == f"did you mean '{meant}'?"


def test_a_wide_table_is_not_listed_whole() -> None:
    assert nearest("zzz", ["a", "b"]) == "known here: a, b"
    assert nearest("zzz", [f"x{i}" for i in range(MOST_LISTED)]).endswith(f"x{MOST_LISTED - 1}")
    wide = nearest("zzz", [f"x{i}" for i in range(3000)])
    assert wide.endswith(f"x{MOST_LISTED - 1} and {3000 - MOST_LISTED:,} more")


def test_a_date_without_its_granularity_is_told_which_there_are() -> None:
    with pytest.raises(SchemaError, match="a column of kind 'date' needs it: year, month, weekday"):
        column_from_dict({"kind": "date", "lower": "2020-01-01", "upper": "2023-01-01"})


def test_all_problems_of_a_schema_are_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(
        "[columns.age]\nkind = 'numeric'\nlower = 9\nupper = 1\n[columns.sex]\nkind = 'categorical'\n"
        "[columns.ok]\nkind = 'boolean'\n[label]\ncolumn = 'y'\nclasses = ['a']\n[unit]\ncolumn = 'who'\n"
    )
    with pytest.raises(SchemaError) as caught:
        Schema.from_toml(path)
    first, *others = str(caught.value).splitlines()
    assert first == f"{path}: 4 problems:"
    parts = ("column 'age', field 'lower'", "column 'sex', field 'categories'", "section [label]", "section [unit]")
    for part, line in zip(parts, others, strict=True):
        assert line.strip().startswith(part)
    assert str(caught.value).count("Nothing was spent.") == 1


def test_of_very_many_problems_the_first_are_named() -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict({"columns": {f"x{i}": {"kind": "numeric"} for i in range(MOST_LISTED + 3)}})
    first, *lines, last = str(caught.value).splitlines()
    assert (first, len(lines)) == (f"{MOST_LISTED + 3} problems:", MOST_LISTED)
    assert last == "  and 3 more. Nothing was spent."
