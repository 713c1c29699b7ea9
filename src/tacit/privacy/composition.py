"""A list of charges, sorted by what can be said about their composition."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tacit.privacy.charges import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Charge,
    Gaussian,
    Laplace,
    NonPrivate,
    PrivacyLoss,
    Pure,
    Renyi,
    uses,
)

MOST = 1e12
"""What costs more is taken to cost without limit: nothing is promised there, and floats lose the ways of composing."""

Counted = tuple[tuple[float, int], ...]


@dataclass(frozen=True)
class Parts:
    """What a list of charges amounts to. Equal lists, in whatever order, give equal parts."""

    unlimited: bool  # whether something was released without noise, or for more than `MOST`
    precision: float  # sum of `1 / noise_multiplier**2` over the Gaussian charges
    rho: float  # sum over the zCDP charges
    # pairs (epsilon, times) of pure charges, Laplace included. A Laplace charge is what noise on the integers costs,
    # and at sensitivity 1 that is randomised response: as bad as any pure mechanism.
    pure: Counted
    ranges: Counted  # pairs (range, times) of bounded-range charges
    approx: tuple[tuple[ApproxDP, int], ...]  # pairs (charge, times), delta above 0
    renyi: tuple[tuple[Renyi, int], ...]  # pairs (charge, times)
    losses: tuple[tuple[PrivacyLoss, int], ...]  # pairs (charge, times)

    @property
    def mu(self) -> float:
        """The one Gaussian mechanism that all Gaussian charges compose to: sensitivity over standard deviation."""
        return math.sqrt(self.precision)

    @property
    def pure_total(self) -> float:
        """Plain sum of the pure charges and of the bounded ranges, which are pure as well."""
        return math.fsum(value * times for value, times in (*self.pure, *self.ranges))

    @property
    def only_gaussian(self) -> bool:
        """Whether nothing but Gaussian charges was made."""
        return not (self.rho or self.pure or self.ranges or self.approx or self.renyi or self.losses)

    @property
    def has_loss(self) -> bool:
        """Whether there is a part with a known dominating privacy loss, other than the Gaussian."""
        return bool(self.pure or self.ranges or self.approx or self.losses)

    @property
    def has_moments_only(self) -> bool:
        """Whether there is a part of which only moments are known."""
        return bool(self.rho or self.renyi)


class Sums:
    """A list of charges, as far as its cost depends on it; charges are added one after the other.

    Whatever was added in whatever order, :meth:`parts` is that of the whole list, bit by bit: uses are counted, and the
    Gaussian and zCDP costs are kept as floats whose exact sum is theirs (:func:`exact_sum`), which ``fsum`` rounds
    once. So a sum that is stored and goes on costs exactly what its history does (``docs/theory/running_totals.md``).
    """

    def __init__(self) -> None:
        self.unlimited = False
        self.precisions: list[float] = []
        self.rhos: list[float] = []
        self.pure: Counter[float] = Counter()
        self.ranges: Counter[float] = Counter()
        self.approx: Counter[ApproxDP] = Counter()
        self.renyi: Counter[Renyi] = Counter()
        self.losses: Counter[PrivacyLoss] = Counter()

    def add(self, charge: Charge, times: int) -> None:
        """Adds ``times`` uses of a charge. An unknown kind is an error, never a cost of zero."""
        if times > MOST:
            self.unlimited, times = True, 1
        match charge:
            case NonPrivate():
                self.unlimited = True
            case Gaussian():
                self.precisions.append(min(times * charge.precision, 2 * MOST))
            case ZCDP():
                self.rhos.append(min(times * charge.rho, 2 * MOST))
            case Pure() | Laplace():
                self.pure[charge.epsilon] += times
            case BoundedRange():
                self.ranges[charge.range] += times
            case ApproxDP() if charge.delta == 0:
                self.pure[charge.epsilon] += times
            case ApproxDP():
                self.approx[charge] += times
            case Renyi():
                self.renyi[charge] += times
            case PrivacyLoss():
                self.losses[charge] += times
            case _:
                raise ValueError(f"cannot account for a charge of type {type(charge).__name__}")

    def plus(self, charges: Iterable[Charge]) -> Sums:
        """These and more; this object stays as it is."""
        more = Sums()
        more.unlimited, more.precisions, more.rhos = self.unlimited, list(self.precisions), list(self.rhos)
        for name in COUNTED:
            setattr(more, name, Counter(getattr(self, name)))
        for charge, times in uses(charges):
            more.add(charge, times)
        return more

    @property
    def parts(self) -> Parts:
        """What accountants look at."""
        precision, rho = math.fsum(self.precisions), math.fsum(self.rhos)
        sizes = [(charge.epsilon, times) for charge, times in self.approx.items()]
        sizes += [(max(map(abs, charge.losses)), times) for charge, times in self.losses.items()]
        spans = [value * times for value, times in (*self.pure.items(), *self.ranges.items(), *sizes)]
        many = [*self.renyi.values(), *self.approx.values()]
        return Parts(
            unlimited=self.unlimited or not all(value <= MOST for value in (precision, rho, *spans, *many)),
            precision=precision,
            rho=rho,
            pure=_counted(self.pure),
            ranges=_counted(self.ranges),
            approx=tuple(sorted(self.approx.items(), key=lambda item: (item[0].epsilon, item[0].delta))),
            renyi=tuple(sorted(self.renyi.items(), key=lambda item: (item[0].orders, item[0].divergences))),
            losses=tuple(sorted(self.losses.items(), key=lambda item: (item[0].losses, item[0].probabilities))),
        )

    def __bool__(self) -> bool:
        """Whether anything was added."""
        return self.unlimited or bool(self.precisions or self.rhos) or any(getattr(self, name) for name in COUNTED)


COUNTED = ("pure", "ranges", "approx", "renyi", "losses")  # what is kept as numbers of uses


def exact_sum(values: Iterable[float]) -> list[float]:
    """Few floats with the same sum, exactly (Shewchuk 1997): what ``math.fsum`` keeps inside."""
    partials: list[float] = []
    for value in values:
        rest, parts = value, []
        for partial in partials:
            large, small = (rest, partial) if abs(rest) >= abs(partial) else (partial, rest)
            rest = large + small
            error = small - (rest - large)
            if error:
                parts.append(error)
        partials = [*parts, rest]
    return partials


def _counted(counter: Counter[float]) -> Counted:
    return tuple(sorted((value, times) for value, times in counter.items() if value > 0))


def parts_of(charges: Iterable[Charge] | Sums) -> Parts:
    """Sorts charges into parts; raises ``ValueError`` on a kind of charge that is not known."""
    return charges.parts if isinstance(charges, Sums) else Sums().plus(charges).parts
