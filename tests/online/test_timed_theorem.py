"""Theorem 11 of docs/theory/winnow.md, mistakes at public times: its lemma, its proof on streams, its schedule."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchmarks.online_streams import majority_stream
from tacit.curator.streams.open import open_row_stream
from tacit.curator.streams.winnow_log import Marks
from tacit.online import Winnow
from tacit.online.schedule import (
    Promise,
    WinnowRequest,
    bound_of,
    largest_range,
    of_the_smaller_promise,
    promise_of,
    schedule_of,
)
from tacit.privacy import accountants
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.theory import winnow as theory
from tests.online.test_winnow_theory import hard_stream, potential, requested

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


def test_mistakes_at_public_times_by_hand() -> None:
    """At the ``c`` of the grid that promises the least, with every term of the proof written out."""

    def promised(c: float, samples: int) -> float:
        a = samples * (c / 3) ** 2 / 2
        excess = 40_000 * (c / 3) * math.exp(-a) / (2 * math.e * a)
        paid = math.log(402) / 1e-3 + (math.e - 1) * excess + 90 * math.log(1 / 0.05)
        return paid / ((1 - c) / 3 - 0.1 - 1e-3 * 90 / 2)

    for samples in (120, 200, 2_000):
        least = min(promised(place / 40, samples) for place in range(2, 23))
        assert theory.public_times_mistakes(402, 1 / 3, 40_000, 90, samples, 1e-3, 0.05, 0.1) == pytest.approx(least)
    assert theory.public_times_mistakes(402, 1 / 3, 40_000, 700, 200, 1e-3, 0.05) == math.inf  # steps as long as rho
    with pytest.raises(ValueError, match="rate"):
        theory.public_times_mistakes(402, 1 / 3, 40_000, 90, 200, 0.0, 0.05)


@pytest.mark.parametrize(("samples", "margin", "unsure"), [(40, 0.5, 0.0), (150, 0.3, 0.1), (400, 0.3, 0.05)])
def test_what_a_confident_round_may_add_in_expectation(samples: int, margin: float, unsure: float) -> None:
    """Exact: of ``m`` draws with mean ``s`` the share of 1 is binomial. The bound holds and is of the right size."""
    c, worst = 0.4, 0.0
    a = samples * (c * margin) ** 2 / 2
    claimed = c * margin * math.exp(-a) / (2 * math.e * a)
    for mean in np.linspace(unsure + c * margin, 1, 2_000):
        counts = stats.binom.cdf(math.floor(samples * (1 + unsure) / 2), samples, (1 + mean) / 2)
        worst = max(worst, (mean - unsure - c * margin) * counts)
    assert claimed / 20 < worst <= claimed


@pytest.mark.parametrize("kind", ["hard", pytest.param("majority", marks=pytest.mark.slow)])
def test_theorem_11_on_streams_step_by_step(kind: str) -> None:
    """Every epoch lowers the potential by what its rounds that count promise; the sums come out, and the mistakes."""
    dimension, margin, rounds = 20, 1 / 3, 2_000
    request = requested(dimension=dimension, signed=False, horizon=rounds, epsilon=4.0, margin=margin, update="timed")
    spec, promised = schedule_of(request), bound_of(request)
    generator = np.random.default_rng(1)
    rows, labels = (
        hard_stream(rounds, dimension, generator)
        if kind == "hard"
        else majority_stream(generator, rounds, dimension, 3)
    )
    v = np.zeros(dimension)
    v[(labels @ rows.astype(int)).argsort()[-3:]] = 1 / 3
    stream = open_row_stream(spec, Reservation([part.charge for part in spec.charges(ADD)], ADD, "x"), 3, "w")
    log, before, rate = spec.first_log(), potential(np.zeros(dimension), spec.rate, v), spec.rate
    assert before == pytest.approx(math.log(dimension / 3))
    interval, sums, mistakes, counted, confident = spec.times[0], np.zeros(dimension), 0, 0, 0.0
    for start in range(0, rounds - interval, interval):
        part = slice(start, start + interval)
        scores = Marks(dimension).scores(log.weights, rows[part])
        right = labels[part] * scores
        hits = right < math.ceil(spec.unsure * log.weights.sum())
        mistakes += int(((scores > 0) != (labels[part] > 0)).sum())
        w = np.exp(rate * sums) / np.exp(rate * sums).sum()
        ((update),) = stream.feed(rows[part], labels[part])
        log.end_epoch(update.round, update.weights)
        moved = np.array(stream.secrets()["machine"]["sums"]) - sums
        assert moved.tolist() == (labels[part][hits] @ rows[part][hits].astype(int)).tolist()
        sums, n = sums + moved, int(hits.sum())
        after = potential(sums, rate, v)
        assert before - after >= rate * (n * margin - w @ moved) - rate**2 * n**2 / 2 - 1e-9
        confident += np.maximum(labels[part][hits] * (rows[part][hits] @ w) - spec.unsure - 0.3 * margin, 0).sum()
        before, counted = after, counted + n
    gain = 0.7 * margin - spec.unsure - rate * interval / 2
    assert 0 < mistakes <= counted
    assert counted * gain <= math.log(dimension) / rate + confident
    assert mistakes <= promised


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"neighbouring": REPLACE},
        {"epsilon": 0.1},
        {"margin": 0.05},
        {"delta": 0.0},
        {"classes": 3},
        {"carried": 0.5},
    ],
)
def test_the_schedule_is_paid_for_and_promises_the_least(changes: dict[str, object]) -> None:
    request = requested(**{"update": "timed", **changes})
    spec, margin = schedule_of(request), request.margin
    assert margin is not None
    interval, samples = spec.times[0], spec.n_samples
    assert spec.times == tuple(range(interval, request.horizon, interval))
    assert (spec.decay, spec.unsure, spec.epochs) == (0.0, pytest.approx(0.3 * margin), len(spec.times))
    cost = accountants.epsilon([part.charge for part in spec.charges(request.neighbouring)], request.delta)
    assert 0.99 * request.epsilon < cost <= request.epsilon * (1 + 1e-12)

    def promised(n: int, m: int) -> float:
        paid = largest_range(request, 0.0, m * (math.ceil(request.horizon / n) - 1)) / spec.score_range
        most = margin / max(2 * n, 40 if request.carried else 0)
        return theory.public_times_mistakes(
            request.potential,
            margin,
            request.horizon * (request.classes - 1),
            n,
            m,
            min(paid, most),
            0.05,
            0.3 * margin,
        )

    assert bound_of(request) == pytest.approx(promised(interval, samples))
    for n, m in ((2, 1), (0.5, 1), (1, 2), (1, 0.5), (1.3, 1.3), (0.8, 0.8)):
        assert bound_of(request) <= 1.02 * promised(round(n * interval), round(m * samples))


def wide(update: str, **changes: object) -> WinnowRequest:
    return requested(**{"dimension": 201, "horizon": 40_000, "epsilon": 0.999, "update": update, **changes})


@pytest.mark.parametrize(
    ("margin", "horizon", "update", "mistakes", "probability"),
    [
        (1.0, 4_000_000, "every", 2_385, 0.9),
        (1.0, 40_000, "every", 2_115, 0.9),
        (0.9, 40_000, "timed", 14_138, 0.95),
        (1 / 3, 4_000_000, "batch", 449_688, 0.9),
    ],
)
def test_a_margin_takes_the_smaller_of_the_two_promises(
    margin: float, horizon: int, update: str, mistakes: int, probability: float
) -> None:
    model = Winnow(epsilon=1.0, horizon=horizon, labels=(-1, 1), seed=0, margin=margin)
    assert model.promise_ is None
    model.learn_many(np.ones((1, 200), np.int8), [1])
    assert model._stream is not None
    assert model._stream.spec == schedule_of(wide(update, epsilon=1.0, horizon=horizon, margin=margin))  # type: ignore[attr-defined]
    assert model.promise_ is not None
    assert model.promise_.mistakes == pytest.approx(mistakes, rel=1e-4)
    assert (model.promise_.probability, model.promise_.rounds) == (pytest.approx(probability), horizon)
    updates = ("timed", "batch", "every") if margin == 1 else ("timed", "batch")
    bounds = [bound_of(wide(each, epsilon=1.0, horizon=horizon, margin=margin)) for each in updates]
    assert model.promise_.mistakes == min(bounds)


def test_what_a_promise_says() -> None:
    said = "at most 18,030 mistakes in 40,000 rounds with probability 0.9, for a target of margin 0.3333"
    assert str(Promise(18_030.9, 0.9, 40_000, 1 / 3)) == said
    for mistakes in (40_000.0, 68_800.0, math.inf):
        assert str(Promise(mistakes, 0.95, 40_000, 1 / 3)).startswith("nothing is proved")
    assert Promise(39_999.9, 0.95, 40_000, 1 / 3).is_proved
    # an update that is asked for is taken, whatever it promises; of the paper's it is Theorem 4.5
    for update in ("timed", "batch"):
        request = wide(update, margin=1.0, horizon=10**6)
        assert of_the_smaller_promise(request).update == "every"
        asked = promise_of(request)
        assert asked is not None
        assert asked.mistakes == bound_of(request)
    assert of_the_smaller_promise(wide("timed", margin=1.0, classes=3)).update != "every"
    first = promise_of(wide("first", margin=1.0))
    assert first is not None
    assert (first.mistakes, first.probability) == (
        theory.theorem_4_5(402, 1.0, 40_000, 0.05, 0.999, 1e-6).mistakes,
        0.9,
    )
    for nothing in (wide("timed", margin=None), wide("batch", epsilon=math.inf)):
        assert of_the_smaller_promise(nothing) == nothing
        assert promise_of(nothing) is None


def test_a_promise_goes_along_with_a_stream(tmp_path: Path) -> None:
    model = Winnow(horizon=40_000, labels=(-1, 1), margin=1.0, update="batch")
    model.learn_many(np.ones((3, 200), np.int8), [1, -1, 1])
    promise = model.promise_
    assert promise == promise_of(wide("batch", epsilon=1.0, margin=1.0))
    with pytest.warns(UserWarning, match="secrets"):
        model.suspend(tmp_path / "stream")
    assert Winnow.resume(tmp_path / "stream").promise_ == promise
