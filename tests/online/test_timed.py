"""Updates at public times (Theorem 10): what a row moves, the law of what leaves, the rule, and what it learns."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.online_streams import classes_stream, uniform_points
from tacit.curator.streams.open import open_row_stream
from tacit.curator.streams.winnow import WinnowStream
from tacit.curator.streams.winnow_log import SHARES, Marks, WinnowLog
from tacit.online import Winnow
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tests.online.test_winnow_stream import neighbours, run, stream_of

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


def timed_of(**changes: Any) -> WinnowStream:
    values = {"update": "timed", "threshold_epsilon": 0.0, "times": (2, 5, 9), "epochs": 3, "unsure": 0.4, "decay": 0.9}
    return stream_of(**{**values, **changes})


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(("classes", "decay"), [(2, 0.9), (3, 0.9), (2, 0.0)])
def test_one_row_moves_scores_by_the_stated_range(
    relation: Neighbouring, signed: bool, classes: int, decay: float
) -> None:
    """The search reaches the range, so it would find a range that is 10 % too small."""
    spec = timed_of(neighbouring=relation, signed=signed, classes=classes, decay=decay)
    generator, apart = np.random.default_rng(5), 0
    candidates = spec.marks.n_weights * (2 if signed else 1)
    for _ in range(300):
        (rows, labels), (other_rows, other_labels) = neighbours(generator, relation, 12, 4)
        if classes > 2:
            wide = generator.integers(1, 4, 12).astype(np.int16)
            moved = (labels != other_labels) | (rows != other_rows).any(axis=1)
            again = 0 if relation is ADD else generator.integers(1, 4)
            labels, other_labels = wide, np.where(moved, again, wide).astype(np.int16)
        drawn = [generator.integers(0, candidates, 5) for _ in range(3)]
        one, two = (run(spec, *table, set(), drawn) for table in ((rows, labels), (other_rows, other_labels)))
        assert len(one.scores) == 3
        assert one.tester.values == []  # when to update is public: nothing is tested
        apart = max(apart, *(int(np.ptp(a - b)) for a, b in zip(one.scores, two.scores, strict=True)))
    assert apart == spec.score_range == (2 if relation is ADD else 4)


def laws(spec: WinnowStream, rows: np.ndarray, labels: np.ndarray) -> dict[tuple[int, ...], float]:
    """Exact log-probabilities of the indices of two updates with one sample each."""
    results = {}
    for indices in itertools.product(range(2 * spec.dimension if spec.signed else spec.dimension), repeat=2):
        gate = run(spec, rows, labels, set(), [np.array([index]) for index in indices])
        logs = [spec.rate * s - math.log(np.exp(spec.rate * s).sum()) for s in gate.scores]
        results[indices] = float(sum(log[index] for log, index in zip(logs, indices, strict=True)))
    return results


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_no_output_of_a_tiny_stream_exceeds_the_pure_cost(relation: Neighbouring) -> None:
    spec = timed_of(dimension=2, neighbouring=relation, times=(1, 3), epochs=2, n_samples=1, draw_range=0.5)
    generator, worst = np.random.default_rng(0), 0.0
    for _ in range(200):
        (rows, labels), (other_rows, other_labels) = neighbours(generator, relation, 3, 2)
        one, two = laws(spec, rows, labels), laws(spec, other_rows, other_labels)
        assert sum(map(math.exp, one.values())) == pytest.approx(1.0)
        worst = max(worst, *(abs(one[output] - two[output]) for output in one))
    assert spec.score_range == (2 if relation is ADD else 4)
    assert spec.rate * spec.score_range == pytest.approx(spec.draw_range)
    claimed = 2 * spec.draw_range
    assert 0.4 * claimed < worst <= claimed


def test_rounds_count_that_are_right_by_little() -> None:
    marks = Marks(3)
    rows = np.array([[1, 1, 1], [1, 1, -1], [1, -1, 1], [-1, -1, 1], [1, 1, 1]], np.int8)
    scores = marks.scores(np.array([3, 2, 1]), rows)
    assert scores.tolist() == [6, 4, 2, -4, 6]
    labels = np.array([1, 1, 1, -1, 0], np.int8)
    for least, hit in ((0, [0, 0, 0, 0, 0]), (3, [0, 0, 1, 0, 0]), (5, [0, 1, 1, 1, 0]), (7, [1, 1, 1, 1, 0])):
        assert marks.hit(scores, labels, least)[0].tolist() == [bool(h) for h in hit]
        assert marks.hit(scores, -labels, least)[0].tolist() == [True, True, True, True, False]
    several = Marks(1, 3)
    scores = several.scores(np.array([2, 0, -2]), np.array([[1], [1], [-1], [1]], np.int8))
    for least, hit in ((0, [0, 1, 0, 0]), (2, [0, 1, 0, 0]), (3, [1, 1, 1, 0])):
        assert several.hit(scores, np.array([1, 2, 3, 0], np.int16), least)[0].tolist() == [bool(h) for h in hit]


def test_the_share_of_unsure_rounds_is_of_the_weights_in_use() -> None:
    spec = timed_of(unsure=0.5, times=(1, 3), epochs=2)
    rows = np.array([[1, 1, 1, 1], [1, 1, 1, -1], [1, 1, -1, -1]], np.int8)
    drawn = [np.array([0, 1, 2, 3]), np.array([0, 0, 0, 0])]
    gate = run(spec, rows, np.ones(3, np.int8), set(), drawn)
    # the first round is all ones and right by all of the weights; then 3 against 1 is just right enough, a tie is not
    assert gate.scores[0].tolist() == [0, 0, 0, 0]
    assert gate.scores[1].tolist() == [1, 1, -1, -1]


def test_the_predictor_is_the_sum_of_what_was_drawn_the_latest_heaviest() -> None:
    log = WinnowLog(2, True, 3, [np.array([6, -4])], [0], decay=0.5, carried=0.25)
    assert log.weights.tolist() == [6, -4]
    log.end_epoch(1, np.array([2, 0]))
    assert np.abs(log.weights - SHARES * (np.array([2, 0]) + 0.25 * 0.2 * np.array([6, -4]))).max() <= 0.5
    log.end_epoch(3, np.array([0, -1]))
    log.end_epoch(6, np.array([1, -1]))
    wanted = SHARES * (np.array([1, -1]) + 0.5 * np.array([0, -1]) + 0.25 * np.array([2, 0]))
    assert np.abs(log.weights - wanted - 0.25 * 0.25 * 0.2 * SHARES * np.array([6, -4])).max() <= 1
    assert len(log.vectors) == 4  # no sums beside
    again = WinnowLog.from_dict(json.loads(json.dumps(log.to_dict())))
    assert np.array_equal(again.weights, log.weights)


def test_without_older_weights_the_predictor_is_what_was_drawn_last() -> None:
    log = WinnowLog(2, True, 2, decay=0.0)
    for place, drawn in enumerate(([2, 0], [1, -1])):
        log.end_epoch(place, np.array(drawn))
        assert log.weights.tolist() == drawn
    assert len(log.vectors) == 3  # no sums beside, though the draws are used up
    again = WinnowLog.from_dict(json.loads(json.dumps(log.to_dict())))
    assert (again.decay, again.weights.tolist()) == (0.0, [1, -1])
    assert timed_of(decay=0.0).first_log().decay == 0.0
    assert stream_of().first_log().decay is None


def test_what_does_not_fit_is_refused() -> None:
    for wrong in ({"times": (2, 2, 3)}, {"times": (0, 1, 2)}, {"times": (1, 2)}, {"decay": -0.1}, {"decay": 1.0}):
        with pytest.raises(ValueError, match="growing time"):
            timed_of(**wrong)
    with pytest.raises(ValueError, match="threshold_epsilon must be positive"):
        stream_of(threshold_epsilon=0.0)


def test_what_leaves_is_the_same_in_one_piece_and_in_many() -> None:
    rows, places = classes_stream(np.random.default_rng(3), 300, 5, 3)
    spec = timed_of(dimension=5, classes=3, times=(20, 21, 150), draw_range=0.2, n_samples=9)
    charges = [part.charge for part in spec.charges(ADD)]

    def fed(cuts: list[int], moved: bool) -> list[Any]:
        stream, out = open_row_stream(spec, Reservation(charges, ADD, "x"), 7, "w"), []
        for a, b in itertools.pairwise(cuts):
            out += stream.feed(rows[a:b], (places[a:b] + 1).astype(np.int16))
            if moved:
                secrets = json.loads(json.dumps(stream.secrets()))
                stream.restore(secrets)
        return [(update.round, update.weights.tolist()) for update in out]

    whole = fed([0, 300], False)
    assert [place for place, _ in whole] == [19, 20, 149]
    assert fed(list(range(301)), False) == whole
    assert fed([0, 7, 20, 140, 151, 300], True) == whole


def mistakes_of(rows: np.ndarray, labels: np.ndarray, **asked: Any) -> np.ndarray:
    model = Winnow(horizon=len(rows), labels=(-1, 1), seed=3, **asked)
    wrong = np.zeros(len(rows), bool)
    for start in range(0, len(rows), 50):
        part = slice(start, start + 50)
        wrong[part] = model.predict_many(rows[part]) != labels[part]
        model.learn_many(rows[part], labels[part])
    return wrong


def test_the_search_finds_marks_that_follow_other_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a mark doubled where an odd number of rounds count, one row would move the marks of others."""
    total: Callable[..., Any] = Marks.total

    def doubled(marks: Marks, table: Any, labels: Any, rivals: Any) -> Any:
        return total(marks, table, labels, rivals) * (2 if len(table) % 2 else 1)

    monkeypatch.setattr(Marks, "total", doubled)
    spec, generator, apart = timed_of(), np.random.default_rng(5), 0
    for _ in range(100):
        one, two = (
            run(spec, *table, set(), [np.zeros(5, np.int64)] * 3) for table in neighbours(generator, ADD, 12, 4)
        )
        apart = max(apart, *(int(np.ptp(a - b)) for a, b in zip(one.scores, two.scores, strict=True)))
    assert apart > spec.score_range


def test_periods_of_timed_updates_begin_their_times_anew() -> None:
    rows = uniform_points(np.random.default_rng(0), 30, 4)
    spec = timed_of(periods=True, carried=0.5)
    charges = [part.charge for part in spec.charges(ADD)]
    stream = open_row_stream(spec, Reservation(charges, ADD, "x"), 7, "w")
    for _ in range(2):
        assert [u.round for u in stream.feed(rows[:15], np.ones(15, np.int8))] == [1, 4, 8]
        stream.renew(replace(spec, released=(1, 0, 2, 0)))
