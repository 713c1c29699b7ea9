"""Classes in another order than the sorted one: scikit-learn's scores take ``classes_`` to be sorted."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, roc_auc_score

import tacit
from tacit.estimators.classes import in_order

LEARNERS = [
    tacit.AdditiveBoostClassifier,
    tacit.BoostedTreesClassifier,
    tacit.DecisionListClassifier,
    tacit.HalfspaceBoostClassifier,
    tacit.RandomTreesClassifier,
]


def table(n: int = 900, classes: tuple[str, ...] = ("good", "bad")) -> tuple[pd.DataFrame, Any, dict[str, Any]]:
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"a": generator.random(n), "b": generator.random(n)})
    place = np.clip((X["a"] + 0.1 * generator.normal(size=n)) * len(classes), 0, len(classes) - 1e-9).astype(int)
    schema = {
        "label": {"column": "y", "classes": list(classes), **({"positive": classes[1]} if len(classes) == 2 else {})},
        "columns": {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in X},
    }
    return X, np.asarray(classes)[place], schema


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.__name__)
def test_scores_are_those_of_sorted_classes(learner: Any) -> None:
    X, y, schema = table()
    model = learner(epsilon=4.0, schema=schema, random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["bad", "good"]
    assert model.score(X, y) > 0.8
    chances = model.predict_proba(X)
    assert roc_auc_score(y, chances[:, 1]) > 0.9
    assert log_loss(y, chances, labels=model.classes_) < 0.6
    assert (model.predict(X) == model.model_.predict(X)).mean() > 0.99
    if hasattr(model, "decision_function"):
        assert roc_auc_score(y, model.decision_function(X)) > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judged = tacit.private_score(model, X, y, epsilon=float("inf"))
    assert judged["auc"].value == pytest.approx(roc_auc_score(y, chances[:, 1]), abs=0.02)


def test_several_classes_in_their_own_order() -> None:
    X, y, schema = table(2000, ("low", "mid", "high"))
    model = tacit.AdditiveBoostClassifier(epsilon=6.0, schema=schema, random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["high", "low", "mid"]
    assert model.model_.classes == ("low", "mid", "high")
    assert model.score(X, y) > 0.75
    chances = model.predict_proba(X)
    assert log_loss(y, chances, labels=model.classes_) < 0.7
    assert (model.decision_function(X).argmax(axis=1) == chances.argmax(axis=1)).all()
    below, above = np.moveaxis(model.predict_interval(X, 0.9), 2, 0)
    assert ((below <= chances + 0.05) & (chances <= above + 0.05)).mean() > 0.95
    assert model.predict_std(X).shape == chances.shape


def test_intervals_are_about_the_last_of_two_classes() -> None:
    X, y, schema = table()
    model = tacit.AdditiveBoostClassifier(epsilon=2.0, schema=schema, random_state=0).fit(X, y)
    below, above = model.predict_interval(X).T
    chance = model.predict_proba(X)[:, 1]
    assert ((below <= chance) & (chance <= above)).all()


def test_batches_too(tmp_path: Path) -> None:
    X, y, schema = table()
    account = tacit.PrivacyAccount.create(str(tmp_path / "a.db"), "people", 4.0, 1e-6)
    learner = tacit.BatchwiseClassifier(tacit.AdditiveBoostClassifier(epsilon=4.0, schema=schema, account=account))
    learner.fit(X, y)
    again = tacit.BatchwiseClassifier(tacit.AdditiveBoostClassifier(epsilon=4.0, schema=schema, account=account))
    again.resume(learner.model_, learner.certificate_)
    for model in (learner, again):
        assert model.classes_.tolist() == ["bad", "good"]
        assert model.score(X, y) > 0.8
        assert roc_auc_score(y, model.predict_proba(X)[:, 1]) > 0.9
        assert roc_auc_score(y, model.decision_function(X)) > 0.9
        assert model.n_features_in_ == 2


def test_names_that_cannot_be_sorted_stay_as_declared() -> None:
    assert in_order(("b", "a")) == [1, 0]
    assert in_order((True, False)) == [1, 0]
    assert in_order((1, "a")) == [0, 1]
