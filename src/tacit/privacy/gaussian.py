"""The Gaussian trade-off in closed form: delta, epsilon and the noise that meets both.

All functions speak of ``mu``, sensitivity over standard deviation: ``mu = 1 / noise_multiplier``. Results are rounded
in the direction that keeps the claim true.

Source: Balle, Wang 2018, Theorem 8; Dong, Roth, Su 2022, Corollary 2.13. What a bounded range is in Gaussian terms is
proved in ``docs/theory/bounded_range.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

ULPS = 8.0 * 2.0**-52
"""Relative error granted to each factor below: the library functions are good to a few units in the last place."""

SMALLEST_DELTA = 1e-290  # below this the density underflows, and a tail bound answers instead of the exact formula

SMALL_SPAN = 4.0
"""Ranges below this are converted by way of the centre of the normal distribution, larger ones by way of its tail."""

LEAST_EPSILON, MOST_EPSILON = 1e-9, 1e9
"""Beyond these noise is larger than integers hold, or smaller than numbers tell apart."""

LEAST_DELTA = 1e-300
"""A smaller one that is not zero would be zero in parts."""

FAR = 1e100
"""Beyond it, or below its inverse, the square of an epsilon is no double."""

LARGEST_ARGUMENT = 26.0  # of `erfc`, before it underflows
RANGE_ERROR = 1e-12  # relative error granted to a conversion between a range and a Gaussian


def _mills(x: float) -> float:
    """The Mills ratio of the standard normal, ``P(N > x) / density(x)``, for ``x >= 0``."""
    from scipy.special import erfcx  # loading it takes as long as all of ``import tacit`` may

    return math.sqrt(math.pi / 2) * float(erfcx(x / math.sqrt(2)))


def _upper_tail(x: float) -> float:
    """``P(N > x)`` for a standard normal ``N``."""
    return math.erfc(x / math.sqrt(2)) / 2


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The delta of a ``mu``-Gaussian mechanism at ``epsilon >= 0``, rounded up.

    ``delta = P(N > a) - e^epsilon P(N > b)`` with ``a, b = epsilon / mu -+ mu / 2``. Because ``e^epsilon`` times the
    density at ``b`` is the density at ``a``, this is that density times a difference of Mills ratios: no overflow.
    """
    if mu == 0:
        return 0.0
    if math.isinf(mu):
        return 1.0
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if math.isinf(b):
        return 0.0 if epsilon > mu * mu / 2 else 1.0
    density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    subtracted = density * _mills(b)
    whole = _upper_tail(a) if a < 0 else density * _mills(a)
    error = ULPS * (whole + subtracted) * (1 + abs(a) * b)  # an error of one part in a moves the density by a * b parts
    return min(1.0, whole - subtracted + error)


def smallest_true(test: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest point of ``[low, high]``, to the last digits, where a monotone ``test`` holds; it holds at ``high``.

    It holds at the returned point too: rounding can make that a little too large, never too small.
    """
    while high - low > 1e-15 * high + 1e-300:
        middle = low + (high - low) / 2
        if test(middle):
            high = middle
        else:
            low = middle
    return high


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon at which a ``mu``-Gaussian mechanism has this ``delta``, rounded up; ``inf`` at zero."""
    if mu == 0:
        return 0.0
    if delta <= 0 or math.isinf(mu):
        return math.inf
    # P(loss > epsilon) = Phi(mu / 2 - epsilon / mu) <= exp(-(epsilon / mu - mu / 2)**2 / 2) bounds delta from above.
    bound = (mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta))) * (1 + 1e-12)
    if delta < SMALLEST_DELTA or gaussian_delta(mu, bound) > delta:
        return bound
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    return smallest_true(lambda epsilon: gaussian_delta(mu, epsilon) <= delta, 0.0, bound)


def beyond(epsilon: float, delta: float) -> list[str]:
    """What is wrong with a positive epsilon and a delta in [0, 1) that somebody asks for."""
    wrong = []
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON and not math.isinf(epsilon):
        span = f"{LEAST_EPSILON:g} and {MOST_EPSILON:g}"
        wrong.append(f"epsilon must lie between {span} (inf asks for no privacy), got {epsilon:g}")
    if 0 < delta < LEAST_DELTA:
        wrong.append(f"delta must be 0, or at least {LEAST_DELTA:g}, got {delta:g}")
    return wrong


def check_far(epsilon: float) -> None:
    """Raises ``ValueError`` for an epsilon whose square is no double."""
    if not 1 / FAR <= epsilon <= FAR:
        raise ValueError(f"epsilon must lie between {1 / FAR:g} and {FAR:g} to compute noise for it, got {epsilon!r}")


def smallest_gaussian_multiplier(epsilon: float, delta: float) -> float:
    """The smallest noise multiplier whose delta at ``epsilon`` is at most ``delta``, rounded up.

    Raises ``ValueError`` if epsilon is so small or so large that doubles do not hold its square.
    """
    if epsilon:
        check_far(epsilon)

    def enough(multiplier: float) -> bool:
        return gaussian_delta(1 / multiplier, epsilon) <= delta

    high = 1 / math.sqrt(2 * (epsilon + 1))
    while not enough(high):
        high *= 2
    low = high / 2
    while enough(low):
        high, low = low, low / 2
    return smallest_true(enough, low, high)


def gaussian_of_range(span: float) -> float:
    """The ``mu`` of Gaussian privacy that a mechanism of bounded range ``span`` has, rounded up.

    ``2 q`` with ``P(N <= q) = 1 / (1 + exp(-span / 2))``; about ``.627 span`` for small spans.
    """
    from scipy.special import erfinv, ndtri_exp  # see _mills

    if span < SMALL_SPAN:
        half = math.sqrt(2) * float(erfinv(math.tanh(span / 4)))
    else:  # the quantile of an upper tail that is known by its logarithm
        half = -float(ndtri_exp(-span / 2 - math.log1p(math.exp(-span / 2))))
    return 2 * half * (1 + RANGE_ERROR)


def range_of_gaussian(mu: float) -> float:
    """The largest bounded range whose Gaussian privacy is at most ``mu``, rounded down; finite whatever ``mu`` is."""
    x = min(mu / math.sqrt(8), LARGEST_ARGUMENT)
    span = 4 * math.atanh(math.erf(x)) if x < 1 else 2 * math.log((2 - math.erfc(x)) / math.erfc(x))
    return span * (1 - RANGE_ERROR)
