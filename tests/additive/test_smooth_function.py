"""The smooth function of all columns, in whole fits: what it sees, where it stays out, and how it is kept."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit import AdditiveBoostClassifier, AdditiveBoostRegressor, Schema
from tacit.additive.boost import AdditiveBoost
from tacit.additive.tuning import TUNING
from tacit.models.additive import SMOOTH
from tacit.models.files import model_from_dict
from tacit.privacy.charges import Repeated

NUMBER = {"kind": "numeric", "lower": -4, "upper": 4}
CATEGORY = {"kind": "categorical", "categories": ["p", "q", "r"]}


def nearly_the_same(n: int, seed: int) -> pd.DataFrame:
    """Three columns that are nearly the same, and one of categories."""
    generator = np.random.default_rng(seed)
    common, own = generator.normal(size=n), generator.normal(size=(3, n))
    X = pd.DataFrame((0.95 * common + 0.3 * own).T, columns=list("abc"))
    X["d"] = generator.choice(["p", "q", "r"], n)
    X.loc[X.index % 50 == 0, "c"] = math.nan
    return X


def fitted(kind: str, n: int = 6000, seed: int = 0, c: dict[str, Any] = NUMBER, **settings):
    """A fit to three classes, or to a number, that follow from differences of columns; and rows with what is true."""
    X = nearly_the_same(n, seed)
    generator = np.random.default_rng(seed + 100)
    truth = np.sin(4.0 * (X["a"] - X["b"]).to_numpy())
    said = truth + 0.5 * generator.normal(size=n)
    chosen = {"epsilon": 4.0, "random_state": 0, **settings}
    columns = {"a": NUMBER, "b": NUMBER, "c": c, "d": CATEGORY}
    if kind == "number":
        label = {"column": "y", "kind": "numeric", "lower": -3, "upper": 3}
        known = Schema.from_dict({"label": label, "columns": columns})
        return AdditiveBoostRegressor(schema=known, **chosen).fit(X, np.clip(said, -3, 3)), X, truth
    known = Schema.from_dict({"label": {"column": "y", "classes": [0, 1, 2]}, "columns": columns})
    return AdditiveBoostClassifier(schema=known, **chosen).fit(X, np.digitize(said, [-0.5, 0.5])), X, truth


@cache
def usual(kind: str):
    """One fit of each kind, for tests that change nothing."""
    return fitted(kind)


@pytest.mark.parametrize("kind", ["classes", "number"])
def test_it_sees_small_differences_of_columns_that_vary_together(kind, monkeypatch):
    model, _, _ = usual(kind)
    X, truth = fitted(kind, 500, 5)[1:]

    def closeness(fit) -> float:
        scores = fit.model_.contributions(X)[1].sum(axis=1)
        return float(np.corrcoef(scores[:, -1] - (scores[:, 0] if kind == "classes" else 0.0), truth)[0, 1])

    assert model.model_.scores.fourier is not None
    for learner in (AdditiveBoost, AdditiveBoostRegressor):
        planning = replace(learner.tuning.planning, smooth_part=0.0)
        monkeypatch.setattr(learner, "tuning", replace(learner.tuning, planning=planning))
    without, _, _ = fitted(kind)
    assert without.model_.scores.fourier is None
    assert closeness(model) > closeness(without) + 0.03


@pytest.mark.parametrize("kind", ["classes", "number"])
def test_terms_add_up_to_the_scores_and_a_file_keeps_them(kind):
    model, X, _ = usual(kind)
    names, parts = model.model_.contributions(X)
    assert SMOOTH in names
    again = model_from_dict(json.loads(json.dumps(model.model_.to_dict())))
    assert np.array_equal(again.contributions(X)[1], parts)
    added = model.model_.scores.intercept + parts.sum(axis=1)
    said = model.decision_function(X) if kind == "classes" else model.predict(X)[:, None]
    np.testing.assert_allclose(np.clip(added, -3, 3) if kind == "number" else added, said, atol=1e-9)
    spread = math.sqrt(parts[:, names.index(SMOOTH)].var(axis=0).sum())
    assert 0.6 < model.model_.importance()[SMOOTH] / spread < 1.6
    labels = [entry.label for entry in model.certificate_.entries]
    assert sum(label.startswith("smooth function step") for label in labels) == TUNING.growing.smooth.steps


@pytest.mark.parametrize("told", [0.0, 1.0])
@pytest.mark.parametrize("kind", ["classes", "number"])
def test_where_columns_add_up_it_is_small_and_nothing_is_left_unspent(kind, told):
    generator = np.random.default_rng(4)
    X = pd.DataFrame(generator.uniform(-4, 4, (4000, 3)), columns=list("abc"))
    said = told * (np.sin(X["a"]) + 0.3 * X["b"]) + 0.5 * generator.normal(size=4000)
    columns = dict.fromkeys("abc", NUMBER)
    if kind == "number":
        label = {"column": "y", "kind": "numeric", "lower": -4, "upper": 4}
        made = AdditiveBoostRegressor(schema=Schema.from_dict({"label": label, "columns": columns}), random_state=0)
        made.fit(X, np.clip(said, -4, 4))
    else:
        label = {"column": "y", "classes": [0, 1, 2]}
        made = AdditiveBoostClassifier(schema=Schema.from_dict({"label": label, "columns": columns}), random_state=0)
        made.fit(X, np.digitize(said, [-0.5, 0.5]))
    assert made.model_.scores.fourier.spread < 0.1
    entries = made.certificate_.entries
    spent = sum(
        e.charge.times * e.charge.charge.precision if isinstance(e.charge, Repeated) else e.charge.precision
        for e in entries
    )
    assert spent == pytest.approx(sum(charge.precision for charge in made.certificate_.charges), rel=0.05)


@pytest.mark.parametrize("kind", ["classes", "number"])
def test_a_score_does_not_depend_on_other_rows(kind):
    model, X = usual(kind)[0].model_, nearly_the_same(6000, 3)
    whole, part = model.contributions(X)[1], model.contributions(X.iloc[4000:4100].reset_index(drop=True))[1]
    assert np.array_equal(whole[4000:4100], part)


@pytest.mark.parametrize("kind", ["classes", "number"])
def test_a_column_with_a_declared_direction_stays_out(kind):
    term = fitted(kind, c={**NUMBER, "monotone": "increasing"})[0].model_.scores.fourier
    assert term is not None
    assert term.features.columns == (0, 1, 3)


@pytest.mark.parametrize("wanted", [False, "pairs"])
def test_whoever_reads_every_curve_does_not_get_it(wanted):
    assert fitted("number", 3000, interactions=wanted)[0].model_.scores.fourier is None


@pytest.mark.parametrize(
    "settings",
    [{"neighbouring": "replace_one"}, {"class_weight": {0: 1.0, 1: 0.5, 2: 0.8}}],
    ids=["replace", "weights"],
)
def test_it_learns_under_replacement_and_with_weights(settings):
    model, X, truth = fitted("classes", **settings)
    names, parts = model.model_.contributions(X)
    smooth = parts[:, names.index(SMOOTH)]
    assert np.corrcoef(smooth[:, 2] - smooth[:, 0], truth)[0, 1] > 0.3
