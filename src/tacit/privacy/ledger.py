"""The ledger of one fit: a reservation, charged durably before a row is read, and the releases made under it.

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
import os
import threading
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self, TypeVar

from tacit.errors import TacitError, mark_spent, note_charge
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
from tacit.privacy.label import Label, Stage
from tacit.privacy.neighbouring import Neighbouring
from tacit.privacy.progress import Watched

Released = TypeVar("Released")
"""What leaves, an array: noisy numbers, or what was chosen."""

TOLERANCE = 1e-9
"""Relative slack of every comparison: for the rounding of sums, not for spending."""

MOST_USES = 1 << 24
"""Of a charge that is paid for use by use: no release has so many, and counting them would not end."""

COMPLETED = "completed"
FAILED = "failed"


class BudgetExceeded(TacitError):  # noqa: N818 - a public name, and not a fault
    """A release or a reservation that the budget does not cover. Nothing was read."""


@dataclass(frozen=True)
class Entry:
    """One release.

    Attributes:
        sequence: position among the releases of its reservation, from 0.
        what: what was released: its stage, subject and round.
        charge: what it cost.
        theorem: the claim its sensitivity stands on.
    """

    sequence: int
    what: Label
    charge: Charge
    theorem: str

    @property
    def stage(self) -> Stage:
        """The part of the work that the release belongs to."""
        return self.what.stage

    @property
    def subject(self) -> str:
        """What it is about within the stage."""
        return self.what.subject

    @property
    def round(self) -> int | None:
        """Which time it is, from 1; None where there is but one."""
        return self.what.round

    @property
    def label(self) -> str:
        """What was released, for people."""
        return str(self)

    def __str__(self) -> str:
        return str(self.what)


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
        found = charge if self._other[charge] > 0 else None
        if found is None and isinstance(charge, ApproxDP):
            larger = (c for c, n in self._other.items() if n > 0 and isinstance(c, ApproxDP) and _at_most(charge, c))
            found = next(larger, None)
        if found is None:
            return False
        self._other[found] -= 1
        return True


def _at_most(small: ApproxDP, large: ApproxDP) -> bool:
    return small.epsilon <= large.epsilon and small.delta <= large.delta


class Reservation:
    """The planned charge of one fit, already durable, and the releases made under it.

    A context manager: leaving it in success closes it as ``completed``, in failure as ``failed``. Either way it costs
    what was reserved; what was not used is not given back, because the choice to stop early may depend on the data.

    Args:
        charges: the whole planned charge.
        neighbouring: the relation it is meant under.
        label: what the fit is, for people.
        on_close: called once with the entries and the outcome, to write them where the charge was written.
    """

    def __init__(
        self,
        charges: Sequence[Charge],
        neighbouring: Neighbouring,
        label: str = "",
        on_close: Callable[[tuple[Entry, ...], str], None] | None = None,
    ) -> None:
        self._charges = tuple(charges)
        self._neighbouring = Neighbouring(neighbouring)
        self._label = label
        self._on_close = on_close
        self._coverage = Coverage(self._charges)
        self._entries: list[Entry] = []
        self._outcome: str | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._begun = datetime.now(UTC).isoformat(timespec="seconds")
        self._watched = Watched(label)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """What was reserved: the cost of the fit, whatever happens under it."""
        return self._charges

    @property
    def neighbouring(self) -> Neighbouring:
        """The relation the charges are meant under."""
        return self._neighbouring

    @property
    def label(self) -> str:
        """What the fit is, for people."""
        return self._label

    @property
    def begun(self) -> str:
        """When the budget was reserved: UTC, ISO format."""
        return self._begun

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The releases so far."""
        with self._lock:
            return tuple(self._entries)

    @property
    def outcome(self) -> str | None:
        """``completed`` or ``failed``, None while open."""
        return self._outcome

    @property
    def public_seed(self) -> bytes | None:
        """Of public random choices, where the fit may have to make them again; None where it need not."""
        return None

    def release(self, what: Callable[[], str], make: Callable[[], list[Released]]) -> list[Released]:
        """What leaves, once it is entered: what ``make`` returns, noise in it.

        ``what`` describes it, the same whenever the fit is run; it is asked where releases are kept.
        """
        del what
        return make()

    @property
    def keeps(self) -> bool:
        """Whether releases are kept, and the fit can go on: then nothing may leave but by :meth:`release`."""
        return False

    def record(self, charge: Charge, label: Label | str, theorem: str, kept: bool = False) -> Entry:
        """Enters a release before it reads anything. Safe to call from several threads.

        Args:
            charge: what the release costs.
            label: what it is; words by themselves are of :attr:`Stage.OTHER`.
            theorem: the claim its sensitivity stands on.
            kept: whether it leaves by :meth:`release`, which a reservation that :attr:`keeps` its releases asks for.

        Raises:
            BudgetExceeded: if what is left of the reservation does not cover it, it is closed, or this process is a
                fork of the one that reserved; nothing may be read.
            TypeError: if it would have to be kept and is not; nothing may be read.
        """
        what = Label.of(label)
        if self.keeps and not kept:
            raise TypeError(f"{what.text!r} is not kept: a fit that makes it cannot go on later")
        self.require_own_process(what)
        with self._lock:
            if self._outcome is not None:
                raise BudgetExceeded(f"{what.text!r} came after its reservation was closed; nothing was read")
            if not self._coverage.take(charge):
                raise BudgetExceeded(
                    f"{what.text!r} would cost {charge}, which is not covered by what is left of the reservation "
                    f"{self._label!r}; nothing was read"
                )
            entry = Entry(len(self._entries), what, charge, theorem)
            self._entries.append(entry)
            spent = self._coverage.spent
        self._watched.tell(what.text, str(what.stage), what.round, entry.sequence + 1, spent)
        return entry

    def require_own_process(self, label: Label) -> None:
        """A forked copy would release for a price that was paid once.

        Raises:
            BudgetExceeded: in another process than the one that reserved; nothing may be read.
        """
        if os.getpid() != self._process:
            raise BudgetExceeded(
                f"{label.text!r} was asked for by a fork of the process that reserved {self._label!r}: that "
                "reservation pays once, so go on there; nothing was read"
            )

    def close(self, outcome: str = COMPLETED) -> None:
        """Ends the reservation. Closing again does nothing: the first outcome stays; a fork ends nothing."""
        if outcome not in (COMPLETED, FAILED):
            raise ValueError(f"an outcome is {COMPLETED!r} or {FAILED!r}, got {outcome!r}")
        if os.getpid() != self._process:
            return
        with self._lock:
            if self._outcome is not None:
                return
            self._outcome = outcome
            entries = tuple(self._entries)
        if self._on_close is not None:
            self._on_close(entries, outcome)

    def __enter__(self) -> Self:
        note_charge()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            try:
                self.close(COMPLETED)
            except BaseException as closing:
                mark_spent(closing)
                raise
            return
        try:
            self.close(FAILED)
        except Exception as closing:  # noqa: BLE001 - the fit's failure matters more; the charge is durable either way
            error.add_note(f"closing the reservation {self._label!r} failed as well: {closing}")
        mark_spent(error)
