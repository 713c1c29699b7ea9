"""Every kind of column a schema can declare goes through the default learner, and its model can be read and written."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.encoding.frames import columns_of
from tacit.models.files import model_from_dict
from tacit.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "label": {"column": "y", "classes": ["a", "b", "c"], "positive": ["b", "c"]},
        "columns": {
            "plain": {"kind": "numeric", "lower": 0, "upper": 10},
            "few": {"kind": "numeric", "lower": 0, "upper": 10, "bins": 5},
            "log": {"kind": "numeric", "lower": 0.01, "upper": 1000, "spacing": "log"},
            "cuts": {"kind": "numeric", "lower": 0, "upper": 10, "spacing": [1, 2, 5]},
            "cat": {"kind": "categorical", "categories": ["x", "y", 3]},
            "ord": {"kind": "ordinal", "categories": ["low", "mid", "high"]},
            "flag": {"kind": "boolean"},
            "skip": {"kind": "ignore"},
            "who": {"kind": "id"},
        },
    }
)


def rows(n: int = 3000) -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(0)
    x = generator.uniform(0, 10, n)
    frame = pd.DataFrame(
        {
            "plain": x,
            "few": generator.uniform(0, 10, n),
            "log": np.exp(generator.uniform(-4, 6, n)),
            "cuts": generator.uniform(-1, 11, n),
            "cat": generator.choice(["x", "y", "3", "else"], n),
            "ord": generator.choice(["low", "mid", "high"], n),
            "flag": generator.random(n) < 0.5,
            "skip": "text",
            "who": np.arange(n),
        }
    )
    frame.loc[::50, "plain"] = np.nan
    score = 0.8 * (np.nan_to_num(x) - 5) + 1.0 * (frame["ord"] == "high") - 1.0 * frame["flag"]
    return frame, np.where(generator.random(n) < 1 / (1 + np.exp(-score)), "b", "a")


@pytest.fixture(scope="module")
def fitted():
    frame, labels = rows()
    return AdditiveBoostClassifier(epsilon=8.0, schema=SCHEMA, random_state=0).fit(frame, labels), frame, labels


def test_every_declared_feature_is_in_the_model(fitted):
    model, _, _ = fitted
    assert model.model_.feature_names == ("plain", "few", "log", "cuts", "cat", "ord", "flag")
    assert next(iter(model.model_.importance())) == "plain"


def test_it_predicts_a_declared_class(fitted):
    model, frame, labels = fitted
    assert set(model.predict(frame)) <= {"a", "b"}
    assert (model.predict(frame) == labels).mean() > 0.7


def test_bins_have_edges_or_names(fitted):
    model, _, _ = fitted
    for feature in model.model_.features:
        labels = feature.bin_labels()
        assert len(labels) == feature.n_bins
        if feature.ordered:
            edges = feature.edges()
            assert len(edges) == feature.n_bins
            assert (np.diff(edges) > 0).all()


def test_the_parts_add_up_to_the_score(fitted):
    model, frame, _ = fitted
    names, parts = model.model_.contributions(columns_of(frame))
    assert len(names) == parts.shape[1]
    whole = model.model_.intercept + parts.sum(axis=1)
    assert whole == pytest.approx(model.decision_function(frame))


def test_a_model_comes_back_from_its_file_as_it_was(fitted):
    model, frame, _ = fitted
    text = json.dumps(model.model_.to_dict(), allow_nan=False)
    again = model_from_dict(json.loads(text))
    assert (again.predict_proba(columns_of(frame)) == model.predict_proba(frame)).all()
