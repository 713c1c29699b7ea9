"""``classes="public"``: the classes are the labels that are there, and the certificate says who answers for that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tacit import AdditiveBoostClassifier, BatchwiseClassifier, RandomTreesClassifier
from tacit.learning.declared import public_classes
from tacit.privacy.request import RequestError

SCHEMA = {"columns": {"a": {"kind": "numeric", "lower": 0, "upper": 1}}}
X = {"a": np.linspace(0, 1, 90)}


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.array([3, 1, 3, 1]), (1, 3)),
        (np.array([1.0, 0.0, np.nan]), (0.0, 1.0)),
        (["yes", "no", None, "", "yes"], ("no", "yes")),
        (np.array(["b", "a", "b"]), ("a", "b")),
        (pd.Series(["b", None, "a"], dtype="category"), ("a", "b")),
        (pl.Series([True, None, False]), (False, True)),
        (["b", 2, 1, "a"], (1, 2, "a", "b")),
        (np.array([b"y", b"x"]), ("x", "y")),
    ],
)
def test_the_classes_are_the_labels_that_are_there(labels: Any, classes: tuple[Any, ...]) -> None:
    result = public_classes(labels)
    assert result == classes
    assert [type(one) for one in result] == [type(one) for one in classes]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "the target y is None"),
        (["yes", "yes", None], "y holds 1 class"),
        (np.array([], int), "y holds no class"),
        (np.array([0.0, 0.5]), "Unknown label type: y holds 0.5"),
        (np.array([1j, 2j]), "Complex data not supported"),
    ],
)
def test_labels_that_name_no_classes_are_refused(labels: Any, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        public_classes(labels)


def test_the_certificate_says_that_the_caller_answers_for_the_classes() -> None:
    y = np.where(X["a"] > 0.5, "ill", "well")
    fitted = RandomTreesClassifier(epsilon=1.0, schema=SCHEMA, classes="public").fit(X, y)
    assert fitted.classes_.tolist() == ["ill", "well"]
    assumed = {each.subject: each for each in fitted.certificate_.assumptions}
    assert assumed["classes"].text == "the classes of the label: the caller says that they do not come from the rows"
    assert fitted.certificate_.releasable
    assert fitted.dry_run(90, X, y)["epsilon"] == 1.0


def test_learners_of_two_classes_refuse_more_and_others_take_them(few_rounds: None) -> None:
    y = np.arange(90) % 3
    with pytest.raises(RequestError, match="y holds more than two classes, and RandomTreesClassifier tells two apart"):
        RandomTreesClassifier(schema=SCHEMA, classes="public").fit(X, y)
    assert AdditiveBoostClassifier(schema=SCHEMA, classes="public").fit(X, y).classes_.tolist() == [0, 1, 2]


def test_batches_need_classes_of_one_kind() -> None:
    batches = BatchwiseClassifier(RandomTreesClassifier(schema=SCHEMA, classes="public"))
    with pytest.raises(RequestError, match="batches need one schema with columns and label"):
        batches.partial_fit(X, np.arange(90) % 2)
