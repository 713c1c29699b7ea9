"""What cells and labels hold is never a reason to stop: odd objects in every container, on the way of every learner."""

from __future__ import annotations

import datetime as dt
import math
import warnings
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import (
    AdditiveBoostClassifier,
    AdditiveBoostRegressor,
    BoostedTreesClassifier,
    DecisionListClassifier,
    HalfspaceBoostClassifier,
    RandomTreesClassifier,
)
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.numbers import as_numbers
from tacit.encoding.table import TableEncoding
from tacit.encoding.units import key_codes, unit_codes
from tacit.encoding.values import LabelIndex
from tacit.schema import BooleanColumn, CategoricalColumn, NumericColumn, Schema
from tests.pairwise import in_turn


class Awkward:
    """An object that answers nothing."""

    def __hash__(self) -> int:
        raise ValueError("no hash")

    def __eq__(self, other: object) -> bool:
        raise ArithmeticError("no comparison")

    def __bool__(self) -> bool:
        raise RuntimeError("no truth")

    def __float__(self) -> float:
        raise RuntimeError("no number")


ODD: list[Any] = [
    *(2**64, -(2**64), 10**400, Decimal("Infinity"), Decimal("NaN"), Decimal("1e999999"), Decimal("-1e-999999")),
    *(1j, complex("nan"), np.complex64(1), np.longdouble(1), np.float16("inf"), np.array(1), np.array([1, 2])),
    *(pd.Timestamp("2020"), dt.date(2020, 1, 1), dt.time(1), pd.Timedelta(1), pd.Period("2020")),
    *(np.datetime64("2020"), np.timedelta64(1), pd.NaT, pd.NA, None, math.nan, math.inf, pd.Interval(0, 1)),
    *("x", "", "1", "true", "0" * 5000, "9" * 400, "\ud800", b"\xff", b"1", memoryview(b"1"), True, (), (1, 2), [1]),
    *({"a": 1}, {1}, frozenset(), object(), Awkward(), range(3), int, print, Decimal("sNaN")),
]
odd_values = (
    st.integers(0, len(ODD) - 1).map(ODD.__getitem__)
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.binary(max_size=2)
)


def objects(values: list[Any]) -> np.ndarray:
    vector = np.empty(len(values), object)
    for place, value in enumerate(values):
        vector[place] = value
    return vector


def categorical(values: list[Any]) -> Any:
    """A pandas categorical, where pandas can make one of these."""
    return pd.Series(pd.Categorical(objects(values)))


def texts(values: list[Any]) -> Any:
    return pd.Series([value if isinstance(value, str) else repr(type(value)) for value in values], dtype="str")


CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "numpy objects": objects,
    "pandas objects": lambda values: pd.Series(objects(values), dtype=object),
    "pandas categorical": categorical,
    "pandas texts": texts,
    "polars objects": lambda values: pl.Series(values, dtype=pl.Object),
}
SCHEMA = Schema({"c": CategoricalColumn(("a", 1)), "b": BooleanColumn(), "x": NumericColumn(0, 1)})
READERS: dict[str, Callable[[Any], Any]] = {
    "columns": lambda v: np.stack(TableEncoding.of(SCHEMA).encode(dict.fromkeys("cbx", v)), axis=1),
    "labels": LabelIndex((0, 1)).encode,
    "exact labels": LabelIndex(("0", "00"), exact=True).encode,
    "targets": lambda v: NumericLabelIndex(0, 1).encode(as_numbers(v, "y", loose=True)),
    "keys": lambda v: read_keys(v, exact=False),
    "exact keys": lambda v: read_keys(v, exact=True),
    "units": lambda v: unit_codes(v)[:2] >= 0,
}


def read_keys(column: Any, exact: bool) -> list[str | None]:
    codes, keys = key_codes(column, exact=exact)
    return [keys[code] if code >= 0 else None for code in codes]


@settings(max_examples=50, deadline=None)
@given(
    odd=odd_values,
    kind=st.sampled_from(sorted(CONTAINERS)),
    plain=st.sampled_from(
        [[1.0, 0.0], ["a", "1"], [1, 0], [True, False], [pd.Timestamp("2020"), pd.Timestamp("2021")]]
    ),
)
def test_an_odd_cell_stops_nothing_and_changes_no_other(odd: Any, kind: str, plain: list[Any]) -> None:
    try:
        with_odd, alone = CONTAINERS[kind]([*plain, odd]), CONTAINERS[kind](plain)
    except BaseException:  # noqa: BLE001 - pandas or polars makes no such vector (polars panics)
        return
    for name, read in READERS.items():
        after, before = read(with_odd), read(alone)
        assert np.array_equal(np.asarray(after[:2], object), np.asarray(before[:2], object)), name


LEARNERS: list[Any] = [
    AdditiveBoostClassifier,
    AdditiveBoostRegressor,
    partial(BoostedTreesClassifier, n_trees=20),
    DecisionListClassifier,
    HalfspaceBoostClassifier,
    RandomTreesClassifier,
]
CATEGORICAL_DATES = pd.Series(pd.Categorical(pd.to_datetime(["2020-01-01", "2021-01-01"] * 20)))


def read_by_pandas(odd: str) -> pd.DataFrame:
    """Numbers, and one text that makes texts of the whole column."""
    return pd.DataFrame({"x": ["0.25", "0.75"] * 20 + [odd], "z": [0.5] * 41}).astype({"x": "str"})


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_text_in_a_column_without_a_schema_is_no_reason_to_stop(learner: Any) -> None:
    labels = (
        np.array([0, 1] * 20 + [0]) if learner is AdditiveBoostRegressor else np.array([False, True] * 20 + [False])
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = learner(epsilon=5.0, random_state=0).fit(read_by_pandas("unknown"), labels)
    assert len(fitted.predict(read_by_pandas("?"))) == 41


def test_a_holder_hears_of_texts_that_are_taken_for_numbers() -> None:
    with pytest.warns(
        UserWarning, match="column 'x' came as texts, categories or objects, and RandomTreesClassifier without a schema"
    ):
        RandomTreesClassifier().check_table(read_by_pandas("unknown"), np.zeros(41, bool))


@pytest.mark.parametrize("learner", [RandomTreesClassifier, AdditiveBoostClassifier, AdditiveBoostRegressor])
def test_warnings_about_columns_and_labels_point_to_the_caller(learner: Any) -> None:
    """They pointed into the library, at as many calls up as another learner has."""
    declared = {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in ("x", "z")}
    schema = {"columns": declared, "label": {"column": "y", "classes": [0, 1]}}
    if learner is AdditiveBoostRegressor:
        schema["label"] = {"column": "y", "kind": "numeric", "lower": 0, "upper": 1}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner(schema=schema).fit(read_by_pandas("unknown"), np.zeros((41, 1)))
    assert any("numbers have a decimal point" in str(warning.message) for warning in caught)
    assert any("column-vector" in str(warning.message) for warning in caught)
    assert {warning.filename for warning in caught} == {__file__}


def test_one_text_in_a_matrix_of_rows_is_no_reason_to_stop() -> None:
    matrix = np.array([[0.1, 0.2], [0.3, -0.4]] * 20 + [["x", 0.1]], object)
    learner = HalfspaceBoostClassifier(epsilon=5.0, row_norm=1.0, classes=(0, 1), random_state=0)
    fitted = learner.fit(matrix, np.array([0, 1] * 20 + [0]))
    assert fitted.predict(matrix).shape == (41,)
    assert fitted.fit(pd.DataFrame(matrix).astype("str"), np.array([0, 1] * 20 + [0])).n_features_in_ == 2


@pytest.mark.parametrize("odd", ["unknown", "", "1e400"])
def test_one_text_in_a_target_is_no_reason_to_stop(odd: str) -> None:
    targets = pd.Series(["0.25", "0.75"] * 20 + [odd], dtype="str")
    learner = AdditiveBoostRegressor(epsilon=5.0, target_bounds=(0, 1), random_state=0)
    assert learner.fit(pd.DataFrame({"x": np.linspace(0, 1, 41)}), targets).predict({"x": [0.5]}).shape == (1,)
    numbers = pd.Series([0.25, 0.75] * 20 + [np.nan])
    same = AdditiveBoostRegressor(epsilon=5.0, target_bounds=(0, 1), random_state=0)
    same.fit(pd.DataFrame({"x": np.linspace(0, 1, 41)}), numbers)
    assert same.model_.to_dict() == learner.model_.to_dict()


@pytest.mark.parametrize(("learner", "odd"), in_turn(LEARNERS, [(Decimal("1e999999"),), ("x",)]))
def test_whole_fits_with_an_odd_cell_in_a_categorical(learner: Any, odd: Any) -> None:
    numbers = learner is AdditiveBoostRegressor
    label = (
        {"column": "y", "kind": "numeric", "lower": 0, "upper": 1} if numbers else {"column": "y", "classes": [0, 1]}
    )
    columns = {
        "c": {"kind": "categorical", "categories": ["a", "b"]},
        "d": {"kind": "categorical", "categories": ["q"]},
    }
    table = pd.DataFrame({"c": categorical(["a", "b"] * 20 + [odd]), "d": [*CATEGORICAL_DATES, None]})
    table["d"] = pd.Series(pd.Categorical(objects([*CATEGORICAL_DATES, odd])))
    fitted = learner(epsilon=5.0, random_state=0, schema={"label": label, "columns": columns})
    assert len(fitted.fit(table, np.array([0, 1] * 20 + [0])).predict(table)) == 41
