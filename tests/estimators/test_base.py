"""The order in which a fit does things: what is public is checked first, rows are read last."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tacit.additive.estimator import AdditiveBoostClassifier, AdditiveBoostRegressor
from tacit.decision_lists.estimator import DecisionListClassifier
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.ledger import BudgetExceeded
from tacit.trees.estimator import BoostedTreesClassifier
from tests.seen import Seen, seen_numbers

COLUMNS = {"columns": {"a": {"kind": "numeric", "lower": 0, "upper": 1}}}
LEARNERS = {
    "classes": AdditiveBoostClassifier(schema=COLUMNS, classes=[0, 1]),
    "classes, no schema": AdditiveBoostClassifier(),
    "numbers": AdditiveBoostRegressor(schema=COLUMNS, target_bounds=(0, 1)),
    "numbers, no bounds": AdditiveBoostRegressor(schema=COLUMNS),
    "numbers, no schema": AdditiveBoostRegressor(),
    "trees": BoostedTreesClassifier(),
    "lists": DecisionListClassifier(schema=COLUMNS, classes=[0, 1]),
    "halfspaces": HalfspaceBoostClassifier(classes=[0, 1]),
}


@pytest.fixture
def account(tmp_path):
    return PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1.05, 1e-6)


@pytest.mark.parametrize("name", LEARNERS)
def test_no_value_is_read_before_the_charge_is_durable(name, account):
    """Columns and labels, in objects and in lists."""
    learner = LEARNERS[name].set_params(account=account)
    values = seen_numbers(40)
    X = {"a": list(values)}
    Seen.looks = 0
    learner.fit(X, values)
    assert Seen.looks >= 39
    for labels in (values, list(values)):
        Seen.looks = 0
        with pytest.raises(BudgetExceeded):
            learner.fit(X, labels)
        assert Seen.looks == 0


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *((name, "labels") for name in LEARNERS),
        *((name, "column") for name, learner in LEARNERS.items() if learner.schema),
    ],
)
def test_a_dtype_that_holds_none_of_it_costs_nothing(name, wrong, account):
    learner = LEARNERS[name].set_params(account=account)
    dates, numbers = np.arange(30).astype("datetime64[s]"), np.arange(30) % 2
    for kind in (np.asarray, pd.Series):
        X, y = (numbers, kind(dates)) if wrong == "labels" else (kind(dates), numbers)
        with pytest.raises(ValueError, match="dtype") as caught:
            learner.fit({"a": X}, y)
        assert "Nothing was spent" in str(caught.value)
    assert account.spent == 0


def test_the_labels_of_a_matrix_are_checked_too(account):
    with pytest.raises(ValueError, match="dtype"):
        HalfspaceBoostClassifier(row_norm=1.0, account=account).fit(np.ones((9, 2)), np.arange(9).astype("M8[s]"))
    assert account.spent == 0


def test_a_category_of_a_dtype_that_holds_none_costs_nothing(account):
    schema = {"columns": {"a": {"kind": "categorical", "categories": ["x", "y"]}}}
    with pytest.raises(ValueError, match="column 'a' has dtype"):
        AdditiveBoostClassifier(schema=schema, account=account).fit(
            {"a": np.arange(30).astype("M8[s]")}, np.ones(30, int)
        )
    assert account.spent == 0


def test_a_label_in_a_list_is_read_by_itself():
    """What stands beside it changes nothing: in an array of texts True is no number and no class."""
    X = {"a": np.linspace(0, 1, 300)}
    y = [True, *(k % 2 for k in range(299))]
    fits = [LEARNERS["numbers"].set_params(account=None, random_state=0).fit(X, [*y[:-1], odd]) for odd in (None, "?")]
    assert fits[0].model_.body() == fits[1].model_.body()
