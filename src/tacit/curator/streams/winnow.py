"""DP-Winnow as a stream: multiplicative weights on mistakes, of which only samples and update times are let out.

Bun, Fang, Algorithm 4.2, with the analysis of ``docs/theory/winnow.md``. Private are the count of mistakes in the
epoch, the noisy threshold, and the sums that are the exponents of the weights. Released are the rounds at which an
epoch ended and the indices drawn then; the predictor in use follows from these (:class:`WinnowLog`).

Privacy, for a row that is one round ``(x, y)``, ``x`` in ``{-1, 1}**d``. Given what was released before, a row is
counted in the one epoch it falls into, so all above-thresholds cost one. Its mark on the exponents is ``+-x`` once
and for all: removing it moves each score by at most 1, apart by at most 2; replacing it by at most 2, apart by at
most 4. In ``update="first"`` the next mistake takes its place when it goes: apart by at most 4 under either relation.

A stream may have public periods: at the end of each a machine of the same spec starts anew, of which nothing but what
was released is left. A row is in one period, so all of them together cost what one does (Theorem 9).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.curator.streams.open import Gate, Machine, Secrets, StreamCharge, Tester
from tacit.curator.streams.winnow_log import Marks, WinnowLog, first_weights, mixture, scores_of
from tacit.privacy.charges import ZCDP, BoundedRange, Charge, NonPrivate, Pure, Repeated
from tacit.privacy.unit import Neighbouring
from tacit.theory.above_threshold import Queries

UPDATES = ("batch", "every", "first", "timed")

BLOCK = 1 << 12  # rounds predicted at a time; those after an update are predicted again

MOST_COMPOSED = 100_000
"""Draws up to which the accountant composes privacy losses; more are charged by their zCDP, which is as good then."""

ONE_PERIOD = "one public period (parallel composition, docs/theory/winnow.md, Theorem 9)"
"""What the theorems of a stream with periods add."""

EXACT_UNITS = 1 << 20  # integer units of weight 1 where there is no noise and the weights are let out as they are


def draws_charge(draw_range: float, draws: int) -> Charge:
    """What so many draws of this range cost together."""
    if draws > MOST_COMPOSED:
        return ZCDP(draws * draw_range**2 / 8.0)
    return Repeated(BoundedRange(draw_range), draws)


@dataclass(frozen=True)
class WinnowStream:
    """A private Winnow as public data."""

    dimension: int  # coordinates of a row
    signed: bool  # whether weights may be negative: every coordinate then stands for itself and for its negation
    # `"batch"` (all mistakes of the epoch), `"first"` (its first mistake, as in the paper), `"every"` (all its rounds,
    # for targets that are one coordinate), or `"timed"`: all unsure rounds, with updates at public times
    update: str
    neighbouring: Neighbouring  # the relation it is made for
    # the privacy parameter of above-threshold; `inf` for no privacy at all. Updates at public times need none: 0.
    threshold_epsilon: float
    threshold: int  # mistakes at which an epoch is to end
    epochs: int  # how often samples are drawn; epochs that end later fall back on weights that were released
    n_samples: int  # indices drawn at each update
    draw_range: float  # what each draw costs
    horizon: int  # the most rounds, of a period where there are several; public
    classes: int = 2  # how many there are
    periods: bool = False  # whether the machine may start anew at public times
    released: tuple[int, ...] = ()  # weights of the period before, in whole units, shape `(n_weights,)`; empty for none
    carried: float = 0.0  # the share of them in the weights that this period begins with; the rest is uniform
    times: tuple[int, ...] = ()  # rounds of a period after which there is an update, `epochs` of them, growing; public
    unsure: float = 0.0  # rounds count that are right by less than this share of the weights, as do mistakes
    decay: float = 0.0  # of released weights with every update after them; see `WinnowLog`

    def __post_init__(self) -> None:
        if self.update not in UPDATES:
            raise ValueError(f"update must be one of {', '.join(UPDATES)}, got {self.update!r}")
        if self.update == "every" and self.classes > 2:
            raise ValueError("update='every' is for two classes")
        for name in ("dimension", "threshold", "epochs", "n_samples", "horizon", "threshold_epsilon", "draw_range"):
            if not getattr(self, name) > 0 and not (self.is_timed and name == "threshold_epsilon"):
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        grows = all(0 < a < b for a, b in zip((*self.times, math.inf), (*self.times[1:], math.inf), strict=False))
        if self.is_timed and not (grows and len(self.times) == self.epochs and 0 <= self.decay < 1):
            raise ValueError("updates at public times need a growing time for each epoch, and a decay in [0, 1)")
        if not 0 <= self.carried < 1 or len(self.released) not in (0, self.marks.n_weights):
            raise ValueError(f"carried must lie in [0, 1) and there must be {self.marks.n_weights} released weights")

    @property
    def marks(self) -> Marks:
        return Marks(self.dimension, self.classes)

    @property
    def is_timed(self) -> bool:
        return self.update == "timed"

    @property
    def score_range(self) -> int:
        """How far apart one row can move two scores."""
        alone = self.update != "first" and self.neighbouring is Neighbouring.ADD_OR_REMOVE_ONE
        return 2 if alone else 4

    @property
    def rate(self) -> float:
        """The learning rate per mistake: the exponent of a weight per unit of its score."""
        return self.draw_range / self.score_range

    @property
    def is_private(self) -> bool:
        return not math.isinf(self.threshold_epsilon)

    def charges(self, neighbouring: Neighbouring) -> tuple[StreamCharge, ...]:
        """Above-threshold once, and every draw."""
        if neighbouring is not self.neighbouring:
            raise ValueError(f"this stream was planned for {self.neighbouring}, not for {neighbouring}")
        if not self.is_private:
            return (StreamCharge(NonPrivate(), "everything", "no privacy was asked for"),)
        draws = draws_charge(self.draw_range, self.epochs * self.n_samples)
        when = "above-threshold on running counts: a row is in one epoch"
        weights = f"exponential mechanism: one row moves scores {self.score_range} apart"
        if self.is_timed:
            weights = f"{weights}, updates at public times"
        if self.periods:
            when, weights = f"{when} of {ONE_PERIOD}", f"{weights}, in {ONE_PERIOD}"
        if self.is_timed:
            return (StreamCharge(draws, "weights", weights),)
        return (
            StreamCharge(Pure(self.threshold_epsilon), "when to update", when),
            StreamCharge(draws, "weights", weights),
        )

    def first_log(self) -> WinnowLog:
        """What is known when the first round comes."""
        decay = self.decay if self.is_timed else None
        log = WinnowLog(self.marks.n_weights, self.signed, self.epochs, decay=decay, carried=self.carried)
        if self.released:
            log.vectors[0] = first_weights(np.array(self.released, np.int64), self.signed, self.carried)
        return log

    def first_scores(self) -> Ints:
        """The scores before the first mistake, those of negations last: public, and 0 unless weights are carried."""
        n = self.marks.n_weights * (2 if self.signed else 1)
        if not self.released or self.carried == 0:
            return np.zeros(n, np.int64)
        return scores_of(mixture(np.array(self.released, np.int64), self.signed, self.carried), self.rate)

    def start(self, gate: Gate) -> Machine:
        return _Winnow(self, gate)


@dataclass(frozen=True)
class WinnowUpdate:
    """What is let out at the end of an epoch: the round (counted from 0), and the new weights if any were drawn."""

    round: int
    weights: Ints | None


class _Winnow:
    """The machine: counts mistakes, keeps the exponents, draws at the end of an epoch."""

    def __init__(self, spec: WinnowStream, gate: Gate) -> None:
        self._spec = spec
        self._gate = gate
        self._tester: Tester | None = None
        if not spec.is_timed:
            self._tester = gate.above_threshold(spec.threshold_epsilon, spec.threshold, Queries.RUNNING_COUNT)
        self._marks = spec.marks
        self._log = spec.first_log()
        self._first = spec.first_scores()
        self._sums = np.zeros(self._marks.n_weights, np.int64)
        self._cached: Ints | None = None
        self._count = 0
        self._round = 0

    def feed(self, *rows: npt.NDArray[Any]) -> list[WinnowUpdate]:
        """Takes rows (int8, shape ``(n, dimension)``, positive or not) and labels (see :class:`Marks`)."""
        table, labels = rows
        self._marks.check(table, labels)
        if self._round + len(table) > self._spec.horizon:
            raise ValueError(
                f"the stream was declared for {self._spec.horizon} rounds; {self._round} were taken and {len(table)} "
                "more would be too many. Declare a longer horizon"
            )
        updates: list[WinnowUpdate] = []
        start = 0
        while start < len(table):
            count, update = self._take(table[start : start + BLOCK], labels[start : start + BLOCK])
            start += count
            if update is not None:
                updates.append(update)
        return updates

    def _take(self, table: npt.NDArray[np.int8], labels: npt.NDArray[Any]) -> tuple[int, WinnowUpdate | None]:
        """Takes rounds up to the first end of an epoch: how many, and what is let out then."""
        if self._tester is None:
            return self._take_timed(table, labels)
        wrong, rivals = self._marks.hit(self._marks.scores(self._log.weights, table), labels)
        counts = self._count + np.cumsum(wrong)
        if len(counts) == 1:
            first = 0 if self._tester.test(int(counts[0])) else None
        else:
            first = self._tester.test_many(counts)
        count = len(table) if first is None else first + 1
        self._count = int(counts[count - 1])
        counted = np.flatnonzero(labels[:count] if self._spec.update == "every" else wrong[:count])
        self._remember(table[counted], labels[counted], rivals[counted])
        self._round += count
        return count, None if first is None else self._end_epoch()

    def _take_timed(self, table: npt.NDArray[np.int8], labels: npt.NDArray[Any]) -> tuple[int, WinnowUpdate | None]:
        """The same where the end is public: rounds that are wrong, or not sure, are remembered."""
        due = next((time for time in self._spec.times if time > self._round), math.inf) - self._round
        count = int(min(due, len(table)))
        table, labels = table[:count], labels[:count]
        least = math.ceil(self._spec.unsure * int(np.abs(self._log.weights).sum()))
        hit, rivals = self._marks.hit(self._marks.scores(self._log.weights, table), labels, least)
        self._remember(table[hit], labels[hit], rivals[hit])
        self._round += count
        return count, self._end_epoch() if count == due else None

    def _remember(self, table: npt.NDArray[np.int8], labels: npt.NDArray[Any], rivals: Ints) -> None:
        if len(table) == 0:
            return
        if self._spec.update != "first":
            self._sums += self._marks.total(table, labels, rivals)
        elif self._cached is None:
            self._cached = self._marks.total(table[:1], labels[:1], rivals[:1])

    def _end_epoch(self) -> WinnowUpdate:
        if self._cached is not None:
            self._sums += self._cached
        weights = self._draw() if self._log.draws_left else None
        self._log.end_epoch(self._round - 1, weights)
        self._cached = None
        self._count = 0
        if self._tester is not None:
            self._tester.restart()
        return WinnowUpdate(self._round - 1, weights)

    def _draw(self) -> Ints:
        """New weights: how often each coordinate was drawn; for signed ones, less how often its negation was."""
        spec = self._spec
        scores = self._first + (np.concatenate([self._sums, -self._sums]) if spec.signed else self._sums)
        if not self._gate.private:
            exact = np.exp(spec.rate * (scores - scores.max()))
            counts = np.rint(EXACT_UNITS * exact / exact.sum()).astype(np.int64)
        else:
            charge = BoundedRange(spec.draw_range)
            indices = self._gate.choose(np.ascontiguousarray(scores), spec.score_range, charge, spec.n_samples)
            counts = np.bincount(indices, minlength=len(scores)).astype(np.int64)
        n = self._marks.n_weights
        weights: Ints = counts[:n] - counts[n:] if spec.signed else counts
        return weights

    def secrets(self) -> Secrets:
        return {
            "round": self._round,
            "count": self._count,
            "sums": self._sums.tolist(),
            "cached": None if self._cached is None else self._cached.tolist(),
            "tester": None if self._tester is None else self._tester.secrets(),
            "log": self._log.to_dict(),
        }

    def restore(self, secrets: Secrets) -> None:
        self._round, self._count = int(secrets["round"]), int(secrets["count"])
        self._sums = np.array(secrets["sums"], np.int64)
        self._cached = None if secrets["cached"] is None else np.array(secrets["cached"], np.int64)
        if self._tester is not None:
            self._tester.restore(secrets["tester"])
        self._log = WinnowLog.from_dict(secrets["log"])
