"""What the benchmarks of several classes and of numbers share: jobs, results that survive an interruption, a table."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.lines import Line, Lines
from benchmarks.score_peers import Learner
from benchmarks.score_tables import ScoreTable, split

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DELTA = 1e-6
Metrics = Callable[[ScoreTable, np.ndarray], dict[str, float]]


def arguments(text: str | None, sets: Sequence[str], who: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--data", nargs="+", default=list(sets), choices=sets)
    parser.add_argument("--who", nargs="+", default=None, choices=who, help="by default all that can run here")
    parser.add_argument("--epsilon", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--delta", type=float, default=DELTA)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--outside", type=Path, help="a Python with diffprivlib and scikit-learn<1.6, for its learners")
    parser.add_argument("--again", action="store_true", help="run even what is known")
    return parser.parse_args()


def run(
    name: str,
    args: argparse.Namespace,
    load: Callable[[str], ScoreTable],
    private: Mapping[str, Learner],
    plain: Mapping[str, Learner],
    metrics: Metrics,
) -> None:
    """Runs all jobs asked for and prints the means over seeds; the last line is one JSON object."""
    lines, sums = Lines(name, args.again), {}
    for data in args.data:
        table = load(data)
        for seed in range(args.seeds):
            train, test = split(table, seed)
            for who in args.who or [*private, *plain]:
                for epsilon in args.epsilon if who in private else [None]:
                    learner = private.get(who) or plain[who]
                    job = {"data": data, "who": who, "epsilon": epsilon, "seed": seed}
                    job |= {"delta": args.delta} if args.delta != DELTA else {}
                    new = not lines.known(job)
                    line = lines.run(job, lambda: _result(learner, train, test, epsilon, args.delta, seed, metrics))  # noqa: B023
                    if new:
                        print(*job.values(), line, flush=True)
                    sums.setdefault(f"{data} {who} {epsilon}", []).append(line)
    means = {key: {metric: round(float(np.mean([line[metric] for line in found])), 4) for metric in found[0]}
             for key, found in sums.items()}  # fmt: skip
    for key, values in means.items():
        print(f"{key:44}", "  ".join(f"{metric} {value:8.4f}" for metric, value in values.items()))
    print(json.dumps({"benchmark": name, "means": means}))


def _result(
    learner: Learner,
    train: ScoreTable,
    test: ScoreTable,
    epsilon: float | None,
    delta: float,
    seed: int,
    metrics: Metrics,
) -> Line:
    start = time.perf_counter()
    result = learner(train, test, epsilon or float("inf"), delta, seed)
    seconds = time.perf_counter() - start
    return {**{key: round(value, 5) for key, value in metrics(test, result).items()}, "seconds": round(seconds, 2)}
