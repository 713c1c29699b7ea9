"""Rows that one centre cannot tell: ``python -m benchmarks.halfspace_hard``. Prints a table, and one JSON line last.

All rows have the same margin, and a share of them lies on the other side of their mean: only a booster that goes on
until these weigh as much as the rest finds the halfspace. Error on new rows of the default and of every measure asked
for by name, by margin, share, rows, dimension and epsilon (delta 1e-6), mean of two draws; and of spherical rows, where
one centre is enough, the default beside the smooth measure. Every cell is a line of
``benchmarks/results/halfspace_hard.parquet``; what is there is not run again.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.halfspace_rows import made_rows
from benchmarks.lines import Lines
from tacit.halfspaces.estimator import HalfspaceBoostClassifier

DELTA = 1e-6
TEST_ROWS = 3000
DRAWS = 2
SIZES = (
    (5000, 20, 0.1), (20_000, 20, 0.1), (20_000, 100, 0.1), (5000, 20, 1.0), (5000, 100, 1.0), (5000, 500, 1.0),
    (5000, 20, math.inf), (5000, 200, math.inf),
)  # fmt: skip
MARGINS, SHARES = (0.05, 0.1, 0.2), (0.1, 0.2, 0.35)
MEASURES = ("auto", "smooth", "logistic", "lazy_bregman")
GOOD, SLACK = 0.01, 0.003


def hard_rows(n: int, d: int, margin: float, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in the unit ball, labels 0/1: ``y x`` is ``margin u + a w`` or ``margin u - a w``, and a fifth of noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    side = np.where(rng.random(n) < share, -1.0, 1.0)
    others = rng.normal(size=(n, d - 2))
    others *= 0.19 * math.sqrt(1 - margin**2) / np.linalg.norm(others, axis=1, keepdims=True)
    towards = np.column_stack([np.full(n, margin), 0.98 * math.sqrt(1 - margin**2) * side, others])
    turn, _ = np.linalg.qr(np.random.default_rng(99).normal(size=(d, d)))
    return (2 * labels - 1)[:, None] * towards @ turn, labels


def errors(kind: str, n: int, d: int, epsilon: float, margin: float, share: float) -> dict[str, float]:
    """Mean test error by measure, on rows drawn anew."""
    seen: dict[str, list[float]] = {name: [] for name in (MEASURES if kind == "hard" else MEASURES[:2])}
    for seed in range(DRAWS):
        size = (n + TEST_ROWS, d, margin)
        rows, labels = hard_rows(*size, share, seed) if kind == "hard" else made_rows(*size, seed)
        for name, found in seen.items():
            model = HalfspaceBoostClassifier(
                epsilon, DELTA, row_norm=1.0, fit_intercept=False, classes=(0, 1), measure=name, random_state=seed
            )
            model.fit(rows[:n], labels[:n])
            found.append(float((model.predict(rows[n:]) != labels[n:]).mean()))
    return {name: round(float(np.mean(found)), 4) for name, found in seen.items()}


def cells() -> Iterator[dict[str, Any]]:
    """The settings, hard ones first."""
    for kind, shares in (("hard", SHARES), ("spherical", (0.0,))):
        for n, d, epsilon in SIZES:
            for margin in MARGINS:
                for share in shares:
                    yield {"kind": kind, "n": n, "d": d, "epsilon": epsilon, "margin": margin, "share": share}


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    warnings.simplefilter("ignore")
    lines, results = Lines("halfspace_hard", learner=HalfspaceBoostClassifier.__name__), []
    print("| rows | n | d | epsilon | margin | share | default | smooth | logistic | lazy Bregman |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for cell in cells():
        job = {**cell, "epsilon": str(cell["epsilon"]), "draws": DRAWS}
        line = lines.run(job, lambda cell=cell: errors(**cell))
        said = [f"{line[name]:.3f}" if name in line else "" for name in MEASURES]
        print("|", " | ".join([*(str(value) for value in cell.values()), *said]), "|", flush=True)
        results.append({**cell, **line})
    hard = [line for line in results if line["kind"] == "hard"]
    reached = [line for line in hard if min(line[name] for name in MEASURES) <= GOOD]
    round_ = [line for line in results if line["kind"] == "spherical"]
    figure = {
        "cells": len(hard),
        "some_measure_reaches_.01": len(reached),
        "default_reaches_.01": sum(line["auto"] <= GOOD for line in hard),
        "default_misses_what_another_reaches": sum(line["auto"] > GOOD for line in reached),
        "spherical_cells": len(round_),
        "default_worse_by_more_than_.003": sum(line["auto"] > line["smooth"] + SLACK for line in round_),
    }
    print(json.dumps(figure))


if __name__ == "__main__":
    main()
