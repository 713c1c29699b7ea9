"""The peer PrivaTree: permute-and-flip by its exact distribution, how scores move, and where epsilon goes."""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from benchmarks.privatree import (
    PrivaTree,
    Shares,
    permute_and_flip,
    private_median,
    private_quantiles,
    scores_of_splits,
    worst_expected_error,
)
from tests.chance import within_law

pytestmark = pytest.mark.slow  # of the benchmarks, which are not shipped

DRAWS = 40_000


def exact_choice(scores: np.ndarray, epsilon: float) -> np.ndarray:
    """The distribution of permute-and-flip, summed over all orders."""
    chance = np.exp(epsilon * (scores - scores.max()))
    result = np.zeros(len(scores))
    for order in permutations(range(len(scores))):
        left = 1.0
        for k in order:
            result[k] += left * chance[k]
            left *= 1.0 - chance[k]
    return result / math.factorial(len(scores))


def test_choices_follow_the_exact_distribution_and_not_one_a_tenth_off() -> None:
    scores, generator = np.array([3.0, 0.0, 2.0, 1.0, 2.5]), np.random.default_rng(1)
    drawn = np.bincount([permute_and_flip(scores, 0.7, generator) for _ in range(DRAWS)], minlength=5)
    assert within_law(dict(enumerate(drawn.tolist())), dict(enumerate(exact_choice(scores, 0.7))))
    for other in (0.63, 0.77):
        assert chisquare(drawn, DRAWS * exact_choice(scores, other)).pvalue < 1e-9


def largest_loss(movement: float, epsilon: float) -> float:
    """The largest ratio of chances when a row moves any of the scores by ``movement``, all one way."""
    worst = 0.0
    for scores in ([0.0, 0.0, 0.0], [4.0, 3.0, 0.0], [9.0, 9.0, 8.5], [30.0, 0.0, 0.0]):
        before = exact_choice(np.array(scores), epsilon)
        for moved in product([0.0, movement], repeat=3):
            ratio = np.log(before / exact_choice(np.array(scores) - moved, epsilon))
            worst = max(worst, float(np.abs(ratio).max()))
    return worst


def test_it_is_as_private_as_it_says_when_scores_move_one_way() -> None:
    assert 0.95 * 0.8 < largest_loss(1.0, 0.8) <= 0.8 + 1e-12
    assert largest_loss(1.1, 0.8) > 0.8


def test_a_row_more_takes_at_most_one_off_every_split_and_adds_nothing() -> None:
    """Tables of a node by side and label; the row goes left or right, with either label."""
    worst = 0.0
    for counts in product([0, 1, 2, 7, 60], repeat=4):
        sides, labels = np.repeat([0, 0, 1, 1], counts).astype(bool), np.repeat([0, 1, 0, 1], counts)
        before = scores_of_splits(sides[:, None], labels)[0]
        for side, label in product((False, True), (0, 1)):
            after = scores_of_splits(np.append(sides, side)[:, None], np.append(labels, label))[0]
            assert -1e-9 <= before - after <= 1.0
            worst = max(worst, before - after)
    assert worst > 0.95


def test_the_worst_expected_error_is_that_of_the_exact_distribution() -> None:
    assert worst_expected_error(2) == pytest.approx(1.0 / (2.0 * math.e), rel=1e-6)
    gaps = np.linspace(0.01, 8.0, 800)
    errors = [gap * (1.0 - exact_choice(np.array([gap, 0.0, 0.0]), 1.0)[0]) for gap in gaps]
    assert worst_expected_error(3) == pytest.approx(max(errors), rel=1e-3)


def test_medians_follow_their_density_and_not_one_a_tenth_off() -> None:
    values, ends = np.array([2.0, 2.0, 5.0, 6.0, 9.0]), [0.0, 2.0, 5.0, 6.0, 9.0, 10.0]
    unbalance = np.array([2.5, 0.5, 0.5, 1.5, 2.5])

    def chances(epsilon: float) -> np.ndarray:
        density = np.diff(ends) * np.exp(-epsilon * unbalance)
        return np.asarray(density / density.sum())

    generator = np.random.default_rng(2)
    drawn = [private_median(values, 0.0, 10.0, 1.2, generator) for _ in range(DRAWS)]
    result = np.histogram(drawn, ends)[0]
    assert within_law(dict(enumerate(result.tolist())), dict(enumerate(chances(1.2))))
    for other in (1.08, 1.32):
        assert chisquare(result, DRAWS * chances(other)).pvalue < 1e-6


def test_quantiles_are_those_of_the_rows_where_there_is_hardly_noise() -> None:
    values, generator = np.random.default_rng(3).uniform(0, 1, 4000) ** 2, np.random.default_rng(4)
    cuts = private_quantiles(values, 0.0, 1.0, 8, 1e6, generator)
    assert cuts == pytest.approx(np.quantile(values, np.arange(1, 8) / 8), abs=0.01)


@pytest.mark.parametrize("bounds", [[(0.0, 1.0), None, (0.0, 1.0)], [None, None]])
@pytest.mark.parametrize("rows", [20, 20_000])
def test_what_the_mechanisms_are_given_adds_up_to_epsilon(
    bounds: list[tuple[float, float] | None], rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Along the way of a row: a choice a level, a label, and of every numeric column three medians."""
    chosen, medians = [], []

    def choice(scores: np.ndarray, epsilon: float, generator: np.random.Generator) -> int:
        chosen.append(epsilon)
        return permute_and_flip(scores, epsilon, generator)

    def median(*arguments: Any) -> float:
        medians.append(arguments[3])
        return private_median(*arguments)

    monkeypatch.setattr("benchmarks.privatree.permute_and_flip", choice)
    monkeypatch.setattr("benchmarks.privatree.private_median", median)
    generator = np.random.default_rng(5)
    X, y = generator.integers(0, 2, (rows, len(bounds))).astype(float), generator.integers(0, 2, rows)
    PrivaTree(0.5, 3, generator).fit(X, y, bounds)
    numeric = sum(ends is not None for ends in bounds)
    assert (len(chosen), len(medians)) == (1 + 2 + 4 + 8, 7 * numeric)
    levels = [chosen[:1], chosen[1:3], chosen[3:7], chosen[7:]]
    assert sum(max(level) for level in levels) + 3 * sum(medians) / 7 == pytest.approx(0.5, rel=1e-12)


def test_leaves_take_what_one_mislabelled_row_in_a_hundred_asks_for_and_at_most_half() -> None:
    """Two labels, eight leaves: each leaf errs on 1 / (2 e epsilon) rows at the worst."""
    many = Shares.of(1.0, 10_000, 3, 4)
    assert many.leaves == pytest.approx(8 / (2 * math.e) / 100, rel=1e-6)
    assert many.level == many.quantiles == pytest.approx((1.0 - many.leaves) / 4, rel=1e-12)
    assert Shares.of(1.0, 50, 3, 4).leaves == 0.5
    assert Shares.of(1.0, 50, 3, 0) == Shares(0.0, 0.5 / 3, 0.5)


def test_with_hardly_noise_it_is_the_greedy_tree() -> None:
    generator = np.random.default_rng(6)
    X = np.column_stack([generator.uniform(-1, 1, 3000), generator.integers(0, 2, (3000, 3))])
    y = ((X[:, 1] == 1) & (X[:, 2] == 1) | (X[:, 1] == 0) & (X[:, 3] == 1)).astype(int)
    flipped = np.where(generator.random(3000) < 0.1, 1 - y, y)
    tree = PrivaTree(1e6, 3, generator).fit(X, flipped, [(-1.0, 1.0), None, None, None])
    assert (tree.predict(X) == y).mean() > 0.99
