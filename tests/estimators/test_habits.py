"""What people do with estimators and models without a second thought."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit import (
    AdditiveBoostClassifier,
    AdditiveBoostRegressor,
    BoostedTreesClassifier,
    DecisionListClassifier,
    HalfspaceBoostClassifier,
    PrivateSelection,
    RandomTreesClassifier,
    load_model,
    save_model,
)
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.request import RequestError
from tests.pairwise import pairwise

CLASSIFIERS: list[Any] = [
    AdditiveBoostClassifier,
    partial(BoostedTreesClassifier, n_trees=20),
    DecisionListClassifier,
    HalfspaceBoostClassifier,
    RandomTreesClassifier,
]
NAMES = ("a", "b", "c")


def table() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    matrix = generator.normal(size=(400, 3))
    return matrix, (matrix[:, 0] > 0).astype(int)


def bounds(names: Any = NAMES) -> dict[str, Any]:
    columns = {str(name): {"kind": "numeric", "lower": -4, "upper": 4} for name in names}
    return {"label": {"column": "y", "classes": [0, 1]}, "columns": columns}


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_columns_numbered_by_pandas(learner: Any) -> None:
    matrix, labels = table()
    numbered = pd.DataFrame(matrix)
    named = numbered.rename(columns=str)
    fitted = learner(epsilon=2.0, random_state=3, schema=bounds(range(3))).fit(numbered, labels)
    same = learner(epsilon=2.0, random_state=3, schema=bounds(range(3))).fit(named, labels)
    np.testing.assert_array_equal(fitted.predict_proba(numbered), same.predict_proba(named))
    learner(epsilon=2.0, random_state=3, classes=(0, 1)).fit(numbered, labels).predict_proba(numbered[:1])


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_a_loaded_model_predicts_from_any_table(learner: Any, tmp_path: Path) -> None:
    matrix, labels = table()
    frame = pd.DataFrame(matrix, columns=NAMES)
    fitted = learner(epsilon=2.0, random_state=3, schema=bounds()).fit(frame, labels)
    save_model(fitted.model_, tmp_path / "m.json", fitted.certificate_.to_dict())
    model, _ = load_model(tmp_path / "m.json")
    expected = fitted.predict_proba(frame)
    arrow = pa.table({name: matrix[:, j] for j, name in enumerate(NAMES)})
    columns = {name: matrix[:, j] for j, name in enumerate(NAMES)}
    for rows in (frame, frame[["c", "b", "a"]], pl.from_pandas(frame), arrow, columns):
        np.testing.assert_array_equal(model.predict_proba(rows), expected)
        np.testing.assert_array_equal(model.predict(rows), fitted.predict(frame))
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(model.predict_proba(matrix), expected)
    assert "0, 1" in repr(model)
    assert len(repr(model)) < 100
    with pytest.raises(ValueError, match=r"'a'|columns"):
        model.predict_proba(frame.drop(columns="a") if "a" in model.feature_names else matrix[:, :1])


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_columns_named_like_a_matrix_s_in_another_order_go_by_position_too(learner: Any) -> None:
    matrix, labels = table()
    frame = pd.DataFrame(matrix, columns=["x2", "x0", "x1"])
    fitted = learner(epsilon=8.0, random_state=3, schema=bounds(frame.columns)).fit(frame, labels)
    with pytest.warns(UserWarning, match="valid feature names"):
        expected = fitted.predict_proba(matrix)
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(fitted.model_.predict_proba(matrix), expected)
    np.testing.assert_array_equal(fitted.predict_proba(frame), expected)


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_a_table_goes_by_position_where_a_matrix_was_learned_from(learner: Any) -> None:
    matrix, labels = table()
    frame = pd.DataFrame(matrix, columns=NAMES)
    fitted = learner(epsilon=8.0, random_state=3, classes=(0, 1)).fit(frame, labels).fit(matrix, labels)
    assert not hasattr(fitted, "feature_names_in_")
    expected = fitted.predict_proba(matrix)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        np.testing.assert_array_equal(fitted.predict_proba(frame), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(fitted.predict_proba(pd.DataFrame(matrix)), expected)
        by_name = pd.DataFrame(matrix, columns=["x0", "x1", "x2"])[["x2", "x1", "x0"]]
        np.testing.assert_array_equal(fitted.predict_proba(by_name), expected)


def test_a_search_takes_a_matrix_by_position_too() -> None:
    matrix, labels = table()
    frame = pd.DataFrame(matrix, columns=NAMES)
    candidates = [RandomTreesClassifier(schema=bounds(), n_trees=n_trees) for n_trees in (4, 8)]
    search = PrivateSelection(candidates, epsilon=2.0, random_state=0).fit(frame, labels)
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(search.predict(matrix), search.predict(frame))


def test_a_matrix_goes_by_position_with_a_warning() -> None:
    matrix, labels = table()
    frame = pd.DataFrame(matrix, columns=NAMES)
    fitted = AdditiveBoostClassifier(epsilon=2.0, random_state=3, schema=bounds()).fit(frame, labels)
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(fitted.predict_proba(matrix), fitted.predict_proba(frame))
    with pytest.raises(ValueError, match="2 features"):
        fitted.predict_proba(matrix[:, :2])
    others = pd.DataFrame(matrix, columns=["x0", "x1", "x2"])
    with pytest.raises(ValueError, match="'a'"):  # a table with other names is another table
        fitted.predict_proba(others)


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_a_text_lists_no_classes(learner: Any) -> None:
    with pytest.raises(RequestError, match="'ny'"):
        learner(epsilon=2.0, classes="ny").fit(*table())


@pytest.mark.parametrize("kind", [bool, "boolean"])
def test_truth_values_stay_what_they_are(kind: Any) -> None:
    matrix, labels = table()
    fitted = AdditiveBoostClassifier(epsilon=8.0, random_state=3).fit(matrix, pd.Series(labels == 1, dtype=kind))
    assert fitted.classes_.dtype == bool
    numbers = AdditiveBoostClassifier(epsilon=8.0, random_state=3, classes=(0, 1)).fit(matrix, labels)
    np.testing.assert_array_equal(fitted.predict(matrix), numbers.predict(matrix) == 1)


def test_complex_numbers_are_ignored_or_refused() -> None:
    matrix, labels = table()
    frame = pd.DataFrame(matrix, columns=NAMES).assign(z=matrix[:, 0] + 1j)
    fitted = AdditiveBoostClassifier(epsilon=2.0, random_state=3).fit(frame, labels)
    assert fitted.model_.feature_names == NAMES
    for declared in ({"kind": "numeric", "lower": 0, "upper": 1}, {"kind": "categorical", "categories": ["u", "v"]}):
        schema = bounds() | {"columns": {"z": declared}}
        with pytest.raises(ValueError, match=r"'z'.*Nothing was spent"):
            AdditiveBoostClassifier(epsilon=2.0, schema=schema).fit(frame, labels)


@pytest.mark.parametrize(
    ("weights", "words"), [(np.ones((2, 2)), "vector"), (np.full(400, np.nan), "every row needs a weight")]
)
def test_wrong_weights_are_told_once_that_nothing_was_spent(weights: np.ndarray, words: str) -> None:
    with pytest.raises(RequestError, match=words) as refusal:
        AdditiveBoostClassifier(epsilon=1.0).fit(*table(), sample_weight=weights)
    assert str(refusal.value).count("Nothing was spent.") == 1


def test_what_is_no_account_is_refused_by_name() -> None:
    matrix, labels = table()
    for learner in CLASSIFIERS:
        with pytest.raises(RequestError, match=r"give PrivacyAccount\(url, dataset\).*Nothing was spent"):
            learner(account="sqlite:///a.db").fit(matrix, labels)


@pytest.mark.parametrize(
    ("learner", "epsilon", "delta"),
    pairwise([*CLASSIFIERS, AdditiveBoostRegressor], [1e-300, 1e-12, 1e-6, 1e6, 1e300], [0.0, 1e-6]),
)
def test_an_epsilon_beyond_what_integers_hold_is_refused_before_it_is_charged(
    learner: Any, epsilon: float, delta: float, tmp_path: Path
) -> None:
    matrix, labels = (part[:40] for part in table())
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1e9, 1e-6)
    named = {} if learner is AdditiveBoostRegressor else {"classes": (0, 1)}
    try:
        learner(epsilon=epsilon, delta=delta, account=account, random_state=0, **named).fit(matrix, labels)
    except RequestError as error:
        assert "epsilon" in str(error)  # noqa: PT017
        assert account.spent == 0
    assert 1e-9 <= epsilon <= 1e9 or account.spent == 0


def test_saving_takes_a_certificate_as_it_is_and_says_what_a_model_is(tmp_path: Path) -> None:
    matrix, labels = table()
    fitted = RandomTreesClassifier(epsilon=2.0, random_state=3, classes=(0, 1)).fit(matrix, labels)
    save_model(fitted.model_, tmp_path / "m.json", fitted.certificate_)
    assert load_model(tmp_path / "m.json")[1] == fitted.certificate_.to_dict()
    with pytest.raises(TypeError, match="give its model_"):
        save_model(fitted, tmp_path / "n.json")
    with pytest.raises(TypeError, match="give the certificate_"):
        save_model(fitted.model_, tmp_path / "n.json", "certificate")
    assert not (tmp_path / "n.json").exists()


def test_a_search_wants_a_list() -> None:
    with pytest.raises(RequestError, match=r"list of estimators, such as \[first, second\]"):
        PrivateSelection(RandomTreesClassifier()).fit(*table())
