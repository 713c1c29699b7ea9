"""The figures behind the plain words."""

from __future__ import annotations

import math

import pytest

from tacit.privacy.calibration import gaussian_noise_multiplier
from tacit.privacy.charges import Gaussian
from tacit.privacy.strength import sharp_advantage, strength
from tacit.report.promise import count, describe, plural


def test_no_noise_no_promise() -> None:
    said = describe(math.inf, 0.0, "add_or_remove_one", 1, None)
    assert said.strength == "none"
    assert "no promise" in said.headline


def test_the_relation_is_told() -> None:
    added = describe(1.0, 0.0, "add_or_remove_one", 1, None)
    replaced = describe(1.0, 0.0, "replace_one", 1, None)
    assert "The number of rows is private too" in added.who
    assert "The number of rows is public" in replaced.who
    assert "at most 3" in describe(1.0, 0.0, "add_or_remove_one", 3, None).who
    assert "without exception" in added.failure


@pytest.mark.parametrize(
    ("value", "words"), [(1e6, "1 million"), (2.5e9, "2.5 billion"), (12000, "12,000"), (2.718, "2.72")]
)
def test_counts_are_words(value: float, words: str) -> None:
    assert count(value) == words


def test_a_weak_promise_does_not_say_almost() -> None:
    assert "almost equally likely" in describe(1.0, 1e-6, "add_or_remove_one", 1, 0.094).headline
    weak = describe(4.0, 0.0, "add_or_remove_one", 1, None)
    assert "within a factor of 54.60" in weak.headline
    assert weak.strength == "weak"


def test_the_word_follows_the_best_guess_and_not_epsilon() -> None:
    """`plan --delta 0.5` called a promise strong beside a guess that is right 84 % of the time."""
    bare = describe(1.0, 0.5, "add_or_remove_one", 1, 0.676)
    assert bare.best == pytest.approx(0.838)
    assert bare.strength == "weak"
    assert bare.headline.endswith("if any one row had not been in the data, except with probability 1 in 2.")
    assert "but for" not in describe(1.0, 1e-6, "add_or_remove_one", 1, None).headline
    assert "Delta 0.5 is above 1e-05" in " ".join(bare.warnings)
    for epsilon, word in ((1.0, "strong"), (3.0, "moderate"), (10.0, "weak")):
        charge = [Gaussian(gaussian_noise_multiplier(epsilon, 1e-6))]
        assert strength(epsilon, 1e-6, sharp_advantage(charge, epsilon)).word == word


def test_words_say_row_unless_a_unit_is_declared() -> None:
    row = describe(1.0, 1e-6, "add_or_remove_one", 1, None)
    assert "person" not in f"{row.headline} {row.who} {row.unknown}"
    unit = describe(1.0, 1e-6, "replace_one", 3, None, "patient_id", name="patient")
    assert "all rows of one patient (at most 3, all with one value of “patient_id”)" in unit.who
    assert "The number of patients is public." in unit.who
    assert "if any one patient had been another" in unit.headline
    assert "if any one unit had been another" in describe(1.0, 1e-6, "replace_one", 3, None, "patient_id").headline
    assert [plural(word) for word in ("household", "family", "day")] == ["households", "families", "days"]
