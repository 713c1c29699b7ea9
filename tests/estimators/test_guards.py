"""Guards of the learners' parameters: the borders are taken, what lies beyond them is refused before a row is read."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from tacit.closure.agnostic import AgnosticLearner
from tacit.closure.classes import Thresholds
from tacit.closure.composed import ComposedLearner
from tacit.closure.finite import FiniteClassLearner
from tacit.closure.online import AgnosticOnlineLearner
from tacit.closure.online_composition import OnlineBoosting
from tacit.decision_lists.learner import DecisionListLearner
from tacit.privacy.request import Request
from tacit.trees.learners import CALIBRATED, ForestLearner, GradientTreesLearner, MAlphaLearner

TINY = 5e-324
BELOW_1, ABOVE_1 = math.nextafter(1.0, 0.0), math.nextafter(1.0, 2.0)


def request(delta: float = 0.0, neighbouring: str = "replace_one") -> Request:
    return Request.of(1.0, delta, neighbouring, None)


PURE, WITH_DELTA, ADDING = request(), request(1e-6), request(0.0, "add_or_remove_one")

RUNS = (AgnosticLearner, ComposedLearner)
CLOSURE = (*RUNS, FiniteClassLearner)
TREES = (GradientTreesLearner, MAlphaLearner, ForestLearner)
LISTS = (DecisionListLearner,)
ONE, SEVERAL = Thresholds("a"), [Thresholds("a"), Thresholds("b")]

BORDERS: list[tuple[tuple[Any, ...], str, list[Any], list[Any]]] = [
    (CLOSURE, "bins", [1], [2]),
    (CLOSURE, "max_patterns", [0, 4_194_305], [1, 4_194_304]),
    (CLOSURE, "concepts", ["a"], [None]),
    (RUNS, "repetitions", [0], [1]),
    (RUNS, "relabel_share", [0.0, 1.0], [TINY, BELOW_1]),
    (RUNS, "declared_rows", [0], [1, None]),
    (RUNS, "analysis", ["loose"], []),
    (RUNS, "patterns", ["all"], ["public", "sample"]),
    ((AgnosticLearner,), "analysis", ["part"], ["paper"]),
    ((AgnosticLearner,), "concepts", [SEVERAL], [ONE]),
    ((ComposedLearner,), "concepts", [ONE, []], [SEVERAL]),
    ((ComposedLearner,), "analysis", ["paper"], []),
    ((FiniteClassLearner,), "counts_share", [-TINY, 1.0], [0.0, BELOW_1]),
    (TREES, "n_trees", [0, 10_001, True], [1, 10_000]),
    (TREES, "max_depth", [0, 17], [1, 16, None]),
    (TREES, "noise", ["gaussian", "none"], ["laplace", "auto"]),
    (TREES[1:], "n_bins", [0, 255], [1, 254]),
    (TREES[1:], "analysis", ["loose", None], []),
    ((MAlphaLearner,), "analysis", [], ["paper"]),
    ((MAlphaLearner,), "alpha", [0.0, ABOVE_1], [TINY, 1.0, CALIBRATED]),
    ((MAlphaLearner,), "criterion", ["log"], [None, "gini"]),
    ((MAlphaLearner,), "split_share", [0.0, 1.0], [TINY, BELOW_1]),
    ((MAlphaLearner,), "leaf_bound", [0.0, 101.0], [TINY, math.nextafter(101.0, 0.0)]),
    ((MAlphaLearner,), "max_leaves", [1, 65_537], [2, 65_536, None]),
    ((ForestLearner,), "analysis", ["paper"], []),
    ((ForestLearner,), "mechanism", ["noise"], []),
    ((ForestLearner,), "n_trees", [None], []),
    (LISTS, "k", [0, None], [1]),
    (LISTS, "max_rules", [0], [1, None]),
    (LISTS, "thresholds", [0, 201], [1, 200]),
    (LISTS, "objective", ["error"], ["errors", "coverage"]),
    (LISTS, "analysis", ["loose", "paper"], []),
    (LISTS, "counts_share", [-TINY, 1.0], [0.0, BELOW_1]),
    (LISTS, "features", ["a", [], ()], [["a"]]),
]
"""Learners, a parameter of theirs, values beyond its borders, and values at them; of requests without a delta."""

OUTSIDE = [
    *((kind, {"request": PURE, name: value}) for kinds, name, wrong, _ in BORDERS for kind in kinds for value in wrong),
    *((kind, {"request": ADDING, "analysis": "paper"}) for kind in RUNS),
    *((kind, {"request": PURE, "analysis": "paper", "patterns": "public"}) for kind in RUNS),
    (ComposedLearner, {"request": ADDING, "analysis": "part"}),
    (AgnosticLearner, {"request": ADDING, "analysis": "part", "patterns": "public"}),
    *((OnlineBoosting, {"weak": object, "edge": edge, "copies": n}) for edge, n in ((0.0, 1), (1.0, 1), (0.5, 0))),
    *(
        (AgnosticOnlineLearner, {"start": None, "mistakes": d, "rounds": t, "generator": None})
        for d, t in ((-1, 1), (0, 0))
    ),
    *((kind, {"request": WITH_DELTA, "noise": "laplace"}) for kind in TREES),
    *((MAlphaLearner, {"request": asked, "analysis": "paper"}) for asked in (WITH_DELTA, ADDING)),
    (MAlphaLearner, {"request": PURE, "analysis": "paper", "max_leaves": 5}),
    *((ForestLearner, {"request": asked, "analysis": "paper", "max_depth": 3}) for asked in (WITH_DELTA, ADDING)),
]

INSIDE = [
    *((kind, {"request": PURE, name: value}) for kinds, name, _, fine in BORDERS for kind in kinds for value in fine),
    (AgnosticLearner, {"request": ADDING, "analysis": "part"}),
    *((kind, {"request": WITH_DELTA, "noise": "gaussian"}) for kind in TREES),
    (ForestLearner, {"request": PURE, "analysis": "paper", "max_depth": 1}),
    (ForestLearner, {"request": WITH_DELTA}),
    (MAlphaLearner, {"request": ADDING, "max_leaves": 5}),
    (DecisionListLearner, {"request": WITH_DELTA, "analysis": "paper"}),
]


@pytest.mark.parametrize(("kind", "given"), OUTSIDE)
def test_just_outside(kind: Any, given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must|need|set delta|leave|is for|uses|meant for|no finite"):
        kind(**given)


@pytest.mark.parametrize(("kind", "given"), INSIDE)
def test_just_inside(kind: Any, given: dict[str, Any]) -> None:
    made = kind(**given)
    assert all(getattr(made, name) == value for name, value in given.items())


def test_a_learner_is_trusted_as_much_as_the_one_inside() -> None:
    """What a foreign learner inside promises is not verified, and the certificate has to say so."""
    trusted, own = SimpleNamespace(takes_on_trust=True), SimpleNamespace(takes_on_trust=False)
    for inside, trust in ((None, False), (own, False), (trusted, True)):
        made = AgnosticLearner(PURE, learner=inside)
        assert made.inner == (() if inside is None else (inside,))
        assert made.takes_on_trust is trust
