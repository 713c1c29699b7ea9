"""One contract for every estimator of the registry: a new one is asked all of this, or the tests fail."""

from __future__ import annotations

import json
import pickle
from inspect import signature
from typing import Any

import pytest

import tacit
from tacit import registry
from tacit.checks import check_learner
from tacit.estimators.base import request_of
from tacit.learning.learner import Learner
from tests.contracts.examples import examples, rows_of, schema_of
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
    import skops.io

    written = skops.io.dumps(fitted)
    return skops.io.loads(written, trusted=skops.io.get_untrusted_types(data=written))


def test_the_contract_of_learners_is_kept(tried: tuple[type[Any], Any]) -> None:
    """The replays are those of tests/replay."""
    kind, estimator = tried
    check_learner(estimator, schema_of(kind), neighbours=0, public_rows=kind is tacit.ResampledBoostClassifier)


def test_a_pickle_is_small_and_skops_reads_what_it_wrote(tried: tuple[type[Any], Any]) -> None:
    kind, estimator = tried
    fitted = estimator.fit(*rows_of(kind))
    stored = pickle.dumps(fitted)
    assert len(stored) < 1.5 * len(json.dumps(fitted.model_.body())) + len(fitted.certificate_.to_json()) + 60_000
    for twin in (pickle.loads(stored), through_skops(fitted)):
        assert twin.model_.to_dict() == fitted.model_.to_dict()
        assert twin.certificate_.to_dict() == fitted.certificate_.to_dict()


def test_every_estimator_has_a_replay_and_golden_fits() -> None:
    names = {kind.__name__ for kind in ESTIMATORS.values()}
    assert names - {name for case in CASES for name in case.covers} == set()
    assert names - {name.split(":")[0] for name in stored()[0]} == set()
