"""What errors of a schema say of words that are known."""

from __future__ import annotations

import pytest

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
