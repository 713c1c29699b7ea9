"""Weights for several classes and for numbers: what they do to a model, what they cost, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.additive.regressor import AdditiveBoostRegressor
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.request import RequestError
from tacit.schema import Schema

COLUMNS = {name: {"kind": "numeric", "lower": -3, "upper": 3} for name in ("a", "b")}
CLASSES = Schema.from_dict({"label": {"column": "y", "classes": ["x", "y", "z"]}, "columns": COLUMNS})
NUMBERS = Schema.from_dict({"label": {"column": "y", "kind": "numeric", "lower": -10, "upper": 10}, "columns": COLUMNS})


def classes(n: int = 15_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(generator.normal(size=(n, 2)), columns=["a", "b"])
    scores = np.stack([1.5 + frame["a"], frame["b"], -1.0 - frame["a"]], axis=1) + generator.gumbel(size=(n, 3))
    return frame, np.array(["x", "y", "z"])[scores.argmax(axis=1)]


def numbers(n: int = 15_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(generator.normal(size=(n, 2)), columns=["a", "b"])
    return frame, np.asarray(2 * frame["a"] - frame["b"] + generator.normal(size=n))


@pytest.mark.parametrize(
    ("delta", "neighbouring", "weights"),
    [(1e-6, "add_or_remove_one", {"z": 6, "x": 2}), (0.0, "replace_one", "balanced")],
)
def test_probabilities_are_those_of_the_weighted_population(delta, neighbouring, weights):
    frame, labels = classes()
    shares = {name: 1 / (labels == name).mean() for name in "xyz"}
    factors = shares if weights == "balanced" else {"x": 2, "y": 1, "z": 6}
    model = AdditiveBoostClassifier(
        epsilon=4.0, delta=delta, schema=CLASSES, class_weight=weights, random_state=0, neighbouring=neighbouring
    ).fit(frame, labels)
    rows = np.array([factors[name] for name in labels])
    chances = np.average(model.predict_proba(frame), axis=0, weights=rows)
    wanted = [np.average(labels == name, weights=rows) for name in "xyz"]
    assert chances == pytest.approx(wanted, abs=0.04)
    assert model.certificate_.verify() == []
    assert model.certificate_.epsilon == 4.0
    spent = [entry.label for entry in model.certificate_.entries]
    assert ("rows of each class, to balance them" in spent) is (weights == "balanced")


def test_weights_cost_nothing():
    frame, labels = classes(2000)
    ones = np.full(2000, 0.5)
    plain = AdditiveBoostClassifier(schema=CLASSES).fit(frame, labels)
    for weighted in (
        AdditiveBoostClassifier(schema=CLASSES, class_weight={"x": 3}).fit(frame, labels),
        AdditiveBoostClassifier(schema=CLASSES).fit(frame, labels, sample_weight=ones),
    ):
        assert weighted.certificate_.charges == plain.certificate_.charges
    frame, targets = numbers(2000)
    plain = AdditiveBoostRegressor(schema=NUMBERS).fit(frame, targets)
    weighted = AdditiveBoostRegressor(schema=NUMBERS).fit(frame, targets, sample_weight=ones)
    assert weighted.certificate_.charges == plain.certificate_.charges
    assert any("weights of at most 1" in entry.theorem for entry in weighted.certificate_.entries)


def test_classes_of_hardly_any_weight_count_for_nothing():
    frame, labels = classes(9000)
    junk = np.random.default_rng(1).random(len(frame)) < 0.5
    spoilt = np.where(junk, "z", labels)
    weights = np.where(junk, 1e-6, 1.0)

    def chances(labels, rows=slice(None), weights=None):
        model = AdditiveBoostClassifier(epsilon=8.0, schema=CLASSES, random_state=0)
        return model.fit(frame[rows], labels[rows], sample_weight=weights).predict_proba(frame)

    right = chances(labels, ~junk)
    assert np.abs(chances(spoilt, weights=weights) - right).mean() < 0.02
    assert np.abs(chances(spoilt) - right).mean() > 0.1


@pytest.mark.parametrize("loss", ["squared", pytest.param("quantile", marks=pytest.mark.slow)])
def test_numbers_of_hardly_any_weight_count_for_nothing(loss):
    frame, targets = numbers(9000)
    junk = np.random.default_rng(1).random(len(frame)) < 0.5
    spoilt = np.where(junk, 8.0, targets)
    weights = np.where(junk, 1e-6, 1.0)

    def predicted(targets, rows=slice(None), weights=None):
        model = AdditiveBoostRegressor(epsilon=8.0, schema=NUMBERS, random_state=0, loss=loss)
        return model.fit(frame[rows], targets[rows], sample_weight=weights).predict(frame)

    right = predicted(targets, ~junk)
    assert np.abs(predicted(spoilt, weights=weights) - right).mean() < 0.15
    assert np.abs(predicted(spoilt) - right).mean() > 1.0


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


def test_discovered_classes_may_have_weights():
    frame, labels = classes(6000)
    model = AdditiveBoostClassifier(epsilon=8.0, class_weight="balanced", random_state=0)
    model.fit(frame, labels, sample_weight=np.full(6000, 0.7))
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert model.certificate_.verify() == []
    found = AdditiveBoostRegressor(epsilon=8.0, random_state=0)
    frame, targets = numbers(6000)
    found.fit(frame, targets, sample_weight=np.full(6000, 0.7))
    assert np.corrcoef(found.predict(frame), targets)[0, 1] > 0.8


@pytest.mark.parametrize(
    "weights", [np.full(100, 1.5), np.zeros(100), np.ones(99), np.full(100, math.nan), ["a"] * 100]
)
def test_public_mistakes_are_refused(weights, tmp_path):
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "world", 1.0, 1e-6, "add_or_remove_one")
    for learner, (frame, truth) in (
        (AdditiveBoostClassifier(schema=CLASSES, account=account), classes(100)),
        (AdditiveBoostRegressor(schema=NUMBERS, account=account), numbers(100)),
    ):
        with pytest.raises(RequestError, match="sample_weight") as caught:
            learner.fit(frame, truth, sample_weight=weights)
        assert "othing was spent" in str(caught.value)
    assert account.spent == 0


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
