"""Private halfspaces against their peers: ``python -m benchmarks.halfspaces``. Prints one JSON line, its figure last.

Error on new rows by number of rows, dimension, margin and epsilon, on rows made to have a margin and on real tables;
with ``--noise`` the tolerance of random label noise (Algorithm 5), with ``--speed`` the cost of a round against the
machine's copy bandwidth. Our learner runs with default settings; so do the peers of ``halfspace_peers``, written anew,
but for ``--hindsight``. ``--peer-python`` names an interpreter that has diffprivlib and opacus, which need older
packages than ours:

    pip install diffprivlib==0.6.5 scikit-learn==1.3.2 "scipy<1.13" "numpy<2" opacus==1.6.0

(With scikit-learn 1.4 or newer diffprivlib's logistic regression averages the loss but not the noise, and learns
nothing.)
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks import halfspace_peers as peers
from benchmarks.data import splits
from tacit.encoding.dense import RowEncoder
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.theory.halfspaces import tolerated_noise

DELTA = 1e-6
RESULTS = Path(__file__).resolve().parent / "results" / "halfspaces.jsonl"
TABLES = ("spambase", "magic", "credit_default", "adult")
TEST_ROWS = 4000
CLOSE = 0.001
"""Errors this close count as equal: a tenth of a percent, four rows of the test."""


@dataclass(frozen=True)
class Cell:
    """One setting of the comparison."""

    data: str
    n: int
    d: int
    margin: float | None
    epsilon: float


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows in the unit ball and labels -1/+1, to learn from and to be judged by."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def error(self, w: np.ndarray) -> float:
        return float((self.y_test * (self.X_test @ w) <= 0).mean())


def margin_rows(n: int, d: int, margin: float, spread: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows on the unit sphere that a random unit vector separates with a margin.

    Coordinates have scale ``j**(-spread/2)``, so that for ``spread > 0`` the plain average of ``y x`` points
    elsewhere; rows closer to the boundary than the margin are moved away from it.
    """
    rng = np.random.default_rng(seed)
    unit = rng.normal(size=d)
    unit /= np.linalg.norm(unit)
    X = rng.normal(size=(n, d)) * np.arange(1, d + 1) ** (-spread / 2)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    side = X @ unit
    y = np.where(side >= 0, 1, -1)
    X += np.outer(np.where(np.abs(side) < margin, y * margin - side, 0.0), unit)
    return X / np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True)), y


def made_problem(cell: Cell, seed: int) -> Problem:
    assert cell.margin is not None
    X, y = margin_rows(cell.n + TEST_ROWS, cell.d, cell.margin, 1.0 if cell.data == "spread" else 0.0, 100 + seed)
    return Problem(X[: cell.n], y[: cell.n], X[cell.n :], y[cell.n :])


def table_problem(name: str) -> Problem:
    """A real table as rows: numbers by public bounds, categories one-hot, a constant; all in the unit ball."""
    _, train, test = next(splits(name, 1))
    encoder = RowEncoder.of(train.schema, intercept=True)
    rows = [encoder.encode(part.X) / encoder.clipper.radius for part in (train, test)]
    return Problem(rows[0], 2 * train.y - 1, rows[1], 2 * test.y - 1)


def cells(quick: bool) -> Iterator[Cell]:
    """The settings: made rows on a grid, then real tables."""
    epsilons = (1.0,) if quick else (0.1, 1.0, 4.0)
    grid = [(1000, 10), (5000, 10), (5000, 100), (20000, 100), (5000, 1000), (20000, 1000), (5000, 10000)]
    for kind in ("round", "spread"):
        for n, d in grid[:3] if quick else grid:
            for margin in (0.1,) if quick else (0.05, 0.1, 0.2):
                for epsilon in epsilons:
                    yield Cell(kind, n, d, margin, epsilon)
    for name in TABLES[:2] if quick else TABLES:
        for epsilon in epsilons:
            yield Cell(name, 0, 0, None, epsilon)


def ours(problem: Problem, epsilon: float, seed: int, measure: str = "auto") -> float:
    """The library's learner with default settings, over the same rows. Noise is fresh: the seed changes nothing."""
    del seed
    model = HalfspaceBoostClassifier(epsilon, DELTA, row_norm=1.0, fit_intercept=False, measure=measure)
    model.fit(problem.X, (problem.y > 0).astype(int))
    said = np.where(model.decision_function(problem.X_test) > 0, 1, -1)
    return float((said != problem.y_test).mean())


def compare(cell: Cell, problem: Problem, repeats: int, peer_python: str | None, hindsight: bool) -> dict[str, float]:
    """Mean test error by learner."""
    rates = peers.RATES if hindsight else (peers.DEFAULT_RATE,)
    X, y = problem.X, problem.y
    margin = cell.margin or 0.1
    errors: dict[str, list[float]] = {}

    def add(name: str, error: float) -> None:
        errors.setdefault(name, []).append(error)

    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        add("tacit", ours(problem, cell.epsilon, seed))
        add("objective perturbation", problem.error(peers.objective_perturbation(X, y, cell.epsilon, DELTA, rng)))
        add("DP-SGD", problem.error(peers.dp_sgd(X, y, cell.epsilon, DELTA, rng, problem.error, rates)))
        jl = peers.random_projection(X, y, cell.epsilon, DELTA, rng, problem.error, margin, rates)
        add("random projection", problem.error(jl))
    if peer_python and X.shape[1] <= 1000:
        found = peers.foreign(peer_python, ["diffprivlib", "opacus"], X, y, cell.epsilon, DELTA, min(2, repeats))
        for name, vectors in found.items():
            for w in vectors:
                add(name, problem.error(w))
    return {name: float(np.mean(values)) for name, values in errors.items()}


def comparison(quick: bool, repeats: int, peer_python: str | None, hindsight: bool, resume: bool) -> dict[str, object]:
    """Runs all cells; prints each; returns how many are won."""
    RESULTS.parent.mkdir(exist_ok=True)
    problems: dict[tuple[object, ...], Problem] = {}
    kind = "_quick" * quick + "_hindsight" * hindsight + "_foreign" * bool(peer_python)
    results = RESULTS.with_stem(RESULTS.stem + kind)
    done = [json.loads(line) for line in results.read_text().splitlines()] if resume and results.exists() else []
    known = {
        (line["data"], line["margin"] and line["n"], line["margin"] and line["d"], line["margin"], line["epsilon"])
        for line in done
    }
    with results.open("a" if resume else "w") as out:
        for cell in cells(quick):
            if (cell.data, cell.margin and cell.n, cell.margin and cell.d, cell.margin, cell.epsilon) in known:
                continue
            key = (cell.data, cell.n, cell.d, cell.margin)
            if key not in problems:
                problems.clear()
                problems[key] = table_problem(cell.data) if cell.margin is None else made_problem(cell, 0)
            problem = problems[key]
            errors = compare(cell, problem, repeats, peer_python, hindsight)
            size = {"n": problem.X.shape[0], "d": problem.X.shape[1]}
            line = {**asdict(cell), **size, **{name: round(error, 4) for name, error in errors.items()}}
            done.append(line)
            out.write(json.dumps(line) + "\n")
            out.flush()
            print(json.dumps(line), flush=True)
    settings = {"data", "n", "d", "margin", "epsilon", "tacit"}
    won = sum(line["tacit"] <= min(line[name] for name in line.keys() - settings) + CLOSE for line in done)
    return {"cells": len(done), "won_or_equal": won, "share": round(won / len(done), 3)}


def label_noise(repeats: int) -> dict[str, object]:
    """Algorithm 5: labels flipped at random, up to well above the rate that Theorem 25 tolerates."""
    cell = Cell("round", 20000, 50, 0.2, 1.0)
    problem = made_problem(cell, 0)
    allowed = tolerated_noise(0.1, 0.2)
    rates = [0.0, allowed, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45]
    lines, certificates = [], set()
    for rate in rates:
        errors = []
        for seed in range(repeats):
            flip = np.random.default_rng(seed).random(cell.n) < rate
            model = HalfspaceBoostClassifier(cell.epsilon, DELTA, row_norm=1.0, fit_intercept=False)
            model.fit(problem.X, np.where(flip, problem.y < 0, problem.y > 0).astype(int))
            said = np.where(model.decision_function(problem.X_test) > 0, 1, -1)
            errors.append(float((said != problem.y_test).mean()))
            charges = tuple(entry.charge for entry in model.certificate_.entries if entry.label != "rounds")
            certificates.add((model.certificate_.epsilon, model.certificate_.charges, len(charges)))
        lines.append({"rate": round(rate, 5), "error": round(float(np.mean(errors)), 4)})
        print(json.dumps(lines[-1]), flush=True)
    return {"tolerated_rate": allowed, "certificates": len(certificates), "error_by_rate": lines}


def speed(megabytes: int) -> dict[str, object]:
    """A round of lazy Bregman (two passes) against two copies of the fixed-point matrix."""
    from tacit.boosting.measures.lazy_bregman import LazyBregman
    from tacit.curator.curator import Curator
    from tacit.noise import make_source
    from tacit.privacy.charges import Gaussian
    from tacit.privacy.ledger import Reservation
    from tacit.privacy.neighbouring import Neighbouring
    from tacit.queries.halfspace_log import HalfspaceLog
    from tacit.table.dense import DenseRows
    from tacit.table.memory import MemoryTable

    lines = {}
    for d in (20, 100, 1000):
        n = megabytes * 500_000 // d
        rng = np.random.default_rng(0)
        values = rng.integers(-400 // int(d**0.5), 400 // int(d**0.5) + 1, (n, d)).astype(np.int16) * 20
        table = MemoryTable([], rng.integers(0, 2, n).astype(np.uint8), (), 2, dense=DenseRows(values, 32767, d))
        curator = Curator(table, Reservation([Gaussian(0.1)], Neighbouring.ADD_OR_REMOVE_ONE), make_source(None))
        log, measure, rounds = HalfspaceLog(d), LazyBregman(0.5, 1.0, n), []
        for t in range(9):
            start = time.perf_counter()
            release = curator.measure(measure.weighted_sum(log, t, 9.0), Gaussian(10.0), "round")
            rounds.append(time.perf_counter() - start)
            log.add(release.value / np.linalg.norm(release.value))
        copies, target = [], np.empty_like(values)
        for _ in range(5):
            start = time.perf_counter()
            np.copyto(target, values)
            copies.append(time.perf_counter() - start)
        ratio = float(np.median(rounds[2:]) / (2 * np.median(copies[1:])))
        lines[d] = {"n": n, "round_ms": round(1e3 * float(np.median(rounds[2:])), 1), "ratio": round(ratio, 2)}
        print(json.dumps({"d": d, **lines[d]}), flush=True)
    return {"cores": os.cpu_count(), "worst_ratio": max(line["ratio"] for line in lines.values())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a corner of the grid")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer-python", default=None, help="an interpreter with diffprivlib and opacus")
    parser.add_argument("--hindsight", action="store_true", help="give peers the best of three learning rates")
    parser.add_argument("--resume", action="store_true", help="go on where a run was ended")
    parser.add_argument("--noise", action="store_true", help="tolerance of label noise instead")
    parser.add_argument("--speed", action="store_true", help="cost of a round instead")
    parser.add_argument("--megabytes", type=int, default=200)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.speed:
        figure = speed(arguments.megabytes)
    elif arguments.noise:
        figure = label_noise(arguments.repeats)
    else:
        figure = comparison(
            arguments.quick, arguments.repeats, arguments.peer_python, arguments.hindsight, arguments.resume
        )
    print(json.dumps(figure))


if __name__ == "__main__":
    main()
