"""An allowance: a request (epsilon, delta) as a budget that can be divided into shares."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from tacit.privacy.charges import BoundedRange, Charge, Gaussian, NonPrivate, Pure
from tacit.privacy.charges import Laplace as LaplaceCharge
from tacit.privacy.gaussian import check_far, range_of_gaussian

_gaussian = lru_cache(maxsize=1024)(Gaussian)
"""A fit asks for the same few again and again, and each is checked when it is made."""


@dataclass(frozen=True)
class Allowance:
    """What a request can buy, in shares that add up.

    With ``delta > 0`` everything is Gaussian: shares divide ``mu**2``, and a release with share ``p`` has multiplier
    ``1 / (mu sqrt(p))``. With ``delta = 0`` everything is Laplace: shares divide epsilon. Adaptive shares are sound:
    the sum is fixed beforehand (fully adaptive composition: of Gaussian privacy, Smith and Thakurta 2022; of pure
    privacy, Dwork and others 2006).
    """

    epsilon: float  # `epsilon`, `delta`: the request
    delta: float
    mu: float  # the Gaussian privacy parameter that (epsilon, delta) buys; 0 when `delta == 0`
    # how far one protected unit can move a sum, relative to one row that is added: noise is so much larger (2 where
    # rows are replaced, as a row may change its sign). It does not change what anything costs.
    reach: float = 1.0

    @staticmethod
    def of(epsilon: float, delta: float) -> Allowance:
        """The allowance of a request; ``epsilon=inf`` asks for no privacy.

        Raises ``ValueError`` for an epsilon that noise cannot be computed for.
        """
        if math.isinf(epsilon):
            return Allowance(epsilon, delta, math.inf)
        check_far(epsilon)
        if delta == 0:
            return Allowance(epsilon, delta, 0.0)
        from tacit.privacy.calibration import gaussian_noise_multiplier

        return Allowance(epsilon, delta, 1.0 / gaussian_noise_multiplier(epsilon, delta))

    @property
    def is_private(self) -> bool:
        return not math.isinf(self.epsilon)

    @property
    def is_pure(self) -> bool:
        """Whether releases are Laplace, paid from epsilon alone."""
        return self.is_private and self.delta == 0

    @property
    def whole(self) -> Charge:
        """The charge to reserve."""
        if not self.is_private:
            return NonPrivate()
        return Pure(self.epsilon) if self.is_pure else Gaussian(1.0 / self.mu)

    def part(self, share: float) -> Allowance:
        """An allowance with ``share`` of what is in this one."""
        if not self.is_private:
            return self
        if self.is_pure:
            return replace(self, epsilon=self.epsilon * share)
        return replace(self, mu=self.mu * math.sqrt(share))

    def charge(self, share: float) -> Charge:
        """The charge of one release that takes ``share`` of the allowance, ``0 < share <= 1``."""
        if not 0 < share <= 1 + 1e-9:
            raise ValueError(f"a share lies in (0, 1], got {share}")
        if not self.is_private:
            return NonPrivate()
        if self.is_pure:
            return LaplaceCharge(1.0 / (self.epsilon * share))
        return _gaussian(1.0 / (self.mu * math.sqrt(share)))

    def selection(self, share: float) -> Charge:
        """The charge of one choice by the exponential mechanism that takes ``share`` of it, ``0 < share <= 1``.

        Of a Gaussian allowance it is the largest range whose Gaussian privacy the share covers
        (``docs/theory/bounded_range.md``).
        """
        if not 0 < share <= 1 + 1e-9:
            raise ValueError(f"a share lies in (0, 1], got {share}")
        if not self.is_private:
            return NonPrivate()
        return BoundedRange(self.epsilon * share if self.is_pure else range_of_gaussian(self.mu * math.sqrt(share)))

    def sd(self, share: float, sensitivity: float = 1.0) -> float:
        """Standard deviation of the noise of such a release, for a release of this sensitivity; 0 without privacy."""
        if not self.is_private:
            return 0.0
        if self.is_pure:
            return math.sqrt(2.0) * self.reach * sensitivity / (self.epsilon * share)
        return self.reach * sensitivity / (self.mu * math.sqrt(share))
