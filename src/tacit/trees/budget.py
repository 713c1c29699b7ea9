"""How a fit that chooses splits divides its budget: selections and releases paid from one pool."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from tacit.privacy.budget import Allowance
from tacit.privacy.calibration import calibrate
from tacit.privacy.charges import ZCDP, BoundedRange, Charge, Gaussian, Laplace, NonPrivate, Pure
from tacit.privacy.request import RequestError

SMALLEST_RANGE = 1e-6  # not tuned, a reason to refuse: a selection of a smaller range is a blind choice at a price


USUAL_NOISE = 20.0
"""Not tuned, of the search: one over ``rho`` is about so many over the squared epsilon, at a delta of a millionth."""


@dataclass(frozen=True)
class SplitBudget:
    """A pool for the exponential mechanism and for noisy sums.

    With ``delta = 0`` shares divide epsilon: a selection of range ``r`` and Laplace noise of epsilon ``r`` each cost
    ``r``. With ``delta > 0`` shares divide the ``rho`` of zero-concentrated privacy: a selection of range ``r`` costs
    ``r**2 / 8``, a Gaussian release of multiplier ``z`` costs ``1 / (2 z**2)``. Where nothing is selected, they divide
    ``mu**2 / 2`` of Gaussian privacy: releases cost the same, and the pool is an eighth to a sixth larger.

    A pool in ``rho`` may be divided as a fit goes along. Where all its parts are fixed before the first release, they
    are composed as what they are, and the pool is larger: by 5 % for two trees of depth 4 at epsilon 1, by nothing for
    twenty, whose composition is no cheaper than that of ``rho``.
    """

    amount: float  # epsilon, rho or `mu**2 / 2`; infinite for no privacy
    pure: bool  # whether it is epsilon
    gaussian: bool = False  # whether it is `mu**2 / 2`: of a pool without selections
    # every charge that it pays for, if they were fixed beforehand and are reserved one by one
    schedule: tuple[Charge, ...] = ()

    @staticmethod
    def of(epsilon: float, delta: float, other: tuple[Charge, ...] = (), plan: Plan | None = None) -> SplitBudget:
        """The pool that a request buys beside ``other`` charges.

        ``other`` is what else it pays for; ``plan`` says all charges that a pool pays for, where nothing that is
        released changes them. Without privacy epsilon is ``inf``.
        """
        if math.isinf(epsilon):
            return SplitBudget(math.inf, delta == 0)
        if delta == 0:
            return SplitBudget(epsilon - math.fsum(c.epsilon for c in other if isinstance(c, Laplace | Pure)), True)
        noise = calibrate(
            lambda parameter: [*other, ZCDP(1.0 / parameter)], epsilon, delta, start=USUAL_NOISE / epsilon**2
        )
        pool = SplitBudget(1.0 / noise, False)
        if plan is None:
            return pool
        noise = calibrate(
            lambda parameter: [*other, *plan(SplitBudget(1.0 / parameter, False))], epsilon, delta, start=noise
        )
        pool = SplitBudget(1.0 / noise, False)
        return replace(pool, schedule=plan(pool))

    @staticmethod
    def of_releases(allowance: Allowance) -> SplitBudget:
        """The pool of a fit that selects nothing: with ``delta > 0`` all its releases are Gaussian."""
        if allowance.is_pure or not allowance.is_private:
            return SplitBudget(allowance.epsilon, allowance.delta == 0)
        return SplitBudget(0.5 * allowance.mu**2, pure=False, gaussian=True)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The charges to reserve."""
        return self.schedule or (self.whole,)

    @property
    def whole(self) -> Charge:
        """The pool as one charge, that may be divided as a fit goes along."""
        if math.isinf(self.amount):
            return NonPrivate()
        if self.gaussian:
            return self.release(1.0)
        return Pure(self.amount) if self.pure else ZCDP(self.amount)

    def selection(self, share: float) -> Charge:
        """A selection that takes ``share`` of the pool; refused if that is so little that it would choose blindly."""
        if math.isinf(self.amount):
            return NonPrivate()
        if self.gaussian:
            raise ValueError("nothing is selected from a pool of Gaussian releases")
        span = self.amount * share if self.pure else math.sqrt(8.0 * self.amount * share)
        if span < SMALLEST_RANGE:
            raise RequestError(
                f"there are more splits than the budget can buy: each would have a range of {span:.1g}, which chooses "
                "blindly; ask for fewer or shallower trees, or for RandomTreesClassifier, whose splits are free"
            )
        return BoundedRange(span)

    def release(self, share: float) -> Charge:
        """A noisy sum that takes ``share`` of the pool."""
        if math.isinf(self.amount):
            return NonPrivate()
        return (
            Laplace(1.0 / (self.amount * share)) if self.pure else Gaussian(1.0 / math.sqrt(2.0 * self.amount * share))
        )


Plan = Callable[[SplitBudget], tuple[Charge, ...]]  # the charges that a pool pays for
