"""Calibration: the least noise that meets a request, never a cost above it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from tacit.privacy import accountants
from tacit.privacy.charges import Charge
from tacit.privacy.composition import Sums
from tacit.privacy.gaussian import gaussian_epsilon, smallest_gaussian_multiplier

MARGIN = 1e-12
"""Relative surplus of Gaussian noise: room for the rounding of a caller who splits the precision and adds it up."""

WIDENINGS = 40  # how often a bracket is widened before the request counts as impossible


def _check_request(epsilon: float, delta: float) -> None:
    accountants.check_delta(delta)
    if not (epsilon > 0 and math.isfinite(epsilon)):
        raise ValueError(f"epsilon must be positive and finite to calibrate noise for it, got {epsilon}")


@lru_cache(maxsize=256)
def gaussian_noise_multiplier(epsilon: float, delta: float) -> float:
    """The smallest noise multiplier of a Gaussian mechanism that costs at most (epsilon, delta).

    ``T`` releases of multiplier ``sqrt(T)`` times this cost the same together. Exact (Balle, Wang 2018, Theorem 8) up
    to one part in 10**12, rounded up. Raises ``ValueError`` unless epsilon is positive and finite, and delta in (0,
    1).
    """
    _check_request(epsilon, delta)
    if delta == 0:
        raise ValueError("Gaussian noise has no finite epsilon at delta=0; use Laplace noise, or a positive delta")
    multiplier = smallest_gaussian_multiplier(epsilon, delta)
    surplus = MARGIN
    while True:
        rounded_up = multiplier * (1 + surplus)
        if gaussian_epsilon(1 / rounded_up, delta) <= epsilon:
            return rounded_up
        surplus *= 2


Point = tuple[float, float]
"""A parameter and the logarithm of cost over request there: nearly linear in the logarithm of the parameter."""


def _bracket(excess: Callable[[float], float], start: float) -> tuple[Point, Point]:
    """Two points, the first too expensive, the second not, close together if the cost is a power of the parameter."""
    point, growth = (start, excess(start)), 1.1
    for _ in range(WIDENINGS):
        jump = min(growth * math.exp(min(abs(point[1]), 20.0)), 1024.0)
        growth = min(growth * growth, 1024.0)  # where part of the cost is fixed, steps by the power alone would stall
        parameter = point[0] * jump if point[1] > 0 else point[0] / jump
        following = (parameter, excess(parameter))
        if (point[1] > 0) != (following[1] > 0):
            return (point, following) if point[1] > 0 else (following, point)
        point = following
    if point[1] > 0:
        raise ValueError("no amount of noise meets the request: does every charge get cheaper as the parameter grows?")
    raise ValueError("the request is met without noise: the charges do not depend on the parameter")


def _narrow(excess: Callable[[float], float], low: Point, high: Point, tolerance: float) -> float:
    """The second end of the bracket once it is as narrow as wanted: the secant rule, on alternating sides."""
    safe = True
    for step in range(200):
        width = math.log(high[0] / low[0])
        if width <= tolerance:
            break
        slope = high[1] - low[1]
        if math.isfinite(slope) and slope < 0 and step % 4 < 3:
            share = -low[1] / slope + (tolerance if safe else -tolerance) / 3 / width
        else:
            share = 0.5
        parameter = low[0] * (high[0] / low[0]) ** min(max(share, 1e-9), 1 - 1e-9)
        point = (parameter, excess(parameter))
        if point[1] > 0:
            low, safe = point, True
        else:
            high, safe = point, False
    return high[0]


def calibrate(
    charges_at: Callable[[float], Sequence[Charge] | Sums],
    epsilon: float,
    delta: float,
    *,
    start: float = 1.0,
    tolerance: float = 1e-6,
) -> float:
    """The smallest noise parameter whose charges, which do not grow with it, cost at most (epsilon, delta) together.

    A good first guess ``start`` saves time where accountants are slow; the result may lie above the smallest by
    ``tolerance``, relatively, and its cost is never above the request. Raises ``ValueError`` if the request is out of
    range, or no parameter meets it.
    """
    _check_request(epsilon, delta)

    def excess(parameter: float) -> float:
        cost = accountants.epsilon(charges_at(parameter), delta)
        return math.log(cost / epsilon) if cost > 0 else -math.inf

    low, high = _bracket(excess, start)
    return _narrow(excess, low, high, tolerance)
