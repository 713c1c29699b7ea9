"""How far chance may carry a statistic: exact bounds, each with a false alarm of at most :data:`ALARM`.

A seed is a draw anew wherever last bits, versions or processors differ, so a bound says how often it fails where
nothing is wrong. A test has at most ten of these statistics, a run fewer than 9,000: false alarms of at most 1e-9 a
test and 1e-6 a run. :mod:`tests.noise.exact` has the bounds for whole distributions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

ALARM = 1e-10
"""Probability that a statistic lies beyond its bounds where all is as it is stated."""

SURE = 1 - ALARM
"""Confidence of a bound that a test holds against the truth."""

Z = float(stats.norm.isf(ALARM / 2))
"""A normal variable is further from its mean than so many deviations in a share ``ALARM`` of all draws: 6.47."""


def within_share(hits: int, trials: int, share: float, alarm: float = ALARM) -> bool:
    """Whether ``hits`` of ``trials`` may be chance where each has probability ``share``: exact binomial tails."""
    law = stats.binom(trials, share)
    return bool(law.cdf(hits) > alarm / 2 and law.sf(hits - 1) > alarm / 2)


def at_least_share(hits: int, trials: int, share: float, alarm: float = ALARM) -> bool:
    """Whether ``hits`` are not too few where each has a probability of at least ``share``."""
    return bool(stats.binom.cdf(hits, trials, share) > alarm)


def at_most_share(hits: int, trials: int, share: float, alarm: float = ALARM) -> bool:
    """Whether ``hits`` are not too many where each has a probability of at most ``share``."""
    return bool(stats.binom.sf(hits - 1, trials, share) > alarm)


def within_law(counts: Mapping[Any, int], law: Mapping[Any, float]) -> bool:
    """Whether independent draws, counted by outcome, may be those of a law.

    Every outcome and every running sum is compared by :func:`within_share`, each with its part of the alarm.
    """
    trials, outcomes = sum(counts.values()), list(law)
    if set(counts) - set(outcomes):
        return False
    hits, shares = (np.array([of.get(outcome, 0) for outcome in outcomes]) for of in (counts, law))
    pairs = [*zip(hits, shares, strict=True), *zip(np.cumsum(hits)[:-1], np.cumsum(shares)[:-1], strict=True)]
    return all(within_share(int(hit), trials, min(float(share), 1.0), ALARM / len(pairs)) for hit, share in pairs)


def scale_bounds(draws: int, laplace: bool = False) -> tuple[float, float]:
    """Between which factors of the true scale :func:`scale_of` of so many draws lies: exact chi-square and gamma tails.

    Raises:
        ValueError: if they are too few to tell a scale 10 % off from the right one.
    """
    law = stats.gamma(draws, scale=1 / draws) if laplace else stats.chi2(draws, scale=1 / draws)
    low, high = float(law.ppf(ALARM / 2)), float(law.isf(ALARM / 2))
    low, high = (low, high) if laplace else (math.sqrt(low), math.sqrt(high))
    if high >= 1.1 * low:
        raise ValueError(f"{draws} draws do not tell a scale 10 % off")
    return low, high


def scale_of(errors: npt.NDArray[Any], laplace: bool = False) -> float:
    """The likeliest scale of noise of mean 0: the mean size where it is Laplace, else the root mean square."""
    return float(np.abs(errors).mean()) if laplace else float(np.sqrt(np.square(errors).mean()))


def check_scale(errors: npt.NDArray[Any], scale: float, laplace: bool = False) -> None:
    """The errors have this scale; had they one 10 % larger or smaller, the same bounds would refuse it."""
    low, high = scale_bounds(errors.size, laplace)
    assert low <= scale_of(errors, laplace) / scale <= high


GAUSSIAN_DRAWS, LAPLACE_DRAWS = 9_300, 18_600
"""Draws that tell a scale 10 % off; see :func:`scale_bounds`."""


def near(figure: Any, truth: float) -> bool:
    """Whether a figure with a normal interval of at least 90 % is within :data:`Z` deviations of the truth."""
    return bool(abs(figure.value - truth) <= Z / 1.6448 * (figure.high - figure.low) / 2)
