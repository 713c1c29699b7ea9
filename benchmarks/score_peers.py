"""Who is compared on several classes and on numbers: ours, private peers, and what can be had without privacy."""

from __future__ import annotations

import json
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from benchmarks.adassp import boosted_adassp, unit_rows
from benchmarks.outside import scaled
from benchmarks.score_tables import ScoreTable
from tacit.privacy.budget import Allowance

Learner = Callable[[ScoreTable, ScoreTable, float, float, int], np.ndarray]
"""``(train, test, epsilon, delta, seed)`` to probabilities ``(rows, classes)``, or predictions ``(rows,)``."""

WORKER = Path(__file__).with_name("score_worker.py")


def n_classes(table: ScoreTable) -> int:
    """How many classes are declared."""
    assert table.schema.label is not None
    return len(table.schema.label.classes)


def additive(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """The default learner with default settings."""
    from tacit import AdditiveBoostClassifier

    model = AdditiveBoostClassifier(epsilon=epsilon, delta=delta, schema=train.schema)
    return model.fit(train.X, train.y).predict_proba(test.X)


def gradient_trees(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Gradient trees with default settings."""
    from tacit import BoostedTreesClassifier

    model = BoostedTreesClassifier(epsilon=epsilon, delta=delta, schema=train.schema)
    return model.fit(train.X, train.y).predict_proba(test.X)


def part_epsilon(epsilon: float, delta: float, parts: int) -> float:
    """The epsilon of one of ``parts`` equal fits whose Gaussian noise composes to (epsilon, delta)."""
    wanted = Allowance.of(epsilon, delta).mu / np.sqrt(parts)
    return float(brentq(lambda e: Allowance.of(e, delta).mu - wanted, 1e-3 * epsilon, epsilon))


def budget_split(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """One class against the rest, a binary default learner each, the budget composed over them; scaled to sum to 1."""
    from tacit import AdditiveBoostClassifier

    classes = n_classes(train)
    share, results = part_epsilon(epsilon, delta, classes), []
    for k in range(classes):
        label = {"column": "target", "kind": "classes", "classes": [0, 1], "positive": 1}
        schema = train.schema.to_dict() | {"label": label}
        model = AdditiveBoostClassifier(epsilon=share, delta=delta, schema=schema)
        results.append(model.fit(train.X, (train.y == k).astype(int)).predict_proba(test.X)[:, 1])
    return np.column_stack(results) / np.sum(results, axis=0)[:, None]


def prior(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """The shares of the classes, without privacy."""
    shares = np.bincount(train.y, minlength=n_classes(train)) / len(train.y)
    return np.tile(shares, (len(test.y), 1))


def coded(train: ScoreTable, table: ScoreTable) -> pd.DataFrame:
    """Categories as codes, for scikit-learn's histogram boosting."""
    frame = table.X.copy()
    for name, column in train.schema.columns.items():
        if column.kind != "numeric":
            frame[name] = pd.Categorical(frame[name], categories=[str(v) for v in column.categories]).codes
    return frame


def boosted_classes(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Ceiling: scikit-learn's histogram boosting, stopped early."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(learning_rate=0.05, early_stopping=True, random_state=seed)
    model.fit(coded(train, train), train.y)
    result = np.full((len(test.y), n_classes(train)), 1e-6)
    result[:, model.classes_] = model.predict_proba(coded(train, test))
    return result


def outside(learner: str, python: Path) -> Learner:
    """One of diffprivlib's learners, run by another Python."""

    def run(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
        label = train.schema.label
        assert label is not None
        job = {"learner": learner, "epsilon": epsilon, "seed": seed, "columns": len(train.schema.columns)}
        job |= {"classes": len(label.classes), "lower": label.lower, "upper": label.upper}
        with tempfile.TemporaryDirectory() as name:
            paths = [Path(name, part) for part in ("job.json", "in.npz", "out.npy")]
            paths[0].write_text(json.dumps(job))
            np.savez(paths[1], X=scaled(train), y=train.y, X_test=scaled(test))
            subprocess.run([str(python), str(WORKER), *map(str, paths)], check=True)
            return np.asarray(np.load(paths[2]))

    return run


def additive_number(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """The default learner for numbers with default settings."""
    from tacit import AdditiveBoostRegressor

    model = AdditiveBoostRegressor(epsilon=epsilon, delta=delta, schema=train.schema)
    return model.fit(train.X, train.y).predict(test.X)


def additive_quantile(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """The default learner for the 90 % quantile."""
    from tacit import AdditiveBoostRegressor

    model = AdditiveBoostRegressor(epsilon=epsilon, delta=delta, schema=train.schema, loss="quantile", quantile=0.9)
    return model.fit(train.X, train.y).predict(test.X)


def dp_ebm_number(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """interpret's DP-EBM for numbers with default settings and the same public bounds and categories."""
    from interpret.privacy import DPExplainableBoostingRegressor

    columns, label = list(train.schema.columns.values()), train.schema.label
    assert label is not None
    kinds = ["continuous" if column.kind == "numeric" else "nominal" for column in columns]
    bounds = {i: (column.lower, column.upper) for i, column in enumerate(columns) if column.kind == "numeric"}
    gaps = {
        name: column.lower if column.kind == "numeric" else "missing" for name, column in train.schema.columns.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DPExplainableBoostingRegressor(
            epsilon=epsilon, delta=delta, feature_types=kinds, privacy_bounds=bounds, random_state=seed, n_jobs=1,
            privacy_target_min=label.lower, privacy_target_max=label.upper,
        )  # fmt: skip
        return np.asarray(model.fit(train.X.fillna(gaps), train.y).predict(test.X.fillna(gaps)))


def boosted_linear(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Boosted AdaSSP."""
    label = train.schema.label
    assert label is not None
    middle, half = (label.lower + label.upper) / 2, (label.upper - label.lower) / 2
    y = np.clip((train.y - middle) / half, -1.0, 1.0)
    result = boosted_adassp(unit_rows(scaled(train)), y, epsilon, delta, np.random.default_rng(seed))
    return np.asarray(middle + half * np.clip(unit_rows(scaled(test)) @ result, -1.0, 1.0))


def mean_number(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """The mean, without privacy."""
    return np.full(len(test.y), train.y.mean())


def boosted_number(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Ceiling: scikit-learn's histogram boosting, stopped early."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(learning_rate=0.05, early_stopping=True, random_state=seed)
    return np.asarray(model.fit(coded(train, train), train.y).predict(coded(train, test)))


def boosted_quantile(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Ceiling of the 90 % quantile."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(
        loss="quantile", quantile=0.9, learning_rate=0.05, early_stopping=True, random_state=seed
    )
    return np.asarray(model.fit(coded(train, train), train.y).predict(coded(train, test)))


def quantile_alone(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """The 90 % quantile of all rows, without privacy."""
    return np.full(len(test.y), np.quantile(train.y, 0.9))
