"""Numbers of growing that a tuning of the default learner replaces reach its trees."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from tacit import AdditiveBoostClassifier, AdditiveBoostRegressor
from tacit.additive.boost import AdditiveBoost
from tools.fit_planning_rule import with_number

NUMBER = {"kind": "numeric", "lower": -4, "upper": 4}


def nearly_the_same(n: int, seed: int) -> pd.DataFrame:
    """Three columns that are nearly the same, and one of categories."""
    generator = np.random.default_rng(seed)
    common, own = generator.normal(size=n), generator.normal(size=(3, n))
    X = pd.DataFrame((0.95 * common + 0.3 * own).T, columns=list("abc"))
    X["d"] = generator.choice(["p", "q", "r"], n)
    X.loc[X.index % 50 == 0, "c"] = math.nan
    return X


def fitted(n: int) -> AdditiveBoostRegressor:
    """A fit to a number that follows from differences of columns."""
    X = nearly_the_same(n, 0)
    generator = np.random.default_rng(100)
    target = np.sin(4.0 * (X["a"] - X["b"]).to_numpy()) + 0.5 * generator.normal(size=n)
    columns = {**dict.fromkeys("abc", NUMBER), "d": {"kind": "categorical", "categories": ["p", "q", "r"]}}
    schema = {"label": {"column": "y", "kind": "numeric", "lower": -3, "upper": 3}, "columns": columns}
    return AdditiveBoostRegressor(schema=schema, epsilon=4.0, random_state=0).fit(X, np.clip(target, -3, 3))


@cache
def said() -> tuple[bytes, bytes]:
    """What a fit with the numbers as they are says of some rows, and how sure it is."""
    model, X = fitted(4000).model_, nearly_the_same(300, 9)
    assert model.scores.trees
    return model.predict(X).tobytes(), model.score_variance(X).tobytes()


def said_of_two() -> tuple[bytes, bytes]:
    """The same of two classes, whose columns explain much."""
    X = nearly_the_same(4000, 0)
    y = np.random.default_rng(1).random(4000) < 1 / (1 + np.exp(-4 * X["a"]))
    columns = dict.fromkeys("abc", NUMBER)
    schema = {"label": {"column": "y", "classes": [False, True]}, "columns": columns}
    model = AdditiveBoostClassifier(epsilon=2.0, schema=schema, random_state=0).fit(X[list("abc")], y).model_
    assert model.trees
    rows = nearly_the_same(300, 9)
    return model.decision_function(rows).tobytes(), model.score_variance(rows).tobytes()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cutting.tries", 5),
        ("kernel.rows_of_noise", 14.0),
    ],
)
def test_a_number_that_is_replaced_reaches_the_fit(name, value, monkeypatch):
    before = said()
    learner = AdditiveBoostRegressor
    monkeypatch.setattr(learner, "tuning", with_number(learner.tuning, f"growing.{name}".split("."), value))
    model, X = fitted(4000).model_, nearly_the_same(300, 9)
    assert before != (model.predict(X).tobytes(), model.score_variance(X).tobytes())


@pytest.mark.parametrize(
    ("name", "value"), [("kernel.clip", 0.6), ("kernel.hessian_scale", 0.7), ("tracing.answered", 0.5)]
)
def test_a_number_of_two_classes_that_is_replaced_reaches_the_fit(name, value, monkeypatch):
    before = said_of_two()
    monkeypatch.setattr(AdditiveBoost, "tuning", with_number(AdditiveBoost.tuning, f"growing.{name}".split("."), value))
    assert before != said_of_two()
