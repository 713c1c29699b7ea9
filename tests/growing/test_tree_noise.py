"""Noise that runs through rounds of trees: the kernel against the formula, written out."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.growing.newton_trees import LeafSums
from tacit.growing.random_trees import RandomStructures
from tacit.growing.tree_noise import LeafNoise

MASSES = [np.array([3.0, 1.0, 2.0, 4.0]), np.array([1.0, 1.0, 1.0])]


def observed(generator: np.random.Generator, rounds: int) -> LeafNoise:
    """Rounds whose leaves answer in part."""
    noise = LeafNoise()
    for _ in range(rounds):
        gradients = generator.normal(scale=5.0, size=8)
        sums = LeafSums(gradients, generator.uniform(0.0, 20.0, 8), 2.0, 2.0)
        noise.observe(sums, 0.05 * gradients)
    return noise


def written_out(noise: LeafNoise, shapes: list, generator: np.random.Generator) -> float:
    """What is left over, leaf by leaf."""
    count, runs = noise.numbers.simulated_rows, noise.numbers.runs
    rows = [generator.choice(len(mass), count, p=mass / mass.sum()).astype(np.uint8) for mass in MASSES]
    scores, alone = np.zeros((count, runs)), np.zeros(count)
    for shape, sds, gains in zip(shapes, noise._sds, noise._gains, strict=True):
        leaves, own = shape.find(rows), generator.standard_normal((len(sds), runs))
        steps = np.zeros((len(sds), runs))
        for leaf in range(len(sds)):
            inside = leaves == leaf
            mean = scores[inside].mean(axis=0) if inside.any() else 0.0
            steps[leaf] = sds[leaf] * own[leaf] - gains[leaf] * mean
        scores += steps[leaves]
        alone += sds[leaves] ** 2
    return float(np.sqrt((scores**2).mean() / alone.mean()))


@pytest.mark.parametrize("rounds", [1, 12])
def test_noise_that_is_left_over_is_that_of_the_formula(rounds: int) -> None:
    generator = np.random.default_rng(3)
    noise, structures = observed(generator, rounds), RandomStructures(MASSES, generator)
    shapes = [structures.draw(3, 2) for _ in range(rounds)]
    result = noise.left_over(shapes, MASSES, np.random.default_rng(5))
    assert result == pytest.approx(min(written_out(noise, shapes, np.random.default_rng(5)), 1.0), rel=1e-9)
    assert result < 0.99 or rounds == 1


@pytest.mark.parametrize("clear", [0, 1, 2, 5, 8])
def test_a_leaf_whose_sum_is_near_nothing_answers_as_the_median_does(clear: int) -> None:
    gradients = np.full(8, 1e-12)
    gradients[:clear] = np.arange(1.0, clear + 1.0) * 100.0
    steps = 0.01 * gradients * np.arange(1.0, 9.0)
    noise = LeafNoise()
    noise.observe(LeafSums(gradients, np.ones(8), 2.0, 2.0), steps)
    answers = noise._sds[0] / 2.0
    np.testing.assert_allclose(answers[:clear], 0.01 * np.arange(1.0, clear + 1.0))
    np.testing.assert_allclose(answers[clear:], np.median(answers[:clear]) if clear else 0.0)
