"""Exact distributions and tests with exact error bounds, for the tests of noise.

False alarms: see :mod:`tacit.checks.mechanism`, whose comparisons these tests use; :func:`hoeffding_rejects` is
Hoeffding's bound, for means of bounded independent terms.

Draws of the operating system's entropy are tested this way fewer than 200 times in a run, so that all of them together
raise a false alarm with probability below 2e-9; seeded draws give the same outcome every time.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.checks.mechanism import ALPHA, Law, kolmogorov_bound, kolmogorov_distance


def gaussian_pmf(scale: float, reach: float = 30.0) -> Law:
    """The discrete Gaussian out to ``reach`` scales of 12 % more (the mass beyond is below 1e-190)."""
    bound = math.ceil(reach * 1.12 * scale) + 3
    k = np.arange(-bound, bound + 1, dtype=np.float64)
    return Law(-bound, np.exp(np.maximum(-(k * k) / (2 * scale * scale), -700.0)))


def laplace_pmf(scale: float, reach: float = 60.0) -> Law:
    """The discrete Laplace; the mass beyond is below 1e-26."""
    bound = math.ceil(reach * 1.12 * scale) + 3
    k = np.arange(-bound, bound + 1, dtype=np.float64)
    return Law(-bound, np.exp(-np.abs(k) / scale))


def softmax_pmf(scores: npt.ArrayLike, scale: float) -> Law:
    """The exponential mechanism."""
    values = np.asarray(scores, dtype=np.float64)
    return Law(0, np.exp((values - values.max()) / scale))


def kolmogorov_rejects(draws: npt.NDArray[np.int64], claimed: Law) -> bool:
    """Whether the shape is wrong, whatever the true one may be."""
    return kolmogorov_distance(draws, claimed) > kolmogorov_bound(len(draws))


def hoeffding_rejects(terms: Floats, mean: float, low: float, high: float) -> bool:
    """Whether independent terms in ``[low, high]`` have another mean."""
    radius = (high - low) * math.sqrt(math.log(2 / ALPHA) / (2 * len(terms)))
    return abs(float(terms.mean()) - mean) > radius
