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
from tacit.closure.online_boosting import OnlineBoosting
from tacit.privacy.request import Request
from tests.stated import check_refused, check_taken

TINY = 5e-324
BELOW_1 = math.nextafter(1.0, 0.0)


def request(delta: float = 0.0, neighbouring: str = "replace_one") -> Request:
    return Request.of(1.0, delta, neighbouring, None)


PURE, ADDING = request(), request(0.0, "add_or_remove_one")

ALL = (AgnosticLearner, ComposedLearner, FiniteClassLearner)
RUNS = (AgnosticLearner, ComposedLearner)
ONE, SEVERAL = Thresholds("a"), [Thresholds("a"), Thresholds("b")]

OUTSIDE = [
    *(
        (kind, {"request": PURE, name: value})
        for kind in ALL
        for name, value in (("bins", 1), ("max_patterns", 0), ("max_patterns", 4_194_305), ("concepts", "a"))
    ),
    *(
        (kind, {"request": PURE, name: value})
        for kind in RUNS
        for name, value in (
            ("repetitions", 0),
            ("relabel_share", 0.0),
            ("relabel_share", 1.0),
            ("declared_rows", 0),
            ("analysis", "loose"),
            ("patterns", "all"),
        )
    ),
    *((kind, {"request": ADDING, "analysis": "paper"}) for kind in RUNS),
    *((kind, {"request": PURE, "analysis": "paper", "patterns": "public"}) for kind in RUNS),
    *((FiniteClassLearner, {"request": PURE, "counts_share": share}) for share in (-TINY, 1.0)),
    (AgnosticLearner, {"request": PURE, "analysis": "part"}),
    (ComposedLearner, {"request": ADDING, "analysis": "part"}),
    (AgnosticLearner, {"request": ADDING, "analysis": "part", "patterns": "public"}),
    (AgnosticLearner, {"request": PURE, "concepts": SEVERAL}),
    (ComposedLearner, {"request": PURE, "concepts": ONE}),
    (ComposedLearner, {"request": PURE, "concepts": []}),
    (ComposedLearner, {"request": PURE, "analysis": "paper"}),
    *((OnlineBoosting, {"weak": object, "edge": edge, "copies": n}) for edge, n in ((0.0, 1), (1.0, 1), (0.5, 0))),
    *(
        (AgnosticOnlineLearner, {"start": None, "mistakes": d, "rounds": t, "generator": None})
        for d, t in ((-1, 1), (0, 0))
    ),
]

INSIDE = [
    *(
        (kind, {"request": PURE, name: value})
        for kind in ALL
        for name, value in (("bins", 2), ("max_patterns", 1), ("max_patterns", 4_194_304), ("concepts", None))
    ),
    *(
        (kind, {"request": PURE, name: value})
        for kind in RUNS
        for name, value in (
            ("repetitions", 1),
            ("relabel_share", TINY),
            ("relabel_share", BELOW_1),
            ("declared_rows", 1),
            ("declared_rows", None),
            ("patterns", "public"),
            ("patterns", "sample"),
        )
    ),
    *((FiniteClassLearner, {"request": PURE, "counts_share": share}) for share in (0.0, BELOW_1)),
    (AgnosticLearner, {"request": ADDING, "analysis": "part"}),
    (AgnosticLearner, {"request": PURE, "analysis": "paper"}),
    (AgnosticLearner, {"request": PURE, "concepts": ONE}),
    (ComposedLearner, {"request": PURE, "concepts": SEVERAL}),
]


@pytest.mark.parametrize(("kind", "given"), OUTSIDE)
def test_just_outside(kind: Any, given: dict[str, Any]) -> None:
    check_refused(kind, given)


@pytest.mark.parametrize(("kind", "given"), INSIDE)
def test_just_inside(kind: Any, given: dict[str, Any]) -> None:
    check_taken(kind, given)


def test_a_learner_is_trusted_as_much_as_the_one_inside() -> None:
    """What a foreign learner inside promises is not verified, and the certificate has to say so."""
    trusted, own = SimpleNamespace(takes_on_trust=True), SimpleNamespace(takes_on_trust=False)
    for inside, trust in ((None, False), (own, False), (trusted, True)):
        made = AgnosticLearner(PURE, learner=inside)
        assert made.inner == (() if inside is None else (inside,))
        assert made.takes_on_trust is trust
