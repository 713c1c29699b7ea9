"""Labels as signs: one by one and many at a time are read the same."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.online.labels import codes_of, shares_of, sign_of, signs_of
from tacit.online.rows import RowError


@pytest.mark.parametrize(
    ("classes", "labels", "signs"),
    [
        ((False, True), np.array([True, False]), [1, -1]),
        ((False, True), np.array([1, 0, -1, 7], np.int8), [1, -1, -1, 0]),
        ((-1, 1), np.array([1.0, -1.0, 0.0, np.nan]), [1, -1, -1, 0]),
        (("no", "yes"), np.array(["yes", "no", "maybe"]), [1, -1, 0]),
        (("no", "yes"), np.array([1, 0]), [1, -1]),
        ((1, 0), np.array([1, 0, -1, 7], np.int8), [-1, 1, -1, 0]),
        ((1, 0), np.array([1, 0, -1, 7]), [-1, 1, -1, 0]),
        ((-1, 0), np.array([1, 0, -1, -128, 127], np.int8), [1, 1, -1, 0, 0]),
        ((3, 4), np.array([3, 4, 1, 0], np.int8), [-1, 1, 1, -1]),
        ((True, False), np.array([True, False]), [-1, 1]),
        ((True, False), np.array([1, 0], np.int8), [-1, 1]),
        (("no", "yes"), np.array([True, False]), [1, -1]),
        (("no", "yes"), np.array(["yes", None, "no", 1, math.nan, pd.NA, [1]], object), [1, 0, -1, 1, 0, 0, 0]),
        (("no", "yes"), ["yes", None, "no", 1, 0.0, b"no"], [1, 0, -1, 1, -1, 0]),
        (("no", "yes"), [np.zeros(2), Decimal("sNaN"), "no", True], [0, 0, -1, 1]),
    ],
)
def test_many_labels_are_read_as_one_is(classes: tuple[Any, ...], labels: Any, signs: list[int]) -> None:
    assert signs_of(labels, classes, len(labels)).tolist() == signs
    assert [sign_of(label, classes) for label in labels] == signs


def test_no_label_is_neither_class() -> None:
    assert sign_of(None, (False, True)) == 0


def test_there_is_a_label_per_row() -> None:
    with pytest.raises(RowError, match="a label per row"):
        signs_of(np.ones((2, 2)), (-1, 1), 2)


@pytest.mark.parametrize(
    ("labels", "places"),
    [
        (["b", "a", 7, None, True, 1.0, "z"], [2, 1, 3, 0, 4, 4, 0]),
        (np.array(["b", "a", "z"]), [2, 1, 0]),
        (np.array([7, 1, 2, -1], np.int8), [3, 4, 0, 0]),
        ([[1], math.nan, pd.NA, Decimal("sNaN"), b"a"], [0, 0, 0, 0, 0]),
    ],
)
def test_labels_of_several_classes_are_places(labels: Any, places: list[int]) -> None:
    classes = ("a", "b", 7, 1)
    assert codes_of(labels, classes, len(labels)).tolist() == places
    assert codes_of(labels, classes, len(labels)).dtype == np.int16
    with pytest.raises(RowError, match="a label per row"):
        codes_of(labels, classes, len(labels) + 1)


def test_shares_of_the_votes_add_up_to_one() -> None:
    assert shares_of(np.array(0.5), ("no", "yes")) == {"no": 0.25, "yes": 0.75}
    assert shares_of(np.array([0.5, 0.0, -0.5]), ("a", "b", "c")) == pytest.approx(
        {"a": 7 / 12, "b": 1 / 3, "c": 1 / 12}
    )
    assert shares_of(np.array([1.0, -1.0, -1.0]), ("a", "b", "c")) == pytest.approx({"a": 1.0, "b": 0.0, "c": 0.0})
