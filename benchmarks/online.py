"""Online learning: `python -m benchmarks.online [--parts ...]`.

* ``target``: the stream of the notes (d = 200, k = 3, T = 40,000, epsilon 1, delta 1e-6): mistakes and trailing error
  of ``timed`` (told a margin of 1/3: ``proved``), ``batch`` and ``first``, of Winnow without privacy, of river's models
  and of private gradient descent.
* ``sweep``: the same learners against T, d, the margin and epsilon, one varied at a time (``--figures`` draws it).
* ``points``: the lower bound's stream: mistakes against log T (``--figures`` draws it).
* ``bounds``: what the paper's theorem and ours promise.
* ``drift``: a target that changes at public times, with public periods and without.
* ``real``: river's Phishing, and tables with their rows in the order of the file.
* ``speed``: rows per second of ``learn_many`` at d = 100, beside river's Perceptron in the same run.

Every run is one line of ``benchmarks/results/online.parquet``; what is there is not run again (``--again`` does). The
last line printed is one JSON object with the figures.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import online_figures
from benchmarks.lines import Line, Lines
from benchmarks.online_drift import drift
from benchmarks.online_peers import best_descent, river_mistakes, winnow_mistakes
from benchmarks.online_streams import (
    disjunction_stream,
    list_stream,
    majority_stream,
    point_function_stream,
    point_rows,
    uniform_points,
)
from benchmarks.online_tables import real_rows
from tacit.online import Winnow
from tacit.online.schedule import WinnowRequest, bound_of, theorem_schedule
from tacit.privacy.unit import Neighbouring
from tacit.theory.winnow import theorem_4_5

Signs = np.ndarray
DELTA = 1e-6
TRAILING = 5_000
PRIVATE = ("timed", "proved", "batch", "first", "descent")
SEEDED = ("timed", "proved", "batch", "descent", "exact")
"""Those that are run with every seed: the others take long, or do nothing."""


def stream(kind: str, rounds: int, dimension: int, k: int, seed: int) -> tuple[Signs, Signs]:
    """Rows and labels of a target of ``k`` variables; a list has ``k`` rules and a default."""
    if kind == "majority":
        return majority_stream(np.random.default_rng([seed, 0]), rounds, dimension, k)
    if kind == "disjunction":
        return disjunction_stream(np.random.default_rng([seed, 1]), rounds, dimension, k)
    bits = tuple(1 - 2 * (place % 2) for place in range(k + 1))
    return list_stream(np.random.default_rng([seed, 2]), rounds, dimension, bits)


def river_model(who: str) -> Any:
    """River's learners, with their default settings."""
    from river import linear_model, tree

    return {
        "perceptron": linear_model.Perceptron,
        "logistic": linear_model.LogisticRegression,
        "alma": linear_model.ALMAClassifier,
        "hoeffding tree": tree.HoeffdingTreeClassifier,
    }[who]()


def play(who: str, rows: Signs, labels: Signs, epsilon: float | None, k: int, seed: int) -> Signs:
    """Which rounds a learner errs on."""
    if who in ("timed", "batch"):
        return winnow_mistakes(rows, labels, delta=DELTA, epsilon=epsilon, update=who)
    if who == "proved":
        return winnow_mistakes(rows, labels, delta=DELTA, epsilon=epsilon, margin=1.0 / k)
    if who == "first":
        return winnow_mistakes(rows, labels, 5_000, delta=DELTA, epsilon=epsilon, update="first", margin=1.0 / k)
    if who == "exact":
        return winnow_mistakes(rows, labels, 1, epsilon=math.inf)
    if who == "descent":
        assert epsilon is not None
        return best_descent(rows, labels, epsilon, DELTA, seed)
    return river_mistakes(rows, labels, partial(river_model, who))


def runs(lines: Lines, who: str, setting: Line, seeds: int) -> Line:
    """Mistakes and trailing errors of a learner, one per seed."""
    results: Line = {"mistakes": [], "trailing": []}
    for seed in range(seeds if who in SEEDED else 1):
        job = {**setting, "who": who, "seed": seed, "epsilon": setting["epsilon"] if who in PRIVATE else None}

        def result(job: Line = job) -> Line:
            rows, labels = stream(job["kind"], job["T"], job["d"], job["k"], job["seed"])
            wrong = play(job["who"], rows, labels, job["epsilon"], job["k"], job["seed"])
            tail = min(TRAILING, len(wrong) // 8)
            return {"mistakes": int(wrong.sum()), "trailing": float(wrong[-tail:].mean())}

        line = lines.run(job, result)
        results["mistakes"].append(line["mistakes"])
        results["trailing"].append(line["trailing"])
    return results


def target(lines: Lines, seeds: int) -> list[Line]:
    """The stream of the notes, everybody on the same rounds."""
    contestants = (
        "timed", "proved", "batch", "first", "descent", "exact", "perceptron", "logistic", "alma", "hoeffding tree",
    )  # fmt: skip
    results = []
    for kind in ("majority", "disjunction", "list"):
        print(f"\n{kind} of 3, d = 200, T = 40,000, epsilon 1: mistakes (most), error of the last 5,000 rounds (most)")
        for who in contestants:
            if who == "proved" and kind != "majority":  # whose margin is 1/k
                continue
            line = runs(lines, who, {"kind": kind, "T": 40_000, "d": 200, "k": 3, "epsilon": 1.0}, seeds)
            mistakes, trailing = line["mistakes"], line["trailing"]
            counts = f"{np.mean(mistakes):8.0f} ({max(mistakes):6})"
            print(
                f"{who:16} {counts}   {np.mean(trailing):7.2%} ({max(trailing):6.2%})   {len(mistakes)} runs",
                flush=True,
            )
            results.append({"stream": kind, "who": who, **line})
    return results


SWEEP: dict[str, Sequence[float]] = {
    "T": (5_000, 10_000, 20_000, 40_000, 80_000),
    "d": (20, 50, 200, 500),
    "k": (1, 3, 5, 7),
    "epsilon": (0.1, 0.3, 1.0, 2.0, 8.0),
}
SWEPT = ("timed", "batch", "first", "descent", "exact", "perceptron")


def sweep(lines: Lines, seeds: int) -> list[Line]:
    """One number at a time, around d = 200, T = 40,000, epsilon 1, majority of 3 (margin 1 / k)."""
    results = []
    print("\nmajority of k (margin 1/k): mean mistakes, and error of the last rounds (an eighth of them, or 5,000)")
    print(f"{'':16}" + "".join(f"{who:>18}" for who in SWEPT))
    for name, values in SWEEP.items():
        for value in values:
            setting: Line = {"kind": "majority", "T": 40_000, "d": 200, "k": 3, "epsilon": 1.0}
            setting[name] = value
            cells = []
            for who in SWEPT:
                line = runs(lines, who, setting, seeds)
                mistakes, trailing = float(np.mean(line["mistakes"])), float(np.mean(line["trailing"]))
                cells.append(f"{mistakes:9.0f} {trailing:8.2%}")
                results.append({**setting, "varied": name, "who": who, "mistakes": mistakes, "trailing": trailing})
            print(f"{name:7} = {value:<6g}" + "".join(f"{cell:>18}" for cell in cells), flush=True)
    return results


POINT_STREAMS: dict[str, float | None] = {"powers": None, "half": 0.5}
"""The target comes at powers of two, or in half of all rounds."""


def point_functions(lines: Lines, seeds: int) -> list[Line]:
    """Mistakes on the lower bound's streams at the epsilon and delta of that bound, against log T."""
    results = []
    print("\npoint functions, epsilon 1/2, delta 1 / (20 log T): mistakes with and without privacy,")
    print("where the target comes at powers of two, and where it comes in half of all rounds")
    for power in range(5, 14):
        rounds = 2**power
        means: Line = {"T": rounds}
        for name, share in POINT_STREAMS.items():
            for epsilon in (0.5, None):
                counts = []
                for seed in range(seeds):
                    job = {"kind": f"points, {name}", "T": rounds, "epsilon": epsilon, "seed": seed}
                    counts.append(lines.run(job, partial(points_result, rounds, share, epsilon, seed))["mistakes"])
                means[f"{name}, {'private' if epsilon else 'exact'}"] = float(np.mean(counts))
        print(
            f"T = {rounds:5} (log2 T = {power:2}): " + "".join(f"{means[k]:8.1f}" for k in list(means)[1:]), flush=True
        )
        results.append(means)
    return results


def points_result(rounds: int, share: float | None, epsilon: float | None, seed: int) -> Line:
    """One run on point functions, whose weights are known not to be negative; without privacy at margin 1."""
    pairs = list(point_function_stream(np.random.default_rng([seed, 4]), rounds, share))
    rows = point_rows([point for point, _ in pairs], rounds)
    labels = -np.array([label for _, label in pairs], np.int8)
    wrong = winnow_mistakes(
        rows,
        labels,
        1,
        epsilon=epsilon or math.inf,
        update="batch",
        delta=1 / (20 * math.log(rounds)),
        margin=None if epsilon else 1.0,
        signed=False,
        constant=False,
    )
    return {"mistakes": int(wrong.sum())}


def bounds() -> list[Line]:
    """Mistakes that are promised with probability .9 at epsilon .999, and the schedules behind the promises."""
    results = []
    print("\nd = 200, signed, epsilon .999, beta .05: updates, samples, threshold (rounds between updates), mistakes")
    margins = [(40_000, DELTA, k) for k in (1, 3, 9)]
    for rounds, delta, k in (*margins, (40_000, 0.0, 3), (120_000, DELTA, 3), (10**6, DELTA, 3)):
        made: list[tuple[str, int, int, int, float]] = []
        if delta > 0:
            paper = theorem_4_5(402, 1.0 / k, rounds, 0.05, 0.999, delta)
            made.append(("Theorem 4.5", paper.epochs, paper.n_samples, paper.threshold, paper.mistakes))
        for name, update in (("Theorem 4", "batch"), ("Theorem 11", "timed")):
            asked = WinnowRequest(
                201, True, update, 0.999, delta, Neighbouring.ADD_OR_REMOVE_ONE, rounds, 1.0 / k, beta=0.05
            )
            ours = theorem_schedule(asked)
            when = ours.times[0] if ours.is_timed else ours.threshold
            made.append((name, ours.epochs, ours.n_samples, when, bound_of(asked)))
        for name, epochs, samples, when, mistakes in made:
            setting = f"T {rounds:7}  delta {delta:<6g} margin 1/{k}"
            print(f"{setting}  {name:12} {epochs:12} {samples:6} {when:10}   {mistakes:9.3g}")
            results.append(
                {"T": rounds, "delta": delta, "k": k, "who": name, "epochs": epochs, "samples": samples,
                 "mistakes": mistakes}
            )  # fmt: skip
    return results


def speed() -> Line:
    """Rows per second, majority of 3, d = 100: ours in one call, river's Perceptron row by row.

    By the clock, and by the processor's time, which does not count what else the machine was doing.
    """
    from river import linear_model

    rows = uniform_points(np.random.default_rng(0), 400_000, 100)
    labels = np.where(rows[:, :3].sum(axis=1, dtype=int) > 0, 1, -1).astype(np.int8)
    Winnow(horizon=10, labels=(-1, 1)).learn_many(rows[:10], labels[:10])  # schedules and kernels are made once
    model = Winnow(horizon=len(rows), labels=(-1, 1))
    model.learn_many(rows[:1], labels[:1])
    ours = _seconds(lambda: model.learn_many(rows[1:], labels[1:]))
    theirs = _seconds(lambda: river_mistakes(rows[:4_000], labels[:4_000], linear_model.Perceptron))
    results: Line = {}
    print("\nd = 100, rows per second: learn_many, river's Perceptron, ratio")
    for name, mine, other in zip(("clock", "processor"), ours, theirs, strict=True):
        results[name] = {"learn_many": round(399_999 / mine), "river": round(4_000 / other)}
        print(f"{name:10} {399_999 / mine:12,.0f} {4_000 / other:10,.0f}   {100 * other / mine:.0f}")
    return results


def _seconds(run: Callable[[], Any]) -> tuple[float, float]:
    """How long something takes, by the clock and by the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - clock, time.process_time() - processor


def main() -> None:
    """Runs what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ("target", "sweep", "points", "bounds", "drift", "real", "speed")
    parser.add_argument("--parts", nargs="*", choices=parts, default=parts)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--again", action="store_true", help="run even what is known")
    parser.add_argument("--figures", type=Path, default=None, help="a folder to draw into, as SVG")
    args = parser.parse_args()
    lines = Lines("online", args.again)
    tasks: dict[str, Callable[[], Any]] = {
        "target": lambda: target(lines, 2 * args.seeds),
        "sweep": lambda: sweep(lines, args.seeds),
        "points": lambda: point_functions(lines, args.seeds),
        "bounds": bounds,
        "drift": lambda: drift(lines, args.seeds),
        "real": lambda: real_rows(lines, args.seeds),
        "speed": speed,
    }
    figures = {part: tasks[part]() for part in parts if part in args.parts}
    if args.figures is not None:
        if "sweep" in figures:
            online_figures.draw_sweep(figures["sweep"], args.figures / "online_sweep.svg")
        if "points" in figures:
            online_figures.draw_points(figures["points"], args.figures / "online_points.svg")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
