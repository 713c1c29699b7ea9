"""The additive learner: two classes, several, and numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.golden.case import Cases, Seen
from tests.golden.names import AdditiveBoostClassifier, AdditiveBoostRegressor
from tests.golden.tables import numbers, persons, schema, table

ADD, REPLACE = "add_or_remove_one", "replace_one"

ASKED: list[tuple[int, dict[str, Any]]] = [
    (300, {"epsilon": 0.3}),
    (2000, {"epsilon": 1.0}),
    (2000, {"epsilon": 1.0, "delta": 0.0}),
    (2000, {"epsilon": 1.0, "neighbouring": REPLACE}),
    (4000, {"epsilon": 6.0}),
    (4000, {"epsilon": 8.0, "delta": 0.0}),
    (4000, {"epsilon": 8.0, "neighbouring": REPLACE}),
]
"""More noise than rows, the usual amount, and little; pure, and of the other relation."""

TARGETS: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "two classes": (AdditiveBoostClassifier, "two", {}),
    "three classes": (AdditiveBoostClassifier, "three", {}),
    "squared": (AdditiveBoostRegressor, "number", {"loss": "squared"}),
    "quantile": (AdditiveBoostRegressor, "number", {"loss": "quantile", "quantile": 0.8}),
}


def fit(target: str, n: int, **asked: Any) -> Seen:
    """One fit with a declared schema; ``declares`` changes it, ``rows`` stands for the columns."""
    estimator, label, own = TARGETS[target]
    rows, weights = asked.pop("rows", table(n).X), asked.pop("sample_weight", None)
    declared = schema(label, **asked.pop("declares", {}))
    made = estimator(schema=declared, random_state=1, **own, **asked)
    return Seen.of(made.fit(rows, getattr(table(n), label), sample_weight=weights))


def named(target: str, what: str) -> str:
    return f"{TARGETS[target][0].__name__}: {target}, {what}"


def cases() -> Cases:
    """Every target, in every way it can be asked for."""
    found: Cases = {}
    for target in TARGETS:
        for n, asked in ASKED:
            words = ", ".join(f"{name} {value}" for name, value in asked.items())
            found[named(target, f"{n} rows, {words}")] = lambda t=target, n=n, a=asked: fit(t, n, **a)
        found |= variants(target)
    found |= of_classes() | of_ordered() | of_counts()
    for target in ("two classes", "quantile"):  # the longest fits: hundreds of trees, which every loss grows alike
        found[named(target, "no privacy")] = lambda t=target: fit(t, 1000, epsilon=math.inf)
    found[named("two classes", "20000 rows, epsilon 8.0")] = lambda: fit("two classes", 20_000, epsilon=8.0)
    found[named("two classes", "pairs where columns explain little")] = lambda: fit(
        "two classes", 8000, epsilon=4.0, rows=faint(8000)
    )
    found[named("two classes", "trees that choose")] = lambda: fit("two classes", 150_000, epsilon=8.0)
    return found


def faint(n: int) -> Any:
    """The table's columns, of which every second row has another row's: they say a quarter of what they said."""
    places = np.arange(n)
    places[::2] = (places[::2] + 2) % n
    return table(n).X.iloc[places].reset_index(drop=True)


def variants(target: str) -> Cases:
    """What every target can have."""
    rising = {"columns": {"a": {"kind": "numeric", "lower": -2, "upper": 2, "monotone": "increasing"}}}

    def of_persons(**asked: Any) -> Seen:
        rows, declares = persons(6000)
        return fit(target, 6000, epsilon=30.0, rows=rows, declares=declares, **asked)

    return {
        named(target, "no interactions"): lambda: fit(target, 2000, interactions=False),
        named(target, "pairs"): lambda: fit(target, 2000, epsilon=4.0, interactions="pairs"),
        named(target, "sample weights"): lambda: fit(target, 4000, epsilon=8.0, sample_weight=table(4000).weights),
        named(target, "sample weights, replace_one, delta 0"): lambda: fit(
            target, 4000, epsilon=8.0, sample_weight=table(4000).weights, neighbouring=REPLACE, delta=0.0
        ),
        named(target, "monotone"): lambda: fit(target, 2000, epsilon=2.0, declares=rising),
        named(target, "persons"): of_persons,
        named(target, "persons, replace_one"): lambda: of_persons(neighbouring=REPLACE),
        named(target, "no rows"): lambda: fit(target, 0),
        named(target, "no schema"): lambda: undeclared(target, table(2000).X),
        named(target, "no schema, numbers alone, delta 0"): lambda: undeclared(target, numbers(2000).X, delta=0.0),
    }


def undeclared(target: str, rows: Any, **asked: Any) -> Seen:
    """Bounds, categories and classes are found by the fit."""
    estimator, label, own = TARGETS[target]
    if label == "number":
        own = {**own, "target_bounds": (-8, 8)}
    if label in ("two", "three") and not asked.get("delta", 1.0):  # finding classes takes a delta
        own = {**own, "classes": [0, 1, 2][: 2 if label == "two" else 3]}
    made = estimator(epsilon=2.0, random_state=1, **own, **asked).fit(rows, getattr(table(len(rows)), label))
    seen = Seen.of(made)
    found = None if made.schema_ is None else made.schema_.to_dict()
    return Seen([seen.model, found], seen.ledger)


def of_counts() -> Cases:
    """Counts and costs: targets below 0 count as 0."""
    label = {"label": {"column": "y", "kind": "numeric", "lower": 0, "upper": 8}}

    def of(loss: str, n: int, **asked: Any) -> Seen:
        X, y, declared = table(n).X, table(n).number, schema("number").to_dict() | label
        weights = asked.pop("sample_weight", None)
        made = AdditiveBoostRegressor(schema=declared, random_state=1, loss=loss, **asked)
        return Seen.of(made.fit(X, y, sample_weight=weights))

    named = "AdditiveBoostRegressor: counts, "
    return {
        f"{named}poisson, 2000 rows": lambda: of("poisson", 2000),
        f"{named}poisson, 4000 rows, epsilon 8": lambda: of("poisson", 4000, epsilon=8.0),
        f"{named}gamma, 2000 rows, delta 0": lambda: of("gamma", 2000, delta=0.0),
        f"{named}tweedie, 4000 rows, epsilon 6, replace_one": lambda: of(
            "tweedie", 4000, epsilon=6.0, neighbouring=REPLACE, power=1.7
        ),
        f"{named}poisson, no rows": lambda: of("poisson", 0),
        f"{named}poisson, weights": lambda: of("poisson", 2000, sample_weight=table(2000).weights),
    }


def of_ordered() -> Cases:
    """Classes in an order."""

    def of(n: int, **asked: Any) -> Seen:
        return fit("three classes", n, ordered=True, **asked)

    named = "AdditiveBoostClassifier: ordered classes, "
    return {
        f"{named}300 rows, epsilon 0.3": lambda: of(300, epsilon=0.3),
        f"{named}2000 rows": lambda: of(2000),
        f"{named}2000 rows, delta 0": lambda: of(2000, delta=0.0),
        f"{named}4000 rows, epsilon 8, replace_one": lambda: of(4000, epsilon=8.0, neighbouring=REPLACE),
        f"{named}class and sample weights": lambda: of(
            4000, epsilon=8.0, class_weight={0: 1.0, 1: 0.5, 2: 0.8}, sample_weight=table(4000).weights
        ),
        f"{named}no rows": lambda: of(0),
    }


def of_classes() -> Cases:
    """Weights of classes."""
    return {
        named("two classes", "balanced"): lambda: fit("two classes", 2000, class_weight="balanced"),
        named("two classes", "class weights"): lambda: fit(
            "two classes", 4000, epsilon=8.0, class_weight={0: 1.0, 1: 3.0}
        ),
        named("two classes", "class and sample weights, replace_one"): lambda: fit(
            "two classes",
            4000,
            epsilon=12.0,
            class_weight={0: 0.5, 1: 1.0},
            sample_weight=table(4000).weights,
            neighbouring=REPLACE,
        ),
        named("three classes", "class weights"): lambda: fit(
            "three classes", 4000, epsilon=8.0, class_weight={0: 1.0, 1: 0.5, 2: 0.8}
        ),
    }
