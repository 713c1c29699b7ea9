"""What models say of rows, also those read from a file, and what a fit would charge before it does."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.case import Cases, Seen
from tests.golden.names import (
    AdditiveBoostClassifier,
    AdditiveBoostRegressor,
    BatchwiseClassifier,
    BatchwiseRegressor,
    BoostedTreesClassifier,
    ComposedClassifier,
    DecisionListClassifier,
    FiniteClassClassifier,
    HalfspaceBoostClassifier,
    MAlphaBoostClassifier,
    PrivateSelection,
    RandomTreesClassifier,
    ResampledBoostClassifier,
    Thresholds,
    load_model,
    save_model,
)
from tests.golden.tables import schema, table

TWO, THREE, NUMBER = schema("two"), schema("three"), schema("number")
ASKED: dict[str, Any] = {"epsilon": 2.0, "random_state": 3}

LEARNERS: dict[str, tuple[Any, str]] = {
    "AdditiveBoostClassifier: two classes": (AdditiveBoostClassifier(schema=TWO, **ASKED), "two"),
    "AdditiveBoostClassifier: three classes": (AdditiveBoostClassifier(schema=THREE, **ASKED), "three"),
    "AdditiveBoostClassifier: other relation, delta 0": (
        AdditiveBoostClassifier(schema=TWO, delta=0.0, neighbouring="replace_one", **ASKED),
        "two",
    ),
    "AdditiveBoostRegressor: squared": (AdditiveBoostRegressor(schema=NUMBER, **ASKED), "number"),
    "AdditiveBoostRegressor: quantile": (
        AdditiveBoostRegressor(schema=NUMBER, loss="quantile", quantile=0.8, **ASKED),
        "number",
    ),
    "BoostedTreesClassifier: two classes": (BoostedTreesClassifier(schema=TWO, **ASKED), "two"),
    "MAlphaBoostClassifier: two classes": (MAlphaBoostClassifier(schema=TWO, alpha=0.5, n_trees=3, **ASKED), "two"),
    "RandomTreesClassifier: two classes": (RandomTreesClassifier(schema=TWO, **ASKED), "two"),
    "DecisionListClassifier: three classes": (DecisionListClassifier(schema=THREE, **ASKED), "three"),
    "HalfspaceBoostClassifier: two classes": (HalfspaceBoostClassifier(schema=TWO, **ASKED), "two"),
    "FiniteClassClassifier: two classes": (FiniteClassClassifier(schema=TWO, bins=8, **ASKED), "two"),
    "ComposedClassifier: or": (ComposedClassifier([Thresholds("a"), Thresholds("b")], schema=TWO, **ASKED), "two"),
    "ResampledBoostClassifier: halfspaces": (
        ResampledBoostClassifier(HalfspaceBoostClassifier(), rounds=3, schema=TWO, **ASKED),
        "two",
    ),
    "PrivateSelection: two classes": (
        PrivateSelection([AdditiveBoostClassifier(schema=TWO), RandomTreesClassifier(schema=TWO)], **ASKED),
        "two",
    ),
    "BatchwiseClassifier: two classes": (BatchwiseClassifier(AdditiveBoostClassifier(schema=TWO, **ASKED)), "two"),
    "BatchwiseRegressor: squared": (BatchwiseRegressor(AdditiveBoostRegressor(schema=NUMBER, **ASKED)), "number"),
}

OF_ESTIMATORS = ("predict", "predict_proba", "decision_function", "predict_std", "predict_interval")
OF_MODELS = ("predict", "predict_proba", "decision_function", "contributions")


def plain(said: Any) -> Any:
    """Plain data of what a method answers."""
    if isinstance(said, tuple):
        return [plain(part) for part in said]
    return said.tolist() if isinstance(said, np.ndarray | np.generic) else said


def asked(made: Any, names: tuple[str, ...], rows: Any) -> dict[str, Any]:
    """What methods answer; of one that refuses, that it does."""
    said: dict[str, Any] = {}
    for name in (name for name in names if hasattr(made, name)):
        try:
            said[name] = plain(getattr(made, name)(rows))
        except (TypeError, ValueError):
            said[name] = "refused"
    return said


def answers(estimator: Any, label: str) -> Seen:
    """All that a model says of rows that it was not made from, before and after it went through a file."""
    made = estimator.fit(table(4000).X, getattr(table(4000), label))
    rows = table(100).X
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        save_model(made.model_, path, made.certificate_)
        read, _ = load_model(path)
    said = [asked(made, OF_ESTIMATORS, rows), asked(made.model_, OF_MODELS, rows), asked(read, OF_MODELS, rows)]
    importance = made.model_.importance() if hasattr(made.model_, "importance") else None
    return Seen([said, importance, read.to_dict() == made.model_.to_dict()], Seen.ledger_of(made))


def dry_runs(estimator: Any) -> Seen:
    """What a fit would charge, and could do, for numbers of rows that are expected."""
    return Seen(None, [estimator.dry_run(n) for n in (None, 1000, 30_000, 1_000_000)])


def cases() -> Cases:
    """Every learner, both ways."""
    found: Cases = {}
    for name, (estimator, label) in LEARNERS.items():
        found[f"{name}, answers"] = lambda e=estimator, t=label: answers(e, t)
        if hasattr(estimator, "dry_run") and not isinstance(estimator, PrivateSelection):
            found[f"{name}, dry run"] = lambda e=estimator: dry_runs(e)
    return found
