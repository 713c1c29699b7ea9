"""Accountants: what a list of charges costs, as the smallest figure that is valid.

Several ways of composing are valid for every list of charges; each is an upper bound, so the smallest counts.

* All Gaussian: exact composition and the closed form (Dong, Roth, Su 2022; Balle, Wang 2018).
* Plain sums of the pure parts and of the (epsilon, delta) parts, plus what is left by closed form or Renyi.
* Renyi divergences of everything that has one (Mironov 2017; conversion of Canonne, Kamath, Steinke 2020).
* Composed privacy losses (of Gaussian parts alone in closed form), with a part of delta set aside for charges of
  which only moments are known.

The charges may be interleaved and each may be spent in pieces as :mod:`tacit.privacy.ledger` allows. Where kinds are
mixed, the list itself is taken to be chosen before the first release. For all-Gaussian lists, and for plain sums and
Renyi divergences, a charge may also depend on earlier releases (Smith, Thakurta 2022; Rogers et al. 2016; Feldman,
Zrnic 2021).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from tacit.privacy.charges import Charge
from tacit.privacy.composition import MOST, Parts, Sums, parts_of
from tacit.privacy.gaussian import gaussian_delta, gaussian_epsilon
from tacit.privacy.loss import Composed, composed
from tacit.privacy.renyi import renyi_delta, renyi_epsilon

SHARES = (0.02, 0.1, 0.5, 0.9)  # shares of delta tried for the parts of which only moments are known

EPSILON_SHARES = (1e-4, 1e-3, *SHARES)
"""Shares of epsilon tried for them: of a small part little epsilon has a tiny delta."""


def check_delta(delta: float) -> None:
    """Raises ``ValueError`` unless ``0 <= delta < 1``."""
    if not 0 <= delta < 1:
        raise ValueError(f"delta must lie in [0, 1), got {delta}")


def check_epsilon(epsilon: float) -> None:
    """Raises ``ValueError`` unless ``epsilon >= 0``."""
    if not epsilon >= 0:
        raise ValueError(f"epsilon must not be negative, got {epsilon}")


def epsilon(charges: Iterable[Charge] | Sums, delta: float) -> float:
    """The epsilon of the composition of ``charges`` at ``delta``: a valid upper bound, exact for Gaussian charges.

    Args:
        charges: what was, or will be, released, all under one neighbouring relation.
        delta: in [0, 1). At 0 only charges that are pure have a finite cost.

    Returns:
        A number from 0 to ``inf``.

    Raises ``ValueError`` if delta is out of range or a charge is of no known kind.
    """
    check_delta(delta)
    return _epsilon_of(parts_of(charges), delta)


@lru_cache(maxsize=1024)
def _epsilon_of(parts: Parts, delta: float) -> float:
    """Kept, because a fit asks for the same cost when it is paid for and when it is certified."""
    if parts.unlimited:
        return math.inf
    if delta == 0:
        return _pure_epsilon(parts)
    if parts.only_gaussian:
        return gaussian_epsilon(parts.mu, delta)
    return min(_summed_epsilon(parts, delta), _renyi_epsilon(parts, delta), _loss_epsilon(parts, delta))


def delta(charges: Iterable[Charge] | Sums, epsilon: float) -> float:
    """The delta of the composition of ``charges`` at ``epsilon``: a valid upper bound, exact for Gaussian charges.

    It is at most ``d`` at the epsilon of ``d``, up to one part in 10,000, and less where another split of epsilon
    between charges that are known by their moments and others proves more than a split of delta does.

    Args:
        charges: what was, or will be, released, all under one neighbouring relation.
        epsilon: at least 0. For ``inf`` the bound is that at 10**12.

    Returns:
        A number from 0 to 1.

    Raises ``ValueError`` if epsilon is negative or a charge is of no known kind.
    """
    check_epsilon(epsilon)
    parts = parts_of(charges)
    if parts.unlimited:
        return 1.0
    if parts.only_gaussian:
        return gaussian_delta(parts.mu, epsilon)
    if _pure_epsilon(parts) <= epsilon < math.inf:
        return 0.0
    epsilon = min(epsilon, MOST)  # a larger one has no larger delta; of an infinite loss some is left
    return min(_summed_delta(parts, epsilon), _renyi_delta(parts, epsilon), _loss_delta(parts, epsilon))


def _pure_epsilon(parts: Parts) -> float:
    """The plain sum; ``inf`` if anything is not pure. A curve without infinite loss is pure at its largest loss."""
    if parts.precision or parts.rho or parts.approx or any(any(c.divergences) for c, _ in parts.renyi):
        return math.inf
    if any(charge.infinity_mass > 0 for charge, _ in parts.losses):
        return math.inf
    return parts.pure_total + math.fsum(times * max(0.0, *charge.losses) for charge, times in parts.losses)


def _approximate(parts: Parts) -> tuple[float, float]:
    """Plain sums over the (epsilon, delta) charges."""
    return (
        math.fsum(times * charge.epsilon for charge, times in parts.approx),
        math.fsum(times * charge.delta for charge, times in parts.approx),
    )


def _summed_epsilon(parts: Parts, delta: float) -> float:
    """Plain sums of what is pure or approximate, plus the rest at the delta that is left."""
    approx_epsilon, approx_delta = _approximate(parts)
    remaining, summed = delta - approx_delta, parts.pure_total + approx_epsilon
    if remaining < 0:
        return math.inf
    if not (parts.rho or parts.renyi or parts.losses):
        return summed + gaussian_epsilon(parts.mu, remaining)
    return summed + (renyi_epsilon(parts, remaining, bounded=False) if remaining > 0 else math.inf)


def _summed_delta(parts: Parts, epsilon: float) -> float:
    approx_epsilon, approx_delta = _approximate(parts)
    remaining = epsilon - parts.pure_total - approx_epsilon
    if remaining < 0:
        return 1.0
    if not (parts.rho or parts.renyi or parts.losses):
        return min(1.0, approx_delta + gaussian_delta(parts.mu, remaining))
    return min(1.0, approx_delta + renyi_delta(parts, remaining, bounded=False))


def _renyi_epsilon(parts: Parts, delta: float) -> float:
    approx_epsilon, approx_delta = _approximate(parts)
    remaining = delta - approx_delta
    return approx_epsilon + renyi_epsilon(parts, remaining) if remaining > 0 else math.inf


def _renyi_delta(parts: Parts, epsilon: float) -> float:
    approx_epsilon, approx_delta = _approximate(parts)
    remaining = epsilon - approx_epsilon
    return min(1.0, approx_delta + renyi_delta(parts, remaining)) if remaining >= 0 else 1.0


def _moments_only(parts: Parts) -> Parts:
    return replace(parts, precision=0.0, pure=(), ranges=(), approx=(), losses=())


@dataclass(frozen=True)
class _GaussianLoss:
    """The privacy loss of Gaussian parts alone: in closed form, no grid."""

    mu: float

    def epsilon(self, delta: float) -> float:
        return gaussian_epsilon(self.mu, delta)

    def delta(self, epsilon: float) -> float:
        return gaussian_delta(self.mu, epsilon)


def _composed(parts: Parts) -> Composed | _GaussianLoss | None:
    """The privacy loss of all parts that have one; None if there are none, or it would be too large to compose."""
    if parts.has_loss:
        return composed(parts)
    return _GaussianLoss(parts.mu) if parts.precision else None


def _loss_epsilon(parts: Parts, delta: float) -> float:
    """Composed privacy losses at a share of delta, moments at the rest (docs/theory/sensitivities.md, section 0)."""
    total = _composed(parts)
    if total is None:
        return math.inf
    if not parts.has_moments_only:
        return total.epsilon(delta)
    moments = _moments_only(parts)
    return min(renyi_epsilon(moments, share * delta) + total.epsilon((1 - share) * delta) for share in SHARES)


def _loss_delta(parts: Parts, epsilon: float) -> float:
    total = _composed(parts)
    if total is None:
        return 1.0
    if not parts.has_moments_only:
        return total.delta(epsilon)
    moments = _moments_only(parts)
    by_epsilon = min(
        1.0, *(renyi_delta(moments, share * epsilon) + total.delta((1 - share) * epsilon) for share in EPSILON_SHARES)
    )
    return _smaller_delta(parts, epsilon, by_epsilon)


def _smaller_delta(parts: Parts, epsilon: float, bound: float) -> float:
    """The smallest delta from ``bound`` down that splits of delta prove at ``epsilon``, up to one part in 10,000."""
    if not 0 < bound < 1 or _loss_epsilon(parts, bound) > epsilon:
        return bound
    low, high = bound / 64, bound
    while high > low * (1 + 1e-4):
        middle = math.sqrt(low * high)
        if _loss_epsilon(parts, middle) <= epsilon:
            high = middle
        else:
            low = middle
    return high
