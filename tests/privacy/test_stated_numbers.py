"""What arguments are where nothing is said, and the limits of the room: numbers that a claim stands on."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.privacy.ledger import COMPLETED
from tacit.privacy.unit import Neighbouring
from tests.stated import check_defaults, stated

ADD = Neighbouring.ADD_OR_REMOVE_ONE


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("account:PrivacyAccount.create", {"neighbouring": ADD}),
        ("account:PrivacyAccount.reserve", {"unit": None, "timeless": False}),
        ("account:PrivacyAccount.kept", {"ended": False}),
        ("budget:Allowance", {"reach": 1.0}),
        ("certificate:Certificate", {"digest": "", "ledger_digest": "", "assumptions": ()}),
        ("certificate:Certificate.of", {"unverified": False}),
        ("charges:PrivacyLoss", {"infinity_mass": 0.0}),
        ("database:Database.write", {"consequence": "nothing was spent"}),
        ("promised_budget:EphemeralAccount", {"neighbouring": ADD}),
        ("kept_releases:KeptReservation.close", {"outcome": COMPLETED}),
        ("ledger:Reservation.record", {"kept": False}),
        ("ledger:Reservation.close", {"outcome": COMPLETED}),
        ("random_stopping:RandomStopping", {"shape": 1.0}),
        ("renyi:divergence", {"bounded": True}),
        ("renyi:renyi_epsilon", {"bounded": True}),
        ("renyi:renyi_delta", {"bounded": True}),
        ("spending:reserve", {"timeless": False}),
        ("spending:certified", {"schema": None, "unverified": False}),
        ("store:Store.create_account", {"unit": None}),
        ("store:Store.close", {"timeless": False}),
        ("strength:strength", {"advantage": None, "rows": None, "protected": "one row"}),
    ],
)
def test_what_is_meant_where_nothing_is_said(place: str, expected: dict[str, Any]) -> None:
    check_defaults("privacy", place, expected)


def test_what_private_rows_promise_where_nothing_is_said() -> None:
    usual = {"delta": 1e-6, "neighbouring": ADD, "account": None, "random_state": None}
    check_defaults("boosting", "sealed:private_rows", usual)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("accountants:SHARES", (0.02, 0.1, 0.5, 0.9)),
        ("calibration:MARGIN", 1e-12),
        ("verification:FORMAT_VERSION", 1),
        ("charges:MOST_TIMES", 9_007_199_254_740_991),
        ("composition:MOST", 1e12),
        ("coverage:TOLERANCE", 1e-9),
        ("coverage:MOST_USES", 16_777_216),
        ("database:HEAD", "2"),
        ("database:WAIT", 600.0),
        ("database:AGAIN", ("40001", "40P01")),
        ("database:LOCK", 499_850_111_348),
        ("gaussian:LEAST_EPSILON", 1e-9),
        ("gaussian:MOST_EPSILON", 1e9),
        ("gaussian:LEAST_DELTA", 1e-300),
        ("gaussian:FAR", 1e100),
        ("gaussian:ULPS", 8 * 2.220446049250313e-16),
        ("gaussian:SMALLEST_DELTA", 1e-290),
        ("gaussian:SMALL_SPAN", 4.0),
        ("gaussian:LARGEST_ARGUMENT", 26.0),
        ("gaussian:RANGE_ERROR", 1e-12),
        ("loss:MOST_CELLS", 524_288),
        ("loss:WIDEST", 1.0),
        ("loss:MOST_USES", 16_777_216),
        ("loss:CONVOLUTION_ERROR", 1e-14),
        ("loss:TAIL", 1e-15),
        ("random_stopping:MOST_RUNS", 1000.0),
        ("renyi:ROUNDING", 1.000000000001),
        ("strength:LEVELS", ((0.6, "strong"), (0.75, "moderate"), (0.999999999, "weak"))),
        ("strength:LARGE_DELTA", 1e-5),
        ("strength:LARGE_EPSILON", 10.0),
        ("unit:UNIT_OF_A_ROW", ("", 1)),
        ("verification:MOST_DELTA", 0.01),
        ("verification:AGREEMENT", 1e-6),
    ],
)
def test_how_far_things_may_go(place: str, value: Any) -> None:
    assert stated("privacy", place) == value
