"""Private halfspaces against their peers: ``python -m benchmarks.halfspaces``. Prints one JSON line, its figure last.

Error on new rows by number of rows, dimension, margin and epsilon, on rows made to have a margin and on real tables;
with ``--noise`` the tolerance of random label noise (Algorithm 5), with ``--speed`` the cost of a round against the
machine's copy bandwidth, with ``--page`` the tables and the drawing of ``docs/halfspaces.md``. Our learner runs with
default settings; so do the peers of ``halfspace_peers``, written anew, but for ``--hindsight``.

Every learner in every cell is one line of ``benchmarks/results/halfspaces.parquet``; what is there is not run again,
unless ``--again LEARNER`` names it. ``--peer-python`` names an interpreter that has diffprivlib and opacus, which need
older packages than ours; ``--limit`` is how many seconds of the processor they get for a cell. The runs that are
done by then count; where there is none, the line says ``timeout``:

    pip install diffprivlib==0.6.6 scikit-learn==1.6.1 opacus==1.6.0
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks import halfspace_figures as figures
from benchmarks import halfspace_peers as peers
from benchmarks.data import splits
from benchmarks.halfspace_rows import made_rows
from benchmarks.halfspace_speed import speed
from benchmarks.halfspace_ways import ways
from benchmarks.lines import Lines
from tacit.encoding.dense import RowEncoder
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.theory.halfspaces import tolerated_noise

DELTA = 1e-6
TABLES = ("spambase", "magic", "credit_default", "adult")
TEST_ROWS = 4000
SMALL, LARGE, FOREIGN_SMALL = 5_000_000, 40_000_000, 1_000_000
"""Cells up to which a learner is run ten times, and three times; and a foreign one three times, not once."""

HINDSIGHT = ", best rate"
OWN = ("tacit", "one noisy centre", "objective perturbation", "DP-SGD", "random projection")
FOREIGN = ("diffprivlib", "opacus")


@dataclass(frozen=True)
class Cell:
    """One setting of the comparison; a table's sizes are its own."""

    data: str
    n: int | None
    d: int | None
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


HARD = {"minority .1": 0.1, "minority .2": 0.2}


def minority_rows(n: int, d: int, margin: float, minority: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of margin exactly ``tau``: ``y x = tau u + sqrt(1 - tau^2) w``, and ``- w`` for a minority of them.

    ``u`` and ``w`` are random and orthogonal. The centre points along ``w``, which errs on the minority; only a booster
    that goes on until the minority weighs as much as the rest finds ``u``.
    """
    rng = np.random.default_rng(seed)
    u, w = np.linalg.qr(rng.normal(size=(d, 2)))[0].T
    y = np.where(rng.random(n) < 0.5, 1, -1)
    side = np.where(rng.random(n) < minority, -1.0, 1.0)
    return y[:, None] * (margin * u + (np.sqrt(1 - margin**2) * side)[:, None] * w), y


def make_problem(cell: Cell, draw: int = 0) -> Problem:
    """The rows of a cell, the same in every run of one draw."""
    if cell.margin is None:
        return table_problem(cell.data)
    assert cell.n is not None
    assert cell.d is not None
    n, rows = cell.n, cell.n + TEST_ROWS
    if cell.data in HARD:
        X, y = minority_rows(rows, cell.d, cell.margin, HARD[cell.data], 1 + draw)
    elif cell.data == "same":
        X, labels = made_rows(rows, cell.d, cell.margin, draw)
        y = 2 * labels - 1
    else:
        X, y = margin_rows(rows, cell.d, cell.margin, 1.0 if cell.data == "spread" else 0.0, 100 + draw)
    return Problem(X[:n], y[:n], X[n:], y[n:])


def table_problem(name: str) -> Problem:
    """A real table as rows: numbers by public bounds, categories one-hot, a constant; all in the unit ball."""
    _, train, test = next(splits(name, 1))
    encoder = RowEncoder.of(train.schema, intercept=True)
    rows = [encoder.encode(part.X) / encoder.clipper.radius for part in (train, test)]
    return Problem(rows[0], 2 * train.y - 1, rows[1], 2 * test.y - 1)


def cells(quick: bool) -> Iterator[Cell]:
    """The settings: real tables, rows with the same distances to the boundary in all dimensions, then a grid."""
    epsilons = (1.0,) if quick else (0.1, 1.0, 4.0)
    for name in TABLES[:2] if quick else TABLES:
        for epsilon in epsilons:
            yield Cell(name, None, None, None, epsilon)
    for d in (10, 100) if quick else (10, 100, 1000, 10_000):
        for epsilon in epsilons:
            yield Cell("same", 5000, d, 0.1, epsilon)
    for kind in HARD:
        for margin in (0.1,) if quick else (0.1, 0.2):
            for epsilon in epsilons:
                yield Cell(kind, 20000, 20, margin, epsilon)
    grid = [(1000, 10), (5000, 10), (5000, 100), (20000, 100), (5000, 1000), (20000, 1000), (5000, 10000)]
    for n, d in grid[:3] if quick else grid:
        for kind in ("round", "spread"):
            for margin in (0.1,) if quick else (0.05, 0.1, 0.2):
                for epsilon in epsilons:
                    yield Cell(kind, n, d, margin, epsilon)


def ours(
    problem: Problem, epsilon: float, measure: str = "auto", seed: int | None = None, scaling: bool = True
) -> float:
    """The library's learner with default settings, over the same rows; without a seed, noise is fresh."""
    how = {"row_norm": 1.0, "fit_intercept": False, "classes": (0, 1), "measure": measure, "scaling": scaling}
    model = HalfspaceBoostClassifier(epsilon, DELTA, random_state=seed, **how)
    model.fit(problem.X, (problem.y > 0).astype(int))
    said = np.where(model.decision_function(problem.X_test) > 0, 1, -1)
    return float((said != problem.y_test).mean())


def rates_of(learner: str) -> tuple[float, ...]:
    """One learning rate, or three to choose from with hindsight."""
    return peers.RATES if learner.endswith(HINDSIGHT) else (peers.DEFAULT_RATE,)


def vectors_of(learner: str, cell: Cell, problem: Problem, runs: int) -> list[np.ndarray]:
    """What a peer makes of a problem, one vector per run."""
    X, y, epsilon, margin = problem.X, problem.y, cell.epsilon, cell.margin or 0.1
    results = []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        if learner == "one noisy centre":
            results.append(peers.noisy_centre(X, y, epsilon, DELTA, rng))
        elif learner == "objective perturbation":
            results.append(peers.objective_perturbation(X, y, epsilon, DELTA, rng))
        elif learner.startswith("DP-SGD"):
            results.append(peers.dp_sgd(X, y, epsilon, DELTA, rng, problem.error, rates_of(learner)))
        else:
            rates = rates_of(learner)
            results.append(peers.random_projection(X, y, epsilon, DELTA, rng, problem.error, margin, rates))
    return results


def runs_of(problem: Problem, learner: str) -> int:
    """How often a learner is run: its noise differs, its rows do not. Often where it is cheap."""
    runs = 10 if problem.X.size <= SMALL else 3 if problem.X.size <= LARGE else 1
    return runs if learner not in FOREIGN else 3 if problem.X.size <= FOREIGN_SMALL else 1


def errors_of(
    learner: str, cell: Cell, problem: Problem, runs: int, peer_python: str | None, limit: int
) -> dict[str, object]:
    """Mean test error of a learner, and what it was in each run; or that the time limit came first."""
    start = time.perf_counter()
    n, d = problem.X.shape
    if learner == "tacit":
        errors = [ours(problem, cell.epsilon) for _ in range(runs)]
    elif learner in FOREIGN:
        assert peer_python is not None
        vectors = peers.foreign(peer_python, learner, problem.X, problem.y, cell.epsilon, DELTA, runs, limit)
        errors = [problem.error(w) for w in vectors]
        if not errors:
            return {"timeout": limit, "n": n, "d": d}
    else:
        errors = [problem.error(w) for w in vectors_of(learner, cell, problem, runs)]
    seconds = (time.perf_counter() - start) / len(errors)
    mean = round(float(np.mean(errors)), 4)
    return {"error": mean, "errors": [round(e, 4) for e in errors], "seconds": round(seconds, 2), "n": n, "d": d}


def comparison(arguments: argparse.Namespace) -> dict[str, object]:
    """Runs every learner in every cell that has no result yet; returns what is read off all of them."""
    lines, anew = Lines("halfspaces"), Lines("halfspaces", again=True)
    learners = list(OWN)
    if arguments.hindsight:
        learners += [name + HINDSIGHT for name in OWN[2:]]
    if arguments.peer_python:
        learners += FOREIGN
    wanted = [name for name in learners if not arguments.only or name in arguments.only]
    problem, made_for = None, None
    for cell in cells(arguments.quick):
        for learner in wanted:
            job = {**asdict(cell), "learner": learner}
            if lines.known(job) and learner not in arguments.again:
                continue
            if problem is None or made_for != (cell.data, cell.n, cell.d, cell.margin):
                problem = None  # two large ones would not fit into memory
                problem, made_for = make_problem(cell), (cell.data, cell.n, cell.d, cell.margin)
            runs = runs_of(problem, learner)
            run = anew.run if learner in arguments.again else lines.run
            with_what = (runs, arguments.peer_python, arguments.limit)
            result = run(job, lambda: errors_of(learner, cell, problem, *with_what))  # noqa: B023
            said = {name: result[name] for name in ("error", "seconds", "timeout") if name in result}
            print(json.dumps({**job, **said}), flush=True)
    return figures.summary(figures.read_cells())


def label_noise(repeats: int) -> dict[str, object]:
    """Algorithm 5: labels flipped at random, up to well above the rate that Theorem 25 tolerates."""
    cell = Cell("round", 20000, 50, 0.2, 1.0)
    problem = make_problem(cell)
    allowed = tolerated_noise(0.1, 0.2)
    rates = [0.0, allowed, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45]
    lines, certificates = [], set()
    for rate in rates:
        errors = []
        for seed in range(repeats):
            flip = np.random.default_rng(seed).random(len(problem.y)) < rate
            model = HalfspaceBoostClassifier(cell.epsilon, DELTA, row_norm=1.0, fit_intercept=False, classes=(0, 1))
            model.fit(problem.X, np.where(flip, problem.y < 0, problem.y > 0).astype(int))
            said = np.where(model.decision_function(problem.X_test) > 0, 1, -1)
            errors.append(float((said != problem.y_test).mean()))
            certificate = model.certificate_
            certificates.add((certificate.epsilon, certificate.delta, certificate.charges, certificate.entries))
        lines.append({"rate": round(rate, 5), "error": round(float(np.mean(errors)), 4)})
        print(json.dumps(lines[-1]), flush=True)
    return {"tolerated_rate": allowed, "different_certificates": len(certificates), "error_by_rate": lines}


def minority(repeats: int) -> dict[str, object]:
    """The hard minority at epsilon .1: the default, and the logistic measure asked for."""
    results = []
    for kind in HARD:
        for margin in (0.1, 0.2):
            cell = Cell(kind, 20000, 20, margin, 0.1)
            problem = make_problem(cell)
            errors = {
                measure: round(float(np.mean([ours(problem, cell.epsilon, measure) for _ in range(repeats)])), 4)
                for measure in ("auto", "logistic")
            }
            results.append({"data": kind, "margin": margin, **errors})
            print(json.dumps(results[-1]), flush=True)
    return {"epsilon": 0.1, "errors": results}


def seeded(repeats: int) -> dict[str, object]:
    """Our error at epsilon .1 in cells of up to ``SMALL``, with the same seeds in every version: to compare two.

    Beside it that of one noisy centre, in five times as many runs.
    """
    results: dict[str, list[tuple[float, float]]] = {}
    for cell in cells(False):
        if cell.epsilon == 0.1 and (cell.n or 0) * (cell.d or 0) <= SMALL:
            problem = make_problem(cell)
            error = float(np.mean([ours(problem, cell.epsilon, seed=seed) for seed in range(repeats)]))
            vectors = vectors_of("one noisy centre", cell, problem, 5 * repeats)
            centre = float(np.mean([problem.error(w) for w in vectors]))
            print(
                json.dumps({**asdict(cell), "error": round(error, 4), "one noisy centre": round(centre, 4)}), flush=True
            )
            results.setdefault(cell.data if cell.margin else "tables", []).append((error, centre))
    means = {kind: np.mean(errors, axis=0).round(4).tolist() for kind, errors in results.items()}
    return {"epsilon": 0.1, "errors_of_ours_and_of_one_noisy_centre": means}


def fresh(repeats: int) -> dict[str, object]:
    """Errors at epsilon .1 where rows are drawn anew for every run, in made cells of up to ``FOREIGN_SMALL`` numbers.

    Ours, the same without scaling, and one noisy centre; and the standard error of ours less the last.
    """
    results = []
    for cell in cells(False):
        if cell.epsilon != 0.1 or cell.n is None or cell.d is None or cell.n * cell.d > FOREIGN_SMALL:
            continue
        errors = []
        for draw in range(1, repeats + 1):
            problem = make_problem(cell, draw)
            centres = [
                problem.error(peers.noisy_centre(problem.X, problem.y, 0.1, DELTA, np.random.default_rng([draw, run])))
                for run in range(10)
            ]
            errors.append((ours(problem, 0.1), ours(problem, 0.1, scaling=False), float(np.mean(centres))))
        means, more = np.mean(errors, axis=0).round(4).tolist(), np.array(errors) @ [1.0, 0.0, -1.0]
        names = ("tacit", "tacit, no scaling", "one noisy centre")
        line = {**dict(zip(names, means, strict=True)), "se": round(float(more.std(ddof=1) / len(more) ** 0.5), 4)}
        results.append({"data": cell.data, "n": cell.n, "d": cell.d, "margin": cell.margin, **line})
        print(json.dumps(results[-1]), flush=True)
    return {"epsilon": 0.1, "fresh_rows": repeats, "errors": results}


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a corner of the grid")
    parser.add_argument("--repeats", type=int, default=3, help="of the label noise, or of the speed")
    parser.add_argument("--peer-python", default=None, help="an interpreter with diffprivlib and opacus")
    parser.add_argument(
        "--limit", type=int, default=120, help="seconds of the processor that a foreign learner gets for a cell"
    )
    parser.add_argument("--hindsight", action="store_true", help="peers with the best of three learning rates as well")
    parser.add_argument("--again", action="append", default=[], metavar="LEARNER", help="run this one again")
    parser.add_argument("--only", action="append", default=[], metavar="LEARNER", help="run this one only")
    parser.add_argument("--noise", action="store_true", help="tolerance of label noise instead")
    parser.add_argument("--seeded", action="store_true", help="our errors at epsilon .1 with seeds instead")
    parser.add_argument("--fresh", action="store_true", help="errors at epsilon .1 on rows drawn anew instead")
    parser.add_argument("--minority", action="store_true", help="the hard minority at epsilon .1 instead")
    parser.add_argument("--ways", action="store_true", help="told a norm, a schema or nothing, by dimension, instead")
    parser.add_argument("--bound", action="append", default=[], metavar="TABLE", help="proved and true error instead")
    parser.add_argument("--speed", action="store_true", help="cost of a round instead")
    parser.add_argument(
        "--page", action="store_true", help="tables and drawing of the page, from the results there are"
    )
    parser.add_argument("--width", type=int, action="append", default=[], metavar="COLUMNS", help="of the speed alone")
    parser.add_argument("--megabytes", type=int, default=200)
    return parser.parse_args(arguments)


def bounds(names: Sequence[str], repeats: int) -> dict[str, object]:
    """What a fit at epsilon 1 proves of its error on new rows, by the declared schema, and what the error is."""
    results: dict[str, object] = {}
    for name in names:
        records = []
        for seed, train, test in splits(name, repeats):
            fitted = HalfspaceBoostClassifier(1.0, DELTA, schema=train.schema, random_state=seed)
            fitted.fit(train.X, train.y)
            bound = fitted.model_.error_bound()
            records.append((bound, (fitted.predict(test.X) != test.y).mean(), fitted.model_.evidence.log_models))
            assert bound is not None
        bound, error, nats = np.mean(records, axis=0)
        results[name] = {
            "n": len(train.y),
            "d": len(fitted.model_.weights),
            "bound": round(bound, 3),
            "error": round(error, 3),
            "nats": round(nats),
        }
    return results


def main() -> None:
    arguments = parse()
    warnings.simplefilter("ignore")
    if arguments.page:
        figures.write_page()
        figure = figures.summary(figures.read_cells())
    elif arguments.speed:
        figure = speed(arguments.megabytes, arguments.repeats, arguments.width)
    elif arguments.bound:
        figure = bounds(arguments.bound, arguments.repeats)
    elif arguments.seeded:
        figure = seeded(arguments.repeats)
    elif arguments.fresh:
        figure = fresh(arguments.repeats)
    elif arguments.minority:
        figure = minority(arguments.repeats)
    elif arguments.ways:
        figure = ways(arguments.repeats)
    elif arguments.noise:
        figure = label_noise(arguments.repeats)
    else:
        figure = comparison(arguments)
    print(json.dumps(figure))


if __name__ == "__main__":
    main()
