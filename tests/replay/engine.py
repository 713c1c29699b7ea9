"""Record and replay: a fit is recorded at the gate, and repeated on a neighbour with every released value forced.

If all that differs between the two runs goes through the gate, then the second run must ask the same questions in the
same order, at the same scales and charges, and end in the same model; its exact answers may differ from the recorded
ones by what the sensitivity says. Anything else is a fault: data steer the run, or a bound is too small, or something
reaches the result without noise (Cebere et al. 2026, "Re:cord-play").

A :class:`Tape` is what is kept of a run. The verbs of the curator write to it through :mod:`tests.replay.seams`. It
knows nothing of the product but the names of charges.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LATTICE = 9.0
"""An integer Gaussian of scale sigma is charged as a continuous one of variance ``sigma**2 - 9``."""

SLACK = 1e-9
"""Relative, for floating point in scales and precisions."""

TELLING_BITS = 32.0
"""Two vectors of noise of so much entropy are not the same by chance. A coordinate of scale ``s`` has about ``log2(3.5
s)`` bits (of collision entropy: Gaussian; Laplace has a little more)."""


class Diverged(BaseException):
    """The second run left the recorded path; nothing that follows can be compared. No ``except Exception`` stops it."""


@dataclass
class Event:
    """One passage of the gate.

    Attributes:
        verb: which one.
        public: what must be the same on a neighbour.
        exact: what the rows say; secret.
        released: what came out, and is forced on the neighbour.
    """

    verb: str
    public: Any
    exact: Any = None
    released: Any = None


@dataclass
class Group:
    """Releases whose rows are bounded together: per part the largest squared shift, in variances of its noise; if
    Laplace, the largest shift, in scales of its noise."""

    allowed: float = 0.0
    parts: dict[int, float] = field(default_factory=dict)


@dataclass
class Tape:
    """What is kept of a run, or, in replay, what it is held against.

    Attributes:
        events: of the recorded run.
        replaying: whether released values are forced.
        moved: positions, in the longer table (or in both, if they are equally long), of the rows that differ.
        faults: what was found.
        tightest: the largest distance as a share of what is declared, over all releases of the run.
    """

    events: list[Event] = field(default_factory=list)
    replaying: bool = False
    moved: tuple[int, ...] = ()
    faults: list[str] = field(default_factory=list)
    tightest: float = 0.0
    position: int = 0
    groups: dict[int, Group] = field(default_factory=dict)
    draws: list[tuple[str, float, int]] = field(default_factory=list)
    unclaimed: Counter[tuple[str, float, int]] = field(default_factory=Counter)
    ledger: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    seen_noise: dict[bytes, str] = field(default_factory=dict)
    outcome: Any = None

    def replay(self, moved: Sequence[int]) -> Tape:
        """A tape for a run on a neighbour."""
        return Tape(events=self.events, replaying=True, moved=tuple(moved))

    def fault(self, text: str) -> None:
        self.faults.append(text)

    def diverge(self, text: str) -> None:
        self.fault(text)
        raise Diverged(text)

    def passage(
        self,
        verb: str,
        public: Any,
        exact: Any,
        released: Any,
        judge: Callable[[Any, Any], Iterator[str]] | None = None,
    ) -> Any:
        """Writes a passage of the gate, or holds it against the recorded one and returns what that one released.

        Args:
            verb: which one.
            public: see :class:`Event`.
            exact: see :class:`Event`.
            released: what this run would release.
            judge: from the recorded exact value and this one to what is wrong with their distance.
        """
        if not self.replaying:
            self.events.append(Event(verb, public, exact, released))
            return released
        if self.position == len(self.events):
            self.diverge(f"the run goes on with {verb} {public}, where the recorded one had ended")
        event = self.events[self.position]
        self.position += 1
        if (event.verb, event.public) != (verb, public):
            was = f"{event.verb} {event.public}"
            self.diverge(f"passage {self.position - 1} is {verb} {public}, and was {was}: data steer the run")
        for text in () if judge is None else judge(event.exact, exact):
            self.fault(f"passage {self.position - 1}, {verb} {public}: {text}")
        return event.released

    def drawn(self, kind: str, scale: float, size: int) -> None:
        """Noise was drawn that some release must claim."""
        self.draws.append((kind, scale, size))
        self.unclaimed[kind, scale, size] += 1

    def claim(self, kind: str, scale: float, size: int, noise: Any, what: str) -> None:
        """A release uses noise: it must have been drawn for it, at this scale, and be used once."""
        if self.unclaimed[kind, scale, size] < 1:
            self.fault(f"{what} uses {kind} noise of scale {scale} and size {size} that was not drawn for it")
        self.unclaimed[kind, scale, size] -= 1
        if noise is None or size * np.log2(max(3.5 * scale, 1.0)) < TELLING_BITS:
            return
        found = self.seen_noise.setdefault(np.asarray(noise, np.int64).tobytes(), what)
        if found != what:
            self.fault(f"{what} has the same noise as {found}")

    def entered(self, charge: Any, label: Any, theorem: str) -> None:
        """A line of the ledger."""
        if type(charge).__name__ == "NonPrivate":
            self.fault(f"{label!r} was asked for without privacy")
        self.ledger[str(charge), str(label), theorem] += 1

    def pays(self, charge: Any, label: Any, theorem: str) -> None:
        """A release must have its line in the ledger, with its charge, label and theorem."""
        self.ledger[str(charge), str(label), theorem] -= 1
        if self.ledger[str(charge), str(label), theorem] < 0:
            self.fault(f"{label!r} was released without a line in the ledger for {charge}, {theorem!r}")

    def finish(self) -> None:
        """What can be judged at the end only."""
        if self.replaying and self.position < len(self.events):
            self.fault(f"the run ended before {self.events[self.position].verb} {self.events[self.position].public}")
        for number, group in self.groups.items():
            self.within(sum(group.parts.values()), group.allowed, f"joint releases {number}: shift")
        for draw, count in self.unclaimed.items():
            if count > 0:
                self.fault(f"{count} vectors of noise {draw} were drawn and not seen in a release")

    def within(self, distance: float, allowed: float, what: str) -> None:
        """A distance must not exceed what is declared."""
        if allowed > 0:
            self.tightest = max(self.tightest, distance / allowed)
        if distance > allowed * (1 + SLACK):
            self.fault(f"{what} {distance:.6g}, where at most {allowed:.6g} is declared")


@contextmanager
def _quiet_but_kept() -> Iterator[list[str]]:
    """Warnings are part of what a run shows."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    said += [f"{warning.category.__name__}: {warning.message}" for warning in caught]


Run = Callable[[Any], Any]
"""From rows to all that a run shows, as something that can be compared (:func:`canonical`)."""

Seams = Callable[[Tape], Any]


def record(run: Run, rows: Any, seams: Seams) -> Tape:
    """Runs on ``rows`` and keeps what passed the gate."""
    tape = Tape()
    _run(tape, run, rows, seams)
    return tape


def replay(recorded: Tape, run: Run, rows: Any, moved: Sequence[int], seams: Seams) -> Tape:
    """Runs on a neighbour with the recorded releases forced; the faults are on the tape that is returned."""
    tape = recorded.replay(moved)
    try:
        _run(tape, run, rows, seams)
    except Diverged:
        return tape
    except Exception as error:  # noqa: BLE001 - whatever it is, the recorded run did not raise it
        tape.fault(f"the run failed on a neighbour: {type(error).__name__}: {error}")
        return tape
    if tape.draws != recorded.draws:
        tape.fault(f"noise was drawn {difference(recorded.draws, tape.draws)}")
    if tape.outcome != recorded.outcome:
        tape.fault(f"what the run shows differs {difference(recorded.outcome, tape.outcome)}")
    return tape


def _run(tape: Tape, run: Run, rows: Any, seams: Seams) -> None:
    with _quiet_but_kept() as said, seams(tape):
        shown = canonical(run(rows))
    tape.outcome = [shown, said]
    tape.finish()


def canonical(value: Any) -> Any:
    """Plain data that compares by content: arrays bit by bit, NaN equal to itself."""
    if isinstance(value, dict):
        return {str(key): canonical(value[key]) for key in value}
    if isinstance(value, list | tuple | set | frozenset):
        return [canonical(item) for item in value]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), [canonical(item) for item in value.ravel().tolist()]]
    if isinstance(value, float | np.floating):
        return float(value).hex()
    if isinstance(value, str | int | bool | np.integer | np.bool_) or value is None:
        return value
    return repr(value)


def difference(old: Any, new: Any, path: str = "at ") -> str:
    """The first place where two canonical values differ."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for key in old:
            if old[key] != new[key]:
                return difference(old[key], new[key], f"{path}/{key}")
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for k, (a, b) in enumerate(zip(old, new, strict=True)):
            if a != b:
                return difference(a, b, f"{path}/{k}")
    return f"{path}: {str(old)[:120]} became {str(new)[:120]}"
