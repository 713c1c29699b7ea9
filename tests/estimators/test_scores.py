"""`score` and `cross_val_score` read labels as `fit` does; what a fit would misread is refused before the charge."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_score

import tacit
from tacit.online.winnow import Winnow

pytestmark = pytest.mark.filterwarnings("ignore")

X = np.random.default_rng(0).uniform(size=(300, 1))
TRUTH = X[:, 0] > 0.5


def learner(classes: Any = ("no", "yes"), **more: Any) -> Any:
    schema = {
        "label": {"column": "y", "kind": "classes", "classes": list(classes), **more},
        "columns": {"x0": {"kind": "numeric", "lower": 0, "upper": 1}},
    }
    return tacit.DecisionListClassifier(epsilon=50, schema=schema, random_state=0)


WORDS = np.where(TRUTH, "yes", "no")


@pytest.mark.parametrize(
    "y",
    [
        WORDS,
        TRUTH,
        TRUTH.astype(int),
        TRUTH.astype(float),
        WORDS.tolist(),
        pd.Series(WORDS, dtype="category"),
        pl.Series(WORDS),
        pa.array(WORDS),
    ],
    ids=["texts", "truths", "integers", "floats", "list", "categories", "polars", "arrow"],
)
def test_labels_of_any_kind_score_alike(y: Any) -> None:
    fitted = learner().fit(X, WORDS)
    expected = accuracy_score(WORDS, fitted.predict(X))
    assert expected > 0.9
    assert fitted.score(X, y) == expected
    if isinstance(y, np.ndarray):
        assert cross_val_score(learner(), X, y, cv=3).min() > 0.9


def test_labels_that_a_fit_drops_are_left_out() -> None:
    fitted = learner().fit(X, WORDS)
    some = WORDS.astype(object)
    some[:100] = "perhaps"
    some[100:120] = None
    assert fitted.score(X, some) == accuracy_score(WORDS[120:], fitted.predict(X[120:]))
    weights = np.linspace(0.1, 1, 300)
    assert fitted.score(X, WORDS, sample_weight=weights) == pytest.approx(
        accuracy_score(WORDS, fitted.predict(X), sample_weight=weights)
    )
    with pytest.raises(ValueError, match="no label of y is one of the classes"):
        fitted.score(X, np.full(300, "perhaps"))


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("cafe\u0301", "98 of 300 labels .* only in Unicode form"),
        ("CAF\u00c9", "only in case"),
        ("caf\u00e9\u200b", "only in invisible characters"),
        ("perhaps", ""),
    ],
)
@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series, pl.Series, pa.array])
def test_labels_that_only_look_like_a_class_are_said(label: str, words: str, kind: Any) -> None:
    positives = np.arange(300) < 98
    fitted = learner(("no", "caf\u00e9")).fit(X, np.where(TRUTH, "caf\u00e9", "no"))
    labels = kind(np.where(positives, label, "no"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted.score(X, labels)
    assert [re.search(words, str(each.message)) is not None for each in caught] == [True] * bool(words)


def test_sides_of_several_classes_score_by_side() -> None:
    several = np.where(TRUTH, np.where(X[:, 0] > 0.7, "bad", "worse"), "good")
    fitted = learner(("good", "bad", "worse"), positive=["bad", "worse"]).fit(X, several)
    assert fitted.score(X, several) > 0.9
    assert fitted.score(X, TRUTH) == fitted.score(X, several)


def test_a_learner_of_batches_scores_alike() -> None:
    schema = learner().schema
    batches = tacit.BatchwiseClassifier(tacit.AdditiveBoostClassifier(epsilon=50, schema=schema, interactions=False))
    fitted = batches.fit(X, TRUTH)
    assert fitted.score(X, WORDS) == fitted.score(X, TRUTH) > 0.8


@pytest.mark.parametrize(
    "y",
    [
        TRUTH.astype(float),
        TRUTH.astype(np.float32),
        pd.Series(TRUTH.astype(float)).astype("Float64"),
        pl.Series(X[:, 0]),
        pa.array(X[:, 0]),
    ],
    ids=["float64", "float32", "pandas", "polars", "arrow"],
)
def test_a_fractional_target_is_no_class_unless_classes_are_named(y: Any) -> None:
    open_learner = tacit.AdditiveBoostClassifier(epsilon=50, random_state=0, interactions=False)
    with pytest.raises(ValueError, match=r"floating-point numbers.*classes=\(0, 1\).*regressor.*Nothing was spent"):
        open_learner.fit(X, y)
    if isinstance(y, np.ndarray):
        assert open_learner.set_params(classes=(0, 1)).fit(X, y).score(X, y) > 0.8
        assert not hasattr(tacit.AdditiveBoostClassifier().fit(X, TRUTH), "missing")


def test_ignored_dates_are_named_before_the_fit() -> None:
    table = pd.DataFrame({"x": X[:, 0], "seen": pd.Timestamp("2024-01-01"), "born": pd.Timestamp("1990-01-01")})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tacit.AdditiveBoostClassifier(interactions=False).fit(table, TRUTH)
        tacit.AdditiveBoostClassifier(interactions=False).fit(table[["x"]], TRUTH)
    ignored = [str(each.message) for each in caught if "are ignored" in str(each.message)]
    assert len(ignored) == 1
    assert "2 columns, of which the first is 'seen'" in ignored[0]


def test_a_stream_has_the_classes_of_its_schema() -> None:
    schema = learner(("yes", "no"), positive="yes").schema
    stream = Winnow(epsilon=float("inf"), schema=schema, horizon=300, seed=0)
    for row, label in zip(X[:, 0], WORDS, strict=True):
        stream.learn_one({"x0": row}, label)
    assert set(stream.predict_proba_one({"x0": 0.9})) == {"no", "yes"}
    assert [stream.predict_one({"x0": x}) for x in (0.05, 0.95)] == ["no", "yes"]
    assert Winnow(labels=("a", "b"), schema=schema).predict_one({"x0": 0.9}) in ("a", "b")
    assert Winnow(columns=("x0",)).predict_one({"x0": 1}) in (False, True)
    for wrong, words in (
        ({"label": {"column": "y", "kind": "numeric", "lower": 0, "upper": 1}}, "numeric"),
        ({"label": {"column": "y", "kind": "classes", "classes": [1, 2, 3], "positive": [1, 2]}}, "two sides"),
    ):
        with pytest.raises(ValueError, match=words):
            Winnow(schema={**schema, **wrong}).learn_one({"x0": 0.9}, 1)
