"""Drafts: from public data only, made to be corrected; what they make of cells as people write them, and ask."""

from __future__ import annotations

import csv
import datetime as dt
import math
import re
import warnings
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.encoding.errors import DataError
from tacit.encoding.read import column_names, read_columns, read_sample
from tacit.encoding.read_table import read_table
from tacit.encoding.table import TableEncoding, encoder_of
from tacit.schema import (
    BooleanColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    IdColumn,
    IgnoredColumn,
    Label,
    NumericColumn,
    OrdinalColumn,
    Schema,
    SchemaError,
)
from tacit.schema.csv_format import CsvFormat, are_cells
from tacit.schema.draft import Draft, PublicDataWarning, draft_from_dictionary, draft_schema, round_outward
from tacit.schema.draft_columns import _log_round
from tacit.schema.spellings import far_marks
from tacit.schema.times import date_marks

ROWS = 300
SAMPLE: dict[str, list[Any]] = {
    "age": [17 + i % 74 for i in range(ROWS)],
    "income": [float(10 ** (i % 6)) * 1.7 for i in range(ROWS)],
    "gain": [0.0 if i % 2 else 31.0 for i in range(ROWS)],
    "flag": [i % 2 for i in range(ROWS)],
    "ok": [i % 2 == 0 for i in range(ROWS)],
    "smoker": [("yes", "no")[i % 2] for i in range(ROWS)],
    "work": [("b", "a", "c ", None)[i % 4] for i in range(ROWS)],
    "user_id": [7 * i for i in range(ROWS)],
    "person": [f"p{i}" for i in range(ROWS)],
    "empty": [None] * ROWS,
    "constant": [3] * ROWS,
    "tiny": [i * 1e-320 for i in range(ROWS)],
    "price": [Decimal(i) / 4 for i in range(ROWS)],
    "day": [None if i == 3 else dt.date(2019 + i % 3, 3, 7) for i in range(ROWS)],
    "moment": [dt.datetime(2020, 5, 1 + i % 9, 12, tzinfo=dt.UTC) for i in range(ROWS)],
    "label": [("no", "yes")[i % 3 == 0] for i in range(ROWS)],
}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_a_sample_becomes_a_schema(make: Any) -> None:
    draft = draft_schema(make(SAMPLE), "label", public=True)
    assert dict(draft.schema.columns) == {
        "age": NumericColumn(15, 90),
        "income": NumericColumn(1, 200_000, spacing="log"),
        "gain": NumericColumn(0, 32),
        "flag": BooleanColumn(),
        "ok": BooleanColumn(),
        "smoker": BooleanColumn(),
        "work": CategoricalColumn(("a", "b", "c"), missing=True),
        "user_id": IdColumn(),
        "person": IdColumn(),
        "empty": IgnoredColumn(),
        "constant": NumericColumn(2.8, 3.2),
        "tiny": IgnoredColumn(),
        "price": NumericColumn(0, 75),
        "day": DateColumn("month", "2019-01-01", "2021-12-31"),
        "moment": DateColumn("month", "2020-01-01", "2020-12-31"),
    }
    assert draft.schema.label == Label("label", classes=("no", "yes"), positive="yes")
    notes = "\n".join(draft.notes)
    assert "income: log spacing" in notes
    assert "person: taken for an identifier" in notes
    assert "day: a date, by month" in notes
    assert "constant: the sample has one value only" in notes
    assert "'yes' is taken for the positive class" in notes


def test_it_is_loud_about_private_data(tmp_path: Path) -> None:
    with pytest.warns(PublicDataWarning, match=r"PUBLIC[\s\S]*private[\s\S]*privacy budget"):
        draft = draft_schema(SAMPLE, "label")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draft_schema(SAMPLE, "label", public=True)
    path = tmp_path / "schema.toml"
    draft.to_toml(path)
    text = path.read_text()
    assert text.startswith("# A schema is PUBLIC")
    assert "# income: log spacing" in text
    assert Schema.from_toml(path) == draft.schema


def test_many_categories_are_cut_and_labels_may_be_numbers() -> None:
    sample = {"code": [f"c{i % 250 * 7}" for i in range(1000)] + ["c7"] * 9, "y": [i / 7 for i in range(1009)]}
    draft = draft_schema(sample, "y", public=True)
    column = draft.schema.columns["code"]
    assert isinstance(column, CategoricalColumn)
    assert len(column.categories) == 200
    assert "c7" in column.categories
    assert draft.schema.label == Label("y", "numeric", lower=0, upper=150)
    assert "200 most frequent of 250" in draft.notes[0]
    classes = draft_schema({"x": [1.5, 2.5], "y": [2.0, 1.0]}, "y", public=True).schema.label
    assert classes == Label("y", classes=(1, 2), positive=2)
    assert draft_schema({"x": [1.5, 2.5], "y": ["b", "a"]}, "y", "a", public=True).schema.label == Label(
        "y", classes=("a", "b"), positive="a"
    )


@settings(max_examples=100, deadline=None)
@given(least=st.floats(-1e12, 1e12), span=st.floats(0, 1e12))
def test_bounds_are_rounded_outward_but_not_far(least: float, span: float) -> None:
    most = least + span
    if most - least < max(1e-9 * max(abs(least), abs(most)), 1e-190):
        least = most = most if abs(most) > 1e-190 else 1.0
    lower, upper = round_outward(least, most)
    assert lower <= least <= most <= upper
    assert lower < upper
    assert upper - lower <= 1.3 * (most - least or abs(least) or 1.0) + 1e-9 * max(abs(lower), abs(upper))
    assert math.isfinite(lower)


def test_a_wrong_label_is_named() -> None:
    with pytest.raises(SchemaError, match=r"column 'labl'.*did you mean 'label'.*Nothing was spent"):
        draft_schema(SAMPLE, "labl", public=True)
    with pytest.raises(SchemaError, match=r"column 'person'.*an identifier \(its name says so\); is this the label"):
        draft_schema(SAMPLE, "person", public=True)
    with pytest.raises(SchemaError, match="no column to learn from"):
        draft_schema({"y": [1, 2]}, "y", public=True)


def test_a_draft_without_a_feature_says_why_each_column_is_left_out() -> None:
    """The questions that would have made features of them were lost with the draft."""
    sample = {
        "paid": [f"({i}.50)" for i in range(30)],
        "weight": [f"{i}st 4lb" for i in range(30)],
        "iban": [f"DE{10**19 + 7**20 * i % 10**19}" for i in range(30)],
        "y": ["no", "yes"] * 15,
    }
    with pytest.raises(SchemaError) as error:
        draft_schema(sample, "y", public=True)
    first, *lines = str(error.value).splitlines()
    assert first == "no column to learn from; correct the sample, whose columns are all left out:"
    assert [line.split(":")[0].strip() for line in lines] == ["paid", "weight", "iban"]
    assert "does '(0.50)' mean '-0.50'" in lines[0]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("yes yes yes", "column 'y': holds one value in every row that has any, 'yes'; is this the label"),
        ("7 7 7", "holds one value in every row that has any, 7"),
        ("yes _ yes", "holds one value in every row that has any, 'yes'"),
        ("_ _ _", "holds no value in any row"),
    ],
)
def test_a_label_of_one_value_or_none_is_said(cells: str, words: str, tmp_path: Path) -> None:
    lines = [f"{i},{cell.replace('_', '')}" for i, cell in enumerate(cells.split())]
    (tmp_path / "rows.csv").write_text("\n".join(["x,y", *lines * 20]))
    with pytest.raises(SchemaError, match=words):
        draft_schema(read_sample(tmp_path / "rows.csv"), "y", public=True)


DICTIONARY = """name,kind,lower,upper,categories,description
age,numeric,17,90,,"age, in years"
work,categorical,,,Private|State gov|?,
grade,ordinal,,,1|2|3,
zip,categorical,,,02139|10001,
id,id,,,,
married,boolean,,,,
income,categorical,,,<=50K|>50K,
"""


def test_a_data_dictionary_becomes_a_schema(tmp_path: Path) -> None:
    path = tmp_path / "dictionary.csv"
    path.write_text(DICTIONARY)
    schema = draft_from_dictionary(path, "income", ">50K").schema
    assert dict(schema.columns) == {
        "age": NumericColumn(17, 90, description="age, in years"),
        "work": CategoricalColumn(("Private", "State gov", "?")),
        "grade": OrdinalColumn((1, 2, 3)),
        "zip": CategoricalColumn(("02139", "10001")),
        "id": IdColumn(),
        "married": BooleanColumn(),
    }
    assert schema.label == Label("income", classes=("<=50K", ">50K"), positive=">50K")
    assert draft_from_dictionary(path, "age").schema.label == Label("age", "numeric", lower=17, upper=90)


def test_dates_in_a_dictionary_and_semicolons_between_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "dictionary.csv"
    path.write_text(
        "name;kind;lower;upper;categories;granularity\n"
        "admitted;date;2018-01-01;2020-12-31;;\n"
        "discharged;date;;;;weekday\n"
        "ill;categorical;;;no|yes;\n"
    )
    draft = draft_from_dictionary(path, "ill")
    assert dict(draft.schema.columns) == {
        "admitted": DateColumn("month", "2018-01-01", "2020-12-31"),
        "discharged": DateColumn("weekday"),
    }
    path.write_text(path.read_text().replace("2018-01-01", "1.1.2018"))
    with pytest.raises(SchemaError, match=r"line 2.*'lower'.*must be a date, got '1.1.2018'; give one such as"):
        draft_from_dictionary(path, "ill")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("17,90", "90,17"), ["line 2", "'lower'", "not below"]),
        (("17,90", "17,ninety"), ["line 2", "'upper'", "'ninety' is not a number"]),
        (("age,numeric", "age,numerc"), ["line 2", "did you mean 'numeric'"]),
        (("work,cat", "age,cat"), ["line 3", "names 'age' again"]),
        (("work,cat", ",cat"), ["line 3", "names no column"]),
        (("lower,upper", "lower,uper"), ["line 2", "'uper'", "did you mean 'upper'"]),
        (("1|2|3", "1|2|2"), ["line 4", "read the same"]),
        (("1|2|3,", "1,2,3,4"), ["line 4", "more cells"]),
        (("income,cat", "salary,cat"), ["column 'income'", "no line for the label"]),
        ((DICTIONARY, ""), ["has no lines"]),
    ],
)
def test_mistakes_in_a_dictionary_name_the_line(tmp_path: Path, change: tuple[str, str], words: list[str]) -> None:
    path = tmp_path / "dictionary.csv"
    path.write_text(DICTIONARY.replace(*change))
    with pytest.raises(SchemaError) as caught:
        draft_from_dictionary(path, "income")
    for word in [*words, "dictionary.csv", "Nothing was spent."]:
        assert word in str(caught.value)
    path.write_bytes(b"name,kind\n\xff,id\n")
    with pytest.raises(SchemaError, match="UTF-8"):
        draft_from_dictionary(path, "income")
    with pytest.raises(SchemaError, match="cannot be read"):
        draft_from_dictionary(tmp_path / "none.csv", "income")


def test_bounds_of_amounts_are_the_next_of_1_2_5_by_hand() -> None:
    for value, below, above in ((0.037, 0.02, 0.05), (0.9, 0.5, 1.0), (3.0, 2.0, 5.0), (7100.0, 5000.0, 10_000.0)):
        assert (_log_round(value, -1), _log_round(value, 1)) == (below, above)
    assert _log_round(0.02, -1) == _log_round(0.02, 1) == 0.02


def test_numbers_among_which_some_texts_say_that_one_is_missing_are_numbers() -> None:
    ages = [str(20 + i % 60) for i in range(300)]
    ages[::20], ages[7] = ["NA"] * 15, "-"
    draft = draft_schema({"age": ages, "y": ["a", "b"] * 150}, "y", public=True)
    assert draft.schema.columns["age"] == NumericColumn(20, 80)
    assert draft.notes[0] == "age: read as numbers; cells that spell none are missing: '-', 'NA'"
    for names, words in (
        (["ljones"], "1 cell of 1 other text"),
        (["ljones", "ljones", "m.o'neil@example.org", "Zoë 7"], "4 cells of 3 other texts"),
        (["NA", "ljones", "***", "-", "?", "..", "see Anna Berg"], "'***', '-', '..', 2 cells of 2 other texts"),
        (["(blank)", "don't know", "<5"], "'(blank)', '<5', \"don't know\""),
        (["#REF!", "n.d.", "555-12-3456", "+41 79 123 45 67"], "'#REF!', 'n.d.', 2 cells of 2 other texts"),
    ):  # what may be the name of a person is counted, not listed
        odd = {"age": [*names, *(str(20 + i / 8) for i in range(400 - len(names)))], "y": ["a", "b"] * 200}
        draft = draft_schema(odd, "y", public=True)
        assert draft.notes[0] == f"age: read as numbers; cells that spell none are missing: {words}"
    codes = [str(i % 9) for i in range(299)] + ["A"]  # too few numbers beside a text: codes
    numbers = [str(7000 + i) for i in range(299)] + ["?"]
    drafted = draft_schema({"code": codes, "case": numbers, "y": ["a", "b"] * 150}, "y", public=True).schema.columns
    assert isinstance(drafted["code"], CategoricalColumn)
    assert drafted["case"] == IdColumn()


def test_a_total_below_a_sample_is_no_row() -> None:
    """It makes texts of numbers, a class of its own, and bounds a thousand times too wide."""
    rows = {"age": ["30", "41", "", "52"], "cost": [1.5, 2.0, 4.0, 3.0], "bought": ["yes", "no", "yes", "no"]}
    plain = draft_schema({**rows, "age": [30, 41, None, 52]}, "bought", public=True)
    below = {"age": [*rows["age"], "Summe:"], "cost": [*rows["cost"], 10_500.0], "bought": [*rows["bought"], "4"]}
    draft = draft_schema(below, "bought", public=True)
    assert draft.schema == plain.schema
    assert draft.notes[0].startswith("the last row says 'Summe:' and is left out")
    assert draft_schema(below, "age", public=True).schema.label == Label("age", "classes", (30, 41, 52))
    again = {**below, "age": ["Total", "41", "", "52", "total"]}  # a category like any other
    assert "left out" not in " ".join(draft_schema(again, "bought", public=True).notes)
    assert "left out" not in " ".join(
        draft_schema({**below, "age": ["a", "b", "c", "d", "e"]}, "bought", public=True).notes
    )
    codes = draft_schema({**below, "cost": ["007", "1", "2", "3", "4"]}, "bought", public=True).schema.columns["cost"]
    assert isinstance(codes, CategoricalColumn)  # texts for their own sake


N = 180
ARABIC = {ord("0") + i: 0x660 + i for i in range(10)}
NBSP, THIN, MINUS = "\u00a0", "\u202f", "\u2212"


def _file(folder: Path, columns: dict[str, Sequence[Any]], **options: Any) -> Path:
    path = folder / "sample.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, **options)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def _draft(folder: Path, cells: Sequence[Any], name: str = "x", **said: Any) -> tuple[Column, str, Draft]:
    """The draft of a column of a file, beside an ordinary one."""
    n = len(cells)
    columns = {
        name: cells,
        "age": [i * i % 61 + 20 for i in range(n)],
        "y": [("no", "yes")[i % 3 == 0] for i in range(n)],
    }
    written = CsvFormat(decimal=said.get("decimal", "."), said=True)
    draft = draft_schema(read_sample(_file(folder, columns), written), "y", public=True, **said)
    note = next((note for note in draft.notes if note.startswith(f"{name}:")), "")
    return draft.schema.columns[name], note, draft


def _cells(make: Callable[[int], Any]) -> list[Any]:
    return [make(i * 37 % 181) for i in range(N)]


NUMBERS: dict[str, tuple[list[Any], tuple[str, str], tuple[float, float], str]] = {
    "percent": (_cells(lambda i: f"{i % 100}%"), ("%", ""), (0, 100), "without '%'"),
    "percent with a blank": (_cells(lambda i: f"{i / 10} %"), ("%", ""), (0, 18), "without '%'"),
    "dollars and thousands": (_cells(lambda i: f"${1000 + 37 * i:,}"), ("$", ","), (1000, 8000), "right?"),
    "dollars below zero": (_cells(lambda i: f"-${i}"), ("$", ""), (-180, 0), "without '$'"),
    "euros": (_cells(lambda i: f"{i * 7 % 900 / 10} €"), ("€", ""), (0, 90), "without '€'"),
    "euros with commas": (_cells(lambda i: f"{i},50 €"), ("€", "."), (0, 185), "without '€'"),
    "a currency's code": (_cells(lambda i: f"EUR {i}"), ("EUR", ""), (0, 180), "without 'EUR'"),
    "kilograms": (_cells(lambda i: f"{40 + i % 80} kg"), ("kg", ""), (40, 120), "without 'kg'"),
    "degrees": (_cells(lambda i: f"{i - 90}°C"), ("°C", ""), (-90, 90), "without '°C'"),
    "a unit in some cells": (_cells(lambda i: f"{i} cm" if i % 3 else str(i)), ("cm", ""), (0, 180), "without 'cm'"),
    "thin spaces": (_cells(lambda i: f"{1000 + 53 * i:,}".replace(",", THIN)), ("", " "), (1000, 11000), "right?"),
    "spaces": (_cells(lambda i: f"{1000 + 53 * i:,}".replace(",", " ")), ("", " "), (1000, 11000), "right?"),
    "apostrophes": (_cells(lambda i: f"{1000 + 53 * i:,}".replace(",", "'")), ("", "'"), (1000, 11000), "right?"),
    "commas of thousands": (_cells(lambda i: f"{50 + 53 * i:,}"), ("", ","), (0, 10000), "right?"),
    "millions": (_cells(lambda i: f"{10**6 + 53_001 * i:,}"), ("", ","), (10**6, 1.1e7), "right?"),
    "thousands and fractions": (_cells(lambda i: f"{900 + 53 * i:,}.50"), ("", ","), (900, 10500), "right?"),
    "points and commas": (
        _cells(lambda i: f"{900 + 53 * i:,}_50".replace(",", ".").replace("_", ",")), ("", "."), (900, 10500), "right?",
    ),
    "typographic minus": (_cells(lambda i: f"{MINUS if i % 2 else ''}{i % 90 / 10}"), ("", ""), (-9, 9), "as a minus"),
    "a stray": (["-", *_cells(lambda i: 18000 + 91 * i)[1:]], ("", ""), (18000, 35000), "'-'"),
    "marks in words": (["NA", "unknown", *_cells(lambda i: i % 6)[2:]], ("", ""), (0, 5), "'NA', 'unknown'"),
    "plus signs": (_cells(lambda i: f"+{i}"), ("", ""), (0, 180), ""),
}  # fmt: skip


@pytest.mark.parametrize("case", NUMBERS.values(), ids=NUMBERS)
def test_numbers_as_people_write_them(tmp_path: Path, case: tuple[Any, ...]) -> None:
    cells, (symbol, thousands), (lower, upper), words = case
    column, note, draft = _draft(tmp_path, cells)
    assert isinstance(column, NumericColumn), note
    assert (column.symbol, column.thousands) == (symbol, thousands)
    span = upper - lower
    assert lower - 0.11 * span <= column.lower <= lower
    assert upper <= column.upper <= upper + 0.11 * span
    assert words in note
    codes = TableEncoding.of(draft.schema).encode(read_table(tmp_path / "sample.csv", draft.schema))[0]
    assert len(set(codes.tolist())) > 5  # and a fit reads it so
    assert (codes == 65_535).sum() == (len(set(cells) & {"-", "NA", "unknown"}))
    draft.to_toml(tmp_path / "s.toml")
    assert f"# x: {note[3:]}" in (tmp_path / "s.toml").read_text() or not note


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("agent", [f"Ann{chr(97 + i % 26)} Lee{chr(97 + i // 26)}" for i in range(60)] * 3),
        ("trial", [f"S{i:03d}" for i in range(60)] * 3),
        ("whom", [f"q{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(60)] * 3),
    ],
)
def test_values_that_may_be_identifiers_are_not_listed(tmp_path: Path, name: str, cells: list[str]) -> None:
    column, note, draft = _draft(tmp_path, cells, name)
    assert column == IdColumn()
    assert "is it an identifier?" in note or name == "whom"
    draft.to_toml(tmp_path / "s.toml")
    assert not any(cell in (tmp_path / "s.toml").read_text() for cell in cells)


def test_an_answer_decides() -> None:
    cells = [f"{1 + i % 9},{i:03d}" for i in range(N)]
    table = {"x": cells, "age": list(range(20, 20 + N)), "y": ["a", "b"] * (N // 2)}
    column = draft_schema(table, "y", public=True, thousands=",").schema.columns["x"]
    assert column == NumericColumn(1000, 9500, thousands=",")
    assert draft_schema(table, "y", public=True, decimal=",").schema.columns["x"] == NumericColumn(1, 9.5)
    points = {**table, "x": [f"{i % 9}.{i:03d}" if i % 9 else str(i) for i in range(N)]}
    assert "Then give --thousands ." in draft_schema(points, "y", public=True).notes[0]
    drafted = draft_schema(points, "y", public=True, thousands=".").schema.columns["x"]
    assert isinstance(drafted, NumericColumn)
    assert (drafted.thousands, drafted.upper) == (".", 8500)


DATES: dict[str, tuple[str, str, str]] = {
    written: (written, first, words)
    for written, first, words in (
        ("%d.%m.%Y", "24.08.1972", "a date written as %d.%m.%Y"),
        ("%Y/%m/%d", "2024/12/31", "a date written as"),
        ("%d-%b-%y", "17-Jan-18", "years such as 68"),
        ("%Y%m%d", "20241231", "a date written as"),
        ("%d/%m/%Y", "24/12/2024", "a date written as"),
        ("%m/%d/%Y", "12/24/2024", "a date written as"),
        ("%b %d, %Y", "Dec 24, 2024", "a date written as"),
        ("%d %b %Y", "24 December 2024", "a date written as"),
        ("%m/%Y", "12/2024", "a date written as"),
        ("", "2024-12-31", "a date, by month"),
        ("%a, %d %b %Y", "Tue, 24 December 2024", "a date written as"),
        ("%a %b %d %Y", "Tuesday Dec 24 2024", "a date written as"),
    )
}


@pytest.mark.parametrize("case", DATES.values(), ids=DATES)
def test_dates_are_declared_as_they_are_written(tmp_path: Path, case: tuple[str, str, str]) -> None:
    written, first, words = case
    days = [dt.date(2015, 1, 3) + dt.timedelta(days=29 * i) for i in range(100)]
    cells = ["NA"] * 60 + [first] + [day.strftime(written or "%Y-%m-%d") for day in days]
    column, note, draft = _draft(tmp_path, cells)
    assert isinstance(column, DateColumn), note
    assert column.format == written
    assert words in note
    codes = TableEncoding.of(draft.schema).encode(read_table(tmp_path / "sample.csv", draft.schema))[0]
    assert (codes == codes[0]).sum() == 60
    years = {
        int(first[-2:]) + 2000 if "%y" in written else int(next(p for p in (first[:4], first[-4:]) if p.isdigit()))
    }
    assert column.lower == dt.date(min(2015, *years), 1, 1)


def test_a_doubt_about_days_and_months_is_a_question(tmp_path: Path) -> None:
    column, note, _ = _draft(tmp_path, [f"0{1 + i % 9}/0{1 + i % 7}/2024" for i in range(N)])
    assert isinstance(column, DateColumn)
    assert column.format == "%d/%m/%Y"
    assert "day or month first? %d/%m/%Y is taken, and %m/%d/%Y fits as well" in note
    column, note, _ = _draft(tmp_path, [f"x{i % 5}" if i % 2 else f"{1 + i % 28}.1.2020" for i in range(N)])
    assert isinstance(column, CategoricalColumn)  # half of the cells, and not more


def test_cells_that_are_no_date_of_the_format_are_counted(tmp_path: Path) -> None:
    days = [f"{1 + i % 28:02d}.03.1999" for i in range(N)]
    for strays in (["1999-03-01"] * 7, ["7-Okt-1999"] * 7, ["31.02.1999", "soon"]):
        column, note, _ = _draft(tmp_path, [*days[len(strays) :], *strays])
        assert isinstance(column, DateColumn)
        assert f"{len(strays)} of {N} cells are no such date, and are missing" in note
    assert "no such date" not in _draft(tmp_path, [*days, "", "unknown"])[1]


CODES: dict[str, tuple[str, list[str], type[Column]]] = {
    "postcodes": ("postcode", [f"{i % 40 * 731 % 100000:05d}" for i in range(300)], CategoricalColumn),
    "counties": ("fips", [f"{1 + i % 9:02d}{i % 3:03d}" for i in range(300)], CategoricalColumn),
    "groups of diagnoses": ("drg", [f"{i % 70:03d}" for i in range(300)], CategoricalColumn),
    "postcodes with a stray": ("zip", ["unknown", *(f"{i % 40 * 731:05d}" for i in range(300))], CategoricalColumn),
    "codes that all differ": ("code", [f"{i * 7919 % 100000:05d}" for i in range(300)], IdColumn),
}


@pytest.mark.parametrize("case", CODES.values(), ids=CODES)
def test_zeros_in_front_make_codes(tmp_path: Path, case: tuple[str, list[str], type[Column]]) -> None:
    name, cells, kind = case
    column, note, _ = _draft(tmp_path, cells, name)
    assert type(column) is kind
    assert ("begin with zeros" in note) or kind is IdColumn
    assert "?. If" not in note
    assert "0." not in cells
    amounts, note, _ = _draft(tmp_path, [f"0.{i % 97:02d}" for i in range(300)])
    assert isinstance(amounts, NumericColumn)


MISSING: dict[str, tuple[list[Any], tuple[float, ...]]] = {
    "-200 below 0 to 30": ([-200 if i % 12 == 0 else i % 300 / 10 for i in range(600)], (-200,)),
    "999 above ages": ([999 if i % 9 == 0 else 18 + i % 70 for i in range(300)], (999,)),
    "99 above a scale": ([99 if i % 9 == 0 else 1 + i % 5 for i in range(300)], (99,)),
    "98 and 99 above a scale": ([(98, 99)[i % 2] if i % 9 == 0 else 1 + i % 5 for i in range(300)], (98, 99)),
    "-9 below a scale": ([-9 if i % 9 == 0 else 1 + i % 5 for i in range(300)], (-9,)),
    "-999.9 below temperatures": ([-999.9 if i % 9 == 0 else i % 50 - 20.5 for i in range(300)], (-999.9,)),
    "9999 and -1": ([(9999, -100)[i % 2] if i % 9 == 0 else i % 50 for i in range(300)], (-100, 9999)),
    "one rich person": ([10**6 if i == 7 else 18 + i % 70 for i in range(300)], ()),
    "a round price": ([20000 if i % 9 == 0 else 18 + i % 70 for i in range(300)], ()),
    "99 among ages": ([99 if i % 9 == 0 else 18 + i % 80 for i in range(300)], ()),
    "ordinary numbers": ([i % 50 - 10 for i in range(300)], ()),
}


@pytest.mark.parametrize("case", MISSING.values(), ids=MISSING)
def test_far_marks_for_missing(tmp_path: Path, case: tuple[list[Any], tuple[float, ...]]) -> None:
    cells, marks = case
    column, note, _ = _draft(tmp_path, cells)
    assert isinstance(column, NumericColumn)
    assert column.missing_values == marks
    assert ("taken for missing" in note) == bool(marks)
    if marks:
        inside = [cell for cell in cells if cell not in marks]
        assert column.upper - column.lower < 1.3 * (max(inside) - min(inside))


def test_marks_are_sought_in_as_many_steps_as_there_are_numbers() -> None:
    compared = [0]

    class Counted(float):
        __hash__ = float.__hash__

        def __eq__(self, other: object) -> bool:
            compared[0] += 1
            return float.__eq__(self, other)  # type: ignore[arg-type]

    numbers = [*map(Counted, range(3000)), Counted(99999)]
    assert far_marks(numbers, dict.fromkeys(numbers, 2)) == (99999,)
    assert compared[0] < 20 * len(numbers)


def test_a_few_negative_numbers_may_stand_for_missing(tmp_path: Path) -> None:
    scores = [300 + 7 * i % 550 for i in range(200)]
    for marks, words, every in (
        ([-1], "does -1 say", "-1"),
        ([-9, -8], "do -9 and -8 say", "-9, -8"),
        ([-1, 9999], "does -1 say", "9999, -1"),
        ([-7, -8, -9], "do -9 and -8 and -7 say", "-9, -8, -7"),
    ):
        column, note, _ = _draft(tmp_path, [*marks, *scores, *marks])
        assert isinstance(column, NumericColumn)
        assert column.missing_values == ((9999,) if 9999 in marks else ())  # no gap is wider: a question, no decision
        assert f"{words} that a value is missing? Then declare missing_values = [{every}]" in note
    for cells in ([-1, *scores], [-0.5, -0.5, *scores], scores, [-1, -1, 0, 1, 2] * 9, [*range(-9, 0), *scores] * 2):
        assert "say that a value is missing" not in _draft(tmp_path, cells)[1]


def test_few_whole_numbers_may_be_codes(tmp_path: Path) -> None:
    for cells, asked in (([1 + i % 4 for i in range(90)], True), ([i % 40 for i in range(90)], False)):
        column, note, _ = _draft(tmp_path, cells)
        assert isinstance(column, NumericColumn)
        assert ("codes without order" in note) is asked
    assert _draft(tmp_path, [i % 2 for i in range(90)])[0] == BooleanColumn()


def test_units_are_proposed_for_identifiers(tmp_path: Path) -> None:
    column, note, draft = _draft(tmp_path, [f"P{i % 200:04d}" for i in range(600)], "patient_id")
    assert column == IdColumn()
    assert "add [unit] with column = 'patient_id'" in note
    draft.to_toml(tmp_path / "s.toml")
    assert "P0" not in (tmp_path / "s.toml").read_text()
    for stray in ("-", "", "unknown"):
        assert _draft(tmp_path, [stray, *(70001 + 3 * i for i in range(300))], "CustomerID")[0] == IdColumn()
        assert isinstance(_draft(tmp_path, [stray, *(18000 + 91 * i for i in range(300))], "income")[0], NumericColumn)


def test_shapes_are_identifiers_before_they_are_numbers(tmp_path: Path) -> None:
    for cells in (
        [f"a{i}@b.org" for i in range(90)],
        [f"+49 89 12{i % 40:04d}" for i in range(90)],
        [f"123-45-{i % 40:04d}" for i in range(90)],
        ["unknown", *(f"{i % 40:08x}-0000-4000-8000-{i % 40:012x}" for i in range(90))],
        [
            f"{chr(65 + i % 26)}{chr(65 + i // 4)}{i % 100:02d} {chr(90 - i // 4)}XZ" for i in range(90)
        ],  # of licence plates
        [f"DE{100000000 + i * 9176351 % 900000000}" for i in range(90)],
        [f"{('NY', 'CA', 'TX')[i % 3]}{10000 + i * 733}" for i in range(90)],
        [f"@{('ann', 'bo', 'cy')[i % 3]}{i}" for i in range(90)],
    ):
        column, note, draft = _draft(tmp_path, cells, "contact")
        assert column == IdColumn()
        draft.to_toml(tmp_path / "s.toml")
        assert cells[1] not in note + (tmp_path / "s.toml").read_text()
    column, _, _ = _draft(tmp_path, [f"CHF 1'{i:03d}" for i in range(300)])  # no count of rows has a currency
    assert isinstance(column, NumericColumn)


LABELS: dict[str, tuple[list[Any], str | None, Label]] = {
    "whole prices": ([900 + 61 * (i % 255) for i in range(400)], None, Label("y", "numeric", lower=0, upper=17000)),
    "prices": ([900 + 61.5 * (i % 255) for i in range(400)], None, Label("y", "numeric", lower=0, upper=17000)),
    "months as a quantity": ([1 + i % 12 for i in range(400)], "numeric", Label("y", "numeric", lower=1, upper=12)),
    "months": ([1 + i % 12 for i in range(400)], None, Label("y", classes=tuple(range(1, 13)))),
    "30 codes": ([i % 30 for i in range(400)], "classes", Label("y", classes=tuple(range(30)))),
    "dollars": (
        [f"${900 + 61 * (i % 255):,}" for i in range(400)],
        None,
        Label("y", "numeric", lower=0, upper=17000, symbol="$", thousands=","),
    ),
    "amounts with points": (
        [f"{1 + i % 90}.{i % 90 + 100} €" for i in range(400)],
        None,
        Label("y", "numeric", lower=0, upper=95000, symbol="€", thousands="."),
    ),
    "shares": ([f"{i % 80} %" for i in range(400)], None, Label("y", "numeric", lower=0, upper=80, symbol="%")),
    "a mark for missing": (
        [-999 if i % 9 == 0 else i % 80 for i in range(400)],
        None,
        Label("y", "numeric", lower=0, upper=80, missing_values=(-999,)),
    ),
    "words": (["b", "a"] * 200, None, Label("y", classes=("a", "b"), positive="b")),
    "codes with zeros": (["01", "02"] * 200, None, Label("y", classes=("01", "02"), positive="02")),
}


@pytest.mark.parametrize("case", LABELS.values(), ids=LABELS)
def test_labels(tmp_path: Path, case: tuple[list[Any], str | None, Label]) -> None:
    cells, kind, label = case
    path = _file(tmp_path, {"x": [i % 17 for i in range(400)], "y": cells})
    assert draft_schema(read_sample(path), "y", public=True, kind=kind).schema.label == label
    typed = pa.table({"x": [i % 17 for i in range(400)], "y": cells})
    assert draft_schema(typed, "y", public=True, kind=kind).schema.label == label


def test_labels_that_are_none(tmp_path: Path) -> None:
    for cells, kind, words in (
        (["a", "b"] * 20, "numeric", "spells no numbers"),
        ([f"{i},5" for i in range(40)], "numeric", "decimal comma"),
        (list(range(300)), "classes", "300 distinct values"),
    ):
        with pytest.raises(SchemaError, match=words):
            draft_schema({"x": [1] * len(cells), "y": cells}, "y", public=True, kind=kind)


HEADERS: dict[str, tuple[str, bool]] = {
    "a patient": ("69,87.97,A,2584,0", True),
    "a flower": ("5.1,3.5,1.4,0.2,setosa", True),
    "an adult": ("39,State-gov,77516,Bachelors,13,Never-married,2174,0,40,<=50K", True),
    "one number": ("34,male,yes", True),
    "zeros": ("0,0,0,1,0", True),
    "names": ("age,sex,y", False),
    "positions": ("0,1,2,3,label", False),
    "an unnamed column": ("0,y", False),
    "years": ("country,1990,1995,2000", False),
    "one year": ("country,2020", False),
    "steps": ("y,400,410,420,430", False),
    "wavelengths": ("y,400.1,402.7,404.9,407.3,409.8,412.2", False),
}


@pytest.mark.parametrize("case", HEADERS.values(), ids=HEADERS)
def test_a_first_row_is_no_header(tmp_path: Path, case: tuple[str, bool]) -> None:
    line, is_row = case
    assert are_cells(line.split(",")) is is_row
    (tmp_path / "d.csv").write_text(f"{line}\n{line}\n")
    if not is_row:
        assert column_names(tmp_path / "d.csv") == line.split(",")
        return
    with pytest.raises(DataError, match="its first line looks like a row") as caught:
        column_names(tmp_path / "d.csv")
    assert not any(cell in str(caught.value).replace(str(tmp_path), "") for cell in line.split(",") if len(cell) > 1)
    names = list(dict.fromkeys(line.split(",")))
    with pytest.raises(SchemaError, match="first line holds values" if are_cells(names) else "not among the columns"):
        draft_schema(pa.table({name: ["a"] for name in names}), "y", public=True)


def test_words_of_a_first_row_are_values_below_it(tmp_path: Path) -> None:
    rows = {"male": ["female", "male"] * 20, "blue": ["red", "blue"] * 20, "yes": ["no", "yes"] * 20}
    with pytest.raises(SchemaError, match="first line holds values"):
        draft_schema(read_sample(_file(tmp_path, rows)), "yes", public=True)


def test_a_repeated_header_is_left_out(tmp_path: Path) -> None:
    path = _file(tmp_path, {"age": [20 + i % 50 for i in range(90)], "sex": ["f", "m"] * 45, "y": ["a", "b"] * 45})
    plain = draft_schema(read_sample(path), "y", public=True)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:40], lines[0], *lines[40:], lines[0], ""]))
    draft = draft_schema(read_sample(path), "y", public=True)
    assert draft.schema == plain.schema
    assert draft.notes[0].startswith("the header stands among the rows 2 times more")


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("sep=;\nage;y\n", "delete that line"),
        ("SEP=,\nage,y\n", "delete that line"),
        ('"sep=;"\nage;y\n', "delete that line"),
        ("Survey of 2020\n\nage,y\n1,a\n", "no title or comment above it"),
        ("age|y\n", "give --delimiter '|'"),
        ("age^y\n", "give --delimiter '^'"),
        ("Table 3: persons\n", "no title or comment above it"),
        ("# source: office\n", "no title or comment above it"),
    ],
)
def test_first_lines_that_are_no_header(tmp_path: Path, start: str, words: str) -> None:
    (tmp_path / "d.csv").write_text(start)
    with pytest.raises(DataError, match=words.replace("|", r"\|").replace("^", r"\^")):
        read_sample(tmp_path / "d.csv") if "Survey" in start else read_columns(tmp_path / "d.csv", ["age", "y"])


def test_samples_are_read_as_a_fit_reads_them(tmp_path: Path) -> None:
    towns = "".join(f"{('Leeds', 'Malmö')[i % 2 and i > 1000]},{i % 60},no\n" for i in range(1500))
    (tmp_path / "d.csv").write_bytes(("town,age,y\n" + towns).encode("windows-1252"))
    with pytest.raises(DataError, match="is not UTF-8 text"):
        read_sample(tmp_path / "d.csv")
    table = read_sample(tmp_path / "d.csv", CsvFormat("cp1252"))
    assert set(table["town"].to_pylist()) == {"Leeds", "Malmö"}
    coded = pa.array(["u", "v"]).dictionary_encode()
    pq.write_table(pa.table({"part": [b"north", b"s\xff"], "y": ["a", "b"], "d": coded}), tmp_path / "d.parquet")
    table = read_sample(tmp_path / "d.parquet")
    assert table["part"].to_pylist() == ["north", "s\ufffd"]
    assert table.schema.field("d").type == pa.string()
    (tmp_path / "d.csv").write_text("age,,y,\n1,2,a,\n3,,b,4\n")
    assert read_sample(tmp_path / "d.csv").to_pydict() == {"age": ["1", "3"], "y": ["a", "b"]}


def test_times_beyond_the_calendar(tmp_path: Path) -> None:
    moments = np.array(["2019-05-01", "12019-05-01", "-0044-03-15", "NaT"], "datetime64[s]")
    for table in (pa.table({"t": moments, "y": ["a", "b", "a", "b"]}), {"t": moments, "y": ["a", "b", "a", "b"]}):
        draft = draft_schema(table, "y", public=True)
        assert draft.schema.columns["t"] == DateColumn("month", dt.date(2019, 1, 1), dt.date(2019, 12, 31))
        assert "do 0001-01-01 and 9999-12-31 (66.7% of cells) say that a date is missing?" in draft.notes[0]


PEOPLE = [
    f"{first} {last}" for first in ("Anna", "Bo", "Chloé", "D.") for last in ("Li", "O'Neil", "Müller", "van Dam")
]
NAMED = "its values look like names of persons"
NAMES = ("id", NAMED)
UNITS = ("ignore", "several units, such as feet and inches?")
A_TIME = ("ignore", "a time?")
A_DATE = ("ignore", "a date?")
SEVERAL = ("ignore", "? Then make a column of each")
ALIKE = ("categorical", "one value?")
PLAIN = ("categorical", "")
NUMBERS_ALONE = ("numeric", "")
ONE_QUESTION: dict[str, tuple[Any, str, str]] = {
    "names of persons": ([f"{name} {'ABC'[i % 3]}." for i in range(3) for name in PEOPLE] * 4, *NAMES),
    "names in small letters": ([f"{name} {'ABC'[i % 3]}.".lower() for i in range(3) for name in PEOPLE] * 4, *NAMES),
    "family names first": ([f"{'ABCDEFGH'[i % 8]}ok, Anna {'XYZ'[i % 3]}." for i in range(24)] * 9, *NAMES),
    "a few of them": (["Anna Li", "Bo Dam", "Dr. Eva van der Meer", "Cy O'Neil", "Ed Lu", "Flo Ox"], *NAMES),
    "cities": (["New York", "San Jose", "Los Angeles", "Oslo"] * 40, *PLAIN),
    "negative numbers": (["104", "(104)", "12", "(7)", "3", "88", "(19)"] * 20, "ignore", "'(104)' mean '-104'?"),
    "one of them": ([*(str(i * i % 61 % 40) for i in range(60)), "(104)"], "numeric", "'(104)' mean '-104'?"),
    "negative amounts": (["$7.50", "$8.25", "$(79.25)", "$11"] * 20, "ignore", "'$(79.25)' mean '-$79.25'?"),
    "amounts of thousands": (
        [f"{i},104" for i in range(1, 9)] + ["($2,492)"] * 3,
        "ignore",
        "'($2,492)' mean '-$2,492'?",
    ),
    "footnotes": (["a (1)", "b (2)", "c"] * 20, *PLAIN),
    "months": (["201512", "201601", "201602", "201811"] * 20, "numeric", '201512 a month? Then declare kind = "date"'),
    "all months once": ([200001 + 100 * (i // 12) + i % 12 for i in range(90)], "numeric", "200001 a month?"),
    "days of a year": (
        [2023001 + i % 365 for i in range(900)],
        "numeric",
        "2023001 a year with the number of its day?",
    ),
    "weeks of a year": ([202301 + i % 52 for i in range(900)], "numeric", "202301 a year with the number of its week?"),
    "quarters": ([20231 + 10 * (i % 4) + i % 3 for i in range(900)], "numeric", "20231 a year with its quarter?"),
    "no months": ([201512, 201613, 201702] * 20, "numeric", "a few whole numbers"),
    "letters in two cases": (list("YyNn") * 20, "categorical", "'Y' and 'y' one value?"),
    "words in two cases": (["Male", "male", "Female"] * 20, "categorical", "'Male' and 'male' one value?"),
    "two Unicode forms": (["caf\u00e9", "cafe\u0301", "tea"] * 20, *ALIKE),
    "an invisible character by mistake?": (["a\u200b", "a", "b"] * 20, "categorical", r"'a\u200b' and 'a' one value?"),
    "a mark of byte order": (
        ["\ufeffred", "blue", "green"] * 20,
        "categorical",
        r"'\ufeffred' an invisible character by mistake?",
    ),
    "a blank that does not break": ([f"New{NBSP}York", "New York", "Rome"] * 20, *ALIKE),
    "joined in Persian": (["\u0645\u06cc\u200c\u0631\u0648\u0645", "\u0628\u0644\u0647"] * 20, *PLAIN),
    "digits of Arabic": (lambda i: str(i).translate(ARABIC), "ignore", "mean '0'? Then write it so"),
    "fractions of Arabic": (lambda i: f"{i}\u066b5".translate(ARABIC), "ignore", "mean '0.5'?"),
    "digits of full width": (lambda i: "".join(chr(0xFF10 + int(c)) for c in str(i)), "ignore", "mean '0'?"),
    "hidden among digits": (lambda i: f"{i}\u200b", "ignore", "mean '0'?"),
    "exponents of Fortran": (lambda i: f"0.{i}D+02", "ignore", "'0.0D+02' mean '0.0e+02'?"),
    "texts of Excel": (lambda i: f'="{i}"', "ignore", "mean '0'?"),
    "footnotes of numbers": (lambda i: f"{i}*" if i % 4 == 0 else str(i), "ignore", "'0*' mean '0'?"),
    "raised points": (lambda i: f"{i}\u00b75", "ignore", "mean '0.5'?"),
    "feet": (lambda i: f"{5 + i // 12 % 2}'{i % 12}", *UNITS),
    "feet and inches": (lambda i: f"{5 + i // 12 % 2}ft {i % 12}", *UNITS),
    "primes": (lambda i: f"{5 + i // 12 % 2}\u2032 {i % 12}\u2033", *UNITS),
    "hours and minutes": (lambda i: f"{i % 24}h {i % 60}m", *UNITS),
    "years and months": (lambda i: f"{i % 24} yrs, {i % 12} mos", *UNITS),
    "degrees and minutes": (lambda i: f"48\u00b0 {i % 60}' {i % 7}\" N", *UNITS),
    "durations of ISO": (lambda i: f"PT{i}M", *UNITS),
    "letters of mushrooms": (["p", "w", "b"] * 60, *PLAIN),
    "stamps": (lambda i: f"2019{1 + i % 12:02d}0{1 + i % 9}1130{i % 60:02d}", "numeric", "a day with its time?"),
    "stamps of minutes": (
        lambda i: f"2019{1 + i % 12:02d}0{1 + i % 9}11{i % 60:02d}",
        "numeric",
        "a day with its time?",
    ),
    "no stamps": (lambda i: 20191301113000 + 7 * i * i, "numeric", "all differ: is it an identifier?"),
    "seconds": (
        lambda i: 1_600_000_000 + 40_961 * i,
        "numeric",
        "is 1600000000 the day 2020-09-13, in seconds from 1970 on?",
    ),
    "milliseconds": (lambda i: 1_600_000_000_000 + 40_961_003 * i, "numeric", "in milliseconds from 1970 on?"),
    "nanoseconds": (lambda i: (16 * 10**8 + 40_961 * i) * 10**9, "numeric", "in nanoseconds from 1970 on?"),
    "file times": (
        lambda i: 132_000_000_000_000_000 + i * 10**13,
        "numeric",
        "the day 2019-04-17, in Windows file times?",
    ),
    "dashes": (lambda i: f"\u2013{i}" if i % 2 else str(i), "ignore", "mean '-37'?"),
    "halves": (lambda i: f"{i}\u00bd", "ignore", "'0\u00bd' mean '0.5'?"),
    "mixed fractions": (lambda i: f"{i} 1/4", "ignore", "'0 1/4' mean '0.25'?"),
    "pressures": (lambda i: f"{90 + i}/{60 + i % 40} mmHg", "ignore", "several numbers in '90/60 mmHg'?"),
    "deviations": (lambda i: f"{i}\u00b1{i % 9}", *SEVERAL),
    "intervals": (lambda i: f"{i} ({i % 9}-{200 + i})", *SEVERAL),
    "weeks of pregnancy": (lambda i: f"{24 + i % 19}+{i % 7}", *SEVERAL),
    "coordinates": (lambda i: f"48.{i}, 11.{i}", *SEVERAL),
    "minutes and seconds": (lambda i: f"{i % 60}:{i % 59:02d}", *A_TIME),
    "days and hours": (lambda i: f"{i % 90} days 0{i % 9}:00:00", *UNITS),
    "times of SAS": (lambda i: f"{1 + i % 28:02d}JAN2019:08:{i % 60:02d}:00", *A_DATE),
    "dates of Chinese": (lambda i: f"2021\u5e74{1 + i % 12}\u6708{1 + i % 28}\u65e5", *A_DATE),
    "dates in part": (lambda i: f"19{30 + i % 70}-0{1 + i % 9}-11"[: (4, 7, 10)[i % 3]], *A_DATE),
    "dates of six digits": (
        lambda i: f"{10 + i % 14}{1 + i % 12:02d}{1 + i % 28:02d}",
        "numeric",
        'a day? Then declare kind = "date"',
    ),
    "days of a decade": (lambda i: f"20{1 + i % 12:02d}{1 + i % 12:02d}{1 + i % 28:02d}", "date", "as %Y%m%d"),
    "days first": (lambda i: f"{1 + i % 28:02d}{1 + i % 12:02d}20{1 + i % 23:02d}", "date", "as %d%m%Y"),
    "another calendar": (lambda i: f"14{30 + i % 15}-0{1 + i % 9}-11", "date", "shifted, or of another calendar?"),
    "shifted dates": (lambda i: f"21{30 + i % 60}-0{1 + i % 9}-11", "date", "shifted, or of another calendar?"),
    "digits that Excel cut": (
        lambda i: f"{1 + i % 9}.{i:03d}E+15",
        "numeric",
        "has a spreadsheet cut digits off '1.000E+15'?",
    ),
    "dates of genes": (
        ["1-Mar", "2-Sep", "TP53"] * 60,
        "categorical",
        "has a spreadsheet made a date of another value in '1-Mar'?",
    ),
    "errors of Excel": (["red", "#NAME?", "blue"] * 60, "categorical", "does '#NAME?' say that a value is missing?"),
    "a wrong encoding": (["M\u00c3\u00bcnchen", "Bonn"] * 60, "categorical", "mean 'M\u00fcnchen'?"),
    "a web page": (["R&amp;D", "sales"] * 60, "categorical", "mean 'R&D'?"),
    "words with dashes": (["full-time", "full time", "none so far"] * 60, *ALIKE),
    "points at the end": (["yes.", "yes", "perhaps"] * 60, *ALIKE),
    "bounds of incomes": (["<=50K", ">50K", "A", "A-", "A+"] * 60, *PLAIN),
    "zeros of bodies": (
        lambda i: 0 if i % 6 == 0 else 18 + i * 7 % 60,
        "numeric",
        "does 0 say that a value is missing?",
    ),
    "zeros of most": (lambda i: 18 + i * 7 % 60 if i % 3 == 0 else 0, *NUMBERS_ALONE),
    "zeros of counts": (lambda i: i * i % 997 + 1 if i % 6 else 0, *NUMBERS_ALONE),
    "zeros of gains": (lambda i: 0 if i % 2 else i * i, *NUMBERS_ALONE),
    "nines of incomes": (
        lambda i: 99999 if i % 6 == 0 else 400 * i + 100,
        "numeric",
        "does 99999 say that a value is missing?",
    ),
    "names of Chinese": (
        [f"{a}{b}" for a in "\u738b\u674e\u5f20\u5218\u9648" for b in "\u4f1f\u82b3\u5a1c\u79c0\u82f1"] * 9,
        *NAMES,
    ),
    "names with initials": ([f"Fox, {c}." for c in "ABCDEF"] * 30, *NAMES),
    "initials and names": ([f"{c}. Fox" for c in "ABCDEF"] * 30, *NAMES),
    "given names": (["Anna", "Maria", "Ivan", "Olga", "Peter", "Xaver", "Yim"] * 30, *NAMES),
    "bacteria": ([f"{c}. coli" for c in "ABCDEF"] * 30, *PLAIN),
    "letters that look alike": (["A", "\u0410", "B"] * 60, "categorical", "are 'A' and '\\u0410' one value?"),
    "footnotes above the line": (lambda i: f"{i}\u00b2" if i % 3 == 0 else str(i), "ignore", "'0\u00b2' mean '0'?"),
    "flags": (lambda i: f"{i} H" if i % 5 == 0 else str(i), "ignore", "are all of these numbers?"),
    "a unit of words": (lambda i: f"{i / 10} % p.a.", "ignore", "'0.0 % p.a.' a number and its unit?"),
    "units of a third": (lambda i: "red" if i % 3 else f"{i} units of it", *PLAIN),
    "blanks and a comma": (
        lambda i: f"{1 + i % 9} {100 + i},{10 + i % 80}",
        "ignore",
        "a number? Then write it without commas and blanks",
    ),
    "hours of English": (lambda i: f"{1 + i % 12}:{i % 60:02d} PM", *A_TIME),
    "half years": (["H1 2020", "H2 2020", "H1 2021"] * 60, "categorical", "'H1 2020' a week or a quarter?"),
    "dashes for missing": (["red", "\u2014", "blue"] * 60, "categorical", "say that a value is missing?"),
    "scores": (lambda i: f"\u2264{i % 90}", "ignore", "'\u22640' say about how much?"),
    "weeks": ([f"2024-W{i:02d}" for i in range(1, 53)] * 3, "categorical", "is '2024-W01' a week or a quarter?"),
    "weeks that differ": (
        [f"{2000 + i // 52}W{i % 52 + 1:02d}" for i in range(150)],
        "categorical",
        "'2000W01' a week or a quarter?",
    ),
    "bounds": (lambda i: f"<={30 + i % 60}", "ignore", "'<=30' say about how much? Then write the number alone"),
    "one far beyond": (lambda i: "1e308" if i == 7 else f"{i / 60:.2f}", "ignore", ""),
    "securities": (["CH0012005267", "US0378331005", "DE0007164600"] * 60, *PLAIN),
    "accounts of banks": (["NO93 8601 1117 947", "GB82WEST12345698765432"] * 90, "id", ""),
    "a mark among words": (["blue", "green", "N/A"] * 60, "categorical", "does 'N/A' say that a value is missing?"),
    "two units": (lambda i: f"{i} {('kg', 'lb')[i % 2]}", "ignore", "in one unit"),
    "letters of millions": (lambda i: f"${i / 10}M", "ignore", "in one unit"),
    "two currencies": (lambda i: f"{'$€'[i % 2]}{i}", "ignore", "in one unit"),
    "users": (lambda i: f"{i}{('dirk', 'anna')[i % 2]}", "ignore", "with words beside them in one unit"),
    "decimal commas": (lambda i: f"{i},5", "ignore", "have a decimal comma?"),
    "small decimal commas": (lambda i: f"0,{i:03d}", "ignore", "have a decimal comma?"),
    "commas of either kind": (lambda i: f"{1 + i % 9},{i:03d}", "ignore", "--thousands , if"),
    "times of the day": (lambda i: f"{i % 24:02d}:{i % 60:02d}", "ignore", "is '00:00' a time?"),
    "times with seconds": (lambda i: f"{i % 24}:{i % 60:02d}:07", *A_TIME),
    "hexadecimal": (lambda i: f"0x{i:x}", "ignore", "is '0x0' a hexadecimal number?"),
    "fractions": (lambda i: f"{i % 31 + 1}/{17 + i % 7}", "ignore", "a fraction, a day, or two numbers?"),
    "a minus behind": (lambda i: f"{i + 20}-", "ignore", "does '20-' mean '-20'?"),
    "lakhs": (lambda i: f"{1 + i % 9},{10 + i % 90},{100 + i}", "ignore", "is '1,10,100' a number?"),
    "crores": (
        lambda i: f"-{1 + i % 9},{10 + i % 90},{10 + i % 80},{100 + i}.50",
        "ignore",
        "a number? Then write it without commas",
    ),
    "some about": (lambda i: f"~{i}" if i % 5 == 0 else str(i), "ignore", "does '~0' say about how much?"),
    "some circa": (lambda i: f"ca. {i}" if i % 3 == 0 else str(i), "ignore", "does 'ca. 0' say about how much?"),
    **{
        f"dates such as {shape}": (lambda i, shape=shape: shape.format(1 + i % 28, 1950 + i % 70), *A_DATE)
        for shape in (
            "{}-Okt-{}",
            "{} août {}",
            "{} déc. {}",
            "März {1}",
            "{} de enero de {}",
            "lunes, {} de mayo del {}",
            "{} d'abril de {}",
            "{}th of June {}",
            "June {}th, {}",
            "den {}. marts {}",
            "{} \u043c\u0430\u0440\u0442\u0430 {} \u0433.",
            "{1}. janu\u00e1r {0}.",
            "{1}\ub144 3\uc6d4 {0}\uc77c",
        )
    },
}
"""Per kind of cells what is drafted, and words of the one question."""


@pytest.mark.parametrize("kind", ONE_QUESTION)
def test_a_doubtful_column_draws_one_question(tmp_path: Path, kind: str) -> None:
    cells, drafted, words = ONE_QUESTION[kind]
    column, note, _ = _draft(tmp_path, _cells(cells) if callable(cells) else cells)
    assert column.kind == drafted
    assert words in note
    assert len(re.findall(r"\?(?: |$)", note)) == ("?" in words or words == NAMED), note


COUNTED: dict[str, tuple[str, Callable[[int], Any], str]] = {
    "Excel": ("admission_date", lambda i: 43831 + 7 * i, "is 43831 the day 2020-01-01, in days of Excel?"),
    "a visit": ("admit", lambda i: 43831 + 7 * i, "in days of Excel?"),
    "running days": ("Datum", lambda i: 43831 + i, "in days of Excel?"),
    "Excel with times": ("date", lambda i: 43831 + i / 4, "in days of Excel?"),
    "Excel of births": ("dob", lambda i: 7000 + 151 * i, "is 7000 the day 1919-03-01, in days of Excel?"),
    "days of R": ("visitdate", lambda i: 18262 + 7 * i, "the day 2020-01-01, in days from 1970 on?"),
    "seconds of SPSS": (
        "fecha",
        lambda i: 13797216000 + 86_400 * i,
        "is 13797216000 the day 2020-01-01, in seconds of SPSS?",
    ),
    "SAS": ("birth_date", lambda i: 14_000 - 150 * i, "in days"),
    "MATLAB": ("date", lambda i: 737_791 + i, "the day 2020-01-01, in days of MATLAB?"),
    "Julian": ("date", lambda i: 2_458_850 + 3 * i, "in Julian days?"),
    "amounts": ("amount", lambda i: 43831 + 7 * i, ""),
    "numbers of thirty years": ("ref", lambda i: 10**9 + 5_500_000 * i, ""),
    "prices at a date": ("date", lambda i: 5 + 7 * i, ""),
}


@pytest.mark.parametrize("case", COUNTED.values(), ids=COUNTED)
def test_days_that_are_counted_are_asked_about(tmp_path: Path, case: tuple[str, Callable[[int], Any], str]) -> None:
    name, number, words = case
    column, note, _ = _draft(tmp_path, [number(i) for i in range(N)], name)
    assert isinstance(column, NumericColumn)
    assert words in note
    assert ("the day" in note) is bool(words)


DAY = dt.date(2015, 1, 3).toordinal()
NO_DATES: dict[str, tuple[list[str], str, tuple[int, int]]] = {
    "1900": (["1900-01-01"] * 20, "does 1900-01-01 (10.0% of cells) say", (2015, 2029)),
    "Excel": (["1899-12-30"] * 20, "does 1899-12-30", (2015, 2029)),
    "the end": (["9999-12-31"] * 20, "does 9999-12-31", (2015, 2029)),
    "one of them": (["9999-12-31"], "does 9999-12-31 (0.6% of cells) say", (2015, 2029)),
    "both ends": (["9999-12-31", "1900-01-01"] * 5, "do 1900-01-01 and 9999-12-31", (2015, 2029)),
    "twos": (["2222-02-02"] * 3, "does 2222-02-02", (2015, 2029)),
    "nothing of Unix among others": (["1970-01-01"] * 20, "does 1970-01-01", (1951, 2029)),
    "an earlier day": (["2013-06-04"] * 9, "", (2013, 2029)),
    "the first of a year": (["2017-01-01"] * 2, "", (2015, 2029)),
}


@pytest.mark.parametrize("case", NO_DATES.values(), ids=NO_DATES)
@pytest.mark.parametrize("typed", [False, True])
def test_days_that_say_nothing(tmp_path: Path, case: tuple[list[str], str, tuple[int, int]], typed: bool) -> None:
    """They are asked about, and bound nothing."""
    marks, words, years = case
    days = [str(dt.date.fromordinal(DAY + 29 * i)) for i in range(180)]
    days = [f"{1950 + i % 60}{day[4:]}" if years[0] == 1951 and i % 2 else day for i, day in enumerate(days)]
    cells: list[Any] = [*marks, *days]
    if typed:
        table = {
            "x": pa.array([dt.date.fromisoformat(day) for day in cells]),
            "y": ["a", "b"] * (len(cells) // 2) + ["a"] * (len(cells) % 2),
        }
        draft = draft_schema(table, "y", public=True)
        column, note = draft.schema.columns["x"], draft.notes[0]
    else:
        column, note, _ = _draft(tmp_path, cells)
    assert column == DateColumn("month", dt.date(years[0], 1, 1), dt.date(years[1], 12, 31))
    assert words in note
    assert note.count("?") == bool(words)


def test_a_day_far_from_few_others_is_none_at_the_edge_of_a_year_alone() -> None:
    march = {dt.date(2021, 3, day).toordinal(): 9 for day in range(1, 31)}
    for far, is_mark in ((dt.date(2023, 6, 4), False), (dt.date(2023, 1, 1), True), (dt.date(2021, 12, 31), False)):
        assert date_marks({**march, far.toordinal(): 9}) == [far.toordinal()] * is_mark


@pytest.mark.parametrize("name", ["lat", "Longitude", "zip", "dob"])
def test_places_and_days_of_birth_are_asked_about(tmp_path: Path, name: str) -> None:
    cells: list[Any] = (
        [dt.date.fromordinal(DAY - 99 * i) for i in range(N)] if name == "dob" else _cells(lambda i: i / 4)
    )
    column, note, _ = _draft(tmp_path, cells, name)
    assert isinstance(column, DateColumn if name == "dob" else NumericColumn)
    assert "may it tell persons apart, with other columns?" in note
    assert "tell persons apart" not in _draft(tmp_path, _cells(lambda i: i % 9), name)[1]


HEADS: dict[str, tuple[list[str], bool]] = {
    "units": (["kg,cm,,"], True),
    "units and words": (["(kg),(cm),sex of the person,class"], True),
    "two lines": (["Body weight,Height of body,Sex,Outcome", "kg,cm,f/m,"], True),
    "one unit": (["kg,,,"], True),
    "a row": (["70,cm,m,a"], False),
    "marks": (["NA,?,m,a"], False),
    "a known class": (["kg,cm,,b"], False),
}


@pytest.mark.parametrize("case", HEADS.values(), ids=HEADS)
def test_lines_of_units_below_the_header_are_left_out(tmp_path: Path, case: tuple[list[str], bool]) -> None:
    lines, are_heads = case
    rows = [f"{50 + i * i % 61},{150 + i * 7 % 43}.5,{'fm'[i % 2]},{'ab'[i % 3 == 0]}" for i in range(90)]
    (tmp_path / "d.csv").write_text("\n".join(["weight,height,sex,y", *lines, *rows, ""]))
    draft = draft_schema(read_sample(tmp_path / "d.csv"), "y", public=True)
    (tmp_path / "d.csv").write_text("\n".join(["weight,height,sex,y", *rows, ""]))
    plain = draft_schema(read_sample(tmp_path / "d.csv"), "y", public=True)
    assert draft.notes[0].startswith("the first row" if len(lines) == 1 else "the first 2 rows") is are_heads
    if are_heads:
        assert draft.schema == plain.schema
        assert draft.notes[1:] == plain.notes


CLASSES: dict[str, tuple[list[Any], str]] = {
    "a mark": (["yes", "no", "?"] * 80, "does '?' say that a value is missing?"),
    "a word": (["yes", "no", "unknown"] * 80, "does 'unknown' say"),
    "a slip": ([*["yes", "no"] * 120, "yess"], "'yess' stands in one of 241 rows: is it a class?"),
    "an invisible one": (["yes", "no", "no\u200b"] * 80, "one value?"),
    "Arabic digits": (["\u0661", "\u0662"] * 80, "does '\u0661' mean '1'?"),
    "two cases": (["no", "Yes", "yes"] * 80, "are 'Yes' and 'yes' one value?"),
    "plain": (["yes", "no"] * 120, ""),
}


@pytest.mark.parametrize("case", CLASSES.values(), ids=CLASSES)
def test_doubtful_classes_draw_one_question(case: tuple[list[Any], str]) -> None:
    cells, words = case
    note = draft_schema({"x": [i * i % 61 for i in range(len(cells))], "y": cells}, "y", public=True).notes[-1]
    assert words in note
    assert note.count("?") == note.count("'?'") + bool(words)


@pytest.mark.parametrize(
    ("name", "cell", "words"),
    [
        ("phone", lambda i: f"+49 171 {1000000 + i * 7919}", "an identifier"),
        ("mobile", lambda i: 491710000000 + i * 7919, "an identifier"),
        ("customer_no", lambda i: 70000 + 3 * i, "an identifier"),
        ("y", lambda i: f"a{i}@b.org", "an identifier"),
        ("y", lambda i: f"{i * 731 % 100000:05d}", "begin with zeros"),
        ("y", lambda i: 10**9 + i * i * 10**6, "is it an identifier?"),
        ("zip", lambda i: 10000 + i * 731 % 90000, "may it tell persons apart? Then predict"),
        ("plz", lambda i: ("01067", "80331", "20095")[i % 3], "may it tell persons apart? Then predict"),
    ],
)
def test_targets_that_are_identifiers(name: str, cell: Callable[[int], Any], words: str) -> None:
    table = {"x": [i * i % 61 for i in range(N)], name: [cell(i) for i in range(N)]}
    if "an identifier" in words and "?" not in words:
        with pytest.raises(SchemaError, match=rf"column '{name}'.*looks like an identifier"):
            draft_schema(table, name, public=True)
        return
    draft = draft_schema(table, name, public=True)
    assert words in draft.notes[-1]


@pytest.mark.parametrize("given", [["201512", "201601", "", "201213"], [201512, 201601, None, 201213]])
def test_months_are_read_as_the_question_says(given: list[Any]) -> None:
    bounds = dt.date(2015, 1, 1), dt.date(2016, 12, 31)
    written, plain = (encoder_of(DateColumn("month", *bounds, format=form)) for form in ("%Y%m", ""))
    wanted = plain.encode(pa.chunked_array([["2015-12-01", "2016-01-01", "", ""]]), "x")
    assert written.encode(pa.chunked_array([given]), "x").tolist() == wanted.tolist()


def test_days_as_whole_numbers_are_asked_about() -> None:
    for days, asks in (([20230101 + i % 28 for i in range(90)], True), ([20231301 + i % 28 for i in range(90)], False)):
        note = draft_schema({"x": days, "y": ["a", "b"] * 45}, "y", public=True).notes[0]
        assert ('is 20230101 a day? Then declare kind = "date" with format = "%Y%m%d"' in note) is asks
