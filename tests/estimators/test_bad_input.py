"""Bad input: there is always a model, never a NaN, and never more is spent than was asked for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_regressor

from tacit.additive.estimator import AdditiveBoostClassifier, AdditiveBoostRegressor
from tacit.encoding.frames import columns_of
from tacit.models.files import model_from_dict
from tacit.privacy import accountants
from tacit.privacy.account import PrivacyAccount
from tacit.schema import Schema
from tacit.trees.estimator import BoostedTreesClassifier
from tests.pairwise import pairwise

NUMBER = {"kind": "numeric", "lower": -3, "upper": 3}
TWO = {"column": "y", "classes": ["p", "q"]}
LABELS = {
    "two": TWO,
    "trees": TWO,
    "classes": {"column": "y", "classes": ["p", "q", "r", "s"]},
    "squared": {"column": "y", "kind": "numeric", "lower": -6, "upper": 6},
    "quantile": {"column": "y", "kind": "numeric", "lower": -6, "upper": 6},
}
CLASSES = {kind: described["classes"] for kind, described in LABELS.items() if "classes" in described}
KINDS = sorted(LABELS)
"""The additive learners of two classes, several classes and numbers, and boosted trees."""

BUDGETS = [
    (0.01, 1e-6, "add_or_remove_one"),
    (16.0, 1e-6, "replace_one"),
    (0.3, 0.0, "replace_one"),
    (math.inf, 1e-6, "add_or_remove_one"),
]


def normals(n: int, columns: int = 2) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    return pd.DataFrame(generator.normal(size=(n, columns)), columns=[f"x{j}" for j in range(columns)])


def label(values: Any, kind: str) -> np.ndarray:
    """A label that rises with ``values``."""
    values = np.asarray(values, np.float64)
    if kind not in CLASSES:
        return 2 * values
    names = np.array(CLASSES[kind], object)
    return names[np.clip(np.nan_to_num(values) + len(names) / 2, 0, len(names) - 1).astype(int)]


def one_value(kind: str) -> tuple[pd.DataFrame, np.ndarray, dict[str, Any] | None]:
    return normals(60), label(np.full(60, 1.0), kind), dict.fromkeys(("x0", "x1"), NUMBER)


def constant_columns(kind: str) -> tuple[pd.DataFrame, np.ndarray, dict[str, Any] | None]:
    frame = normals(400).assign(a=1.0, b=math.nan, c="x", d=99.0, e=True)
    kinds = {"a": NUMBER, "b": NUMBER, "d": NUMBER, "e": {"kind": "boolean"}}
    kinds["c"] = {"kind": "categorical", "categories": ["x"]}
    return frame[list(kinds)], label(frame["x0"], kind), kinds


def ten_thousand_categories(kind: str) -> tuple[pd.DataFrame, np.ndarray, dict[str, Any] | None]:
    frame = normals(2000)
    frame["c"] = [f"c{code}" for code in np.random.default_rng(1).integers(0, 10_000, 2000)]
    categories = [f"c{code}" for code in range(10_000)]
    kinds = {"x0": NUMBER, "c": {"kind": "categorical", "categories": categories, "allow": "identifier"}}
    return frame, label(frame["x0"], kind), kinds


def unlisted_categories(kind: str) -> tuple[pd.DataFrame, np.ndarray, dict[str, Any] | None]:
    frame = normals(2000)
    frame["c"] = [f"c{code}" for code in range(2000)]
    return frame, label(frame["x0"], kind), None


def duplicates_of_the_label(kind: str) -> tuple[pd.DataFrame, np.ndarray, dict[str, Any] | None]:
    values = np.random.default_rng(2).integers(-2, 2, 1500).astype(float)
    frame = pd.DataFrame({"a": values, "b": values > 0, "c": np.where(values > 0, "u", "v"), "d": -values})
    kinds = {"a": NUMBER, "b": {"kind": "boolean"}, "c": {"kind": "categorical", "categories": ["u", "v"]}, "d": NUMBER}
    return frame, label(values, kind), kinds


def more_columns_than_rows(kind: str) -> tuple[pd.DataFrame, np.ndarray, dict[str, Any] | None]:
    frame = normals(30, 40)
    return frame, label(frame["x0"], kind), dict.fromkeys(frame, NUMBER)


def hostile_values(kind: str) -> tuple[pd.DataFrame, np.ndarray, dict[str, Any] | None]:
    values = np.resize([math.nan, math.inf, -math.inf, 1e308, -1e-308, 0.0], 300)
    frame = pd.DataFrame({"a": values, "b": values[::-1]})
    return frame, label(values, kind) if kind in CLASSES else values, None


def unknown_labels(kind: str) -> tuple[pd.DataFrame, np.ndarray, dict[str, Any] | None]:
    labels = np.full(300, "elsewhere", object) if kind in CLASSES else np.full(300, math.nan)
    return normals(300), labels, dict.fromkeys(("x0", "x1"), NUMBER)


def one_outlier(kind: str) -> tuple[pd.DataFrame, np.ndarray, dict[str, Any] | None]:
    labels = label(normals(300)["x0"], kind)
    labels[7] = "q" if kind in CLASSES else 1e12
    return normals(300), labels, None


TABLES = {
    made.__name__: made
    for made in (
        one_value, constant_columns, ten_thousand_categories, unlisted_categories, duplicates_of_the_label,
        more_columns_than_rows, hostile_values, unknown_labels, one_outlier,
    )
}  # fmt: skip


def learner(kind: str, columns: dict[str, Any] | None, epsilon: float, delta: float, relation: str) -> Any:
    schema = None if columns is None else Schema.from_dict({"label": LABELS[kind], "columns": columns})
    arguments = {"epsilon": epsilon, "delta": delta, "neighbouring": relation, "schema": schema}
    if kind in CLASSES:
        names = tuple(CLASSES[kind]) if columns is None and delta == 0 else None  # finding them takes a delta
        if kind == "trees":
            return BoostedTreesClassifier(n_trees=40, classes=names, **arguments)
        return AdditiveBoostClassifier(classes=names, **arguments)
    return AdditiveBoostRegressor(loss=kind, quantile=0.9 if kind == "quantile" else 0.5, **arguments)


def check(model: Any, frame: pd.DataFrame, epsilon: float, delta: float) -> None:
    numbers = is_regressor(model)
    said = model.predict(frame) if numbers else model.predict_proba(frame)
    assert np.isfinite(said).all()
    assert np.isfinite(model.predict_std(frame)).all()
    assert np.isfinite(model.predict_interval(frame)).all()
    if not numbers:
        assert said.sum(axis=1) == pytest.approx(np.ones(len(frame)))
        assert (said >= 0).all()
    certificate = model.certificate_
    if math.isfinite(epsilon):
        assert certificate.verify() == []
        assert accountants.epsilon([entry.charge for entry in certificate.entries], delta) <= epsilon * (1 + 1e-9)
        assert certificate.epsilon <= epsilon * (1 + 1e-9)
    again = model_from_dict(model.model_.to_dict())
    columns = columns_of(frame)
    assert ((again.predict(columns) if numbers else again.predict_proba(columns)) == said).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(("name", "kind", "budget"), pairwise(sorted(TABLES), KINDS, BUDGETS))
def test_there_is_always_a_model(name, kind, budget):
    epsilon, delta, relation = budget
    frame, labels, columns = TABLES[name](kind)
    if columns is None and delta == 0:
        frame = frame.select_dtypes("number")
    check(learner(kind, columns, epsilon, delta, relation).fit(frame, labels), frame, epsilon, delta)


@pytest.mark.filterwarnings("error::RuntimeWarning", "ignore:every sample_weight is so small:UserWarning")
@pytest.mark.parametrize(
    ("n", "kind", "declared", "weighted"), pairwise([0, 1, 2, 49], KINDS, [True, False], [False, True])
)
def test_fewer_than_fifty_rows(n, kind, declared, weighted):
    frame = normals(n)
    asked = pd.DataFrame({"x0": [0.0, math.nan, 9.0], "x1": [1.0, -1.0, 0.0]})
    for epsilon, delta in ((0.05, 1e-6), (16.0, 1e-6), (1.0, 0.0)):
        model = learner(kind, dict.fromkeys(("x0", "x1"), NUMBER) if declared else None, epsilon, delta, "replace_one")
        weights = np.full(n, 1e-5) if weighted else None
        if weighted and kind in CLASSES:
            model.set_params(class_weight="balanced")
        check(model.fit(frame, label(frame["x0"], kind), sample_weight=weights), asked, epsilon, delta)


def test_one_class_of_few_rows_is_near_the_prior():
    """All are positive, which noise of more than 40 rows may hide."""
    declared = {"label": LABELS["two"], "columns": dict.fromkeys(("x0", "x1"), NUMBER)}
    ranges = []
    for seed in range(8):
        model = AdditiveBoostClassifier(epsilon=0.1, schema=declared, random_state=seed)
        chances = model.fit(normals(40), np.full(40, "q", object)).predict_proba(normals(40))[:, 1]
        ranges.append(np.ptp(chances))
    assert np.mean(ranges) < 0.6  # .06 to .44, by .15: seven standard errors


def test_an_account_never_pays_more_than_was_asked_for(tmp_path):
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "bad", 100.0, 1e-5, "add_or_remove_one")
    before = 0.0
    for made in (one_value, constant_columns, unlisted_categories, hostile_values):
        frame, labels, columns = made("two")
        learner("two", columns, 0.5, 1e-6, "add_or_remove_one").set_params(account=account).fit(frame, labels)
        assert account.spent - before <= 0.5
        before = account.spent
    assert {line.status for line in account.reservations()} == {"completed"}
