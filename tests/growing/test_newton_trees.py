"""The prior of Newton leaves, learned from what is released."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.growing.newton_trees import CurvatureLevel, LearnedPrior, mean_above_zero, shrunk_curvatures
from tacit.growing.tuning import NEWTON


def released(generator, truth, curvature, sd, leaves=64):
    """Sums of a tree whose true steps have this variance; rows vary by the share that is thought to be left."""
    h = np.full(leaves, curvature)
    steps = generator.normal(0, np.sqrt(truth), leaves)
    g = (
        h * steps
        + generator.normal(0, np.sqrt(NEWTON.rows_variation * curvature), leaves)
        + generator.normal(0, sd, leaves)
    )
    return g, h + generator.normal(0, sd, leaves)


@pytest.mark.parametrize("mean", [-2e5, -40.0, -1.0, 0.0, 0.3, 50.0])
def test_a_variance_is_believed_to_be_positive(mean):
    """Against integration of the normal density over the positive numbers; its tail is exponential."""
    sd = 0.8
    grid = np.linspace(0.0, max(mean, 0.0) + 60 * sd if mean > -3 * sd else 60 * sd**2 / -mean, 400_001)
    weights = np.exp((grid * mean - 0.5 * grid**2 - 0.5 * max(mean, 0.0) ** 2) / sd**2)  # 1 at its largest
    expected = float((grid * weights).sum() / weights.sum())
    assert mean_above_zero(mean, sd) == pytest.approx(expected, rel=1e-3)


def test_absurd_releases_leave_a_prior_that_can_be_used():
    learned = LearnedPrior(0.02)
    for size in (1e12, -1e12, 0.0):
        prior = learned.learn(np.full(8, size), np.full(8, -size), 1e6)
        assert 0.02 <= prior <= NEWTON.largest_prior


def test_absurd_releases_leave_a_level_that_can_be_used():
    level = CurvatureLevel(1.0, 0.0)
    for size in (-1e12, 1e12, 0.0, -5.0):
        assert 0.5 <= level.mean(np.full(8, size), 1e6) < 1e13


def test_curvatures_shrink_by_hand() -> None:
    """Their mean is 40 and their variance 8/3, of which noise of deviation 1.4 explains 1.96."""
    result = shrunk_curvatures(np.array([38.0, 40.0, 42.0]), 1.4)
    kept = (8 / 3 - 1.96) / (8 / 3)
    assert result == pytest.approx([40 - 2 * kept, 40.0, 40 + 2 * kept])
    assert shrunk_curvatures(np.array([39.0, 41.0]), 1.4) == pytest.approx([40.0, 40.0])
    assert shrunk_curvatures(np.array([-1.0, 21.0]), 0.0) == pytest.approx([0.5, 21.0])  # a twentieth of the mean
    assert shrunk_curvatures(np.array([-30.0, 2.0]), 100.0) == pytest.approx([0.5, 0.5])
    bound = NEWTON.most_scatter * 100.0
    known = shrunk_curvatures(np.array([5.0, 200.0]), 3.0, level=10.0)
    assert known == pytest.approx([10 + part * bound / (bound + 9) for part in (-5.0, 190.0)])


def test_scatter_within_the_noise_is_not_believed_where_the_level_is_known():
    generator = np.random.default_rng(1)
    noisy = 30 + 800 * generator.standard_normal((40, 16))
    alone = [np.abs(shrunk_curvatures(each, 800.0) - 30).max() for each in noisy]
    known = [np.abs(shrunk_curvatures(each, 800.0, level=30.0) - 30).max() for each in noisy]
    assert np.mean(known) < np.mean(alone) / 4
    clear = shrunk_curvatures(np.array([10.0, 50.0]), 0.01, level=30.0)
    assert clear == pytest.approx([10, 50], rel=1e-3)
