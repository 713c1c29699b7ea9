"""Halfspaces with default settings on real tables: ``python -m benchmarks.halfspace_tables``.

Means over the tables of AUC, log loss and error on new rows, and in how many of them the log loss is above that of the
base rate alone (the entropy of the labels) by more than .005. Split s is fitted with seeds 4 s to 4 s + 3. A line per
table and epsilon, then one JSON line, its figures last.
"""

from __future__ import annotations

import argparse
import json
import warnings

import numpy as np
from scipy.special import entr
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.data import splits, table_tasks
from tacit import HalfspaceBoostClassifier

DELTA = 1e-6
FITS = 4
SCORES = ("auc", "log_loss", "error")


def scores_of(name: str, epsilon: float, seeds: int) -> dict[str, float]:
    """Means over splits and fits, and the entropy of the labels."""
    results, rates = [], []
    for seed, train, test in splits(name, seeds):
        rates.append(test.y.mean())
        for fit in range(FITS):
            state = FITS * seed + fit
            model = HalfspaceBoostClassifier(epsilon, DELTA, schema=train.schema, random_state=state)
            chances = model.fit(train.X, train.y).predict_proba(test.X)[:, 1]
            wrong = ((chances > 0.5) != test.y).mean()
            results.append((roc_auc_score(test.y, chances), log_loss(test.y, np.clip(chances, 1e-9, 1 - 1e-9)), wrong))
    rate = float(np.mean(rates))
    means = dict(zip(SCORES, np.mean(results, axis=0).tolist(), strict=True))
    return {**means, "entropy": float(entr(rate) + entr(1 - rate))}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.1, 1.0])
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=None, metavar="TABLE")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    names = arguments.only or sorted(table_tasks())
    means = {}
    for epsilon in arguments.epsilon:
        results = []
        for name in names:
            results.append(scores_of(name, epsilon, arguments.splits))
            said = {score: round(value, 4) for score, value in results[-1].items()}
            print(json.dumps({"table": name, "epsilon": epsilon, **said}), flush=True)
        above = sum(line["log_loss"] > line["entropy"] + 0.005 for line in results)
        figures = {score: round(float(np.mean([line[score] for line in results])), 4) for score in SCORES}
        means[f"epsilon {epsilon:g}"] = {**figures, "above_entropy": above}
    print(json.dumps({"benchmark": "halfspace_tables", "tables": len(names), "means": means}))


if __name__ == "__main__":
    main()
