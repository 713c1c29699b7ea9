"""Fewest errors of three cuts, against all of them one after another."""

from itertools import product

import numpy as np
import pytest

from tacit.arrays import Ints
from tacit.closure.raw import FALLING, FAR, RISING, sweep

BOTH = RISING | FALLING


def sides(ranks: Ints, kinds: int, places: range) -> list[tuple[int, int, Ints]]:
    """Direction (0 rising), place and side of every cut of one column: a point without a value is on neither side."""
    rising = [(0, place, (ranks >= place) & (ranks >= 0)) for place in places if kinds & RISING]
    falling = [(1, place, (ranks < place) & (ranks >= 0)) for place in places if kinds & FALLING]
    return [(direction, place, side.astype(np.int64)) for direction, place, side in rising + falling]


def fewest(table: Ints, ranks: Ints, kinds: tuple[int, int, int], n_first: int) -> Ints:
    """By place of the first cut, the least errors over the later two."""
    best = np.full((2, n_first + 1), FAR)
    later = [sides(ranks[i], kinds[i], range(int(ranks[i].max()) + 2)) for i in (1, 2)]
    for direction, place, first in sides(ranks[0], kinds[0], range(n_first + 1)):
        for (_, _, middle), (_, _, last) in product(*later):
            errors = table[np.arange(len(table)), first + 2 * middle + 4 * last].sum()
            best[direction, place] = min(best[direction, place], errors)
    return best


def prepared(ranks: Ints, size: int) -> tuple[Ints, Ints]:
    """Points by rank, and where each rank begins."""
    n = ranks.shape[1]
    orders, starts = np.zeros((3, n), np.int64), np.zeros((3, n + 1), np.int64)
    for i, line in enumerate(ranks):
        order = np.argsort(np.where(line < 0, size, line), kind="stable")
        orders[i], counts = order, np.bincount(line[line >= 0], minlength=n)
        starts[i, 1:] = np.cumsum(counts)[:n]
    return orders, starts


@pytest.mark.parametrize(
    "kinds", [(BOTH, BOTH, BOTH), (RISING, FALLING, RISING), (FALLING, RISING, FALLING), (BOTH, RISING, RISING),
              (RISING, BOTH, FALLING), (FALLING, FALLING, BOTH)],
)  # fmt: skip
def test_the_fewest_errors_of_every_first_cut(kinds: tuple[int, int, int]) -> None:
    generator = np.random.default_rng(5)
    for n in (1, 2, 5, 7):
        for _ in range(3):
            lines = generator.integers(-1, max(n - 2, 1), (3, n))
            lines[:, 0] = 0  # a column that is there has a value
            ranks = np.array([np.unique(np.append(line, -1), return_inverse=True)[1][:-1] - 1 for line in lines])
            table = generator.integers(0, 9, (n, 8))
            size = 1 << int(np.ceil(np.log2(ranks[2].max() + 1)))
            best = np.empty((2, int(ranks[0].max()) + 2), np.int64)
            sweep(table, ranks, *prepared(ranks, n + 1), np.array(kinds), size, best)
            assert best.tolist() == fewest(table, ranks, kinds, best.shape[1] - 1).tolist()


def test_without_a_middle_column_two_cuts_are_left() -> None:
    """Its points have no value: their middle bit is 0, wherever the cut lies."""
    ranks = np.array([[0, 1, 2], [-1, -1, -1], [1, 0, 1]])
    table = np.arange(24).reshape(3, 8) * 7 % 11
    best = np.empty((2, 4), np.int64)
    sweep(table, ranks, *prepared(ranks, 4), np.array([BOTH, RISING, BOTH]), 2, best)
    assert best.tolist() == fewest(table, ranks, (BOTH, RISING, BOTH), 3).tolist()
