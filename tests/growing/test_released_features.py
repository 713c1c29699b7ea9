"""Columns as numbers, how they vary together, and the kernel of their random features."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.memory import MemoryTable
from tacit.growing.released_features import Axes, draw_features, normal_scores, released_axes
from tacit.growing.tuning import SMOOTH
from tacit.noise import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.ledger import Reservation
from tacit.privacy.neighbouring import Neighbouring

CODES = 32


def alike(n, seed):
    """Two columns that are nearly the same."""
    generator = np.random.default_rng(seed)
    numbers = math.sqrt(0.95) * generator.normal(size=n) + math.sqrt(0.05) * generator.normal(size=(2, n))
    edges = np.quantile(numbers, np.arange(1, CODES) / CODES)
    return [np.searchsorted(edges, column) for column in numbers]


def released(n, seed, epsilon):
    """Axes of two such columns for a tenth of the budget, what they cost, and the ledger."""
    allowance = Allowance.of(epsilon, 1e-6)
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    columns = [codes.astype(np.uint8) for codes in alike(n, seed)]
    table = MemoryTable(columns, np.zeros(n, np.uint8), [CODES + 1] * 2, 1)
    gate = Curator(table, reservation, SeededSource(0))
    masses = [np.append(np.full(CODES, 1.0 / CODES), 0.0)] * 2
    return *released_axes(Budget(gate, allowance, 0.1), float(n), masses, [None, None]), reservation


def test_normal_scores_rise_with_codes_have_mean_0_and_variance_1():
    mass = np.array([5.0, 1.0, 20.0, 30.0, 10.0, 7.0])
    scores = normal_scores(mass, None)
    shares = mass[:-1] / mass[:-1].sum()
    assert np.all(np.diff(scores[:-1]) > 0)
    assert abs(shares @ scores[:-1]) < 1e-12
    assert shares @ scores[:-1] ** 2 == pytest.approx(1.0)
    assert scores[-1] == 0.0, "missing is the mean"


def test_normal_scores_follow_the_order_that_codes_are_given():
    rank = np.array([2, 0, 3, 1])
    scores = normal_scores(np.array([3.0, 1.0, 2.0, 5.0]), rank)
    assert np.array_equal(np.argsort(np.argsort(scores)), rank)


def test_scores_of_a_column_that_hardly_varies_stay_small():
    scores = normal_scores(np.array([99_990.0, 10.0, 0.0]), None)
    mass = np.array([99_990.0, 10.0]) / 100_000
    assert mass @ scores[:2] ** 2 < 0.1


def test_axes_find_columns_that_vary_together():
    axes, spent, _ = released(4000, 1, 8.0)
    assert spent == 0.1
    assert 0.85 < axes.covariance[0, 1] / axes.covariance[0, 0] < 1.0
    assert np.linalg.eigvalsh(axes.covariance).min() >= SMOOTH.least_variance - 1e-9


def test_axes_ask_nothing_where_noise_would_drown_it():
    axes, spent, reservation = released(60, 2, 0.1)
    assert spent == 0.0
    assert np.array_equal(axes.covariance, np.eye(2))
    assert not reservation.entries


def test_the_kernel_is_that_of_gaussian_distances():
    axes = Axes((0, 1), (np.linspace(-2, 2, 30),) * 2, np.array([[1.0, 0.9], [0.9, 1.0]]))
    features, normal = draw_features(axes, np.random.default_rng(3))
    assert sum(np.trace(block) for block in normal.products) == pytest.approx(1.0)
    along = np.array([1.0, 1.0]) @ features.frequencies.T
    across = np.array([1.0, -1.0]) @ features.frequencies.T
    assert across.std() / along.std() == pytest.approx(math.sqrt(1.9 / 0.1), rel=0.25), "small differences count more"
