"""The peer of lists with noise by smooth sensitivity: its bound against all tables that are near, and its noise."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import laplace

from benchmarks.smooth_lists import SmoothRuleList, impurity, local_bound, noise_scale, pairs_of, smooth_bounds

pytestmark = pytest.mark.slow  # of the benchmarks, which are not shipped

ROWS = 9
"""Of each class, taken or left over, in the tables that are tried."""


def near(values: np.ndarray, factor: float) -> np.ndarray:
    """The largest value at any place of the grid, times ``factor`` for every step on the way there."""
    result = values.copy()
    for axis in range(values.ndim):
        along = np.moveaxis(result, axis, 0)
        for k in range(1, len(along)):
            along[k] = np.maximum(along[k], factor * along[k - 1])
        for k in range(len(along) - 2, -1, -1):
            along[k] = np.maximum(along[k], factor * along[k + 1])
    return result


def tables() -> tuple[np.ndarray, np.ndarray]:
    """Of all small tables: how many rows there are, and the impurity that the rule leaves."""
    a, b, c, d = np.indices((ROWS + 1,) * 4)
    left = [impurity(np.array(k + m), np.array(m), k + m + n + o, m + o) for k, m, n, o in all_counts()]
    return a + b + c + d, np.array(left).reshape(a.shape)


def all_counts() -> product:  # type: ignore[type-arg]
    """Rows of both classes that are taken, and of both that are left over."""
    return product(range(ROWS + 1), repeat=4)


@pytest.mark.parametrize("beta", [0.02, 0.2, 1.0])
def test_the_bound_holds_at_every_small_table_and_is_no_tenth_too_large(beta: float) -> None:
    rows, scores = tables()
    moved = np.zeros_like(scores)
    for axis in range(4):
        steps = np.moveaxis(np.abs(np.diff(scores, axis=axis)), axis, 0)
        along = np.moveaxis(moved, axis, 0)
        along[:-1], along[1:] = np.maximum(along[:-1], steps), np.maximum(along[1:], steps)
    inside = (slice(0, ROWS),) * 4  # where all neighbours are in the grid
    exact, bounds = near(moved, math.exp(-beta))[inside], smooth_bounds(4 * ROWS, beta)[rows[inside]]
    assert (exact <= bounds * (1 + 1e-12)).all()
    # attained with any number of rows
    for count in range(1, ROWS):
        assert (exact / bounds)[rows[inside] == count].max() > 0.95


def test_a_row_changes_the_bound_by_its_factor_at_most() -> None:
    steps = np.diff(np.log(smooth_bounds(500, 0.05)))
    assert np.abs(steps).max() <= 0.05 * (1 + 1e-9)
    assert steps.min() == pytest.approx(-0.05)  # the local bound itself falls faster at first


def test_the_bound_falls_with_the_rows_to_the_local_one() -> None:
    bounds = smooth_bounds(10_000, 0.05)
    assert bounds[10_000] == pytest.approx(float(local_bound(np.array(10_000))))
    assert bounds[10_000] < bounds[0] / 1000


def excess(before: tuple[int, ...], after: tuple[int, ...], epsilon: float, delta: float, less: float) -> float:
    """By how much the noisy impurity of one table is likelier than ``exp(epsilon)`` times that of the other."""
    first, second = (
        laplace(
            float(impurity(np.array(a + b), np.array(b), a + b + c + d, b + d)),
            less * noise_scale(a + b + c + d, epsilon, delta),
        )
        for a, b, c, d in (before, after)
    )
    places = np.linspace(-200, 200, 400_001) * first.std()
    gap = np.maximum(first.pdf(places) - math.exp(epsilon) * second.pdf(places), 0.0)
    return float(gap.sum() * (places[1] - places[0]))


def test_one_noisy_score_is_as_private_as_it_says_and_not_with_half_the_noise() -> None:
    pairs = [((0, 6, 0, 0), (1, 6, 0, 0)), ((3, 3, 2, 0), (3, 2, 2, 0)), ((0, 30, 0, 0), (1, 30, 0, 0))]
    both = [*pairs, *((after, before) for before, after in pairs)]
    assert max(excess(*pair, 1.0, 1e-3, 1.0) for pair in both) <= 1e-3
    assert max(excess(*pair, 1.0, 1e-3, 0.45) for pair in both) > 2e-3


def pattern(size: Any) -> np.ndarray:
    return np.random.default_rng(4).laplace(size=size)


class Known:
    """The same noise for scores every time, so many times a pattern; that of counts is 0."""

    def __init__(self, of_scores: float) -> None:
        self.of_scores = of_scores
        self.scale_of_counts = 0.0

    def laplace(self, mean: float = 0.0, scale: float | None = None, size: Any = None) -> np.ndarray:
        if scale is None:
            return self.of_scores * pattern(size)
        self.scale_of_counts = scale
        return np.zeros(size)


def truths(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Truth values, and them with their negations."""
    held = np.random.default_rng(1).random((rows, columns)) < np.linspace(0.2, 0.8, columns)
    return held, np.concatenate([held, ~held], axis=1)


def test_without_noise_it_takes_the_purest_rules_in_turn() -> None:
    held, literals = truths(4000, 5)
    y = np.where(held[:, 0] & held[:, 1], 1, np.where(held[:, 2], 0, held[:, 3])).astype(int)
    noise = Known(0.0)
    model = SmoothRuleList(1.0, 1e-6, 8, noise).fit(literals, y)  # type: ignore[arg-type]
    assert (model.predict(literals) == y).mean() > 0.99
    assert noise.scale_of_counts == pytest.approx(1.0 / 0.2)  # all counts are of different rows


def test_the_scale_by_value() -> None:
    """At 40 rows left the bound is that of a table some rows smaller, at 4,000 that of the table itself."""
    beta = 0.5 / (2 * math.log(2 / 1e-6))
    assert beta == pytest.approx(0.01723, abs=1e-5)
    for rows in (40, 4000):
        distances = np.arange(rows - 1)
        before = rows - distances - 1.0
        value = float((np.exp(-beta * distances) * 2 * before / (before + 1) ** 2).max())
        assert noise_scale(rows, 0.5, 1e-6) == pytest.approx(2 * value / 0.5, rel=1e-12)


def test_a_fit_divides_epsilon_and_delta_among_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    queries = []

    def scale(rows: int, epsilon: float, delta: float) -> float:
        queries.append((rows, epsilon, delta))
        return noise_scale(rows, epsilon, delta)

    monkeypatch.setattr("benchmarks.smooth_lists.noise_scale", scale)
    held, literals = truths(1000, 6)
    y = (np.random.default_rng(2).random(1000) < 0.2 + 0.3 * held[:, 0] + 0.3 * held[:, 5]).astype(int)
    noise = Known(1.0)
    model = SmoothRuleList(1.0, 1e-6, 4, noise).fit(literals, y)  # type: ignore[arg-type]
    assert sum(epsilon for _, epsilon, _ in queries) + 1 / noise.scale_of_counts == pytest.approx(1.0, rel=1e-12)
    assert sum(delta for *_, delta in queries) == pytest.approx(1e-6, rel=1e-12)
    first, second = model.rules_[0]
    assert [rows for rows, *_ in queries[:2]] == [1000, 1000 - int((literals[:, first] & literals[:, second]).sum())]


def test_the_first_rule_is_that_of_least_noisy_impurity() -> None:
    """It is one that known noise makes the lowest, and another one for other noise."""
    held, literals = truths(1000, 6)
    y = (np.random.default_rng(2).random(1000) < 0.2 + 0.3 * held[:, 0] + 0.3 * held[:, 5]).astype(int)
    exact = impurity(pairs_of(literals), pairs_of(literals[y == 1]), 1000, int(y.sum()))
    chosen = set()
    for times in np.geomspace(0.01, 10, 121):
        wanted = exact + times * noise_scale(1000, 0.8 / 4, 1e-6 / 4) * pattern(exact.shape)
        model = SmoothRuleList(1.0, 1e-6, 4, Known(times)).fit(literals, y)  # type: ignore[arg-type]
        chosen.add(tuple(int(k) for k in np.unravel_index(wanted.argmin(), wanted.shape)))
        assert model.rules_[0] == tuple(int(k) for k in np.unravel_index(wanted.argmin(), wanted.shape))
    assert len(chosen) > 2


def test_pairs_are_counted_exactly() -> None:
    literals = np.random.default_rng(3).random((70_000, 3)) < 0.9
    counted = pairs_of(literals)
    assert all(counted[i, j] == (literals[:, i] & literals[:, j]).sum() for i, j in product(range(3), repeat=2))
