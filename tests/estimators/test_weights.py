"""Weights of classes and rows: what they do to a model, what they cost, and what is refused."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest

from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.encoding.values import LabelIndex
from tacit.learning.weights import check_row_weights, declared_weights
from tacit.models.summary import Doubtful
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.request import RequestError
from tacit.schema import Schema
from tacit.trees.estimator import BoostedTreesClassifier, MAlphaBoostClassifier

LEARNERS = [AdditiveBoostClassifier, BoostedTreesClassifier]
SCHEMA = Schema.from_dict(
    {
        "label": {"column": "y", "classes": ["no", "yes"], "positive": "yes"},
        "columns": {name: {"kind": "numeric", "lower": -3, "upper": 3} for name in ("a", "b")},
    }
)


def world(n: int = 20_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(generator.normal(size=(n, 2)), columns=["a", "b"])
    return frame, np.where(generator.random(n) < 1 / (1 + np.exp(2.5 - 1.5 * frame["a"])), "yes", "no")


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(("delta", "weights"), [(1e-6, {"yes": 6, "no": 2}), (0.0, "balanced")])
def test_probabilities_are_those_of_the_weighted_population(learner, delta, weights):
    frame, labels = world()
    yes = labels == "yes"
    model = learner(epsilon=4.0, delta=delta, schema=SCHEMA, class_weight=weights, random_state=0).fit(frame, labels)
    chances = model.predict_proba(frame)[:, 1]
    weight = np.where(yes, (~yes).sum() / yes.sum() if weights == "balanced" else 3.0, 1.0)
    assert np.average(chances, weights=weight) == pytest.approx(np.average(yes, weights=weight), abs=0.05)
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


@pytest.mark.parametrize("learner", LEARNERS)
def test_declared_weights_cost_nothing(learner):
    frame, labels = world(2000)
    plain, weighted = (
        learner(schema=SCHEMA, class_weight=weights).fit(frame, labels) for weights in (None, {"yes": 3})
    )
    assert plain.certificate_.charges == weighted.certificate_.charges
    assert plain.certificate_.epsilon == weighted.certificate_.epsilon


@pytest.mark.parametrize("learner", LEARNERS)
def test_rows_of_hardly_any_weight_count_for_nothing(learner):
    frame, labels = world(6000)
    generator = np.random.default_rng(1)
    junk = generator.random(len(frame)) < 0.5
    spoilt = np.where(junk, np.where(labels == "yes", "no", "yes"), labels)
    model = learner(epsilon=8.0, schema=SCHEMA, random_state=0)
    clean = model.fit(frame, spoilt, sample_weight=np.where(junk, 1e-6, 1.0)).predict_proba(frame)[:, 1]
    alone = learner(epsilon=8.0, schema=SCHEMA, random_state=0).fit(frame[~junk], labels[~junk])
    spoiled = learner(epsilon=8.0, schema=SCHEMA, random_state=0).fit(frame, spoilt).predict_proba(frame)[:, 1]
    right = alone.predict_proba(frame)[:, 1]
    assert np.abs(clean - right).mean() < 0.02
    assert np.abs(spoiled - right).mean() > 0.1


def test_half_the_weight_is_half_the_rows():
    """Two groups of rows that contradict each other: alike in weight they cancel, else the heavy one wins."""
    frame, _ = world(20_000)
    first = np.arange(len(frame)) % 2 == 0
    labels = np.where((frame["a"] > 0) == first, "yes", "no")
    score = {}
    for weight in (1.0, 0.25):
        model = AdditiveBoostClassifier(epsilon=8.0, schema=SCHEMA, random_state=0, interactions=False)
        chances = model.fit(frame, labels, sample_weight=np.where(first, 1.0, weight)).predict_proba(frame)[:, 1]
        score[weight] = chances[frame["a"] > 0.2].mean()
    assert score[1.0] == pytest.approx(0.5, abs=0.03)
    assert score[0.25] == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("learner", LEARNERS)
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
def test_weights_of_rows_outside_are_refused(learner, wrong, message, tmp_path):
    frame, labels = world(200)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "world", 1.0, 1e-6, "add_or_remove_one")
    weights = np.full(200, 0.5)
    weights[[70, 90]] = wrong, 3.0
    with pytest.raises(RequestError, match=message) as caught:
        learner(schema=SCHEMA, account=account).fit(frame, labels, sample_weight=weights)
    assert "sample_weight must lie in (0, 1]" in str(caught.value)
    assert str(caught.value).endswith("Nothing was spent.")
    assert account.spent == 0


@pytest.mark.parametrize("learner", LEARNERS)
def test_whether_weights_are_refused_depends_on_weights_alone(learner):
    """Weights within are taken whatever the rows hold, their ends included."""
    frame, labels = world(50)
    weights = np.full(50, 5e-324)
    weights[::2] = 1.0
    spoilt = pd.DataFrame({name: np.full(50, np.nan) for name in frame})
    for rows, classes in ((frame, labels), (spoilt, np.full(50, "neither"))):
        model = learner(schema=SCHEMA).fit(rows, classes, sample_weight=weights)
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
    for wrong in (np.ones(99), np.ones((100, 2)), np.array(["a"] * 100)):
        with pytest.raises(RequestError, match="sample_weight"):
            AdditiveBoostClassifier(schema=SCHEMA, account=account).fit(frame, labels, sample_weight=wrong)
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
