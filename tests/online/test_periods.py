"""Public periods (Theorem 9): a row counts in one, the law of what leaves, the mistakes of each, and the face."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.online_streams import classes_stream, majority_stream
from tacit.curator.streams.open import Stream, open_row_stream
from tacit.curator.streams.winnow import WinnowStream, _Winnow
from tacit.noise import SeededSource
from tacit.online import StreamClosed, Winnow
from tacit.online.schedule import bound_of, theorem_schedule
from tacit.privacy.charges import Pure
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tests.curator.streams.counting import CountingStream
from tests.online.test_winnow_stream import ScriptedGate, law, neighbours, stream_of
from tests.online.test_winnow_theory import potential, requested

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


class Scripted(ScriptedGate):
    """A gate per period, each with stops and draws of its own."""

    def __init__(self, stops: list[set[int]], drawn: list[np.ndarray], gates: list[Scripted]) -> None:
        super().__init__(stops[len(gates)], drawn)
        self.all_stops, self.gates = stops, gates
        gates.append(self)

    def renewed(self, spec: Any) -> Scripted:
        del spec
        return Scripted(self.all_stops, self.drawn, self.gates)


def run_periods(
    spec: WinnowStream, rounds: Any, lengths: list[int], stops: list[set[int]], drawn: list[np.ndarray]
) -> list[Scripted]:
    """What a script sees of every period, the next of which starts from the weights that the script released."""
    gates: list[Scripted] = []
    stream, start = Stream(spec, Scripted(stops, drawn, gates), SeededSource(1)), 0  # type: ignore[arg-type]
    log = spec.first_log()
    for turn, length in enumerate(lengths):
        if turn:
            spec = replace(spec, released=tuple(log.weights.tolist()))
            stream.renew(spec)
            log = spec.first_log()
        for update in stream.feed(*(part[start : start + length] for part in rounds)):
            log.end_epoch(update.round, update.weights)
        start += length
    return gates


def widest(spec: WinnowStream, tries: int = 120) -> tuple[int, int]:
    """By how much one row moves scores apart, and in how many periods it moves anything, at most."""
    generator, apart, periods = np.random.default_rng(3), 0, 0
    for _ in range(tries):
        stops = [set(np.flatnonzero(generator.random(8) < 0.3).tolist()) for _ in range(3)]
        drawn = [generator.integers(0, 2 * spec.dimension if spec.signed else spec.dimension, 5) for _ in range(9)]
        one, two = neighbours(generator, spec.neighbouring, 20, spec.dimension)
        runs = zip(*(run_periods(spec, rounds, [8, 7, 5], stops, drawn) for rounds in (one, two)), strict=True)
        moved = 0
        for a, b in runs:
            differences = np.array(a.tester.values) - np.array(b.tester.values)
            spreads = [int(np.ptp(x - y)) for x, y in zip(a.scores, b.scores, strict=True)]
            assert np.abs(differences).max() <= 1
            apart, moved = max(apart, *spreads, 0), moved + bool(differences.any() or any(spreads))
        periods = max(periods, moved)
    return apart, periods


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("carried", [0.0, 0.6])
def test_a_row_counts_in_one_period_and_moves_scores_by_the_stated_range(
    relation: Neighbouring, signed: bool, carried: float
) -> None:
    """The search reaches the range, so it would find a range that is 10 % too small."""
    spec = stream_of(neighbouring=relation, signed=signed, epochs=12, periods=True, carried=carried)
    apart, periods = widest(spec)
    assert periods == 1
    assert apart == spec.score_range


@pytest.mark.parametrize("kept", ["_sums", "_count"])
def test_the_search_finds_what_a_period_remembers(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    last: list[Any] = []
    begin = _Winnow.__init__

    def remembering(machine: Any, spec: Any, gate: Any) -> None:
        begin(machine, spec, gate)
        if spec.released:
            setattr(machine, kept, getattr(last[-1], kept))
        last.append(machine)

    monkeypatch.setattr(_Winnow, "__init__", remembering)
    _, periods = widest(stream_of(epochs=12, periods=True), 60)
    assert periods > 1


def law_of_two_periods(spec: WinnowStream, rows: np.ndarray, labels: np.ndarray) -> dict[tuple[Any, ...], float]:
    """Exact log-probabilities of what leaves two periods of two rounds, of one update with one sample each."""
    results = {}
    for first, before in law(spec, rows[:2], labels[:2]).items():
        log = spec.first_log()
        if first:
            log.end_epoch(first[0], np.bincount([first[1]], minlength=spec.dimension))
        again = replace(spec, released=tuple(log.weights.tolist()))
        for second, after in law(again, rows[2:], labels[2:]).items():
            scores = again.first_scores()
            assert scores.max() == 0
            results[(first, second)] = before + after
    return results


@pytest.mark.parametrize("carried", [0.0, 0.5])
def test_no_output_of_two_tiny_periods_exceeds_the_pure_cost_of_one(carried: float) -> None:
    spec = stream_of(
        dimension=2, threshold_epsilon=0.6, threshold=1, epochs=1, n_samples=1, draw_range=1.0, periods=True,
        carried=carried,
    )  # fmt: skip
    generator, worst = np.random.default_rng(0), 0.0
    for _ in range(60):
        (rows, labels), (other_rows, other_labels) = neighbours(generator, ADD, 4, 2)
        one, two = law_of_two_periods(spec, rows, labels), law_of_two_periods(spec, other_rows, other_labels)
        assert sum(map(math.exp, one.values())) == pytest.approx(1.0)
        worst = max(worst, *(abs(one[output] - two[output]) for output in one))
    assert (spec.score_range, spec.rate) == (2, pytest.approx(spec.draw_range / 2))
    claimed = spec.threshold_epsilon + spec.draw_range
    assert 0.55 * claimed < worst <= claimed


def opened(spec: Any) -> Stream:
    return open_row_stream(spec, Reservation([part.charge for part in spec.charges(ADD)], ADD, "x"), 3, "w")


def test_a_period_takes_what_was_declared_for_one_and_others_are_refused() -> None:
    spec = stream_of(periods=True, threshold=1, threshold_epsilon=50.0, epochs=1)
    stream = opened(spec)
    rows, labels = np.ones((30, 4), np.int8), -np.ones(30, np.int8)
    for _ in range(3):  # the draws of each period are those of one
        updates = stream.feed(rows, labels)
        assert updates[0].weights is not None
        stream.renew(replace(spec, released=(1, 0, 0, 1)))
    assert stream.secrets()["taken"] == [{"charge": Pure(50.0).to_dict(), "times": 1}]
    with pytest.raises(ValueError, match="must cost"):
        stream.renew(replace(spec, n_samples=6))
    assert stream.spec == replace(spec, released=(1, 0, 0, 1))
    for other in (stream_of(), CountingStream(0.5, 3, 1)):
        with pytest.raises(ValueError, match="opened for one period"):
            opened(other).renew(spec)
    charges = [part.charge for part in spec.charges(ADD)]
    with pytest.raises(BudgetExceeded):
        open_row_stream(spec, Reservation(charges[:1], ADD, "x"), 3, "w")


def test_theorem_9_on_a_target_that_changes() -> None:
    """In every period each update lowers the potential as Lemma 2 says, and the mistakes are as promised."""
    dimension, length, margin = 8, 3_000, 1 / 3
    request = requested(dimension=dimension, horizon=length, epsilon=8.0, margin=margin, carried=0.5)
    plain = requested(dimension=dimension, horizon=length, epsilon=8.0, margin=margin)
    spec, promised = replace(theorem_schedule(request), periods=True, carried=0.5), bound_of(request)
    assert spec.epochs > theorem_schedule(plain).epochs  # a new target begins at log(n / (1 - carried))
    stream, log = opened(spec), spec.first_log()
    generator, n = np.random.default_rng(2), dimension
    for turn in range(2):
        v = np.zeros(2 * n)
        chosen = (np.arange(3) + 3 * turn) % n
        v[chosen + n * (turn % 2)] = 1 / 3
        rows = (2 * generator.integers(0, 2, (length, n)) - 1).astype(np.int8)
        both = np.concatenate([rows, -rows], axis=1)
        labels = np.where(both @ v > 0, 1, -1).astype(np.int8)
        if turn:
            spec = replace(spec, released=tuple(log.weights.tolist()))
            stream.renew(spec)
            log = spec.first_log()
        first = spec.first_scores()
        before = potential(first, spec.rate, v)
        assert before <= math.log(request.potential)
        batch, mistakes, since, updates = promised / (spec.epochs + 1), 0, 0, 0
        for t in range(length):
            wrong = (1 if log.weights @ rows[t].astype(int) > 0 else -1) != labels[t]
            since, mistakes = since + wrong, mistakes + wrong
            for update in stream.feed(rows[t : t + 1], labels[t : t + 1]):
                log.end_epoch(update.round, update.weights)
                sums = np.array(stream.secrets()["machine"]["sums"])
                after = potential(first + np.concatenate([sums, -sums]), spec.rate, v)
                share, eta = since / batch, spec.rate * batch
                assert 0.5 <= share <= 1
                assert before - after >= share * (2 / 3) * eta * margin - share**2 * eta**2 / 2
                before, since, updates = after, 0, updates + 1
        assert 0 < updates <= spec.epochs
        assert mistakes <= promised


# The face.


def flipping(rounds: int, at: int) -> tuple[np.ndarray, np.ndarray]:
    rows, labels = majority_stream(np.random.default_rng(4), rounds, 20, 3)
    labels[at:] *= -1
    return rows, labels


@pytest.mark.parametrize("carried", [0.0, 0.5])
def test_one_by_one_is_many_and_a_suspended_stream_goes_on_in_its_period(carried: float, tmp_path: Path) -> None:
    rows, places = classes_stream(np.random.default_rng(3), 900, 6, 3)
    arguments = {"horizon": 900, "labels": (0, 1, 2), "columns": tuple(range(6)), "period": 250, "carried": carried}
    one, many = Winnow(math.inf, **arguments), Winnow(math.inf, **arguments)
    for row, label in zip(rows, places, strict=True):
        one.learn_one(dict(enumerate(row.tolist())), int(label))
    many.learn_many(rows[:600], places[:600])
    secrets = many._stream.secrets()  # type: ignore[union-attr]
    with pytest.warns(UserWarning, match="secrets"):
        many.suspend(tmp_path / "stream.json")
    many = Winnow.resume(tmp_path / "stream.json")
    assert many._stream is not None
    assert many._stream.secrets() == json.loads(json.dumps(secrets))
    assert many._stream.spec.released  # type: ignore[attr-defined]
    many.learn_many(rows[600:], places[600:])
    assert one.log_ is not None
    assert many.log_ is not None
    assert one.log_.to_dict() == many.log_.to_dict()
    assert (one.rounds_, one._began) == (many.rounds_, many._began) == (900, 750)


def test_a_period_may_be_ended_by_whoever_declared_one() -> None:
    rows, labels = flipping(600, 300)
    model = Winnow(8.0, horizon=600, labels=(-1, 1), period=500, seed=1)
    model.new_period()  # nothing was learned
    model.learn_many(rows[:300], labels[:300])
    said = model.predict_many(rows)
    model.new_period()
    assert (model._began, model.rounds_) == (300, 300)
    assert np.array_equal(model.predict_many(rows), said)  # the weights in use stay until the first draw
    assert model._stream is not None
    assert model._stream.secrets()["machine"]["sums"] == [0] * 21
    model.learn_many(rows[300:], labels[300:])
    assert model._began == 300
    with pytest.raises(RequestError, match="declare period"):
        Winnow().new_period()
    copied = Winnow.__new__(Winnow)
    copied.__dict__.update(model.__getstate__())
    with pytest.raises(StreamClosed, match="no periods"):
        copied.new_period()
    for wrong in ({"period": 0}, {"period": 5, "carried": 1.0}, {"carried": 0.5}):
        with pytest.raises(RequestError, match=r"period|carried"):
            Winnow(**wrong).learn_one({"a": 1}, True)
