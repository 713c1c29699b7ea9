"""A small stream: the part of DP-Winnow (Bun, Fang, Algorithm 4.2) that decides when to update."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.curator.streams.open import Gate, Machine, Secrets, StreamCharge, Tester
from tacit.privacy.charges import NonPrivate, Pure
from tacit.privacy.unit import Neighbouring
from tacit.theory.above_threshold import Queries


@dataclass(frozen=True)
class CountingStream:
    """Tells when about ``threshold`` marks have been counted, again and again, for one charge.

    Fed with marks, one 0 or 1 per round, it answers with the rounds, counted from the beginning.

    Guarantee: pure ``epsilon`` for all epochs together, when a row is one round's mark, under either relation: a row is
    counted in one epoch (docs/theory/sensitivities.md, section 4).
    """

    epsilon: float  # `inf` for exact counting
    threshold: int
    epochs: int  # how often it answers at most

    def charges(self, neighbouring: Neighbouring) -> tuple[StreamCharge, ...]:
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
