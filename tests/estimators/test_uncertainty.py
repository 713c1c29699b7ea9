"""Standard deviations of predictions against the scatter of repeated fits."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.growing.newton_trees import LeafSums
from tacit.growing.tree_noise import LeafNoise
from tacit.models.files import model_from_dict
from tacit.models.tree import Tree, complete_shape, threshold_sets
from tacit.privacy.request import RequestError
from tacit.schema import Schema
from tacit.trees.estimator import BoostedTreesClassifier, MAlphaBoostClassifier

SCHEMA = Schema.from_dict(
    {
        "label": {"column": "y", "classes": [0, 1]},
        "columns": {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in ("a", "b", "c")}
        | {"d": {"kind": "categorical", "categories": [0, 1, 2, 3]}},
    }
)


def world(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(generator.random((n, 3)), columns=["a", "b", "c"])
    frame["d"] = generator.integers(0, 4, n)
    score = 3 * (frame["a"] - 0.5) + 2 * np.sin(6 * frame["b"]) + np.array([-1.0, 0.0, 0.5, 1.0])[frame["d"]]
    score += 6 * (frame["a"] - 0.5) * (frame["b"] - 0.5)
    return frame, (generator.random(n) < 1 / (1 + np.exp(-score))).astype(int)


def repeated(estimator, fits: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log-odds, standard deviations and intervals of fits to the same rows."""
    frame, labels = world(n, 0)
    asked, _ = world(300, 9)
    scores, sds, intervals = [], [], []
    for seed in range(fits):
        estimator.set_params(random_state=seed)
        estimator.fit(frame, labels)
        scores.append(estimator.decision_function(asked))
        sds.append(estimator.predict_std(asked))
        intervals.append(estimator.predict_interval(asked))
    return np.array(scores), np.array(sds), np.array(intervals)


@pytest.mark.parametrize(
    ("estimator", "n", "fits"),
    [
        (AdditiveBoostClassifier(epsilon=1.0, schema=SCHEMA, interactions=False), 4000, 5),
        (AdditiveBoostClassifier(epsilon=8.0, schema=SCHEMA, interactions="pairs"), 4000, 4),
        (AdditiveBoostClassifier(epsilon=1.0, delta=0.0, schema=SCHEMA), 10_000, 5),
        pytest.param(AdditiveBoostClassifier(epsilon=8.0, schema=SCHEMA), 8000, 5, marks=pytest.mark.slow),
        (BoostedTreesClassifier(epsilon=1.0, schema=SCHEMA, n_trees=200), 4000, 4),
        (BoostedTreesClassifier(epsilon=1.0, delta=0.0, schema=SCHEMA), 10_000, 5),
    ],
    ids=["curves", "pairs", "pure", "with trees", "trees", "pure trees"],
)
def test_stated_deviations_are_those_of_repeated_fits(estimator, n, fits):
    scores, sds, intervals = repeated(estimator, fits, n)
    scatter = np.sqrt((scores.var(axis=0, ddof=1)).mean())
    stated = np.sqrt((sds**2).mean())
    assert 0.65 < stated / scatter < 3.2  # what smoothing leaves open does not scatter
    average = 1 / (1 + np.exp(-scores.mean(axis=0)))
    held = ((intervals[:, :, 0] <= average) & (average <= intervals[:, :, 1])).mean()
    assert held > 0.85


@pytest.mark.parametrize("learner", [AdditiveBoostClassifier, BoostedTreesClassifier])
def test_files_keep_it_and_intervals_hold_the_prediction(learner):
    frame, labels = world(5000, 0)
    model = learner(epsilon=8.0, schema=SCHEMA, random_state=0).fit(frame, labels)
    again = model_from_dict(model.model_.to_dict())
    assert np.sqrt(again.score_variance(model.frame_for_model(frame))) == pytest.approx(model.predict_std(frame))
    narrow, wide = (model.predict_interval(frame, confidence) for confidence in (0.5, 0.99))
    assert (wide[:, 0] <= narrow[:, 0]).all()
    assert (narrow[:, 1] <= wide[:, 1]).all()
    chances = model.predict_proba(frame)[:, 1]
    assert ((narrow[:, 0] <= chances) & (chances <= narrow[:, 1])).all()


def test_models_that_do_not_know_say_so():
    frame, labels = world(500, 0)
    chosen = BoostedTreesClassifier(schema=SCHEMA, n_trees=1).fit(frame, labels)
    chosen.model_ = MAlphaBoostClassifier(epsilon=4.0, schema=SCHEMA).fit(frame, labels).model_
    with pytest.raises(RequestError, match="standard deviations"):
        chosen.predict_std(frame)
    model = AdditiveBoostClassifier(schema=SCHEMA).fit(frame, labels)
    for confidence in (0, 1, math.nan, "much"):
        with pytest.raises(RequestError, match="confidence"):
            model.predict_interval(frame, confidence)


def leaf_noise(rounds: int, rate: float) -> tuple[LeafNoise, list[Tree]]:
    """Rounds over one leaf of 100 rows at score 0 whose released sum has noise of sd 5."""
    noise, trees = LeafNoise(), []
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
    got = math.sqrt(sum(tree.sd.item() ** 2 for tree in annotated))
    assert 0.5 * expected < got < 1.6 * expected  # a few runs of one number only
    runs = [noise.left_over([tree.shape for tree in trees], [np.ones(3)], np.random.default_rng(s)) for s in range(60)]
    mean = math.sqrt(np.mean(np.square(runs)) * rounds) * rate * 5.0 / 25.0
    assert mean == pytest.approx(expected, rel=0.1)


def test_no_trees_have_no_noise():
    assert LeafNoise().annotate([], [], np.random.default_rng(0)) == ()
