"""Who learns most from the next releases: shares of the budget that follow what is known of the terms already.

A term of posterior variance ``V`` whose releases are made more precise by a part ``x`` of what they told so far has
about ``V / (1 + a x)`` then, ``a`` the slope of ``log V`` in the logarithm of the noise: 1 where noise alone is in the
way, less where the prior says most. The sum over the terms is smallest, for a given sum of the ``x``, where
``x = (sqrt(V a / level) - 1) / a``, or nothing: water-filling (Cover and Thomas 2006, 9.4). All of it is computed from
what was released.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.additive.term import Directions, Term
from tacit.additive.tuning import SWEEPING, Sweeping
from tacit.arrays import Floats

SLIGHTLY = 1.1
"""Not tuned, of the arithmetic: a factor of noise by which slopes are found."""

GRID = 1024
"""Not tuned, of the arithmetic: shares are whole parts of this, rounded down, so that no sum exceeds the budget."""


def shares_of_rest(terms: Sequence[Term], directions: Directions, told: float, numbers: Sweeping = SWEEPING) -> Floats:
    """What a release of each term may spend from now on, relative to equal shares, shape ``(terms,)``.

    Args:
        terms: after their first releases.
        directions: where the loss is curved now.
        told: precision of the releases still to come of a term at an equal share.
        numbers: of the least share.
    """
    doubts = np.array([[term.doubt(directions, noise) for noise in (1.0, SLIGHTLY)] for term in terms])
    variances = np.maximum(doubts[:, 0], 1e-12)
    slopes = np.clip(np.log(np.maximum(doubts[:, 1], 1e-12) / variances) / math.log(SLIGHTLY), 1e-3, 1.0)
    more = told * np.array([term.noise_variance for term in terms])
    return water_filled(variances, slopes, more, numbers.least_share)


def water_filled(variances: Floats, slopes: Floats, more: Floats | float, least: float) -> Floats:
    """Shares for terms of these variances and slopes: none below ``least``, at most 1 on the average.

    An equal share makes a term's releases more precise by the part ``more`` of what they told so far.
    """

    def shares(log_level: float) -> Floats:
        wanted = (np.sqrt(variances * slopes / math.exp(log_level)) - 1.0) / slopes / more
        return np.maximum(wanted, least)

    low, high = -60.0, math.log(float((variances * slopes).max()))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if shares(middle).mean() > 1.0 else (low, middle)
    return np.asarray(np.floor(shares(high) * GRID) / GRID)
