"""Schedules, charges and bounds of Winnow as numbers: each rule written once more with its numbers in it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tacit.curator.streams.winnow import ONE_PERIOD, WinnowStream, draws_charge
from tacit.curator.streams.winnow_log import MIXED_UNITS, first_weights, mixture, scores_of
from tacit.online.schedule import bound_of, largest_range, paper_schedule, schedule_of
from tacit.privacy import accountants
from tacit.privacy.charges import ZCDP, BoundedRange, NonPrivate, Pure, Repeated
from tacit.privacy.unit import Neighbouring
from tacit.theory import above_threshold
from tacit.theory import winnow as theory
from tests.online.test_winnow_stream import stream_of
from tests.online.test_winnow_theory import requested

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


def clipped(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize(
    ("dimension", "signed", "classes", "horizon", "epsilon"),
    [
        (200, True, 2, 40_000, 1.0),
        (3, False, 2, 100, 1.0),
        (3000, True, 2, 4_000_000, 1.0),
        (900, False, 2, 10_000, 2.0),
        (50, True, 3, 90_000, 1.0),
        (1, False, 2, 10, 0.5),
    ],
)
def test_the_usual_schedule(
    relation: Neighbouring, dimension: int, signed: bool, classes: int, horizon: int, epsilon: float
) -> None:
    arguments = {"dimension": dimension, "signed": signed, "classes": classes, "horizon": horizon, "epsilon": epsilon}
    spec = schedule_of(requested(margin=None, delta=0.0, neighbouring=relation, **arguments))
    weights = dimension * (1 if classes == 2 else classes) * (2 if signed else 1)
    wealth = math.sqrt(horizon * epsilon / 40_000)
    size = clipped(math.log(max(weights, 2)) / math.log(400), 0.5, 2.0)
    epochs = max(4, round(64 * clipped(wealth, 0.4, 1.5) * size))
    samples = 2 * round(15 * clipped(wealth, 0.5, 2.0) / 2 - 0.5) + 1
    each = 0.85 * epsilon / (epochs * samples)
    rate = each / (2 if relation is ADD else 4)
    assert (spec.epochs, spec.n_samples, spec.dimension, spec.classes) == (epochs, samples, dimension, classes)
    assert spec.threshold_epsilon == pytest.approx(0.15 * epsilon)
    assert spec.draw_range == pytest.approx(each)
    assert spec.threshold == math.ceil(max(0.7 / rate, 11 / (0.15 * epsilon)))
    assert (spec.times, spec.decay, spec.unsure, spec.update) == ((), 0.0, 0.0, "batch")
    cost = [part.charge for part in spec.charges(relation)]
    assert accountants.epsilon(cost, 0.0) == pytest.approx(epsilon)


def test_draws_cost_all_that_is_left_of_an_approximate_request() -> None:
    request = requested(margin=None, epsilon=1.0, delta=1e-6)
    for threshold_epsilon, draws in ((0.15, 960), (0.0, 480)):
        largest = largest_range(request, threshold_epsilon, draws)
        paid = [Pure(threshold_epsilon), draws_charge(largest, draws)] if threshold_epsilon else []
        paid = paid or [draws_charge(largest, draws)]
        assert accountants.epsilon(paid, 1e-6) == pytest.approx(1.0, rel=3e-3)
        assert accountants.epsilon(paid, 1e-6) <= 1.0


@pytest.mark.parametrize(("epsilon", "horizon"), [(2.0, 1), (0.5, 100), (0.5, 33), (1.0, 1_250)])
def test_the_timed_schedule(epsilon: float, horizon: int) -> None:
    spec = schedule_of(requested(update="timed", margin=None, delta=0.0, epsilon=epsilon, horizon=horizon))
    times, due = [], 16 / min(epsilon, 1.0)
    while True:
        times.append(max(round(due), 1))
        due = max(1.2 * due, times[-1] + 1.0)
        if due >= horizon:
            break
    samples = 2 * round(15 * clipped(math.sqrt(horizon * epsilon / 40_000), 0.5, 2.0) / 2 - 0.5) + 1
    assert (spec.times, spec.epochs, spec.n_samples) == (tuple(times), len(times), samples)
    assert spec.draw_range == pytest.approx(epsilon / (len(times) * samples))
    assert (spec.unsure, spec.decay, spec.threshold_epsilon) == (0.2, 0.95, 0.0)


def test_without_privacy_an_update_follows_every_mistake() -> None:
    for update in ("batch", "timed"):
        spec = schedule_of(requested(epsilon=math.inf, margin=None, update=update))
        assert (spec.threshold, spec.n_samples, spec.epochs, spec.update) == (1, 1, 10**6, "batch")
        assert spec.rate == pytest.approx(0.2)
    assert schedule_of(requested(epsilon=math.inf, margin=0.125)).rate == pytest.approx(0.125)


def test_the_schedule_of_the_paper_is_theorem_4_5() -> None:
    for asked, margin in ((None, 1 / 3), (0.2, 0.2)):
        spec = paper_schedule(requested(update="first", margin=asked, epsilon=2.0))
        bound = theory.theorem_4_5(200, margin, 10_000, 0.05, 0.999, 1e-6)
        assert (spec.epochs, spec.n_samples, spec.threshold) == (bound.epochs, bound.n_samples, bound.threshold)
        assert spec.threshold_epsilon == bound.threshold_epsilon
        assert spec.draw_range == pytest.approx(4 * bound.learning_rate)


def test_the_batch_of_the_theorem_is_the_smallest_that_is_paid_for() -> None:
    """At half of epsilon for above-threshold, and with a slack that holds for all updates that there may be."""
    request = requested()
    spec, mistakes = schedule_of(request), bound_of(request)
    most = theory.batch_updates(200, 1 / 3, 1 / 3) + 1
    noise = above_threshold.scales(0.5, above_threshold.Queries.RUNNING_COUNT)
    slack = above_threshold.accuracy(noise, 10_000, 0.05 / most) + 1
    batch = round(mistakes / (spec.epochs + 1))
    assert spec.threshold == batch - slack
    assert spec.threshold_epsilon == 0.5
    assert spec.rate == pytest.approx(2 / 9 / batch)
    for off, enough in ((0, True), (-1, False)):
        smaller = theory.batch_theorem(200, 1 / 3, batch + off, slack, 10_000, 0.05, 1 / 3)
        paid = largest_range(request, 0.5, smaller[0] * smaller[1]) / 2 * (batch + off)
        assert (paid >= 2 / 9) == enough


def test_every_round_of_the_theorem_by_hand() -> None:
    """Theorem 12 at a drop of 3: log(200 / .05) / log(2 / (1 + e^-3)) = 12.9 draws, each after enough mistakes."""
    assert theory.drawn_updates(200, 2.0, 0.05) == 15
    assert theory.drawn_updates(200, 1.0, 0.05) == 22
    assert theory.drawn_updates(200, 3.0, 0.05) == 13
    assert theory.drawn_updates(1, 2.0, 0.05) == 6
    request = requested(update="every", margin=1.0)
    spec, mistakes = schedule_of(request), bound_of(request)
    assert (spec.update, spec.n_samples, spec.threshold_epsilon, spec.epochs) == ("every", 1, 0.5, 13)
    assert spec.draw_range == pytest.approx(largest_range(request, 0.5, 13))
    noise = above_threshold.scales(0.5, above_threshold.Queries.RUNNING_COUNT)
    hidden = above_threshold.accuracy(noise, 10_000, 0.05 / 14)
    assert spec.threshold == math.ceil(3.0 / spec.draw_range) + hidden  # errors weigh twice a rate, which is half of it
    assert mistakes == 14 * (spec.threshold + hidden + 1)
    carried = schedule_of(requested(update="every", margin=1.0, carried=0.5, epsilon=30.0))
    assert carried.rate == pytest.approx(math.log(1.2))  # or rounded scores would not be about the carried weights


def test_what_carried_weights_add_to_the_potential() -> None:
    assert requested(signed=False).potential == 100
    assert requested(signed=False, carried=0.5).potential == 240
    assert requested(carried=0.25).potential == 320
    assert requested(classes=4).n_weights == 800
    assert (requested().comparisons, requested(classes=4).comparisons) == (10_000, 30_000)


def test_what_a_stream_is_charged() -> None:
    """Above-threshold once, and as many draws as updates may make."""
    for update, relation, apart in (("batch", ADD, 2), ("batch", REPLACE, 4), ("first", ADD, 4), ("first", REPLACE, 4)):
        spec = stream_of(update=update, neighbouring=relation, epochs=3, n_samples=5, draw_range=0.8)
        assert spec.score_range == apart
        assert spec.rate == pytest.approx(0.8 / apart)
        threshold, draws = spec.charges(relation)
        assert threshold.charge == Pure(spec.threshold_epsilon)
        assert draws.charge == Repeated(BoundedRange(0.8), 15)
        assert f"moves scores {apart} apart" in draws.theorem
        assert ONE_PERIOD not in draws.theorem + threshold.theorem
        for part in replace(spec, periods=True).charges(relation):
            assert ONE_PERIOD in part.theorem
    (nothing,) = stream_of(threshold_epsilon=math.inf).charges(ADD)
    assert nothing.charge == NonPrivate()
    with pytest.raises(ValueError, match="planned for"):
        stream_of().charges(REPLACE)


def test_very_many_draws_are_charged_by_their_zcdp() -> None:
    assert draws_charge(0.1, 100_000) == Repeated(BoundedRange(0.1), 100_000)
    assert draws_charge(0.1, 100_001) == ZCDP(100_001 * 0.1**2 / 8)


@pytest.mark.parametrize(
    "wrong",
    [
        *({name: 0} for name in ("dimension", "threshold", "epochs", "n_samples", "horizon")),
        {"draw_range": 0.0},
        {"threshold_epsilon": 0.0},
        {"carried": 1.0},
        {"carried": -0.1},
        {"update": "never"},
        {"released": (1,)},
    ],
)
def test_streams_that_cannot_be(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"positive|carried|update"):
        stream_of(**wrong)


def test_streams_at_the_edge() -> None:
    stream_of(dimension=1, threshold=1, epochs=1, n_samples=1, horizon=1, draw_range=1e-9, threshold_epsilon=1e-9)


def test_weights_that_a_period_begins_with() -> None:
    released = np.array([3, -1, 0])
    assert mixture(np.array([3, 1, 0]), False, 0.4) == pytest.approx([0.2 + 0.3, 0.2 + 0.1, 0.2])
    assert mixture(released, True, 0.4) == pytest.approx([0.1 + 0.3, 0.1, 0.1, 0.1, 0.1 + 0.1, 0.1])
    assert mixture(np.zeros(4, np.int64), False, 0.4) == pytest.approx(np.full(4, 0.25))
    weights = np.array([0.5, 0.3, 0.2])
    assert scores_of(weights, 0.01).tolist() == [0, round(100 * math.log(0.6)), round(100 * math.log(0.4))]
    assert first_weights(released, True, 0.4).tolist() == [3, -1, 0]
    assert first_weights(np.array([3, 1, 0]), False, 0.4).tolist() == np.rint(
        MIXED_UNITS * np.array([0.5, 0.3, 0.2])
    ).astype(int).tolist()  # fmt: skip


def test_scores_that_a_stream_begins_with() -> None:
    spec: WinnowStream = stream_of(signed=True, dimension=3, released=(3, -1, 0), carried=0.4, periods=True)
    expected = scores_of(mixture(np.array([3, -1, 0]), True, 0.4), spec.rate)
    assert spec.first_scores().tolist() == expected.tolist()
    assert spec.first_log().weights.tolist() == [3, -1, 0]
    assert replace(spec, carried=0.0).first_scores().tolist() == [0] * 6


# bounds of the paper, and ours


def test_lemma_4_2_by_hand() -> None:
    assert theory.confident_updates(20, 0.1, 0.4) == pytest.approx(math.log(20) / (0.02 - 0.005))
    assert theory.confident_updates(20, 0.1, 0.4, 0.25) == pytest.approx(math.log(20) / (0.03 - 0.005))
    for rate in (0.4, 0.5):
        with pytest.raises(ValueError, match=r"below 0\.4"):
            theory.confident_updates(20, rate, 0.4)


def test_lemma_4_6_by_hand() -> None:
    assert theory.samples_for_agreement(0.2, 100, 0.1) == math.ceil(200 * math.log(2000))
    assert theory.samples_for_agreement(0.2, 100, 0.1, 0.25) == math.ceil(800 * math.log(2000))
    assert theory.disagreement(300, 0.2) == pytest.approx(2 * math.exp(-1.5))
    assert theory.disagreement(3000, 0.2, 0.25) == pytest.approx(2 * math.exp(-3.75))
    assert theory.disagreement(1, 0.2) == 1.0


def test_theorems_4_4_and_4_5_by_hand() -> None:
    log = math.log(2e6)
    threshold, rate = theory.theorem_4_4(0.8, 1e-6, 9, 25)
    assert threshold == pytest.approx(0.8 / (4 * math.sqrt(18 * log)))
    assert rate == pytest.approx(0.8 / (8 * math.sqrt(450 * log)))
    bound = theory.theorem_4_5(50, 0.3, 500, 0.1, 0.8, 1e-6)
    assert bound.threshold == math.ceil(8 * math.log(2 * 500**2 / 0.1) / bound.threshold_epsilon)
    assert bound.mistakes == 2.0 * bound.threshold * (bound.epochs + 1)
    assert bound.n_samples == math.ceil(2 / 0.15**2 * math.log(2 * 500 * 500 / 0.1))  # more updates than rounds
    scale = 0.8 / (8 * math.sqrt(2 * bound.n_samples * log))
    assert bound.epochs == math.ceil(((math.log(50) + scale**2 / 2) / (0.15 * scale)) ** 2)


def test_batches_by_hand() -> None:
    assert theory.batch_updates(30, 0.3) == math.ceil(math.log(30) / (0.04 * 0.5 * 0.75))
    assert theory.batch_updates(30, 0.3, 0.5, 0.8) == math.ceil(math.log(30) / (0.15**2 * 0.8 * 0.6))
    assert theory.batch_updates(2, 5.0) == 1
    assert theory.batch_samples(0.3, 12, 700, 0.05) == math.ceil(200 * math.log(13 * 700 / 0.05))
    assert theory.batch_samples(0.3, 12, 700, 0.05, 0.5) == math.ceil(2 / 0.15**2 * math.log(13 * 700 / 0.05))
    epochs, samples, threshold, mistakes = theory.batch_theorem(30, 0.3, 40, 10, 700, 0.05)
    assert threshold == 30
    assert epochs == theory.batch_updates(30, 0.3, 1 / 3, 0.5)
    assert samples == theory.batch_samples(0.3, epochs, 700, 0.05)
    assert mistakes == (epochs + 1) * 40
    with pytest.raises(ValueError, match="four times"):
        theory.batch_theorem(30, 0.3, 39, 10, 700, 0.05)


def test_lemma_4_10_by_hand() -> None:
    assert theory.lemma_4_10(7, 2) == pytest.approx(1 / (2 * 4**2))
    assert theory.lemma_4_10(7, 0) == 1.0
    for length, alternations in ((3, -1), (3, 3), (0, 0)):
        with pytest.raises(ValueError, match="alternations"):
            theory.lemma_4_10(length, alternations)
    assert theory.list_weights([1, -1, -1, 1]) == [4.0, -2.0, -2.0, 1.0]  # all true: 4 - 2 - 2 + 1
    assert theory.list_weights([-1, 1, -1, 1]) == [-4.0, 2.0, -2.0, 1.0]
    assert theory.list_margin([1, -1, -1, 1]) == pytest.approx(1 / (4 + 1))


def test_above_threshold_by_hand() -> None:
    queries = above_threshold.Queries
    for kind, (threshold, query) in ((queries.ANY, (2, 4)), (queries.ONE_WAY, (2, 2)), (queries.RUNNING_COUNT, (1, 1))):
        result = above_threshold.scales(0.5, kind, 3)
        assert (result.threshold, result.query) == (pytest.approx(6 * threshold), pytest.approx(6 * query))
        assert result.threshold > 6 * threshold
        assert result.query > 6 * query
    assert above_threshold.paper_accuracy(0.5, 700, 0.1) == pytest.approx(16 * math.log(14_000))
    noise = above_threshold.Scales(3.0, 6.0)

    def quantile(scale: float, tail: float) -> int:
        a = 0
        while 2 * math.exp(-(a + 1) / scale) / (1 + math.exp(-1 / scale)) > tail:
            a += 1
        return a

    assert above_threshold.accuracy(noise, 700, 0.1) == quantile(3.0, 0.1 / 3) + quantile(6.0, 0.2 / 3 / 700)
    assert above_threshold.accuracy(above_threshold.Scales(0.01, 0.01), 1, 0.5) == 0
    for epsilon, sensitivity in ((0.0, 1), (math.inf, 1), (1.0, 0)):
        with pytest.raises(ValueError, match=r"positive"):
            above_threshold.scales(epsilon, queries.ANY, sensitivity)
    for horizon, beta in ((0, 0.5), (1, 0.0), (1, 1.0)):
        with pytest.raises(ValueError, match=r"horizon|beta"):
            above_threshold.accuracy(noise, horizon, beta)
