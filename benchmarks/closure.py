"""Closure learners: ``python -m benchmarks.closure [noise] [unions] [constants] [time] [online] [raw]
[dimensions] [part]``. Ends with JSON.

``noise``: labels of one concept on Adult's columns, 0 to 30 % of them flipped; the plain private learner against the
same learner made agnostic. ``unions``: OR and AND of two concepts on real tables against one concept and private trees.
``constants``: error against the number of rows, sharp and paper constants. ``time``: seconds against rows and
against the VC dimension. ``online``: mistakes of the two learners of compositions on 300 random rounds, and what
they promise. ``raw``: an OR of three thresholds on columns of floats; cells between bounds that are declared, that
nobody knows, or that the fit finds, against raw thresholds, which need neither. ``dimensions``: threshold dimensions,
VC dimensions of random classes, and seconds of the clock and of the processor. ``part``: one threshold, 40 % of the
labels flipped; patterns of a sample that is scored and learned on, against patterns of a part that are scored on all
rows.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import poisson

from benchmarks.data import Table, splits
from tacit.closure import (
    AgnosticClassifier,
    ComposedClassifier,
    ConceptClass,
    FiniteClassClassifier,
    Halfspaces,
    Intervals,
    RawThresholds,
    Rectangles,
    Stumps,
    Thresholds,
)
from tacit.closure.online_composition import BoostedComposition, OnlineComposition
from tacit.decision_lists.estimator import DecisionListClassifier
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.schema import Schema
from tacit.theory.closure.formula import named_function
from tacit.theory.dimensions import threshold_dimension, vc_dimension
from tacit.trees.estimator import BoostedTreesClassifier

EPSILON, DELTA = 1.0, 1e-6
Result = dict[str, Any]


def error(model: Any, table: Table, labels: np.ndarray) -> float:
    """Share of wrong predictions."""
    return float((model.predict(table.X) != labels).mean())


def mean_error(
    make: Callable[[int], Any], train: Table, y: np.ndarray, test: Table, clean: np.ndarray, seeds: int
) -> float:
    """Error on the test rows, averaged over the noise."""
    errors = [error(make(random_state=seed).fit(train.X, y), test, clean) for seed in range(seeds)]
    return round(float(np.mean(errors)), 4)


def show(line: Result) -> Result:
    """Prints a result as it comes."""
    print("  ".join(f"{key} {value}" for key, value in line.items()), flush=True)
    return line


def noise(seeds: int) -> list[Result]:
    """A realisable target (education_num >= 10) under label noise; error against the clean labels."""
    _, train, test = next(splits("adult", 1))
    columns = {name: train.schema.columns[name] for name in ("age", "education_num", "hours_per_week")}
    schema = type(train.schema)(columns, train.schema.label)
    train, test = (Table(t.name, t.X[list(columns)], t.y, schema) for t in (train, test))
    target, clean = ((t.X["education_num"] >= 10).to_numpy().astype(int) for t in (train, test))
    concepts = Stumps(list(columns))
    generator = np.random.default_rng(5)
    learners: dict[str, Callable[..., Any]] = {
        "finite class": partial(FiniteClassClassifier, concepts, counts_share=0.0),
        "decision list": partial(DecisionListClassifier, k=1, max_rules=3),
        "decision list, errors": partial(DecisionListClassifier, k=1, max_rules=3, objective="errors"),
        "halfspace": HalfspaceBoostClassifier,
    }
    common = {"epsilon": EPSILON, "delta": DELTA, "schema": schema}
    results = []
    for rate in (0.0, 0.1, 0.2, 0.3):
        y = target ^ (generator.random(len(target)) < rate)
        for n in (1000, 30_000):
            part, labels = train.rows(np.arange(n)), y[:n]
            for name, make in learners.items():
                plain = partial(make, **common)
                agnostic = partial(AgnosticClassifier, make(), concepts, **common)
                line: Result = {"part": "noise", "flipped": rate, "n": n, "learner": name}
                line["plain"] = mean_error(plain, part, labels, test, clean, seeds)
                line["agnostic"] = mean_error(agnostic, part, labels, test, clean, seeds)
                results.append(show(line))
    return results


UNIONS = {
    "adult": (["education_num", "age", "hours_per_week", "capital_gain"], 16),
    "pima_diabetes": (["glucose", "bmi", "age", "pregnancies"], 16),
    "heart_cleveland": (["thalach", "oldpeak", "ca", "age"], 16),
}


def unions(seeds: int) -> list[Result]:
    """Two stumps joined by OR or AND on the real labels: error on the test rows."""
    results = []
    for name, (columns, bins) in UNIONS.items():
        for epsilon in (1.0, 4.0):
            line: Result = {"part": "unions", "data": name, "epsilon": epsilon}
            stumps = Stumps(columns)
            makers: dict[str, Callable[..., Any]] = {
                "one concept": partial(FiniteClassClassifier, stumps, bins=bins, counts_share=0.0),
                "or": partial(ComposedClassifier, [stumps] * 2, "or", bins=bins),
                "and": partial(ComposedClassifier, [stumps] * 2, "and", bins=bins),
                "trees": BoostedTreesClassifier,
            }
            runs: dict[str, list[float]] = {who: [] for who in [*makers, "prior"]}
            for seed, train, test in splits(name, seeds):
                kw = {"epsilon": epsilon, "delta": DELTA, "schema": train.schema}
                runs["prior"].append(float(min(test.y.mean(), 1 - test.y.mean())))
                for who, make in makers.items():
                    model = make(random_state=seed, **kw).fit(train.X, train.y)
                    runs[who].append(error(model, test, test.y))
            results.append(show({**line, **{who: round(float(np.mean(e)), 4) for who, e in runs.items()}}))
    return results


def markers(n: int, seed: int, flipped: float = 0.0) -> tuple[Table, np.ndarray]:
    """A disease caused by any of three markers; labels with and without noise."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame({name: generator.uniform(0, 10, n) for name in "abc"})
    ill = ((frame["a"] >= 8.125) | (frame["b"] >= 6.875) | (frame["c"] < 1.25)).to_numpy()
    schema = Schema.from_dict(
        {
            "label": {"column": "ill", "kind": "classes", "classes": [0, 1], "positive": 1},
            "columns": {name: {"kind": "numeric", "lower": 0, "upper": 10} for name in "abc"},
        }
    )
    return Table("markers", frame, (ill ^ (generator.random(n) < flipped)).astype(int), schema), ill.astype(int)


def constants(seeds: int) -> list[Result]:
    """OR of three thresholds: error on new rows against the number of rows, under both analyses."""
    test, clean = markers(5000, 99)
    concepts = [Thresholds(name) for name in "abc"]
    learners = [FiniteClassClassifier(concept, counts_share=0.0, bins=16) for concept in concepts]
    results = []
    for n in (300, 1000, 3000, 10_000, 30_000, 100_000, 300_000):
        train, _ = markers(n, 7)
        line: Result = {"part": "constants", "n": n}
        for name, parameters in (
            ("concepts released, add/remove", {}),
            ("concepts released, replace", {"neighbouring": "replace_one"}),
            ("learners, public patterns, replace", {"learners": learners, "neighbouring": "replace_one"}),
            ("learners, sample patterns, add/remove", {"learners": learners, "patterns": "sample"}),
            (
                "learners, sample patterns, replace",
                {"learners": learners, "patterns": "sample", "neighbouring": "replace_one"},
            ),
            ("paper", {"learners": learners, "analysis": "paper", "neighbouring": "replace_one"}),
        ):
            make = partial(
                ComposedClassifier, concepts, "or", epsilon=EPSILON, delta=DELTA, schema=train.schema, **parameters
            )
            line[name] = mean_error(make, train, train.y, test, clean, seeds)
        results.append(show(line))
    return results


def seconds(make: Callable[[], Any], table: Table) -> float:
    """Wall time of a fit, the second of two."""
    make().fit(table.X.iloc[:50], table.y[:50])
    start = time.perf_counter()
    make().fit(table.X, table.y)
    return round(time.perf_counter() - start, 3)


def timing() -> list[Result]:
    """Seconds of a fit against rows, and against the VC dimension of the class."""
    results = []
    classes: Sequence[tuple[str, ConceptClass, int]] = (
        ("threshold", Thresholds("a"), 1),
        ("interval", Intervals("a"), 2),
        ("halfspace in the plane", Halfspaces(("a", "b")), 3),
        ("rectangle on two columns", Rectangles(("a", "b")), 4),
    )
    for n in (1000, 10_000, 100_000):
        table, _ = markers(n, 3, flipped=0.1)
        common = {"schema": table.schema, "random_state": 0, "epsilon": EPSILON}
        for name, concept, vc in classes:
            for patterns in ("public", "sample"):
                learner = FiniteClassClassifier(Stumps(["a", "b"]), counts_share=0.0)
                make = partial(AgnosticClassifier, learner, concept, bins=24, patterns=patterns, **common)
                line: Result = {"part": "time", "n": n, "class": name, "vc": vc, "patterns": patterns}
                results.append(show({**line, "seconds": seconds(make, table)}))
        for k in (2, 3):
            composed = partial(ComposedClassifier, [Thresholds(c) for c in "abc"[:k]], "or", **common)
            line = {"part": "time", "n": n, "class": f"or of {k} thresholds", "seconds": seconds(composed, table)}
            results.append(show(line))
    return results


COMPOSITIONS = (("or", 2, 10), ("xor", 2, 20), ("majority", 3, 10))
"""Function, number of classes, points of each: thresholds, every other one turned round."""

ROUNDS, COPIES = 300, 15


def online(seeds: int) -> list[Result]:
    """Mistakes on labels of one composition, averaged over streams; bounds hold for every stream."""
    results = []
    for name, arity, points in COMPOSITIONS:
        table = named_function(name, arity)
        steps = (np.arange(points) >= np.arange(points + 1)[:, None]).astype(int)
        classes = [steps if place % 2 else 1 - steps for place in range(arity)]
        outcomes: dict[str, list[int]] = {"weights": [], "boosting": []}
        bounds = {}
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            chosen, xs = rng.integers(0, points + 1, arity), rng.integers(0, points, ROUNDS)
            ys = [table([int(m[c, x]) for m, c in zip(classes, chosen, strict=True)]) for x in xs]
            learners = {
                "weights": OnlineComposition(table, classes),
                "boosting": BoostedComposition(table, classes, ROUNDS, rng, copies=COPIES),
            }
            for way, learner in learners.items():
                wrong = 0
                for x, y in zip(xs, ys, strict=True):
                    wrong += learner.predict_one(int(x)) != y
                    learner.learn_one(int(x), y)
                outcomes[way].append(wrong)
                bounds[way] = learner.mistake_bound
        line = {"part": "online", "function": f"{name} of {arity}", "points": points}
        for way, mistakes in outcomes.items():
            line |= {way: round(float(np.mean(mistakes)), 1), f"{way} promises": round(bounds[way])}
        results.append(show(line))
    return results


RAW_BOUNDS = {"ferritin": (0, 800), "crp": (0, 80), "albumin": (20, 60)}


def patients(kind: str, n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Markers of one size (``"near"``), or over many powers of ten (``"spread"``), and who is ill."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"ferritin": rng.gamma(4, 50, n), "crp": rng.gamma(1.2, 8, n), "albumin": rng.normal(40, 5, n)}
    )
    ill = (frame["ferritin"] > 400) | (frame["crp"] > 25) | (frame["albumin"] < 32)
    if kind == "spread":
        frame = frame.assign(ferritin=np.exp(frame["ferritin"] / 20), crp=np.exp(frame["crp"]))
    return frame, ill.to_numpy().astype(int)


def raw(seeds: int) -> list[Result]:
    """OR of three thresholds on floats: error on new rows against the number of rows, and seconds of a fit."""
    results = []
    label = {"column": "ill", "kind": "classes", "classes": [0, 1], "positive": 1}

    def schema(bounds: dict[str, tuple[float, float]]) -> Schema:
        columns = {c: {"kind": "numeric", "lower": low, "upper": high, "bins": 32} for c, (low, high) in bounds.items()}
        return Schema.from_dict({"label": label, "columns": columns})

    cells, cuts = [Thresholds(c) for c in RAW_BOUNDS], [RawThresholds(c) for c in RAW_BOUNDS]
    ways: dict[str, dict[str, Any]] = {
        "cells, bounds well chosen": {"concepts": cells, "schema": schema(RAW_BOUNDS)},
        "cells, bounds of +-1e6": {"concepts": cells, "schema": schema(dict.fromkeys(RAW_BOUNDS, (-1e6, 1e6)))},
        "cells, bounds found": {"concepts": cells, "classes": (0, 1), "bins": 32},
        "raw, released": {"concepts": cuts, "classes": (0, 1)},
        "raw, learned by learners": {
            "concepts": cuts,
            "learners": [FiniteClassClassifier(cut, counts_share=0.0) for cut in cuts],
            "classes": (0, 1),
        },
    }
    for kind in ("near", "spread"):
        new, truth = patients(kind, 20_000, 99)
        for n in (500, 1000, 2000, 5000):
            line: Result = {"part": "raw", "markers": kind, "n": n}
            for name, asked in ways.items():
                errors, start = [], time.perf_counter()
                for seed in range(seeds):
                    X, y = patients(kind, n, seed)
                    model = ComposedClassifier(function="or", epsilon=EPSILON, delta=DELTA, random_state=seed, **asked)
                    errors.append(float((model.fit(X, y).predict(new) != truth).mean()))
                line[name] = round(float(np.mean(errors)), 4)
                if name == "raw, released":
                    line["seconds"] = round((time.perf_counter() - start) / seeds, 1)
            results.append(show(line))
    return results


def rectangles(g: int) -> np.ndarray:
    """All rectangles on a grid of ``g`` by ``g`` points, the empty one too."""
    i, sides = np.arange(g), [(a, b) for a in range(g) for b in range(a, g)]
    inside = np.array([(i >= a) & (i <= b) for a, b in sides])
    both = inside[:, None, :, None] & inside[None, :, None, :]
    return np.vstack([np.zeros((1, g * g), int), both.reshape(-1, g * g).astype(int)])


def sets_to_visit(rows: int, columns: int, size: int) -> float:
    """About how many sets a search for a shattered set of this size visits in a random class that has none.

    Those of every size j on which each of the ``2**j`` patterns occurs ``2**(size - j)`` times; by Poisson numbers.
    """
    each = [poisson.sf(2 ** (size - j) - 1, rows / 2**j) ** (2**j) for j in range(1, size + 1)]
    return float(sum(math.comb(columns, j) * chance for j, chance in enumerate(each, 1)))


def dimensions(seeds: int) -> list[Result]:
    """Threshold dimensions of rectangles, and of classes without any structure; VC dimensions of the latter."""
    classes = {f"rectangles {g} x {g}": rectangles(g) for g in (6, 8, 10, 12)}
    for rows, columns in ((100, 30), (200, 40), (250, 45)):
        for seed in range(seeds):
            drawn = np.random.default_rng(seed).integers(0, 2, (rows, columns))
            classes[f"random {rows} x {columns}, seed {seed}"] = drawn
    threshold_dimension(classes["rectangles 6 x 6"][:30])  # compiles
    results = []
    for name, matrix in classes.items():
        start, used = time.perf_counter(), time.process_time()
        dimension = threshold_dimension(matrix, seconds=120)
        line: Result = {"part": "dimensions", "class": name, "lower": dimension.lower, "upper": dimension.upper}
        line["seconds"] = round(time.perf_counter() - start, 2)
        results.append(show({**line, "processor": round(time.process_time() - used, 2), "nodes": dimension.work}))
    for seed in range(seeds):
        start, used = time.perf_counter(), time.process_time()
        dimension = vc_dimension(np.random.default_rng(seed).integers(0, 2, (500, 200)))
        line = {"part": "dimensions", "class": f"VC of random 500 x 200, seed {seed}", "lower": dimension.lower}
        line |= {"upper": dimension.upper, "seconds": round(time.perf_counter() - start, 2)}
        line |= {"processor": round(time.process_time() - used, 2), "nodes": dimension.work}
        results.append(show({**line, "nodes that 8 takes": f"{sets_to_visit(500, 200, 8):.1g}"}))
    return results


def part(seeds: int) -> list[Result]:
    """Error on clean labels of new rows against rows and epsilon, with patterns of the sample."""
    results = []
    column = {"x": {"kind": "numeric", "lower": 0, "upper": 1, "bins": 1000}}
    label = {"column": "y", "kind": "classes", "classes": [0, 1], "positive": 1}
    concept = Thresholds("x")
    for epsilon in (0.1, 0.3, 1.0):
        for n in (1000, 3000, 10_000, 30_000):
            line: Result = {"part": "part", "epsilon": epsilon, "n": n}
            for analysis in ("sharp", "part"):
                errors = []
                for seed in range(seeds):
                    rng = np.random.default_rng(seed)
                    x, new = rng.random(n), rng.random(20_000)
                    y = (x >= 0.37) ^ (rng.random(n) < 0.4)
                    model = AgnosticClassifier(
                        FiniteClassClassifier(concept, counts_share=0.0),
                        concept,
                        epsilon=epsilon,
                        delta=DELTA,
                        schema={"label": label, "columns": column},
                        random_state=seed,
                        patterns="sample",
                        analysis=analysis,
                    ).fit(pd.DataFrame({"x": x}), y.astype(int))
                    errors.append(float((model.predict(pd.DataFrame({"x": new})) != (new >= 0.37)).mean()))
                name = {"sharp": "sample, amplified", "part": "a part, scored on all"}[analysis]
                line[name] = round(float(np.mean(errors)), 4)
            results.append(show(line))
    return results


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "parts",
        nargs="*",
        default=[],
        help="noise, unions, constants, time, online, raw, dimensions, part; all by default",
    )
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    parts: dict[str, Callable[[], list[Result]]] = {
        "noise": lambda: noise(args.seeds),
        "unions": lambda: unions(args.seeds),
        "constants": lambda: constants(args.seeds),
        "time": timing,
        "online": lambda: online(args.seeds),
        "raw": lambda: raw(args.seeds),
        "dimensions": lambda: dimensions(args.seeds),
        "part": lambda: part(args.seeds),
    }
    results = [line for part in args.parts or parts for line in parts[part]()]
    print(json.dumps({"benchmark": "closure", "epsilon": EPSILON, "delta": DELTA, "results": results}))


if __name__ == "__main__":
    main()
