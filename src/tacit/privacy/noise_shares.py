"""Noise that several sites draw in shares: how large a share is, and what a release says about it.

Neighbouring relation: that of the charge. Source: Kairouz, Liu, Steinke 2021 (sums of discrete Gaussians); the proof is
in ``docs/theory/noise_shares.md``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from tacit.privacy.accountants import epsilon
from tacit.privacy.charges import Charge, Gaussian, uses
from tacit.privacy.ledger import Entry

LEAST_SCALE = math.sqrt(18.0)
"""No share is of a smaller scale, in integer units: sums of shares are discrete Gaussians to within ``exp(-177)``."""

_CLAIM = re.compile(r"; noise in shares of (\d+) sites, of which (\d+) suffice$")


@final
@dataclass(frozen=True)
class NoiseShares:
    """How many sites draw noise, and how many honest ones suffice.

    Raises ``ValueError`` unless ``1 <= honest <= sites``.
    """

    sites: int  # all of them
    honest: int  # the shares of so many sites add up to at least the noise that is charged

    def __post_init__(self) -> None:
        if not 1 <= self.honest <= self.sites:
            raise ValueError(f"of {self.sites} sites between 1 and {self.sites} can be honest, got {self.honest}")

    def scale(self, charged: float) -> float:
        """The scale of one share, where the charge asks for noise of this scale: ``honest`` squares reach its square.

        Exact: rounded up, and never below :data:`LEAST_SCALE`.
        """
        share = max(charged / math.sqrt(self.honest), LEAST_SCALE)
        while self.honest * Fraction(share) ** 2 < Fraction(charged) ** 2:
            share = math.nextafter(share, math.inf)
        return share

    def total(self, charged: float) -> float:
        """The standard deviation of the noise in a total, the shares of all sites together."""
        return self.scale(charged) * math.sqrt(self.sites)

    @property
    def claim(self) -> str:
        """The end of the theorem of a release."""
        return f"; noise in shares of {self.sites} sites, of which {self.honest} suffice"

    def noise_without(self, colluding: int) -> float:
        """The noise that those who do not tell draw, as a multiple of the noise that is charged.

        ``colluding`` sites tell the coordinator their shares. Below 1, the charge does not hold.
        """
        return math.sqrt(max(self.sites - colluding, 0) / self.honest)


def shares_of(theorem: str) -> NoiseShares | None:
    """The shares that the theorem of a release speaks of; None where the curator drew its noise."""
    match = _CLAIM.search(theorem)
    return None if match is None else NoiseShares(int(match[1]), int(match[2]))


def noise_factor(theorem: str) -> float:
    """How much larger the noise of a release is than its charge says: 1 where the curator drew it."""
    shares = shares_of(theorem)
    return 1.0 if shares is None else shares.noise_without(0)


def towards_coordinator(entries: Iterable[Entry], charges: Iterable[Charge], delta: float) -> list[tuple[int, float]]:
    """What the coordinator can learn with 0, 1, ... of the sites, as epsilons; the last is that of the charges.

    Empty unless all releases had their noise in shares, paid by Gaussian charges. Colluding sites know their shares,
    and the noise of all others is larger than what is charged, in the ratio of :meth:`NoiseShares.noise_without`.
    """
    entry_shares = {shares_of(entry.theorem) for entry in entries}
    shares = entry_shares.pop() if len(entry_shares) == 1 else None
    paid = list(uses(charges))
    if shares is None or not all(isinstance(charge, Gaussian) for charge, _ in paid):
        return []
    precision = sum(times * charge.precision for charge, times in paid if isinstance(charge, Gaussian))
    multipliers = [shares.noise_without(k) / math.sqrt(precision) for k in range(shares.sites - shares.honest + 1)]
    return [(k, epsilon([Gaussian(multiplier)], delta)) for k, multiplier in enumerate(multipliers)]
