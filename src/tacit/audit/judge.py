"""From what was said of two tables to bounds: a guess is chosen on the first trials, and counted on the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import final

from tacit.arrays import Floats
from tacit.audit.bound import Counts, chances, epsilon_lower, gaussian_lower, gaussian_shift, log_ratio, most_provable
from tacit.audit.guess import choose
from tacit.audit.result import GaussianFinding
from tacit.privacy.charges import BoundedRange, Charge, Gaussian, Repeated
from tacit.privacy.gaussian import gaussian_epsilon, gaussian_of_range

CHOOSING = 3
"""One trial in so many chooses the guess; the others are counted."""

AGREEMENT = 1e-6
"""Relative difference granted to an accountant."""


@final
@dataclass(frozen=True)
class Judged:
    """Bounds that hold together; see :class:`tacit.audit.result.Audit`."""

    counts: Counts
    epsilon_lower: float
    provable: float
    gaussian: GaussianFinding | None


def judged(
    with_canary: Floats, without: Floats, delta: float, confidence: float, gaussian: bool, counts: Counts | None = None
) -> Judged:
    """Bounds from what was said of the table with the canary and of that without, shapes ``(trials, numbers)``.

    The first third chooses the guess, unless ``counts`` are of one that was chosen on the same trials otherwise.
    ``gaussian``: whether the claim is about Gaussian noise alone.
    """
    chosen = len(with_canary) // CHOOSING
    each = 1 - (1 - confidence) / (2 if gaussian else 1)

    def counted(measure: Callable[[Counts], float], in_the_middle: bool = False) -> Counts:
        guess = choose(with_canary[:chosen], without[:chosen], measure, in_the_middle)
        return guess.count(with_canary[chosen:], without[chosen:])

    if counts is None:
        counts = counted(lambda seen: log_ratio(*chances(seen, each), delta))
    found = None
    if gaussian:
        shifts = counted(lambda seen: gaussian_shift(*chances(seen, each)), in_the_middle=True)
        found = GaussianFinding(shifts, gaussian_lower(shifts, delta, each))
    return Judged(counts, epsilon_lower(counts, delta, each), most_provable(counts.trials, delta, each), found)


def is_gaussian(charges: Iterable[Charge], epsilon: float, delta: float) -> bool:
    """Whether releases are mu-Gaussian private together, at a mu of this claim."""
    shifts = [_shift(charge) for charge in charges]
    if delta <= 0 or not shifts or None in shifts:
        return False
    together = math.sqrt(math.fsum(shift * shift for shift in shifts if shift is not None))
    return gaussian_epsilon(together, delta) <= epsilon * (1 + AGREEMENT)


def _shift(charge: Charge) -> float | None:
    """The mu of a charge; None where it has none."""
    if isinstance(charge, Repeated):
        single = _shift(charge.charge)
        return None if single is None else single * math.sqrt(charge.times)
    if isinstance(charge, BoundedRange):
        return gaussian_of_range(charge.range)
    return 1.0 / charge.noise_multiplier if isinstance(charge, Gaussian) else None
