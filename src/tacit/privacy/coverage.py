"""What planned charges still pay for: what each may be split into, and what it may pay for beside its own kind.

A reservation is a list of planned charges. What an accountant reports is the cost of *these*; the releases only have
to be covered by them. Every planned charge is an interactive mechanism that may answer with several smaller releases,
and interactive mechanisms that run side by side compose like one-shot ones (Vadhan, Zhang 2023). So the splits may be
chosen as the fit goes along, as long as each planned charge pays only for what its own adaptive theorem allows:

* Gaussian charges add up to one pool of precision, split at will: the Gaussian filter (Smith, Thakurta 2022). It may
  pay for bounded ranges too, at the Gaussian privacy that they have (``docs/theory/bounded_range.md``).
* ZCDP charges add up to one pool of rho, which may pay for Gaussian, bounded-range and pure releases too: the Renyi
  filter (Feldman, Zrnic 2021).
* A pure charge (``Pure``, ``Laplace``) may be split by plain sums, but two of them do not merge: ten releases at 0.1
  cost less than one at 1 once delta is positive.
* Everything else pays for exactly one release of its own kind, at most as large.
"""

from __future__ import annotations

import copy
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Sequence

from tacit.privacy.charges import (
    MOST_TIMES,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Charge,
    Gaussian,
    Laplace,
    NonPrivate,
    Pure,
    uses,
)

TOLERANCE = 1e-9  # relative slack of every comparison: for the rounding of sums, not for spending
MOST_USES = 1 << 24  # of a charge that is paid for use by use: no release has so many, and counting them would not end


class _Pool:
    """One amount that any number of releases may share."""

    def __init__(self) -> None:
        self.total = 0.0
        self.spent = 0.0

    def take(self, cost: float) -> bool:
        """Pays ``cost`` if there is as much left."""
        if not self.spent + cost <= self.total * (1 + TOLERANCE):
            return False
        self.spent += cost
        return True


class _Bins:
    """Amounts that do not merge: a release is paid from one of them, the smallest that is large enough."""

    def __init__(self, splittable: bool) -> None:
        self._splittable = splittable
        self.total = self.left = 0.0
        self._sizes: list[float] = []
        self._counts: Counter[float] = Counter()

    def add(self, size: float, times: int = 1) -> None:
        self.total += times * size
        self.left += times * size
        self._put(size, times)

    def _put(self, size: float, times: int = 1) -> None:
        if self._counts[size] == 0:
            insort(self._sizes, size)
        self._counts[size] += times

    def take(self, cost: float) -> bool:
        """Pays ``cost`` from one bin; keeps the rest of the bin if it may be split."""
        place = bisect_left(self._sizes, cost * (1 - TOLERANCE))
        if place == len(self._sizes):
            return False
        size = self._sizes[place]
        self._counts[size] -= 1
        if self._counts[size] == 0:
            del self._sizes[place]
        rest = max(size - cost, 0.0) if self._splittable else 0.0
        self.left -= size - rest
        if rest > 0:
            self._put(rest)
        return True


class Coverage:
    """What is left of a list of planned charges. Not thread-safe by itself."""

    def __init__(self, charges: Sequence[Charge]) -> None:
        self._unlimited = False
        self._precision = _Pool()
        self._rho = _Pool()
        self._pure = _Bins(splittable=True)
        self._laplace = _Bins(splittable=True)
        self._range = _Bins(splittable=False)
        self._other: Counter[Charge] = Counter()
        for charge, times in uses(charges):
            self._plan(charge, times)

    @property
    def spent(self) -> float:
        """The share that is spent of what can be added up: the largest of those of the kinds that were planned."""
        pools = [pool.spent / pool.total for pool in (self._precision, self._rho) if pool.total > 0]
        bins = [1 - kind.left / kind.total for kind in (self._pure, self._laplace, self._range) if kind.total > 0]
        return max((*pools, *bins), default=0.0)

    def _plan(self, charge: Charge, times: int) -> None:
        times = min(times, MOST_TIMES)
        match charge:
            case NonPrivate():
                self._unlimited = True
            case Gaussian():
                self._precision.total += times * charge.precision
            case ZCDP():
                self._rho.total += times * charge.rho
            case Pure():
                self._pure.add(charge.epsilon, times)
            case Laplace():
                self._laplace.add(charge.epsilon, times)
            case BoundedRange():
                self._range.add(charge.range, times)
            case _:
                self._other[charge] += times

    def take(self, charge: Charge) -> bool:
        """Pays for a release, whole or not at all."""
        if self._unlimited:
            return True
        [(simple, times)] = uses((charge,))
        if times == 1:
            return self._take_one(simple, 1)
        if times > MOST_TIMES:
            return False
        if isinstance(simple, Gaussian | ZCDP):
            return self._take_one(simple, times)
        if times > MOST_USES:
            return False
        trial = copy.deepcopy(self)
        if not all(trial._take_one(simple, 1) for _ in range(times)):
            return False
        self.__dict__.update(trial.__dict__)
        return True

    def _take_one(self, charge: Charge, times: int) -> bool:
        """Pays ``times`` uses from one pool, or one use from the first place that may and can pay for it."""
        match charge:
            case Gaussian():
                precision = times * charge.precision
                return self._precision.take(precision) or self._rho.take(precision / 2)
            case ZCDP():
                return self._rho.take(times * charge.rho)
            case Pure() | Laplace():
                epsilon = charge.epsilon
                own = isinstance(charge, Laplace) and self._laplace.take(epsilon)
                return own or self._pure.take(epsilon) or self._rho.take(epsilon * epsilon / 2)
            case BoundedRange():
                span = charge.range
                alone = self._range.take(span) or self._pure.take(span)
                return alone or self._rho.take(span * span / 8) or self._precision.take(charge.precision)
            case _:
                return self._take_other(charge)

    def _take_other(self, charge: Charge) -> bool:
        match = charge if self._other[charge] > 0 else None
        if match is None and isinstance(charge, ApproxDP):
            others = (c for c, n in self._other.items() if n > 0 and isinstance(c, ApproxDP))
            larger = (c for c in others if c.epsilon >= charge.epsilon and c.delta >= charge.delta)
            match = next(larger, None)
        if match is None:
            return False
        self._other[match] -= 1
        return True
