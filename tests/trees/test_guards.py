"""Guards of the learners' parameters: the borders are taken, what lies beyond them is refused before a row is read."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tacit.privacy.request import Request
from tacit.trees.learners import CALIBRATED, ForestLearner, GradientTreesLearner, MAlphaLearner
from tests.stated import check_refused, check_taken

TINY = 5e-324
BELOW_1 = math.nextafter(1.0, 0.0)


def request(delta: float = 0.0, neighbouring: str = "replace_one") -> Request:
    return Request.of(1.0, delta, neighbouring, None)


PURE, WITH_DELTA, ADDING = request(), request(1e-6), request(0.0, "add_or_remove_one")

OUTSIDE = [
    *(
        (kind, {"request": PURE, name: value})
        for kind in (GradientTreesLearner, MAlphaLearner, ForestLearner)
        for name, value in (
            ("n_trees", 0),
            ("n_trees", 10_001),
            ("n_trees", True),
            ("max_depth", 0),
            ("max_depth", 17),
            ("noise", "gaussian"),
            ("noise", "none"),
        )
    ),
    *(
        (kind, {"request": WITH_DELTA, "noise": "laplace"})
        for kind in (GradientTreesLearner, MAlphaLearner, ForestLearner)
    ),
    *(
        (kind, {"request": PURE, name: value})
        for kind in (MAlphaLearner, ForestLearner)
        for name, value in (("n_bins", 0), ("n_bins", 255), ("analysis", "loose"), ("analysis", None))
    ),
    *(
        (MAlphaLearner, {"request": PURE, name: value})
        for name, value in (
            ("alpha", 0.0),
            ("alpha", math.nextafter(1.0, 2.0)),
            ("criterion", "log"),
            ("split_share", 0.0),
            ("split_share", 1.0),
            ("leaf_bound", 0.0),
            ("leaf_bound", 101.0),
            ("max_leaves", 1),
            ("max_leaves", 65_537),
        )
    ),
    *((MAlphaLearner, {"request": asked, "analysis": "paper"}) for asked in (WITH_DELTA, ADDING)),
    (MAlphaLearner, {"request": PURE, "analysis": "paper", "max_leaves": 5}),
    *((ForestLearner, {"request": asked, "analysis": "paper", "max_depth": 3}) for asked in (WITH_DELTA, ADDING)),
    (ForestLearner, {"request": PURE, "analysis": "paper"}),
    (ForestLearner, {"request": PURE, "mechanism": "noise"}),
    (ForestLearner, {"request": PURE, "n_trees": None}),
]

INSIDE = [
    *(
        (kind, {"request": PURE, name: value})
        for kind in (GradientTreesLearner, MAlphaLearner, ForestLearner)
        for name, value in (
            ("n_trees", 1),
            ("n_trees", 10_000),
            ("max_depth", 1),
            ("max_depth", 16),
            ("max_depth", None),
            ("noise", "laplace"),
            ("noise", "auto"),
        )
    ),
    *(
        (kind, {"request": WITH_DELTA, "noise": "gaussian"})
        for kind in (GradientTreesLearner, MAlphaLearner, ForestLearner)
    ),
    *((kind, {"request": PURE, "n_bins": bins}) for kind in (MAlphaLearner, ForestLearner) for bins in (1, 254)),
    *(
        (MAlphaLearner, {"request": PURE, name: value})
        for name, value in (
            ("alpha", TINY),
            ("alpha", 1.0),
            ("alpha", CALIBRATED),
            ("criterion", None),
            ("criterion", "gini"),
            ("split_share", TINY),
            ("split_share", BELOW_1),
            ("leaf_bound", TINY),
            ("leaf_bound", math.nextafter(101.0, 0.0)),
            ("max_leaves", 2),
            ("max_leaves", 65_536),
            ("max_leaves", None),
            ("analysis", "paper"),
        )
    ),
    (ForestLearner, {"request": PURE, "analysis": "paper", "max_depth": 1}),
    (ForestLearner, {"request": WITH_DELTA}),
    (MAlphaLearner, {"request": ADDING, "max_leaves": 5}),
]


@pytest.mark.parametrize(("kind", "given"), OUTSIDE)
def test_just_outside(kind: Any, given: dict[str, Any]) -> None:
    check_refused(kind, given)


@pytest.mark.parametrize(("kind", "given"), INSIDE)
def test_just_inside(kind: Any, given: dict[str, Any]) -> None:
    check_taken(kind, given)
