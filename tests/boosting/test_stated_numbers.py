"""What arguments are where nothing is said."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.privacy.neighbouring import Neighbouring
from tests.stated import check_defaults


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("game:Pythia", {"releasable": False}),
        ("game:Play", {"releasable": False}),
        ("game:Diagnosis", {"releasable": False}),
        ("measures.logistic:LogisticMeasure", {"step": 1.0}),
        ("measures.smooth:SmoothMeasure", {"margin": None}),
        ("sealed:private_rows", {"delta": 1e-6, "neighbouring": Neighbouring.ADD_OR_REMOVE_ONE}),
        ("sealed:private_rows", {"account": None, "random_state": None}),
        ("schema:Ensemble", {"stopped": False}),
        ("schema:boost", {"stop": None}),
        ("stopping:EndTest", {"surplus": 0.0}),
    ],
)
def test_what_is_meant_where_nothing_is_said(place: str, expected: dict[str, Any]) -> None:
    check_defaults("boosting", place, expected)
