"""Standard deviations of predictions of several classes and of numbers, against the scatter of repeated fits."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.additive.regressor import AdditiveBoostRegressor
from tacit.encoding.frames import Frame
from tacit.growing.score_leaves import ScoreNoise, Taken
from tacit.models.additive import AdditiveScores
from tacit.models.additive_scores import AdditiveClassesModel
from tacit.models.files import model_from_dict
from tacit.privacy.request import RequestError
from tacit.schema import Schema

COLUMNS = {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in ("a", "b", "c")} | {
    "d": {"kind": "categorical", "categories": [0, 1, 2, 3]}
}
CLASSES = Schema.from_dict({"label": {"column": "y", "classes": [0, 1, 2]}, "columns": COLUMNS})
NUMBERS = Schema.from_dict({"label": {"column": "y", "kind": "numeric", "lower": -15, "upper": 15}, "columns": COLUMNS})


def world(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Rows, one of three classes, and a number."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(generator.random((n, 3)), columns=["a", "b", "c"])
    frame["d"] = generator.integers(0, 4, n)
    score = 3 * (frame["a"] - 0.5) + 2 * np.sin(6 * frame["b"]) + np.array([-1.0, 0.0, 0.5, 1.0])[frame["d"]]
    score = np.asarray(score + 6 * (frame["a"] - 0.5) * (frame["b"] - 0.5))
    scores = np.stack([score, 1 - score / 2, 2 * np.cos(5 * frame["c"])], axis=1)
    return frame, (scores + generator.gumbel(size=(n, 3))).argmax(axis=1), score + generator.normal(size=n)


CASES = {
    "curves": ({"epsilon": 1.0, "interactions": False}, 4000),
    "pairs": ({"epsilon": 8.0, "interactions": "pairs"}, 4000),
    "pure": ({"epsilon": 1.0, "delta": 0.0}, 10_000),
    "trees": ({"epsilon": 8.0}, 8000),
}


@cache
def fitted(kind, case, seed):
    parameters, n = CASES[case]
    frame, labels, numbers = world(n, 0)
    if kind == "classes":
        return AdditiveBoostClassifier(schema=CLASSES, random_state=seed, **parameters).fit(frame, labels)
    return AdditiveBoostRegressor(schema=NUMBERS, random_state=seed, **parameters).fit(frame, numbers)


@pytest.mark.parametrize(
    ("kind", "case"),
    [
        pytest.param(kind, case, marks=pytest.mark.slow if (kind, case) == ("numbers", "trees") else ())
        for kind in ("classes", "numbers")
        for case in sorted(CASES)
    ],
)
def test_stated_deviations_are_those_of_repeated_fits(kind, case):
    asked, *_ = world(300, 9)
    said, sds, intervals = [], [], []
    for seed in range(4):
        model = fitted(kind, case, seed)
        of_classes = kind == "classes"
        said.append(model.model_.log_odds(model.frame_for_model(asked)) if of_classes else model.predict(asked))
        sds.append(model.predict_std(asked))
        intervals.append(model.predict_interval(asked))
    scatter = np.sqrt(np.var(said, axis=0, ddof=1).mean(axis=0))
    stated = np.sqrt(np.square(sds).mean(axis=(0, 1)))
    assert (stated > 0.65 * scatter).all()
    # what is stated holds what smoothing leaves open, too, of which columns that matter little are nearly all
    assert (stated < (2.8 if case == "trees" else 3.8) * scatter).all()
    average = np.mean(said, axis=0)
    average = 1 / (1 + np.exp(-average)) if kind == "classes" else average
    low, high = np.moveaxis(np.array(intervals), -1, 0)
    assert ((low <= average) & (average <= high)).mean() > 0.85


@pytest.mark.parametrize(
    ("quantile", "n", "epsilon", "delta", "least"),
    [(0.5, 4000, 0.1, 1e-6, 0.85), (0.9, 4000, 0.1, 1e-6, 0.85), (0.9, 1000, 0.5, 1e-6, 0.85), (0.5, 4000, 1, 0, 0.4)],
)
def test_deviations_of_quantiles_know_what_smoothing_leaves_open(quantile, n, epsilon, delta, least):
    """Large noise says by itself how much the loss is smoothed, and with it where a tail's quantile lies.

    At a delta of 0 deviations are known to be too small.
    """
    frame, _, numbers = world(n, 0)
    asked, *_ = world(300, 9)
    said, sds = [], []
    for seed in range(10):
        model = AdditiveBoostRegressor(
            epsilon, delta, schema=NUMBERS, loss="quantile", quantile=quantile, interactions=False, random_state=seed
        ).fit(frame, numbers)
        said.append(model.predict(asked))
        sds.append(model.predict_std(asked))
    ratio = math.sqrt(np.square(sds).mean() / np.var(said, axis=0, ddof=1).mean())
    assert least < ratio < 1.6


def test_files_keep_it_and_intervals_hold_the_prediction():
    frame, *_ = world(8000, 0)
    several, number = fitted("classes", "trees", 0), fitted("numbers", "trees", 0)
    assert several.model_.scores.trees
    assert number.model_.scores.trees
    frame = frame.head(1000)
    again = model_from_dict(several.model_.to_dict())
    assert np.sqrt(again.log_odds_variance(several.frame_for_model(frame))) == pytest.approx(several.predict_std(frame))
    again = model_from_dict(number.model_.to_dict())
    assert np.sqrt(again.score_variance(number.frame_for_model(frame))) == pytest.approx(number.predict_std(frame))
    for model, said in ((several, several.predict_proba(frame)), (number, number.predict(frame))):
        narrow, wide = (model.predict_interval(frame, confidence) for confidence in (0.5, 0.99))
        assert (wide[..., 0] <= narrow[..., 0]).all()
        assert (narrow[..., 1] <= wide[..., 1]).all()
        assert ((narrow[..., 0] <= said + 1e-9) & (said - 1e-9 <= narrow[..., 1])).all()
        assert model.predict_std(frame).shape == said.shape
        for confidence in (0, 1, math.nan, "much"):
            with pytest.raises(RequestError, match="confidence"):
                model.predict_interval(frame, confidence)
    ends = number.predict_interval(frame, 0.999999)
    assert ends.min() >= -15
    assert ends.max() <= 15


def test_old_files_do_not_know():
    frame, labels, numbers = world(500, 0)
    several = AdditiveBoostClassifier(schema=CLASSES).fit(frame, labels)
    several.model_ = replace(several.model_, scores=replace(several.model_.scores, intercept_sd=None))
    number = AdditiveBoostRegressor(schema=NUMBERS).fit(frame, numbers)
    number.model_ = replace(number.model_, scores=replace(number.model_.scores, intercept_sd=None))
    for model in (several, number):
        with pytest.raises(RequestError, match=r"deviations|how sure"):
            model.predict_std(frame)


@pytest.mark.parametrize("classes", [3, 4, 9])
def test_log_odds_vary_as_drawn_scores_do(classes):
    """Independent errors with their mean taken off, drawn, against the formula."""
    generator = np.random.default_rng(classes)
    scores, own = generator.normal(0, 1, classes), generator.uniform(0.01, 0.1, classes)
    errors = generator.normal(0, own, (200_000, classes))
    errors -= errors.mean(axis=1, keepdims=True)
    drawn = scores + errors
    powers = np.exp(drawn)
    odds = np.log(powers) - np.log(powers.sum(axis=1, keepdims=True) - powers)
    model = AdditiveClassesModel(tuple(range(classes)), AdditiveScores(scores, (), (), (), (), errors.std(axis=0)))
    frame = Frame({}, 1)
    assert model.log_odds(frame)[0] == pytest.approx(odds.mean(axis=0), abs=0.01)
    assert model.log_odds_variance(frame)[0] == pytest.approx(odds.var(axis=0), rel=0.03)


def test_sure_rows_have_finite_log_odds():
    scores = AdditiveScores(np.array([900.0, 0.0, -900.0]), (), (), (), (), np.full(3, 0.1))
    model = AdditiveClassesModel((0, 1, 2), scores)
    frame = Frame({}, 1)
    assert np.isfinite(model.log_odds(frame)).all()
    assert np.isfinite(model.log_odds_variance(frame)).all()


def test_one_leaf_leaves_what_the_recursion_says():
    """With one leaf noise follows ``F <- (1 - a h) F + a noise`` in every direction: an autoregression."""
    answer, curvature, sd, rounds = 0.004, 75.0, 5.0, 40
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 2)))[0]
    taken = Taken(np.zeros((1, 3)), np.full((1, 2), answer), np.full((1, 2), curvature), basis)
    found = []
    for seed in range(60):
        noise = ScoreNoise(np.random.default_rng(seed), 3)
        for _ in range(rounds):
            noise.observe(np.zeros(512, np.int64), taken, sd)
        found.append(np.square(noise._scores).sum(axis=2).mean())
    kept = (1 - answer * curvature) ** 2
    expected = 2 * (answer * sd) ** 2 * (1 - kept**rounds) / (1 - kept)
    assert np.mean(found) == pytest.approx(expected, rel=0.1)
    assert noise._alone == pytest.approx(rounds * 2 * (answer * sd) ** 2)
