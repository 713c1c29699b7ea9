"""Importances of sums of trees: what a column does, and not how often it was tested."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.models.tree import ScoreTree, Tree, complete_shape
from tacit.models.tree_importance import ROWS, bin_shares, spread_points, total_effects


def above(*cuts: int) -> np.ndarray:
    """The packed sets of codes above each cut."""
    return np.packbits(np.arange(256)[None, :] > np.array(cuts)[:, None], axis=1, bitorder="little")


def stump(column: int, cut: int, values: list[float], support: list[float], sd: list[float] | None = None) -> Tree:
    noise = None if sd is None else np.array(sd)
    return Tree(complete_shape(np.array([column]), above(cut)), np.array(values), np.array(support), noise)


def test_shares_of_bins_come_from_the_support() -> None:
    trees = [stump(0, 0, [0, 0], [20, 80]), stump(0, 1, [0, 0], [50, 50]), stump(0, 2, [0, 0], [90, 10])]
    assert bin_shares(trees, 0, 4) == pytest.approx([0.2, 0.3, 0.4, 0.1], abs=1e-3)
    assert bin_shares(trees, 1, 4) == pytest.approx([0.25] * 4)
    assert bin_shares(trees[1:2], 0, 4) == pytest.approx([0.25] * 4)  # bins that no split tells apart
    # Below another split of the same column only what that one let through is seen: it does not count.
    both = Tree(complete_shape(np.array([0, 0, 0]), above(1, 0, 2)), np.zeros(4), np.array([7.0, 43.0, 25.0, 25.0]))
    assert bin_shares([both], 0, 4) == pytest.approx([0.25] * 4)


def test_effects_by_hand() -> None:
    """A share ``p`` to the right and a step ``v``: ``v sqrt(p (1 - p))``; steps add up before squaring."""
    one = stump(1, 0, [0.0, 2.0], [75.0, 25.0])
    assert total_effects([one], [2, 2, 2]) == pytest.approx([0.0, 2.0 * np.sqrt(0.1875), 0.0], abs=0.02)
    against = stump(1, 0, [0.0, -2.0], [75.0, 25.0])
    assert total_effects([one, against], [2, 2, 2])[1] == 0.0
    # Exclusive or: no column says anything alone, both move the score by 1 half of the time.
    xor = Tree(complete_shape(np.array([0, 1, 1]), above(0, 0, 0)), np.array([0.0, 1.0, 1.0, 0.0]), np.full(4, 25.0))
    assert total_effects([xor], [2, 2]) == pytest.approx([0.5, 0.5], abs=0.02)


def test_what_noise_moves_is_taken_off() -> None:
    """A step v between leaves whose noise has deviation s: p (1 - p) (v^2 - 2 s^2) is the square, and never below 0."""
    known = stump(0, 0, [0.0, 2.0], [75.0, 25.0], [0.5, 0.5])
    assert total_effects([known], [2]) == pytest.approx([np.sqrt(0.1875 * (4 - 2 * 0.25))], abs=0.02)
    drowned = stump(0, 0, [0.0, 0.5], [75.0, 25.0], [0.5, 0.5])
    assert total_effects([drowned], [2])[0] == 0.0


def test_points_are_multiples_of_roots_of_primes() -> None:
    for dimension, prime in enumerate((2, 3, 5, 7, 11, 13, 17, 19, 23, 29)):
        expected = [number * np.sqrt(prime) % 1.0 for number in (1, 2, 3)]
        assert spread_points(3, dimension) == pytest.approx(expected)


def test_points_are_spread_evenly() -> None:
    for dimension in (0, 1, 7, 60):
        counts = np.histogram(spread_points(ROWS, dimension), 16, (0, 1))[0]
        assert np.all(abs(counts - ROWS / 16) < 12)
    together = np.corrcoef([spread_points(ROWS, d) for d in range(40)])
    assert np.abs(together - np.eye(40)).max() < 0.2


def test_effects_on_several_scores_add_their_squares() -> None:
    """Steps of 3 and 4 on two scores are one of 5; noise of both scores is taken off."""
    shape = stump(0, 0, [0.0, 0.0], [50.0, 50.0]).shape
    values, support = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([50.0, 50.0])
    assert total_effects([ScoreTree(shape, values, support)], [2, 2]) == pytest.approx([2.5, 0.0], abs=0.05)
    noisy = ScoreTree(shape, values, support, np.array([[1.0, 2.0], [1.0, 2.0]]))
    assert total_effects([noisy], [2])[0] == pytest.approx(np.sqrt(0.25 * (25 - 2 * 5)), abs=0.05)
