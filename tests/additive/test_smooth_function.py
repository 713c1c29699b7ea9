"""The smooth function of all columns, in whole fits: what it sees, where it stays out, and how it is kept."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from tacit import AdditiveBoostClassifier, AdditiveBoostRegressor, Schema
from tacit.additive.boost import AdditiveBoost
from tacit.additive.tuning import TUNING
from tacit.models.additive import SMOOTH
from tacit.models.files import model_from_dict
from tacit.privacy.charges import Repeated

NUMBER = {"kind": "numeric", "lower": -4, "upper": 4}
CATEGORY = {"kind": "categorical", "categories": ["p", "q", "r"]}


def schema(**changed: dict) -> Schema:
    columns = {"a": NUMBER, "b": NUMBER, "c": NUMBER, "d": CATEGORY, **changed}
    return Schema.from_dict({"label": {"column": "y", "classes": [0, 1], "positive": 1}, "columns": columns})


def light_for_its_size(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Three columns that are nearly the same; what counts is their differences, in a curve."""
    generator = np.random.default_rng(seed)
    common, own = generator.normal(size=n), generator.normal(size=(3, n))
    X = pd.DataFrame((0.95 * common + 0.3 * own).T, columns=list("abc"))
    X["d"] = generator.choice(["p", "q", "r"], n)
    X.loc[X.index % 50 == 0, "c"] = math.nan
    odds = 2.5 * np.sin(1.5 * (own[0] - own[1])) + (X["d"] == "q")
    return X, (generator.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


def fitted(n: int = 3000, kind: Schema | None = None, **settings) -> AdditiveBoostClassifier:
    X, y = light_for_its_size(n, 0)
    chosen = {"epsilon": 2.0, "random_state": 0, **settings}
    return AdditiveBoostClassifier(schema=kind or schema(), **chosen).fit(X, y)


@cache
def usual() -> AdditiveBoostClassifier:
    """One fit, for tests that change nothing."""
    return fitted()


def test_it_sees_small_differences_of_columns_that_vary_together(monkeypatch):
    X, y = light_for_its_size(3000, 1)
    with_it = roc_auc_score(y, fitted(8000).predict_proba(X)[:, 1])
    planning = replace(AdditiveBoost.tuning.planning, fourier_part=0.0)
    monkeypatch.setattr(AdditiveBoost, "tuning", replace(AdditiveBoost.tuning, planning=planning))
    without = fitted(8000)
    assert without.model_.fourier is None
    assert with_it > roc_auc_score(y, without.predict_proba(X)[:, 1]) + 0.03


def test_terms_add_up_to_the_score_and_a_file_keeps_them():
    model, (X, _) = usual().model_, light_for_its_size(400, 2)
    names, parts = model.contributions(X)
    assert SMOOTH in names
    np.testing.assert_allclose(model.intercept + parts.sum(axis=1), model.decision_function(X), atol=1e-9)
    again = model_from_dict(json.loads(json.dumps(model.to_dict())))
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert np.array_equal(again.score_variance(X), model.score_variance(X))
    spread = parts[:, names.index(SMOOTH)].std()
    assert 0.7 < model.importance()[SMOOTH] / spread < 1.4


def test_a_score_does_not_depend_on_other_rows():
    model, (X, _) = usual().model_, light_for_its_size(6000, 3)
    whole = model.decision_function(X)
    assert np.array_equal(whole[4000:4100], model.decision_function(X.iloc[4000:4100].reset_index(drop=True)))


def test_every_step_is_in_the_certificate():
    certificate = usual().certificate_
    labels = [entry.label for entry in certificate.entries]
    assert labels.count("how columns vary together") == 1
    assert sum(label.startswith("smooth function step") for label in labels) == TUNING.growing.smooth.steps


def test_a_column_with_a_declared_direction_stays_out():
    term = fitted(8000, schema(c={**NUMBER, "monotone": "increasing"}), epsilon=4.0).model_.fourier
    assert term is not None
    assert term.features.columns == (0, 1, 3)


def test_where_every_column_has_a_declared_direction_there_is_nothing_to_look_at():
    """Trees would come next: there is nothing to cut, and columns have the rest."""
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.uniform(-4, 4, (6000, 2)), columns=["a", "b"])
    y = (generator.random(6000) < 1 / (1 + np.exp(-3 * (X["a"] + X["b"])))).astype(int)
    rising = {**NUMBER, "monotone": "increasing"}
    label = {"column": "y", "classes": [0, 1], "positive": 1}
    known = Schema.from_dict({"label": label, "columns": {"a": rising, "b": rising}})
    made = AdditiveBoostClassifier(epsilon=4.0, schema=known, random_state=0).fit(X, y)
    assert (made.model_.fourier, len(made.model_.trees)) == (None, 0)
    assert roc_auc_score(y, made.decision_function(X)) > 0.97
    labels = [entry.label for entry in made.certificate_.entries]
    assert labels.count("a, sweep 1") == 2


@pytest.mark.parametrize("wanted", [False, "pairs"])
def test_whoever_reads_every_curve_does_not_get_it(wanted):
    assert fitted(interactions=wanted).model_.fourier is None


@pytest.mark.parametrize(
    "settings", [{"neighbouring": "replace_one"}, {"class_weight": {0: 1.0, 1: 0.5}}], ids=["replace", "weights"]
)
def test_it_learns_under_replacement_and_with_weights(settings):
    X, y = light_for_its_size(3000, 1)
    model = fitted(8000, **settings)
    names, parts = model.model_.contributions(X)
    assert roc_auc_score(y, parts[:, names.index(SMOOTH)]) > 0.6


# Several classes, and a number.


def of_scores(kind: str, n: int = 6000, seed: int = 0, **settings):
    """A fit to three classes, or to a number, that follow from differences of columns; and rows with what is true."""
    X, _ = light_for_its_size(n, seed)
    generator = np.random.default_rng(seed + 100)
    truth = np.sin(4.0 * (X["a"] - X["b"]).to_numpy())
    said = truth + 0.5 * generator.normal(size=n)
    chosen = {"epsilon": 4.0, "random_state": 0, **settings}
    columns = {"a": NUMBER, "b": NUMBER, "c": NUMBER, "d": CATEGORY}
    if kind == "number":
        label = {"column": "y", "kind": "numeric", "lower": -3, "upper": 3}
        known = Schema.from_dict({"label": label, "columns": columns})
        return AdditiveBoostRegressor(schema=known, **chosen).fit(X, np.clip(said, -3, 3)), X, truth
    known = Schema.from_dict({"label": {"column": "y", "classes": [0, 1, 2]}, "columns": columns})
    return AdditiveBoostClassifier(schema=known, **chosen).fit(X, np.digitize(said, [-0.5, 0.5])), X, truth


@cache
def usual_of_scores(kind: str):
    """One fit of each kind, for tests that change nothing."""
    return of_scores(kind)


@pytest.mark.parametrize("kind", ["classes", "number"])
def test_several_classes_and_numbers_gain_by_it(kind, monkeypatch):
    model, _, _ = usual_of_scores(kind)
    X, truth = of_scores(kind, 500, 5)[1:]

    def closeness(fit) -> float:
        scores = fit.model_.contributions(X)[1].sum(axis=1)
        return float(np.corrcoef(scores[:, -1] - (scores[:, 0] if kind == "classes" else 0.0), truth)[0, 1])

    assert model.model_.scores.fourier is not None
    for learner in (AdditiveBoost, AdditiveBoostRegressor):
        planning = replace(learner.tuning.planning, smooth_part=0.0)
        monkeypatch.setattr(learner, "tuning", replace(learner.tuning, planning=planning))
    without, _, _ = of_scores(kind)
    assert without.model_.scores.fourier is None
    assert closeness(model) > closeness(without) + 0.03


@pytest.mark.parametrize("kind", ["classes", "number"])
def test_scores_with_it_add_up_and_a_file_keeps_them(kind):
    model, X, _ = usual_of_scores(kind)
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
