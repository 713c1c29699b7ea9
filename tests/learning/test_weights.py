"""Weights of classes and rows: what is taken, what it becomes, and what is refused before anything is spent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tacit.encoding.values import LabelIndex
from tacit.learning.learner import Task
from tacit.learning.weights import check_class_weight, declared_weights, refuse_unknown, row_weights_of
from tacit.privacy.request import RequestError
from tacit.queries.rules import WEIGHT_UNIT

INDEX = LabelIndex(("no", "yes", "maybe"))
TASK = Task(None, ("x",), INDEX, None)


@pytest.mark.parametrize(
    ("given", "weights"),
    [
        ({}, (1.0, 1.0, 1.0)),
        ({"yes": 4.0}, (0.25, 1.0, 0.25)),
        ({"yes": 0.5}, (1.0, 0.5, 1.0)),
        ({"no": 2.0, "yes": 4.0, "maybe": 1.0}, (0.5, 1.0, 0.25)),
        ({"other": 9.0}, (1.0, 1.0, 1.0)),
        ({"yes": 1e12}, (1 / WEIGHT_UNIT, 1.0, 1 / WEIGHT_UNIT)),
    ],
)
def test_the_largest_weight_of_a_class_is_one(given: dict[str, float], weights: tuple[float, ...]) -> None:
    assert declared_weights(given, INDEX) == weights


@pytest.mark.parametrize("given", [None, "balanced", {}, {"no": 1}, {"yes": 0.1, "maybe": 3}])
def test_weights_of_classes_that_are_taken(given: Any) -> None:
    check_class_weight(given, TASK)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("even", "must be None, 'balanced' or a dict"),
        (2.0, "must be None, 'balanced' or a dict"),
        ({"no": 0}, "must be a positive number"),
        ({"no": -1.0}, "must be a positive number"),
        ({"no": float("inf")}, "must be a positive number"),
        ({"no": float("nan")}, "must be a positive number"),
        ({"no": True}, "must be a positive number"),
        ({"no": "1"}, "must be a positive number"),
        ({"never": 1.0}, "names 'never', and the classes are"),
    ],
)
def test_weights_of_classes_that_are_refused(given: Any, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        check_class_weight(given, TASK)


def test_weights_of_rows_lie_above_zero_and_up_to_one() -> None:
    assert row_weights_of(None) is None
    weights = row_weights_of([1, 0.5, np.nextafter(0.0, 1.0)])
    assert weights is not None
    assert weights.tolist() == [1.0, 0.5, 5e-324]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([0.5, 0.0], "weight of row 1 is 0.0: leave out rows"),
        ([-0.5], "leave out rows"),
        ([0.5, 1.5, 2.0], "weight of row 1 is 1.5: divide by a bound that is public"),
        ([np.inf], "divide by a bound"),
        ([0.5, np.nan], "every row needs a weight"),
    ],
)
def test_weights_of_rows_that_are_refused(given: Any, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        row_weights_of(given)


def test_what_fit_does_not_take_is_named() -> None:
    refuse_unknown([])
    with pytest.raises(RequestError, match=r"and no offset, groups; what an offset tells"):
        refuse_unknown(["offset", "groups"])
    with pytest.raises(RequestError, match=r"and no groups; leave it out"):
        refuse_unknown(["groups"], "leave it out")
