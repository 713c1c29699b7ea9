"""As epsilon grows the default learner comes to its own non-private limit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.schema import Schema

ROWS, TEST_ROWS = 3000, 3000
COLUMNS = {f"x{j}": {"kind": "numeric", "lower": 0.0, "upper": 1.0} for j in range(4)}
SCHEMA = Schema.from_dict({"label": {"column": "y", "kind": "classes", "classes": [0, 1]}, "columns": COLUMNS})


def score_of_truth(X: np.ndarray) -> np.ndarray:
    return 3 * (X[:, 0] - 0.5) + 2 * np.sin(6 * X[:, 1]) + 8 * (X[:, 2] - 0.5) * (X[:, 3] - 0.5)


def scores(epsilon: float, interactions: bool | str, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(7)
    X = generator.random((ROWS + TEST_ROWS, 4))
    y = (generator.random(ROWS) < 1 / (1 + np.exp(-score_of_truth(X[:ROWS])))).astype(int)
    model = AdditiveBoostClassifier(epsilon=epsilon, schema=SCHEMA, interactions=interactions, random_state=seed)
    return np.asarray(model.fit(X[:ROWS], y).decision_function(X[ROWS:]))


def distance(first: np.ndarray, second: np.ndarray) -> float:
    """Root mean square difference, relative to the spread of the scores."""
    return float(np.sqrt(np.mean((first - second) ** 2)) / second.std())


@pytest.mark.slow
@pytest.mark.parametrize("interactions", [False, "pairs"])
def test_curves_and_pairs_converge_to_the_limit(interactions):
    limit = scores(math.inf, interactions)
    away = [distance(scores(epsilon, interactions), limit) for epsilon in (1.0, 1e2, 1e6)]
    assert away[0] > 2 * away[1]
    assert away[2] < 0.01


@pytest.mark.slow
def test_trees_converge_too_up_to_their_random_shapes():
    """Without noise fewer random numbers are drawn, so shapes differ: the limit is one of the law, not of a seed."""
    far, near, nearest = (scores(epsilon, True) for epsilon in (4.0, 1e6, 1e8))
    assert distance(near, nearest) < 0.15 < distance(far, nearest)  # .01 to .06, as splits tie, and .23
    limit, other = scores(math.inf, True), scores(math.inf, True, seed=1)
    assert distance(near, limit) < 1.5 * distance(other, limit)


def test_curves_tell_columns_apart_that_hang_together():
    """The effect is in the difference of two columns that say nearly the same: one takes at first what is another's."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(5000, 1)) + 0.25 * generator.normal(size=(5000, 3))
    truth = 3 * (X[:, 0] - X[:, 1])
    y = (generator.random(len(X)) < 1 / (1 + np.exp(-truth))).astype(int)
    columns = {f"x{j}": {"kind": "numeric", "lower": -4.0, "upper": 4.0} for j in range(3)}
    schema = Schema.from_dict({"label": {"column": "y", "kind": "classes", "classes": [0, 1]}, "columns": columns})
    for epsilon, at_least in ((8.0, 0.8), (1e6, 0.92)):  # .87 and .91 after 24 sweeps of half steps
        model = AdditiveBoostClassifier(epsilon=epsilon, schema=schema, interactions=False, random_state=0)
        score = model.fit(X[:2500], y[:2500]).decision_function(X[2500:])
        assert np.corrcoef(score, truth[2500:])[0, 1] > at_least


@pytest.mark.parametrize(("epsilon", "least", "most"), [(4.0, 0.4, 1.1), (math.inf, 0.7, 1.3)])
def test_effects_of_a_rare_class_are_found_in_their_size(epsilon, least, most):
    """2 % positives: rows scatter by a fifteenth of what they do where classes are as frequent as one another."""
    generator = np.random.default_rng(3)
    X = generator.random((12_000, 4))
    truth = 3 * (X[:, 0] - 0.5) + 2 * np.sin(6 * X[:, 1]) - 5.0
    y = (generator.random(len(X)) < 1 / (1 + np.exp(-truth))).astype(int)
    assert y.mean() < 0.03
    model = AdditiveBoostClassifier(epsilon=epsilon, schema=SCHEMA, interactions=False, random_state=3)
    score = model.fit(X[:6000], y[:6000]).decision_function(X[6000:])
    assert least < np.polyfit(truth[6000:], score, 1)[0] < most
