"""Theorem 12: one column is drawn by its errors in all rounds, after as many mistakes as tell it apart."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.curator.streams.open import open_row_stream
from tacit.curator.streams.winnow import WinnowStream
from tacit.curator.streams.winnow_log import Marks
from tacit.online import Winnow
from tacit.online.schedule import WinnowRequest, bound_of, schedule_of
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.theory.winnow import drawn_updates

ADD = Neighbouring.ADD_OR_REMOVE_ONE


def test_a_draw_that_is_found_wrong_takes_half_of_the_weight_along() -> None:
    """Columns are found wrong in an order that is fixed for each epoch, the target never: seldom so many times."""
    generator, drop, ends = np.random.default_rng(0), 2.0, []
    for _ in range(400):
        weights, ended = np.ones(64), 0
        while (drawn := int(generator.choice(64, p=weights / weights.sum()))) != 0:
            order = np.append(np.inf, generator.permutation(63))
            weights[order <= order[drawn]] *= np.exp(-drop)
            ended += 1
        ends.append(ended)
    assert np.mean(np.array(ends) >= drawn_updates(64, drop, 0.05)) <= 0.05
    assert max(ends) > drawn_updates(64, drop, 0.05) / 2  # of the order that is promised


def test_theorem_12_on_a_stream_step_by_step() -> None:
    """Exponents are of all rounds; no epoch has more mistakes than planned, and a draw comes after as many."""
    rounds, dimension = 4_000, 60
    request = WinnowRequest(dimension, False, "every", 4.0, 1e-6, ADD, rounds, margin=1.0)
    spec, promised = schedule_of(request), bound_of(request)
    generator = np.random.default_rng(1)
    labels = (2 * generator.integers(0, 2, rounds) - 1).astype(np.int8)
    until = np.linspace(rounds, 0, dimension)  # columns are right for ever shorter, and then by half
    flips = (generator.random((rounds, dimension)) < 0.6) & (np.arange(rounds)[:, None] >= until)
    rows = np.where(flips, -1, 1).astype(np.int8) * labels[:, None]
    stream = open_row_stream(spec, Reservation([part.charge for part in spec.charges(ADD)], ADD, "x"), 3, "w")
    log, mistakes, in_epoch, ends = spec.first_log(), 0, 0, 0
    for t in range(rounds):
        scores = Marks(dimension).scores(log.weights, rows[t : t + 1])
        wrong = int((scores[0] > 0) != (labels[t] > 0))
        mistakes, in_epoch = mistakes + wrong, in_epoch + wrong
        assert in_epoch <= promised / (spec.epochs + 1)
        for update in stream.feed(rows[t : t + 1], labels[t : t + 1]):
            assert in_epoch >= spec.threshold - (promised / (spec.epochs + 1) - spec.threshold)
            assert update.weights is not None
            assert update.weights.sum() == update.weights.max() == 1  # one column
            log.end_epoch(update.round, update.weights)
            in_epoch, ends = 0, ends + 1
    assert stream.secrets()["machine"]["sums"] == (labels @ rows.astype(int)).tolist()
    assert 1 <= ends <= spec.epochs
    assert 0 < mistakes <= promised


def test_a_composed_concept_is_learned_from_a_stream() -> None:
    """A column for each "a > s and b > t": fewer mistakes than are promised, which is far less than of any margin."""
    generator, cuts = np.random.default_rng(0), np.linspace(0.1, 0.9, 9)
    a, b = generator.random((2, 6_000, 1)) > cuts
    columns = np.where(a[:, :, None] & b[:, None, :], 1, -1).astype(np.int8).reshape(-1, 81)
    model = Winnow(epsilon=2.0, margin=1.0, horizon=6_000, labels=(-1, 1), seed=0, signed=False, constant=False)
    wrong = 0
    for start in range(0, 6_000, 50):
        part = slice(start, start + 50)
        wrong += int((model.predict_many(columns[part]) != columns[part, 20]).sum())
        model.learn_many(columns[part], columns[part, 20])
    assert model.promise_ is not None
    assert wrong <= model.promise_.mistakes < 850
    assert model.certificate_ is not None
    assert model.certificate_.verify() == []


def test_what_does_not_fit_is_refused() -> None:
    for more, words in (({}, "declare margin=1"), ({"margin": 0.5}, "declare margin=1")):
        with pytest.raises(RequestError, match=words):
            Winnow(update="every", horizon=10, labels=(-1, 1), **more).learn_many(np.ones((1, 2), np.int8), [1])
    with pytest.raises(RequestError, match="for two classes"):
        Winnow(update="every", margin=1.0, horizon=10, labels=(1, 2, 3)).learn_many(np.ones((1, 2), np.int8), [1])
    with pytest.raises(ValueError, match="two classes"):
        WinnowStream(2, False, "every", ADD, 1.0, 1, 1, 1, 1.0, 10, classes=3)
