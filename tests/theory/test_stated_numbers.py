"""What arguments are where nothing is said, and the limits of the room."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tacit.theory.em_cover import Shifts
from tests.stated import check_defaults, stated


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("above_threshold:scales", {"sensitivity": 1}),
        ("boosting:lazy_bregman_rounds", {"aim": "margin", "analysis": "sharp"}),
        ("boosting:lazy_bregman_learning_rate", {"aim": "margin", "analysis": "sharp"}),
        ("boosting:lazy_bregman_regret", {"analysis": "sharp"}),
        ("boosting:lazy_bregman_margin", {"analysis": "sharp"}),
        ("boosting:lazy_bregman_slickness", {"analysis": "sharp"}),
        ("boosting:centering_sensitivity", {"analysis": "sharp"}),
        ("boosting:centering_zcdp", {"analysis": "sharp"}),
        ("boosting:centering_advantage", {"sigma": 0.0, "failure": 1.0}),
        ("boosting:stopping_rule_privacy", {"analysis": "sharp"}),
        ("closure.bounds:weighted_majority_mistakes", {"weight": 0.5}),
        ("closure.formula:Formula", {"index": 0, "negated": False, "children": ()}),
        ("closure.privacy:relabel_range", {"score": "completion"}),
        ("closure.privacy:relabel_epsilon", {"score": "completion", "public": False}),
        ("closure.samples:relabel_rows", {"epsilon": 1.0}),
        ("dimensions:littlestone_dimension", {"cap": 200_000, "seconds": 8.0}),
        ("dimensions:vc_dimension", {"cap": 3_000_000, "seconds": math.inf}),
        ("dimensions:threshold_dimension", {"cap": 50_000, "seconds": 8.0}),
        ("em_cover:log_moment", {"shifts": Shifts(-1.0, 0.0), "replace": False}),
        ("em_cover:pure_epsilon", {"shifts": Shifts(-1.0, 0.0), "replace": False}),
        ("generalisation:fat_shattering_halfspaces", {"length": 2.0}),
        ("generalisation:margin_bound", {"length": 2.0}),
        ("generalisation:margin_bound_rows", {"length": 2.0}),
        ("generalisation:pac_bayes_margin_bound", {"length": 2.0}),
        ("generalisation:pac_bayes_margin_proves", {"length": 2.0}),
        ("generalisation:rademacher_margin_bound", {"length": 2.0}),
        ("generalisation:new_rows", {"length": 2.0}),
        ("certified_error:HalfspaceCode", {"places": 15, "digits": 5, "concentration": 0.125}),
        ("averaged_noise:averaged_rounds", {"slack": 0.0}),
        ("averaged_noise:averaged_step", {"slack": 0.0}),
        ("averaged_noise:averaged_run", {"ratio": 2.0, "margin": 0.0, "exact": False}),
        ("halfspaces:run_for_signs", {"exact": False}),
        ("halfspaces:promise_on_training_rows", {"analysis": "sharp"}),
        ("halfspaces:label_noise_rows", {"share": 4.0}),
        ("halfspaces:privacy_rows", {"analysis": "sharp"}),
        ("halfspaces:sample_size", {"analysis": "sharp", "dimension": 1000}),
        ("halfspaces:sample_size_by_privacy", {"analysis": "sharp"}),
        ("halfspaces:cheapest_promise", {"analysis": "sharp", "dimension": 1000}),
        ("resampling:boost_for_people_sample_size", {"failure_exponent": 1.0}),
        ("tree_rows:SplitRisk", {"charged_by_node": False}),
        ("trees:tree_error_bound", {"sharp": True}),
        ("trees:splits_for_error", {"sharp": True}),
        ("trees:leveraging_constant", {"sharp": False}),
        ("trees:ensemble_surrogate_bound", {"bound": 1.0, "slack": 0.0, "sharp": False}),
        ("trees:ensemble_condition", {"slack": 0.0, "sharp": False}),
        ("winnow:confident_updates", {"confidence": 0.5}),
        ("winnow:samples_for_agreement", {"confidence": 0.5}),
        ("winnow:disagreement", {"confidence": 0.5}),
        ("winnow:private_updates", {"confidence": 0.5}),
        ("winnow:theorem_4_5", {"confidence": 0.5}),
        ("winnow:batch_updates", {"confidence": 1 / 3, "least_share": 0.5}),
        ("winnow:batch_samples", {"confidence": 1 / 3}),
        ("winnow:batch_theorem", {"confidence": 1 / 3}),
        ("winnow:public_times_mistakes", {"unsure": 0.0}),
    ],
)
def test_what_is_meant_where_nothing_is_said(place: str, expected: dict[str, Any]) -> None:
    check_defaults("theory", place, expected)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("averaged_noise:LEVELS", 65_536),
        ("averaged_noise:BITS", 14),
        ("averaged_noise:REACH", 16_384.0),
        ("averaged_noise:DEVIATIONS", 9.0),
        ("averaged_noise:MOST_ROWS", 2.0),
        ("boosting:ADVANTAGE_CONSTANT", 0.7071067811865476),
        ("closure.bounds:MISTAKE_WEIGHT", 0.5),
        ("closure.formula:MOST_INPUTS", 16),
        ("closure.privacy:PAPER_RELABEL", 3.0),
        ("closure.samples:PAPER_RELABEL_EPSILON", 1.0),
        ("closure.threshold_search:MOST_WORK", 30_000_000_000),
        ("closure.threshold_search:MOST_STEPS", 1_000_000),
        ("em_cover:PAPER_LIMIT", 1.2564312086261695),
        ("em_cover:PENALTY", Shifts(-1.0, 0.0)),
        ("em_cover:GENERAL", Shifts(-1.0, 1.0)),
        ("generalisation:FAT_SHATTERING_SCALE", 16),
        ("generalisation:LEAST_PAC_BAYES_ROWS", 8),
        ("tree_rows:LARGEST_DEPTH", 64),
    ],
)
def test_how_far_things_may_go(place: str, value: Any) -> None:
    assert stated("theory", place) == value
