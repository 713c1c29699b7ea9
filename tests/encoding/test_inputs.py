"""Warnings about types that say little of what is declared, given before anything is charged."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit import AdditiveBoostClassifier, Schema
from tacit.encoding.frames import columns_of
from tacit.encoding.inputs import is_fractional, warn_of_truths, warn_of_types
from tacit.encoding.values import LabelIndex
from tacit.errors import was_spent

BOUNDS = {"lower": "2020-01-01", "upper": "2021-12-31"}


def dated(granularity: str) -> Schema:
    bounds = {} if granularity == "weekday" else BOUNDS
    day = {"kind": "date", "granularity": granularity, **bounds}
    return Schema.from_dict({"columns": {"day": day}, "label": {"column": "y", "classes": [0, 1]}})


def said(warn: Any, *arguments: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn(*arguments)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("granularity", ["month", "weekday"])
@pytest.mark.parametrize(
    "column",
    [
        np.array([20200331, 20200401]),
        pd.Series([20200331.0, None]),
        pd.Series([20200331, None], dtype="Int64"),
        pl.Series([20200331]),
        pa.chunked_array([[20200331]]),
        np.array([True, False]),
    ],
)
def test_dates_that_came_as_numbers_are_told_of(column: Any, granularity: str) -> None:
    [message] = said(warn_of_types, columns_of({"day": column}), dated(granularity))
    assert "'day' is declared a date and came as numbers" in message
    assert "2024-12-31" in message


@pytest.mark.parametrize(
    "column",
    [
        np.array(["2020-03-31"], "datetime64[D]"),
        pd.Series(["2020-03-31"]),
        pd.Series([20200331, "2020-03-31"], dtype=object),
        pl.Series(["2020-03-31"]).str.to_date(),
        [20200331],  # a list has no type: each is read by itself
    ],
)
def test_other_dates_are_not(column: Any) -> None:
    assert said(warn_of_types, columns_of({"day": column}), dated("month")) == []


def test_numbers_are_years() -> None:
    assert said(warn_of_types, columns_of({"day": np.array([2020])}), dated("year")) == []


def test_truth_values_without_a_class_are_told_of() -> None:
    truths, numbers = np.array([True, False]), np.array([1, 2])
    [message] = said(warn_of_truths, truths, LabelIndex((1, 2, 3)))
    assert "have none for False: such rows are dropped" in message
    assert "have none for False and True" in said(warn_of_truths, truths, LabelIndex(("a", "b", "c")))[0]
    assert said(warn_of_truths, numbers, LabelIndex((1, 2, 3))) == []
    assert said(warn_of_truths, truths, LabelIndex((1, 2))) == []


@pytest.mark.parametrize(
    ("classes", "y", "words"), [([0, 1], 1 - np.eye(20)[0], "came as numbers"), ([1, 2, 3], np.eye(20)[0] > 0, "truth")]
)
def test_a_fit_warns_before_it_charges(classes: list[int], y: Any, words: str) -> None:
    declared = {**dated("month").to_dict(), "label": {"column": "y", "classes": classes}}
    model = AdditiveBoostClassifier(epsilon=1.0, schema=declared)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", f".*{words}")
        with pytest.raises(UserWarning, match=words) as caught:
            model.fit(pd.DataFrame({"day": [20200331] * 20}), y)
    assert not was_spent(caught.value)


def test_decimals_with_digits_behind_the_point_are_fractions() -> None:
    kinds = [pa.float32(), pa.decimal128(9, 2), pa.decimal128(9, 0), pa.int8(), pa.string()]
    assert [is_fractional(pa.array([None], kind)) for kind in kinds] == [True, True, False, False, False]
