"""Decision lists: `python -m benchmarks.decision_lists [--parts ...] [--peer-python PYTHON]`.

* ``real``: accuracy, number of rules and proved error on real sets, by epsilon, beside private trees of the same size
  (ours, of 10 and of 50 cells a column; by the idea of PrivaTree; diffprivlib's, and its forest of ten), a list
  by noisy Gini impurity and smooth sensitivity, and rule lists without privacy (imodels').
* ``synthetic``: error on lists by length, columns and label noise.
* ``samples``: the rows at which the paper's learner errs on 1 %, with the paper's accounting and with ours.

``--peer-python`` names an interpreter with diffprivlib and imodels, which need older libraries than tacit:

    pip install diffprivlib==0.6.6 "scikit-learn<1.6" imodels six

Every run is one line of ``benchmarks/results/decision_lists.parquet``; what is there is not run again, except with
``--again``.
Noise is fresh in ours, so figures move a little. The last line printed is one JSON object with the figures.
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
from benchmarks.lines import Line, Lines
from benchmarks.privatree import privatree_labels
from benchmarks.smooth_lists import SmoothRuleList, smooth_list_labels
from tacit.decision_lists.estimator import DecisionListClassifier
from tacit.schema import Schema
from tacit.trees.estimator import MAlphaBoostClassifier
from tacit.trees.learners import MAlphaLearner

SETS = ("mushroom", "tic_tac_toe", "congressional_voting", "german_credit", "credit_default", "adult")
EPSILONS = (0.1, 0.5, 1.0, 2.0, 8.0)
DELTA = 1e-6
TREE_DEPTH = 3
"""A tree of eight leaves, beside lists of up to eight rules and a default."""

FINE_CELLS = 50
"""Public cells of a numeric column in another run of our tree, beside the default's 10."""

PRIVATE = (
    "list, k=1",
    "list, k=2",
    "smooth list",
    "our tree",
    "our tree, fine",
    "PrivaTree",
    "diffprivlib tree",
    "diffprivlib forest",
)
EXACT = ("usual class", "list, k=2, no privacy", "imodels greedy list", "imodels Bayesian list")
FOREIGN = ("diffprivlib", "imodels")
BAYESIAN_SETS, BAYESIAN_SEEDS = ("tic_tac_toe", "congressional_voting"), 2
"""Sets and splits on which the Bayesian rule list is run: on the others it takes from minutes to hours."""


def play(who: str, train: data.Table, test: data.Table, epsilon: float) -> Line:
    """Accuracy of one of our learners, and how many rules it says (leaves, for trees)."""
    if who == "usual class":
        labels, rules = np.full(len(test.y), int(train.y.mean() > 0.5)), 0
    elif who.startswith("list"):
        model = DecisionListClassifier(epsilon=epsilon, delta=DELTA, schema=train.schema, k=1 if "k=1" in who else 2)
        labels = model.fit(train.X, train.y).predict(test.X)
        bound = model.model_.error_bound()
        said = {} if bound is None else {"error_bound": round(bound, 4)}
        right = float((labels == test.y).mean())
        return {"accuracy": right, "rules": len(model.model_.rules) - 1, **said}
    elif who == "smooth list":
        labels, rules = smooth_list_labels(train, test, epsilon, DELTA), SmoothRuleList.rules
    elif who == "PrivaTree":
        labels = privatree_labels(train, test, epsilon, TREE_DEPTH, np.random.default_rng())
        rules = 2**TREE_DEPTH
    else:
        tree = MAlphaBoostClassifier(
            epsilon=epsilon,
            delta=DELTA,
            schema=train.schema,
            n_trees=1,
            max_depth=TREE_DEPTH,
            alpha=1.0,
            criterion="gini",
            n_bins=FINE_CELLS if who == "our tree, fine" else MAlphaLearner.n_bins,
        )
        labels, rules = tree.fit(train.X, train.y).predict(test.X), 2**TREE_DEPTH
    return {"accuracy": float((labels == test.y).mean()), "rules": rules}


def foreign_task(job: Line) -> Line:
    """What the peers' program is told."""
    match job["who"]:
        case "imodels greedy list":
            return {"name": "greedy", "depth": 8}
        case "imodels Bayesian list":
            return {"name": "bayesian"}
        case _:
            trees = 10 if "forest" in job["who"] else 1
            return {"name": "forest", "trees": trees, "depth": TREE_DEPTH, "epsilon": job["epsilon"]}


def run_foreign(
    lines: Lines, jobs: list[Line], train: data.Table, test: data.Table, seed: int, python: str | None
) -> list[Line]:
    """The peers' results: those that are known, and with an interpreter the others."""
    unknown = [job for job in jobs if not lines.known(job)] if python else []
    if unknown and python:
        played = list_peers.foreign(python, [foreign_task(job) for job in unknown], train, test, seed)
        for job, (labels, rules) in zip(unknown, played, strict=True):
            leaves = (10 if "forest" in job["who"] else 1) * 2**TREE_DEPTH
            result = {"accuracy": float((labels == test.y).mean()), "rules": rules or leaves}
            lines.run(job, lambda result=result: result)
    return [{**job, **lines.run(job, dict)} for job in jobs if lines.known(job)]


def real(lines: Lines, sets: list[str], seeds: int, python: str | None) -> list[Line]:
    """Every learner on every set; prints means over the splits."""
    results = []
    for name in sets:
        for seed, train, test in data.splits(name, seeds):
            jobs = [
                {"part": "real", "set": name, "who": who, "epsilon": epsilon, "seed": seed}
                for who in (*PRIVATE, *EXACT)
                for epsilon in (EPSILONS if who in PRIVATE else (None,))
                if who != "imodels Bayesian list" or (name in BAYESIAN_SETS and seed < BAYESIAN_SEEDS)
            ]
            theirs = [job for job in jobs if job["who"].startswith(FOREIGN)]
            for job in jobs:
                if job not in theirs:
                    run = partial(play, job["who"], train, test, job["epsilon"] or math.inf)
                    results.append({**job, **lines.run(job, run)})
            results += run_foreign(lines, theirs, train, test, seed, python)
        table_of(name, [line for line in results if line["set"] == name])
    return results


def table_of(name: str, lines: list[Line]) -> None:
    """Prints means over seeds, a line per learner and a column per epsilon."""
    print(f"\n{name}: accuracy (rules)\n{'':24}" + "".join(f"{e:>14g}" for e in EPSILONS) + f"{'no privacy':>14}")
    for who in dict.fromkeys(line["who"] for line in lines):
        cells = []
        for epsilon in (*EPSILONS, None):
            mine = [line for line in lines if line["who"] == who and line["epsilon"] == epsilon]
            right, rules = (np.mean([line[key] for line in mine]) if mine else 0 for key in ("accuracy", "rules"))
            cells.append(f"{right:.3f} ({rules:3.1f})" if mine else "")
        print(f"{who:24}" + "".join(f"{cell:>14}" for cell in cells), flush=True)
        proved = {
            line["epsilon"]: line["error_bound"] for line in lines if line["who"] == who and "error_bound" in line
        }
        if proved:
            listed = [f"{proved[e]:.3f}" if e in proved else "" for e in (*EPSILONS, None)]
            print(f"{'  proved error (one split)':24}" + "".join(f"{cell:>14}" for cell in listed), flush=True)


def boolean_schema(columns: int) -> Schema:
    """Labels 0 and 1, and Boolean columns."""
    return Schema.from_dict(
        {
            "label": {"column": "y", "kind": "classes", "classes": [0, 1], "positive": 1},
            "columns": {f"x{j}": {"kind": "boolean"} for j in range(columns)},
        }
    )


def synthetic_run(seed: int, length: int, columns: int, noise: float, rows: int, **parameters: Any) -> Line:
    """Error against the noiseless list."""
    X, y = list_peers.synthetic_table(seed, 0, rows, columns, length, noise)
    test, truth = list_peers.synthetic_table(seed, 1, 20_000, columns, length, 0.0)
    model = DecisionListClassifier(schema=boolean_schema(columns), k=1, delta=DELTA, **parameters).fit(X, y)
    return {"error": float((model.predict(test) != truth).mean()), "rules": len(model.model_.rules) - 1}


def synthetic(lines: Lines, seeds: int) -> list[Line]:
    """Error against the noiseless list, at epsilon 1, by rows."""
    results = []
    print("\nsynthetic lists, epsilon 1, k = 1: error against the true list (rules found), 5,000 and 20,000 rows")
    for length in (3, 5, 8):
        for columns in (20, 100):
            for noise in (0.0, 0.1, 0.2):
                cells = []
                for rows in (5_000, 20_000):
                    setting = {"length": length, "columns": columns, "noise": noise, "rows": rows}
                    runs = [
                        lines.run(
                            {"part": "synthetic", **setting, "seed": seed}, partial(synthetic_run, seed, **setting)
                        )
                        for seed in range(seeds)
                    ]
                    error, rules = (float(np.mean([run[key] for run in runs])) for key in ("error", "rules"))
                    cells.append(f"{error:.4f} ({rules:.1f})")
                    results.append({**setting, "error": error, "rules": rules})
                print(f"length {length}  d {columns:3}  noise {noise:.1f}:  " + "   ".join(cells), flush=True)
    return results


def sample_sizes(lines: Lines, seeds: int) -> list[Line]:
    """The fewest rows (on a grid of ratio 1.1) at which the mean error of the paper's learner is at most 1 %."""
    results = []
    print(f"\nrows for 1 % error: DP-GreedyCover, all steps, epsilon 1, delta {DELTA:g}: paper, sharp, ratio")
    for columns, length in ((5, 3), (10, 4), (20, 5)):
        needed = {analysis: _rows_for(lines, seeds, columns, length, analysis) for analysis in ("paper", "sharp")}
        ratio = needed["paper"] / needed["sharp"]
        print(f"d {columns:3}  length {length}: {needed['paper']:7} {needed['sharp']:7}   {ratio:.2f}", flush=True)
        results.append({"columns": columns, "length": length, **needed, "ratio": ratio})
    return results


def _rows_for(lines: Lines, seeds: int, columns: int, length: int, analysis: str) -> int:
    rows = 200.0
    while True:
        setting = {"length": length, "columns": columns, "noise": 0.0, "rows": int(rows)}
        job = {"part": "samples", **setting, "analysis": analysis, "seeds": seeds}
        paper = {"max_rules": None, "objective": "errors", "analysis": analysis, "counts_share": 0.0}

        def result(setting: Line = setting, paper: Line = paper) -> Line:
            runs = [synthetic_run(seed, **setting, **paper) for seed in range(seeds)]
            return {"error": float(np.mean([run["error"] for run in runs]))}

        if lines.run(job, result)["error"] <= 0.01:
            return int(rows)
        rows *= 1.1


def main() -> None:
    """Runs what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ("real", "synthetic", "samples")
    parser.add_argument("--parts", nargs="*", choices=parts, default=parts)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--peer-python", default=None, help="an interpreter with diffprivlib and imodels")
    parser.add_argument("--again", action="store_true", help="run even what is known")
    args = parser.parse_args()
    lines = Lines("decision_lists", args.again)
    figures: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "real" in args.parts:
            figures["real"] = real(lines, list(args.sets), args.seeds, args.peer_python)
        if "synthetic" in args.parts:
            figures["synthetic"] = synthetic(lines, 2 * args.seeds)
        if "samples" in args.parts:
            figures["samples"] = sample_sizes(lines, 6 * args.seeds)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
