"""The log link of counts and costs: integer tables that make a mean of a score, and a contribution of a residual."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.queries.rules import LEVEL_BITS, LEVELS, MARGIN_BITS

MEAN_BITS = 20
"""Means are in fixed point, a little finer than scores."""

FACTOR_BITS = 16
"""So are the powers of the mean that residuals are multiplied by."""

SHARE_BITS = 15
"""And the shares of the largest curvature."""

LARGEST_TARGET = 1 << 27
"""No target counts as larger, in fixed point (2048 units): products with a power of the mean then fit an int64."""

LARGEST_MEAN = 1 << 22
"""The mean at a score of 0 is at most this, in fixed point (64 units)."""


@final
@dataclass(frozen=True)
class LogLink:
    """A score ``F`` stands for the mean ``mu = m exp(F)``, and a residual ``t - mu`` counts ``exp((1 - p) F)``.

    This is the score function of Tweedie's family of power ``p`` (Jorgensen 1987), whose variances grow as ``mu**p``,
    up to a public constant: Poisson's for 1, Gamma's for 2. Its mean is 0 where ``mu`` is the mean of ``t``, whatever
    law ``t`` follows, and it falls by ``m exp((2 - p) F)`` per unit of the score.

    Scores beyond the levels of :mod:`~tacit.queries.rules` count as the outermost.

    Attributes:
        power: ``p``, from 1 to 2.
        mean: ``m``, in fixed point (:data:`~tacit.queries.rules.MARGIN_BITS`), 1 to :data:`LARGEST_MEAN`.
    """

    power: float
    mean: int

    def __post_init__(self) -> None:
        if not 1 <= self.power <= 2 or not 1 <= self.mean <= LARGEST_MEAN:
            raise ValueError(f"need a power from 1 to 2 and a mean of 1..{LARGEST_MEAN}, got {self}")

    @cached_property
    def means(self) -> Ints:
        """``m exp(F)`` by level at its lower edge, in units of ``2**-MEAN_BITS``; shape ``(LEVELS,)``."""
        scale = self.mean * 2.0 ** (MEAN_BITS - MARGIN_BITS)
        return np.rint(scale * np.exp(_lower_edges())).astype(np.int64)

    @cached_property
    def factors(self) -> Ints:
        """``exp((1 - p) F)`` by level, in units of ``2**-FACTOR_BITS``; shape ``(LEVELS,)``."""
        return np.rint(2.0**FACTOR_BITS * np.exp((1.0 - self.power) * _lower_edges())).astype(np.int64)

    @cached_property
    def shares(self) -> Ints:
        """The curvature by level, ``min(1, (exp(F) / 2)**(2 - p))`` in units of ``2**-SHARE_BITS``.

        A row of twice the mean at ``F = 0``, or more, counts in full.
        """
        share = np.minimum(1.0, np.exp((2.0 - self.power) * (_lower_edges() - np.log(2.0))))
        found: Ints = np.floor(2.0**SHARE_BITS * share).astype(np.int64)
        return found

    @property
    def largest(self) -> float:
        """The curvature that shares are of, in units of the score: ``m 2**(2 - p)``."""
        return float(self.mean / 2.0**MARGIN_BITS * 2.0 ** (2.0 - self.power))


def _lower_edges() -> Floats:
    return (np.arange(LEVELS) - LEVELS // 2) / 2.0**LEVEL_BITS
