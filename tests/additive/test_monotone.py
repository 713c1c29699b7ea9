"""Declared directions hold, exactly, in every prediction, whatever the rows and the noise say."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.additive.estimator import AdditiveBoostClassifier, AdditiveBoostRegressor
from tacit.additive.posterior import exactly, project
from tacit.models.files import model_from_dict
from tacit.privacy.request import RequestError
from tacit.report.page import render
from tacit.schema import Schema
from tacit.trees.estimator import BoostedTreesClassifier
from tests.pairwise import pairwise


def schema(up: str = "increasing", down: str = "decreasing") -> Schema:
    bounds = {"kind": "numeric", "lower": -2, "upper": 2}
    return Schema.from_dict(
        {
            "label": {"column": "y", "classes": [0, 1]},
            "columns": {"up": {**bounds, "monotone": up}, "down": {**bounds, "monotone": down}, "free": bounds}
            | {"other": bounds, "c": {"kind": "categorical", "categories": ["a", "b"]}},
        }
    )


def world(n: int, seed: int, contrary: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(generator.uniform(-2.2, 2.2, (n, 4)), columns=["up", "down", "free", "other"])
    frame["c"] = generator.choice(["a", "b"], n)
    frame.loc[frame.index % 9 == 0, "up"] = math.nan
    sign = -1 if contrary else 1
    score = (
        sign * (np.nan_to_num(frame["up"]) - frame["down"]) + frame["free"] * frame["other"] + np.sin(3 * frame["up"])
    )
    return frame, (generator.random(n) < 1 / (1 + np.exp(-score.fillna(0)))).astype(int)


def assert_monotone(model: AdditiveBoostClassifier, seed: int) -> None:
    """Along each declared column, from anywhere, scores and probabilities never go the wrong way."""
    generator = np.random.default_rng(seed)
    grid = np.linspace(-2.5, 2.5, 400)
    for name, direction in (("up", 1), ("down", -1)):
        for _ in range(5):
            place = {other: generator.uniform(-2, 2) for other in ("up", "down", "free", "other")}
            rows = pd.DataFrame({**{k: np.full(400, v) for k, v in place.items()}, "c": generator.choice(["a", "b"])})
            rows[name] = grid
            assert (direction * np.diff(model.decision_function(rows)) >= 0).all()
            assert (direction * np.diff(model.predict_proba(rows)[:, 1]) >= -1e-15).all()


@pytest.mark.parametrize(("epsilon", "contrary", "delta"), pairwise([0.1, 2.0, math.inf], [False, True], [1e-6, 0.0]))
def test_predictions_keep_the_declared_direction(epsilon, contrary, delta):
    frame, labels = world(3000, 0, contrary)
    model = AdditiveBoostClassifier(epsilon=epsilon, delta=delta, schema=schema(), random_state=0).fit(frame, labels)
    assert_monotone(model, 1)


def test_pairs_and_trees_stay_away_from_declared_columns():
    frame, labels = world(30_000, 0)
    model = AdditiveBoostClassifier(epsilon=8.0, schema=schema(), random_state=0).fit(frame, labels)
    assert model.model_.trees
    cut = {int(column) for tree in model.model_.trees for column in tree.shape.columns}
    assert cut == {2, 3, 4}
    assert_monotone(model, 2)
    drawn = AdditiveBoostClassifier(epsilon=8.0, schema=schema(), random_state=0, interactions="pairs")
    results = [pair.features for pair in drawn.fit(frame, labels).model_.pairs]
    assert (2, 3) in results
    assert all(set(pair) <= {2, 3, 4} for pair in results)
    assert_monotone(drawn, 2)
    again = model_from_dict(model.model_.to_dict())
    assert [feature.monotone for feature in again.features] == ["increasing", "decreasing", None, None, None]


def test_a_single_free_column_leaves_no_pairs():
    frame, labels = world(20_000, 0)
    one = Schema.from_dict({**schema().to_dict(), "columns": {
        name: column for name, column in schema().to_dict()["columns"].items() if name in ("up", "down", "free")
    }})  # fmt: skip
    model = AdditiveBoostClassifier(epsilon=8.0, schema=one, random_state=0).fit(frame, labels)
    assert model.model_.pairs == ()


def test_other_learners_refuse_what_they_cannot_promise():
    frame, labels = world(100, 0)
    with pytest.raises(RequestError, match="'up' is declared monotone"):
        BoostedTreesClassifier(schema=schema()).fit(frame, labels)


def test_the_report_says_so():
    frame, labels = world(2000, 0)
    model = AdditiveBoostClassifier(schema=schema()).fit(frame, labels)
    page = render(model.model_, model.certificate_.to_dict())
    assert "Declared to be increasing" in page
    assert "from -2 to 2, decreasing" in page or "from −2 to 2, decreasing" in page


@settings(max_examples=80, deadline=None)
@given(st.integers(3, 40), st.integers(0, 10_000), st.sampled_from([1, -1]), st.floats(1e-9, 1e9))
def test_projection_is_monotone_idempotent_and_nearest(bins, seed, direction, scale):
    generator = np.random.default_rng(seed)
    effect, counts = scale * generator.normal(size=bins), generator.integers(0, 50, bins).astype(float)
    out = project(effect, counts, direction)
    assert (direction * np.diff(out[:-1]) >= 0).all()
    assert out[-1] == effect[-1]
    assert project(out, counts, direction) == pytest.approx(out, rel=1e-9)
    assert (project(effect, counts, 0) == effect).all()
    weights = counts[:-1] + 1e-9 * counts.sum()
    if counts.sum() > 0:  # no other monotone curve is nearer
        rival = direction * np.sort(direction * (out[:-1] + 0.1 * scale * generator.normal(size=bins - 1)))
        error, other = ((weights * (curve - effect[:-1]) ** 2).sum() for curve in (out[:-1], rival))
        assert error <= other * (1 + 1e-9)


def test_steps_between_monotone_curves_are_repaired_to_the_last_digit():
    up = np.array([0.1, np.nextafter(0.1, 0), 0.3, 7.0])
    assert (np.diff(exactly(up, 1)[:-1]) >= 0).all()
    both = np.stack([up, -up], axis=1)
    assert project(both, np.ones(4), 1).shape == (4, 2)


@settings(max_examples=50, deadline=None)
@given(st.integers(3, 30), st.integers(2, 6), st.integers(0, 10_000), st.sampled_from([1, -1]))
def test_scores_of_classes_on_a_scale_are_projected_by_their_differences(bins, classes, seed, direction):
    generator = np.random.default_rng(seed)
    effect, counts = generator.normal(size=(bins, classes)), generator.integers(0, 50, bins).astype(float)
    for out in (project(effect, counts, direction), exactly(effect, direction)):
        assert (direction * np.diff(np.diff(out, axis=1)[:-1], axis=0) >= -1e-12).all()
        assert out.mean(axis=1) == pytest.approx(effect.mean(axis=1))
        assert out[-1] == pytest.approx(effect[-1])
    result = project(effect, counts, direction)
    assert project(result, counts, direction) == pytest.approx(result)
    powers = np.exp(result[:-1])  # stochastic dominance: the classes beyond any place get likelier
    upto = np.cumsum(powers, axis=1) / powers.sum(axis=1, keepdims=True)
    assert (direction * np.diff(upto, axis=0) <= 1e-12).all()


@pytest.mark.parametrize(
    ("contrary", "epsilon"),
    [
        pytest.param(False, 0.2, marks=pytest.mark.slow),
        (False, 4.0),
        (True, 0.2),
        (True, math.inf),
    ],
)
def test_several_classes_are_a_scale(epsilon, contrary):
    """With all else equal, the classes beyond any place of the scale never get less likely."""
    frame, labels = world(6000, 0, contrary)
    grades = labels + (np.random.default_rng(1).random(len(labels)) < 0.4)
    three = {**schema().to_dict(), "label": {"column": "y", "classes": [0, 1, 2]}}
    model = AdditiveBoostClassifier(epsilon=epsilon, schema=three, random_state=0).fit(frame, grades)
    generator, grid = np.random.default_rng(3), np.linspace(-2.5, 2.5, 300)
    for name, direction in (("up", 1), ("down", -1)):
        for _ in range(4):
            rows = pd.DataFrame({k: generator.uniform(-2, 2) for k in ("up", "down", "free", "other")}, range(300))
            rows["c"] = "a"
            rows[name] = grid
            upto = np.cumsum(model.predict_proba(rows), axis=1)[:, :-1]
            assert (direction * np.diff(upto, axis=0) <= 1e-9).all()
    page = render(model.model_, model.certificate_.to_dict())
    assert "Declared to be increasing" in page
    if not contrary and epsilon > 1:
        rows = pd.DataFrame({"up": [-2.0, 2.0], "down": 0.0, "free": 0.0, "other": 0.0, "c": "a"})
        assert np.diff(model.predict_proba(rows)[:, 0])[0] < 0


def test_regression_keeps_declared_directions_too():
    frame, labels = world(2000, 0, contrary=True)
    described = schema().to_dict() | {"label": {"column": "y", "kind": "numeric", "lower": -5, "upper": 5}}
    target = 4.0 * labels - 2.0 + frame["free"]
    for loss in ("squared", "quantile"):
        model = AdditiveBoostRegressor(epsilon=4.0, schema=described, loss=loss, random_state=0).fit(frame, target)
        grid = np.linspace(-2.5, 2.5, 200)
        for name, direction in (("up", 1), ("down", -1)):
            rows = pd.DataFrame({"up": 0.3, "down": -0.7, "free": 1.0, "other": 0.1, "c": "a"}, index=range(200))
            rows[name] = grid
            assert (direction * np.diff(model.predict(rows)) >= 0).all()
