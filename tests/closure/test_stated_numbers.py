"""What arguments are where nothing is said, and the limits of the room."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stated import check_defaults, stated

LEARNER = {
    "max_patterns": 1_048_576, "relabel_share": 0.5, "patterns": "auto", "analysis": "sharp", "repetitions": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (
            "agnostic:AgnosticClassifier",
            {"epsilon": 1.0, "delta": 1e-6, "neighbouring": "add_or_remove_one", "bins": 32},
        ),
        ("agnostic:AgnosticClassifier", LEARNER),
        ("base:Setting", {"calibrate": True}),
        ("base:ClosureLearner", {**LEARNER, "bins": 32}),
        ("classes:Thresholds", {"direction": "both"}),
        ("classes:Stumps", {"direction": "both"}),
        ("composed:ComposedLearner", {"function": "or"}),
        (
            "composed:ComposedClassifier",
            {"epsilon": 1.0, "delta": 1e-6, "neighbouring": "add_or_remove_one", "bins": 16},
        ),
        ("composed:ComposedClassifier", {**LEARNER, "function": "or"}),
        ("concepts:ConceptSet", {"cap": 1_048_576}),
        ("finite:FiniteClassLearner", {"bins": 32, "max_patterns": 1_048_576, "counts_share": 0.1}),
        ("finite:FiniteClassClassifier", {"epsilon": 1.0, "delta": 1e-6, "neighbouring": "add_or_remove_one"}),
        ("finite:FiniteClassClassifier", {"bins": 32, "max_patterns": 1_048_576, "counts_share": 0.1}),
        ("literals:_LiteralClass", {"length": 2, "cuts": 3, "negated": False}),
        ("online:FiniteDomain", {"cap": 1_000_000}),
        ("online:MajorityState.of", {"beta": 0.5}),
        ("online:AgnosticOnlineLearner.learn_one", {"weight": 1.0}),
        ("online_boosting:WeakLearner.learn_one", {"weight": 1.0}),
        ("online_boosting:BoostedComposition", {"copies": 25}),
        ("plan:StepPlan", {"scored_share": 1.0}),
        ("plan:sharp_plan", {"score": "completion"}),
        ("raw:RawThresholds", {"direction": "both"}),
        ("rules:RuleClass", {"names": ()}),
    ],
)
def test_what_is_meant_where_nothing_is_said(place: str, expected: dict[str, Any]) -> None:
    check_defaults("closure", place, expected)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("composed:MOST_WORK", 1_000_000),
        ("concepts:MOST_CELLS", 65_536),
        ("concepts:MOST_PATTERNS", 1_048_576),
        ("concepts:MOST_CANDIDATES", 4_194_304),
        ("concepts:LARGE_SAMPLE", 1_000_000),
        ("concepts:MOST_MEMORY", 1_073_741_824),
        ("online_boosting:LARGEST_GATE", 20_000),
        ("plan:SLACK", 1e-9),
        ("plan:PAPER_DRAWS", 1 / 9),
        ("plan:PAPER_SCORED", 0.5),
        ("raw:MOST_RAW", 3),
        ("relabel:TOLERANCE", 1e-6),
        ("relabel:WORTHWHILE", 0.98),
        ("relabel:BISECTIONS", 5),
    ],
)
def test_how_far_things_may_go(place: str, value: Any) -> None:
    assert stated("closure", place) == value
