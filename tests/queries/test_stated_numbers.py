"""What arguments are where nothing is said, and the limits of the room: numbers that sensitivities stand on."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.queries.covers.charges import Accounting
from tests.stated import check_defaults, stated


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("covers.charges:cover_charge", {"accounting": Accounting.MOMENTS, "delta": 0.0, "rows_per_unit": 1}),
        ("covers.charges:moments_charge", {"replace": False}),
        ("covers.charges:curve_charge", {"replace": False}),
        ("covers.charges:exact_charge", {"replace": False}),
        ("covers.charges:ranges_charge", {"rows_per_unit": 1}),
        ("covers.cover:Cover", {"constant_last": False}),
        ("covers.cover:CoverStep", {"ending": False}),
        ("covers.cover:ScoredStep", {"ending": False}),
        ("covers.cover:widest_shifts", {"rules": ()}),
        ("dense.vector_sum:capped_scaling", {"bits": 10}),
        ("dense.vector_sum:CappedSum", {"bits": 10}),
        ("dense.halfspace_log:Levels", {"count": 4096}),
        ("dense.halfspace_log:Levels.covering", {"count": 4096}),
        ("dense.halfspace_log:HalfspaceLog", {"radius": 32_767}),
        ("dense.halfspace_log:HalfspaceLog.add", {"step": 1.0}),
        ("histogram:ReleaseMap.from_floats", {"unit": 4096}),
        ("margins:Margins", {"reach": 0}),
        ("margins:Scores", {"reach": 0}),
        ("query:Layout", {"n_dense": 0}),
        ("score_rules:SoftmaxRule", {"norm": 2, "curvature": 0}),
        ("score_rules:ResidualRule", {"curvature": 0, "link": None, "weighted_first": False}),
        ("selection:Selection", {"replaced": None, "holds_for_lighter_rows": False}),
        ("tree_cells:logistic_gradient_rule", {"variance": False}),
    ],
)
def test_what_is_meant_where_nothing_is_said(place: str, expected: dict[str, Any]) -> None:
    check_defaults("queries", place, expected)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("covers.candidates:MOST_RULES", 4_194_303),
        ("covers.candidates:MOST_STREAMED", 134_217_728),
        ("covers.charges:LOSS_STEPS", 16),
        ("covers.charges:LOSS_TAIL", 40.0),
        ("dense.vector_sum:TICKS", 16_384),
        ("dense.vector_sum:WEIGHT_BITS", 10),
        ("dense.halfspace_log:N_LEVELS", 4096),
        ("dense.halfspace_log:RADIUS_16", 32_767),
        ("dense.halfspace_log:RADIUS_32", 4_194_304),
        ("dense.halfspace_log:VECTOR_NORM", 32_767),
        ("dense.halfspace_log:MULTIPLIER_BITS", 24),
        ("dense.halfspace_log:DENSE_COUNT_UNIT", 1024),
        ("dense.moments:SQUARE_BITS", 30),
        ("dense.moments:MULTIPLIER_BITS", 30),
        ("dense.vector_sum:WEIGHT_LIMIT", 32_768),
        ("joint_bound:FINE", 16),
        ("joint_bound:SLIGHTLY", 1e-12),
        ("keys:KEY_UNIT", 64),
        ("score_rules:MEAN_BITS", 20),
        ("score_rules:FACTOR_BITS", 16),
        ("score_rules:SHARE_BITS", 15),
        ("score_rules:LARGEST_TARGET", 134_217_728),
        ("score_rules:LARGEST_MEAN", 4_194_304),
        ("margins:MARGIN_LIMIT", 2_147_483_647),
        ("margins:SCORE_LIMIT", 1_073_741_823),
        ("rules:MARGIN_BITS", 16),
        ("rules:LEVEL_BITS", 7),
        ("rules:LEVELS", 2048),
        ("rules:WEIGHT_UNIT", 32_768),
        ("rules:COUNT_UNIT", 64),
        ("score_rules:EXP_BITS", 30),
        ("score_rules:TARGET_BITS", 24),
        ("score_rules:LOWEST_OFFSET", -4_294_967_296),
        ("score_rules:LARGEST_BOUND", 4_194_304),
        ("tree_cells:HESSIAN_IS_FREE", 11.09),
    ],
)
def test_how_far_things_may_go(place: str, value: Any) -> None:
    assert stated("queries", place) == value
