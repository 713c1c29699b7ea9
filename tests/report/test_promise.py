"""The figures behind the plain words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.privacy.calibration import gaussian_noise_multiplier
from tacit.privacy.charges import Gaussian
from tacit.privacy.strength import best_guess, sharp_advantage, strength
from tacit.report.promise import count, describe, plural


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("prior", [0.5, 0.2, 0.01])
def test_pure_bound_is_attained_by_randomized_response(epsilon: float, prior: float) -> None:
    """Randomized response is (epsilon, 0)-private; the best guess from its answer, or without it, is the bound."""
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    joint = np.array([[prior * truth, prior * (1 - truth)], [(1 - prior) * (1 - truth), (1 - prior) * truth]])
    assert joint.max(axis=0).sum() == pytest.approx(best_guess(prior, epsilon, 0.0), abs=1e-12)


def test_delta_adds_what_it_must() -> None:
    """With probability delta everything is told, otherwise randomized response: the bound is attained."""
    epsilon, delta = 1.0, 0.1
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert best_guess(0.5, epsilon, delta) == pytest.approx(delta + (1 - delta) * truth)


def test_no_noise_no_promise() -> None:
    assert best_guess(0.5, math.inf, 0.0) == 1.0
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


def test_warnings_of_delta_and_epsilon() -> None:
    assert strength(1.0, 1e-5).warnings == ()
    assert "above 1e-05" in strength(1.0, 1.1e-5).warnings[0]
    assert "1 in 1,000, the number of rows" in strength(1.0, 2e-3, rows=1000.0).warnings[0]
    assert "the number of rows" in strength(1.0, 9e-6, rows=1e6).warnings[0]
    assert strength(1.0, 9e-7, rows=1e6).warnings == ()
    assert strength(10.0, 1e-6).warnings == ()
    assert "promises almost nothing" in strength(10.1, 1e-6).warnings[0]
    assert "nothing is protected" in strength(math.inf, 0.0).warnings[0]


def test_words_say_row_unless_a_unit_is_declared() -> None:
    row = describe(1.0, 1e-6, "add_or_remove_one", 1, None)
    assert "person" not in f"{row.headline} {row.who} {row.unknown}"
    unit = describe(1.0, 1e-6, "replace_one", 3, None, "patient_id", name="patient")
    assert "all rows of one patient (at most 3, all with one value of “patient_id”)" in unit.who
    assert "The number of patients is public." in unit.who
    assert "if any one patient had been another" in unit.headline
    assert "if any one unit had been another" in describe(1.0, 1e-6, "replace_one", 3, None, "patient_id").headline
    assert [plural(word) for word in ("household", "family", "day")] == ["households", "families", "days"]
