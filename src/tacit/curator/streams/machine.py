"""Streams: state machines with private state, and what they may use inside the curator.

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

from dataclasses import dataclass
from typing import Any, Protocol

import numpy.typing as npt

from tacit.arrays import Ints
from tacit.privacy.charges import BoundedRange, Charge
from tacit.privacy.unit import Neighbouring
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
    """An above-threshold inside the curator; see :class:`tacit.noise.above_threshold.AboveThreshold`."""

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
    """What a machine may use. Everything is debited from the charges its spec declared.

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
