"""Boost-S around a learner of other people: ``python -m benchmarks.boost_s``. Prints one JSON line.

The learner inside is a decision stump that OpenDP chooses: the column, threshold and side that agree with most labels,
by its report-noisy-max, pure epsilon under replacement of a row. Rows are made: four columns, positive where their sum
is. One stump at the whole epsilon, beside the vote of many that share it. Noise is fresh in every run.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import opendp.prelude as dp
import pandas as pd

from tacit.resampling.estimator import ResampledBoostClassifier
from tacit.resampling.learner import ClaimedLearner

COLUMNS = ("x0", "x1", "x2", "x3")
THRESHOLDS = np.linspace(-0.8, 0.8, 9)
TEST_ROWS = 20_000
SCHEMA: dict[str, Any] = {
    "label": {"column": "y", "classes": [0, 1], "positive": 1},
    "columns": {name: {"kind": "numeric", "lower": -1, "upper": 1} for name in COLUMNS},
}


def table(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Uniform rows in a cube; 1 where the sum of the columns is positive."""
    rows = np.random.default_rng(seed).uniform(-1, 1, (n, len(COLUMNS)))
    return pd.DataFrame(rows, columns=list(COLUMNS)), (rows.sum(axis=1) > 0).astype(int)


@dataclass(frozen=True)
class Stump:
    """1 where a column is above a threshold, or below it."""

    column: int
    threshold: float
    above: bool

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return ((rows[:, self.column] > self.threshold) == self.above).astype(int)


def opendp_stump(rows: np.ndarray, labels: np.ndarray, epsilon: float, delta: float) -> Stump:
    """OpenDP's choice. Replacing a row moves a count by at most 1; rows come scaled to the unit ball."""
    del delta
    scale = np.sqrt(len(COLUMNS))
    stumps = [
        Stump(column, float(threshold / scale), above)
        for column in range(len(COLUMNS))
        for threshold in THRESHOLDS
        for above in (True, False)
    ]
    agreeing = [int((stump.predict(rows) == labels).sum()) for stump in stumps]
    space = dp.vector_domain(dp.atom_domain(T="i32")), dp.linf_distance(T="i32")
    choose = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2.0 / epsilon)
    assert choose.map(1) <= epsilon * (1 + 1e-9)
    return stumps[choose(agreeing)]


def accuracy(rows: int, epsilon: float, rounds: int, seed: int, **others: Any) -> float:
    """Of a vote on new rows."""
    base = ClaimedLearner(opendp_stump, "OpenDP stump")
    model = ResampledBoostClassifier(base, epsilon, schema=SCHEMA, rounds=rounds, **others)
    return float(model.fit(*table(rows, seed)).score(*table(TEST_ROWS, 1000 + seed)))


def main() -> None:
    dp.enable_features("contrib")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epsilon", type=float, action="append", default=[])
    arguments = parser.parse_args()
    results = []
    for epsilon in arguments.epsilon or (1.0, 4.0):
        alone, vote = (
            [accuracy(arguments.rows, epsilon, rounds, seed, learning_rate=0.9) for seed in range(arguments.repeats)]
            for rounds in (1, arguments.rounds)
        )
        results.append(
            {"epsilon": epsilon, "one": round(float(np.mean(alone)), 3), "vote": round(float(np.mean(vote)), 3)}
        )
        print(json.dumps(results[-1]), flush=True)
    print(json.dumps({"rows": arguments.rows, "rounds": arguments.rounds, "accuracy": results}))


if __name__ == "__main__":
    main()
