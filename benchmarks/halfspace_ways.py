"""What a halfspace's error depends on when nobody tells the length of rows: ``benchmarks.halfspaces --ways``."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from tacit.halfspaces.estimator import HalfspaceBoostClassifier

DELTA = 1e-6


def ball_rows(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of length 1 with margin .1 to .3 along the first axis, and labels 0/1."""
    rng = np.random.default_rng(seed)
    labels, margins = rng.integers(0, 2, n), rng.uniform(0.1, 0.3, n)
    rest = rng.normal(size=(n, d - 1))
    rest *= np.sqrt(1 - margins**2)[:, None] / np.linalg.norm(rest, axis=1, keepdims=True)
    return np.hstack([((2 * labels - 1) * margins)[:, None], rest]), labels


def ways(repeats: int) -> dict[str, object]:
    """Errors at epsilon .5 by dimension, for rows whose norm, whose bounds or nothing is told; 4,000 rows."""
    results = []
    for d in (10, 300, 3000):
        rows, labels = ball_rows(8000, d, 0)
        names = [f"x{j}" for j in range(d)]
        columns = {name: {"kind": "numeric", "lower": -1, "upper": 1} for name in names}
        schema = {"label": {"column": "label", "classes": [0, 1]}, "columns": columns}
        frame = pd.DataFrame(rows, columns=names)
        told = {"row_norm": (rows, {"row_norm": 1.0}), "schema": (frame, {"schema": schema}), "neither": (frame, {})}
        errors = {}
        for way, (table, how) in told.items():
            wrong = []
            for _ in range(repeats):
                model = HalfspaceBoostClassifier(0.5, DELTA, **{"classes": (0, 1), **how})
                model.fit(table[:4000], labels[:4000])
                wrong.append(float((model.predict(table[4000:]) != labels[4000:]).mean()))
            errors[way] = round(float(np.mean(wrong)), 4)
        results.append({"d": d, **errors})
        print(json.dumps(results[-1]), flush=True)
    return {"epsilon": 0.5, "errors": results}
