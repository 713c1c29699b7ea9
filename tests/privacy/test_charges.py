"""What a charge may say of itself: both sides of every border."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from tacit.privacy.charges import (
    MOST_TIMES,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Charge,
    Gaussian,
    Laplace,
    PrivacyLoss,
    Pure,
    Renyi,
    Repeated,
)

ONE = Pure(1.0)
TINY = 5e-324
HALVES = (0.5, 0.5)


@pytest.mark.parametrize(
    ("kind", "facts"),
    [
        (Gaussian, (0.0,)), (Gaussian, (-1.0,)), (Laplace, (0.0,)), (Laplace, (-1.0,)),
        (Gaussian, (1e200,)), (Laplace, (math.inf,)),  # would seem to be free
        (BoundedRange, (-TINY,)), (Pure, (-TINY,)), (ZCDP, (-TINY,)),
        (Renyi, ((2.0, 3.0), (0.1,))), (Renyi, ((2.0,), (0.1, 0.1))), (Renyi, ((), ())),
        (Renyi, ((1.0,), (0.1,))), (Renyi, ((math.inf,), (0.1,))), (Renyi, ((2.0, 1.0), (0.1, 0.1))),
        (Renyi, ((2.0, 3.0), (0.1, -TINY))),
        (PrivacyLoss, ((0.0, 0.0), (1.0,))), (PrivacyLoss, ((0.0,), HALVES)), (PrivacyLoss, ((), (), 1.0)),
        (PrivacyLoss, ((0.0, 0.0), (1.5, -0.5))), (PrivacyLoss, ((0.0,), (1.1,), -0.1)),
        (PrivacyLoss, ((0.0, math.inf), HALVES)), (PrivacyLoss, ((0.0, 0.0), (0.5, 0.5 - 2e-9))),
        (PrivacyLoss, ((0.0, 0.0), (0.5, 0.5 + 2e-9))), (PrivacyLoss, ((0.0, -3e-9), (0.0, 1.0))),
        (PrivacyLoss, ((-1.0, 0.5), HALVES)),
        (ApproxDP, (-TINY, 0.0)), (ApproxDP, (1.0, 1.0)), (ApproxDP, (1.0, -TINY)),
        (Repeated, (ONE, 0)), (Repeated, (ONE, -1)), (Repeated, (ONE, 1.5)), (Repeated, (ONE, True)),
        (Repeated, (ONE, MOST_TIMES + 1)), (Repeated, (1.0, 2)),
    ],
)  # fmt: skip
def test_a_charge_that_is_none_is_refused(kind: Callable[..., Charge], facts: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"must|no noise is so large|no pair of distributions|losses"):
        kind(*facts)


@pytest.mark.parametrize(
    ("kind", "facts"),
    [
        (Gaussian, (1e-9,)), (Laplace, (1e-9,)), (BoundedRange, (0.0,)), (Pure, (0.0,)), (ZCDP, (0.0,)),
        (Renyi, ((1.0 + 1e-12,), (0.0,))), (Renyi, ((2.0,), (math.inf,))),
        (PrivacyLoss, ((0.0,), (1.0,))), (PrivacyLoss, ((0.0, 1.0), (0.0, 0.0), 1.0)),
        (PrivacyLoss, ((0.0, 0.0), (0.5, 0.5 + 5e-10))), (PrivacyLoss, ((0.0, -5e-10), (0.0, 1.0))),
        (ApproxDP, (0.0, 0.0)), (ApproxDP, (1.0, math.nextafter(1.0, 0.0))),
        (Repeated, (ONE, 1)), (Repeated, (ONE, MOST_TIMES)),
    ],
)  # fmt: skip
def test_a_charge_at_the_border_is_one(kind: Callable[..., Charge], facts: tuple[Any, ...]) -> None:
    assert isinstance(kind(*facts), Charge)
