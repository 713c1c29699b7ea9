"""The prior of Newton leaves, learned from what is released."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.boosting.newton_trees import ROWS_VARIATION, LearnedPrior


def released(generator, truth, curvature, sd, leaves=64):
    """Sums of a tree whose true steps have this variance; rows vary by the share that is thought to be left."""
    h = np.full(leaves, curvature)
    steps = generator.normal(0, np.sqrt(truth), leaves)
    g = h * steps + generator.normal(0, np.sqrt(ROWS_VARIATION * curvature), leaves) + generator.normal(0, sd, leaves)
    return g, h + generator.normal(0, sd, leaves)


@pytest.mark.parametrize("truth", [0.03, 0.1, 0.2])
@pytest.mark.parametrize("sd", [1.0, 20.0])
def test_the_prior_is_found_through_the_noise(truth, sd):
    generator = np.random.default_rng(0)
    learned = LearnedPrior(0.1, 0.001)
    found = [learned.learn(*released(generator, truth, 200.0, sd), sd) for _ in range(150)]
    assert np.mean(found[60:]) == pytest.approx(truth, rel=0.1)


def test_where_nothing_is_left_the_prior_falls_to_its_bound():
    generator = np.random.default_rng(0)
    learned = LearnedPrior(0.1, 0.02)
    found = [learned.learn(*released(generator, 0.0, 200.0, 5.0), 5.0) for _ in range(200)]
    assert found[0] > 0.05
    assert np.mean(found[100:]) < 0.025
    assert min(found) == 0.02


def test_absurd_releases_leave_a_prior_that_can_be_used():
    learned = LearnedPrior(0.1, 0.02)
    for size in (1e12, -1e12, 0.0):
        prior = learned.learn(np.full(8, size), np.full(8, -size), 1e6)
        assert 0.02 <= prior <= 0.3
