"""When rows are bounded together over a sweep, and what that is worth."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import hadamard
from sklearn.metrics import roc_auc_score

from tacit import AdditiveBoostClassifier, AdditiveBoostRegressor
from tacit.additive.boost import AdditiveBoost
from tacit.additive.joint_clipping import Lengths, bounds_jointly
from tacit.additive.tuning import CLIPPING
from tacit.binning.release_map import centred_map, few_modes, without_largest
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import uses
from tacit.schema.columns import BooleanColumn
from tacit.schema.label import Label
from tacit.schema.schema import Schema
from tests.additive.spent import share_spent

RARE = np.array([0.97, 0.03])
EVEN = np.full(12, 1 / 12)


def test_a_centred_map_says_nothing_of_the_average_row():
    masses = np.random.default_rng(0).dirichlet(np.ones(7))
    matrix = np.random.default_rng(1).normal(size=(3, 7))
    assert np.abs(centred_map(matrix, masses) @ masses).max() < 1e-12


def lengths_of(masses: np.ndarray, maps: list[np.ndarray], laplace: bool = False) -> Lengths:
    generator, parts = np.random.default_rng(0), len(maps)
    places = [generator.choice(len(masses), CLIPPING.simulated_rows, p=masses) for _ in maps]
    return Lengths.of(maps, places, np.full(parts, 1 / parts), CLIPPING.tightness, laplace)


def centred_lengths(masses: np.ndarray, parts: int) -> Lengths:
    return lengths_of(masses, [centred_map(np.eye(len(masses)), masses)] * parts)


def test_rows_of_rare_values_are_short_and_those_of_even_ones_are_not():
    """Rows with 3 % in each column are a 17th as long as where every row counts in full."""
    rare, even = centred_lengths(RARE, 40), centred_lengths(EVEN, 40)
    assert rare.limit == pytest.approx(CLIPPING.tightness * 2 * 0.97 * 0.03, rel=0.1)
    assert even.limit == pytest.approx(CLIPPING.tightness * 11 / 12, rel=0.01)


def test_in_laplace_noise_lengths_are_l1_norms():
    """Rows outside the largest bin have length 1, the others none; weights go with lengths and not with their roots."""
    masses = np.array([0.7, 0.2, 0.1])
    maps = [without_largest(masses)] * 40
    result = lengths_of(masses, maps, laplace=True)
    assert result.limit == pytest.approx(CLIPPING.tightness * 0.3, rel=0.03)
    assert np.average(result.seen[0], weights=masses) == pytest.approx(CLIPPING.tightness, rel=0.12)
    squared = lengths_of(masses, maps)
    assert np.average(squared.seen[0], weights=masses) > math.sqrt(CLIPPING.tightness) - 0.15


def test_few_modes_are_released_where_laplace_noise_is_large_and_bins_where_it_is_small():
    """By hand, of eigenvalues 8/13, 4/13, 1/13: one mode told 8/13 (1 - n), two 12/13 - .., and so on."""
    masses, roots = np.full(4, 0.25), hadamard(4) / 2.0  # orthonormal, the first of them constant
    covariance = 4.0 * sum(v * np.outer(roots[k], roots[k]) for k, v in ((1, 8 / 13), (2, 4 / 13), (3, 1 / 13)))
    assert masses @ np.diag(covariance) == pytest.approx(1.0)
    for noise, modes in ((1.0, 1), (0.1, 1), (0.03, 2)):
        result = few_modes(masses, covariance, noise)
        assert result.shape == (modes, 4)
        np.testing.assert_allclose(np.abs(result), 1.0 / modes)
        np.testing.assert_allclose(result @ masses, 0.0, atol=1e-12)
    np.testing.assert_array_equal(few_modes(masses, covariance, 0.001), np.eye(4))


def test_the_largest_bin_is_left_out():
    np.testing.assert_array_equal(without_largest(np.array([0.2, 0.5, 0.3])), [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_array_equal(without_largest(np.ones(1)), [[1.0]])


def test_rows_in_rare_bins_are_expected_to_weigh_less():
    seen = centred_lengths(RARE, 10).seen[0]
    assert seen[1] < seen[0] <= 1


def test_lengths_weigh_parts_by_their_shares():
    """All of the precision in one part of two: rows are as long as their images there, and the other says nothing."""
    maps, places = [np.eye(2), 100.0 * np.eye(2)], [np.array([0, 1]), np.array([1, 1])]
    assert Lengths.of(maps, places, np.array([1.0, 0.0]), 0.6, False).limit == pytest.approx(0.6)
    assert Lengths.of(maps, places, np.array([0.5, 0.5]), 0.6, True).limit == pytest.approx(0.6 * 50.5)


@pytest.mark.parametrize(
    ("allowance", "signal", "expected"),
    [
        (Allowance.of(1.0, 1e-6), 100.0, True),
        (Allowance.of(1.0, 0.0), 100.0, True),
        (Allowance.of(math.inf, 0.0), 100.0, False),
        (Allowance.of(1.0, 1e-6), 2 * CLIPPING.joint_below, False),
    ],
)
def test_it_is_done_where_noise_matters(allowance, signal, expected):
    assert bounds_jointly(allowance, signal) is expected


def diagnoses(seed: int, n: int = 6000, d: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows with a few rare flags, some of which matter."""
    generator = np.random.default_rng(seed)
    flags = generator.random((n, d)) < generator.uniform(0.01, 0.06, d)
    effects = np.random.default_rng(99).normal(0, 1.5, d)
    score = flags @ effects - 0.5
    return pd.DataFrame(flags, columns=[f"f{j}" for j in range(d)]), generator.random(n) < 1 / (1 + np.exp(-score))


SCHEMA = Schema({f"f{j}": BooleanColumn() for j in range(60)}, Label("y", classes=[False, True]))


def auc(seed: int, epsilon: float, **options: Any) -> tuple[float, AdditiveBoostClassifier]:
    X, y = diagnoses(seed)
    model = AdditiveBoostClassifier(epsilon=epsilon, schema=SCHEMA, random_state=seed, **options)
    model.fit(X[:5000], y[:5000])
    return roc_auc_score(y[5000:], model.decision_function(X[5000:])), model


@pytest.mark.slow
def test_rare_flags_are_learned_from_a_fraction_of_the_budget(monkeypatch):
    """With rows bounded together, epsilon 1/2 does what 1 did without, and more."""
    together = np.mean([auc(seed, 0.5, interactions=False)[0] for seed in range(2)])
    never = replace(AdditiveBoost.tuning, clipping=replace(CLIPPING, joint_below=0.0))
    monkeypatch.setattr(AdditiveBoost, "tuning", never)
    apart = np.mean([auc(seed, 1.0, interactions=False)[0] for seed in range(2)])
    assert together > apart + 0.01


def test_the_same_in_laplace_noise(monkeypatch):
    """Rare flags at delta 0: epsilon 2 does what 4 did without, and more."""
    pure = {"delta": 0.0, "interactions": False}
    together = np.mean([auc(seed, 2.0, **pure)[0] for seed in range(3)])
    never = replace(AdditiveBoost.tuning, clipping=replace(CLIPPING, joint_below=0.0))
    monkeypatch.setattr(AdditiveBoost, "tuning", never)
    apart = np.mean([auc(seed, 4.0, **pure)[0] for seed in range(3)])
    assert together > apart + 0.01


def test_the_ledger_says_so_and_adds_up():
    _, model = auc(0, 1.0)
    certificate = model.certificate_
    together = [entry for entry in certificate.entries if "bounded together" in entry.theorem]
    releases = sum(times for _, times in uses([entry.charge for entry in together]))
    assert releases >= 24 * 60
    assert 0.99 < share_spent(certificate) <= 1 + 1e-9


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_a_handful_of_rows_gives_a_model_all_the_same(rows):
    X, y = diagnoses(1, n=max(rows, 1))
    model = AdditiveBoostClassifier(epsilon=0.1, schema=SCHEMA, random_state=0).fit(X[:rows], y[:rows])
    assert np.isfinite(model.predict_proba(X)).all()


def test_weights_of_rows_and_classes_are_kept():
    X, y = diagnoses(2)
    weight = np.random.default_rng(0).uniform(0.1, 1.0, len(y))
    model = AdditiveBoostClassifier(
        epsilon=2.0, schema=SCHEMA, random_state=0, class_weight={False: 0.5, True: 1.0}
    ).fit(X, y, sample_weight=weight)
    assert any("bounded together" in entry.theorem for entry in model.certificate_.entries)
    assert roc_auc_score(y, model.decision_function(X)) > 0.6


@pytest.mark.parametrize(("loss", "expected"), [("squared", True), ("quantile", False)])
def test_numbers_are_bounded_together_but_not_where_a_quantile_is_asked_for(loss, expected):
    X, y = diagnoses(3, n=3000)
    schema = Schema(SCHEMA.columns, Label("y", kind="numeric", lower=0, upper=1))
    model = AdditiveBoostRegressor(epsilon=1.0, schema=schema, loss=loss, random_state=0).fit(X, y.astype(float))
    entries = model.certificate_.entries
    assert any("bounded together" in entry.theorem for entry in entries) is expected
    assert 0.97 < share_spent(model.certificate_) <= 1 + 1e-9


def test_several_classes_are_bounded_together():
    X, y = diagnoses(4, n=3000)
    schema = Schema(SCHEMA.columns, Label("y", classes=[0, 1, 2]))
    labels = y + X["f0"].to_numpy() * (1 - y)
    model = AdditiveBoostClassifier(epsilon=1.0, schema=schema, random_state=0).fit(X, labels)
    assert any("bounded together" in entry.theorem for entry in model.certificate_.entries)
    assert np.isfinite(model.predict_proba(X)).all()
    assert 0.99 < share_spent(model.certificate_) <= 1 + 1e-9
