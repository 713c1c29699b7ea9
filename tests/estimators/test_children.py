"""Every private classifier can be learned inside another, and knows what is public there and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from tacit import (
    AdditiveBoostClassifier,
    BoostedTreesClassifier,
    DecisionListClassifier,
    HalfspaceBoostClassifier,
    MAlphaBoostClassifier,
    RandomTreesClassifier,
    ResampledBoostClassifier,
)
from tacit.closure import AgnosticClassifier, ComposedClassifier, FiniteClassClassifier, Stumps
from tacit.curator.rows import PrivateRows
from tacit.estimators.base import request_of
from tacit.privacy.request import RequestError
from tacit.trees.learners import ForestLearner
from tests.pairwise import in_turn

COLUMNS = {name: {"kind": "numeric", "lower": 0.0, "upper": 1.0} for name in ("a", "b")}
SCHEMA = {"label": {"column": "y", "classes": [0, 1]}, "columns": COLUMNS}

CHILDREN: dict[str, Any] = {
    "additive": AdditiveBoostClassifier(interactions=False),
    "decision list": DecisionListClassifier(),
    "finite class": FiniteClassClassifier(Stumps(("a", "b"))),
    "gradient trees": BoostedTreesClassifier(n_trees=10),
    "halfspace": HalfspaceBoostClassifier(),
    "m-alpha trees": MAlphaBoostClassifier(alpha=1.0),
    "objective calibration": MAlphaBoostClassifier(alpha="calibrated"),
    "random trees, counts": RandomTreesClassifier(n_trees=5),
    "random trees, choices": RandomTreesClassifier(mechanism="exponential", n_trees=5),
    "resampled": ResampledBoostClassifier(FiniteClassClassifier(Stumps(("a", "b"))), rounds=3),
}
REPLACE, ADD = "replace_one", "add_or_remove_one"
PARENTS: dict[str, Any] = {
    "resampled": lambda child: ResampledBoostClassifier(child, rounds=3),
    "agnostic": lambda child: AgnosticClassifier(learner=child, neighbouring=REPLACE),
    "agnostic, private rows": lambda child: AgnosticClassifier(learner=child, neighbouring=ADD),
    "best of three": lambda child: AgnosticClassifier(learner=child, neighbouring=REPLACE, repetitions=3),
    "composed": lambda child: ComposedClassifier(learners=child, neighbouring=REPLACE),
    "composed, private rows": lambda child: ComposedClassifier(learners=child, neighbouring=ADD),
}


def table(rows: int = 3000) -> tuple[dict[str, Any], Any]:
    generator = np.random.default_rng(0)
    columns = {name: generator.uniform(0.0, 1.0, rows) for name in COLUMNS}
    return columns, (columns["a"] > 0.5).astype(np.int64)


@pytest.mark.parametrize(("child", "parent"), in_turn(list(CHILDREN), [(parent,) for parent in PARENTS]))
def test_a_child_learns(child: str, parent: str) -> None:
    X, y = table()
    arguments = {"epsilon": 16.0, "delta": 1e-6, "schema": SCHEMA, "random_state": 0}
    model = PARENTS[parent](CHILDREN[child]).set_params(**arguments)
    if child == "resampled" and parent not in ("resampled", "agnostic"):
        with pytest.raises(RequestError, match="public number of rows"):
            model.fit(X, y)
        return
    model.fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.6  # .96 +- .05 or better, and 1/2 of what learns nothing
    assert model.certificate_.epsilon <= 16.0


ANALYSES = [(name, how) for name in PARENTS for how in ("sharp", "paper") if "private" not in name or how == "sharp"]
"""The papers' analyses are for a public number of rows."""


@pytest.mark.parametrize(("parent", "analysis"), ANALYSES)
def test_a_child_is_told_the_number_of_rows_that_it_has_or_none(
    parent: str, analysis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trees bound the weight of a node by that number: one that is too small would break their sensitivity."""
    told: list[tuple[int | None, int]] = []
    learn = ForestLearner.learn

    def spying(self: Any, rows: PrivateRows, allowance: Any, task: Any) -> Any:
        told.append((task.public_rows, rows._frame.n_rows))
        return learn(self, rows, allowance, task)

    monkeypatch.setattr(ForestLearner, "learn", spying)
    X, y = table(1501)
    model = PARENTS[parent](RandomTreesClassifier(n_trees=3)).set_params(schema=SCHEMA, random_state=0, delta=1e-6)
    if analysis == "paper":
        model.set_params(analysis="paper")
    model.set_params(epsilon=1.0 if analysis == "paper" else 16.0).fit(X, y)
    public = parent in ("resampled", "agnostic")
    assert told
    assert all(said == (has if public else None) for said, has in told)


def test_the_printed_trees_are_refused_where_the_number_of_rows_is_random() -> None:
    X, y = table()
    printed = MAlphaBoostClassifier(alpha=1.0, analysis="paper", n_trees=2, max_depth=2)
    model = ComposedClassifier(learners=printed, neighbouring=REPLACE, epsilon=8.0, delta=0.0, schema=SCHEMA)
    with pytest.raises(RequestError, match="public number of rows"):
        model.fit(X, y)


@pytest.mark.parametrize("learner", [RandomTreesClassifier(n_trees=3), MAlphaBoostClassifier(alpha=1.0, n_trees=2)])
def test_where_persons_are_replaced_the_number_of_rows_is_private(
    learner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is replaced may have had two rows and have five thousand now, of which two count."""
    told: list[int | None] = []
    inside = type(learner.make_learner(request_of(learner)))
    learn = inside.learn

    def spying(self: Any, rows: Any, allowance: Any, task: Any) -> Any:
        told.append(task.public_rows)
        return learn(self, rows, allowance, task)

    monkeypatch.setattr(inside, "learn", spying)
    X, y = table(500)
    X["person"] = np.arange(500) // 2
    schema = {**SCHEMA, "unit": {"column": "person", "max_rows": 2}}
    model = clone(learner).set_params(epsilon=4.0, neighbouring=REPLACE, schema=schema).fit(X, y)
    assert told == [None]
    assert "the number of persons is public" in model.certificate_.summary()
    assert model.certificate_.verify() == []
    drawn = ResampledBoostClassifier(HalfspaceBoostClassifier(), schema=schema)
    with pytest.raises(RequestError, match="unit is not supported"):
        drawn.fit(X, y)


def test_a_dry_run_of_draws_knows_the_number_of_rows() -> None:
    model = ResampledBoostClassifier(HalfspaceBoostClassifier(), schema=SCHEMA)
    assert model.dry_run(n=5000)["charges"]
    with pytest.raises(RequestError, match="at most the number of rows, 50"):
        model.set_params(sample_size=100).dry_run(n=50)
