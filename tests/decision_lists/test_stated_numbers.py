"""What arguments are where nothing is said, and the limits of the room."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stated import check_defaults, stated


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (
            "estimator:DecisionListClassifier",
            {"epsilon": 1.0, "delta": 1e-6, "neighbouring": "add_or_remove_one", "k": 2},
        ),
        ("estimator:DecisionListClassifier", {"max_rules": 8, "thresholds": 16, "objective": "coverage"}),
        ("estimator:DecisionListClassifier", {"analysis": "sharp", "counts_share": 0.2}),
        ("estimator:DecisionListClassifier.from_theorem", {"epsilon": 1.0, "delta": 1e-6}),
        ("learner:DecisionListLearner", {"k": 2, "max_rules": 8, "thresholds": 16, "counts_share": 0.2}),
        ("learner:DecisionListLearner", {"objective": "coverage", "analysis": "sharp"}),
        ("plan:ListBudget", {"fixed": (), "rows_per_unit": 1, "ending": False}),
        ("plan:steps_at", {"pure": ()}),
        ("plan:PureFirst", {"knee": 0, "beyond": 0}),
        ("tuning:PureStages", {"knee": 1.0, "beyond": 0}),
    ],
)
def test_what_is_meant_where_nothing_is_said(place: str, expected: dict[str, Any]) -> None:
    check_defaults("decision_lists", place, expected)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("learner:MOST_THRESHOLDS", 200),
        ("plan:UNIT", 64),
    ],
)
def test_how_far_things_may_go(place: str, value: Any) -> None:
    assert stated("decision_lists", place) == value
