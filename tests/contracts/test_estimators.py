"""One contract for every estimator of the registry: a new one is asked all of this, or the tests fail."""

from __future__ import annotations

import json
import pickle
from copy import deepcopy
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.base import clone

import tacit
from tacit import registry
from tacit.estimators.base import request_of
from tacit.learning.learner import Learner
from tacit.privacy import accountants
from tacit.privacy.label import Label, Stage
from tacit.privacy.ledger import Reservation
from tests.contracts.examples import examples, rows_of, strange_rows_of
from tests.golden.net import stored
from tests.replay.cases import CASES

ESTIMATORS = registry.of_the_library(registry.estimators())
TRIED = [(kind, index) for kind in ESTIMATORS.values() for index in range(len(examples(kind)))]


@pytest.fixture(params=TRIED, ids=lambda tried: f"{tried[0].__name__}-{tried[1]}")
def tried(request: pytest.FixtureRequest) -> tuple[type[Any], Any]:
    """A class and an estimator of it."""
    kind, index = request.param
    return kind, examples(kind)[index]


def test_every_public_estimator_is_in_the_registry() -> None:
    public = [getattr(tacit, name) for name in tacit.PUBLIC]
    fit = {
        kind for kind in public if isinstance(kind, type) and hasattr(kind, "fit") and not hasattr(kind, "transform")
    }
    assert len(fit) >= 10
    assert fit <= set(ESTIMATORS.values())


@pytest.mark.parametrize("kind", ESTIMATORS.values())
def test_what_is_promised_where_nothing_is_said(kind: type[Any]) -> None:
    usual = {"epsilon": 1.0, "delta": 1e-6, "neighbouring": "add_or_remove_one"}
    if kind is tacit.ResampledBoostClassifier:  # its number of rows is public
        usual["neighbouring"] = "replace_one"
    for name in signature(kind).parameters.keys() & usual:
        assert signature(kind).parameters[name].default == usual[name]


def test_every_learner_is_made_by_some_example() -> None:
    made = set()
    for kind, index in TRIED:
        estimator = examples(kind)[index]
        if hasattr(estimator, "make_learner"):
            request = request_of(estimator)
            learner = estimator.make_learner(request)
            assert isinstance(learner, Learner)
            assert learner.name == kind.__name__
            made.add(type(learner))
    assert made == set(registry.of_the_library(registry.learners()).values())


def through_skops(fitted: Any) -> Any:
    written = skops.io.dumps(fitted)
    return skops.io.loads(written, trusted=skops.io.get_untrusted_types(data=written))


def test_a_fit_is_what_was_promised(tried: tuple[type[Any], Any], tmp_path: Path) -> None:
    """Its copies are alike, its charges are covered, its model can be written and read, and so can itself."""
    kind, estimator = tried
    X, y = rows_of(kind)
    copy = clone(estimator)
    assert copy.get_params().keys() == estimator.get_params().keys()
    fitted, again = estimator.fit(X, y), copy.fit(X, y)
    said = fitted.predict(X)
    assert np.array_equal(again.predict(X), said)

    certificate = fitted.certificate_
    assert certificate.verify() == []
    assert accountants.epsilon(certificate.charges, certificate.delta) <= certificate.epsilon * (1 + 1e-9)
    covered = Reservation(certificate.charges, certificate.neighbouring, "what was reserved")
    for entry in certificate.entries:
        covered.record(entry.charge, Label(Stage.FIT, text="what was charged"), "")
    if hasattr(estimator, "declared_charge"):
        declared = estimator.declared_charge(str(certificate.neighbouring))
        assert accountants.epsilon(declared, certificate.delta) >= accountants.epsilon(
            certificate.charges, certificate.delta
        ) * (1 - 1e-9)

    stored = pickle.dumps(fitted)
    assert len(stored) < 1.5 * len(json.dumps(fitted.model_.body())) + len(certificate.to_json()) + 60_000
    for twin in (pickle.loads(stored), deepcopy(fitted), through_skops(fitted)):
        assert np.array_equal(twin.predict(X), said)
        assert twin.model_.to_dict() == fitted.model_.to_dict()
        assert twin.certificate_.to_dict() == certificate.to_dict()
        assert getattr(twin, "schema_", None) == getattr(fitted, "schema_", None)
    tacit.save_model(fitted.model_, tmp_path / "model.json", certificate)
    model, written = tacit.load_model(tmp_path / "model.json")
    assert model.to_dict() == fitted.model_.to_dict()
    assert written is not None
    assert np.array_equal(model.predict(X), said)


@pytest.mark.parametrize("n", [0, 1, 240])
def test_what_rows_hold_never_raises_and_costs_the_same(tried: tuple[type[Any], Any], n: int) -> None:
    kind, estimator = tried
    if n < 2 and kind is tacit.ResampledBoostClassifier:
        pytest.skip("the number of rows is public there")
    usual = clone(estimator).fit(*rows_of(kind, n)).certificate_
    strange = estimator.fit(*strange_rows_of(kind, n)).certificate_
    assert strange.charges == usual.charges
    assert strange.verify() == []


def test_every_estimator_has_a_replay_and_golden_fits() -> None:
    names = {kind.__name__ for kind in ESTIMATORS.values()}
    assert names - {name for case in CASES for name in case.covers} == set()
    assert names - {name.split(":")[0] for name in stored()[0]} == set()
