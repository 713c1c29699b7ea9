"""Peers of the decision lists that need an interpreter of their own: diffprivlib's forest, imodels' rule lists."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.data import Table

PROGRAM = """
import json, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
order = json.load(open(sys.argv[1]))
data = np.load(order["data"])
X, y, test, found = data["X"], data["y"], data["test"], []

def forest(task):
    from diffprivlib.models import RandomForestClassifier
    model = RandomForestClassifier(n_estimators=task["trees"], max_depth=task["depth"], epsilon=task["epsilon"],
                                   bounds=(data["lower"], data["upper"]), classes=[0, 1], random_state=order["seed"])
    return model.fit(X, y).predict(test), 0

def greedy(task):
    from imodels import GreedyRuleListClassifier
    model = GreedyRuleListClassifier(max_depth=task["depth"])
    model.fit(X, y)
    return model.predict(test), len(model.rules_) - 1

def bayesian(task):
    from imodels import BayesianRuleListClassifier
    steps = [(j, cut) for j in range(X.shape[1]) for cut in np.unique(np.quantile(X[:, j], (.2, .4, .6, .8)))]
    steps = [(j, cut) for j, cut in steps if 0 < (X[:, j] > cut).mean() < 1]
    Z, Z_test = (np.stack([part[:, j] > cut for j, cut in steps], axis=1).astype(float) for part in (X, test))
    model = BayesianRuleListClassifier(random_state=order["seed"])
    model.fit(Z, y)
    return model.predict(Z_test), len(model.d_star) - 1

for task in order["tasks"]:
    labels, rules = {"forest": forest, "greedy": greedy, "bayesian": bayesian}[task["name"]](task)
    found.append({"labels": np.asarray(labels).astype(int).tolist(), "rules": rules})
json.dump(found, open(order["out"], "w"))
"""


def numbers(table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numeric columns as they are (missing at the lower bound), categories as indicators; with public bounds."""
    parts, lower, upper = [], [], []
    for name, column in table.schema.columns.items():
        if column.kind == "numeric":
            parts.append(table.X[name].fillna(column.lower).to_numpy(float)[:, None])
            lower.append(column.lower)
            upper.append(column.upper)
        else:
            texts = table.X[name].fillna("missing").astype(str).to_numpy()
            known = [str(c) for c in column.categories] + ["missing"]
            parts.append((texts[:, None] == np.array(known)[None, :]).astype(float))
            lower += [0.0] * len(known)
            upper += [1.0] * len(known)
    return np.concatenate(parts, axis=1), np.array(lower), np.array(upper)


def numeric_columns(table: Table) -> list[bool]:
    """Of the columns of :func:`numbers`, which are numbers of the table's own and no indicators."""
    kinds: list[bool] = []
    for column in table.schema.columns.values():
        kinds += [True] if column.kind == "numeric" else [False] * (len(column.categories) + 1)
    return kinds


def foreign(
    python: str, tasks: Sequence[Mapping[str, object]], train: Table, test: Table, seed: int
) -> list[tuple[np.ndarray, int]]:
    """Predicted labels and number of rules per task, all in one process: importing takes longer than learning.

    Args:
        python: the interpreter.
        tasks: ``name`` is ``"forest"`` (diffprivlib, pure epsilon; with ``epsilon``, ``depth``, ``trees``),
            ``"greedy"`` (imodels, with ``depth``) or ``"bayesian"`` (imodels, on columns cut at their quintiles).
        train, test: the tables.
        seed: for their randomness.
    """
    X, lower, upper = numbers(train)
    with tempfile.TemporaryDirectory() as folder:
        data, order, out = (Path(folder) / file for file in ("rows.npz", "order.json", "out.json"))
        np.savez(data, X=X, y=train.y, test=numbers(test)[0], lower=lower, upper=upper)
        order.write_text(json.dumps({"data": str(data), "out": str(out), "seed": seed, "tasks": list(tasks)}))
        subprocess.run([python, "-c", PROGRAM, str(order)], check=True, capture_output=True)
        document = json.loads(out.read_text())
    return [(np.array(line["labels"]), int(line["rules"])) for line in document]


def synthetic_table(
    seed: int, part: int, rows: int, columns: int, length: int, noise: float
) -> tuple[pd.DataFrame, np.ndarray]:
    """Boolean columns, labelled by a list of ``length`` rules over random literals, and flipped with ``noise``.

    ``seed`` decides the list; ``seed`` and ``part`` decide the rows, so that parts are independent.
    """
    target = np.random.default_rng([seed, 0])
    chosen = target.choice(columns, length - 1, replace=False)
    values = target.random(length - 1) < 0.5
    bits = np.arange(length) % 2
    generator = np.random.default_rng([seed, 1 + part])
    X = generator.random((rows, columns)) < 0.5
    y = np.full(rows, bits[-1])
    for place in reversed(range(length - 1)):
        y[X[:, chosen[place]] == values[place]] = bits[place]
    y = np.where(generator.random(rows) < noise, 1 - y, y)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)]), y
