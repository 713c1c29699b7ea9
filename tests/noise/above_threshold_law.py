"""The exact law of above-threshold with discrete Laplace noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np

from tacit.arrays import Floats
from tacit.theory.above_threshold import Scales

Rounds = Sequence[tuple[int, int]]
"""Queries as (exact value, number of rounds in which it is asked)."""


REACH = 90
"""The sum over the threshold's noise is cut at this many scales."""


def log_probability(noise: Scales, threshold: int, before: Rounds, last: int | None) -> float:
    """The log-probability that all of ``before`` are found below, and then ``last`` above (None: no such round)."""
    total = _log_prior(noise)
    for value, rounds in before:
        total = total + rounds * _log_round(noise, threshold - value)[1]
    if last is not None:
        total = total + _log_round(noise, threshold - last)[0]
    top = total.max()
    return float(top + math.log(np.exp(total - top).sum()))


@cache
def known_log_probability(
    noise: Scales, threshold: int, before: tuple[tuple[int, int], ...], last: int | None
) -> float:
    """The same for a search that comes upon the same transcript again and again."""
    return log_probability(noise, threshold, before, last)


def _grid(noise: Scales) -> Floats:
    reach = math.ceil(REACH * noise.threshold)
    return np.arange(-reach, reach + 1, dtype=np.float64)


@lru_cache(maxsize=8)
def _log_prior(noise: Scales) -> Floats:
    q = math.exp(-1.0 / noise.threshold)
    return math.log((1.0 - q) / (1.0 + q)) - np.abs(_grid(noise)) / noise.threshold


@lru_cache(maxsize=400)
def _log_round(noise: Scales, gap: int) -> tuple[Floats, Floats]:
    """Per threshold noise, the log-probabilities that a query ``gap`` below the threshold is found above, below."""
    x = _grid(noise) + gap
    q = math.exp(-1.0 / noise.query)
    upper = np.exp(-np.maximum(x, 1.0) / noise.query) / (1.0 + q)
    lower = np.exp(-np.maximum(1.0 - x, 0.0) / noise.query) / (1.0 + q)
    positive = x >= 1
    above = np.where(positive, np.log(upper), np.log1p(-np.where(positive, 0.0, lower)))
    below = np.where(positive, np.log1p(-upper), np.log(np.where(positive, 1.0, lower)))
    return above, below
