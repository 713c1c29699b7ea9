"""Standard deviations of predictions against the scatter of repeated fits."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tacit.additive.estimator import AdditiveBoostClassifier, AdditiveBoostRegressor
from tacit.encoding.frames import Frame
from tacit.growing.newton_trees import LeafSums
from tacit.growing.score_leaves import ScoreNoise, Taken
from tacit.growing.tree_noise import LeafNoise
from tacit.models.additive import AdditiveScores
from tacit.models.additive_scores import AdditiveClassesModel
from tacit.models.files import model_from_dict
from tacit.models.tree import Tree, complete_shape, threshold_sets
from tacit.privacy.request import RequestError
from tacit.schema import Schema
from tacit.trees.estimator import BoostedTreesClassifier, MAlphaBoostClassifier
from tests.chance import ALARM

COLUMNS = {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in ("a", "b", "c")} | {
    "d": {"kind": "categorical", "categories": [0, 1, 2, 3]}
}
LABELS = {
    "two": {"classes": [0, 1]},
    "classes": {"classes": [0, 1, 2]},
    "numbers": {"kind": "numeric", "lower": -15, "upper": 15},
}
SCHEMAS = {
    kind: Schema.from_dict({"label": {"column": "y", **said}, "columns": COLUMNS}) for kind, said in LABELS.items()
}
SCHEMA, NUMBERS = SCHEMAS["two"], SCHEMAS["numbers"]


def world(n: int, seed: int, kind: str = "two") -> tuple[pd.DataFrame, np.ndarray]:
    """Rows, and one of two classes, one of three, or a number."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(generator.random((n, 3)), columns=["a", "b", "c"])
    frame["d"] = generator.integers(0, 4, n)
    score = 3 * (frame["a"] - 0.5) + 2 * np.sin(6 * frame["b"]) + np.array([-1.0, 0.0, 0.5, 1.0])[frame["d"]]
    score = np.asarray(score + 6 * (frame["a"] - 0.5) * (frame["b"] - 0.5))
    if kind == "two":
        return frame, (generator.random(n) < 1 / (1 + np.exp(-score))).astype(int)
    if kind == "numbers":
        return frame, score + generator.normal(size=n)
    scores = np.stack([score, 1 - score / 2, 2 * np.cos(5 * frame["c"])], axis=1)
    return frame, (scores + generator.gumbel(size=(n, 3))).argmax(axis=1)


CASES = {
    "curves": ({"epsilon": 1.0, "interactions": False}, 4000),
    "pairs": ({"epsilon": 8.0, "interactions": "pairs"}, 4000),
    "pure": ({"epsilon": 1.0, "delta": 0.0}, 10_000),
    "trees": ({"epsilon": 8.0}, 8000),
    "leaves": ({"epsilon": 1.0, "n_trees": 200}, 4000),
    "pure leaves": ({"epsilon": 1.0, "delta": 0.0}, 10_000),
}


@cache
def fitted(kind, case, seed):
    parameters, n = CASES[case]
    learner = AdditiveBoostRegressor if kind == "numbers" else AdditiveBoostClassifier
    learner = BoostedTreesClassifier if "leaves" in case else learner
    return learner(schema=SCHEMAS[kind], random_state=seed, **parameters).fit(*world(n, 0, kind))


@pytest.mark.parametrize(
    ("kind", "case"),
    [
        pytest.param(kind, case, marks=pytest.mark.slow if case == "trees" and kind != "classes" else ())
        for kind in LABELS
        for case in CASES
        if kind == "two" or "leaves" not in case
    ],
)
def test_stated_deviations_are_those_of_repeated_fits(kind, case):
    asked, _ = world(300, 9)
    said, sds, intervals = [], [], []
    for seed in range(4):
        model = fitted(kind, case, seed)
        if kind == "classes":
            said.append(model.model_.log_odds(model.frame_for_model(asked)))
        else:
            said.append(model.decision_function(asked) if kind == "two" else model.predict(asked))
        sds.append(model.predict_std(asked))
        intervals.append(model.predict_interval(asked))
    scatter = np.sqrt(np.var(said, axis=0, ddof=1).mean(axis=0))
    stated = np.sqrt(np.square(sds).mean(axis=(0, 1)))
    assert (stated > 0.65 * scatter).all()
    # what is stated holds what smoothing leaves open, too, of which columns that matter little are nearly all
    assert (stated < (3.2 if kind == "two" else 2.8 if case == "trees" else 3.8) * scatter).all()
    average = np.mean(said, axis=0)
    average = average if kind == "numbers" else 1 / (1 + np.exp(-average))
    low, high = np.moveaxis(np.array(intervals), -1, 0)
    assert ((low <= average) & (average <= high)).mean() > 0.85


OF_QUANTILES = [
    (0.5, 4000, 0.1, 1e-6, 0.85),
    (0.9, 4000, 0.1, 1e-6, 0.85),
    (0.9, 1000, 0.5, 1e-6, 0.85),
    (0.5, 4000, 1, 0, 0.4),
]


@pytest.mark.parametrize(
    ("fits", "quantile", "n", "epsilon", "delta", "least"),
    [
        pytest.param(fits, *case, marks=[pytest.mark.slow] * (fits == 100 or number != 2))
        for fits in (25, 100)
        for number, case in enumerate(OF_QUANTILES)
    ],
)
def test_deviations_of_quantiles_know_what_smoothing_leaves_open(fits, quantile, n, epsilon, delta, least):
    """Large noise says by itself how much the loss is smoothed, and with it where a tail's quantile lies.

    At a delta of 0 deviations are known to be too small. The bounds are of the true ratio; chi squared says how far
    the variance of so many fits may be off, were all predictions of a fit moved alike.
    """
    frame, numbers = world(n, 0, "numbers")
    asked, _ = world(300, 9)
    said, sds = [], []
    for seed in range(fits):
        model = AdditiveBoostRegressor(
            epsilon, delta, schema=NUMBERS, loss="quantile", quantile=quantile, interactions=False, random_state=seed
        ).fit(frame, numbers)
        said.append(model.predict(asked))
        sds.append(model.predict_std(asked))
    ratio = math.sqrt(np.square(sds).mean() / np.var(said, axis=0, ddof=1).mean())
    law = stats.chi2(fits - 1, scale=1 / (fits - 1))
    assert least / math.sqrt(law.isf(ALARM / 2)) < ratio < 1.6 / math.sqrt(law.ppf(ALARM / 2))


@pytest.mark.parametrize(("kind", "case"), [("two", "leaves"), *((kind, "trees") for kind in LABELS)])
def test_files_keep_it_and_intervals_hold_the_prediction(kind, case):
    frame, _ = world(1000, 0)
    model = fitted(kind, case, 0)
    assert case == "leaves" or kind == "two" or model.model_.scores.trees
    again = model_from_dict(model.model_.to_dict())
    variance = again.log_odds_variance if kind == "classes" else again.score_variance
    assert np.sqrt(variance(model.frame_for_model(frame))) == pytest.approx(model.predict_std(frame))
    said = model.predict(frame) if kind == "numbers" else model.predict_proba(frame)
    said = said[:, 1] if kind == "two" else said
    narrow, wide = (model.predict_interval(frame, confidence) for confidence in (0.5, 0.99))
    assert (wide[..., 0] <= narrow[..., 0]).all()
    assert (narrow[..., 1] <= wide[..., 1]).all()
    assert ((narrow[..., 0] <= said + 1e-9) & (said - 1e-9 <= narrow[..., 1])).all()
    assert model.predict_std(frame).shape == said.shape
    for confidence in (0, 1, math.nan, "much"):
        with pytest.raises(RequestError, match="confidence"):
            model.predict_interval(frame, confidence)
    if kind == "numbers":
        ends = model.predict_interval(frame, 0.999999)
        assert ends.min() >= -15
        assert ends.max() <= 15


def test_models_that_do_not_know_say_so():
    frame, labels = world(500, 0)
    chosen = BoostedTreesClassifier(schema=SCHEMA, n_trees=1).fit(frame, labels)
    chosen.model_ = MAlphaBoostClassifier(epsilon=4.0, schema=SCHEMA).fit(frame, labels).model_
    made = [chosen]
    for kind, learner in (("classes", AdditiveBoostClassifier), ("numbers", AdditiveBoostRegressor)):
        model = learner(schema=SCHEMAS[kind]).fit(*world(500, 0, kind))
        model.model_ = replace(model.model_, scores=replace(model.model_.scores, intercept_sd=None))  # of an old file
        made.append(model)
    for model in made:
        with pytest.raises(RequestError, match=r"deviations|how sure"):
            model.predict_std(frame)


MANY = 20_000
"""Runs of noise through the rounds: their mean square scatters by 1 %."""


def leaf_noise(rounds: int, rate: float) -> tuple[LeafNoise, list[Tree]]:
    """Rounds over one leaf of 100 rows at score 0 whose released sum has noise of sd 5."""
    noise, trees = LeafNoise(replace(LeafNoise().numbers, runs=MANY, simulated_rows=2)), []
    for _ in range(rounds):
        curvatures, gradients = np.array([25.0]), np.array([100.0])
        steps = rate * gradients / curvatures
        noise.observe(LeafSums(gradients, curvatures, 5.0, 5.0), steps)
        trees.append(Tree(complete_shape([], threshold_sets([])), steps, curvatures))
    return noise, trees


def test_one_leaf_leaves_what_the_recursion_says():
    """With one leaf the noise follows ``F <- (1 - .7 rate) F + rate noise / h``: an autoregression."""
    rate, rounds = 0.3, 40
    noise, trees = leaf_noise(rounds, rate)
    annotated = noise.annotate(trees, [np.ones(3)], np.random.default_rng(0))
    kept = (1 - 0.7 * rate) ** 2
    expected = rate * 5.0 / 25.0 * math.sqrt((1 - kept**rounds) / (1 - kept))
    assert math.sqrt(sum(tree.sd.item() ** 2 for tree in annotated)) == pytest.approx(expected, rel=0.04)


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


def test_one_leaf_of_several_scores_leaves_what_the_recursion_says():
    """With one leaf noise follows ``F <- (1 - a h) F + a noise`` in every direction: an autoregression."""
    answer, curvature, sd, rounds = 0.004, 75.0, 5.0, 40
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 2)))[0]
    taken = Taken(np.zeros((1, 3)), np.full((1, 2), answer), np.full((1, 2), curvature), basis)
    noise = ScoreNoise(np.random.default_rng(0), 3, MANY)
    for _ in range(rounds):
        noise.observe(np.zeros(2, np.int64), taken, sd)
    kept = (1 - answer * curvature) ** 2
    expected = 2 * (answer * sd) ** 2 * (1 - kept**rounds) / (1 - kept)
    assert np.square(noise._scores).sum(axis=2).mean() == pytest.approx(expected, rel=0.07)
    assert noise._alone == pytest.approx(rounds * 2 * (answer * sd) ** 2)
