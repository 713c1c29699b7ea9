"""Peers of the decision lists that need an interpreter of their own: diffprivlib's forest, imodels' rule list."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.data import Table

PROGRAM = """
import json, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
task = json.load(open(sys.argv[1]))
data = np.load(task["data"])
X, y, test = data["X"], data["y"], data["test"]
if task["name"] == "forest":
    from diffprivlib.models import RandomForestClassifier
    model = RandomForestClassifier(n_estimators=task["trees"], max_depth=task["depth"], epsilon=task["epsilon"],
                                   bounds=(data["lower"], data["upper"]), classes=[0, 1], random_state=task["seed"])
else:
    from imodels import GreedyRuleListClassifier
    model = GreedyRuleListClassifier(max_depth=task["depth"])
model.fit(X, y)
rules = len(model.rules_) if task["name"] == "list" else 0
json.dump({"labels": np.asarray(model.predict(test)).astype(int).tolist(), "rules": rules}, open(task["out"], "w"))
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


def foreign(
    python: str, name: str, train: Table, test: Table, seed: int, epsilon: float = 0.0, depth: int = 3, trees: int = 10
) -> tuple[np.ndarray, int]:
    """Predicted labels of ``"forest"`` (diffprivlib, pure epsilon) or ``"list"`` (imodels, not private), and rules."""
    X, lower, upper = numbers(train)
    with tempfile.TemporaryDirectory() as folder:
        data, task, out = (Path(folder) / file for file in ("rows.npz", "task.json", "out.json"))
        np.savez(data, X=X, y=train.y, test=numbers(test)[0], lower=lower, upper=upper)
        facts = {"data": str(data), "out": str(out), "name": name, "epsilon": epsilon, "depth": depth, "seed": seed}
        task.write_text(json.dumps({**facts, "trees": trees}))
        subprocess.run([python, "-c", PROGRAM, str(task)], check=True, capture_output=True)
        found = json.loads(out.read_text())
    return np.array(found["labels"]), int(found["rules"])


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
