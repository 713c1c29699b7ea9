"""What scikit-learn does around a private learner is said where it happens; what is offered instead reads no rows."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import tacit
from tacit.estimators.callers import GuaranteeVoidWarning

SCHEMA = {"columns": {name: {"kind": "numeric", "lower": -3, "upper": 3} for name in ("x0", "x1")}}
MIXED = {
    "columns": {
        "age": {"kind": "numeric", "lower": 0, "upper": 100},
        "ward": {"kind": "categorical", "categories": ["north", "south"]},
        "ill": {"kind": "boolean"},
    }
}
X = np.random.default_rng(0).uniform(size=(300, 2))
y = (X[:, 0] > 0.5).astype(int)
BOTH = np.stack([y, y], axis=1)
TABLE = dict(zip(("x0", "x1"), X.T, strict=True))


def learner(**more: Any) -> Any:
    return tacit.DecisionListClassifier(schema=SCHEMA, classes=(0, 1), **more)


@pytest.mark.parametrize(
    ("fit", "words", "whoever_pays"),
    [
        (lambda one: make_pipeline(StandardScaler(), one).fit(X, y), "the step StandardScaler", True),
        (lambda one: make_pipeline(tacit.DeclaredScaler(SCHEMA), Normalizer(), one).fit(TABLE, y), "", True),
        (lambda one: one.fit(X, y), "", True),
        (lambda one: GridSearchCV(one, {"epsilon": [0.5, 1.0]}, cv=2).fit(X, y), "again and again|5 times", True),
        (lambda one: cross_val_score(one, X, y, cv=2), "again and again", False),
        (lambda one: CalibratedClassifierCV(one, cv=2).fit(X, y), "tacit.recalibrate", True),
        (lambda one: BaggingClassifier(one, 2).fit(X, y), "bootstrap=False", True),
        (lambda one: BaggingClassifier(one, 2, bootstrap=False).fit(X, y), "Give all of them one account", False),
        (lambda one: OneVsRestClassifier(one).fit(X, y), "Give all of them one account", False),
        (lambda one: MultiOutputClassifier(one).fit(X, BOTH), "Give all of them one account", False),
    ],
)
def test_what_is_done_around_a_fit_is_said(fit: Any, words: str, whoever_pays: bool, tmp_path: Path) -> None:
    """Rows that were drawn three times, say, are protected by a third of what every certificate says."""
    account = tacit.PrivacyAccount.create(str(tmp_path / "b.db"), "x", 100.0, 1e-4)
    for payer in (None, account):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit(learner(account=payer))
        said = [str(each.message) for each in caught if issubclass(each.category, GuaranteeVoidWarning)]
        assert bool(said) is (words != "" and (payer is None or whoever_pays))
        assert all(re.search(words, each) for each in said)


@pytest.mark.parametrize(
    "kind", [tacit.AdditiveBoostClassifier, tacit.DecisionListClassifier, tacit.RandomTreesClassifier]
)
def test_what_a_fit_does_not_take_is_refused_in_words(kind: Any) -> None:
    for name in ("offset", "eval_set"):
        with pytest.raises(ValueError, match=f"no {name}; .*a column of X.*Nothing was spent"):
            kind(schema=SCHEMA, classes=(0, 1)).fit(X, y, **{name: X})


def test_a_declared_transformer_of_some_columns_says_how() -> None:
    with pytest.raises(ValueError, match=r"lacks the column 'ward'.*schema of those"):
        tacit.DeclaredEncoder(MIXED).fit({"ill": [True, False]})


@settings(max_examples=50, deadline=None)
@given(
    ages=st.lists(st.floats(-1e3, 1e3) | st.just(float("nan")), min_size=2, max_size=8),
    words=st.lists(st.sampled_from(["north", "south", "moon", ""]), min_size=8, max_size=8),
)
def test_declared_transformers_work_row_by_row(ages: list[float], words: list[str]) -> None:
    """Without its last row, a table's other rows come out as they were."""
    rows = {"age": np.array(ages), "ward": np.array(words[: len(ages)]), "ill": np.arange(len(ages)) % 2 == 0}
    fewer = {name: column[:-1] for name, column in rows.items()}
    for transformer in (tacit.DeclaredScaler(MIXED), tacit.DeclaredEncoder(MIXED)):
        whole = transformer.fit(rows).transform(rows)
        assert np.array_equal(whole[:-1], transformer.fit(fewer).transform(fewer), equal_nan=True)
        assert whole.shape[1] == len(transformer.get_feature_names_out())
        known = whole[~np.isnan(whole)]
        assert ((known >= 0) & (known <= 1)).all()


def test_every_row_is_in_one_category() -> None:
    rows = {"age": np.zeros(3), "ward": np.array(["south", "moon", None], dtype=object), "ill": [True, False, None]}
    encoded = tacit.DeclaredEncoder(MIXED).fit(rows).transform(rows)
    names = tacit.DeclaredEncoder(MIXED).fit(rows).get_feature_names_out()
    assert [[names[i] for i in np.flatnonzero(row)] for row in encoded] == [
        ["ward=south", "ill=True"],
        ["ward=(other)", "ill=False"],
        ["ward=(missing)", "ill=(missing)"],
    ]


def test_a_private_search_takes_a_grid() -> None:
    weights, trees = [None, {0: 1.0, 1: 2.0}], tacit.BoostedTreesClassifier(schema=SCHEMA, classes=(0, 1), n_trees=4)
    search = tacit.PrivateSelection.over_grid(trees, {"class_weight": weights}, epsilon=2.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y)
    assert [candidate.class_weight for candidate in search.candidates] == weights
    assert search.best_.class_weight == weights[search.best_index_]
    assert search.certificate_.epsilon <= 2.0 * (1 + 1e-9)
    assert search.certificate_.verify() == []
    assert search.predict(X).shape == (300,)
    for wrong in ({"epsilon": [1.0]}, {}):
        with pytest.raises(ValueError, match="at least two candidates"):
            tacit.PrivateSelection.over_grid(learner(), wrong).fit(X, y)
    with pytest.raises(ValueError, match="must be an estimator"):
        tacit.PrivateSelection.over_grid(None, {"epsilon": [1.0, 2.0]})


def test_mistakes_of_declared_transformers() -> None:
    for transformer, words in (
        (tacit.DeclaredScaler(), "needs a schema"),
        (tacit.DeclaredEncoder(SCHEMA), "declares no column"),
        (tacit.DeclaredScaler({"columns": {"z": {"kind": "numeric", "lower": 0, "upper": 1}}}), "lacks the column 'z'"),
    ):
        with pytest.raises(ValueError, match=words):
            transformer.fit({"x0": np.zeros(3)})
