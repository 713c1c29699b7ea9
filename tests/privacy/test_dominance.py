"""Exact distributions of small mechanisms against what they are charged, and searches that find a charge too low."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.privacy.accountants import delta
from tacit.privacy.charges import BoundedRange, Charge, Gaussian, Laplace, Pure, Repeated
from tacit.privacy.gaussian import gaussian_delta, gaussian_epsilon
from tests.privacy.test_accountants import hockey_stick


def integer_gaussian_delta(scale: float, shift: int, at: float) -> float:
    """The exact delta of integer Gaussian noise: losses are ``shift (2 k - shift) / (2 scale^2)``; no cancellation."""
    k = np.arange(-int(60 * scale), int(60 * scale) + shift + 1, dtype=np.float64)
    masses = np.exp(-((k - shift) ** 2) / (2 * scale**2))
    masses /= masses.sum()
    return hockey_stick(shift * (2 * k - shift) / (2 * scale**2), masses, at)


def worst_ratio(scale: float, shift: int, multiplier: float) -> float:
    """The largest ratio of the exact delta to the charged one, over epsilons whose charged delta is above 1e-200."""
    grid = np.linspace(0, gaussian_epsilon(1 / multiplier, 1e-200), 301)
    return max(integer_gaussian_delta(scale, shift, at) / gaussian_delta(1 / multiplier, at) for at in grid)


SCALES = [3.05, 3.2, 3.5, 4.0, 5.0, 7.0, 10.0, 14.0, 20.0]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("shift", [1, 2, 3, 4, 5])
def test_integer_gaussian_noise_costs_at_most_its_charge(scale: float, shift: int) -> None:
    assert worst_ratio(scale, shift, math.sqrt(scale**2 - 9) / shift) <= 1 + 1e-9


def test_the_search_finds_the_continuous_charge_too_low() -> None:
    """The charge of continuous noise is broken by integer noise, and so is a multiplier 10 % above the safe one."""
    assert worst_ratio(2.0, 1, 2.0) > 1.46
    assert worst_ratio(3.2, 5, 3.2 / 5) > 1.46
    assert worst_ratio(20.0, 1, 1.1 * math.sqrt(20.0**2 - 9)) > 1.1


def integer_laplace(scale: float, shift: int) -> tuple[np.ndarray, np.ndarray]:
    k = np.arange(-int(60 * scale), int(60 * scale) + shift + 1, dtype=np.float64)
    masses = np.exp(-np.abs(k) / scale)
    return (np.abs(k - shift) - np.abs(k)) / scale, masses / masses.sum()


def continuous_laplace_delta(epsilon: float, at: float) -> float:
    """Delta of continuous Laplace noise, 0 <= at <= epsilon."""
    return max(0.0, -math.expm1((at - epsilon) / 2))


@pytest.mark.parametrize("shift", [1, 2, 3, 10])
@pytest.mark.parametrize("scale", [0.7, 2.0, 9.0])
def test_integer_laplace_noise_costs_at_most_its_charge(scale: float, shift: int) -> None:
    losses, masses = integer_laplace(scale, shift)
    pair = (losses[:, None] + losses[None, :]).ravel(), (masses[:, None] * masses[None, :]).ravel()
    charge = Laplace(scale / shift)
    for at in np.linspace(0, 1.99 * shift / scale, 12):
        assert hockey_stick(losses, masses, at) <= delta([charge], at) * (1 + 1e-6) + 1e-12
        assert hockey_stick(*pair, at) <= delta([charge, charge], at) * (1 + 1e-6) + 1e-12


def test_integer_laplace_noise_breaks_the_continuous_charge() -> None:
    """Why a Laplace charge counts as randomised response: at sensitivity 1 integer noise is exactly that."""
    losses, masses = integer_laplace(2.0, 1)
    assert hockey_stick(losses, masses, 0.0) > 1.1 * continuous_laplace_delta(0.5, 0.0)
    assert hockey_stick(losses, masses, 0.2) == pytest.approx(delta([Pure(0.5)], 0.2), rel=1e-6)


def adaptive_range_delta(spans: tuple[float, ...], at: float, points: int = 41) -> float:
    """The largest delta of a sequence of bounded-range mechanisms whose asymmetries depend on what came before.

    Each step takes two values, ``t`` and ``t - span``; the adversary picks ``t`` after seeing the losses so far.
    """
    if not spans:
        return max(0.0, -math.expm1(at))
    span, rest = spans[0], spans[1:]
    if at >= sum(spans):
        return 0.0
    best = 0.0
    for t in np.linspace(0, span, points):
        up = (math.exp(span) - math.exp(t)) / math.expm1(span)
        value = up * adaptive_range_delta(rest, at - t, points)
        value += (1 - up) * adaptive_range_delta(rest, at - t + span, points)
        best = max(best, value)
    return best


@pytest.mark.parametrize("spans", [(1.0,), (0.5, 0.5), (0.2, 0.2, 0.2), (1.5, 0.3)])
def test_bounded_range_against_an_adaptive_adversary(spans: tuple[float, ...]) -> None:
    points = 21 if len(spans) > 2 else 61
    charges: list[Charge] = [BoundedRange(span) for span in spans]
    low: list[Charge] = [BoundedRange(0.9 * span) for span in spans]
    result = False
    for at in np.linspace(0, 0.9 * sum(spans), 6):
        exact = adaptive_range_delta(spans, at, points)
        assert exact <= delta(charges, at) * (1 + 1e-6) + 1e-12
        result |= exact > delta(low, at) * 1.01 + 1e-12
    assert result, "the search does not find a range stated 10 % too small"
    if len(spans) == 1:
        assert adaptive_range_delta(spans, 0.3, 2001) >= 0.99 * delta(charges, 0.3)


def test_exponential_mechanisms_stay_within_their_range() -> None:
    """Random scores, moved by one row in one direction by at most 1: exact probabilities against the charge."""
    rng = np.random.default_rng(0)
    strength, worst = 0.8, 0.0
    charged = {at: delta([BoundedRange(strength)], at) for at in (0.0, 0.2, 0.5)}
    for _ in range(3000):
        scores = rng.integers(0, 6, size=rng.integers(2, 6)).astype(float)
        moved = scores + rng.integers(0, 2, size=len(scores))
        p, q = np.exp(strength * scores), np.exp(strength * moved)
        p, q = p / p.sum(), q / q.sum()
        for first, second in ((p, q), (q, p)):
            for at, allowed in charged.items():
                exact = float(np.maximum(0.0, first - math.exp(at) * second).sum())
                assert exact <= allowed + 1e-12
                worst = max(worst, exact / allowed)
    assert worst > 0.9


def test_many_bounded_ranges_cost_less_than_many_pure() -> None:
    assert delta([Repeated(BoundedRange(0.1), 50)], 1.0) < delta([Repeated(Pure(0.1), 50)], 1.0) / 10
    assert delta([Repeated(BoundedRange(0.1), 50)], 1.0) > delta([Repeated(Gaussian(20.0), 50)], 1.0) / 10
