"""Parameters of learners: what numpy's numbers do, and that wrong ones cost nothing."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from tacit import (
    BoostedTreesClassifier,
    DecisionListClassifier,
    HalfspaceBoostClassifier,
    MAlphaBoostClassifier,
    RandomTreesClassifier,
    ResampledBoostClassifier,
    save_model,
)
from tacit.closure.agnostic import AgnosticClassifier
from tacit.closure.finite import FiniteClassClassifier
from tacit.learning.checks import check_choice, check_integer, check_number, check_truth
from tacit.online.decision_list_winnow import DecisionListWinnow
from tacit.online.winnow import Winnow
from tacit.privacy.request import RequestError

SCHEMA = {
    "label": {"column": "y", "classes": [0, 1]},
    "columns": {name: {"kind": "numeric", "lower": -3, "upper": 3} for name in "ab"},
}


def forest(**parameters):
    return RandomTreesClassifier(**{"n_trees": 2, **parameters})


def drawn(**parameters):
    return ResampledBoostClassifier(RandomTreesClassifier(n_trees=2, max_depth=2), **{"rounds": 2, **parameters})


INTEGERS = [
    (BoostedTreesClassifier, {"n_trees": 2, "max_depth": 3}),
    (MAlphaBoostClassifier, {"alpha": 1, "n_trees": 2, "max_depth": 3, "max_leaves": 4, "n_bins": 6}),
    (forest, {"n_trees": 2, "max_depth": 3, "n_bins": 12}),
    (FiniteClassClassifier, {"bins": 8, "max_patterns": 500}),
    (AgnosticClassifier, {"bins": 8, "repetitions": 2, "declared_rows": 400}),
    (DecisionListClassifier, {"k": 1, "max_rules": 2, "thresholds": 5}),
    (drawn, {"rounds": 2, "sample_size": 100, "neighbouring": "replace_one"}),
    (HalfspaceBoostClassifier, {"rounds": 3}),
]
NUMBERS = [
    (MAlphaBoostClassifier, {"alpha": 0.5, "split_share": 0.25, "leaf_bound": 4.0, "n_trees": 1}),
    (FiniteClassClassifier, {"counts_share": 0.25}),
    (AgnosticClassifier, {"relabel_share": 0.25}),
    (DecisionListClassifier, {"counts_share": 0.25, "max_rules": 2}),
    (drawn, {"density": 0.25, "learning_rate": 0.25, "advantage": 0.25, "neighbouring": "replace_one"}),
    (
        HalfspaceBoostClassifier,
        {"density": 0.25, "learning_rate": 0.5, "advantage": 0.25, "divisor": 0.5, "measure": "lazy_bregman"},
    ),
]


def rows(n: int = 400):
    generator = np.random.default_rng(0)
    X = {name: generator.uniform(-3, 3, n) for name in "ab"}
    return X, (X["a"] > 0).astype(int)


def written(make, parameters, folder):
    model = make(epsilon=8.0, schema=SCHEMA, random_state=0, **parameters).fit(*rows())
    save_model(model.model_, folder / "model.json")
    entries = [(entry.label, entry.charge.to_dict()) for entry in model.certificate_.entries]
    return (folder / "model.json").read_text(), json.dumps(entries)


@pytest.mark.parametrize(("make", "parameters"), [*INTEGERS, *NUMBERS])
def test_numbers_of_numpy_are_numbers(make, parameters, tmp_path):
    """Of short types, in which sums and products of parameters would run over or lose digits."""
    kinds = {int: np.uint16, float: np.float32}
    ours = {name: kinds.get(type(value), type(value))(value) for name, value in parameters.items()}
    assert written(make, ours, tmp_path) == written(make, parameters, tmp_path)


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (HalfspaceBoostClassifier, {"rounds": 0, "density": 1.0, "learning_rate": 1.1, "advantage": 0.5}),
        (HalfspaceBoostClassifier, {"stop_density": 0.0, "divisor": -0.1, "measure": "best"}),
        (drawn, {"rounds": 0, "sample_size": 0, "density": 1.0, "learning_rate": 1.0, "advantage": 0.5}),
        (drawn, {"measure": "best", "analysis": "loose"}),
    ],
)
def test_wrong_parameters_cost_nothing(make, wrong):
    """Those of the other learners are in test_guards.py."""
    for name, value in wrong.items():
        with pytest.raises(RequestError, match=rf"{name} must be .*Nothing was spent"):
            make(schema=SCHEMA, **{name: value}).fit(*rows(20))


@pytest.mark.parametrize("name", ["fit_intercept", "scaling", "calibrate"])
def test_truth_values_of_numpy_are_truth_values(name, tmp_path):
    assert written(HalfspaceBoostClassifier, {name: np.False_}, tmp_path) == written(
        HalfspaceBoostClassifier, {name: False}, tmp_path
    )
    with pytest.raises(RequestError, match=f"{name} must be True or False"):
        HalfspaceBoostClassifier(schema=SCHEMA, **{name: 0}).fit(*rows(20))


@pytest.mark.parametrize("parameters", [{"horizon": 0}, {"bins": 1.5}, {"margin": 0}, {"margin": "1"}, {"update": 1}])
def test_streams_refuse_wrong_parameters(parameters):
    with pytest.raises(RequestError, match=f"{next(iter(parameters))} must be"):
        Winnow(**parameters).learn_one({"a": 1}, True)


@pytest.mark.parametrize("kind", [int, np.int8])
def test_streams_take_integers_of_numpy(kind, tmp_path):
    stream = DecisionListWinnow(horizon=kind(50), k=kind(2), seed=0)
    for value in (True, False):
        stream.learn_one({"a": value, "b": not value}, value)
    stream.suspend(tmp_path / "stream")
    assert DecisionListWinnow.resume(tmp_path / "stream").k == 2


def test_more_than_two_classes_are_to_be_grouped():
    X, _ = rows(30)
    schema = {**SCHEMA, "label": {"column": "y", "classes": [0, 1, 2]}}
    for make in (RandomTreesClassifier, FiniteClassClassifier, AgnosticClassifier, HalfspaceBoostClassifier):
        with pytest.raises(RequestError, match="handles two classes, but 3 are declared; group them by listing"):
            make(schema=schema).fit(X, np.arange(30) % 3)


def test_ends_of_intervals():
    for value in (0.0, 1.0, np.float32(0), Fraction(1, 2), 1):
        check_number("x", value, 0.0, 1.0, with_low=True, with_high=True)
    for value in (0.0, 1.0, 0, np.float64(1)):
        with pytest.raises(RequestError, match=r"x must be a number in \(0, 1\), got"):
            check_number("x", value, 0.0, 1.0)
    with pytest.raises(RequestError, match=r"x must be None or a number in \(0, 1\]"):
        check_number("x", 0, 0.0, 1.0, with_high=True, optional=True)
    with pytest.raises(RequestError, match=r"x must be a number in \[0, 1\), got None"):
        check_number("x", None, 0.0, 1.0, with_low=True)
    for wrong in (-0.1, 1000.0, float("nan"), True, np.True_, "0.5x", [0.5], 1j):
        with pytest.raises(RequestError, match="x must be a number in"):
            check_number("x", wrong, 0.0, 1.0)
    for wrong in (0, -1, 2.0, True, np.True_, "2", [2], np.array([2, 3])):
        with pytest.raises(RequestError, match="n must be an integer of at least 1"):
            check_integer("n", wrong)
    for wrong in (1, None, ["a"], np.array(["a", "b"])):
        with pytest.raises(RequestError, match="c must be one of 'a'"):
            check_choice("c", wrong, ("a",))
    check_integer("n", None, optional=True)
    check_integer("n", 10**30)
    with pytest.raises(RequestError, match="n must be an integer from 2 to 3, got 4"):
        check_integer("n", 4, 2, 3)
    check_choice("c", None, (None, "a"))
    with pytest.raises(RequestError, match="c must be one of None, 'a', got 'b'"):
        check_choice("c", "b", (None, "a"))
    check_truth("t", np.True_)
