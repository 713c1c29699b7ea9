"""What arguments are where nothing is said, and the limits of the room."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stated import check_defaults, stated

STREAM = {
    "epsilon": 1.0, "delta": 1e-6, "neighbouring": "add_or_remove_one", "horizon": 100_000, "bins": 8,
    "labels": None, "invalid": "error", "carried": 0.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("confident_winnow:ConfidentWinnow", {"confidence": 0.5}),
        ("confident_winnow:ConfidentWinnow.learn_one", {"bit": True}),
        ("decision_list_winnow:DecisionListWinnow", {**STREAM, "k": 1}),
        ("schedule:WinnowRequest", {"margin": None, "beta": 0.05, "classes": 2, "carried": 0.0}),
        ("winnow:Winnow", {**STREAM, "signed": True, "constant": True}),
    ],
)
def test_what_is_meant_where_nothing_is_said(place: str, expected: dict[str, Any]) -> None:
    check_defaults("online", place, expected)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("decision_list_winnow:MOST_FEATURES", 262_144),
        ("labels:MOST_CLASSES", 1000),
        ("winnow:MOST_CELLS", 67_108_864),
        ("rows:CUTS", (-10.0, -3.0, -1.0, -0.3, 0.0, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)),
        ("schedule:THRESHOLD_SHARE", 0.15),
        ("schedule:USUAL_BUDGET", 40_000.0),
        ("schedule:USUAL_EPOCHS", 64),
        ("schedule:USUAL_SAMPLES", 15),
        ("schedule:STEP", 0.7),
        ("schedule:NOISE_LEVELS", 11.0),
        ("schedule:FIRST_UPDATE", 16.0),
        ("schedule:NEXT_UPDATE", 1.2),
        ("schedule:UNSURE", 0.2),
        ("schedule:DECAY", 0.95),
        ("schedule:UNSURE_OF_MARGIN", 0.3),
        ("schedule:EXACT_RATE", 0.2),
    ],
)
def test_how_far_things_may_go(place: str, value: Any) -> None:
    assert stated("online", place) == value
