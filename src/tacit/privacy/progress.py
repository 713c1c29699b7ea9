"""How far paid work has come: what is entered in its ledger, told as it goes to whoever wants to know.

Everything here is public: labels, numbers of releases and shares of the budget follow from the plan of a fit and from
what was released. How many rows there are, and how many a second, does not, and is not told. Seconds are for whoever
runs the fit: they grow with the rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import final


@dataclass(frozen=True)
class Keeping:
    """What was asked for."""

    identifier: int | None = None  # of the fit that goes on; None for one that begins
    command: str = ""  # what the command line asked for, JSON; empty for a fit from Python


@dataclass(frozen=True)
class Beginning:
    """What a fit begins with."""

    rows: str  # a fingerprint of its rows
    learner: str  # a digest of its parameters
    seed: bytes  # 32 bytes for public random choices
    command: str = ""  # as above


TOLD_FROM = 0.1
"""The share of the budget from which on the time left is estimated: before, set-up counts for more than releases."""


@final
@dataclass(frozen=True)
class Step:
    """One release, just before it is made.

    Attributes:
        work: what was reserved for: ``"fit of AdditiveBoostClassifier"``.
        what: the release, as the ledger has it: ``"age, sweep 2"``.
        stage: the part of the work that it belongs to.
        round: which time it is, from 1; None where there is but one.
        releases: how many there are so far, with this one.
        spent: the share of the reserved budget that they take together, from 0 to 1.
        seconds: since the budget was reserved.
    """

    work: str
    what: str
    stage: str
    round: int | None
    releases: int
    spent: float
    seconds: float

    @property
    def seconds_left(self) -> float | None:
        """How long it will take if the rest of the budget takes as long as this part; None before a tenth is spent."""
        return self.seconds * (1 - self.spent) / self.spent if self.spent >= TOLD_FROM else None


Watch = Callable[[Step], None]  # called in the thread that works. What it raises ends the work; its charge stands then.


@final
@dataclass(frozen=True)
class Options:
    """The options that hold for the work of a caller; see :func:`tacit.options`."""

    sampler: str = "tacit"  # the name of the sampler that draws noise
    watch: Watch | None = None  # called before every release
    keeping: Keeping | None = None  # None where no releases are kept


NO_OPTIONS = Options()

OPTIONS: ContextVar[Options] = ContextVar("tacit options", default=NO_OPTIONS)


@contextmanager
def holding(options: Options) -> Iterator[None]:
    """Lets options hold inside, in this thread or task."""
    before = OPTIONS.set(options)
    try:
        yield
    finally:
        OPTIONS.reset(before)


def unwatched() -> AbstractContextManager[None]:
    """Nobody is told of what begins inside: of work whose every step would be a release of its own."""
    return holding(replace(OPTIONS.get(), watch=None))


class Watched:
    """What a reservation of some work tells, if anybody watches where it is made."""

    def __init__(self, work: str) -> None:
        self._work, self._watch, self._started = work, OPTIONS.get().watch, time.monotonic()

    def tell(self, what: str, stage: str, round_: int | None, releases: int, spent: float) -> None:
        """Tells of a release."""
        if self._watch is not None:
            seconds = time.monotonic() - self._started
            self._watch(Step(self._work, what, stage, round_, releases, min(spent, 1.0), seconds))
