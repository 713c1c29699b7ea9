"""The Gaussian formula against arbitrary precision: close, and never below the truth."""

from __future__ import annotations

from statistics import NormalDist

import dp_accounting
import mpmath
import pytest

from tacit.privacy.gaussian import gaussian_delta, gaussian_epsilon, smallest_gaussian_multiplier

MUS = [1e-6, 1e-3, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 30.0, 1000.0]


def exact_delta(mu: float, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@pytest.mark.parametrize("mu", MUS)
def test_delta_is_right_and_never_below_the_truth(mu: float) -> None:
    checked = 0
    for epsilon in (0.0, 1e-9, 1e-4, 0.01, 0.1, 1.0, 5.0, 100.0, 5000.0, mu * mu / 2, mu * mu / 2 + 6 * mu):
        exact = exact_delta(mu, epsilon)
        if exact < mpmath.mpf("1e-280"):
            continue
        checked += 1
        ratio = float(gaussian_delta(mu, epsilon) / exact)
        assert 1.0 <= ratio < 1.0 + 1e-6, (mu, epsilon, ratio)
    assert checked >= 4


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("delta", [1e-300, 1e-30, 1e-12, 1e-6, 1e-2])
def test_epsilon_never_claims_too_much_privacy(mu: float, delta: float) -> None:
    epsilon = gaussian_epsilon(mu, delta)
    assert exact_delta(mu, epsilon) <= mpmath.mpf(delta)
    if epsilon > 0 and delta >= 1e-280:
        with mpmath.workdps(60):
            assert exact_delta(mu, epsilon * (1 - 1e-5)) > mpmath.mpf(delta)  # and not too little either


def test_agrees_with_dp_accounting() -> None:
    for multiplier in (0.3, 1.0, 5.0):
        expected = dp_accounting.get_epsilon_gaussian(multiplier, 1e-6)
        assert gaussian_epsilon(1 / multiplier, 1e-6) == pytest.approx(expected, rel=1e-9)
    assert smallest_gaussian_multiplier(1.0, 1e-6) == pytest.approx(
        dp_accounting.get_sigma_gaussian(1.0, 1e-6), rel=1e-9
    )


@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.3])
def test_the_multiplier_at_epsilon_0_by_its_closed_form(delta: float) -> None:
    """At epsilon 0 delta is the total variation of two normal laws one apart: ``2 Phi(1 / (2 s)) - 1``."""
    result = smallest_gaussian_multiplier(0.0, delta)
    assert result == pytest.approx(1 / (2 * NormalDist().inv_cdf((1 + delta) / 2)), rel=1e-6)
    assert gaussian_delta(1 / result, 0.0) <= delta
