"""What errors of a schema say of words that are known."""

from __future__ import annotations

import pytest

from tacit.schema.errors import MOST_LISTED, nearest, resembles


@pytest.mark.parametrize(("word", "meant"), [("age", "AGE"), ("sex", " Sex "), ("BMI", "bmi"), ("bmii", "bmi")])
def test_the_word_that_was_meant(word: str, meant: str) -> None:
    assert resembles(word, ["AGE", " Sex ", "bmi"]) == [meant]
    assert nearest(word, ["AGE", " Sex ", "bmi"]) == f"did you mean '{meant}'?"


def test_a_wide_table_is_not_listed_whole() -> None:
    assert nearest("zzz", ["a", "b"]) == "known here: a, b"
    assert nearest("zzz", [f"x{i}" for i in range(MOST_LISTED)]).endswith(f"x{MOST_LISTED - 1}")
    wide = nearest("zzz", [f"x{i}" for i in range(3000)])
    assert wide.endswith(f"x{MOST_LISTED - 1} and {3000 - MOST_LISTED:,} more")
