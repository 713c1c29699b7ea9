"""The verb ``open_stream``: machines with private state, paid for as a whole when they open.

A stream is described by a *spec* (public, frozen data) that says what it costs as a whole and starts a *machine*. The
machine lives inside the curator: it sees rows, keeps private state, and its answers leave. It is therefore part of the
mechanism, with a theorem of its own, and not a learner. To write one:

1. A frozen dataclass with ``charges`` and ``start`` (:class:`StreamSpec`): every charge names its theorem. The whole is
   recorded when the stream opens, so the reservation may be closed right after that, however long the stream goes on.
2. A machine with ``feed``, ``secrets`` and ``restore`` (:class:`Machine`). It makes every random choice through the
   :class:`Gate` it was started with, which debits what the spec declared and refuses the rest. ``feed`` takes arrays
   with one entry per round and must do the same for one array of many rounds as for many arrays of one. It checks what
   is public about them (shapes, dtypes, lengths) before it changes state; what rows hold is clipped or skipped, never
   refused.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.curator.gate import NOBODY, Witness, check_may_watch
from tacit.curator.options import chosen_source
from tacit.curator.select import selection_scale
from tacit.noise.above_threshold import AboveThreshold
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import BoundedRange, Charge, NonPrivate, Pure, Repeated, charge_from_dict
from tacit.privacy.coverage import Coverage
from tacit.privacy.label import Label
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.theory.above_threshold import Queries

Secrets = dict[str, Any]  # plain JSON data


@dataclass(frozen=True)
class StreamCharge:
    """A part of what a stream costs over its whole length: for what (``part``, for people), and by which theorem."""

    charge: Charge
    part: str
    theorem: str


class Tester(Protocol):
    """An above-threshold inside the curator, as :class:`tacit.noise.above_threshold.AboveThreshold`."""

    @property
    def stopped(self) -> bool: ...

    def test(self, value: int) -> bool: ...

    def test_many(self, values: Ints) -> int | None: ...

    def restart(self) -> None: ...

    def secrets(self) -> dict[str, int | bool]: ...

    def restore(self, secrets: dict[str, int | bool]) -> None: ...


class Machine(Protocol):
    """A state machine inside the curator."""

    def feed(self, *rows: npt.NDArray[Any]) -> Any:
        """Takes rounds in order, one entry of every array per round; returns only what the theorem lets out."""

    def secrets(self) -> Secrets:
        """The private state as plain data, good for one continuation."""

    def restore(self, secrets: Secrets) -> None:
        """Goes on from the private state of a machine of the same spec."""


class StreamSpec(Protocol):
    """A stream as public data."""

    def charges(self, neighbouring: Neighbouring) -> tuple[StreamCharge, ...]:
        """All it can ever cost under a relation, however many rounds it is fed."""

    def start(self, gate: Gate) -> Machine:
        """The machine in its first state."""


class Stream:
    """The handle of an open stream: rows go in, released answers come out.

    Rounds are taken one call at a time, in order. It cannot be pickled or copied: two copies would answer twice for the
    price of one. :meth:`secrets` and :meth:`restore` move it on purpose.
    """

    def __init__(self, spec: StreamSpec, gate: Gate, noise: NoiseSource) -> None:
        self.__spec = spec
        self.__gate = gate
        self.__machine = spec.start(gate)
        self.__lock = threading.Lock()
        self.__process = os.getpid()
        self.noise_name = noise.name
        self.releasable = noise.releasable

    @property
    def spec(self) -> StreamSpec:
        return self.__spec

    def feed(self, *rows: npt.NDArray[Any]) -> Any:
        """Takes rounds, one entry of every array per round; returns what the spec's machine lets out."""
        self._require_own_process()
        with self.__lock:
            return self.__machine.feed(*rows)

    def renew(self, spec: StreamSpec) -> None:
        """A new period: a machine without memory takes the rounds from now on, at no further charge.

        A row is a round of one period, so that all periods together cost as much as one, as long as what is released is
        all that decides when this is called and what the next spec is (docs/theory/winnow.md, Theorem 9).

        Raises:
            ValueError: if the stream was not opened for periods, or the spec costs something else. Nothing has changed.
        """
        self._require_own_process()
        with self.__lock:
            if not getattr(self.__spec, "periods", False):
                raise ValueError("this stream was opened for one period")
            gate = self.__gate.renewed(spec)
            self.__machine, self.__gate, self.__spec = spec.start(gate), gate, spec

    def secrets(self) -> Secrets:
        """The private state, as plain JSON data.

        Secret: whoever has it can see rows in the stream's answers. It is good for one continuation only: feeding the
        same rounds to two streams that go on from it costs twice.
        """
        self._require_own_process()
        with self.__lock:
            return {"machine": self.__machine.secrets(), "taken": self.__gate.taken()}

    def restore(self, secrets: Secrets) -> None:
        """Goes on from the secrets of a stream of the same spec, instead of from the first state."""
        self._require_own_process()
        with self.__lock:
            self.__gate.retake(secrets["taken"])
            self.__machine.restore(secrets["machine"])

    def _require_own_process(self) -> None:
        """A forked process has a copy of the secrets: both would answer for the price of one."""
        if os.getpid() != self.__process:
            raise RuntimeError(
                "this stream was opened by another process, of which this one is a copy: go on there, or move it by "
                "secrets() and restore(). The stream is as it was."
            )

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a stream holds secrets and cannot be copied or pickled; secrets() and restore() move it")


class Gate:
    """What a machine may use. Everything is debited from the charges its spec declared.

    Every method raises ``BudgetExceeded`` for what they do not cover. If the spec declared ``NonPrivate``, there is no
    noise.
    """

    witness: Witness = NOBODY

    def __init__(self, parts: tuple[StreamCharge, ...], neighbouring: Neighbouring, noise: NoiseSource) -> None:
        check_may_watch(self.witness, noise)
        self._parts, self._neighbouring = parts, neighbouring
        self._charges = [part.charge for part in parts]
        self._noise = self.witness.source(noise)
        self._coverage = Coverage(self._charges)
        self._taken: list[tuple[Charge, int]] = []

    def renewed(self, spec: StreamSpec) -> Gate:
        """A gate for the rows that come from now on, which have cost nothing yet."""
        if spec.charges(self._neighbouring) != self._parts:
            raise ValueError("every period must cost what the first was declared to")
        self.witness.inside("period", spec, None, None)
        return Gate(self._parts, self._neighbouring, self._noise)

    @property
    def private(self) -> bool:
        return not any(isinstance(charge, NonPrivate) for charge in self._charges)

    def above_threshold(self, epsilon: float, threshold: int, queries: Queries, sensitivity: int = 1) -> Tester:
        """An above-threshold for ``Pure(epsilon)``; all epochs of a running count share it."""
        if not self.private:
            return _ExactThreshold(threshold)
        self._take(Pure(epsilon), 1)
        tester: Tester = self.witness.tester(AboveThreshold(self._noise, epsilon, threshold, queries, sensitivity))
        return tester

    def choose(self, scores: Ints, score_range: int, charge: BoundedRange, size: int = 1) -> Ints:
        """``size`` independent draws of the exponential mechanism over one int64 vector of scores, ``charge`` each.

        ``score_range`` is by how much one row can move the scores, ``max - min`` over the candidates.
        """
        if not self.private:
            return np.full(size, scores.argmax(), np.int64)
        scale = selection_scale(score_range, charge)
        self._take(charge, size)
        self.witness.inside("stream choice", (score_range, charge, size), scores, None)
        return np.array([self._noise.exponential(scores, scale) for _ in range(size)], np.int64)

    def taken(self) -> list[dict[str, Any]]:
        """The charges debited so far, as plain data."""
        return [{"charge": charge.to_dict(), "times": times} for charge, times in self._taken]

    def retake(self, lines: list[dict[str, Any]]) -> None:
        """Debits what was debited elsewhere, in place of what this gate debited by itself."""
        self._coverage = Coverage(self._charges)
        self._taken = []
        for line in lines:
            self._take(charge_from_dict(line["charge"]), int(line["times"]))

    def _take(self, charge: Charge, times: int) -> None:
        if not self._coverage.take(charge if times == 1 else Repeated(charge, times)):
            raise BudgetExceeded(f"{times} x {charge} is not covered by what is left of the stream's declared charges")
        if self._taken and self._taken[-1][0] == charge:
            times += self._taken.pop()[1]
        self._taken.append((charge, times))


class _ExactThreshold:
    """Above-threshold without noise, for streams that asked for no privacy."""

    def __init__(self, threshold: int) -> None:
        self._threshold = threshold
        self.stopped = False

    def test(self, value: int) -> bool:
        self.stopped = value >= self._threshold
        return self.stopped

    def test_many(self, values: Ints) -> int | None:
        above = np.flatnonzero(values >= self._threshold)
        self.stopped = len(above) > 0
        return int(above[0]) if self.stopped else None

    def restart(self) -> None:
        self.stopped = False

    def secrets(self) -> dict[str, int | bool]:
        return {"stopped": self.stopped}

    def restore(self, secrets: dict[str, int | bool]) -> None:
        self.stopped = bool(secrets["stopped"])


def open_stream(spec: StreamSpec, reservation: Reservation, noise: NoiseSource, label: Label | str) -> Stream:
    """Opens a stream: validate, charge the whole of it, start the machine. The reservation may then be closed.

    Raises:
        BudgetExceeded: if the reservation does not cover the whole stream; the machine is not started then.
    """
    label = Label.of(label)
    parts = spec.charges(reservation.neighbouring)
    for part in parts:
        reservation.record(part.charge, label.with_text(f"{label}: {part.part}"), part.theorem)
    return Stream(spec, Gate(parts, reservation.neighbouring, noise), noise)


def open_row_stream(spec: StreamSpec, reservation: Reservation, random_state: int | None, label: Label | str) -> Stream:
    """As :func:`open_stream`, with noise from the operating system's entropy, or with a seed."""
    return open_stream(spec, reservation, chosen_source(random_state), label)
