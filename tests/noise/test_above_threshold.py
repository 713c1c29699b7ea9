"""The above-threshold machine follows its law, in batches as one by one."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.checks.mechanism import Law, likelihood_ratio_rejects
from tacit.noise import NoiseSource, SeededSource, SystemSource
from tacit.noise.above_threshold import AboveThreshold, TailCoins, tail_bounds
from tacit.privacy.charges import Pure
from tacit.theory.above_threshold import Queries, Scales, scales
from tests.noise.above_threshold_law import log_probability
from tests.noise.exact import kolmogorov_rejects

VALUES = np.array([0, 0, 1, 1, 2, 2, 3, 3], np.int64)
THRESHOLD, EPSILON = 3, 0.8


def law(noise: Scales) -> Law:
    """Which round is the first above; the last entry stands for none."""
    rounds = [(int(value), 1) for value in VALUES]
    stops = [log_probability(noise, THRESHOLD, rounds[:k], rounds[k][0]) for k in range(len(rounds))]
    return Law(0, np.exp([*stops, log_probability(noise, THRESHOLD, rounds, None)]))


@pytest.mark.law_of("AboveThreshold")
@pytest.mark.parametrize("source", [SystemSource(), SeededSource(9)], ids=["tacit", "seeded"])
@pytest.mark.parametrize("queries", [Queries.RUNNING_COUNT, Queries.ANY])
def test_it_stops_by_its_law(source: NoiseSource, queries: Queries) -> None:
    def stop(one_by_one: bool) -> int:
        instance = AboveThreshold(source, EPSILON, THRESHOLD, queries)
        if one_by_one:
            return next((t for t, value in enumerate(VALUES) if instance.test(int(value))), len(VALUES))
        result = instance.test_many(VALUES)
        return len(VALUES) if result is None else result

    stops = np.array([stop(i % 2 == 0) for i in range(2_000)])
    noise = scales(EPSILON, queries)
    assert not kolmogorov_rejects(stops, law(noise))
    wrong = law(Scales(0.55 * noise.threshold, 0.55 * noise.query))
    assert not likelihood_ratio_rejects(stops, law(noise), wrong)
    generator = np.random.default_rng(0)
    assert likelihood_ratio_rejects(generator.choice(len(VALUES) + 1, 2_000, p=wrong.p), law(noise), wrong)


class _Tape:
    """A source that reads its words off a tape, whatever the size of the calls, and remembers what it gave."""

    def __init__(self) -> None:
        self.tape = SeededSource(4).words(200_000)
        self.scales: list[float] = []

    def laplace(self, scale: float, size: int) -> np.ndarray:
        self.scales.append(scale)
        return np.full(size, 2, np.int64)

    def words(self, size: int) -> np.ndarray:
        drawn, self.tape = self.tape[:size], self.tape[size:]
        return drawn


@pytest.mark.parametrize(
    ("queries", "threshold", "query"), [(Queries.ANY, 2, 4), (Queries.ONE_WAY, 2, 2), (Queries.RUNNING_COUNT, 1, 1)]
)
def test_its_two_scales_by_hand(queries: Queries, threshold: int, query: int) -> None:
    """4 below a threshold that was drawn 2 higher: above with the chance that the query's noise is 4 or more."""
    scale = query * 3 / 0.5
    chance = math.exp(-4 / scale) / (1 + math.exp(-1 / scale))
    for share, above in ((0.999, True), (1.001, False)):
        tape = _Tape()
        tape.tape = np.full(2_000, int(share * chance * 2**64), np.uint64)
        instance = AboveThreshold(tape, 0.5, 10, queries, sensitivity=3)  # type: ignore[arg-type]
        assert tape.scales == pytest.approx([threshold * 3 / 0.5])
        assert instance.test(8) == above


def test_batches_and_single_tests_are_the_same_machine() -> None:
    """On the same words they say the same, round by round."""
    values = np.cumsum(np.random.default_rng(1).random(1_000) < 0.05).astype(np.int64)
    for threshold in range(20, 60):
        one, many = (AboveThreshold(_Tape(), 0.3, threshold, Queries.RUNNING_COUNT) for _ in range(2))  # type: ignore[arg-type]
        expected = next((t for t, value in enumerate(values) if one.test(int(value))), None)
        assert many.test_many(values) == expected
        assert one.stopped == many.stopped == (expected is not None)


def test_every_round_has_words_of_its_own() -> None:
    tape = _Tape()
    start = len(tape.tape)
    instance = AboveThreshold(tape, 0.5, 10**6, Queries.ANY, sensitivity=3)  # type: ignore[arg-type]
    for _ in range(3_000):
        assert not instance.test(9)
    assert instance.test_many(np.full(100_000, 9, np.int64)) is None
    assert 103_000 <= start - len(tape.tape) < 105_000
    assert tape.scales == [math.nextafter(12.0, math.inf)]


def test_it_is_accurate_and_then_spent() -> None:
    instance = AboveThreshold(SystemSource(), 2.0, 1_000, Queries.RUNNING_COUNT)
    assert instance.charge == Pure(2.0)
    assert instance.test_many(np.full(3_000, 900, np.int64)) is None
    assert instance.test_many(np.array([0, 0, 1_200], np.int64)) == 2
    assert instance.stopped
    for again in (lambda: instance.test(0), lambda: instance.test_many(VALUES)):
        with pytest.raises(RuntimeError, match="open a new one"):
            again()


def test_it_goes_on_from_its_secrets() -> None:
    first = AboveThreshold(SeededSource(1), 1.0, 50, Queries.RUNNING_COUNT)
    first.test_many(np.zeros(10, np.int64))
    later = AboveThreshold(SeededSource(2), 1.0, 50, Queries.RUNNING_COUNT)
    later.restore(first.secrets())
    assert later.secrets() == first.secrets()
    assert not later.stopped
    assert later.test(500)


def test_queries_must_be_integers() -> None:
    with pytest.raises(TypeError, match="int64"):
        AboveThreshold(SeededSource(1), 1.0, 5).test_many(np.zeros(3))  # type: ignore[arg-type]


def test_running_counts_start_again_under_one_charge() -> None:
    instance = AboveThreshold(SeededSource(3), 1.0, 200, Queries.RUNNING_COUNT)
    first = instance.secrets()["noisy_threshold"]
    with pytest.raises(RuntimeError, match="only a stopped"):
        instance.restart()
    assert instance.test(400)
    instance.restart()
    assert not instance.stopped
    assert instance.secrets()["noisy_threshold"] != first
    assert not instance.test(0)
    other = AboveThreshold(SeededSource(3), 1.0, 200, Queries.ONE_WAY)
    assert other.test(800)
    with pytest.raises(RuntimeError, match="running counts"):
        other.restart()


def test_a_threshold_far_away_says_never_and_one_far_below_says_at_once() -> None:
    assert AboveThreshold(SystemSource(), 1.0, 10**15).test_many(np.zeros(10, np.int64)) is None
    assert AboveThreshold(SystemSource(), 1.0, -(10**15)).test_many(np.zeros(10, np.int64)) == 0


@settings(max_examples=80, deadline=None)
@given(st.integers(-4000, 4000), st.floats(0.05, 1e6), st.sampled_from([64, 128]))
def test_the_tail_bounds_bracket_the_tail(gap: int, scale: float, bits: int) -> None:
    low, high = tail_bounds(gap, scale, bits)
    with localcontext() as context:
        context.prec = 120
        q = (-1 / Decimal(scale)).exp()
        tail = q**gap / (1 + q) if gap >= 1 else 1 - q ** (1 - gap) / (1 + q)
        slack = Decimal(10) ** -90
        assert Decimal(low) <= tail * 2**bits * (1 + slack)
        assert Decimal(high) >= tail * 2**bits * (1 - slack)
    assert 0 <= low < high <= 1 << bits
    assert high - low <= 2


def test_a_word_on_the_edge_is_refined() -> None:
    coins = TailCoins(3.0, lambda n: np.array(words.pop(), np.uint64, ndmin=1))
    yes, no = coins.bounds(4)
    assert no - yes in (1, 2)
    fine_yes, _ = tail_bounds(4, 3.0, 128)
    words = [0]
    assert coins.toss(4, fine_yes >> 64) is True
    words = [2**64 - 1]
    assert coins.toss(4, fine_yes >> 64) is False
    assert coins.toss(4, yes - 1)
    assert not coins.toss(4, no)
