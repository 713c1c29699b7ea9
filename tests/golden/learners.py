"""The other learners: trees, lists, halfspaces, closure, resampling."""

from __future__ import annotations

import math
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tests.golden.case import Cases, Seen
from tests.golden.names import (
    AdditiveBoostClassifier,
    AdditiveBoostRegressor,
    AgnosticClassifier,
    BoostedTreesClassifier,
    ClaimedLearner,
    ComposedClassifier,
    Conjunctions,
    DecisionListClassifier,
    DecisionLists,
    FiniteClassClassifier,
    HalfspaceBoostClassifier,
    Halfspaces,
    Intervals,
    MAlphaBoostClassifier,
    RandomTreesClassifier,
    RawThresholds,
    Rectangles,
    ResampledBoostClassifier,
    RuleClass,
    Stumps,
    Thresholds,
    Union,
    read_source,
)
from tests.golden.tables import numbers, persons, schema, table
from tests.joining import cut, joined, make_parties

REPLACE = {"neighbouring": "replace_one"}

RELATIONS: list[tuple[str, int, dict[str, Any]]] = [
    ("epsilon 1", 2000, {}),
    ("delta 0", 2000, {"delta": 0.0}),
    ("replace_one", 2000, REPLACE),
    ("no privacy", 1000, {"epsilon": math.inf}),
    ("few rows", 300, {"epsilon": 0.3}),
]


def fit(estimator: Any, n: int = 2000, weights: bool = False, **asked: Any) -> Seen:
    """One fit to two classes with a declared schema."""
    rows, given = table(n).X, {"sample_weight": table(n).weights} if weights else {}
    return Seen.of(estimator(schema=schema("two"), random_state=1, **asked).fit(rows, table(n).two, **given))


def without_schema(estimator: Any, **asked: Any) -> Seen:
    named = {} if estimator is BoostedTreesClassifier else {"classes": (0, 1)}  # the others find no classes
    return Seen.of(estimator(random_state=1, **named, **asked).fit(numbers(2000).X, numbers(2000).two))


def with_persons(estimator: Any, **asked: Any) -> Seen:
    rows, declares = persons(2000)
    made = estimator(schema=schema("two", **declares), random_state=1, **asked)
    return Seen.of(made.fit(rows, table(2000).two))


def in_every_relation(estimator: Any, n: int | None = None, **own: Any) -> Cases:
    return {
        f"{estimator.__name__}: {what}": lambda rows=rows, asked=asked: fit(
            estimator, min(rows, n or rows), **{**own, **asked}
        )
        for what, rows, asked in RELATIONS
    }


def with_parameters(estimator: Any, ways: dict[str, dict[str, Any]]) -> Cases:
    return {
        f"{estimator.__name__}: {what}": lambda asked=asked: fit(estimator, **asked) for what, asked in ways.items()
    }


def streamed(estimator: Any, label: str, **asked: Any) -> Seen:
    """A fit to files, whose model must be that of the same rows in memory."""
    rows = table(2000).X.assign(y=getattr(table(2000), label))
    with tempfile.TemporaryDirectory() as place:
        for number in range(3):
            rows.iloc[number::3].to_csv(Path(place) / f"{number}.csv", index=False)
        return Seen.of(estimator(schema=schema(label), random_state=1, **asked).fit(read_source(place)))


def from_files() -> Cases:
    """Learners of every family, from files."""
    return {
        "streamed: two classes": lambda: streamed(AdditiveBoostClassifier, "two"),
        "streamed: three classes": lambda: streamed(AdditiveBoostClassifier, "three"),
        "streamed: number": lambda: streamed(AdditiveBoostRegressor, "number"),
        "streamed: trees": lambda: streamed(BoostedTreesClassifier, "two"),
        "streamed: random trees": lambda: streamed(RandomTreesClassifier, "two"),
        "streamed: halfspace": lambda: streamed(HalfspaceBoostClassifier, "two", measure="lazy_bregman"),
        "streamed: decision list": lambda: streamed(DecisionListClassifier, "two"),
    }


def over_sites(estimator: Any, label: str, **asked: Any) -> Seen:
    """A fit to sites, whose model must be that of all their rows in one table."""
    rows = table(2000).X.assign(y=getattr(table(2000), label))
    with tempfile.TemporaryDirectory() as name:
        make_parties(Path(name))
        with joined(Path(name), cut(rows, Path(name)), schema(label)) as here:
            return Seen.of(estimator(schema=schema(label), random_state=1, **asked).fit(here.sites))


def from_sites() -> Cases:
    """Learners that join."""
    return {
        "join_sites: two classes": lambda: over_sites(AdditiveBoostClassifier, "two"),
        "join_sites: number": lambda: over_sites(AdditiveBoostRegressor, "number"),
        "join_sites: random trees": lambda: over_sites(RandomTreesClassifier, "two"),
    }


def told_nothing(estimator: Any, persons_too: bool = True) -> Cases:
    found: Cases = {f"{estimator.__name__}: no schema": lambda: without_schema(estimator)}
    if persons_too:
        found[f"{estimator.__name__}: persons"] = lambda: with_persons(estimator)
        found[f"{estimator.__name__}: persons, replace_one"] = lambda: with_persons(estimator, **REPLACE)
    return found


def three(**asked: Any) -> Seen:
    """Boosted trees of three classes."""
    made = BoostedTreesClassifier(schema=schema("three"), random_state=1, **asked)
    return Seen.of(made.fit(table(2000).X, table(2000).three))


def trees() -> Cases:
    """Boosted trees of both kinds, and random forests."""
    boosted = {
        "given structure": {"n_trees": 5, "max_depth": 3},
        "class weights": {"class_weight": {0: 1.0, 1: 3.0}},
        "balanced": {"class_weight": "balanced"},
        "sample weights": {"weights": True},
        "sample weights, replace_one": {"weights": True, **REPLACE},
        "epsilon 8": {"epsilon": 8.0, "n": 20_000},
        "trees that choose": {"epsilon": 8.0, "n": 150_000},
    }
    printed = {"analysis": "paper", "n_trees": 2, "max_depth": 2, "delta": 0.0, **REPLACE}
    alpha: dict[str, dict[str, Any]] = {
        "alpha 0.5": {"alpha": 0.5, "n_trees": 3},
        "calibrated, replace_one": {"alpha": "calibrated", "n_trees": 2, **REPLACE},
        "gini, delta 0": {"alpha": 0.5, "criterion": "gini", "n_trees": 2, "delta": 0.0},
        "most leaves": {"alpha": 1.0, "n_trees": 2, "max_leaves": 6},
        "paper": {"alpha": 0.5, **printed},
    }
    random = {
        "exponential": {"mechanism": "exponential", "n_trees": 5},
        "exponential, replace_one": {"mechanism": "exponential", "n_trees": 5, **REPLACE},
        "paper": {"analysis": "paper", "n_trees": 3, "max_depth": 3, "delta": 0.0, **REPLACE},
    }
    of_three: dict[str, dict[str, Any]] = {
        "epsilon 1": {},
        "epsilon 8, replace_one": {"epsilon": 8.0, **REPLACE},
        "delta 0": {"delta": 0.0},
        "no privacy": {"epsilon": math.inf, "n_trees": 20},
        "class weights": {"class_weight": {0: 1.0, 1: 3.0, 2: 0.5}},
    }
    return {
        **{
            f"BoostedTreesClassifier: three classes, {what}": partial(three, **asked)
            for what, asked in of_three.items()
        },
        **in_every_relation(BoostedTreesClassifier),
        **told_nothing(BoostedTreesClassifier),
        **with_parameters(BoostedTreesClassifier, boosted),
        **with_parameters(MAlphaBoostClassifier, alpha),
        **in_every_relation(RandomTreesClassifier),
        **told_nothing(RandomTreesClassifier),
        **with_parameters(RandomTreesClassifier, random),
    }


def lists_and_halfspaces() -> Cases:
    """Decision lists, and halfspaces by every measure."""
    lists = {
        "one literal, paper's schedule": {"k": 1, "max_rules": None, "objective": "errors", "counts_share": 0.0},
        "named features": {"features": ["a >= 0 and c is v", "d is True", "b >= 0.3"]},
        **{f"analysis {name}": {"analysis": name, "k": 1} for name in ("moments", "curve", "paper")},
        "analysis exact": {"analysis": "exact", "objective": "errors", "k": 1},
    }
    halfspaces = {
        **{f"measure {name}": {"measure": name} for name in ("smooth", "lazy_bregman", "logistic")},
        "end test": {"measure": "smooth", "stop_density": 0.5, "n": 20_000, "epsilon": 4.0},
        "no constant coordinate": {"fit_intercept": False, "epsilon": 0.5},
        "no constant coordinate, large noise": {"fit_intercept": False, "epsilon": 0.1},
        "no scaling, intercept, calibration": {"scaling": False, "fit_intercept": False, "calibrate": False},
        "paper": {"analysis": "paper", "measure": "lazy_bregman", "rounds": 5},
    }
    return {
        **in_every_relation(DecisionListClassifier),
        **told_nothing(DecisionListClassifier),
        **with_parameters(DecisionListClassifier, lists),
        "DecisionListClassifier: three classes": lambda: Seen.of(
            DecisionListClassifier(schema=schema("three"), random_state=1).fit(table(2000).X, table(2000).three)
        ),
        **in_every_relation(HalfspaceBoostClassifier),
        **told_nothing(HalfspaceBoostClassifier),
        **with_parameters(HalfspaceBoostClassifier, halfspaces),
        "HalfspaceBoostClassifier: matrix": lambda: of_matrix(np.asarray),
        "HalfspaceBoostClassifier: sparse matrix": lambda: of_matrix(sparse.csr_array),
    }


def of_matrix(kind: Any) -> Seen:
    """Rows that are taken as they are, dense or sparse."""
    rows = numbers(2000).X.to_numpy() * [1.0, 0.02, 1.0]
    rows[rows[:, 0] < 0.1, 0] = 0.0
    return Seen.of(
        HalfspaceBoostClassifier(row_norm=2.0, random_state=1, classes=(0, 1)).fit(kind(rows), numbers(2000).two)
    )


def positive(values: Any) -> Any:
    return values["a"] > 0


def small(values: Any) -> Any:
    return values["b"] < 0.25


CONCEPTS: dict[str, Any] = {
    "thresholds": Thresholds("a"),
    "intervals": Intervals("a"),
    "rectangles": Rectangles(["a", "b"]),
    "halfspaces": Halfspaces(["a", "b"]),
    "conjunctions": Conjunctions(["c", "d", "e"], 2),
    "decision lists": DecisionLists(["c", "d"], 2),
    "stumps": Stumps(["a", "b", "e"]),
    "union": Union([Thresholds("a"), Intervals("b")]),
    "rules": RuleClass(("a", "b"), (positive, small), ("positive", "small")),
}


RAW = [RawThresholds("a"), RawThresholds("b", "falling")]


def closure() -> Cases:
    """Finite classes, and learners made of learners."""
    two = [Thresholds("a"), Thresholds("b")]
    inner = FiniteClassClassifier(counts_share=0.0)
    agnostic = {
        "epsilon 1": {},
        "replace_one, sample patterns": {"patterns": "sample", "epsilon": 4.0, **REPLACE},
        "delta 0": {"delta": 0.0},
        "repetitions": {"repetitions": 3, "epsilon": 4.0},
        "a part": {"analysis": "part"},
        "paper": {"analysis": "paper", "n": 4000, **REPLACE},
    }
    composed = {
        "or": {"function": "or"},
        "xor, replace_one": {"function": "xor", **REPLACE},
        "an expression, delta 0": {"function": "x1 and not x2", "delta": 0.0},
        "learners": {"function": "and", "learners": inner, "epsilon": 4.0},
        "learners, sample patterns": {"learners": inner, "epsilon": 4.0, "patterns": "sample"},
    }
    small = {"bins": 6, "epsilon": 1.0}
    return {
        **in_every_relation(FiniteClassClassifier),
        **told_nothing(FiniteClassClassifier, persons_too=False),
        **with_parameters(
            FiniteClassClassifier, {name: {"concepts": concepts, **small} for name, concepts in CONCEPTS.items()}
        ),
        **with_parameters(
            AgnosticClassifier,
            {what: {"learner": inner, "concepts": Thresholds("a"), **asked} for what, asked in agnostic.items()},
        ),
        **with_parameters(
            ComposedClassifier,
            {
                "raw thresholds": {"concepts": RAW},
                "raw thresholds, learners": {"concepts": RAW, "learners": FiniteClassClassifier(RAW[0]), **REPLACE},
            },
        ),
        **with_parameters(FiniteClassClassifier, {"raw threshold": {"concepts": RAW[0]}}),
        **with_parameters(ComposedClassifier, {what: {"concepts": two, **asked} for what, asked in composed.items()}),
        **with_parameters(
            AgnosticClassifier,
            {"around a halfspace": {"learner": HalfspaceBoostClassifier(), "concepts": Stumps(["a", "b"])}},
        ),
    }


class Stump:
    """What a foreign learner made: the sign of the first coordinate."""

    def __init__(self, above: bool) -> None:
        self.above = above

    def predict(self, rows: Any) -> Any:
        return ((rows[:, 0] > 0) == self.above).astype(int)


def foreign(rows: Any, labels: Any, epsilon: float, delta: float) -> Stump:
    """Claims to be private, and is not: nothing here rests on it."""
    del epsilon, delta
    return Stump(bool(np.mean((rows[:, 0] > 0) == labels) >= 0.5))


def foreign_ledger() -> Seen:
    """A foreign learner's model has no file: what it says of the rows stands for it."""
    made = ResampledBoostClassifier(ClaimedLearner(foreign, "stump"), 4.0, schema=schema("two"), rounds=3)
    made.set_params(random_state=1).fit(table(2000).X, table(2000).two)
    said = made.predict(table(2000).X)
    return Seen([int(answer) for answer in said], Seen.ledger_of(made))


def resampling() -> Cases:
    """Boost-S around learners of all kinds, and with a noisy end test."""
    bases = {
        "halfspaces": {"base": HalfspaceBoostClassifier(), "epsilon": 2.0, "rounds": 3},
        "halfspaces, paper": {"base": HalfspaceBoostClassifier(), "epsilon": 0.5, "rounds": 3, "analysis": "paper"},
        "trees": {"base": BoostedTreesClassifier(n_trees=2, max_depth=2), "epsilon": 2.0, "rounds": 3},
        "concepts, delta 0": {"base": FiniteClassClassifier(), "epsilon": 2.0, "rounds": 3, "delta": 0.0},
        "end test": {
            "base": HalfspaceBoostClassifier(), "epsilon": 20.0, "measure": "smooth", "advantage": 0.3,
            "density": 0.6, "n": 20_000,
        },
    }  # fmt: skip
    return {
        **with_parameters(ResampledBoostClassifier, bases),
        "ResampledBoostClassifier: no schema": lambda: without_schema(
            ResampledBoostClassifier, base=HalfspaceBoostClassifier(), epsilon=4.0, rounds=3
        ),
        "ResampledBoostClassifier: foreign": foreign_ledger,
    }


def cases() -> Cases:
    """All of these."""
    return {**trees(), **lists_and_halfspaces(), **closure(), **resampling(), **from_files(), **from_sites()}
