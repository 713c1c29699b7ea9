"""Streams: state machines with private state, and what they may use behind the gate.

A stream is described by a *spec* (public, frozen data) that says what it costs as a whole and starts a *machine*. The
machine lives behind the gate: it sees rows, keeps private state, and its answers leave. It is therefore part of the
mechanism, with a theorem of its own, and not a learner. To write one:

1. A frozen dataclass with ``charges`` and ``start`` (:class:`StreamSpec`): every charge names its theorem. The whole is
   recorded when the stream opens, so the reservation may be closed right after that, however long the stream goes on.
2. A machine with ``feed``, ``secrets`` and ``restore`` (:class:`Machine`). It makes every random choice through the
   :class:`Gate` it was started with, which debits what the spec declared and refuses the rest. ``feed`` takes arrays
   with one entry per round and must do the same for one array of many rounds as for many arrays of one. It checks what
   is public about them (shapes, dtypes, lengths) before it changes state; what rows hold is clipped or skipped, never
   refused.

:class:`CountingStream` is the smallest example, and the part of DP-Winnow (Bun, Fang, Algorithm 4.2) that decides when
to update.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.privacy.charges import BoundedRange, Charge, Gaussian, Laplace, NonPrivate, Pure
from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.query import Query
from tacit.queries.sensitivity import Sensitivity
from tacit.theory.above_threshold import Queries

Secrets = dict[str, Any]
"""Plain JSON data."""


@dataclass(frozen=True)
class StreamCharge:
    """A part of what a stream costs over its whole length: for what (``part``, for people), and by which theorem."""

    charge: Charge
    part: str
    theorem: str


class Tester(Protocol):
    """An above-threshold behind the gate; see :class:`tacit.noise.above_threshold.AboveThreshold`."""

    @property
    def stopped(self) -> bool:
        """Whether a test was above."""

    def test(self, value: int) -> bool:
        """Whether the next query is about above the threshold."""

    def test_many(self, values: Ints) -> int | None:
        """The index of the first query of a run that is; None if none is."""

    def restart(self) -> None:
        """Begins the next epoch of running counts under the same charge."""

    def secrets(self) -> dict[str, int | bool]:
        """What has to be kept to go on elsewhere."""

    def restore(self, secrets: dict[str, int | bool]) -> None:
        """Goes on from secrets."""


class Gate(Protocol):
    """What a machine may use. Everything but exact answers is debited from the charges its spec declared.

    Every method raises ``BudgetExceeded`` for what they do not cover. If the spec declared ``NonPrivate``, there is no
    noise.
    """

    @property
    def private(self) -> bool:
        """Whether there is any noise."""

    def above_threshold(self, epsilon: float, threshold: int, queries: Queries, sensitivity: int = 1) -> Tester:
        """An above-threshold for ``Pure(epsilon)``; all epochs of a running count share it."""

    def choose(self, scores: Ints, score_range: int, charge: BoundedRange, size: int = 1) -> Ints:
        """``size`` independent draws of the exponential mechanism over one int64 vector of scores, ``charge`` each.

        ``score_range`` is by how much one row can move the scores, ``max - min`` over the candidates.
        """

    def noisy(self, exact: Ints, sensitivity: Sensitivity, charge: Gaussian | Laplace) -> Ints:
        """Exact integers with integer noise."""

    def answer(self, query: Query) -> Ints:
        """The exact answer of the sealed table, if the stream runs over one. Secret."""


class Machine(Protocol):
    """A state machine behind the gate."""

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


@dataclass(frozen=True)
class CountingStream:
    """Tells when about ``threshold`` marks have been counted, again and again, for one charge.

    Fed with marks, one 0 or 1 per round, it answers with the rounds (counted from the beginning) at which the marks
    since the last such round were found to be about ``threshold``, ``epochs`` times at most.

    Guarantee: pure ``epsilon`` for all epochs together, when a row is one round's mark: add/remove (a round is replaced
    by a round without a mark) and replace alike. A row is counted in one epoch (docs/theory/sensitivities.md, section
    4).

    Attributes:
        epsilon: the privacy parameter; ``inf`` for exact counting.
        threshold: the public threshold L.
        epochs: how often it answers at most.
    """

    epsilon: float
    threshold: int
    epochs: int

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise ValueError(f"epsilon must be positive, got {self.epsilon}")
        if self.epochs < 1:
            raise ValueError(f"epochs must be at least 1, got {self.epochs}")

    def charges(self, neighbouring: Neighbouring) -> tuple[StreamCharge, ...]:  # noqa: ARG002 - the same under both
        """One pure charge."""
        theorem = "above-threshold on running counts: a row is in one epoch"
        charge = NonPrivate() if math.isinf(self.epsilon) else Pure(self.epsilon)
        return (StreamCharge(charge, "when the count is reached", theorem),)

    def start(self, gate: Gate) -> Machine:
        """Nothing counted yet."""
        return _Counting(self, gate.above_threshold(self.epsilon, self.threshold, Queries.RUNNING_COUNT))


class _Counting:
    """The machine of :class:`CountingStream`: the count of this epoch and the noisy threshold are secret."""

    def __init__(self, spec: CountingStream, tester: Tester) -> None:
        self._spec = spec
        self._tester = tester
        self._round = 0
        self._epoch = 0
        self._count = 0

    def feed(self, *rows: npt.NDArray[Any]) -> Ints:
        """Takes one vector of marks, and answers with the rounds at which the count was reached."""
        (marks,) = rows
        if marks.ndim != 1 or marks.dtype.kind not in "biu":
            raise TypeError(f"marks must be a vector of integers, got {marks.dtype} of shape {marks.shape}")
        ones = (marks > 0).astype(np.int64)
        reached: list[int] = []
        start = 0
        while start < len(ones) and self._epoch < self._spec.epochs:
            counts = self._count + np.cumsum(ones[start : start + 4096])
            first = self._first(counts)
            if first is None:
                self._count = int(counts[-1])
                start += len(counts)
                continue
            start += first + 1
            reached.append(self._round + start - 1)
            self._count = 0
            self._epoch += 1
            if self._epoch < self._spec.epochs:
                self._tester.restart()
        self._round += len(ones)
        return np.array(reached, np.int64)

    def _first(self, counts: Ints) -> int | None:
        if len(counts) == 1:
            return 0 if self._tester.test(int(counts[0])) else None
        return self._tester.test_many(counts)

    def secrets(self) -> Secrets:
        return {
            "round": self._round,
            "epoch": self._epoch,
            "count": self._count,
            "tester": self._tester.secrets(),
        }

    def restore(self, secrets: Secrets) -> None:
        self._round, self._epoch, self._count = (int(secrets[key]) for key in ("round", "epoch", "count"))
        self._tester.restore(secrets["tester"])
