"""Bad input for the default learner: always a model, never a number that is none, never more spent than asked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.encoding.frames import columns_of
from tacit.models.files import model_from_dict
from tacit.privacy import accountants
from tacit.privacy.account import PrivacyAccount
from tacit.schema import Schema
from tacit.trees.estimator import BoostedTreesClassifier
from tests.pairwise import pairwise

LEARNERS = {"additive": AdditiveBoostClassifier(), "trees": BoostedTreesClassifier(n_trees=40)}
NAMES = list(LEARNERS)
NUMBER = {"kind": "numeric", "lower": -3, "upper": 3}


def schema(columns: dict[str, Any]) -> Schema:
    return Schema.from_dict({"label": {"column": "y", "classes": [0, 1]}, "columns": columns})


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def one_class(n: int = 60) -> tuple[pd.DataFrame, np.ndarray, Schema | None]:
    return pd.DataFrame({"a": generator().normal(size=n)}), np.ones(n, int), schema({"a": NUMBER})


def constant_columns(n: int = 500) -> tuple[pd.DataFrame, np.ndarray, Schema | None]:
    frame = pd.DataFrame({"a": np.full(n, 1.0), "b": np.full(n, math.nan), "c": "x", "d": np.full(n, 99.0)})
    kinds = {"a": NUMBER, "b": NUMBER, "c": {"kind": "categorical", "categories": ["x", "y"]}, "d": NUMBER}
    return frame, generator().integers(0, 2, n), schema(kinds)


def ten_thousand_categories(n: int = 3000) -> tuple[pd.DataFrame, np.ndarray, Schema | None]:
    codes = generator().integers(0, 10_000, n)
    frame = pd.DataFrame({"a": [f"c{code}" for code in codes], "b": generator().normal(size=n)})
    categories = [f"c{code}" for code in range(10_000)]
    kinds = {"a": {"kind": "categorical", "categories": categories, "allow": "identifier"}, "b": NUMBER}
    return frame, (frame["b"] > 0).to_numpy().astype(int), schema(kinds)


def unlisted_categories(n: int = 3000) -> tuple[pd.DataFrame, np.ndarray, Schema | None]:
    frame = pd.DataFrame({"a": [f"c{code}" for code in range(n)], "b": generator().normal(size=n)})
    return frame, (frame["b"] > 0).to_numpy().astype(int), None


def duplicates_of_the_label(n: int = 2000) -> tuple[pd.DataFrame, np.ndarray, Schema | None]:
    labels = generator().integers(0, 2, n)
    frame = pd.DataFrame({"a": labels, "b": labels == 1, "c": np.where(labels == 1, "p", "n"), "d": -2.0 * labels})
    kinds = {"a": NUMBER, "b": {"kind": "boolean"}, "c": {"kind": "categorical", "categories": ["n", "p"]}, "d": NUMBER}
    return frame, labels, schema(kinds)


def many_columns(n: int = 100) -> tuple[pd.DataFrame, np.ndarray, Schema | None]:
    frame = pd.DataFrame(generator().normal(size=(n, 100)), columns=[f"x{j}" for j in range(100)])
    return frame, generator().integers(0, 2, n), schema(dict.fromkeys(frame, NUMBER))


def hostile_values(n: int = 300) -> tuple[pd.DataFrame, np.ndarray, Schema | None]:
    values = np.resize([math.nan, math.inf, -math.inf, 1e308, -1e-308, 0.0], n)
    return pd.DataFrame({"a": values, "b": values[::-1]}), generator().integers(0, 2, n), None


def one_percent(n: int = 1000) -> tuple[pd.DataFrame, np.ndarray, Schema | None]:
    return pd.DataFrame({"a": generator().normal(size=n)}), (np.arange(n) % 100 == 0).astype(int), schema({"a": NUMBER})


TABLES = {
    made.__name__: made
    for made in (
        one_class, constant_columns, ten_thousand_categories, unlisted_categories, duplicates_of_the_label,
        many_columns, hostile_values, one_percent,
    )
}  # fmt: skip
"""Name -> rows, labels, and a schema or None."""


BUDGETS = [
    (0.05, 1e-6, "add_or_remove_one"),
    (8.0, 1e-6, "replace_one"),
    (1.0, 0.0, "replace_one"),
    (math.inf, 1e-6, "add_or_remove_one"),
]


def check(model: Any, frame: pd.DataFrame, epsilon: float, delta: float) -> None:
    chances = model.predict_proba(frame)
    assert np.isfinite(chances).all()
    assert ((chances >= 0) & (chances <= 1)).all()
    assert chances.sum(axis=1) == pytest.approx(np.ones(len(frame)))
    assert np.isfinite(model.decision_function(frame)).all()
    assert np.isfinite(model.predict_std(frame)).all()
    certificate = model.certificate_
    if math.isfinite(epsilon):
        assert certificate.verify() == []
        assert accountants.epsilon([entry.charge for entry in certificate.entries], delta) <= epsilon * (1 + 1e-9)
        assert certificate.epsilon <= epsilon * (1 + 1e-9)
    again = model_from_dict(model.model_.to_dict())
    assert (again.predict_proba(columns_of(frame)) == chances).all()


@pytest.mark.parametrize(("name", "learner", "budget"), pairwise(sorted(TABLES), NAMES, BUDGETS))
def test_there_is_always_a_model(name, learner, budget):
    epsilon, delta, relation = budget
    frame, labels, declared = TABLES[name]()
    own = {}
    if declared is None and delta == 0:
        frame, own = frame.select_dtypes("number"), {"classes": (0, 1)}  # finding them takes a delta
    model = clone(LEARNERS[learner]).set_params(
        epsilon=epsilon, delta=delta, schema=declared, neighbouring=relation, **own
    )
    check(model.fit(frame, labels), frame, epsilon, delta)


@pytest.mark.parametrize(("n", "label", "learner"), pairwise([0, 1, 5, 49], [0, 1, "mixed", "unknown"], NAMES))
def test_fewer_than_fifty_rows(n, label, learner):
    frame = pd.DataFrame({"a": generator().normal(size=n), "b": generator().normal(size=n)})
    truth = {"mixed": np.arange(n) % 2, "unknown": np.full(n, 7)}.get(label, np.full(n, label))
    asked = pd.DataFrame({"a": [0.0, math.nan, 9.0], "b": [1.0, -1.0, 0.0]})
    for epsilon in (0.1, 8.0):
        model = clone(LEARNERS[learner]).set_params(epsilon=epsilon, schema=schema({"a": NUMBER, "b": NUMBER}))
        check(model.fit(frame, truth), asked, epsilon, 1e-6)


def test_noise_is_not_read_as_signal_where_there_is_none():
    """One class of few rows at a small budget: near the prior, and no wild claims by row."""
    frame, labels, declared = one_class(40)
    for seed in range(5):
        model = AdditiveBoostClassifier(epsilon=0.1, schema=declared, random_state=seed).fit(frame, labels)
        chances = model.predict_proba(frame)[:, 1]
        assert np.ptp(chances) < 0.3
        assert (chances > 0.03).all()  # all are positive, which noise of more than 40 rows may hide


def test_a_duplicate_of_the_label_is_found():
    frame, labels, declared = duplicates_of_the_label()
    for learner in LEARNERS.values():
        model = clone(learner).set_params(epsilon=2.0, schema=declared, random_state=0)
        assert model.fit(frame, labels).score(frame, labels) > 0.95


def test_columns_that_say_nothing_do_no_harm():
    frame, labels, declared = ten_thousand_categories()
    model = AdditiveBoostClassifier(epsilon=2.0, schema=declared, random_state=0).fit(frame, labels)
    assert model.score(frame, labels) > 0.9


def test_an_account_never_pays_more_than_was_asked_for(tmp_path):
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "bad", 100.0, 1e-5, "add_or_remove_one")
    before = 0.0
    for made in (one_class, constant_columns, unlisted_categories, hostile_values):
        frame, labels, declared = made()
        AdditiveBoostClassifier(epsilon=0.5, schema=declared, account=account).fit(frame, labels)
        assert account.spent - before <= 0.5
        before = account.spent
    assert {line.status for line in account.reservations()} == {"completed"}
