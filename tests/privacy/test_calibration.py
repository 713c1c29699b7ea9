"""Calibration: never above the request, not far below, on the whole grid of requests."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.privacy.accountants import epsilon
from tacit.privacy.calibration import calibrate, gaussian_noise_multiplier
from tacit.privacy.charges import ZCDP, BoundedRange, Charge, Gaussian, Laplace, Pure, Repeated


@pytest.mark.parametrize("delta", np.geomspace(1e-12, 1e-2, 11))
def test_gaussian_noise_never_costs_more_than_the_request(delta: float) -> None:
    for request in np.geomspace(0.01, 50, 25):
        multiplier = gaussian_noise_multiplier(request, delta)
        cost = epsilon([Gaussian(multiplier)], delta)
        assert request * (1 - 1e-9) <= cost <= request
        assert epsilon([Gaussian(multiplier * (1 - 1e-9))], delta) > request
        split = [Gaussian(multiplier * math.sqrt(37))] * 37
        assert epsilon(split, delta) <= request


MIXES = {
    "gaussian": lambda z: [Gaussian(z)],
    "laplace": lambda z: [Repeated(Laplace(z), 20)],
    "zcdp": lambda z: [ZCDP(1 / z**2), Pure(0.001)],
    "trees": lambda z: [Repeated(BoundedRange(1 / z), 6), Gaussian(3 * z)],
}


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize(("request_epsilon", "delta"), [(0.05, 1e-6), (1.0, 1e-6), (20.0, 1e-9)])
def test_any_mixture_meets_the_request_closely(mix: str, request_epsilon: float, delta: float) -> None:
    z = calibrate(MIXES[mix], request_epsilon, delta)
    assert epsilon(MIXES[mix](z), delta) <= request_epsilon
    assert epsilon(MIXES[mix](z / 1.001), delta) > request_epsilon


def test_pure_requests_are_met_without_delta() -> None:
    z = calibrate(lambda z: [Repeated(Laplace(z), 4), BoundedRange(1 / z)], 1.0, 0.0)
    assert z == pytest.approx(5.0, rel=1e-5)
    assert epsilon([Repeated(Laplace(z), 4), BoundedRange(1 / z)], 0.0) <= 1.0


def test_few_evaluations_are_needed() -> None:
    calls: list[float] = []

    def charges(z: float) -> list[Charge]:
        calls.append(z)
        return [Repeated(BoundedRange(1 / z), 6), Gaussian(3 * z)]

    calibrate(charges, 1.0, 1e-6)
    assert len(calls) <= 14


def test_what_cannot_be_met_is_refused() -> None:
    with pytest.raises(ValueError, match="no amount of noise"):
        calibrate(lambda z: [Gaussian(z), Pure(2.0)], 1.0, 1e-6)
    with pytest.raises(ValueError, match="no amount of noise"):
        calibrate(lambda z: [Gaussian(z)], 1.0, 0.0)
    with pytest.raises(ValueError, match="without noise"):
        calibrate(lambda z: [Pure(0.5)], 1.0, 1e-6)
