"""Composition of privacy-loss distributions on a grid, over ``dp_accounting``.

Each part is turned into a distribution on multiples of one step that dominates it, the distributions are convolved, and
epsilon and delta are read off. A mass between two grid points is split between them so that its total and its
``E exp(-loss)`` are kept: in the plane of ``exp(epsilon)`` against delta this is the chord above the true curve, so the
result is never too small and the error is of second order in the step (Doroshenko et al. 2022).

Charges given by a bound hold for every mechanism that meets the bound, so each is replaced by one pair of distributions
that dominates all of them; such pairs compose, also adaptively (Zhu, Dong, Wang 2022, Theorem 10).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.arrays import Floats
from tacit.privacy.composition import Parts

if TYPE_CHECKING:
    from tacit.privacy.charges import PrivacyLoss


CELLS = 1 << 15  # grid cells over the range where the total loss lives
MOST_CELLS = 1 << 19  # cells that a fine step for many small parts may ask for
WIDEST = 1.0  # A wider cell proves little, and from some hundreds on `exp` of one overflows

MOST_USES = 1 << 24
"""Uses of bounded ranges and explicit losses that are composed on a grid: tails of more would not fit in memory."""

CONVOLUTION_ERROR = 1e-14  # mass that rounding in one Fourier convolution may lose; added to delta
TAIL = 1e-15  # mass at either end of a part that may be moved up, at most to an infinite loss
REACH = 17.0  # standard deviations of the total loss that the grid is made for


@dataclass(frozen=True)
class Composed:
    """A composed privacy-loss distribution and the mass its computation may have lost."""

    distribution: Any
    error: float

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon at ``delta``; ``inf`` if there is none."""
        if delta <= self.error:
            return math.inf
        return float(self.distribution.get_epsilon_for_delta(delta - self.error))

    def delta(self, epsilon: float) -> float:
        """The delta at ``epsilon``."""
        return min(1.0, max(0.0, float(self.distribution.get_delta_for_epsilon(epsilon))) + self.error)


def split_atoms(losses: Floats, probabilities: Floats, step: float) -> tuple[int, Floats]:
    """Atoms moved to the grid: mass and ``E exp(-loss)`` are kept, so the result dominates.

    Returns:
        The index of the first grid point, and the masses from there, shape ``(points,)``.
    """
    below = np.floor(losses / step)
    up = np.clip(-np.expm1(below * step - losses) / -math.expm1(-step), 0.0, 1.0)
    first = int(below.min())
    place = (below - first).astype(np.int64)
    masses = np.zeros(int(place.max()) + 2)
    np.add.at(masses, place, probabilities * (1 - up))
    np.add.at(masses, place + 1, probabilities * up)
    return first, masses


def range_on_grid(span: float, step: float) -> tuple[int, Floats]:
    """The pair that dominates every mechanism of bounded range ``span``, on the grid.

    For such a mechanism and some ``0 <= t <= span`` the loss lies in ``[t - span, t]``, and delta is largest when it
    takes the two ends only. The largest of these curves over ``t`` is, for ``|epsilon| <= span``,
    ``(e^(span/2) - e^(epsilon/2))**2 / (e^span - 1)``: convex in ``e^epsilon``, so it belongs to a pair, whose loss has
    a density proportional to ``e^(loss/2)`` on ``[-span, span]``. It dominates in both orders of the neighbours.
    """
    first, last = math.floor(-span / step), math.ceil(span / step)
    edges = np.clip(np.arange(first, last + 1) * step, -span, span)
    start = np.arange(first, last) * step
    # Masses are taken relative to the density at the start of the cell, so that nothing overflows.
    left, right = edges[:-1] - start, edges[1:] - start
    mass = 2 * (np.expm1(right / 2) - np.expm1(left / 2))
    moved = np.clip((mass + 2 * (np.expm1(-right / 2) - np.expm1(-left / 2))) / -math.expm1(-step), 0.0, mass)
    weight = np.exp((start - span) / 2)
    masses = np.zeros(last - first + 1)
    masses[:-1] += weight * (mass - moved)
    masses[1:] += weight * moved
    return first, masses / masses.sum()


def pure_atoms(epsilon: float, times: int) -> tuple[Floats, Floats, float]:
    """The losses of ``times`` randomised responses, binomial, as losses, masses and the mass at infinity.

    Randomised response dominates every pure mechanism (Kairouz, Oh, Viswanath 2015). Tails that add up to less than
    :data:`TAIL` are moved up: the lower to the smallest loss that is kept, the upper to infinity.
    """
    from scipy.special import gammaln

    heads = np.arange(times + 1, dtype=np.float64)
    log_choose = gammaln(times + 1.0) - gammaln(heads + 1) - gammaln(times - heads + 1)
    masses = np.exp(log_choose + heads * -np.logaddexp(0, -epsilon) + (times - heads) * -np.logaddexp(0, epsilon))
    masses /= masses.sum()
    low = int(np.searchsorted(np.cumsum(masses), TAIL))
    high = times + 1 - int(np.searchsorted(np.cumsum(masses[::-1]), TAIL))
    inner, above = masses[low:high].copy(), float(masses[high:].sum())
    inner[0] += masses[:low].sum()
    return epsilon * (2 * heads[low:high] - times), inner, above


def _step(parts: Parts) -> float:
    """The step of the grid: fine enough for the range where the total lives, and for parts convolved many times.

    Splitting the mass of one use whose loss has deviation ``s`` adds at most about ``s step`` to the variance when the
    step is larger, so that a part that hardly matters does not ask for a fine step.
    """
    bounded, variance, many = 0.0, parts.precision, []
    for value, times in (*parts.pure, *((charge.epsilon, times) for charge, times in parts.approx)):
        bounded, variance = bounded + 2 * value * times, variance + times * value**2
    for span, times in parts.ranges:
        bounded, variance = bounded + 2 * span * times, variance + times * span**2 / 3
        many.append((span, times))
    for loss, times in parts.losses:
        losses, probabilities = np.asarray(loss.losses), np.asarray(loss.probabilities)
        mean = float(probabilities @ losses)
        deviation = math.sqrt(float(probabilities @ (losses - mean) ** 2))
        bounded, variance = bounded + float(np.ptp(losses)) * times, variance + times * deviation**2
        if times > 1 and deviation > 0:
            many.append((deviation, times))
    finest = min((max(s / 4, 1e-3 * variance / (times * s)) for s, times in many), default=math.inf)
    width = min(bounded + REACH * parts.mu, REACH * math.sqrt(variance) + parts.precision)
    return max(min(width / CELLS, finest), width / MOST_CELLS, 1e-12)


def _with_gaussian(parts: Parts, step: float) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.from_gaussian_mechanism(1 / parts.mu, value_discretization_interval=step)


def _distribution(first: int, masses: Floats, infinity_mass: float, step: float) -> Any:
    from dp_accounting.pld import pld_pmf
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.PrivacyLossDistribution(pld_pmf.DensePLDPmf(step, first, masses, infinity_mass, True))


def _pure_distribution(epsilon: float, times: int, fails: float, step: float) -> Any:
    losses, masses, above = pure_atoms(epsilon, times)
    first, placed = split_atoms(losses, masses * (1 - fails), step)
    return _distribution(first, placed, fails + (1 - fails) * above, step)


def _loss_distribution(charge: PrivacyLoss, times: int, step: float) -> Any:
    first, masses = split_atoms(np.asarray(charge.losses), np.asarray(charge.probabilities), step)
    one = _distribution(first, masses, charge.infinity_mass, step)
    return one if times == 1 else one.self_compose(times, TAIL)


def _range_distribution(span: float, times: int, step: float) -> Any:
    one = _distribution(*range_on_grid(span, step), 0.0, step)
    with np.errstate(over="ignore"):  # its bounds on the tails overflow to infinity, harmlessly, where losses are huge
        return one if times == 1 else one.self_compose(times, TAIL)


@lru_cache(maxsize=8)
def _composed(parts: Parts) -> Composed:
    step = _step(parts)
    pieces = [_pure_distribution(value, times, 0.0, step) for value, times in parts.pure]
    for charge, times in parts.approx:
        fails = -math.expm1(times * math.log1p(-charge.delta))
        pieces.append(_pure_distribution(charge.epsilon, times, fails, step))
    pieces += [_range_distribution(span, times, step) for span, times in parts.ranges]
    pieces += [_loss_distribution(charge, times, step) for charge, times in parts.losses]
    if parts.precision > 0:
        pieces.append(_with_gaussian(parts, step))
    total = pieces[0]
    for piece in pieces[1:]:
        total = total.compose(piece, 0.0)
    uses = sum(times for _, times in (*parts.ranges, *parts.losses))
    return Composed(total, CONVOLUTION_ERROR * (len(pieces) + uses))


def composed(parts: Parts) -> Composed | None:
    """The composed privacy loss of all parts that have one: Gaussian, pure, bounded range, approximate, explicit.

    None when the grid would be too large to be worth it; other ways are valid then.
    """
    grid_parts = replace(parts, rho=0.0, renyi=())
    size = sum(times for _, times in (*grid_parts.pure, *grid_parts.approx))
    kinds = len(grid_parts.pure) + len(grid_parts.ranges) + len(grid_parts.approx) + len(grid_parts.losses)
    uses = sum(times for _, times in (*grid_parts.ranges, *grid_parts.losses))
    if size > MOST_CELLS or kinds > 256 or uses > MOST_USES or _step(grid_parts) > WIDEST:
        return None
    return _composed(grid_parts)
