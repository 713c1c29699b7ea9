"""Thresholds, candidates and their prior as numbers."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tacit import DecisionListClassifier
from tacit.decision_lists.learner import DecisionListLearner
from tacit.decision_lists.literals import (
    candidates,
    check_enumerable,
    length_prior,
    most_literals,
    nice_thresholds,
    sizes_by_length,
    threshold_codes,
)
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import BooleanIndex
from tacit.privacy.request import Request
from tacit.queries.covers.candidates import MOST_STREAMED, StreamedConjunctions, TooManyCandidates


def test_round_thresholds() -> None:
    """Quarters of the span, and seven halvings of one towards the lower bound, in two digits."""
    assert nice_thresholds(0, 100, 4) == [0.2, 0.39, 0.78, 1.6, 3.1, 6.2, 12.0, 25.0, 50.0, 75.0]
    result = nice_thresholds(-10, 10, 3)
    assert result[:7] == [-10 + part for part in (0.078, 0.16, 0.31, 0.62, 1.2, 2.5, 5.0)]
    assert result[7:14] == [-2.5, -1.2, -0.62, -0.31, -0.16, -0.078, 0.0]
    assert result[14:] == [0.078, 0.16, 0.31, 0.62, 1.2, 2.5, 5.0]


def test_codes_between_which_columns_are_split() -> None:
    assert threshold_codes(NumericGrid(0, 100, 5), 4).tolist() == [1, 2, 3, 4]
    assert threshold_codes(NumericGrid(0, 100, 200), 4).tolist() == [1, 3, 6, 12, 24, 50, 100, 150]
    assert threshold_codes(NumericGrid(1, 4096, 120, "log"), 5).tolist() == [20, 40, 60, 80, 100]
    bounds = [(0.0, 1.0), (-1.0, 1.0), (-7.0, 9000.0), (3.0, 3.5)]
    most = most_literals(None, 16)
    assert most == 2 * (16 + 2 + 3 * 7) + 1
    assert all(2 * len(nice_thresholds(*pair, 16)) + 1 <= most for pair in bounds)


def test_far_too_many_candidates_are_refused() -> None:
    """``n`` literals make ``L (n + n (n - 1) / 2)`` rules of up to two; four times as many as are streamed may pass."""
    n = math.isqrt(4 * MOST_STREAMED) - 1  # n (n + 1) is just below
    check_enumerable(n, 2, 2)
    with pytest.raises(TooManyCandidates, match="lower k"):
        check_enumerable(n + 1, 2, 2)


@pytest.mark.parametrize("constant", [False, True])
def test_each_length_is_as_likely_as_another(constant: bool) -> None:
    """Three literals of one column of booleans and three of another: 6 rules of one literal, 9 of two at most."""
    listed = candidates((BooleanIndex(), BooleanIndex()), 2, 16, 2, constant).conjunctions
    streamed = StreamedConjunctions(listed.columns, listed.truths, 2, constant, 2)
    ones = len(listed.columns)
    twos = len(listed) - ones - constant
    for conjunctions in (listed, streamed):
        assert sizes_by_length(conjunctions).tolist() == [constant, ones, twos]
    for prior, lengths in (
        (length_prior(listed, 2), (listed.members >= 0).sum(axis=1)),
        (length_prior(streamed, 2), [streamed.length(block) for block in range(streamed.n_blocks)]),
    ):
        wanted = {0: 0.0, 1: -math.log(2 * 2 * ones), 2: -math.log(2 * 2 * max(twos, 1))}
        for nats, length in zip(prior, lengths, strict=True):
            if length and (length == 1 or twos):
                assert nats == pytest.approx(wanted[int(length)])
    rules = length_prior(listed, 2)[np.flatnonzero((listed.members >= 0).any(axis=1))]
    assert 2 * np.exp(rules).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("classes", "several"), [(None, False), ([0, 1], False), ([0, 1, 2], True)])
def test_scikit_learn_is_told_of_several_classes(classes: Any, several: bool) -> None:
    tags = DecisionListClassifier(classes=classes).__sklearn_tags__()
    assert tags.classifier_tags is not None
    assert tags.classifier_tags.multi_class is several


@pytest.mark.parametrize(
    ("objective", "counts_share", "constant"),
    [("errors", 0.2, True), ("errors", 0.0, True), ("coverage", 0.2, False), ("coverage", 0.0, True)],
)
def test_the_constant_is_a_candidate_unless_counts_say_what_it_says(
    objective: str, counts_share: float, constant: bool
) -> None:
    request = Request.of(1.0, 1e-6, "add_or_remove_one", None)
    learner = DecisionListLearner(request, objective=objective, counts_share=counts_share)
    task: Any = SimpleNamespace(label_index=SimpleNamespace(n_classes=2))
    result = learner.candidates(task, TableEncoding(("x",), (BooleanIndex(),)))
    assert len(result.conjunctions.constant) == constant


@pytest.mark.parametrize(
    ("objective", "most", "steps", "ends"),
    [
        ("coverage", None, 3, False),
        ("coverage", 2, 2, False),
        ("coverage", 9, 3, False),
        ("errors", None, 4, True),  # the three, and the constant
        ("errors", 3, 3, False),
        ("errors", 4, 4, True),
        ("errors", 9, 4, True),
    ],
)
def test_features_in_words_make_as_many_rules_and_a_constant(
    objective: str, most: int | None, steps: int, ends: bool
) -> None:
    request = Request.of(1.0, 1e-6, "add_or_remove_one", None)
    features = ["a is true", "b is true", "a is false and b is false"]
    learner = DecisionListLearner(request, objective=objective, max_rules=most, features=features)
    task: Any = SimpleNamespace(schema=SimpleNamespace(unit=None))
    assert learner._n_steps(task) == (steps, ends)
