"""What arguments are where nothing is said, and the limits of the room."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stated import check_defaults, stated


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("budget:SplitBudget", {"gaussian": False}),
        ("budget:SplitBudget.of", {"other": ()}),
        ("estimator:BoostedTreesClassifier", {"epsilon": 1.0, "delta": 1e-6, "neighbouring": "add_or_remove_one"}),
        (
            "estimator:MAlphaBoostClassifier",
            {"analysis": "sharp", "split_share": 0.5, "leaf_bound": 10.0, "noise": "auto"},
        ),
        ("chosen_labels:label_selection", {"weights": None}),
        ("forest:drawn_to", {"sampled": True}),
        ("learners:GradientTreesLearner", {"n_trees": None, "max_depth": None, "noise": "auto"}),
        ("learners:MAlphaLearner", {"noise": "auto", "analysis": "sharp", "split_share": 0.5, "leaf_bound": 10.0}),
        ("learners:ForestLearner", {"mechanism": "laplace", "analysis": "sharp", "noise": "auto"}),
        (
            "estimator:RandomTreesClassifier",
            {"epsilon": 1.0, "delta": 1e-6, "neighbouring": "add_or_remove_one"},
        ),
        ("estimator:RandomTreesClassifier", {"mechanism": "laplace", "analysis": "sharp", "noise": "auto"}),
    ],
)
def test_what_is_meant_where_nothing_is_said(place: str, expected: dict[str, Any]) -> None:
    check_defaults("trees", place, expected)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("budget:SMALLEST_RANGE", 1e-6),
        ("learners:DEEPEST", 16),
        ("forest:LARGEST_CODE", 255),
        ("m_alpha_boost:CLAMP", 1e-4),
        ("m_alpha_boost:SAID_UNIT", 4096),
        ("splits:SUBSET_CATEGORIES", 5),
        ("splits:FLOAT_ERROR", 5.684341886080802e-14),
    ],
)
def test_how_far_things_may_go(place: str, value: Any) -> None:
    assert stated("trees", place) == value
