"""What it takes to try each estimator of the registry: small ones, of every kind of learner they can hold.

An estimator that can be made of a request and a schema alone needs no line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import RegressorMixin

import tacit
from tacit.closure import AgnosticClassifier, ComposedClassifier, FiniteClassClassifier, Thresholds

COLUMNS = {
    "a": {"kind": "numeric", "lower": -3, "upper": 3},
    "b": {"kind": "categorical", "categories": ["u", "v"]},
    "c": {"kind": "boolean"},
}
CLASSES = {"label": {"column": "y", "classes": ["no", "yes"]}, "columns": COLUMNS}
NUMBERS = {"label": {"column": "y", "kind": "numeric", "lower": 0.0, "upper": 10.0}, "columns": COLUMNS}

Make = Callable[[type[Any], dict[str, Any]], Any]


def around(name: str, several: bool = False, **more: Any) -> Make:
    """An estimator that holds others, which know the relation and the schema."""

    def make(kind: type[Any], request: dict[str, Any]) -> Any:
        held = [forest(request, schema_of(kind)), forest(request, schema_of(kind))]
        own = {} if "schema" not in kind().get_params(deep=False) else {"schema": schema_of(kind)}
        return kind(**{name: held if several else held[0]}, **own, **request, **more)

    return make


def batches(inside: type[Any]) -> Make:
    """Batches, each with a fit of an estimator that has the request."""
    return lambda kind, request: kind(inside(schema=schema_of(kind), **request))


def with_parameters(**more: Any) -> Make:
    return lambda kind, request: kind(schema=schema_of(kind), **request, **more)


def forest(request: dict[str, Any], schema: Any) -> Any:
    """The smallest private classifier."""
    return tacit.RandomTreesClassifier(n_trees=2, schema=schema, neighbouring=request["neighbouring"])


EXAMPLES: dict[type[Any], list[Make]] = {
    tacit.AdditiveBoostClassifier: [with_parameters(interactions=False)],
    tacit.AdditiveBoostRegressor: [with_parameters(interactions=False)],
    tacit.BatchwiseClassifier: [batches(tacit.RandomTreesClassifier)],
    tacit.BatchwiseRegressor: [batches(tacit.AdditiveBoostRegressor)],
    tacit.BoostedTreesClassifier: [with_parameters(n_trees=3, max_depth=2)],
    tacit.MAlphaBoostClassifier: [with_parameters(n_trees=2)],
    tacit.HalfspaceBoostClassifier: [with_parameters(rounds=3)],
    tacit.PrivateSelection: [around("candidates", several=True)],
    tacit.RandomTreesClassifier: [with_parameters(n_trees=3)],
    tacit.ResampledBoostClassifier: [around("base", rounds=2)],
    AgnosticClassifier: [with_parameters(concepts=Thresholds("a"), bins=8)],
    ComposedClassifier: [with_parameters(concepts=[Thresholds("a")], function=[0, 1], bins=8)],
    FiniteClassClassifier: [with_parameters(concepts=Thresholds("a"), bins=8)],
}


def is_about_numbers(kind: type[Any]) -> bool:
    """Whether an estimator predicts numbers."""
    return issubclass(kind, RegressorMixin)


def schema_of(kind: type[Any]) -> dict[str, Any]:
    """What is public about :func:`rows_of`."""
    return NUMBERS if is_about_numbers(kind) else CLASSES


def request_of(kind: type[Any], seed: int | None = 3) -> dict[str, Any]:
    """What all are asked for."""
    relation = "replace_one" if kind is tacit.ResampledBoostClassifier else "add_or_remove_one"
    return {"epsilon": 4.0, "delta": 1e-6, "neighbouring": relation, "random_state": seed}


def examples(kind: type[Any], seed: int | None = 3) -> list[Any]:
    """Estimators of a class, ready for :func:`rows_of`."""
    return [make(kind, request_of(kind, seed)) for make in EXAMPLES.get(kind, [with_parameters()])]


def rows_of(kind: type[Any], n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A table and its labels."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"a": generator.uniform(-3, 3, n), "b": generator.choice(["u", "v"], n), "c": generator.random(n) < 0.5}
    )
    score = frame["a"].to_numpy() + np.where(frame["b"] == "u", 0.5, -0.5)
    return frame, score + 5.0 if is_about_numbers(kind) else np.where(score > 0, "yes", "no")
