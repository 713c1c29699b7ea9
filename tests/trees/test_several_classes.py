"""Gradient trees of several classes: what they learn, where they begin, and what their noise is."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from tacit import BoostedTreesClassifier
from tacit.encoding.frames import columns_of
from tacit.models.tree_importance import partial_effects
from tacit.privacy.budget import Allowance
from tacit.privacy.label import Stage

COLUMNS = {
    "a": {"kind": "numeric", "lower": 0, "upper": 1},
    "b": {"kind": "numeric", "lower": 0, "upper": 1},
    "c": {"kind": "categorical", "categories": ["u", "v", "w"]},
    "d": {"kind": "numeric", "lower": 0, "upper": 1},
}
CLASSES = ["north", "east", "south"]
SCHEMA = {"label": {"column": "y", "classes": CLASSES}, "columns": COLUMNS}


def synthetic(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Columns of which ``d`` tells nothing, classes, and their chances; ``a`` and ``b`` speak together, too."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame({name: generator.random(n) for name in "abd"}).assign(c=generator.choice(["u", "v", "w"], n))
    a, b = frame["a"].to_numpy(), frame["b"].to_numpy()
    score = np.stack([3.0 * a, 2.0 * (frame["c"] == "u") + 0.5, 4.0 * ((a > 0.5) == (b > 0.5))], axis=1)
    chances = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    labels = np.array(CLASSES)[(chances.cumsum(axis=1) < generator.random((n, 1))).sum(axis=1)]
    return frame, labels, chances


def fitted(n: int = 6000, **asked: object) -> BoostedTreesClassifier:
    frame, labels, _ = synthetic(n, 0)
    return BoostedTreesClassifier(**{"schema": SCHEMA, "random_state": 1, **asked}).fit(frame, labels)


def log_loss(estimator: BoostedTreesClassifier, frame: pd.DataFrame, labels: np.ndarray) -> float:
    places = np.searchsorted(estimator.classes_, labels)
    return float(-np.log(estimator.predict_proba(frame)[np.arange(len(labels)), places]).mean())


@pytest.mark.slow
def test_where_noise_drowns_all_the_base_rates_are_left() -> None:
    """Over seeds: no class is called likely for being one of few."""
    frame, labels, _ = synthetic(4000, 1)
    rare = np.where(labels == "east", np.where(np.arange(4000) % 4, "north", "east"), labels)
    made = [BoostedTreesClassifier(0.2, schema=SCHEMA, n_trees=40, random_state=seed) for seed in range(12)]
    mean = np.mean([model.fit(frame, rare).predict_proba(frame).mean(axis=0) for model in made], axis=0)
    shares = pd.Series(rare).value_counts(normalize=True).sort_index().to_numpy()
    assert mean == pytest.approx(shares, abs=0.06)


def test_probabilities_are_those_of_the_scores_in_the_order_of_classes() -> None:
    frame, _, _ = synthetic(500, 1)
    model = fitted()
    scores, chances = model.decision_function(frame), model.predict_proba(frame)
    powers = np.exp(scores)
    assert list(model.classes_) == sorted(CLASSES)
    assert list(model.model_.classes) == CLASSES
    assert chances == pytest.approx(powers / powers.sum(axis=1, keepdims=True))
    assert (model.predict(frame) == model.classes_[scores.argmax(axis=1)]).all()


@pytest.mark.slow
def test_noise_is_as_large_as_is_said() -> None:
    """The spread of log-odds over the noise of fits to the same rows, against what a fit says of itself."""
    frame, labels, _ = synthetic(3000, 0)
    some = frame[:200]
    made = [BoostedTreesClassifier(2.0, schema=SCHEMA, n_trees=40, random_state=seed) for seed in range(10)]
    fits = [model.fit(frame, labels) for model in made]
    spread = np.std([found.model_.log_odds(columns_of(some)) for found in fits], axis=0, ddof=1)
    said = np.mean([found.predict_std(some) for found in fits], axis=0)
    assert 0.75 < (said.mean() / spread.mean()) < 1.8


def test_partial_effects_are_means_over_the_other_columns() -> None:
    """Of every bin, against scores of rows in which the column alone was set."""
    model = fitted(epsilon=8.0, n_trees=10).model_
    [found] = partial_effects(model.trees, model.masses, [2])
    generator = np.random.default_rng(0)
    rows = [generator.choice(len(mass), 20_000, p=mass / mass.sum()).astype(np.uint8) for mass in model.masses]
    by_bin = []
    for code in range(len(model.masses[2])):
        rows[2] = np.full(20_000, code, np.uint8)
        by_bin.append(sum(tree.values[tree.shape.find(rows)].mean(axis=0) for tree in model.trees))
    centred = np.array(by_bin) - model.masses[2] @ np.array(by_bin)
    assert found.effect == pytest.approx(centred, abs=0.05)
    assert np.abs(centred).max() > 0.2
    assert (found.sd >= 0).all()


def test_shares_of_the_budget_by_stage() -> None:
    """Counts 3 %, histograms 9 %, two steps of constants half a per cent each, and trees alike what is left."""
    result = fitted(500, epsilon=1.0, n_trees=3).certificate_
    whole, shares = math.fsum(entry.charge.precision for entry in result.entries), {}
    for entry in result.entries:
        shares.setdefault(entry.stage, []).append(entry.charge.precision / whole)
    assert whole == pytest.approx(Allowance.of(1.0, 1e-6).mu ** 2)
    assert sum(shares.pop(Stage.COUNTS)) == pytest.approx(0.03)
    assert shares.pop(Stage.INTERCEPT) == pytest.approx([0.005, 0.005])
    assert shares.pop(Stage.TREE) == pytest.approx([(1 - 0.03 - 0.09 - 0.01) / 3] * 3)
    assert math.fsum(share for some in shares.values() for share in some) == pytest.approx(0.09)
    pure = fitted(500, epsilon=1.0, delta=0.0, n_trees=3).certificate_
    by_stage = {stage: [e.charge.epsilon for e in pure.entries if e.stage is stage] for stage in Stage}
    assert by_stage[Stage.COUNTS] == pytest.approx([0.06])
    assert by_stage[Stage.INTERCEPT] == pytest.approx([0.01, 0.01])
    assert by_stage[Stage.TREE] == pytest.approx([(1 - 0.06 - 0.02) / 3] * 3)  # noise would drown histograms
