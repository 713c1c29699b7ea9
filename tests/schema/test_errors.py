"""What errors of a schema say of words that are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.schema import Schema
from tacit.schema.columns import column_from_dict
from tacit.schema.errors import MOST_LISTED, SchemaError, nearest, resembles


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
