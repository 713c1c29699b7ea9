"""More than two classes: what a row moves, the law of what leaves, the mistakes that are promised, and the face."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from benchmarks.online_streams import classes_stream, uniform_points
from tacit.curator.streams.open import open_row_stream
from tacit.curator.streams.winnow_log import Marks, WinnowLog
from tacit.online import DecisionListWinnow, Winnow
from tacit.online.rows import RowError
from tacit.online.schedule import bound_of, theorem_schedule
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tests.online.test_winnow_stream import law, run, stream_of
from tests.online.test_winnow_theory import potential, requested

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


def rounds_of(generator: np.random.Generator, n: int, d: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    return uniform_points(generator, n, d), generator.integers(1, classes + 1, n).astype(np.int16)


def test_the_class_of_the_largest_score_is_said_and_its_rival_is_the_best_of_the_others() -> None:
    generator = np.random.default_rng(0)
    for classes in (3, 5):
        marks = Marks(4, classes)
        for _ in range(50):
            weights = generator.integers(-2, 3, 4 * classes)
            rows, labels = rounds_of(generator, 8, 4, classes)
            labels[0] = 0
            scores = marks.scores(weights, rows)
            assert np.array_equal(scores, rows.astype(int) @ weights.reshape(classes, 4).T)
            hit, rivals = marks.hit(scores, labels)
            assert np.array_equal(hit, (marks.said(scores) != labels - 1) & (labels > 0))
            for line in range(1, 8):
                own = int(labels[line]) - 1
                lead = scores[line, own] - max(s for k, s in enumerate(scores[line]) if k != own)
                assert hit[line] == (lead < 0 or (lead == 0 and rivals[line] < own))
            moved = marks.total(rows[hit], labels[hit], rivals[hit]).reshape(classes, 4)
            wanted = np.zeros((classes, 4), int)
            for row, label, rival in zip(rows[hit], labels[hit], rivals[hit], strict=True):
                wanted[label - 1] += row
                wanted[rival] -= row
            assert np.array_equal(moved, wanted)


def test_of_two_classes_the_negative_one_is_said_at_a_tie() -> None:
    marks, rows = Marks(3), np.array([[1, 1, 1], [1, 1, -1], [1, -1, 0], [-1, -1, 1]], np.int8)
    scores = marks.scores(np.array([1, 1, 0]), rows)
    hit, _ = marks.hit(scores, np.array([1, -1, 1, -1], np.int8))
    assert hit.tolist() == [False, True, True, False]


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("signed", [False, True])
def test_one_row_moves_scores_no_further_than_with_two_classes(relation: Neighbouring, signed: bool) -> None:
    """The search reaches the range, so it would find a range that is 10 % too small."""
    spec = stream_of(neighbouring=relation, signed=signed, classes=3, epochs=12)
    generator, widest = np.random.default_rng(7), 0
    for _ in range(400):
        rows, labels = rounds_of(generator, 12, 4, 3)
        other_rows, other_labels, place = rows.copy(), labels.copy(), generator.integers(12)
        other_labels[place] = 0
        if relation is REPLACE:
            other_rows[place] = uniform_points(generator, 1, 4)
            other_labels[place] = generator.integers(1, 4)
        stops = set(np.flatnonzero(generator.random(12) < 0.3).tolist())
        drawn = [generator.integers(0, 24 if signed else 12, 5) for _ in range(12)]
        one = run(spec, rows, labels, stops, drawn)
        two = run(spec, other_rows, other_labels, stops, drawn)
        for a, b in zip(one.scores, two.scores, strict=True):
            assert len(a) == (24 if signed else 12)
            widest = max(widest, int(np.ptp(a - b)))
        assert np.abs(np.array(one.tester.values) - np.array(two.tester.values)).max() <= 1
    assert widest == spec.score_range == (2 if relation is ADD else 4)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_no_output_of_a_tiny_stream_exceeds_the_pure_cost(relation: Neighbouring) -> None:
    spec = stream_of(
        dimension=1, neighbouring=relation, threshold_epsilon=0.6, threshold=1, epochs=1, n_samples=1, draw_range=1.0,
        classes=3,
    )  # fmt: skip
    rounds = [(x, y) for x in (-1, 1) for y in ((0, 1, 2, 3) if relation is ADD else (1, 2, 3))]
    laws = {}
    for chosen in itertools.product(range(len(rounds)), repeat=2):
        rows = np.array([[rounds[c][0]] for c in chosen], np.int8)
        laws[chosen] = law(spec, rows, np.array([rounds[c][1] for c in chosen], np.int16))
        assert sum(map(math.exp, laws[chosen].values())) == pytest.approx(1.0)
    worst = 0.0
    for base, place, other in itertools.product(laws, range(2), range(len(rounds))):
        if relation is ADD and rounds[other][1] != 0:
            continue
        changed = tuple(other if i == place else c for i, c in enumerate(base))
        worst = max(worst, *(abs(laws[base][output] - laws[changed][output]) for output in laws[base]))
    claimed = spec.threshold_epsilon + spec.draw_range
    assert 0.4 * claimed < worst <= claimed


def test_theorem_8_on_a_stream_step_by_step() -> None:
    """Every update lowers the potential as Lemma 2 says, and there are no more mistakes than promised."""
    dimension, classes, rounds, margin = 8, 3, 12_000, 1 / 3
    request = requested(dimension=dimension, signed=False, horizon=rounds, epsilon=8.0, margin=margin, classes=classes)
    two = requested(dimension=dimension * classes, signed=False, horizon=rounds, epsilon=8.0, margin=margin)
    spec, promised = theorem_schedule(request), bound_of(request)
    assert spec.n_samples > theorem_schedule(two).n_samples  # the union is over rivals too
    generator = np.random.default_rng(1)
    rows = uniform_points(generator, rounds, dimension)
    for k in range(classes):  # class k has coordinate k, the others have not: a margin of 2/3 between weights of 1/3
        rows[:, k] = -1
    labels = generator.integers(1, classes + 1, rounds).astype(np.int16)
    rows[np.arange(rounds), labels - 1] = 1
    v = np.zeros((classes, dimension))
    v[np.arange(classes), np.arange(classes)] = 1 / classes
    leads = np.sort(rows @ v.T, axis=1)
    assert (leads[:, -1] - leads[:, -2] >= margin).all()
    stream = open_row_stream(spec, Reservation([p.charge for p in spec.charges(ADD)], ADD, "x"), 3, "w")
    n = dimension * classes
    log, before = WinnowLog(n, False, spec.epochs), potential(np.zeros(n), spec.rate, v.ravel())
    batch, mistakes, since, updates = promised / (spec.epochs + 1), 0, 0, 0
    for t in range(rounds):
        wrong = int(np.argmax(log.weights.reshape(classes, dimension) @ rows[t].astype(int))) != labels[t] - 1
        since, mistakes = since + wrong, mistakes + wrong
        for update in stream.feed(rows[t : t + 1], labels[t : t + 1]):
            log.end_epoch(update.round, update.weights)
            after = potential(np.array(stream.secrets()["machine"]["sums"]), spec.rate, v.ravel())
            share, eta = since / batch, spec.rate * batch
            assert 0.5 <= share <= 1
            assert before - after >= share * (2 / 3) * eta * margin - share**2 * eta**2 / 2
            before, since, updates = after, 0, updates + 1
    assert 0 < updates <= spec.epochs
    assert mistakes <= promised


def test_what_is_refused_and_what_is_null() -> None:
    rows, places = classes_stream(np.random.default_rng(3), 20, 6, 3)
    model = Winnow(horizon=50, labels=("a", "b", "c"))
    with pytest.raises(RowError, match="none of"):
        model.learn_many(rows, places)  # places are no names
    assert model.certificate_ is None
    null = Winnow(horizon=50, labels=("a", "b", "c"), invalid="null", seed=1)
    null.learn_many(rows, places)
    assert null._stream is not None
    assert null._stream.secrets()["machine"]["count"] == 0
    with pytest.raises(RequestError, match="for two classes"):
        DecisionListWinnow(labels=("a", "b", "c"), length=3, alternations=1).learn_many(rows, places)
    for wrong in ((rows, places.astype(np.int8)), (rows[:, :5], places)):
        with pytest.raises(ValueError, match="must be int"):
            Marks(6, 3).check(*wrong)
