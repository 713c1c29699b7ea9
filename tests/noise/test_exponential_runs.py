"""The exponential mechanism over runs of candidates: the law of the one over all candidates one by one."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from tacit.noise import NoiseSource, SeededSource, SystemSource
from tacit.noise.exponential import MOST_CANDIDATES, RUN_BITS, Ratio, exp_bounds, exponential_runs, proposal_weights
from tests.chance import within_law, within_share
from tests.noise.exact import softmax_pmf
from tests.noise.test_sources import check

SOURCES = [pytest.param(SystemSource(), id="tacit"), pytest.param(SeededSource(5), id="seeded")]
SCORES, LENGTHS = np.array([3, 0, -2, 9, 5, 4], np.int64), np.array([1, 20, 40, 0, 3, 1], np.uint64)


def draws(source: NoiseSource, scores: np.ndarray, lengths: np.ndarray, scale: float, n: int) -> np.ndarray:
    return np.array([source.exponential_runs(scores, lengths, scale) for _ in range(n)], np.int64)


@pytest.mark.law_of("exponential_runs")
@pytest.mark.parametrize(
    "source",
    [pytest.param(SystemSource(), id="tacit"), pytest.param(SeededSource(5), id="seeded", marks=pytest.mark.slow)],
)
def test_candidates_have_the_law_of_one_vector_and_a_scale_ten_percent_off_is_noticed(source: NoiseSource) -> None:
    each = np.repeat(SCORES, LENGTHS.astype(np.int64))
    each -= each.max()
    wrong = [softmax_pmf(each, 0.9 * 2.5), softmax_pmf(each, 1.1 * 2.5)]
    check(lambda n: draws(source, SCORES, LENGTHS, 2.5, n), softmax_pmf(each, 2.5), wrong)


@pytest.mark.parametrize("source", SOURCES)
def test_runs_of_all_floats_weigh_as_much_as_they_are_long(source: NoiseSource) -> None:
    """A run of ``2**64`` against one of 3 that is 64 ln 2 scales better: 1 to 3, and any member of either."""
    scores, lengths, scale = np.array([0, 44_361_419], np.int64), np.array([2**64 - 1, 3], np.uint64), 1e6
    results = [source.exponential_runs(scores, lengths, scale) for _ in range(4000)]
    short = [place - (2**64 - 1) for place in results if place >= 2**64 - 1]
    assert within_share(len(short), 4000, 0.75)
    assert within_law(Counter(short), dict.fromkeys(range(3), 1 / 3))
    long = np.array([place / 2**64 for place in results if place < 2**64 - 1])
    counts = np.histogram(long, bins=8, range=(0, 1))[0]
    assert within_law(dict(enumerate(counts.tolist())), dict.fromkeys(range(8), 1 / 8))


def test_the_proposal_covers_the_target_at_every_gap() -> None:
    for scale in (0.37, 12345.678, 2.0**50):
        gaps = np.unique(np.concatenate([np.arange(100), np.geomspace(1, 2**63, 99).astype(np.uint64)]))
        for gap, weight in zip(gaps.tolist(), proposal_weights(gaps.astype(np.uint64), scale, RUN_BITS), strict=True):
            x = Fraction(int(gap)) / Fraction(scale)
            _, high, shift = exp_bounds(Ratio(x.numerator, x.denominator), 160)
            assert Fraction(high, 1 << shift) * 2**RUN_BITS < int(weight)


def test_the_member_is_the_remainder_of_the_number_that_chose_the_run() -> None:
    """All candidates alike: their number is the drawn one over the weight, up to the last of ``2**65``."""
    lengths = np.array([2**64 - 1, 1, 0, 2**64 - 1, 1], np.uint64)
    weight = int(proposal_weights(np.zeros(1, np.uint64), 1.0, RUN_BITS)[0])
    for place in (0, 1, 2**64 - 2, 2**64 - 1, 2**64, 2**65 - 1):
        for inside in (0, weight - 1):
            answers = iter([place * weight + inside, 0])
            assert exponential_runs(np.zeros(5, np.int64), lengths, 1.0, lambda _, a=answers: next(a)) == place


def test_what_cannot_be_drawn_from_is_refused() -> None:
    source, one = SystemSource(), np.zeros(1, np.int64)
    for lengths in ([0], [*[2**64 - 1] * 4, 5]):
        with pytest.raises(ValueError, match="candidates"):
            source.exponential_runs(np.zeros(len(lengths), np.int64), np.array(lengths, np.uint64), 1.0)
    with pytest.raises(TypeError, match="uint64"):
        source.exponential_runs(one, np.ones(1, np.int64), 1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="lengths"):
        source.exponential_runs(one, np.ones(2, np.uint64), 1.0)
    with pytest.raises(ValueError, match="scale"):
        source.exponential_runs(one, np.ones(1, np.uint64), 0.0)
    assert MOST_CANDIDATES == 2**66
