"""scikit-learn's own contract, for every estimator of one learner, but for `EXPECTED_FAILED_CHECKS`."""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest
from sklearn.utils.estimator_checks import check_classifiers_train, check_estimator

from tacit import (
    EXPECTED_FAILED_CHECKS,
    AdditiveBoostClassifier,
    AdditiveBoostRegressor,
    BoostedTreesClassifier,
    DecisionListClassifier,
    DeclaredEncoder,
    DeclaredScaler,
    HalfspaceBoostClassifier,
    MAlphaBoostClassifier,
    RandomTreesClassifier,
    ResampledBoostClassifier,
    registry,
)
from tacit.closure import AgnosticClassifier, ComposedClassifier, FiniteClassClassifier
from tacit.estimators.base import Estimator

MATRICES = {"check_classifier_data_not_an_array": "that check passes a bare array-function object, and no matrix"}
DECIDED_BY_NOISE = {"check_classifiers_train", "check_classifiers_one_label"}
NOT_ASKED_SINCE = {
    "check_sample_weight_equivalence_on_sparse_data": "1.6.0 asks it of those whose tags say that they take none",
}

NAMED = {"classes": "public"}
"""Without it the classes would be found for a part of the budget, or refused."""

VOTERS = {"base": HalfspaceBoostClassifier(rounds=10), "rounds": 3, "density": 0.98, "random_state": 3, **NAMED}

NUMBER = {"schema": {"columns": {"x0": {"kind": "numeric", "lower": -10, "upper": 10}}}}
CATEGORY = {"schema": {"columns": {"x0": {"kind": "categorical", "categories": ["a", "b"]}}}}

CHECKED: list[tuple[type[Any], dict[str, Any], dict[str, str]]] = [
    (AdditiveBoostClassifier, NAMED, {}),
    (AdditiveBoostRegressor, {}, {}),
    (BoostedTreesClassifier, {**NAMED, "n_trees": 5}, {}),
    (RandomTreesClassifier, NAMED, {}),
    (MAlphaBoostClassifier, {**NAMED, "n_trees": 3}, {}),
    (DecisionListClassifier, NAMED, {}),
    (HalfspaceBoostClassifier, {**NAMED, "epsilon": 200.0}, {}),
    (HalfspaceBoostClassifier, {**NAMED, "epsilon": 200.0, "row_norm": 10.0}, MATRICES),
    (ResampledBoostClassifier, VOTERS, {}),
    (FiniteClassClassifier, {**NAMED, "bins": 4}, {}),
    (AgnosticClassifier, {**NAMED, "bins": 4}, {}),
    (ComposedClassifier, {**NAMED, "bins": 4}, {}),
    (DeclaredScaler, NUMBER, {}),
    (DeclaredEncoder, CATEGORY, {}),
]
"""A learner, its parameters, and the checks that it fails with these."""

SECOND: list[tuple[type[Any], dict[str, Any], dict[str, str]]] = [
    (HalfspaceBoostClassifier, {**NAMED, "epsilon": 200.0, "measure": "lazy_bregman", "rounds": 60}, {}),
    (ResampledBoostClassifier, {**VOTERS, "epsilon": math.inf}, {}),
]
"""Second settings of those."""


LIKE_ANOTHER = {AdditiveBoostRegressor, MAlphaBoostClassifier, AgnosticClassifier, ComposedClassifier}
"""They are asked among the slow tests: their classes have nothing of scikit-learn's that one above has not."""


@pytest.mark.usefixtures("few_rounds")
@pytest.mark.parametrize(
    ("kind", "asked", "more"),
    [
        *(pytest.param(*each, marks=[pytest.mark.slow] * (each[0] in LIKE_ANOTHER)) for each in CHECKED),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in SECOND),
    ],
    ids=lambda value: getattr(value, "__name__", None) or f"{len(value)}",
)
def test_scikit_learns_contract(kind: type[Any], asked: dict[str, Any], more: dict[str, str]) -> None:
    noise = dict.fromkeys(DECIDED_BY_NOISE, "how good a private fit of 200 rows is depends on its noise")
    excluded = {**EXPECTED_FAILED_CHECKS[kind.__name__], **more, **noise}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        usual = {"epsilon": 50.0, "random_state": 0} if issubclass(kind, Estimator) else {}
        made = kind(**{**usual, **asked})
        results = check_estimator(made, expected_failed_checks={**NOT_ASKED_SINCE, **excluded}, on_fail=None)
    assert {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"} == {}
    # an expectation that has come to hold must leave the list
    still = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert still >= excluded.keys() - DECIDED_BY_NOISE


TRANSFORMERS = {DeclaredScaler, DeclaredEncoder}
WEAK = {FiniteClassClassifier, AgnosticClassifier, ComposedClassifier}
"""Thresholds at four bins of one column are too weak a class for what the check asks."""


@pytest.mark.usefixtures("few_rounds")
@pytest.mark.parametrize(
    ("kind", "asked"), [each[:2] for each in CHECKED if each[0] not in {*WEAK, AdditiveBoostRegressor, *TRANSFORMERS}]
)
def test_without_noise_classifiers_learn_what_scikit_learn_asks(kind: type[Any], asked: dict[str, Any]) -> None:
    """The check that noise decides elsewhere (:data:`DECIDED_BY_NOISE`), where there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_classifiers_train(kind.__name__, kind(**{**asked, "epsilon": math.inf, "random_state": 0}))


def test_every_estimator_of_one_learner_is_checked() -> None:
    ours = registry.of_the_library(registry.estimators()).values()
    assert {kind.__name__ for kind, _, _ in CHECKED} == EXPECTED_FAILED_CHECKS.keys()
    of_one = {kind for kind in ours if issubclass(kind, Estimator)}
    assert len(of_one) >= 10
    assert of_one == {kind for kind, _, _ in CHECKED if issubclass(kind, Estimator)}
