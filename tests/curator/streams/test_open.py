"""Streams: charged whole when they open, sealed while they run, and never above what they declared."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from typing import Any

import numpy as np
import pytest

from tacit.checks.mechanism import Law, likelihood_ratio_rejects
from tacit.curator.streams.open import Gate, Machine, Stream, StreamCharge, open_row_stream, open_stream
from tacit.noise import SeededSource
from tacit.privacy.charges import BoundedRange, NonPrivate, Pure, Repeated
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.theory.above_threshold import Queries, Scales, scales
from tests.curator.streams.counting import CountingStream
from tests.noise.above_threshold_law import log_probability
from tests.noise.exact import kolmogorov_rejects

RELATION = Neighbouring.ADD_OR_REMOVE_ONE


def reserve(*charges: Any) -> Reservation:
    return Reservation(charges, RELATION, "test")


def open_seeded(spec: CountingStream, seed: int = 1) -> Stream:
    return open_row_stream(spec, reserve(Pure(10.0), NonPrivate()), seed, "x")


def test_the_whole_charge_is_recorded_when_it_opens() -> None:
    reservation = reserve(Pure(0.5))
    stream = open_row_stream(CountingStream(0.5, 100, 5), reservation, None, "updates")
    [entry] = reservation.entries
    assert (entry.charge, entry.label) == (Pure(0.5), "updates: when the count is reached")
    assert "one epoch" in entry.theorem
    reservation.close()
    assert len(stream.feed(np.ones(3_000, np.int64))) == 5
    assert reservation.entries == (entry,)
    assert (stream.noise_name, stream.releasable) == ("tacit", True)


def test_a_stream_that_is_not_covered_does_not_start() -> None:
    class _Spec(CountingStream):
        def start(self, gate: Gate) -> Machine:
            raise AssertionError("started")

    with pytest.raises(BudgetExceeded):
        open_row_stream(_Spec(0.5, 3, 1), reserve(Pure(0.4)), None, "x")


def test_a_failing_start_leaves_the_charge() -> None:
    class _Spec(CountingStream):
        def start(self, gate: Gate) -> Machine:
            raise OSError("fault")

    reservation = reserve(Pure(0.5))
    with pytest.raises(OSError, match="fault"):
        open_row_stream(_Spec(0.5, 3, 1), reservation, None, "x")
    assert len(reservation.entries) == 1


MARKS = np.array([1, 0, 1, 1, 1], np.int64)
ANSWERS = [(), *((t,) for t in range(5)), *itertools.combinations(range(5), 2)]


def law(noise: Scales, threshold: int) -> Law:
    """The exact law of the rounds at which two epochs end, in the order of ``ANSWERS``."""
    results = []
    for stops in ANSWERS:
        start, total = 0, 0.0
        for stop in stops:
            counts = np.cumsum(MARKS[start : stop + 1]).tolist()
            total += log_probability(noise, threshold, [(c, 1) for c in counts[:-1]], counts[-1])
            start = stop + 1
        if len(stops) < 2:
            total += log_probability(noise, threshold, [(int(c), 1) for c in np.cumsum(MARKS[start:])], None)
        results.append(np.exp(total))
    assert sum(results) == pytest.approx(1.0)
    return Law(0, np.array(results))


def test_epochs_end_by_their_law() -> None:
    """In one array, round by round, and through secrets in between: the same law, and not that of less noise."""

    def answer(seed: int) -> int:
        stream = open_seeded(CountingStream(0.7, 2, 2), seed)
        cuts = [[0, 5], [0, 1, 2, 3, 4, 5], [0, 3, 5]][seed % 3]
        reached: list[int] = []
        for start, stop in itertools.pairwise(cuts):
            reached += stream.feed(MARKS[start:stop]).tolist()
            if seed % 3 == 2:
                saved = json.loads(json.dumps(stream.secrets()))
                stream = open_seeded(CountingStream(0.7, 2, 2), 10**6 + 7 * seed + start)
                stream.restore(saved)
        return ANSWERS.index(tuple(reached))

    draws = np.array([answer(seed) for seed in range(3_000)])
    noise = scales(0.7, Queries.RUNNING_COUNT)
    claimed, wrong = law(noise, 2), law(Scales(noise.threshold * 0.5, noise.query * 0.5), 2)
    assert not kolmogorov_rejects(draws, claimed)
    assert not likelihood_ratio_rejects(draws, claimed, wrong)
    other = np.random.default_rng(0).choice(len(ANSWERS), 3_000, p=wrong.p)
    assert likelihood_ratio_rejects(other, claimed, wrong)


def test_without_privacy_it_counts() -> None:
    stream = open_row_stream(CountingStream(float("inf"), 3, 2), reserve(NonPrivate()), None, "x")
    marks = np.array([1, 0, 1, 1, 0, 7, -2, 1, 1, 1, 1, 1, 1])
    assert [stream.feed(part).tolist() for part in np.array_split(marks, 4)] == [[3], [], [8], []]


def test_what_rows_hold_is_clipped_and_what_is_public_is_checked() -> None:
    stream = open_seeded(CountingStream(5.0, 50, 1))
    assert stream.feed(np.full(20, 10**9)).tolist() == []
    before = stream.secrets()
    for wrong in (np.ones((2, 2), np.int64), np.ones(3)):
        with pytest.raises(TypeError, match="marks"):
            stream.feed(wrong)
    assert stream.secrets() == before
    assert len(stream.feed(np.ones(60, bool))) == 1
    assert stream.feed(np.zeros(0, np.int64)).tolist() == []


def test_it_cannot_be_copied_or_pickled() -> None:
    stream = open_seeded(CountingStream(1.0, 3, 1))
    for copier in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="holds secrets"):
            copier(stream)


class _Greedy:
    """A machine that takes whatever it is told to, to see what the gate lets through."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    def feed(self, *rows: Any) -> Any:
        (call,) = rows
        return call(self.gate)

    def secrets(self) -> dict[str, Any]:
        return {}

    def restore(self, secrets: dict[str, Any]) -> None:
        pass


class _GreedySpec:
    def __init__(self, *charges: Any) -> None:
        self.parts = tuple(StreamCharge(charge, "part", "theorem") for charge in charges)

    def charges(self, neighbouring: Neighbouring) -> tuple[StreamCharge, ...]:
        return self.parts

    def start(self, gate: Gate) -> Machine:
        return _Greedy(gate)


SCORES = np.array([0, 5, 9], np.int64)


def open_greedy(*charges: Any) -> Stream:
    return open_stream(_GreedySpec(*charges), reserve(*charges), SeededSource(5), "x")


def test_a_machine_gets_no_more_than_its_spec_declared() -> None:
    stream = open_greedy(Repeated(BoundedRange(0.1), 10), Pure(1.0))
    assert stream.feed(lambda g: g.choose(SCORES, 3, BoundedRange(0.1), size=7)).shape == (7,)
    with pytest.raises(BudgetExceeded):
        stream.feed(lambda g: g.choose(SCORES, 3, BoundedRange(0.2), size=9))
    assert stream.feed(lambda g: not g.above_threshold(1.0, 10**6, Queries.ANY).test(0))
    for call in (
        lambda g: g.above_threshold(0.5, 3, Queries.ANY),
        lambda g: g.choose(SCORES, 3, BoundedRange(0.1), size=4),
    ):
        with pytest.raises(BudgetExceeded):
            stream.feed(call)
    assert stream.feed(lambda g: g.choose(SCORES, 3, BoundedRange(0.1), size=3)).shape == (3,)


class _Asked:
    """A source that draws nothing, and keeps at what scale it was asked for how much."""

    name, releasable = "asked", False

    def __init__(self) -> None:
        self.asked: list[tuple[str, float, int]] = []

    def exponential(self, scores: np.ndarray, scale: float) -> int:
        self.asked.append(("exponential", scale, len(scores)))
        return 1

    def __getattr__(self, name: str) -> Any:
        def draw(scale: float, size: int) -> np.ndarray:
            self.asked.append((name, scale, size))
            return np.arange(size)

        return draw


def test_what_one_row_can_move_says_at_what_scale_is_drawn() -> None:
    source = _Asked()
    charges = (Repeated(BoundedRange(0.5), 2), Pure(0.25))
    stream = open_stream(_GreedySpec(*charges), reserve(*charges), source, "x")  # type: ignore[arg-type]
    assert stream.feed(lambda g: g.choose(SCORES, 3, BoundedRange(0.5), size=2)).tolist() == [1, 1]
    stream.feed(lambda g: g.above_threshold(0.25, 7, Queries.ANY, 3))
    names, scales_, sizes = zip(*source.asked, strict=True)
    assert names == ("exponential", "exponential", "laplace")
    assert scales_ == pytest.approx([6.0, 6.0, 24.0], rel=1e-12)
    assert sizes == (3, 3, 1)


def test_a_fork_does_not_answer_a_second_time(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = open_seeded(CountingStream(1.0, 3, 1))
    saved = stream.secrets()
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("os.getpid", lambda: -1)
        for call in (lambda: stream.feed(MARKS), stream.secrets, lambda: stream.restore(saved)):
            with pytest.raises(RuntimeError, match="opened by another process"):
                call()
    assert stream.secrets() == saved


def test_going_on_elsewhere_does_not_refill_it() -> None:
    charges = (Repeated(BoundedRange(0.1), 10),)
    first, second = open_greedy(*charges), open_greedy(*charges)
    first.feed(lambda g: g.choose(SCORES, 3, BoundedRange(0.1), size=4))
    first.feed(lambda g: g.choose(SCORES, 3, BoundedRange(0.1), size=4))
    second.restore(json.loads(json.dumps(first.secrets())))
    with pytest.raises(BudgetExceeded):
        second.feed(lambda g: g.choose(SCORES, 3, BoundedRange(0.1), size=3))
    assert second.feed(lambda g: g.choose(SCORES, 3, BoundedRange(0.1), size=2)).shape == (2,)


def test_without_privacy_the_gate_is_exact() -> None:
    stream = open_greedy(NonPrivate())
    assert stream.feed(lambda g: g.private) is False
    assert stream.feed(lambda g: g.choose(SCORES, 3, BoundedRange(0.1), size=2)).tolist() == [2, 2]
    assert stream.feed(lambda g: g.above_threshold(1.0, 3, Queries.ANY).test(3))
