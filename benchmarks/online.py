"""Online learning: `python -m benchmarks.online [--parts ...]`.

* ``target``: the stream of the notes (d = 200, k = 3, T = 40,000, epsilon 1, delta 1e-6): mistakes and trailing error
  of ``batch`` and ``first``, of Winnow without privacy, of river's models and of private online gradient descent.
* ``sweep``: mistakes of ``batch`` against T, d, the margin and epsilon, one varied at a time.
* ``points``: the lower bound's stream: mistakes against log T (``--plot FILE`` draws them).
* ``speed``: rows per second of ``learn_many`` at d = 100, beside river's Perceptron in the same run.

The last line printed is one JSON object with the figures.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.online import Winnow
from tacit.online.streams import (
    disjunction_stream,
    list_stream,
    majority_stream,
    point_function_stream,
    point_rows,
    uniform_points,
)
from tacit.privacy.calibration import gaussian_noise_multiplier

Signs = np.ndarray
Stream = tuple[Signs, Signs]

DELTA = 1e-6
TRAILING = 5_000
BLOCK = 50
"""Rounds predicted at a time: a predictor changes about once in hundreds."""


def winnow_mistakes(rows: Signs, labels: Signs, block: int = BLOCK, **parameters: Any) -> Signs:
    """Which rounds a private Winnow errs on."""
    model = Winnow(**{"horizon": len(rows), "labels": (-1, 1), "delta": DELTA, **parameters})
    wrong = np.zeros(len(rows), bool)
    for start in range(0, len(rows), block):
        part = slice(start, start + block)
        wrong[part] = model.predict_many(rows[part]) != labels[part]
        model.learn_many(rows[part], labels[part])
    return wrong


def river_mistakes(rows: Signs, labels: Signs, make: Callable[[], Any]) -> Signs:
    """Which rounds a river classifier errs on (not private)."""
    model = make()
    names = [str(j) for j in range(rows.shape[1])]
    wrong = np.zeros(len(rows), bool)
    for t, (row, label) in enumerate(zip(rows.tolist(), (labels > 0).tolist(), strict=True)):
        x = dict(zip(names, row, strict=True))
        wrong[t] = bool(model.predict_one(x)) != label
        model.learn_one(x, label)
    return wrong


def private_descent_mistakes(rows: Signs, labels: Signs, epsilon: float, seed: int, rate: float = 0.1) -> Signs:
    """Private online gradient descent on the logistic loss: gradients of norm at most 1, summed by the tree mechanism.

    Follow-the-regularised-leader on noisy prefix sums (Jain, Kothari, Thakurta 2012; Smith, Thakurta 2013). A row is
    in one leaf of a binary tree of depth ``log2 T + 1``, so each node's noise has the multiplier for as many
    releases. The noise is drawn by numpy: this is a peer, not something to release.
    """
    rounds, width = rows.shape[0], rows.shape[1] + 1
    depth = math.ceil(math.log2(rounds)) + 1
    sd = gaussian_noise_multiplier(epsilon, DELTA) * math.sqrt(depth)
    noise = np.random.default_rng([seed, 99])
    points = np.concatenate([rows, np.ones((rounds, 1), rows.dtype)], axis=1) / math.sqrt(width)
    nodes = np.zeros((depth, width))
    exact, weights = np.zeros(width), np.zeros(width)
    wrong = np.zeros(rounds, bool)
    for t in range(rounds):
        score = float(points[t] @ weights)
        wrong[t] = (1 if score > 0 else -1) != labels[t]
        exact += labels[t] * points[t] / (1.0 + math.exp(min(labels[t] * score, 50.0)))
        level = ((t + 1) & -(t + 1)).bit_length() - 1  # the node that ends here; lower ones are dropped
        nodes[:level] = 0.0
        nodes[level] = noise.normal(0.0, sd, width)
        weights = rate * (exact + nodes.sum(axis=0))
    return wrong


def best_descent(rows: Signs, labels: Signs, seed: int) -> Signs:
    """The best of four learning rates in hindsight, which is more than the budget would buy."""
    runs = [private_descent_mistakes(rows, labels, 1.0, seed, rate) for rate in (0.003, 0.03, 0.3, 3.0)]
    return min(runs, key=lambda wrong: int(wrong.sum()))


def streams(dimension: int, rounds: int, seed: int) -> dict[str, Stream]:
    """Three targets of three variables each."""
    return {
        "majority of 3": majority_stream(np.random.default_rng([seed, 0]), rounds, dimension, 3),
        "disjunction of 3": disjunction_stream(np.random.default_rng([seed, 1]), rounds, dimension, 3),
        "list of 4 rules": list_stream(np.random.default_rng([seed, 2]), rounds, dimension, (1, -1, 1, -1)),
    }


def target(seeds: int) -> list[dict[str, Any]]:
    """The stream of the notes, everybody on the same rounds."""
    from river import linear_model, tree

    found = []
    for name in streams(4, 4, 0):
        print(f"\n{name}, d = 200, T = 40,000: mistakes (most) and error in the last {TRAILING:,} rounds (most)")
        contestants: dict[str, Callable[[Signs, Signs, int], Signs]] = {
            "Winnow batch, eps 1": lambda r, y, _: winnow_mistakes(r, y),
            "Winnow first, eps 1": lambda r, y, _: winnow_mistakes(r, y, 5_000, update="first"),
            "gradient descent, eps 1": best_descent,
            "Winnow, no privacy": lambda r, y, _: winnow_mistakes(r, y, 1, epsilon=math.inf),
            "river Perceptron": lambda r, y, _: river_mistakes(r, y, linear_model.Perceptron),
            "river Hoeffding tree": lambda r, y, _: river_mistakes(r, y, tree.HoeffdingTreeClassifier),
        }
        for who, play in contestants.items():
            repeats = seeds if who.startswith("Winnow batch") else 1
            runs = [play(*streams(200, 40_000, seed)[name], seed) for seed in range(repeats)]
            mistakes = [int(wrong.sum()) for wrong in runs]
            trailing = [float(wrong[-TRAILING:].mean()) for wrong in runs]
            counts = f"{np.mean(mistakes):8.0f} ({max(mistakes):6})"
            print(f"{who:24} {counts}   {np.mean(trailing):7.2%} ({max(trailing):6.2%})   {repeats} runs", flush=True)
            found.append({"stream": name, "who": who, "mistakes": mistakes, "trailing": trailing})
    return found


def sweep(seeds: int) -> list[dict[str, Any]]:
    """One number at a time, around d = 200, T = 40,000, epsilon 1, majority of 3."""
    usual: dict[str, float] = {"T": 40_000, "d": 200, "k": 3, "epsilon": 1.0}
    varied: dict[str, tuple[float, ...]] = {
        "T": (5_000, 10_000, 20_000, 40_000, 160_000),
        "d": (20, 50, 200, 1_000),
        "k": (1, 3, 5, 7),
        "epsilon": (0.3, 0.5, 1.0, 2.0, 8.0),
    }
    found = []
    print("\nbatch, majority of k (margin 1/k): mean mistakes and trailing error")
    for name, values in varied.items():
        for value in values:
            setting = {**usual, name: value}
            runs = []
            for seed in range(seeds):
                generator = np.random.default_rng([seed, 3])
                rows, labels = majority_stream(generator, int(setting["T"]), int(setting["d"]), int(setting["k"]))
                runs.append(winnow_mistakes(rows, labels, epsilon=setting["epsilon"]))
            mistakes = float(np.mean([wrong.sum() for wrong in runs]))
            trailing = float(np.mean([wrong[-len(wrong) // 8 :].mean() for wrong in runs]))
            print(f"{name:8} = {value:<8g} {mistakes:8.0f}   {trailing:7.2%}")
            found.append({**setting, "varied": name, "mistakes": mistakes, "trailing": trailing})
    return found


def point_functions(seeds: int, plot: str | None) -> list[dict[str, Any]]:
    """Mistakes on the lower bound's stream at the epsilon and delta of that bound, against log T."""
    found = []
    print("\npoint functions, epsilon 1/2, delta 1 / (20 log T): mistakes with and without privacy")
    for power in range(5, 13):
        rounds = 2**power
        mistakes: dict[float, list[int]] = {0.5: [], math.inf: []}
        for seed in range(seeds):
            pairs = list(point_function_stream(np.random.default_rng([seed, 4]), rounds))
            rows = point_rows([point for point, _ in pairs], rounds)
            labels = -np.array([label for _, label in pairs], np.int8)
            for epsilon, counts in mistakes.items():
                wrong = winnow_mistakes(
                    rows, labels, 1, epsilon=epsilon,
                    delta=1 / (20 * math.log(rounds)), signed=False, constant=False,
                )  # fmt: skip
                counts.append(int(wrong.sum()))
        means = {epsilon: float(np.mean(counts)) for epsilon, counts in mistakes.items()}
        print(f"T = {rounds:5} (log2 T = {power:2}): {means[0.5]:6.1f}   {means[math.inf]:6.1f}")
        found.append({"T": rounds, "private": means[0.5], "exact": means[math.inf]})
    if plot is not None:
        draw(found, plot)
    return found


def draw(found: list[dict[str, Any]], path: str) -> None:
    """Mistakes against log T."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3.2))
    for key, label in (("private", "epsilon 1/2"), ("exact", "no privacy")):
        axes.plot([math.log2(line["T"]) for line in found], [line[key] for line in found], "o-", label=label)
    axes.set_xlabel("log2 T")
    axes.set_ylabel("mistakes on point functions")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)


def speed() -> dict[str, float]:
    """Rows per second, majority of 3, d = 100: ours in one call, river's Perceptron row by row."""
    from river import linear_model

    rows = uniform_points(np.random.default_rng(0), 400_000, 100)
    labels = np.where(rows[:, :3].sum(axis=1, dtype=int) > 0, 1, -1).astype(np.int8)
    Winnow(horizon=10, labels=(-1, 1)).learn_many(rows[:10], labels[:10])  # schedules and kernels are made once
    model = Winnow(horizon=len(rows), labels=(-1, 1))
    model.learn_many(rows[:1], labels[:1])
    start = time.perf_counter()
    model.learn_many(rows[1:], labels[1:])
    ours = len(rows) / (time.perf_counter() - start)
    start = time.perf_counter()
    river_mistakes(rows[:4_000], labels[:4_000], linear_model.Perceptron)
    theirs = 4_000 / (time.perf_counter() - start)
    print(f"\nd = 100: {ours:,.0f} rows per second; river's Perceptron {theirs:,.0f}; ratio {ours / theirs:.0f}")
    return {"rows_per_second": ours, "river": theirs}


def main() -> None:
    """Runs what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="*", default=("target", "sweep", "points", "speed"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--plot", default=None, help="where to draw mistakes against log T")
    args = parser.parse_args()
    figures: dict[str, Any] = {}
    if "target" in args.parts:
        figures["target"] = target(args.seeds)
    if "sweep" in args.parts:
        figures["sweep"] = sweep(min(args.seeds, 3))
    if "points" in args.parts:
        figures["points"] = point_functions(min(args.seeds, 5), args.plot)
    if "speed" in args.parts:
        figures["speed"] = speed()
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
