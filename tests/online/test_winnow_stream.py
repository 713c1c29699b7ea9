"""Winnow behind the gate: what one row can move, what leaves, and that the whole obeys its charge."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.curator.streams.open import open_row_stream
from tacit.curator.streams.winnow import WinnowStream, WinnowUpdate
from tacit.curator.streams.winnow_log import WinnowLog
from tacit.privacy.charges import NonPrivate
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.theory.above_threshold import Queries, scales
from tests.noise.above_threshold_law import log_probability

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


def stream_of(**changes: Any) -> WinnowStream:
    values = {
        "dimension": 4, "signed": False, "update": "batch", "neighbouring": ADD, "threshold_epsilon": 0.5,
        "threshold": 3, "epochs": 3, "n_samples": 5, "draw_range": 0.8, "horizon": 1000, **changes,
    }  # fmt: skip
    return WinnowStream(**values)


class ScriptedTester:
    """Stops at given rounds, whatever the counts are: the transcript that two neighbours are compared on."""

    def __init__(self, stops: set[int]) -> None:
        self.stops = stops
        self.round = -1
        self.values: list[int] = []
        self.stopped = False

    def test(self, value: int) -> bool:
        self.round += 1
        self.values.append(int(value))
        return self.round in self.stops

    def test_many(self, values: np.ndarray) -> int | None:
        for place, value in enumerate(values):
            if self.test(int(value)):
                return place
        return None

    def restart(self) -> None:
        return

    def secrets(self) -> dict[str, int | bool]:
        return {}

    def restore(self, secrets: dict[str, int | bool]) -> None:
        del secrets


class ScriptedGate:
    """Keeps the scores that draws are made from, and answers with given indices."""

    private = True

    def __init__(self, stops: set[int], drawn: list[np.ndarray]) -> None:
        self.tester = ScriptedTester(stops)
        self.drawn = drawn
        self.scores: list[np.ndarray] = []
        self.ranges: list[int] = []

    def above_threshold(self, epsilon: float, threshold: int, queries: Queries, sensitivity: int = 1) -> ScriptedTester:
        assert queries is Queries.RUNNING_COUNT
        assert sensitivity == 1
        return self.tester

    def choose(self, scores: np.ndarray, score_range: int, charge: Any, size: int = 1) -> np.ndarray:
        self.scores.append(scores.copy())
        self.ranges.append(score_range)
        return self.drawn[len(self.scores) - 1][:size]


def run(
    spec: WinnowStream, rows: np.ndarray, labels: np.ndarray, stops: set[int], drawn: list[np.ndarray]
) -> ScriptedGate:
    gate = ScriptedGate(stops, drawn)
    machine = spec.start(gate)  # type: ignore[arg-type]
    machine.feed(rows, labels)
    return gate


def neighbours(generator: np.random.Generator, relation: Neighbouring, n: int, d: int) -> tuple[Any, Any]:
    rows = (2 * generator.integers(0, 2, (n, d)) - 1).astype(np.int8)
    labels = (2 * generator.integers(0, 2, n) - 1).astype(np.int8)
    other_rows, other_labels = rows.copy(), labels.copy()
    place = generator.integers(n)
    if relation is ADD:
        other_labels[place] = 0
    else:
        other_rows[place] = 2 * generator.integers(0, 2, d) - 1
        other_labels[place] = 2 * generator.integers(0, 2) - 1
    return (rows, labels), (other_rows, other_labels)


def widest(spec: WinnowStream, tries: int = 400) -> tuple[int, int]:
    """By how much scores, and in how many epochs counts, differ between neighbours at most."""
    generator = np.random.default_rng(7)
    apart, epochs = 0, 0
    for _ in range(tries):
        n = 12
        stops = set(np.flatnonzero(generator.random(n) < 0.3).tolist())
        drawn = [generator.integers(0, 2 * spec.dimension if spec.signed else spec.dimension, 5) for _ in range(n)]
        one, two = (
            run(spec, *table, stops, drawn) for table in neighbours(generator, spec.neighbouring, n, spec.dimension)
        )
        for a, b in zip(one.scores, two.scores, strict=True):
            apart = max(apart, int(np.ptp(a - b)))
        differences = np.array(one.tester.values) - np.array(two.tester.values)
        assert np.abs(differences).max() <= 1
        ends = [0, *(stop + 1 for stop in sorted(stops)), n]
        touched = [differences[a:b] for a, b in itertools.pairwise(ends) if differences[a:b].any()]
        for moved in touched:  # within an epoch: from the row's round on, by one and the same amount
            start = int(np.flatnonzero(moved)[0])
            assert (moved[start:] == moved[start]).all()
        epochs = max(epochs, len(touched))
    return apart, epochs


@pytest.mark.parametrize("update", ["batch", "every", "first"])
@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("signed", [False, True])
def test_one_row_moves_scores_apart_by_the_stated_range_and_counts_in_one_epoch(
    update: str, relation: Neighbouring, signed: bool
) -> None:
    """The search reaches the range, so it would find a range that is 10 % too small."""
    spec = stream_of(update=update, neighbouring=relation, signed=signed, epochs=12)
    apart, epochs = widest(spec)
    assert apart == spec.score_range
    assert apart > 0.9 * spec.score_range
    assert epochs == 1


# The whole of a tiny stream, exactly.


def law(spec: WinnowStream, rows: np.ndarray, labels: np.ndarray) -> dict[tuple[int, ...], float]:
    """Exact log-probabilities of what leaves a stream of one update with one sample: (round of it, index), or ()."""
    noise = scales(spec.threshold_epsilon, Queries.RUNNING_COUNT)
    plain = run(spec, rows, labels, set(), [])
    counts = plain.tester.values
    results = {(): log_probability(noise, spec.threshold, [(c, 1) for c in counts], None)}
    for stop in range(len(rows)):
        scores = run(spec, rows, labels, {stop}, [np.zeros(1, np.int64)]).scores[0]
        log_weights = spec.rate * scores - math.log(np.exp(spec.rate * scores).sum())
        when = log_probability(noise, spec.threshold, [(c, 1) for c in counts[:stop]], counts[stop])
        for index, log_weight in enumerate(log_weights):
            results[(stop, index)] = when + float(log_weight)
    return results


@pytest.mark.parametrize("update", ["batch", "every"])
@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_no_output_of_a_tiny_stream_exceeds_the_pure_cost(relation: Neighbouring, update: str) -> None:
    spec = stream_of(
        dimension=2, neighbouring=relation, update=update, threshold_epsilon=0.6, threshold=1, epochs=1, n_samples=1,
        draw_range=1.0,
    )  # fmt: skip
    points = [np.array(x, np.int8) for x in itertools.product((-1, 1), repeat=2)]
    rounds = [(x, y) for x in points for y in (-1, 1)]
    laws: dict[tuple[int, ...], dict[tuple[int, ...], float]] = {}
    choices = [*range(len(rounds)), -1] if relation is ADD else list(range(len(rounds)))

    def law_of(chosen: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        if chosen not in laws:
            rows = np.array([rounds[c][0] for c in chosen])
            labels = np.array([0 if c < 0 else rounds[c][1] for c in chosen], np.int8)
            laws[chosen] = law(spec, rows, labels)
            assert sum(map(math.exp, laws[chosen].values())) == pytest.approx(1.0)
        return laws[chosen]

    worst = 0.0
    for base in itertools.product(range(0, len(rounds), 3), repeat=2):
        for place, other in itertools.product(range(2), choices):
            changed = tuple(other if i == place else c for i, c in enumerate(base))
            if relation is ADD and other >= 0:
                continue
            p, q = law_of(base), law_of(changed)
            worst = max(worst, *(abs(p[output] - q[output]) for output in p))
    assert spec.score_range == (2 if relation is ADD else 4)  # which the search above attains
    assert spec.rate * spec.score_range == pytest.approx(spec.draw_range)
    claimed = spec.threshold_epsilon + spec.draw_range
    assert (0.55 if relation is ADD else 0.4) * claimed < worst <= claimed


@pytest.mark.parametrize(("update", "moved"), [("first", [1, -1, -1]), ("batch", [-1, -3, -1])])
def test_an_update_takes_the_first_mistake_or_all_of_them(update: str, moved: list[int]) -> None:
    """Algorithm 4.2 by hand: three mistakes end an epoch, and the next one counts from nothing."""
    spec = stream_of(
        dimension=3, signed=False, update=update, threshold_epsilon=math.inf, threshold=3, epochs=2, draw_range=0.8
    )
    stream = open_row_stream(spec, Reservation([NonPrivate()], ADD, "x"), 1, "w")
    rows = np.array([[1, -1, -1], [1, 1, 1], [1, 1, -1]], np.int8)  # the first weights are alike
    labels = np.array([1, -1, -1], np.int8)
    (released,) = [update for t in range(3) for update in stream.feed(rows[t : t + 1], labels[t : t + 1])]
    machine = stream.secrets()["machine"]
    assert (machine["sums"], machine["count"], machine["cached"]) == (moved, 0, None)
    exact = np.exp(spec.rate * np.array(moved))
    assert released.weights / released.weights.sum() == pytest.approx(exact / exact.sum(), abs=1e-3)


@pytest.mark.parametrize(("update", "moved"), [("batch", [0, -2, -2]), ("every", [1, -1, -3])])
@pytest.mark.parametrize("step", [1, 4])
def test_rounds_that_are_right_count_where_every_round_does(update: str, moved: list[int], step: int) -> None:
    """Right, wrong, null, wrong: a null round never counts, and what comes after the end is of the next epoch."""
    spec = stream_of(dimension=3, update=update, threshold_epsilon=math.inf, threshold=2, epochs=2, n_samples=1)
    stream = open_row_stream(spec, Reservation([NonPrivate()], ADD, "x"), 1, "w")
    rows = np.array([[1, 1, -1], [1, -1, -1], [1, 1, 1], [1, 1, 1]], np.int8)
    labels = np.array([1, 1, 0, -1], np.int8)
    (released,) = [out for t in range(0, 4, step) for out in stream.feed(rows[t : t + step], labels[t : t + step])]
    assert released.round == 3
    machine = stream.secrets()["machine"]
    assert (machine["sums"], machine["count"]) == (moved, 0)


def test_what_leaves_is_the_same_in_one_piece_and_in_many() -> None:
    generator = np.random.default_rng(0)
    rows = (2 * generator.integers(0, 2, (400, 6)) - 1).astype(np.int8)
    labels = np.where(rows[:, 0] + rows[:, 1] + rows[:, 2] > 0, 1, -1).astype(np.int8)
    spec = stream_of(dimension=6, threshold_epsilon=math.inf, threshold=4, epochs=20, draw_range=0.1)
    reservation = Reservation([NonPrivate()], ADD, "x")
    whole = open_row_stream(spec, reservation, 1, "w").feed(rows, labels)
    pieces = open_row_stream(spec, reservation, 1, "w")
    results: list[WinnowUpdate] = []
    for start in range(0, 400, 7):
        results += pieces.feed(rows[start : start + 7], labels[start : start + 7])
    moved = open_row_stream(spec, reservation, 1, "w")
    first = moved.feed(rows[:150], labels[:150])
    again = open_row_stream(spec, reservation, 1, "w")
    again.restore(json.loads(json.dumps(moved.secrets())))
    first += again.feed(rows[150:], labels[150:])
    for other in (results, first):
        assert [u.round for u in other] == [u.round for u in whole]
        for a, b in zip(other, whole, strict=True):
            assert (a.weights is None) == (b.weights is None)
            assert a.weights is None or np.array_equal(a.weights, b.weights)
    assert len(whole) > 3


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 30), st.booleans()), min_size=1, max_size=30))
def test_the_log_follows_from_what_was_released(epochs: list[tuple[int, bool]]) -> None:
    log = WinnowLog(3, False, 30)
    at = -1
    generator = np.random.default_rng(0)
    for length, drawn in epochs:
        at += length
        before = log.current
        log.end_epoch(at, generator.integers(0, 5, 3) if drawn else None)
        assert log.lengths[before] == length
        assert log.since == at + 1
        if not drawn:
            assert log.lengths[log.current] == max(log.lengths)
    read = WinnowLog.from_dict(json.loads(json.dumps(log.to_dict())))
    assert np.array_equal(read.weights, log.weights)
    assert read.to_dict() == log.to_dict()


def test_after_the_last_draw_the_longest_lasting_weights_come_back() -> None:
    spec = stream_of(epochs=2, horizon=100)
    rows = np.ones((40, 4), np.int8)
    labels = np.ones(40, np.int8)
    gate = ScriptedGate({3, 20, 25, 30}, [np.full(5, 1), np.full(5, 2)])
    machine = spec.start(gate)  # type: ignore[arg-type]
    updates = machine.feed(rows, labels)
    assert [u.weights is None for u in updates] == [False, False, True, True]
    assert len(gate.scores) == 2
    log = WinnowLog(4, False, 2)
    for update in updates:
        log.end_epoch(update.round, update.weights)
    assert log.lengths == [4, 17 if log.current != 1 else 5, 5]


def test_what_does_not_fit_changes_nothing() -> None:
    reservation = Reservation([part.charge for part in stream_of().charges(ADD)], ADD, "x")
    stream = open_row_stream(stream_of(horizon=10), reservation, 3, "w")
    rows, labels = np.ones((4, 4), np.int8), np.ones(4, np.int8)
    stream.feed(rows, labels)
    before = stream.secrets()
    for wrong in (
        (rows[:, :3], labels),
        (rows.astype(float), labels),
        (rows, labels[:3]),
        (rows, labels.astype(float)),
        (np.ones((7, 4), np.int8), np.ones(7, np.int8)),
    ):
        with pytest.raises(ValueError, match=r"must be int8|declared for 10 rounds"):
            stream.feed(*wrong)
    assert stream.secrets() == before


def test_sums_of_released_weights_are_tried_when_the_draws_are_used_up() -> None:
    log = WinnowLog(3, False, 17)
    drawn = [np.array([t, 1, 0], np.int64) for t in range(17)]
    for t, weights in enumerate(drawn):
        assert log.draws_left
        log.end_epoch(10 * t + 9, weights)
    assert not log.draws_left
    assert log.current == 17
    tried = []
    for t in range(17, 19):
        log.end_epoch(10 * t + 9, None)
        tried.append(log.weights.tolist())
    assert tried == [[sum(range(1, 17)), 16, 0], [sum(range(9, 17)), 8, 0]]  # the last 16, then the last 8
    log.end_epoch(10 * 18 + 10 + 99, None)  # and the last 8 lasted longest
    assert log.weights.tolist() == tried[1]
