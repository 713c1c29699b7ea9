"""Renyi divergences of charges, and what they say about epsilon and delta.

Renyi divergences add up under fully adaptive composition. The divergence of order ``alpha`` is written ``D(alpha)``;
the conversions are Proposition 12 of Canonne, Kamath, Steinke 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tacit.arrays import Floats
from tacit.privacy.charges import PrivacyLoss, Renyi
from tacit.privacy.composition import Parts

COARSE = 1.0 + np.geomspace(1e-2, 1e7, 160)  # orders that are tried first; a finer grid follows around the best
ROUNDING = 1 + 1e-12  # every result is enlarged by this much


def pure_divergence(epsilon: float, orders: Floats) -> Floats:
    """Randomised response with parameter ``epsilon``: the largest divergence a pure mechanism can have.

    ``(alpha - 1) D = log(cosh((alpha - 1/2) epsilon) / cosh(epsilon / 2))``, written so that nothing cancels where it
    is small and nothing overflows where it is large (Mironov 2017, Proposition 6).
    """
    upper = np.minimum(orders * epsilon / 2, 300.0)
    lower = np.minimum((orders - 1) * epsilon / 2, 300.0)
    small = np.log1p(2 * np.sinh(upper) * np.sinh(lower) / math.cosh(min(epsilon / 2, 300.0))) / (orders - 1)
    large = epsilon - math.log1p(math.exp(-epsilon)) / (orders - 1) * (1 - 1e-12)
    return np.where(orders * epsilon < 100, small, np.minimum(large, epsilon))


def range_divergence(span: float, orders: Floats) -> Floats:
    """The largest divergence a mechanism of bounded range ``span`` can have.

    At most ``alpha span**2 / 8`` (Cesar, Rogers 2021). For larger ranges the exact maximum is smaller: losses lie in
    ``[t - span, t]`` for some ``0 <= t <= span``, moments are largest on the two ends, where
    ``exp((alpha - 1) D) = s**(alpha - 1) (A - B s)`` with ``s = e^t``, whose largest value in ``s`` is elementary.
    """
    quadratic = orders * span * span / 8
    if span < 0.05 or span > 300:  # no gain, and cancellation below; above, the range itself is the better bound
        return np.minimum(quadratic, span)
    power = orders - 1
    b = -np.expm1(-power * span) / math.expm1(span)
    a = b * math.exp(span) + np.exp(-power * span)
    s = np.clip(power * a / (orders * b), 1.0, math.exp(span))
    rest = np.maximum(a - b * s, np.exp(-power * span))
    exact = np.log(s) + np.log(rest) / power
    return np.minimum(np.minimum(quadratic, span), exact * ROUNDING)


def curve_divergence(charge: Renyi, orders: Floats) -> Floats:
    """A curve given on a grid: ``(alpha - 1) D(alpha)`` is convex and 0 at 1, so chords bound it; infinite beyond."""
    curve_orders, values = np.asarray(charge.orders), np.asarray(charge.divergences)
    rank = np.argsort(curve_orders)
    curve_orders, values = curve_orders[rank], values[rank]
    ends = np.append(0.0, (curve_orders - 1) * values)
    with np.errstate(invalid="ignore"):
        chords = np.nan_to_num(
            np.interp(orders, np.append(1.0, curve_orders), ends, right=math.inf), nan=math.inf, posinf=math.inf
        )
    above = np.minimum.accumulate(values[::-1])[::-1]  # D grows with the order, so a value bounds all before it
    steps = np.append(above, math.inf)[np.searchsorted(curve_orders, orders)]
    bound: Floats = np.minimum(chords / (orders - 1), steps)
    return bound


def loss_divergence(charge: PrivacyLoss, orders: Floats) -> Floats:
    """The divergence of a privacy-loss distribution: ``(alpha - 1) D = log E exp((alpha - 1) loss)``.

    Moments are taken relative to the largest loss that occurs: relative to one that does not, all would be 0 in floats.
    """
    if charge.infinity_mass > 0:
        return np.full(len(orders), math.inf)
    occurs = np.asarray(charge.probabilities) > 0
    losses, probabilities = np.asarray(charge.losses)[occurs], np.asarray(charge.probabilities)[occurs]
    top = losses.max()
    moments = np.array([probabilities @ np.exp(power * (losses - top)) for power in orders - 1])
    bound: Floats = np.maximum(top + np.log(moments) / (orders - 1), 0.0)
    return bound


def divergence(parts: Parts, orders: Floats, bounded: bool = True) -> Floats:
    """The divergence of the composition at each order, shape ``(orders,)`` like those of its parts above.

    The (epsilon, delta) charges have none and are left out; so are the pure and bounded-range parts unless ``bounded``.
    """
    total: Floats = orders * (parts.precision / 2 + parts.rho)
    for curve, times in parts.renyi:
        total = total + times * curve_divergence(curve, orders)
    for loss, times in parts.losses:
        total = total + times * loss_divergence(loss, orders)
    if bounded:
        for epsilon, times in parts.pure:
            total = total + times * pure_divergence(epsilon, orders)
        for span, times in parts.ranges:
            total = total + times * range_divergence(span, orders)
    return total


def _best_order(objective: Callable[[Floats], Floats], extra: list[float]) -> float:
    """The smallest value of ``objective`` over a coarse grid, the given orders, and a fine grid around the best.

    An order at which it is no number proves nothing, and is never the best.
    """

    def proved(orders: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return np.nan_to_num(objective(orders), nan=math.inf, posinf=math.inf, neginf=-math.inf)

    orders = np.unique(np.append(COARSE, extra))
    values = proved(orders)
    best = int(np.argmin(values))
    left, right = orders[max(best - 1, 0)], orders[min(best + 1, len(orders) - 1)]
    return float(min(values[best], proved(np.linspace(left, right, 65)).min()))


def _orders(parts: Parts) -> list[float]:
    return [order for curve, _ in parts.renyi for order in curve.orders]


def renyi_epsilon(parts: Parts, delta: float, bounded: bool = True) -> float:
    """The epsilon at ``delta > 0`` that the Renyi divergences prove; ``inf`` if none."""

    def objective(orders: Floats) -> Floats:
        loss = divergence(parts, orders, bounded)
        epsilon = loss + np.log1p(-1 / orders) - (math.log(delta) + np.log(orders)) / (orders - 1)
        # Total variation is at most sqrt(1 - exp(-KL)) (Bretagnolle, Huber 1979): below delta, epsilon is 0.
        return np.where(-np.expm1(-loss) < delta * delta, 0.0, epsilon)

    return max(0.0, _best_order(objective, _orders(parts)) * ROUNDING)


def renyi_delta(parts: Parts, epsilon: float, bounded: bool = True) -> float:
    """The delta at ``epsilon`` that the Renyi divergences prove; at most 1."""

    def objective(orders: Floats) -> Floats:
        loss = divergence(parts, orders, bounded)
        moment = (orders - 1) * (loss - epsilon + np.log1p(-1 / orders)) - np.log(orders)
        with np.errstate(divide="ignore"):
            variation = np.log(-np.expm1(-loss)) / 2
        return np.minimum(moment, variation)

    return min(1.0, math.exp(min(0.0, _best_order(objective, _orders(parts)))) * ROUNDING)
