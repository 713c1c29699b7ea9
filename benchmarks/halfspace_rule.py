"""Which measure halfspaces take by default: ``python -m benchmarks.halfspace_rule``.

Error of the smooth and of the logistic measure on made tables that no halfspace separates, by the signal ``n / (noise
sqrt(d))`` that ``measure="auto"`` decides on. Only made tables: no real one has a say in the rule. Every setting is a
line of ``benchmarks/results/halfspace_rule.parquet``; what is there is not run again. Prints one JSON line, its figure
last.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math

import numpy as np
from scipy.special import expit

from benchmarks.lines import Lines
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.halfspaces.plan import Options
from tacit.halfspaces.tuning import TUNING
from tacit.privacy.request import Request

DELTA = 1e-6
TEST_ROWS = 4000
KINDS = ("even", "skewed", "bent", "rare")
EDGES = (0.0, 60.0, 120.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0, math.inf)


def made_table(kind: str, n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in the unit ball, a constant last, and labels 0/1 that follow a noisy score.

    ``even``: columns of one spread. ``skewed``: of spreads that fall with the column, and off centre. ``bent``: the
    score has squares. ``rare``: a tenth of the labels is positive.
    """
    rng = np.random.default_rng([seed, n, d])
    rows = rng.uniform(-1, 1, (n, d))
    score = rows @ rng.normal(size=d) * math.sqrt(3 / d) * 2
    if kind == "skewed":
        rows = np.clip(0.3 + rows * np.arange(1, d + 1) ** -0.5, -1, 1)
    if kind == "bent":
        score += (rows**2 - 1 / 3) @ rng.normal(size=d) * math.sqrt(11 / d)
    if kind == "rare":
        score -= 3.0
    labels = (rng.random(n) < expit(score)).astype(int)
    return np.hstack([rows, np.ones((n, 1))]) / math.sqrt(d + 1), labels


def signal_of(n: int, d: int, epsilon: float) -> float:
    """What the rule decides on, at the true number of rows."""
    allowance = Request.of(epsilon, DELTA, "add_or_remove_one", None).allowance
    return n / (allowance.sd(Options().shares["rounds"]) * math.sqrt(d + 1))


def errors(kind: str, n: int, d: int, epsilon: float, repeats: int) -> dict[str, float]:
    """Mean test errors of the two measures."""
    results: dict[str, list[float]] = {"smooth": [], "logistic": []}
    for seed in range(repeats):
        rows, labels = made_table(kind, n + TEST_ROWS, d, seed)
        for measure, seen in results.items():
            model = HalfspaceBoostClassifier(
                epsilon, DELTA, row_norm=1.0, fit_intercept=False, measure=measure, classes=(0, 1)
            )
            model.fit(rows[:n], labels[:n])
            seen.append(float((model.predict(rows[n:]) != labels[n:]).mean()))
    return {
        "signal": round(signal_of(n, d, epsilon), 1),
        **{name: float(np.mean(seen)) for name, seen in results.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=4)
    arguments = parser.parse_args()
    lines, results = Lines("halfspace_rule"), []
    for n in (3000, 12_000):
        for d in (8, 30, 100):
            for epsilon in (0.2, 1.0, 4.0):
                for kind in KINDS:
                    job = {"kind": kind, "n": n, "d": d, "epsilon": epsilon, "repeats": arguments.repeats}
                    line = lines.run(job, lambda j=job: errors(**j))
                    results.append(line)
                    print(json.dumps({**job, **line}), flush=True)
    by_signal = {}
    for low, high in itertools.pairwise(EDGES):
        some = [line for line in results if low <= line["signal"] < high]
        if some:
            gain = float(np.mean([line["smooth"] - line["logistic"] for line in some]))
            by_signal[f"{low:g} to {high:g}"] = {"settings": len(some), "logistic_better_by": round(gain, 4)}
    print(json.dumps({"rule": TUNING.logistic_signal, "by_signal": by_signal}))


if __name__ == "__main__":
    main()
