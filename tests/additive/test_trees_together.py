"""Kernel trees in whole fits: what they see, and that their steps vanish where nothing is left over."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from tacit import AdditiveBoostClassifier, Schema
from tacit.additive.boost import AdditiveBoost
from tacit.additive.tuning import TUNING

NAMES = list("abcd")
SCHEMA = Schema.from_dict(
    {
        "label": {"column": "y", "kind": "classes", "classes": [0, 1], "positive": 1},
        "columns": {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in NAMES},
    }
)


def near_rows_are_alike(n, seed):
    """Labels of the nearest of 40 centres, one in seven of them wrong."""
    world, generator = np.random.default_rng(7), np.random.default_rng(seed)
    centres, sign = world.random((40, 4)), world.integers(0, 2, 40)
    X = generator.random((n, 4))
    nearest = ((X[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    return pd.DataFrame(X, columns=NAMES), (generator.random(n) < 0.15 + 0.7 * sign[nearest]).astype(int)


def columns_act_alone(n, seed):
    generator = np.random.default_rng(seed)
    X = generator.random((n, 4))
    scores = 3 * (X[:, 0] - 0.5) + 2 * np.sin(6 * X[:, 1]) - 2 * (X[:, 2] > 0.5) + 1
    return pd.DataFrame(X, columns=NAMES), (generator.random(n) < 1 / (1 + np.exp(-scores))).astype(int)


@pytest.mark.parametrize("world", [near_rows_are_alike, columns_act_alone])
def test_they_follow_where_columns_or_pairs_explain_much(world):
    model = AdditiveBoostClassifier(epsilon=1.0, schema=SCHEMA, random_state=0).fit(*world(6000, 0)).model_
    assert bool(model.pairs) == (world is near_rows_are_alike)
    assert model.trees


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_they_see_what_pairs_do_not(seed, monkeypatch):
    """Columns explain little of such a table, and pairs enough for trees to follow."""
    X, y = near_rows_are_alike(6000, 0)
    X_test, y_test = near_rows_are_alike(4000, 1)
    aucs, models = [], []
    for least in (math.inf, TUNING.planning.trees_explained_from):
        planning = replace(AdditiveBoost.tuning.planning, trees_explained_from=least)
        monkeypatch.setattr(AdditiveBoost, "tuning", replace(AdditiveBoost.tuning, planning=planning))
        models.append(AdditiveBoostClassifier(epsilon=8.0, schema=SCHEMA, random_state=seed).fit(X, y))
        aucs.append(roc_auc_score(y_test, models[-1].predict_proba(X_test)[:, 1]))
    assert [(bool(fit.model_.pairs), bool(fit.model_.trees)) for fit in models] == [(True, False), (True, True)]
    assert aucs[1] > aucs[0]


@pytest.mark.slow
def test_where_columns_act_alone_they_cost_little_and_fall_silent_in_many_rows():
    """In 2,000 rows nothing tells whether more is left, and trees are asked all the same: they add noise, no more."""
    spreads, aucs = [], []
    X_test, y_test = columns_act_alone(8000, 9)
    for rows in (2000, 30_000):
        X, y = columns_act_alone(rows, 0)
        model = AdditiveBoostClassifier(epsilon=8.0, schema=SCHEMA, random_state=0).fit(X, y).model_
        codes = [feature.bins(model.frame_of(X)).astype(np.uint8) for feature in model.features]
        spreads.append(float(np.std(sum(tree.values[tree.shape.find(codes)] for tree in model.trees))))
        alone = AdditiveBoostClassifier(epsilon=8.0, schema=SCHEMA, random_state=0, interactions="pairs").fit(X, y)
        aucs.append([roc_auc_score(y_test, fit.predict_proba(X_test)[:, 1]) for fit in (model, alone)])
    assert spreads[0] < 0.5
    assert spreads[1] < 0.2
    assert len(model.trees) < 200  # of 400: they end
    assert aucs[0][0] > aucs[0][1] - 0.05
    assert aucs[1][0] > aucs[1][1] - 0.02
