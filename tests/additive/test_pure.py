"""At delta 0 two classes are learned by trees alone, and everything else by sweeps as before."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from tacit import AdditiveBoostClassifier, BoostedTreesClassifier, Schema
from tacit.models.additive import AdditiveModel
from tacit.models.additive_scores import AdditiveClassesModel
from tacit.models.tree_ensemble import TreeEnsembleModel
from tacit.privacy.charges import Laplace
from tacit.privacy.label import Stage

COLUMNS = 12


def declared(classes: int = 2, **first: Any) -> Schema:
    columns = {f"x{j}": {"kind": "numeric", "lower": -3.0, "upper": 3.0} for j in range(COLUMNS)}
    columns["x0"] |= first
    return Schema.from_dict({"label": {"column": "y", "classes": list(range(classes))}, "columns": columns})


def table(rows: int, classes: int = 2) -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(generator.uniform(-3, 3, (rows, COLUMNS)), columns=[f"x{j}" for j in range(COLUMNS)])
    score = frame["x0"] + frame["x1"] + np.sin(frame["x2"]) + generator.logistic(size=rows)
    return frame, np.digitize(score, [0.0] if classes == 2 else [-1.0, 1.0])


def learner(**given: Any) -> AdditiveBoostClassifier:
    return AdditiveBoostClassifier(**{"schema": declared(), "delta": 0.0, "epsilon": 1.0, "random_state": 0, **given})


@pytest.mark.parametrize("given", [{}, {"neighbouring": "replace_one"}, {"class_weight": {0: 1.0, 1: 3.0}}])
def test_the_default_is_what_boosted_trees_make_of_the_same_rows(given: dict[str, Any]) -> None:
    frame, labels = table(800)
    ours = learner(**given).fit(frame, labels)
    trees = BoostedTreesClassifier(schema=declared(), delta=0.0, epsilon=1.0, random_state=0, **given)
    assert isinstance(ours.model_, TreeEnsembleModel)
    assert ours.model_.to_dict() == trees.fit(frame, labels).model_.to_dict()
    spent = [entry.charge for entry in ours.certificate_.entries]
    assert all(isinstance(charge, Laplace) for charge in spent)
    assert ours.certificate_.epsilon <= 1.0
    assert ours.certificate_.delta == 0.0
    assert "trees" in learner(**given).dry_run(n=800)["outlook"]["learns"]


@pytest.mark.parametrize(
    "given",
    [
        {"interactions": "pairs"},
        {"interactions": False},
        {"schema": declared(monotone="increasing")},
        {"epsilon": math.inf},
    ],
)
def test_whoever_wants_curves_has_them(given: dict[str, Any]) -> None:
    frame, labels = table(800)
    model = learner(**given).fit(frame, labels).model_
    assert isinstance(model, AdditiveModel)
    assert len(model.mains) == COLUMNS


def test_more_classes_are_learned_in_sweeps() -> None:
    fitted = learner(schema=declared(3)).fit(*table(800, 3))
    assert isinstance(fitted.model_, AdditiveClassesModel)
    assert any(entry.stage is Stage.SWEEP for entry in fitted.certificate_.entries)


def test_a_row_pays_for_a_leaf_and_not_for_every_column() -> None:
    """What trees are for: in noise that drowns twelve histograms, a few trees still tell rows apart."""
    frame, labels = table(2000)
    rows, unseen = frame[:1500], frame[1500:]
    found: dict[Any, list[float]] = {True: [], "pairs": []}
    for interactions, scores in found.items():
        for seed in range(6):
            model = learner(epsilon=0.2, interactions=interactions, random_state=seed).fit(rows, labels[:1500])
            scores.append(float(roc_auc_score(labels[1500:], model.decision_function(unseen))))
    assert np.mean(found[True]) > np.mean(found["pairs"]) + 0.05
