"""The scaling of the row space: exact without noise, the identity where noise is all there is."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.halfspaces.scaling import make_scaling


def moments(rng: np.random.Generator, spread: float) -> tuple[np.ndarray, np.ndarray]:
    rows = 0.05 + rng.normal(size=(4000, 30)) * np.arange(1, 31) ** (-spread / 2)
    rows /= np.linalg.norm(rows, axis=1).max()
    return rows.mean(axis=0), (rows**2).mean(axis=0)


def test_without_noise_it_is_the_covariance_and_the_mean() -> None:
    mean, squares = moments(np.random.default_rng(0), 1.0)
    scaling = make_scaling(mean, squares, 0.0, 0.0)
    np.testing.assert_allclose(scaling.mean, mean)
    np.testing.assert_allclose(scaling.variances, squares - mean**2)


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_noise_alone_turns_no_vector_far(spread: float) -> None:
    """Noise far above the moments: a vector keeps its direction more or less, whatever the columns are like."""
    rng = np.random.default_rng(1)
    mean, squares = moments(rng, spread)
    for _ in range(20):
        scaling = make_scaling(mean + rng.normal(0, 1, 30), squares + rng.normal(0, 1, 30), 1.0, 1.0)
        vector = rng.normal(size=30)
        turned = scaling.solve(vector)
        assert vector @ turned > 0.6 * np.linalg.norm(vector) * np.linalg.norm(turned)
        assert scaling.variances.min() > 0


def test_columns_that_are_alike_are_scaled_alike_although_the_noise_differs() -> None:
    """What James and Stein are for: the error of the scaling is below that of the noisy moments as they are."""
    rng = np.random.default_rng(2)
    mean, squares = moments(rng, 0.0)
    sd = float(squares.mean()) / 4
    drawn, plain = [], []
    for _ in range(50):
        noisy = squares + rng.normal(0, sd, 30)
        found = make_scaling(mean, noisy, 1e-9, sd).variances
        drawn.append(np.std(found) / found.mean())
        plain.append(np.std(noisy) / noisy.mean())
    assert np.mean(drawn) < np.mean(plain) / 3


def test_columns_that_differ_by_more_than_the_noise_are_told_apart() -> None:
    mean, squares = moments(np.random.default_rng(3), 1.5)
    sd = float(squares.max()) / 50
    noisy = squares + np.random.default_rng(4).normal(0, sd, 30)
    variances = make_scaling(mean, noisy, sd, sd).variances
    assert variances[0] / variances[-1] > 5
    assert make_scaling(mean, np.zeros(30), 0.0, 0.0).variances.min() > 0
