"""What a log link makes of a score: the mean of a count or a cost."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats

POWERS = ("poisson", "gamma", "tweedie")
"""Losses with a log link."""

LARGEST = 300.0
"""The exponential of no score overflows."""


def power_of(loss: str, power: float) -> float | None:
    """The power of the variance of a loss with a log link (of ``"tweedie"`` the one given); None for other losses."""
    return {"poisson": 1.0, "gamma": 2.0, "tweedie": float(power)}.get(loss)


def means(scores: Floats) -> Floats:
    """The means that scores stand for."""
    return np.exp(np.clip(scores, -LARGEST, LARGEST))
