"""The bounds of Bun and Fang for Winnow, and ours, as numbers and on adversarial sequences."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from benchmarks.online_streams import majority_stream
from tacit.curator.streams.open import open_row_stream
from tacit.curator.streams.winnow_log import WinnowLog
from tacit.online import ConfidentWinnow
from tacit.online.schedule import WinnowRequest, bound_of, theorem_schedule
from tacit.privacy import accountants
from tacit.privacy.charges import BoundedRange, Pure, Repeated
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.theory import winnow as theory
from tacit.theory.above_threshold import Queries, accuracy, scales

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


def spiteful_updates(target: np.ndarray, learner: ConfidentWinnow, unconfident: bool) -> int:
    """Updates against an adversary that sees the weights.

    Among all rows and labels that the target allows it picks one that must be updated on, as right as possible.
    """
    points = np.array(list(itertools.product((-1, 1), repeat=len(target))))
    truth = points @ target
    allowed = np.abs(truth) >= learner.margin - 1e-12
    points, labels = points[allowed], np.sign(truth[allowed]).astype(int)
    for _ in range(100_000):
        score = points @ learner.weights
        wrong = labels * score < -1e-12  # ties may be broken by rounding
        must = wrong | (unconfident & (np.abs(score) < learner.confidence * learner.margin - 1e-12))
        if not must.any():
            return learner.updates
        agreement = np.where(must, labels * score - 1e-3 * (labels * truth[allowed]), -np.inf)
        place = int(agreement.argmax())
        assert learner.learn_one(points[place], int(labels[place]))
    raise AssertionError("never comes to an end")


@pytest.mark.parametrize(
    "target", [[1, 1, 1, 0, 0, 0, 0, 0], [3, 2, 2, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0], [5, 3, 3, 2, 2, 0, 0, 0]]
)
@pytest.mark.parametrize("confidence", [0.0, 0.25, 0.5])
def test_confident_winnow_keeps_lemma_4_2_against_a_spiteful_adversary(target: list[int], confidence: float) -> None:
    v = np.array(target) / sum(target)
    points = np.array(list(itertools.product((-1, 1), repeat=8)))
    margin = float(np.abs(points @ v).min())
    one = ConfidentWinnow(2, 0.5, 0.3)
    assert one.predict_one([-1, 1]) == -1  # a score of 0
    assert one.learn_one([-1, 1], 1)
    assert (one.predict_one([-1, 1]), one.predict_one([1, -1])) == (1, -1)
    assert one.weights == pytest.approx(np.exp([-0.3, 0.3]) / np.exp([-0.3, 0.3]).sum())
    reached = 0.0
    for share in (0.3, 1.0, 1.6):
        learner = ConfidentWinnow(8, margin, share * (1 - confidence) * margin, confidence)
        bound = theory.confident_updates(8, learner.learning_rate, margin, confidence)
        eta = share * (1 - confidence) * margin
        assert bound == pytest.approx(math.log(8) / ((1 - confidence) * eta * margin - eta**2 / 2))
        updates = spiteful_updates(v, learner, unconfident=True)
        assert updates <= bound
        reached = max(reached, updates / bound)
    assert reached > 0.05  # the adversary is a real one


def test_unconfident_rounds_cost_updates_only_if_the_bit_says_so() -> None:
    v = np.array([1, 1, 1, 0, 0, 0]) / 3
    eager = ConfidentWinnow(6, 1 / 3)
    assert spiteful_updates(v, eager, unconfident=True) > 0
    for x in itertools.product((-1, 1), repeat=6):
        lazy = ConfidentWinnow(6, 1 / 3)
        right = 1 if np.dot(lazy.weights, x) > 0 else -1
        assert not lazy.learn_one(x, right, bit=False)


def test_confident_winnow_refuses_what_it_cannot_promise() -> None:
    with pytest.raises(ValueError, match="too large"):
        theory.confident_updates(10, 0.5, 0.3)
    learner = ConfidentWinnow(3, 0.5)
    for call in (
        lambda: ConfidentWinnow(0, 0.5),
        lambda: ConfidentWinnow(3, 0.5, learning_rate=-1.0),
        lambda: learner.learn_one([1, 1], 1),
        lambda: learner.learn_one([1, 1, 0], 1),
        lambda: learner.learn_one([1, 1, 1], 0),
    ):
        with pytest.raises(ValueError, match=r"need|must|has 3"):
            call()
    assert learner.updates == 0


def test_samples_agree_as_often_as_lemma_4_6_says() -> None:
    """Exact: the share of samples on which x is 1 is binomial."""
    margin, horizon, beta = 0.2, 1000, 0.1
    m = theory.samples_for_agreement(margin, horizon, beta)
    assert m == math.ceil(200 * math.log(20_000))
    assert theory.disagreement(m // 2, margin) == pytest.approx(2 * math.exp(-(m // 2) * 0.01 / 2))
    worst = (1 + 0.5 * margin) / 2  # probability of +1 when <w, x> = c rho
    assert stats.binom.cdf(m // 2, m, worst) <= beta / horizon
    assert stats.binom.cdf(m // 2, m, worst) <= theory.disagreement(m, margin) <= beta / horizon
    few = m // 10
    assert stats.binom.cdf(few // 2, few, worst) > beta / horizon  # the number is of the right size


@pytest.mark.parametrize(("epochs", "samples"), [(1, 1), (20, 100), (100, 1000)])
def test_theorem_4_4_holds_with_the_ranges_that_are_true(epochs: int, samples: int) -> None:
    for epsilon, delta in ((0.9, 1e-6), (0.1, 1e-9)):
        threshold, rate = theory.theorem_4_4(epsilon, delta, epochs, samples)
        root = math.sqrt(2 * epochs * math.log(2 / delta))
        assert (threshold, rate) == pytest.approx((epsilon / (4 * root), epsilon / (8 * root * math.sqrt(samples))))
        charges = (Pure(threshold), Repeated(BoundedRange(4 * rate), epochs * samples))
        assert accountants.epsilon(charges, delta) <= epsilon
    with pytest.raises(ValueError, match="below 1"):
        theory.theorem_4_4(1.0, 1e-6, 1, 1)


def test_theorem_4_5_solves_its_fixed_point() -> None:
    for dimension, margin in ((200, 1 / 3), (20, 0.1)):
        bound = theory.theorem_4_5(dimension, margin, 10_000, 0.05, 0.9, 1e-6)
        assert theory.confident_updates(dimension, bound.learning_rate, margin) <= bound.epochs
        threshold, rate = theory.theorem_4_4(0.9, 1e-6, bound.epochs, bound.n_samples)
        assert (threshold, rate) == (bound.threshold_epsilon, bound.learning_rate)
        assert bound.threshold == math.ceil(8 * math.log(2 * 10_000**2 / 0.05) / threshold)
        assert bound.mistakes == pytest.approx(2 * bound.threshold * (bound.epochs + 1))
        assert bound.epochs == pytest.approx(theory.confident_updates(dimension, rate, margin), rel=1e-3)
        pairs = min(bound.epochs + 1, 10_000) * 10_000  # of a predictor that was drawn and a round
        assert pairs * theory.disagreement(bound.n_samples, margin) <= 0.05
        assert pairs * theory.disagreement(bound.n_samples - 1, margin) > 0.05
    wider = theory.theorem_4_5(200, 1 / 6, 10_000, 0.05, 0.9, 1e-6)
    assert wider.mistakes > 40 * theory.theorem_4_5(200, 1 / 3, 10_000, 0.05, 0.9, 1e-6).mistakes  # about rho**-6


def in_the_list(bits: tuple[int, ...], x: tuple[int, ...]) -> int:
    return next((bit for bit, true in zip(bits, x, strict=False) if true), bits[-1])


def test_every_list_is_a_halfspace_with_the_margin_of_lemma_4_10() -> None:
    assert [theory.lemma_4_10(7, d) for d in (0, 2, 3)] == pytest.approx([1, 1 / (2 * 4**2), 1 / (2 * 3**3)])
    for length in range(1, 8):
        for bits in itertools.product((-1, 1), repeat=length):
            weights = theory.list_weights(bits)
            constant = weights[-1] + sum(weights[:-1]) / 2
            norm = sum(map(abs, weights[:-1])) / 2 + abs(constant)
            margin = theory.list_margin(bits)
            for true in itertools.product((0, 1), repeat=length - 1):
                x = [2 * t - 1 for t in true]
                score = (np.dot(weights[:-1], x) / 2 + constant) / norm
                assert score * in_the_list(bits, true) >= margin - 1e-12
            alternations = sum(a != b for a, b in itertools.pairwise(bits))
            assert margin >= theory.lemma_4_10(length, alternations)
    with pytest.raises(ValueError, match="alternations"):
        theory.lemma_4_10(3, 3)
    with pytest.raises(ValueError, match="-1 or 1"):
        theory.list_weights([1, 0])


def test_theorems_4_11_and_4_12_are_theorem_4_5_at_that_margin() -> None:
    lists = theory.theorem_4_11(50, 4, 1, 1000, 0.1, 0.9, 1e-6)
    assert lists == theory.theorem_4_5(102, theory.lemma_4_10(4, 1), 1000, 0.1, 0.9, 1e-6)
    assert theory.theorem_4_11(50, 4, 2, 1000, 0.1, 0.9, 1e-6).mistakes > lists.mistakes


# Ours.


def requested(**changes: object) -> WinnowRequest:
    values = {
        "dimension": 100, "signed": True, "update": "batch", "epsilon": 1.0, "delta": 1e-6, "neighbouring": ADD,
        "horizon": 10_000, "margin": 1 / 3, **changes,
    }  # fmt: skip
    return WinnowRequest(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("changes", [{}, {"neighbouring": REPLACE}, {"epsilon": 0.1}, {"margin": 0.05, "delta": 1e-9}])
def test_the_schedule_with_a_theorem_meets_its_conditions(changes: dict[str, object]) -> None:
    request = requested(**changes)
    stream = theorem_schedule(request)
    assert request.margin is not None
    charges = [part.charge for part in stream.charges(request.neighbouring)]
    assert accountants.epsilon(charges, request.delta) <= request.epsilon
    batch = bound_of(request) / (stream.epochs + 1)
    assert stream.rate * batch == pytest.approx(2 / 3 * request.margin)  # eta = (1 - c) rho per update
    noise = scales(stream.threshold_epsilon, Queries.RUNNING_COUNT)
    slack = accuracy(noise, request.horizon, request.beta / (stream.epochs + 1)) + 1
    assert stream.threshold + slack <= batch
    assert stream.threshold - slack >= batch / 2
    share = (stream.threshold - slack) / batch
    assert stream.epochs >= math.log(200) / ((2 / 3 * request.margin) ** 2 * share * (1 - share / 2))
    confident = theory.batch_samples(request.margin, stream.epochs, request.horizon, request.beta)
    assert stream.n_samples >= confident
    failing = (stream.epochs + 1) * request.horizon * math.exp(-stream.n_samples * (request.margin / 3) ** 2 / 2)
    assert failing <= request.beta


def test_one_batch_lowers_the_potential_as_promised() -> None:
    """The step of the proof, searched for a counter-example: any batch of unconfident rows that the target allows."""
    generator = np.random.default_rng(0)
    v = np.array([0.4, 0.3, 0.3, 0, 0, 0])
    points = np.array(list(itertools.product((-1, 1), repeat=6)))
    margin, c = float(np.abs(points @ v).min()), 1 / 3
    labels = np.sign(points @ v)
    eta = (1 - c) * margin
    closest = math.inf
    for _ in range(4000):
        w = generator.dirichlet(np.full(6, generator.choice([0.1, 1.0])))
        unconfident = np.flatnonzero(labels * (points @ w) <= c * margin)
        if len(unconfident) == 0:
            continue
        share = generator.uniform(0.5, 1.0)
        chosen = generator.choice(unconfident, 10 if generator.random() < 0.5 else 1)
        u = share * (labels[chosen, None] * points[chosen]).mean(axis=0)
        fall = eta * (v @ u) - math.log(w @ np.exp(eta * u))
        promised = eta**2 * share * (1 - share / 2)
        closest = min(closest, fall / promised)
    assert 1.0 - 1e-9 <= closest < 3.0


# Theorem 4 of docs/theory/winnow.md, on streams and as numbers.


def hard_stream(rounds: int, dimension: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Majority of the first three with margin 1/3 in every round; all other coordinates point the wrong way."""
    labels = np.where(generator.random(rounds) < 0.5, 1, -1).astype(np.int8)
    rows = np.repeat(-labels[:, None], dimension, axis=1)
    rows[:, :3] = labels[:, None]
    rows[np.arange(rounds), generator.integers(0, 3, rounds)] *= -1
    return rows, labels


def potential(sums: np.ndarray, rate: float, v: np.ndarray) -> float:
    """``sum v log(v / w)`` for ``w`` proportional to ``exp(rate * sums)``."""
    log_w = rate * sums - np.logaddexp.reduce(rate * sums)
    return float(sum(share * (math.log(share) - log_w[j]) for j, share in enumerate(v) if share > 0))


@pytest.mark.parametrize("kind", ["hard", pytest.param("majority", marks=pytest.mark.slow)])
def test_theorem_4_on_streams_step_by_step(kind: str) -> None:
    """Every epoch has q B to B mistakes, every update lowers the potential as Lemma 2 says, and the sums come out."""
    dimension, margin, rounds = 20, 1 / 3, 12_000
    request = requested(dimension=dimension, signed=False, horizon=rounds, epsilon=4.0, margin=margin)
    spec, promised = theorem_schedule(request), bound_of(request)
    generator = np.random.default_rng(1)
    if kind == "hard":
        rows, labels = hard_stream(rounds, dimension, generator)
    else:
        rows, labels = majority_stream(generator, rounds, dimension, 3)
    v = np.zeros(dimension)
    v[(labels @ rows.astype(int)).argsort()[-3:]] = 1 / 3
    assert (labels * (rows @ v) >= margin - 1e-12).all()
    reservation = Reservation([part.charge for part in spec.charges(ADD)], ADD, "x")
    stream = open_row_stream(spec, reservation, 3, "w")
    log, before = WinnowLog(dimension, False, spec.epochs), potential(np.zeros(dimension), spec.rate, v)
    batch = promised / (spec.epochs + 1)
    assert spec.rate * batch == pytest.approx(2 / 3 * margin)
    mistakes, since, falls = 0, 0, []
    for t in range(rounds):
        wrong = (1 if log.weights @ rows[t].astype(int) > 0 else -1) != labels[t]
        since += wrong
        mistakes += wrong
        for update in stream.feed(rows[t : t + 1], labels[t : t + 1]):
            log.end_epoch(update.round, update.weights)
            after = potential(np.array(stream.secrets()["machine"]["sums"]), spec.rate, v)
            share, eta = since / batch, spec.rate * batch
            assert 0.5 <= share <= 1
            assert before - after >= share * (2 / 3) * eta * margin - share**2 * eta**2 / 2
            falls.append((before - after) / (math.log(dimension) / spec.epochs))
            before, since = after, 0
    assert 0 < len(falls) <= spec.epochs
    assert sum(falls) <= spec.epochs  # the potential is never negative
    assert mistakes <= promised
    assert min(falls) >= 1  # at least the share that K counts on
