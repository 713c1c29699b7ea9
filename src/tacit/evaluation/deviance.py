"""Tweedie's deviance of a count or a cost: what it is for a row, and how large it can be."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats

FLOOR = 2.0**-10
"""Means, and for a power of 2 targets too, count as at least this part of the upper bound: no deviance is infinite."""


def unit_deviance(targets: Floats, means: Floats, power: float, upper: float) -> Floats:
    """The deviance of every row, at least 0 (Jorgensen 1987), shape ``(rows,)``; targets are at most ``upper``.

    ``2 (t log(t / mu) - t + mu)`` for a power of 1 (Poisson), ``2 (t / mu - 1 - log(t / mu))`` for 2 (Gamma), and
    between them ``2 (t**(2 - p) / ((1 - p) (2 - p)) - t mu**(1 - p) / (1 - p) + mu**(2 - p) / (2 - p))``.
    """
    least = FLOOR * upper
    t, mu = np.maximum(targets, 0.0), np.maximum(means, least)
    if power == 1:
        found = t * np.log(np.maximum(t, 1e-300) / mu) - t + mu
    elif power == 2:
        t = np.maximum(t, least)
        found = t / mu - 1.0 - np.log(t / mu)
    else:
        p, q = power - 1.0, 2.0 - power
        found = mu**q / q + t * mu**-p / p - t**q / (p * q)
    return np.asarray(np.maximum(2.0 * found, 0.0))


def largest_deviance(power: float, lower: float, upper: float) -> float:
    """The largest deviance between public bounds: it grows away from ``t = mu``, so at a corner."""
    corners = np.array([max(lower, 0.0), upper])
    return float(unit_deviance(corners, corners[::-1], power, upper).max())
