"""scikit-learn's own contract, for every estimator of one learner; what cannot hold is said here, once, and why."""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest
from sklearn.utils.estimator_checks import check_estimator

from tacit import (
    AdditiveBoostClassifier,
    AdditiveBoostRegressor,
    BoostedTreesClassifier,
    DecisionListClassifier,
    HalfspaceBoostClassifier,
    MAlphaBoostClassifier,
    RandomTreesClassifier,
    ResampledBoostClassifier,
    registry,
)
from tacit.closure import AgnosticClassifier, ComposedClassifier, FiniteClassClassifier
from tacit.estimators.base import Estimator
from tests.habits import CANNOT_HOLD

WEIGHTS = {
    "check_sample_weights_list": "weights are at most 1, and public: that check's 3 is refused",
    "check_sample_weights_not_overwritten": "as above: that check's 10 is refused",
    "check_sample_weight_equivalence_on_dense_data": "weights are at most 1; a row that stands twice is two rows",
}
FOUND_OUT = {"check_classifiers_classes", "check_supervised_y_no_nan"}
"""Classes are found and paid for, and fractions as labels are refused where nobody names classes."""

WITH_WEIGHTS = {
    **{name: why for name, why in CANNOT_HOLD.items() if name not in FOUND_OUT},
    **WEIGHTS,
    "check_classifiers_one_label_sample_weights": "that check leaves rows out by a weight of 0, which is refused",
}
NUMBERS = {
    "check_estimators_empty_data_messages": "that there are no rows is private: the fit returns a constant",
    "check_supervised_y_no_nan": "what labels hold never raises: missing ones are dropped",
    **WEIGHTS,
}
MATRICES = {
    **CANNOT_HOLD,
    "check_classifier_data_not_an_array": "that check passes a bare array-function object, and no matrix",
}
FEW_ROWS = {
    **CANNOT_HOLD,
    "check_classifiers_train": "a voter learns from 49 of the check's 200 rows, for a part of the budget",
    "check_classifiers_one_label": "a voter learns from 2 of the check's 10 rows, and noise may outweigh both",
}
DECIDED_BY_NOISE = {"check_classifiers_train", "check_classifiers_one_label"}
NOT_ASKED_SINCE = {
    "check_sample_weight_equivalence_on_sparse_data": "1.6.0 asks it of those whose tags say that they take none",
}

NAMED = {"classes": (0, 1)}
"""For learners that find no classes, and refuse labels that nobody declared. Rows of other classes are dropped."""

VOTERS = {"base": HalfspaceBoostClassifier(rounds=10), "rounds": 3, "density": 0.98, "random_state": 3, **NAMED}

CHECKED: list[tuple[type[Any], dict[str, Any], dict[str, str]]] = [
    (AdditiveBoostClassifier, {}, WITH_WEIGHTS),
    (AdditiveBoostRegressor, {}, NUMBERS),
    (BoostedTreesClassifier, {"n_trees": 20}, WITH_WEIGHTS),
    (RandomTreesClassifier, NAMED, CANNOT_HOLD),
    (MAlphaBoostClassifier, {**NAMED, "n_trees": 5}, CANNOT_HOLD),
    (DecisionListClassifier, NAMED, CANNOT_HOLD),
    (HalfspaceBoostClassifier, {**NAMED, "epsilon": 200.0}, CANNOT_HOLD),
    (HalfspaceBoostClassifier, {**NAMED, "epsilon": 200.0, "row_norm": 10.0}, MATRICES),
    (ResampledBoostClassifier, VOTERS, FEW_ROWS),
    (FiniteClassClassifier, {**NAMED, "bins": 4}, CANNOT_HOLD),
    (AgnosticClassifier, {**NAMED, "bins": 4}, CANNOT_HOLD),
    (ComposedClassifier, {**NAMED, "bins": 4}, CANNOT_HOLD),
]
"""A learner, what it is asked with, and the checks that it cannot pass. Of the two additive ones the second is slow."""

SECOND: list[tuple[type[Any], dict[str, Any], dict[str, str]]] = [
    (HalfspaceBoostClassifier, {**NAMED, "epsilon": 200.0, "measure": "lazy_bregman", "rounds": 60}, CANNOT_HOLD),
    (ResampledBoostClassifier, {**VOTERS, "epsilon": math.inf}, CANNOT_HOLD),
]
"""Second settings of those."""


@pytest.mark.usefixtures("few_rounds")
@pytest.mark.parametrize(
    ("kind", "asked", "excluded"),
    [
        *(pytest.param(*each, marks=[pytest.mark.slow] * (each[0] is AdditiveBoostRegressor)) for each in CHECKED),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in SECOND),
    ],
    ids=lambda value: getattr(value, "__name__", None) or f"{len(value)}",
)
def test_scikit_learns_contract(kind: type[Any], asked: dict[str, Any], excluded: dict[str, str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = kind(**{"epsilon": 50.0, "random_state": 0, **asked})
        results = check_estimator(made, expected_failed_checks={**NOT_ASKED_SINCE, **excluded}, on_fail=None)
    assert {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"} == {}
    # an expectation that has come to hold must leave the list
    still = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert still >= excluded.keys() - DECIDED_BY_NOISE


def test_every_estimator_of_one_learner_is_checked() -> None:
    ours = registry.of_the_library(registry.estimators()).values()
    of_one = {kind for kind in ours if issubclass(kind, Estimator)}
    assert len(of_one) >= 10
    assert of_one == {kind for kind, _, _ in CHECKED}
