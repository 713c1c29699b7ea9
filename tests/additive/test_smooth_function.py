"""The smooth function of all columns, in whole fits: what it sees, where it stays out, and how it is kept."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from tacit import AdditiveBoostClassifier, Schema
from tacit.additive.boost import AdditiveBoost
from tacit.additive.tuning import PLANNING, TUNING
from tacit.growing.fourier import STEPS
from tacit.models.additive import SMOOTH
from tacit.models.files import model_from_dict

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


def test_it_sees_small_differences_of_columns_that_vary_together(monkeypatch):
    X, y = light_for_its_size(3000, 1)
    with_it = roc_auc_score(y, fitted(8000).predict_proba(X)[:, 1])
    monkeypatch.setattr(AdditiveBoost, "tuning", replace(TUNING, planning=replace(PLANNING, fourier_part=0.0)))
    without = fitted(8000)
    assert without.model_.fourier is None
    assert with_it > roc_auc_score(y, without.predict_proba(X)[:, 1]) + 0.03


def test_terms_add_up_to_the_score_and_a_file_keeps_them():
    model, (X, _) = fitted().model_, light_for_its_size(400, 2)
    names, parts = model.contributions(X)
    assert SMOOTH in names
    np.testing.assert_allclose(model.intercept + parts.sum(axis=1), model.decision_function(X), atol=1e-9)
    again = model_from_dict(json.loads(json.dumps(model.to_dict())))
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert np.array_equal(again.score_variance(X), model.score_variance(X))
    spread = parts[:, names.index(SMOOTH)].std()
    assert 0.7 < model.importance()[SMOOTH] / spread < 1.4


def test_a_score_does_not_depend_on_other_rows():
    model, (X, _) = fitted().model_, light_for_its_size(6000, 3)
    whole = model.decision_function(X)
    assert np.array_equal(whole[4000:4100], model.decision_function(X.iloc[4000:4100].reset_index(drop=True)))


def test_every_step_is_in_the_certificate():
    certificate = fitted().certificate_
    labels = [entry.label for entry in certificate.entries]
    assert labels.count("how columns vary together") == 1
    assert labels.count("unexplained variance") == 1
    assert sum(label.startswith("smooth function step") for label in labels) == STEPS


def test_a_column_with_a_declared_direction_stays_out():
    term = fitted(8000, schema(c={**NUMBER, "monotone": "increasing"}), epsilon=4.0).model_.fourier
    assert term is not None
    assert term.features.columns == (0, 1, 3)


def test_where_every_column_has_a_declared_direction_there_is_nothing_to_look_at():
    """Labels that follow so well that trees would come next: there is nothing to cut, and columns have the rest."""
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
    assert any("sweep" in label for label in labels[labels.index("unexplained variance") :])


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
