"""The above-threshold machine follows its law, in batches as one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.noise import NoiseSource, OpenDPSource, SeededSource
from tacit.noise.above_threshold import AboveThreshold
from tacit.privacy.charges import Pure
from tacit.theory.above_threshold import Queries, Scales, scales
from tests.noise.above_threshold_law import log_probability
from tests.noise.exact import Pmf, kolmogorov_rejects, likelihood_ratio_rejects

VALUES = np.array([0, 0, 1, 1, 2, 2, 3, 3], np.int64)
THRESHOLD, EPSILON = 3, 0.8


def law(noise: Scales) -> Pmf:
    """Which round is the first above; the last entry stands for none."""
    rounds = [(int(value), 1) for value in VALUES]
    stops = [log_probability(noise, THRESHOLD, rounds[:k], rounds[k][0]) for k in range(len(rounds))]
    return Pmf(0, np.exp([*stops, log_probability(noise, THRESHOLD, rounds, None)]))


@pytest.mark.parametrize("source", [OpenDPSource(), SeededSource(9)], ids=["opendp", "seeded"])
@pytest.mark.parametrize("queries", [Queries.RUNNING_COUNT, Queries.ANY])
def test_it_stops_by_its_law(source: NoiseSource, queries: Queries) -> None:
    def stop(one_by_one: bool) -> int:
        instance = AboveThreshold(source, EPSILON, THRESHOLD, queries)
        if one_by_one:
            return next((t for t, value in enumerate(VALUES) if instance.test(int(value))), len(VALUES))
        found = instance.test_many(VALUES)
        return len(VALUES) if found is None else found

    stops = np.array([stop(i % 2 == 0) for i in range(2_000)])
    noise = scales(EPSILON, queries)
    assert not kolmogorov_rejects(stops, law(noise))
    wrong = law(Scales(0.55 * noise.threshold, 0.55 * noise.query))
    assert not likelihood_ratio_rejects(stops, law(noise), wrong)
    generator = np.random.default_rng(0)
    assert likelihood_ratio_rejects(generator.choice(len(VALUES) + 1, 2_000, p=wrong.p), law(noise), wrong)


class _Tape:
    """A source that reads its noise off a tape, whatever the size of the calls."""

    def __init__(self) -> None:
        self.tape = SeededSource(4).laplace(3.0, 100_000)

    def laplace(self, scale: float, size: int) -> np.ndarray:
        drawn, self.tape = self.tape[:size], self.tape[size:]
        return drawn


def test_batches_and_single_tests_are_the_same_machine() -> None:
    values = np.cumsum(np.random.default_rng(1).random(5_000) < 0.01).astype(np.int64)
    one, many, mixed = (AboveThreshold(_Tape(), 0.3, 45, Queries.RUNNING_COUNT) for _ in range(3))  # type: ignore[arg-type]
    expected = next(t for t, value in enumerate(values) if one.test(int(value)))
    assert 1_000 < expected < 4_900
    assert many.test_many(values) == expected
    assert mixed.test_many(values[:70]) is None
    assert not mixed.test(int(values[70]))
    assert mixed.test_many(values[71:]) == expected - 71
    assert one.stopped
    assert many.stopped
    assert mixed.stopped


def test_it_is_accurate_and_then_spent() -> None:
    instance = AboveThreshold(OpenDPSource(), 2.0, 1_000, Queries.RUNNING_COUNT)
    assert instance.charge == Pure(2.0)
    assert instance.test_many(np.full(3_000, 900, np.int64)) is None
    assert instance.test_many(np.array([0, 0, 1_200], np.int64)) == 2
    assert instance.stopped
    for again in (lambda: instance.test(0), lambda: instance.test_many(VALUES)):
        with pytest.raises(RuntimeError, match="spent"):
            again()


class _Counting:
    """A source that remembers what it gave."""

    def __init__(self) -> None:
        self.given: list[tuple[float, int]] = []

    def laplace(self, scale: float, size: int) -> np.ndarray:
        self.given.append((scale, size))
        return np.zeros(size, np.int64)


def test_every_round_has_its_own_noise_in_few_calls() -> None:
    source = _Counting()
    instance = AboveThreshold(source, 0.5, 10, Queries.ANY, sensitivity=3)  # type: ignore[arg-type]
    for _ in range(500):
        assert not instance.test(9)
    assert instance.test_many(np.full(100_000, 9, np.int64)) is None
    (threshold_scale, one), *rest = source.given
    assert one == 1
    assert threshold_scale == pytest.approx(12.0)
    assert {scale for scale, _ in rest} == {math.nextafter(24.0, math.inf)}
    assert 100_500 <= sum(size for _, size in rest) < 100_500 + 2**14
    assert len(rest) < 20


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
