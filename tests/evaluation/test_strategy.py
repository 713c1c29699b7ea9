"""Strategies: columns of norm 1, exact inverses, and running sums with less noise than cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.evaluation.strategy import best_charges, hierarchy, shared, square_root, strategy
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Gaussian, Laplace, NonPrivate, Pure


@pytest.mark.parametrize("cells", [1, 2, 16, 31, 128])
@pytest.mark.parametrize("norm", [1, 2])
def test_one_row_moves_a_release_by_at_most_one(cells, norm):
    result = strategy(cells, norm)
    assert np.linalg.norm(result.matrix, ord=norm, axis=0).max() <= 1 + 1e-12
    assert np.allclose(result.inverse @ result.matrix, np.eye(cells), atol=1e-8)
    for groups in (1, 2, 9):
        whole = np.kron(shared(groups, norm).matrix, result.matrix)
        assert np.linalg.norm(whole, ord=norm, axis=0).max() <= 1 + 1e-12


def test_the_square_root_is_one():
    root = square_root(40)
    assert np.allclose(root @ root, np.tril(np.ones((40, 40))))


def test_a_hierarchy_sums_ranges():
    assert hierarchy(5, 2).sum(axis=1).tolist() == [1, 1, 1, 1, 1, 2, 2, 1, 4, 1, 5]


@pytest.mark.parametrize("norm", [1, 2])
def test_running_sums_have_the_stated_noise_and_less_than_cell_by_cell(norm):
    result = strategy(128, norm)
    generator = np.random.default_rng(0)
    noise = generator.normal(size=(4000, len(result.matrix)))
    sums = np.cumsum(noise @ result.inverse.T, axis=1)
    assert np.sqrt((sums**2).mean()) == pytest.approx(result.spread, rel=0.03)
    assert result.spread < 0.8 * np.sqrt(129 / 2)


@pytest.mark.parametrize(
    ("epsilon", "delta", "alone", "kinds"),
    [
        (1.0, 1e-6, True, (Pure, Laplace)),
        (1.0, 1e-6, False, (Gaussian, Gaussian)),
        (0.05, 1e-2, True, (Gaussian, Gaussian)),
        (1.0, 0.0, False, (Pure, Laplace)),
        (float("inf"), 0.0, True, (NonPrivate, NonPrivate)),
    ],
)
def test_the_better_noise_is_taken(epsilon, delta, alone, kinds):
    [charges], _ = best_charges(Allowance.of(epsilon, delta), 128, alone, (1.0,))
    assert tuple(type(charge) for charge in charges) == kinds
