"""Without noise it is ordinary boosting: as good as scikit-learn's on three tables, and marked as not private."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_hastie_10_2
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from tacit.trees.estimator import BoostedTreesClassifier, MAlphaBoostClassifier


def cancer() -> tuple[np.ndarray, np.ndarray]:
    return load_breast_cancer(return_X_y=True)


def digits() -> tuple[np.ndarray, np.ndarray]:
    x, y = load_digits(return_X_y=True)
    return x, y % 2


def hastie() -> tuple[np.ndarray, np.ndarray]:
    x, y = make_hastie_10_2(6000, random_state=0)
    return np.clip(x, -5, 5), (y > 0).astype(int)


def schema_of(x: np.ndarray) -> dict[str, Any]:
    columns = {
        f"x{j}": {"kind": "numeric", "lower": float(v.min()), "upper": float(max(v.max(), v.min() + 1))}
        for j, v in enumerate(x.T)
    }
    return {"label": {"column": "y", "classes": [0, 1], "positive": 1}, "columns": columns}


@pytest.mark.slow
@pytest.mark.parametrize("made", [cancer, digits, hastie])
def test_gradient_trees_reach_scikit_learns(made: Any) -> None:
    x, y = made()
    train, test, y_train, y_test = train_test_split(x, y, test_size=0.4, random_state=0, stratify=y)
    with threadpool_limits(1):  # busy threads of a library that finds the machine taken wait for each other
        theirs = HistGradientBoostingClassifier(random_state=0).fit(train, y_train).predict_proba(test)[:, 1]
    model = BoostedTreesClassifier(epsilon=math.inf, schema=schema_of(x), random_state=0).fit(train, y_train)
    ours = model.predict_proba(test)[:, 1]
    assert roc_auc_score(y_test, ours) > roc_auc_score(y_test, theirs) - 0.01
    assert np.mean((ours > 0.5) != y_test) < np.mean((theirs > 0.5) != y_test) + 0.02
    certificate = model.certificate_.to_dict()
    assert certificate["epsilon"] == "inf"
    assert certificate["charges"] == [{"kind": "non_private"}]


def test_m_alpha_boost_converges_to_the_labels_without_noise() -> None:
    """Boosting proper: more trees, fewer training errors, down to none where leaves can tell all rows apart."""
    x, y = cancer()
    errors = []
    for trees in (1, 5, 20):
        model = MAlphaBoostClassifier(
            epsilon=math.inf, alpha=1.0, n_trees=trees, max_depth=4, n_bins=50, schema=schema_of(x), random_state=0
        ).fit(x, y)
        errors.append(float(np.mean(model.predict(x) != y)))
    assert errors[-1] <= errors[0]
    assert errors[-1] < 0.03
