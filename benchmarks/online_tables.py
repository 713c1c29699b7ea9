"""Real rows in the online benchmark: river's Phishing, and tables whose rows come in the order of the file."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks.data import load, table_tasks
from benchmarks.lines import Line, Lines
from benchmarks.online_peers import river_mistakes, winnow_mistakes
from tacit.online.rows import SchemaRows
from tacit.schema import Schema

PLACES = (("Phishing", 1_250, 4.0), ("tables", 1_250, 4.0), ("tables", 5_000, 4.0), ("tables", 5_000, 1.0))
"""What is read, how many rows of it, and epsilon."""

CONTESTANTS: dict[str, dict[str, Any] | None] = {
    "timed": {},
    "batch": {"update": "batch"},
    "no privacy": {"epsilon": math.inf},
    "logistic": None,
}
"""Parameters of a Winnow; None for river's logistic regression, without privacy, on the same signs."""


def real_rows(lines: Lines, seeds: int) -> list[Line]:
    """Accuracy on rows that are predicted before they are learned from."""
    results = []
    tables = sorted(name for name, task in table_tasks().items() if task["n"] >= 5_000)[::3]
    print(f"\nprogressive accuracy; tables: {', '.join(tables)}")
    print(f"{'':30}{'majority':>10}" + "".join(f"{who:>12}" for who in CONTESTANTS) + "   timed above batch")
    for place, rows, epsilon in PLACES:
        names = [place] if place == "Phishing" else tables
        means: dict[str, list[float]] = {who: [] for who in CONTESTANTS}
        for who in CONTESTANTS:
            for name in names:
                runs = range(seeds if who in ("timed", "batch") else 1)
                means[who].append(float(np.mean([accuracy(lines, name, rows, epsilon, who, seed) for seed in runs])))
        shares = [float((signs(name, rows)[1] > 0).mean()) for name in names]
        base = float(np.mean([max(share, 1 - share) for share in shares]))
        above = sum(a > b for a, b in zip(means["timed"], means["batch"], strict=True))
        cells = "".join(f"{np.mean(values):12.3f}" for values in means.values())
        print(
            f"{place}, {rows:,} rows, epsilon {epsilon:<4g}".ljust(30)
            + f"{base:10.3f}{cells}   {above} of {len(names)}"
        )
        results.append({"place": place, "rows": rows, "epsilon": epsilon, "tables": names, "majority": base, **means})
    return results


def accuracy(lines: Lines, name: str, rows: int, epsilon: float, who: str, seed: int) -> float:
    """One run, from the file or by running it."""
    job = {"kind": "real", "name": name, "T": rows, "epsilon": epsilon, "who": who, "seed": seed}
    return float(lines.run(job, partial(accuracy_result, name, rows, epsilon, who))["accuracy"])


def accuracy_result(name: str, rows: int, epsilon: float, who: str) -> Line:
    """The share of rounds that were said right."""
    points, labels = signs(name, rows)
    parameters = CONTESTANTS[who]
    if parameters is None:
        from river import linear_model

        wrong = river_mistakes(points, labels, linear_model.LogisticRegression)
    else:
        wrong = winnow_mistakes(points, labels, 1, **{"epsilon": epsilon, "delta": 1e-6, **parameters})
    return {"accuracy": float(1 - wrong.mean())}


@cache
def signs(name: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The first rows as signs, by the default rule under the public schema, and their labels."""
    if name == "Phishing":
        import pandas as pd
        from river import datasets

        pairs = list(datasets.Phishing())[:rows]
        frame, positive = pd.DataFrame([x for x, _ in pairs]), np.array([y for _, y in pairs])
        columns: dict[str, Any] = {column: {"kind": "numeric", "lower": 0, "upper": 1} for column in frame}
    else:
        table = load(name)
        frame, positive = table.X.iloc[:rows], table.y[:rows] > 0
        known = table.schema.to_dict()["columns"]
        columns = {column: known[column] for column in frame}
    points, _ = SchemaRows.of(Schema.from_dict({"columns": columns}), 8).many(frame)
    return points, np.where(positive, 1, -1).astype(np.int8)
