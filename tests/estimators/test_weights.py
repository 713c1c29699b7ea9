"""Weights of classes and rows: what they do to a model, what they cost, and what is refused."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.additive.estimator import AdditiveBoostClassifier, AdditiveBoostRegressor
from tacit.encoding.values import LabelIndex
from tacit.learning.weights import check_row_weights, declared_weights
from tacit.models.summary import Doubtful
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.request import RequestError
from tacit.schema import Schema
from tacit.trees.estimator import BoostedTreesClassifier, MAlphaBoostClassifier

COLUMNS = {name: {"kind": "numeric", "lower": -3, "upper": 3} for name in ("a", "b")}
SCHEMA, CLASSES, NUMBERS = (
    Schema.from_dict({"label": {"column": "y", **label}, "columns": COLUMNS})
    for label in (
        {"classes": ["no", "yes"], "positive": "yes"},
        {"classes": ["x", "y", "z"]},
        {"kind": "numeric", "lower": -10, "upper": 10},
    )
)


def world(n: int = 20_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(generator.normal(size=(n, 2)), columns=["a", "b"])
    return frame, np.where(generator.random(n) < 1 / (1 + np.exp(2.5 - 1.5 * frame["a"])), "yes", "no")


def classes(n: int = 15_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(generator.normal(size=(n, 2)), columns=["a", "b"])
    scores = np.stack([1.5 + frame["a"], frame["b"], -1.0 - frame["a"]], axis=1) + generator.gumbel(size=(n, 3))
    return frame, np.array(["x", "y", "z"])[scores.argmax(axis=1)]


def numbers(n: int = 15_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(generator.normal(size=(n, 2)), columns=["a", "b"])
    return frame, np.asarray(2 * frame["a"] - frame["b"] + generator.normal(size=n))


KINDS: dict[str, tuple[Any, Schema, Any]] = {
    "curves": (AdditiveBoostClassifier, SCHEMA, world),
    "trees": (BoostedTreesClassifier, SCHEMA, world),
    "classes": (AdditiveBoostClassifier, CLASSES, classes),
    "numbers": (AdditiveBoostRegressor, NUMBERS, numbers),
}
LEARNERS = [AdditiveBoostClassifier, BoostedTreesClassifier]


def made(kind, few=False, **asked):
    learner, schema, _ = KINDS[kind]
    asked |= {"n_trees": 20} if few and kind == "trees" else {}
    return learner(**{"schema": schema, "random_state": 0, **asked})


def said(model, frame):
    return model.predict_proba(frame) if hasattr(model, "predict_proba") else model.predict(frame)


@pytest.mark.parametrize(
    ("kind", "delta", "neighbouring", "weights"),
    [
        ("curves", 1e-6, "add_or_remove_one", {"yes": 6, "no": 2}),
        ("curves", 0.0, "add_or_remove_one", "balanced"),
        ("trees", 1e-6, "add_or_remove_one", {"yes": 6, "no": 2}),
        ("trees", 0.0, "add_or_remove_one", "balanced"),
        ("classes", 1e-6, "add_or_remove_one", {"z": 6, "x": 2}),
        ("classes", 0.0, "replace_one", "balanced"),
    ],
)
def test_probabilities_are_those_of_the_weighted_population(kind, delta, neighbouring, weights):
    frame, labels = KINDS[kind][2]()
    names = sorted(set(labels))
    factors = {name: 1 / (labels == name).mean() if weights == "balanced" else weights.get(name, 1) for name in names}
    model = made(kind, epsilon=4.0, delta=delta, class_weight=weights, neighbouring=neighbouring).fit(frame, labels)
    rows = np.array([factors[name] for name in labels])
    chances = np.average(model.predict_proba(frame), axis=0, weights=rows)
    assert chances == pytest.approx([np.average(labels == name, weights=rows) for name in names], abs=0.045)
    assert model.certificate_.verify() == []
    assert model.certificate_.epsilon == 4.0
    spent = [entry.label for entry in model.certificate_.entries]
    assert ("rows of each class, to balance them" in spent) is (weights == "balanced")


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_shift_back_to_the_tables_own_odds_goes_by_sorted_classes(learner):
    frame, labels = world()
    schema = SCHEMA.to_dict() | {"label": {"column": "y", "classes": ["no", "yes"], "positive": "no"}}
    weights = {"no": 1.0, "yes": 6.0}
    model = learner(epsilon=4.0, schema=schema, class_weight=weights, random_state=0).fit(frame, labels)
    assert model.model_.classes[-1] == "no"
    shift = math.log(weights[model.classes_[1]] / weights[model.classes_[0]])
    chances = 1 / (1 + np.exp(shift - model.decision_function(frame)))
    assert chances.mean() == pytest.approx((labels == model.classes_[1]).mean(), abs=0.05)


def test_declared_weights_are_relative_to_the_largest():
    index = LabelIndex(("a", "b"))
    assert declared_weights({"a": 4.0}, index) == (1.0, 0.25)
    assert declared_weights({"b": 0.5}, index) == (1.0, 0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_cost_nothing(kind):
    frame, labels = KINDS[kind][2](2000)
    weighted = [made(kind, few=True).fit(frame, labels, sample_weight=np.full(2000, 0.5))]
    if kind in ("classes", "numbers"):
        assert any("weights of at most 1" in entry.theorem for entry in weighted[0].certificate_.entries)
    if kind != "numbers":
        weighted.append(made(kind, few=True, class_weight={labels[0]: 3}).fit(frame, labels))
    plain = made(kind, few=True).fit(frame, labels).certificate_
    for model in weighted:
        assert model.certificate_.charges == plain.charges
        assert model.certificate_.epsilon == plain.epsilon


@pytest.mark.parametrize(
    ("kind", "asked"),
    [*((kind, {}) for kind in KINDS), pytest.param("numbers", {"loss": "quantile"}, marks=pytest.mark.slow)],
)
def test_rows_of_hardly_any_weight_count_for_nothing(kind, asked):
    frame, labels = KINDS[kind][2](6000)
    junk = np.random.default_rng(1).random(len(frame)) < 0.5
    wrong = {"classes": "z", "numbers": 8.0}.get(kind, np.where(labels == "yes", "no", "yes"))
    spoilt = np.where(junk, wrong, labels)

    def answers(labels, rows=slice(None), weights=None):
        return said(made(kind, epsilon=8.0, **asked).fit(frame[rows], labels[rows], sample_weight=weights), frame)

    right, (near, far) = answers(labels, ~junk), (0.15, 1.0) if kind == "numbers" else (0.02, 0.1)
    assert np.abs(answers(spoilt, weights=np.where(junk, 1e-6, 1.0)) - right).mean() < near
    assert np.abs(answers(spoilt) - right).mean() > far


def test_a_quarter_of_the_weight_is_a_quarter_of_the_rows():
    """Two groups of rows that contradict each other."""
    frame, _ = numbers(20_000)
    first = np.arange(len(frame)) % 2 == 0
    targets = np.where(first, 4.0, -4.0)
    for weight in (1.0, 0.25):
        model = AdditiveBoostRegressor(epsilon=8.0, schema=NUMBERS, random_state=0, interactions=False)
        model.fit(frame, targets, sample_weight=np.where(first, 1.0, weight))
        assert model.predict(frame).mean() == pytest.approx(4 * (1 - weight) / (1 + weight), abs=0.6)
    labels = np.where(first, "x", np.where(np.arange(len(frame)) % 4 == 1, "y", "z"))
    model = AdditiveBoostClassifier(epsilon=8.0, schema=CLASSES, random_state=0, interactions=False)
    chances = model.fit(frame, labels, sample_weight=np.where(labels == "y", 0.25, 1.0)).predict_proba(frame)
    assert chances.mean(axis=0) == pytest.approx([8 / 13, 1 / 13, 4 / 13], abs=0.03)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (math.nan, "row 70 is nan: every row needs"),
        (0.0, r"row 70 is 0\.0: leave out"),
        (-0.5, r"row 70 is -0\.5: leave out"),
        (1.0000001, r"row 70 is 1\.0000001: divide by a bound that is public"),
        (math.inf, "row 70 is inf: divide"),
    ],
)
def test_weights_of_rows_outside_are_refused(kind, wrong, message, tmp_path):
    frame, labels = KINDS[kind][2](200)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "world", 1.0, 1e-6, "add_or_remove_one")
    weights = np.full(200, 0.5)
    weights[[70, 90]] = wrong, 3.0
    with pytest.raises(RequestError, match=message) as caught:
        made(kind, account=account).fit(frame, labels, sample_weight=weights)
    assert "sample_weight must lie in (0, 1]" in str(caught.value)
    assert str(caught.value).endswith("Nothing was spent.")
    assert account.spent == 0


@pytest.mark.parametrize("kind", ["curves", "trees"])
def test_whether_weights_are_refused_depends_on_weights_alone(kind):
    """Weights within are taken whatever the rows hold, their ends included."""
    frame, labels = world(50)
    weights = np.full(50, 5e-324)
    weights[::2] = 1.0
    spoilt = pd.DataFrame({name: np.full(50, np.nan) for name in frame})
    for rows, classes in ((frame, labels), (spoilt, np.full(50, "neither"))):
        model = made(kind, few=True).fit(rows, classes, sample_weight=weights)
        assert np.isfinite(model.predict_proba(rows)).all()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("heavy", "class_weight"),
        ({"maybe": 2.0}, "maybe"),
        ({"yes": 0.0}, "positive"),
        ({"yes": -1.0}, "positive"),
        ({"yes": math.nan}, "positive"),
        ({"yes": math.inf}, "positive"),
        ([1, 2], "class_weight"),
    ],
)
def test_public_mistakes_are_refused(weights, message, tmp_path):
    frame, labels = world(100)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "world", 1.0, 1e-6, "add_or_remove_one")
    for learner in LEARNERS:
        with pytest.raises(RequestError, match=message) as caught:
            learner(schema=SCHEMA, class_weight=weights, account=account).fit(frame, labels)
        assert "othing was spent" in str(caught.value)
    for kind, (_, _, rows) in KINDS.items():
        for wrong in (np.ones(99), np.ones((100, 2)), np.array(["a"] * 100)):
            with pytest.raises(RequestError, match="sample_weight"):
                made(kind, account=account).fit(*rows(100), sample_weight=wrong)
    with pytest.raises(RequestError, match="no sample_weight"):
        MAlphaBoostClassifier(schema=SCHEMA, account=account).fit(frame, labels, sample_weight=np.ones(100))
    assert account.spent == 0


@pytest.mark.parametrize("weights", [np.full(2000, 1 / 2000), np.append(np.full(2000, 1 / 2000), 1.0), np.empty(0)])
def test_no_word_is_said_of_weights_that_may_follow_from_the_rows(weights: np.ndarray) -> None:
    """A warning that all are small is silenced by one row: it tells of that row."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_row_weights(weights)


def test_weights_that_add_up_to_one_show_in_what_was_released() -> None:
    frame, labels = world(2000)
    learner = AdditiveBoostClassifier(schema=SCHEMA, interactions=False, random_state=0)
    with pytest.warns(Doubtful, match="within the noise"):
        learner.fit(frame, labels, sample_weight=np.full(2000, 1 / 2000))


def test_a_hundred_classes_may_have_weights():
    """Labels that hold a weight beside so many classes need more than a byte."""
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 100, 5000)
    frame = pd.DataFrame({"a": labels / 100 + generator.normal(0, 0.02, 5000)})
    schema = {
        "label": {"column": "y", "classes": list(range(100))},
        "columns": {"a": {"kind": "numeric", "lower": 0, "upper": 1}},
    }
    weights = np.where(labels < 50, 0.01, 1.0)
    model = AdditiveBoostClassifier(epsilon=math.inf, schema=schema, interactions=False)
    chances = model.fit(frame, labels, sample_weight=weights).predict_proba(frame)
    assert chances[:, :50].sum(axis=1).mean() < 0.6
    assert chances[labels >= 50][:, 50:].sum(axis=1).mean() > 0.9
    assert model.certificate_.verify() == []
