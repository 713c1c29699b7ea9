"""A recording of a fit: what passed the curator, and what a fit to a neighbour is held against.

If all that differs between the two fits goes through the gate, then the second one asks the same questions in the same
order, at the same scales and charges, and ends in the same model; its exact answers differ from the recorded ones by
what the sensitivity says at most. Anything else is a fault: rows steer the fit, or a bound is too small, or something
reaches the result without noise (Cebere et al. 2026, "Re:cord-play").
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, final

import numpy as np
from scipy.special import gammainc

from tacit.arrays import Floats, Ints
from tacit.curator.tape import Diverged
from tacit.privacy.charges import Gaussian, Laplace, NonPrivate
from tacit.privacy.ledger import Reservation

SLACK = 1e-9
"""Relative, for floating point in scales and precisions."""

MIN_ENTROPY_BITS = 32.0
"""Two vectors of noise of so much entropy are not the same by chance. A coordinate of scale ``s`` has about ``log2(3.5
s)`` bits (of collision entropy: Gaussian; Laplace has a little more)."""

MIN_NOISE_PROBABILITY = 1e-6
"""Noise of so few draws, or of so small ones, is no chance."""

Judge = Callable[[Any, Any], Iterator[str]]
"""From the recorded exact value and that of the neighbour to what is wrong with their distance."""


@dataclass
class Event:
    """One passage of the gate."""

    verb: str  # which one
    public: Any  # what must be the same on a neighbour
    exact: Any = None  # what the rows say; secret
    released: Any = None  # what came out, and is forced on the neighbour
    digest: bytes = b""  # of the whole question, if it is one

    def __str__(self) -> str:
        if self.digest:
            return f"{self.verb} {self.public[0]!r}"  # a question, by its label
        return f"{self.verb} {self.public}" if self.public else self.verb


@dataclass
class Group:
    """Releases whose rows are bounded together, with the shift that is allowed to all parts together.

    Per part the largest squared shift, in variances of its noise; if Laplace, the largest shift, in its scales.
    """

    allowed: float = 0.0
    parts: dict[int, float] = field(default_factory=dict)


@final
@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of one release: what it differs by from the exact answer, and the scale that its charge needs."""

    values: Ints
    scale: float
    kind: type


@dataclass
class Recording:
    """What is kept of a fit, or, ``beside`` a neighbour, what it is held against."""

    events: list[Event] = field(default_factory=list)  # of the recorded fit
    beside: str = ""  # the name of the neighbour; empty for the recorded fit itself
    # positions, in the longer table (or in both, if they are equally long), of the rows that differ
    moved: tuple[int, ...] = ()
    faults: list[str] = field(default_factory=list)  # what is wrong
    tightest: float = 0.0  # the largest distance as a share of what is declared, over all releases
    position: int = 0  # how many events of the recorded fit came again
    groups: dict[int, Group] = field(default_factory=dict)
    draws: list[tuple[str, float, int]] = field(default_factory=list)
    unclaimed: Counter[tuple[str, float, int]] = field(default_factory=Counter)
    noises: list[Noise] = field(default_factory=list)  # of the recorded fit's releases
    releases: int = 0  # how many answers left
    outcome: Any = None  # all that the fit shows (`canonical`), and its warnings
    _noise_of: dict[bytes, str] = field(default_factory=dict)
    _ledgers: dict[int, Ledger] = field(default_factory=dict)

    def replay(self, beside: str, moved: Sequence[int]) -> Recording:
        """A recording of a fit to a neighbour, held against this one."""
        return Recording(self.events, beside, tuple(moved))

    def fault(self, text: str) -> None:
        """Something is wrong."""
        self.faults.append(f"{self.beside}: {text}" if self.beside else text)

    def diverge(self, text: str) -> NoReturn:
        """The fit left the recorded path; nothing that follows can be compared."""
        self.fault(text)
        raise Diverged(text)

    def event(
        self, verb: str, public: Any, exact: Any, released: Any, judge: Judge | None = None, digest: bytes = b""
    ) -> Any:
        """Keeps an event, or holds it against the recorded one, and returns what that one released."""
        event = Event(verb, public, exact, released, digest)
        if not self.beside:
            self.events.append(event)
            return released
        if self.position == len(self.events):
            self.diverge(f"the fit goes on with {event}, where the recorded one had ended: rows steer the fit")
        before = self.events[self.position]
        self.position += 1
        if (before.verb, before.public) != (verb, public):
            same = str(event) == str(before)
            now, was = (public, before.public) if same else (event, before)
            self.diverge(f"event {self.position} is {now}, and was {was}: rows steer the fit")
        if before.digest != digest:
            self.fault(f"{event} is another question of the same words: rows steer the fit")
        for text in () if judge is None else judge(before.exact, exact):
            self.fault(f"{event}: {text}")
        return before.released

    def forced(self) -> Event:
        """The event that was compared last, as it was recorded."""
        return self.events[self.position - 1]

    def drew(self, kind: str, scale: float, size: int) -> None:
        """Noise was drawn that some release must claim."""
        self.draws.append((kind, scale, size))
        self.unclaimed[kind, scale, size] += 1

    def claim(self, kind: str, scale: float, noise: Ints, what: str) -> None:
        """A release uses noise: it must have been drawn for it, at this scale, and be used once."""
        draw = kind, scale, noise.size
        if self.unclaimed[draw] < 1:
            self.fault(f"{what} uses {kind} noise of scale {scale} and size {noise.size} that was not drawn for it")
        self.unclaimed[draw] -= 1
        if noise.size * math.log2(max(3.5 * scale, 1.0)) < MIN_ENTROPY_BITS:
            return
        if not noise.any():
            self.fault(f"{what} has no noise")
        elif (earlier := self._noise_of.setdefault(noise.tobytes(), what)) is not what:
            self.fault(f"{what} has the noise of {earlier}")

    def ledger(self, reservation: Reservation) -> Ledger:
        """The lines of a reservation, those that came since the last time among them."""
        ledger = self._ledgers.setdefault(id(reservation), Ledger(reservation))
        for charge, label, theorem in ledger.news():
            self.event("charge", (str(charge), label, theorem), None, None)
            if isinstance(charge, NonPrivate):
                self.fault(f"{label!r} was asked for without privacy")
        return ledger

    def pays(self, reservation: Reservation, charge: Any, label: Any, theorem: str) -> None:
        """A release must have its line in the ledger, with its charge, label and theorem."""
        if not self.ledger(reservation).take(charge, str(label), theorem):
            self.fault(f"{str(label)!r} was released without a line in the ledger for {charge}, {theorem!r}")

    def within(self, distance: float, allowed: float, what: str) -> Iterator[str]:
        """A distance must not exceed what is declared."""
        if allowed > 0:
            self.tightest = max(self.tightest, distance / allowed)
        if distance > allowed * (1 + SLACK):
            yield f"{what} is {distance:.6g}, where at most {allowed:.6g} is declared"

    def finish(self) -> None:
        """What can be judged at the end only."""
        for ledger in list(self._ledgers.values()):
            self.ledger(ledger.reservation)
        if self.beside and self.position < len(self.events):
            self.fault(f"the fit ended before {self.events[self.position]}: rows steer the fit")
        for number, group in self.groups.items():
            what = f"joint releases {number}: the shift, in their noise,"
            for wrong in self.within(sum(group.parts.values()), group.allowed, what):
                self.fault(wrong)
        for draw, count in self.unclaimed.items():
            if count > 0:
                self.fault(f"{count} vectors of noise {draw} were drawn and not seen in a release")


@final
@dataclass
class Ledger:
    """The lines of a reservation that no release has taken yet."""

    reservation: Reservation
    _seen: int = 0
    _open: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def news(self) -> Iterator[tuple[Any, str, str]]:
        """The lines that came since the last time: charge, label, theorem."""
        entries = self.reservation.entries[self._seen :]
        self._seen += len(entries)
        for entry in entries:
            line = entry.charge, str(entry.what.text), entry.theorem
            self._open[str(line[0]), line[1], line[2]] += 1
            yield line

    def take(self, charge: Any, label: str, theorem: str) -> bool:
        """Whether there was a line for a release; it pays for no other one."""
        self._open[str(charge), label, theorem] -= 1
        return self._open[str(charge), label, theorem] >= 0


def hold(recording: Recording, run: Callable[[], Any], recorded: Recording | None = None) -> Recording:
    """Runs a fit, and keeps what it shows and what it warns of; on a neighbour, holds that against a recorded fit.

    ``recording`` is what a witness of the fit writes to; ``run`` returns all that the fit shows; without ``recorded``
    it is the recorded fit itself, whose errors are raised.
    """
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = canonical(run())
        recording.outcome = [outcome, [f"{each.category.__name__}: {each.message}" for each in caught]]
        recording.finish()
    except Diverged:
        return recording
    except Exception as error:
        if recorded is None:
            raise
        recording.fault(f"the fit failed on a neighbour: {type(error).__name__}: {error}")
        return recording
    if recorded is not None and recording.draws != recorded.draws:
        recording.fault(f"noise was drawn {difference(recorded.draws, recording.draws)}")
    if recorded is not None and recording.outcome != recorded.outcome:
        recording.fault(f"what the fit shows differs {difference(recorded.outcome, recording.outcome)}")
    return recording


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


def noise_faults(recordings: Sequence[Recording]) -> list[str]:
    """What is wrong with the noise of recorded fits in all: too little for the charges."""
    faults: list[str] = []
    for kind in (Gaussian, Laplace):
        noises = [noise for recording in recordings for noise in recording.noises if noise.kind is kind]
        draws = sum(noise.values.size for noise in noises)
        total = sum(float(_relative(noise).sum()) for noise in noises)  # of what should be 1 on average
        halves = 2 if kind is Gaussian else 1  # squares: chi-squared; magnitudes: gamma
        if draws and gammainc(draws / halves, total / halves) < MIN_NOISE_PROBABILITY:
            share = math.sqrt(total / draws) if kind is Gaussian else total / draws
            faults.append(f"{kind.__name__} noise has {share:.2f} of the scale that its charges need ({draws} draws)")
    return faults


def _relative(noise: Noise) -> Floats:
    """Squares, or magnitudes of Laplace noise, that are 1 on average if the scale is right; on the integers, too."""
    if noise.kind is Gaussian:
        return np.asarray((noise.values / noise.scale) ** 2)
    return np.asarray(np.abs(noise.values) * math.sinh(1 / noise.scale))
