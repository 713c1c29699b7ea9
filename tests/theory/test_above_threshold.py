"""Privacy of above-threshold by exact summation over tiny streams; accuracy by exact tails."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest

from tacit.theory.above_threshold import Queries, Scales, accuracy, paper_accuracy, scales
from tests.noise.above_threshold_law import Rounds, known_log_probability, log_probability

EPSILONS = [0.3, 1.0, 2.5]
HORIZON = 4
STREAMS = list(itertools.product((0, 1), repeat=HORIZON))


def transcripts(values: list[int]) -> list[tuple[tuple[tuple[int, int], ...], int | None]]:
    """All answers an instance can give: above for the first time in round k, or never."""
    rounds = tuple((value, 1) for value in values)
    return [(rounds[:k], values[k]) for k in range(len(values))] + [(rounds, None)]


def largest_loss(noise: Scales, threshold: int, values: list[int], neighbour: list[int]) -> float:
    """The largest privacy loss between two sequences of exact queries, over all answers and in both directions."""
    return max(
        abs(known_log_probability(noise, threshold, *one) - known_log_probability(noise, threshold, *other))
        for one, other in zip(transcripts(values), transcripts(neighbour), strict=True)
    )


def moves(queries: Queries) -> list[tuple[int, ...]]:
    """All ways in which one row may move the queries of a stream (both signs come from swapping the tables)."""
    if queries is Queries.ANY:
        return list(itertools.product((-1, 0, 1), repeat=HORIZON))
    if queries is Queries.ONE_WAY:
        return STREAMS
    return [tuple(int(t >= s) for t in range(HORIZON)) for s in range(HORIZON)]


@cache
def worst_on_tiny_streams(noise: Scales, queries: Queries) -> float:
    worst = 0.0
    for stream in STREAMS:
        counts = np.cumsum(stream)
        for move, threshold in itertools.product(moves(queries), (0, 1, 3, 30)):
            neighbour = counts + np.array(move)
            worst = max(worst, largest_loss(noise, threshold, counts.tolist(), neighbour.tolist()))
    return worst


@cache
def worst_on_long_streams(noise: Scales, queries: Queries) -> float:
    """Thousands of rounds below reveal the noisy threshold, and then one round above reveals the query's noise."""
    worst = 0.0
    for rounds, threshold in itertools.product((10, 10**3, 10**5, 10**8), (0, 20, 60)):
        pairs: list[tuple[tuple[Rounds, int | None], tuple[Rounds, int | None]]] = [
            (([(0, rounds)], None), ([(1, rounds)], None)),
            (([(0, rounds)], 0), ([(1, rounds)], 1)),
            (([(0, rounds)], 0), ([(0, rounds)], 1)),
        ]
        if queries is not Queries.RUNNING_COUNT:
            pairs.append((([(0, rounds)], 0), ([(1, rounds)], 0)))
        if queries is Queries.ANY:
            pairs.append((([(0, rounds)], 1), ([(1, rounds)], 0)))
        for one, other in pairs:
            loss = log_probability(noise, threshold, *one) - log_probability(noise, threshold, *other)
            worst = max(worst, abs(loss))
    return worst


@pytest.mark.parametrize("queries", list(Queries))
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_neighbours_lose_more_than_epsilon(queries: Queries, epsilon: float) -> None:
    noise = scales(epsilon, queries)
    assert worst_on_tiny_streams(noise, queries) <= epsilon * (1 + 1e-9)
    assert worst_on_long_streams(noise, queries) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("queries", list(Queries))
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_noise_cannot_be_ten_percent_smaller(queries: Queries, epsilon: float) -> None:
    """The search finds a violation when either scale is 10 % too small, so both constants are (nearly) attained."""
    right = scales(epsilon, queries)
    searches = (worst_on_long_streams, worst_on_tiny_streams)
    for noise in (Scales(0.9 * right.threshold, right.query), Scales(right.threshold, 0.9 * right.query)):
        assert any(search(noise, queries) > epsilon * 1.02 for search in searches)
    assert any(search(right, queries) > 0.99 * epsilon for search in searches)


@pytest.mark.parametrize(
    ("assumed", "real"), [(Queries.RUNNING_COUNT, Queries.ONE_WAY), (Queries.ONE_WAY, Queries.ANY)]
)
def test_the_kind_of_query_matters(assumed: Queries, real: Queries) -> None:
    noise = scales(1.0, assumed)
    assert worst_on_long_streams(noise, real) > 1.4


def test_a_row_is_in_one_epoch() -> None:
    """Two instances in sequence, counters starting anew: one row still costs epsilon, not two."""
    epsilon, threshold, horizon = 1.0, 1, 5
    noise = scales(epsilon, Queries.RUNNING_COUNT)

    def law(bits: list[int], stops: tuple[int, ...]) -> float:
        start, total = 0, 0.0
        for stop in stops:
            counts = np.cumsum(bits[start : stop + 1]).tolist()
            total += log_probability(noise, threshold, [(c, 1) for c in counts[:-1]], counts[-1])
            start = stop + 1
        if len(stops) < 2:
            total += log_probability(noise, threshold, [(int(c), 1) for c in np.cumsum(bits[start:])], None)
        return total

    worst = 0.0
    rounds = range(horizon)
    answers = [(), *((t,) for t in rounds), *itertools.combinations(rounds, 2)]
    for stream, row, stops in itertools.product(itertools.product((0, 1), repeat=horizon), rounds, answers):
        other = [bit ^ (t == row) for t, bit in enumerate(stream)]
        worst = max(worst, abs(law(list(stream), stops) - law(other, stops)))
    assert 0.5 * epsilon < worst <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("queries", list(Queries))
@pytest.mark.parametrize(("horizon", "beta", "part"), [(1, 0.1, 0.4), (100, 0.05, 0.7), (10**5, 1e-3, 0.75)])
def test_accuracy_holds_and_is_close(queries: Queries, horizon: int, beta: float, part: float) -> None:
    """Exactly: the chance that any ``|v_t - r|`` exceeds alpha is at most beta, and is above it at a part of alpha."""
    noise = scales(0.5, queries)
    alpha = accuracy(noise, horizon, beta)
    assert _failure(noise, horizon, alpha) <= beta < _failure(noise, horizon, math.floor(part * alpha))
    assert alpha <= paper_accuracy(0.5, horizon, beta)


def _failure(noise: Scales, horizon: int, alpha: int) -> float:
    """``P(max_t |v_t - r| > alpha)``, summed over the threshold's noise."""
    r = np.arange(-60 * math.ceil(noise.threshold), 60 * math.ceil(noise.threshold) + 1, dtype=np.float64)
    law = np.exp(-np.abs(r) / noise.threshold)

    def cdf(x: np.ndarray) -> np.ndarray:
        q = math.exp(-1.0 / noise.query)
        tail = np.exp(-np.abs(np.where(x >= 0, x + 1, x)) / noise.query) / (1.0 + q)
        return np.where(x >= 0, 1.0 - tail, tail)

    inside = cdf(r + alpha) - cdf(r - alpha - 1)
    return float((law / law.sum() * (1.0 - inside**horizon)).sum())
