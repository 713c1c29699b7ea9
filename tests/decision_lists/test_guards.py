"""Guards of the learners' parameters: the borders are taken, what lies beyond them is refused before a row is read."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tacit.decision_lists.learner import DecisionListLearner
from tacit.privacy.request import Request
from tests.stated import check_refused, check_taken

TINY = 5e-324
BELOW_1 = math.nextafter(1.0, 0.0)


def request(delta: float = 0.0, neighbouring: str = "replace_one") -> Request:
    return Request.of(1.0, delta, neighbouring, None)


PURE, WITH_DELTA = request(), request(1e-6)

OUTSIDE = [
    *(
        (DecisionListLearner, {"request": PURE, name: value})
        for name, value in (
            ("k", 0),
            ("k", None),
            ("max_rules", 0),
            ("thresholds", 0),
            ("thresholds", 201),
            ("objective", "error"),
            ("analysis", "loose"),
            ("analysis", "paper"),
            ("counts_share", -TINY),
            ("counts_share", 1.0),
            ("features", "a"),
            ("features", []),
            ("features", ()),
        )
    ),
]

INSIDE = [
    *(
        (DecisionListLearner, {"request": PURE, name: value})
        for name, value in (
            ("k", 1),
            ("max_rules", 1),
            ("max_rules", None),
            ("thresholds", 1),
            ("thresholds", 200),
            ("objective", "errors"),
            ("objective", "coverage"),
            ("counts_share", 0.0),
            ("counts_share", BELOW_1),
            ("features", ["a"]),
        )
    ),
    (DecisionListLearner, {"request": WITH_DELTA, "analysis": "paper"}),
]


@pytest.mark.parametrize(("kind", "given"), OUTSIDE)
def test_just_outside(kind: Any, given: dict[str, Any]) -> None:
    check_refused(kind, given)


@pytest.mark.parametrize(("kind", "given"), INSIDE)
def test_just_inside(kind: Any, given: dict[str, Any]) -> None:
    check_taken(kind, given)
