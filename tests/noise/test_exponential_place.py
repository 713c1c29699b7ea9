"""The exponential mechanism over scores that are made in blocks: the law of the one over all of them."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.noise import NoiseSource, SeededSource, SystemSource
from tacit.noise.exponential import exponential_place, proposal_weights
from tests.noise.exact import softmax_pmf
from tests.noise.test_sources import check

SOURCES = [pytest.param(SystemSource(), id="tacit"), pytest.param(SeededSource(5), id="seeded")]


def draws(source: NoiseSource, blocks: list[np.ndarray], scale: float, n: int) -> np.ndarray:
    """Places drawn, numbered through all blocks."""
    starts = np.cumsum([0, *map(len, blocks)])
    return np.array([starts[b] + i for b, i in (source.exponential_place(blocks, scale) for _ in range(n))], np.int64)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("cuts", [[], [1], [2, 2, 4]])
def test_places_have_the_law_of_one_vector(source: NoiseSource, cuts: list[int]) -> None:
    scores = np.array([3, 0, -2, 5, 4], np.int64)
    blocks = np.split(scores, cuts)  # [2, 2, 4]: an empty block in between
    relative = scores - scores.max()
    wrong = [softmax_pmf(relative, 0.7 * 2.5), softmax_pmf(relative, 1.5 * 2.5)]
    check(lambda n: draws(source, blocks, 2.5, n), softmax_pmf(relative, 2.5), wrong)


@pytest.mark.law_of("exponential_place")
@pytest.mark.parametrize("source", SOURCES)
def test_places_notice_a_scale_ten_percent_off(source: NoiseSource) -> None:
    blocks = [np.zeros(30, np.int64), np.full(1, 41, np.int64), np.zeros(30, np.int64)]
    scores = np.concatenate(blocks)
    check(
        lambda n: draws(source, blocks, 10.0, n),
        softmax_pmf(scores, 10.0),
        [softmax_pmf(scores, 9.0), softmax_pmf(scores, 11.0)],
    )


@pytest.mark.parametrize("levels", [2, 15, 30, 60])
def test_the_last_unit_of_every_candidate_draws_it_from_whatever_block(levels: int) -> None:
    """Candidates as far below the best as they may be weigh in blocks what they weigh in one vector."""
    generator = np.random.default_rng(levels)
    scores = np.concatenate([[0], -generator.integers(0, 10 * levels, 40), [-10 * levels]])
    ends = np.cumsum(proposal_weights(-scores.astype(np.int64).view(np.uint64), 10.0)).tolist()
    cuts = np.sort(generator.integers(0, len(scores), 15))
    starts, blocks = np.concatenate([[0], cuts]), np.split(scores, cuts)
    for candidate, end in enumerate(ends):
        tape = [0, end - 1]  # which unit, and a coin that falls well
        block, index = exponential_place(blocks, 10.0, lambda bound, tape=tape: min(tape.pop(), bound - 1))
        assert starts[block] + index == candidate
    bounds: list[int] = []
    exponential_place(blocks, 10.0, lambda bound: bounds.append(bound) or 0)
    assert bounds == [ends[-1], 1 << 64]


def test_blocks_far_below_the_best_are_made_once() -> None:
    made: list[int] = []

    class Blocks:
        scores = (0, 1000, 990, 400)

        def __len__(self) -> int:
            return len(self.scores)

        def __getitem__(self, block: int) -> np.ndarray:
            made.append(block)
            return np.full(3, self.scores[block], np.int64)

    generator = np.random.default_rng(0)
    block, _ = exponential_place(
        Blocks(), 10.0, lambda n: int(generator.integers(0, n - 1, dtype=np.uint64, endpoint=True))
    )
    assert made[:4] == [0, 1, 2, 3]
    assert made[4:6] == [1, 2]  # and one more, to find the candidate
    assert len(made) == 7
    assert block in (1, 2)


def test_blocks_that_hold_nothing_to_draw_are_refused() -> None:
    with pytest.raises(ValueError, match="no candidate"):
        SystemSource().exponential_place([np.zeros(0, np.int64)], 1.0)
    with pytest.raises(ValueError, match="in a block"):
        SystemSource().exponential_place([np.zeros((1 << 22) + 1, np.int64)], 1.0)
    with pytest.raises(ValueError, match="scale"):
        SystemSource().exponential_place([np.zeros(1, np.int64)], 0.0)


def test_very_many_candidates_have_more_than_64_bits_of_weight() -> None:
    """Weights of 2**40 times 2**25 candidates: the seeded source draws below such a bound, too."""

    class Blocks:
        def __len__(self) -> int:
            return 1 << 6

        def __getitem__(self, block: int) -> np.ndarray:
            return zeros

    zeros = np.zeros(1 << 19, np.int64)

    block, index = SeededSource(1).exponential_place(Blocks(), 1.0)
    assert 0 <= block < 64
    assert 0 <= index < 1 << 19
