"""Drafts: from public data only, marked as drafts, and made to be corrected."""

from __future__ import annotations

import datetime as dt
import math
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.encoding.read import read_sample
from tacit.schema import (
    BooleanColumn,
    CategoricalColumn,
    DateColumn,
    IdColumn,
    IgnoredColumn,
    Label,
    NumericColumn,
    OrdinalColumn,
    Schema,
    SchemaError,
)
from tacit.schema.draft import PublicDataWarning, draft_from_dictionary, draft_schema, round_outward
from tacit.schema.draft_columns import _log_round

N = 300
SAMPLE: dict[str, list[Any]] = {
    "age": [17 + i % 74 for i in range(N)],
    "income": [float(10 ** (i % 6)) * 1.7 for i in range(N)],
    "gain": [0.0 if i % 2 else 31.0 for i in range(N)],
    "flag": [i % 2 for i in range(N)],
    "ok": [i % 2 == 0 for i in range(N)],
    "smoker": [("yes", "no")[i % 2] for i in range(N)],
    "work": [("b", "a", "c ", None)[i % 4] for i in range(N)],
    "user_id": [7 * i for i in range(N)],
    "person": [f"p{i}" for i in range(N)],
    "empty": [None] * N,
    "constant": [3] * N,
    "tiny": [i * 1e-320 for i in range(N)],
    "price": [Decimal(i) / 4 for i in range(N)],
    "day": [None if i == 3 else dt.date(2019 + i % 3, 3, 7) for i in range(N)],
    "moment": [dt.datetime(2020, 5, 1 + i % 9, 12, tzinfo=dt.UTC) for i in range(N)],
    "label": [("no", "yes")[i % 3 == 0] for i in range(N)],
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
