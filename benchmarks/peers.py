"""Who is compared: each learner trains on a table and scores another. Ours, the private peers, and the non-private
ceiling.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.adassp import boosted_adassp, unit_rows
from benchmarks.data import Table, splittable
from benchmarks.dp_ftrl import dp_ftrl as ftrl_coefficients
from benchmarks.outside import scaled
from benchmarks.tabpate import tabpate

Learner = Callable[[Table, Table, float, float, int], np.ndarray]
"""``(train, test, epsilon, delta, seed) -> log-odds`` of the positive class."""


FAST_RATE = 0.1
"""DP-EBM's default rate of .01 under-trains in its 300 rounds where noise is small: the second setting compared."""


def log_odds(probabilities: np.ndarray) -> np.ndarray:
    """Log-odds, as far as a probability of one in a million."""
    clipped = np.clip(probabilities, 1e-6, 1 - 1e-6)
    return np.log(clipped / (1 - clipped))


def additive(
    train: Table, test: Table, epsilon: float, delta: float, seed: int, interactions: bool | str = True
) -> np.ndarray:
    """The flagship with default settings. The seed changes the split, not the noise: that is fresh."""
    from tacit.additive.estimator import AdditiveBoostClassifier

    model = AdditiveBoostClassifier(epsilon=epsilon, delta=delta, schema=train.schema, interactions=interactions)
    return model.fit(train.X, train.y).decision_function(test.X)


def trees(train: Table, test: Table, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Private boosted trees with default settings."""
    from tacit.trees.estimator import BoostedTreesClassifier

    train, test = splittable(train), splittable(test)
    model = BoostedTreesClassifier(epsilon=epsilon, delta=delta, schema=train.schema)
    return log_odds(model.fit(train.X, train.y).predict_proba(test.X)[:, 1])


def dp_ebm(
    train: Table, test: Table, epsilon: float, delta: float, seed: int, learning_rate: float = 0.01
) -> np.ndarray:
    """interpret's DP-EBM with the same public bounds and categories, and default settings but for the learning rate."""
    from interpret.privacy import DPExplainableBoostingClassifier

    kinds = ["continuous" if column.kind == "numeric" else "nominal" for column in train.schema.columns.values()]
    bounds = {
        index: (column.lower, column.upper)
        for index, column in enumerate(train.schema.columns.values())
        if column.kind == "numeric"
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DPExplainableBoostingClassifier(
            epsilon=epsilon,
            delta=delta,
            feature_types=kinds,
            privacy_bounds=bounds,
            learning_rate=learning_rate,
            random_state=seed,
            n_jobs=1,
        )
        model.fit(_without_gaps(train), train.y)
        return log_odds(model.predict_proba(_without_gaps(test))[:, 1])


def adassp(train: Table, test: Table, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Boosted AdaSSP on labels of -1 and 1; twice its prediction is taken for log-odds."""
    cells, result = unit_rows(scaled(train)), np.random.default_rng(seed)
    coefficients = boosted_adassp(cells, 2.0 * train.y - 1.0, epsilon, delta, result)
    return np.asarray(2.0 * np.clip(unit_rows(scaled(test)) @ coefficients, -1.0, 1.0))


def dp_ftrl(train: Table, test: Table, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Logistic regression by DP-FTRL; a row's cells lie in [-1, 1], one number or one category to a column."""
    norm = np.sqrt(len(train.schema.columns) + 1.0)
    rows, others = (np.column_stack([cells, np.ones(len(cells))]) / norm for cells in (scaled(train), scaled(test)))
    return np.asarray(others @ ftrl_coefficients(rows, train.y, epsilon, delta, np.random.default_rng(seed)))


def _without_gaps(table: Table) -> pd.DataFrame:
    """Missing categories as one more text, missing numbers at the lower bound: DP-EBM has no other way."""
    frame = table.X.copy()
    for name, column in table.schema.columns.items():
        gap = column.lower if column.kind == "numeric" else "missing"
        frame[name] = frame[name].fillna(gap)
    return frame


def boosted_trees(train: Table, test: Table, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Ceiling: scikit-learn's histogram boosting, the best of four settings by cross-validation."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import GridSearchCV

    kinds = [column.kind != "numeric" for column in train.schema.columns.values()]
    base = HistGradientBoostingClassifier(categorical_features=kinds, random_state=seed, max_bins=128)
    grid = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [8, 31], "max_iter": [200]}
    search = GridSearchCV(base, grid, scoring="roc_auc", cv=3)
    search.fit(_coded(train, train), train.y)
    return log_odds(search.predict_proba(_coded(train, test))[:, 1])


def forest(train: Table, test: Table, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Ceiling: a random forest."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(n_estimators=300, min_samples_leaf=2, random_state=seed, n_jobs=1)
    model.fit(one_hot(train, train), train.y)
    return log_odds(model.predict_proba(one_hot(train, test))[:, 1])


def logistic(train: Table, test: Table, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Ceiling: logistic regression on scaled and one-hot columns."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    model.fit(one_hot(train, train), train.y)
    return log_odds(model.predict_proba(one_hot(train, test))[:, 1])


def _coded(fitted: Table, table: Table) -> pd.DataFrame:
    """Categories as small integers, missing as NaN."""
    out = {}
    for name, column in fitted.schema.columns.items():
        if column.kind == "numeric":
            out[name] = table.X[name]
        else:
            place = {str(value): index for index, value in enumerate(column.categories)}
            out[name] = table.X[name].map(place)
    return pd.DataFrame(out)


def one_hot(fitted: Table, table: Table) -> pd.DataFrame:
    """Numbers with gaps filled by the training median, and one column per declared category."""
    out: dict[str, pd.Series] = {}
    for name, column in fitted.schema.columns.items():
        if column.kind == "numeric":
            out[name] = table.X[name].fillna(fitted.X[name].median())
        else:
            for value in column.categories:
                out[f"{name}={value}"] = (table.X[name] == str(value)).astype(float)
    return pd.DataFrame(out)


def prior(train: Table, test: Table, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """The share of positives in the training rows, without privacy: what no model should be worse than."""
    return np.full(len(test.y), log_odds(np.asarray(train.y.mean())))


PRIVATE: dict[str, Learner] = {
    "additive": additive,
    "additive_pairs": partial(additive, interactions="pairs"),
    "additive_columns": partial(additive, interactions=False),
    "trees": trees,
    "dp_ebm": dp_ebm,
    "dp_ebm_fast": partial(dp_ebm, learning_rate=FAST_RATE),
    "boosted_adassp": adassp,
    "dp_ftrl": dp_ftrl,
    "tabpate": tabpate,
}
OURS = ("additive", "additive_pairs", "additive_columns", "trees")
CEILING: dict[str, Learner] = {"boosted_trees": boosted_trees, "forest": forest, "logistic": logistic}
FLOOR: dict[str, Learner] = {"prior": prior}
