"""With shuffled labels no classifier ranks the true ones: nobody is called positive for being one of few.

The table has a rare class that lives where rows are sparse. A learner that pulls what it does not know to 1/2, and not
to the base rate, finds it without looking: so gradient trees had an AUC of .60 (.65 at delta 0), forests .63 and
M-alpha-boost .58 here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import ClassifierMixin
from sklearn.metrics import roc_auc_score

import tacit
from tacit import registry
from tacit.closure import FiniteClassClassifier, Thresholds

Make = Callable[[dict[str, Any]], Any]

COLUMNS: dict[str, Any] = {f"x{j}": {"kind": "numeric", "lower": 0, "upper": 10} for j in range(5)}
COLUMNS["group"] = {"kind": "categorical", "categories": list("abcdef")}
SCHEMA = {"label": {"column": "y", "kind": "classes", "classes": [0, 1]}, "columns": COLUMNS}

CLASSIFIERS: dict[str, Make] = {
    "gradient trees": lambda request: tacit.BoostedTreesClassifier(**request),
    "gradient trees, 60": lambda request: tacit.BoostedTreesClassifier(**request, n_trees=60),
    "gradient trees, pure": lambda request: tacit.BoostedTreesClassifier(**{**request, "delta": 0.0}),
    "M-alpha": lambda request: tacit.BoostedTreesClassifier(**request, alpha=0.5, criterion="gini"),
    "RF-L": lambda request: tacit.RandomTreesClassifier(**request),
    "RF-E": lambda request: tacit.RandomTreesClassifier(**request, mechanism="exponential"),
    "additive": lambda request: tacit.AdditiveBoostClassifier(**request),
    "halfspace": lambda request: tacit.HalfspaceBoostClassifier(**request),
    "decision list": lambda request: tacit.DecisionListClassifier(**request),
    "finite class": lambda request: FiniteClassClassifier(Thresholds("x0"), **request),
}
SLOW = {"additive", "halfspace", "gradient trees"}
"""Tried with few shuffles here, or only in the slow set."""

OF_OTHERS = {"AgnosticClassifier", "BatchwiseClassifier", "ComposedClassifier", "ResampledBoostClassifier"}
"""They say what the learners inside them say."""


def rows(n: int, generator: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A table, its labels (7 % positive), and which rows are of a sparse group."""
    frame = pd.DataFrame({f"x{j}": np.minimum(generator.exponential(1.0, n), 9.99) for j in range(5)})
    frame["group"] = generator.choice(list("abcdef"), n, p=[0.6, 0.3, 0.04, 0.03, 0.02, 0.01])
    sparse = frame["group"].isin(list("cdef")).to_numpy()
    odds = -4.2 + 0.8 * (frame["x0"] + frame["x1"] - 1.0) + 1.2 * sparse
    return frame, (generator.random(n) < 1 / (1 + np.exp(-odds))).astype(int), sparse


def placebo(make: Make, seed: int, epsilon: float = 1.0, shuffled: bool = True) -> tuple[float, float]:
    """AUC on new rows, and the mean chance in sparse groups over the base rate."""
    generator = np.random.default_rng(seed)
    (frame, y, _), (new, truth, sparse) = rows(2500, generator), rows(4000, generator)
    request = {"epsilon": epsilon, "delta": 1e-6, "schema": SCHEMA, "random_state": seed}
    model = make(request).fit(frame, generator.permutation(y) if shuffled else y)
    score = model.decision_function(new) if hasattr(model, "decision_function") else model.predict_proba(new)[:, 1]
    return roc_auc_score(truth, score), model.predict_proba(new)[sparse, 1].mean() / y.mean()


def check(make: Make, shuffles: int, epsilon: float) -> None:
    """AUC within noise of .5, or little below: chances that are right in the mean mostly lie below it."""
    auc, over = np.array([placebo(make, seed, epsilon) for seed in range(shuffles)]).T
    assert -0.06 < auc.mean() - 0.5 < 2.5 * max(auc.std(), 0.005) / shuffles**0.5
    assert over.mean() < 1.1 + 2.5 * max(over.std(), 0.1) / shuffles**0.5


def test_every_classifier_is_here() -> None:
    known = {type(make({})).__name__ for make in CLASSIFIERS.values()} | OF_OTHERS
    ours = registry.of_the_library(registry.estimators()).values()
    assert {kind.__name__ for kind in ours if issubclass(kind, ClassifierMixin)} <= known


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name not in SLOW])
def test_shuffled_labels_rank_nobody(name: str) -> None:
    check(CLASSIFIERS[name], 8, 1.0)


OPEN = pytest.mark.xfail(reason="AUC .58, chances in sparse groups twice the base rate: not mended", strict=False)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 8.0])
@pytest.mark.parametrize("name", [pytest.param(n, marks=OPEN) if n == "halfspace" else n for n in CLASSIFIERS])
def test_shuffled_labels_rank_nobody_at_any_epsilon(name: str, epsilon: float) -> None:
    check(CLASSIFIERS[name], 40, epsilon)


@pytest.mark.parametrize("name", ["gradient trees, pure", "RF-L"])
def test_true_labels_are_found_in_the_same_table(name: str) -> None:
    assert np.mean([placebo(CLASSIFIERS[name], seed, shuffled=False)[0] for seed in range(3)]) > 0.65
