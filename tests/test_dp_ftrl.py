"""The peer DP-FTRL: its factorisation, its sensitivity, its noise, and that it learns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from benchmarks.dp_ftrl import dp_ftrl, sensitivity, square_root, zcdp
from tacit.privacy.budget import Allowance
from tests.chance import ALARM, GAUSSIAN_DRAWS, check_scale

pytestmark = pytest.mark.slow  # of the benchmarks, which are not shipped


def table(rows: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(5)
    X = np.column_stack([generator.uniform(-1, 1, (rows, 2)), np.ones(rows)]) / np.sqrt(3.0)
    return X, (generator.uniform(size=rows) < 1 / (1 + np.exp(-6 * X[:, 0] + 3 * X[:, 1]))).astype(int)


@pytest.mark.parametrize("steps", [1, 2, 7, 64])
def test_the_square_root_squared_makes_prefix_sums(steps: int) -> None:
    root = square_root(steps)
    assert root @ root == pytest.approx(np.tri(steps), abs=1e-12)
    assert root.min() >= 0.0


@pytest.mark.parametrize(("batches", "epochs"), [(5, 1), (4, 3), (1, 6)])
def test_no_neighbour_moves_the_released_sums_further_than_declared(batches: int, epochs: int) -> None:
    generator, steps = np.random.default_rng(0), batches * epochs
    moved = []
    for batch in range(batches):
        own = np.arange(batch, steps, batches)
        signs = itertools.product([1.0, -1.0], repeat=epochs)
        moved += [np.linalg.norm(square_root(steps)[:, own] @ np.array(sign)) for sign in signs]
        directions = generator.normal(size=(200, epochs, 3))
        directions /= np.linalg.norm(directions, axis=2, keepdims=True)
        moved += [np.linalg.norm(square_root(steps)[:, own] @ gradients) for gradients in directions]
    assert max(moved) == pytest.approx(sensitivity(batches, epochs))  # it is reached, and 1 % less would be too little


def test_a_single_pass_costs_the_norm_of_the_first_column() -> None:
    assert sensitivity(3, 1) == pytest.approx(np.sqrt(1 + 1 / 4 + 9 / 64))
    assert zcdp(2.0, 3, 1) == pytest.approx((1 + 1 / 4 + 9 / 64) / 8)


class Recorded(np.random.Generator):
    """Remembers the standard deviation that is asked for."""

    deviation = 0.0

    def normal(self, mean: float, deviation: float, shape: object = None) -> np.ndarray:  # type: ignore[override]
        self.deviation = deviation
        return super().normal(mean, deviation, shape)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_noise_costs_what_was_asked_for(epsilon: float) -> None:
    noise = Recorded(np.random.PCG64(1))
    dp_ftrl(*table(100), epsilon, 1e-6, noise, batches=4, epochs=3)
    assert zcdp(noise.deviation, 4, 3) == pytest.approx(Allowance.of(epsilon, 1e-6).mu ** 2 / 2, rel=1e-9)


def test_what_is_released_has_noise_of_that_scale() -> None:
    X, y = np.zeros((50, 1)), np.zeros(50, int)  # no gradients: what comes out is noise alone
    batches, epochs, rate = 3, 2, 0.7
    root = square_root(batches * epochs)
    scale = sensitivity(batches, epochs) / Allowance.of(1.0, 1e-6).mu
    mean_of_last = np.linalg.norm(root[-batches:].mean(axis=0)) * scale * rate * batches / 50
    drawn = [
        dp_ftrl(X, y, 1.0, 1e-6, np.random.default_rng(seed), batches, epochs, rate)[0] / mean_of_last
        for seed in range(GAUSSIAN_DRAWS)
    ]
    check_scale(np.array(drawn), 1.0)
    assert stats.kstest(drawn, "norm").pvalue > ALARM


def test_it_learns_where_there_is_next_to_no_noise() -> None:
    X, y = table()
    result = dp_ftrl(X, y, 1e6, 1e-6, np.random.default_rng(0))
    assert result[0] > 2.0
    assert result[1] < -1.0
