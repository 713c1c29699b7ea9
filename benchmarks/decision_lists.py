"""Decision lists: `python -m benchmarks.decision_lists [--sets ...] [--peer-python PYTHON]`.

Three parts: real sets (accuracy and number of rules, by epsilon), synthetic lists (length, columns, label noise), and
the sample size at which the paper's learner errs on 1 %, with the paper's accounting and with ours. ``--peer-python``
names an interpreter with diffprivlib and imodels, which need older libraries than tacit:

    pip install diffprivlib==0.6.6 "scikit-learn<1.6" imodels six

Noise is fresh in ours, so figures move from run to run. The last line printed is one JSON object with the figures.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from functools import partial
from typing import Any

import numpy as np

from benchmarks import data, list_peers
from tacit.decision_lists.estimator import DecisionListClassifier
from tacit.schema import Schema
from tacit.trees.estimator import BoostedTreesClassifier

SETS = ("mushroom", "tic_tac_toe", "congressional_voting", "german_credit", "credit_default", "adult")
EPSILONS = (0.1, 0.5, 1.0, 2.0, 8.0)
DELTA = 1e-6
TREE_DEPTH = 3
"""A tree of eight leaves, beside lists of up to eight rules and a default."""


def entry(
    found: list[dict[str, Any]], name: str, seed: int, truth: np.ndarray, who: str, epsilon: float | None,
    labels: np.ndarray, rules: float,
) -> None:  # fmt: skip
    """Adds one result."""
    right = float((labels == truth).mean())
    found.append({"set": name, "who": who, "epsilon": epsilon, "seed": seed, "accuracy": right, "rules": rules})


def real(name: str, seeds: int, epsilons: tuple[float, ...], python: str | None) -> list[dict[str, Any]]:
    """Accuracy and rules of every learner on one set."""
    found: list[dict[str, Any]] = []
    for seed, train, test in data.splits(name, 1 if name in ("adult", "credit_default") else seeds):
        note = partial(entry, found, name, seed, test.y)
        note("usual class", None, np.full(len(test.y), int(train.y.mean() > 0.5)), 0)
        for epsilon in epsilons:
            for who, k in (("list, k=1", 1), ("list, k=2", 2)):
                model = DecisionListClassifier(epsilon=epsilon, delta=DELTA, schema=train.schema, k=k)
                model.fit(train.X, train.y)
                note(who, epsilon, model.predict(test.X), len(model.model_.rules) - 1)
            tree = BoostedTreesClassifier(
                epsilon=epsilon, delta=DELTA, schema=train.schema, n_trees=1, max_depth=TREE_DEPTH, alpha=1.0
            )
            note("one tree", epsilon, tree.fit(train.X, train.y).predict(test.X), 2**TREE_DEPTH)
            if python is not None:
                labels, _ = list_peers.foreign(python, "forest", train, test, seed, epsilon, TREE_DEPTH)
                note("diffprivlib forest", epsilon, labels, 10 * 2**TREE_DEPTH)
        exact = DecisionListClassifier(epsilon=math.inf, schema=train.schema, k=2).fit(train.X, train.y)
        note("list, k=2", math.inf, exact.predict(test.X), len(exact.model_.rules) - 1)
        if python is not None:
            labels, rules = list_peers.foreign(python, "list", train, test, seed, depth=8)
            note("imodels list", math.inf, labels, rules)
    return found


def table_of(found: list[dict[str, Any]]) -> None:
    """Prints means over seeds, a line per learner and a column per epsilon."""
    for name in dict.fromkeys(line["set"] for line in found):
        lines = [line for line in found if line["set"] == name]
        epsilons = sorted({line["epsilon"] for line in lines if line["epsilon"] is not None})
        print(f"\n{name}: accuracy (rules)\n{'':20}" + "".join(f"{e:>14g}" for e in epsilons))
        for who in dict.fromkeys(line["who"] for line in lines):
            cells = []
            for epsilon in epsilons:
                mine = [line for line in lines if line["who"] == who and line["epsilon"] in (epsilon, None)]
                right = np.mean([line["accuracy"] for line in mine]) if mine else math.nan
                rules = np.mean([line["rules"] for line in mine]) if mine else math.nan
                cells.append(f"{right:8.3f} ({rules:3.1f})" if mine else f"{'':14}")
            print(f"{who:20}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


def boolean_schema(columns: int) -> Schema:
    """Labels 0 and 1, and Boolean columns."""
    return Schema.from_dict(
        {
            "label": {"column": "y", "kind": "classes", "classes": [0, 1], "positive": 1},
            "columns": {f"x{j}": {"kind": "boolean"} for j in range(columns)},
        }
    )


def synthetic(seeds: int) -> list[dict[str, Any]]:
    """Error against the noiseless list, at epsilon 1, for 20,000 rows."""
    found = []
    print("\nsynthetic lists, n = 20,000, epsilon 1, k = 1: error against the true list (rules found)")
    for length in (3, 5, 8):
        for columns in (20, 100):
            for noise in (0.0, 0.1, 0.2):
                errors, rules = [], []
                for seed in range(seeds):
                    X, y = list_peers.synthetic_table(seed, 0, 20_000, columns, length, noise)
                    test, truth = list_peers.synthetic_table(seed, 1, 20_000, columns, length, 0.0)
                    model = DecisionListClassifier(schema=boolean_schema(columns), k=1).fit(X, y)
                    errors.append(float((model.predict(test) != truth).mean()))
                    rules.append(len(model.model_.rules) - 1)
                line = {"length": length, "columns": columns, "noise": noise, "error": float(np.mean(errors))}
                found.append(line)
                print(
                    f"length {length}  d {columns:3}  noise {noise:.1f}: {np.mean(errors):.4f} ({np.mean(rules):.1f})"
                )
    return found


def sample_sizes(seeds: int, columns: int = 10, length: int = 4) -> dict[str, int]:
    """The fewest rows (on a grid of ratio 1.1) at which the mean error of the paper's learner is at most 1 %."""
    found = {}
    print(
        f"\nrows for 1 % error: DP-GreedyCover, all steps, d = {columns}, length {length}, epsilon 1, delta {DELTA:g}"
    )
    for analysis in ("paper", "sharp"):
        rows = 200.0
        while True:
            errors = []
            for seed in range(seeds):
                X, y = list_peers.synthetic_table(seed, 0, int(rows), columns, length, 0.0)
                test, truth = list_peers.synthetic_table(seed, 1, 20_000, columns, length, 0.0)
                model = DecisionListClassifier(
                    schema=boolean_schema(columns), k=1, max_rules=None, objective="errors", analysis=analysis,
                    counts_share=0.0,
                )  # fmt: skip
                errors.append(float((model.fit(X, y).predict(test) != truth).mean()))
            if np.mean(errors) <= 0.01:
                break
            rows *= 1.1
        found[analysis] = int(rows)
        print(f"{analysis:6} {int(rows):7} rows: error {np.mean(errors):.4f}")
    print(f"ratio {found['paper'] / found['sharp']:.2f}")
    return found


def main() -> None:
    """Runs what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--epsilon", nargs="*", type=float, default=EPSILONS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--parts", nargs="*", default=("real", "synthetic", "samples"))
    parser.add_argument("--peer-python", default=None, help="an interpreter with diffprivlib and imodels")
    args = parser.parse_args()
    figures: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "real" in args.parts:
            figures["real"] = []
            for name in args.sets:
                found = real(name, args.seeds, tuple(args.epsilon), args.peer_python)
                table_of(found)
                figures["real"] += found
        if "synthetic" in args.parts:
            figures["synthetic"] = synthetic(args.seeds)
        if "samples" in args.parts:
            figures["samples"] = sample_sizes(max(args.seeds, 30))
    print(json.dumps(figures, default=str).replace("Infinity", '"inf"'))


if __name__ == "__main__":
    main()
