"""What every private classifier promises, tried on the default learner: scikit-learn's contract, budgets, refusals."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.encoding.errors import FrameError
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.ledger import BudgetExceeded
from tacit.privacy.request import RequestError
from tacit.schema import Schema
from tests.habits import SCHEMA, people


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "mapping"])
def test_any_table_gives_the_same_model(kind):
    frame, labels = people()
    tables = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "arrow": pl.from_pandas(frame).to_arrow(),
        "mapping": {name: frame[name].to_numpy() for name in frame},
    }
    reference = AdditiveBoostClassifier(schema=SCHEMA, random_state=3).fit(frame, labels)
    model = AdditiveBoostClassifier(schema=SCHEMA, random_state=3).fit(tables[kind], labels)
    assert (model.predict_proba(tables[kind]) == reference.predict_proba(frame)).all()


def test_labels_may_be_classes_or_zeros_and_ones():
    frame, labels = people()
    words = AdditiveBoostClassifier(schema=SCHEMA, random_state=1).fit(frame, labels)
    bits = AdditiveBoostClassifier(schema=SCHEMA, random_state=1).fit(frame, (labels == "yes").astype(int))
    assert (words.predict_proba(frame) == bits.predict_proba(frame)).all()


def test_a_seed_repeats_and_forbids_release():
    frame, labels = people(1000)
    one, two = (AdditiveBoostClassifier(schema=SCHEMA, random_state=7).fit(frame, labels) for _ in range(2))
    assert (one.predict_proba(frame) == two.predict_proba(frame)).all()
    assert not one.certificate_.releasable
    fresh = [AdditiveBoostClassifier(schema=SCHEMA).fit(frame, labels).predict_proba(frame) for _ in range(2)]
    assert (fresh[0] != fresh[1]).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": "much"}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -1e-9}, "delta"),
        ({"neighbouring": "swap"}, "neighbouring"),
        ({"random_state": 1.5}, "random_state"),
        ({"random_state": np.random.RandomState(0)}, "random_state"),
        ({"interactions": "yes"}, "interactions"),
        ({"schema": 7}, "schema"),
        ({"schema": None, "classes": ["one"]}, "classes"),
    ],
)
def test_public_mistakes_are_refused_and_cost_nothing(arguments, message, tmp_path):
    frame, labels = people(50)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1.0, 1e-6, "add_or_remove_one")
    model = AdditiveBoostClassifier(**{"schema": SCHEMA, "account": account, **arguments})
    with pytest.raises(ValueError, match=message) as caught:
        model.fit(frame, labels)
    assert "othing was spent" in str(caught.value)
    assert account.spent == 0


def test_mistakes_about_columns_name_them():
    frame, labels = people(50)
    with pytest.raises(FrameError, match="'age'"):
        AdditiveBoostClassifier(schema=SCHEMA).fit(frame.drop(columns="age"), labels)
    with pytest.raises(FrameError, match="'age'"):
        AdditiveBoostClassifier(schema=SCHEMA).fit(frame.assign(age=pd.Timestamp("2020-01-01")), labels)
    with pytest.warns(UserWarning, match="'age' is declared numeric and came as texts"):
        AdditiveBoostClassifier(schema=SCHEMA).fit(frame.assign(age="old"), labels)
    with pytest.raises(RequestError, match="same number of rows"):
        AdditiveBoostClassifier(schema=SCHEMA).fit(frame, labels[:-1])
    with pytest.raises(FrameError, match="'age'"):
        AdditiveBoostClassifier(schema=SCHEMA).fit(frame, labels).predict(frame.drop(columns="age"))


def test_an_account_is_shared_by_clones_and_searches(tmp_path):
    frame, labels = people(600)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 4.0, 1e-5, "add_or_remove_one")
    model = AdditiveBoostClassifier(epsilon=0.3, schema=SCHEMA, account=account)
    clone(model).fit(frame, labels)
    after_one = account.spent
    assert 0.2 < after_one <= 0.3  # the account allows a larger delta, at which the same noise is cheaper
    cross_val_score(model, frame, labels, cv=3)
    after_four = account.spent
    assert after_four > after_one
    assert len(account.reservations()) == 4
    GridSearchCV(model, {"interactions": [True, False]}, cv=2, refit=True).fit(frame, labels)
    assert len(account.reservations()) == 9
    greedy = AdditiveBoostClassifier(epsilon=50.0, schema=SCHEMA, account=account)
    spent = account.spent
    with pytest.raises(BudgetExceeded):
        greedy.fit(frame, labels)
    assert account.spent == spent


@pytest.mark.usefixtures("few_trees")
def test_a_unit_may_have_several_rows_and_only_the_first_count():
    frame, labels = people(3000)
    described = SCHEMA.to_dict() | {"unit": {"column": "person", "max_rows": 2}}
    schema = Schema.from_dict(described)
    once = frame.assign(person=np.arange(3000) // 2)
    doubled = pd.concat([once, once.assign(age=0.0)], ignore_index=True)
    both = np.concatenate([labels, labels])
    one = AdditiveBoostClassifier(schema=schema, random_state=1, interactions=False).fit(once, labels)
    two = AdditiveBoostClassifier(schema=schema, random_state=1, interactions=False).fit(doubled, both)
    assert (one.predict_proba(frame) == two.predict_proba(frame)).all()
    single = AdditiveBoostClassifier(schema=SCHEMA, random_state=1, interactions=False).fit(frame, labels)
    assert one.summary_.rows.sd == pytest.approx(2 * single.summary_.rows.sd, rel=0.05)
