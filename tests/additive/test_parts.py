"""The additive learner's parts: each is a function of released numbers with a known right answer."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from tacit.additive.intercept import PosteriorIntercept, curvature
from tacit.additive.intercept import scatter as scatter_of_rows
from tacit.additive.plan import Remainder
from tacit.additive.planner import Planner
from tacit.additive.posterior import (
    SCALES,
    Posterior,
    categorical_covariances,
    centred,
    numeric_covariances,
)
from tacit.additive.tuning import EFFECTS, PLANNING
from tacit.binning.refine import public_shapes, smooth_histograms
from tacit.binning.release_map import principal_modes, with_missing
from tacit.boosting.mada_boost import mada_boost
from tests.additive.test_intercept import observe


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 1e4), st.floats(1, 1e6))
def test_smoothed_masses_are_non_negative_and_sum_to_the_total(seed, sd, total):
    noisy = np.random.default_rng(seed).normal(total / 64, 10 * sd, 64)
    masses = smooth_histograms(np.stack([noisy, noisy[::-1]]), sd, np.array([total, 2 * total]))
    assert masses[1].sum() == pytest.approx(2 * total)
    alone = smooth_histograms(noisy[None], sd, np.array([total]))[0]
    np.testing.assert_allclose(masses[0], alone, rtol=1e-9)
    masses = masses[0]
    assert (masses >= 0).all()
    assert masses.sum() == pytest.approx(total)


def test_smoothing_keeps_what_is_clear_and_flattens_what_is_not():
    truth = np.zeros(64)
    truth[[3, 20, 40]] = [5000, 3000, 2000]
    noise = np.random.default_rng(0).normal(size=64)
    clear = smooth_histograms((truth + 2 * noise)[None], 2.0, np.array([10_000.0]))[0]
    assert np.abs(clear - truth).max() < 200
    drowned = smooth_histograms((truth + 1e6 * noise)[None], 1e6, np.array([10_000.0]))[0]
    assert drowned.max() < 2000


def test_public_shapes_are_distributions():
    shapes = public_shapes(64)
    assert (shapes >= 0).all()
    assert shapes.sum(axis=1) == pytest.approx(np.ones(len(shapes)))


@pytest.mark.parametrize("size", [3, 4, 9, 30])
def test_priors_are_covariances_centred_under_the_masses(size):
    masses = np.random.default_rng(size).dirichlet(np.ones(size))
    for prior in (*numeric_covariances(masses), *categorical_covariances(masses)):
        assert np.linalg.eigvalsh(prior).min() > -1e-8
        assert np.abs(prior @ masses).max() < 1e-8
        assert (masses * np.diag(prior)).sum() == pytest.approx(1.0)


def test_a_column_of_one_bin_has_no_effect():
    for prior in numeric_covariances(np.array([1.0, 0.0])):
        assert np.abs(prior).max() == 0


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 40), st.floats(1e-6, 1e3), st.integers(0, 1000))
def test_no_column_of_a_release_map_is_longer_than_one(bins, ratio, seed):
    masses = np.random.default_rng(seed).dirichlet(np.ones(bins + 1))
    shares = masses[:-1] / masses[:-1].sum()
    modes = with_missing(principal_modes(shares, numeric_covariances(masses)[2][:-1, :-1], ratio))
    assert modes.shape[1] == bins + 1
    assert (modes**2).sum(axis=0).max() <= 1 + 1e-12


def test_less_noise_releases_more_modes():
    masses = np.full(21, 1 / 21)
    covariance = numeric_covariances(masses)[2][:-1, :-1]
    counts = [len(principal_modes(np.full(20, 0.05), covariance, ratio)) for ratio in (10.0, 0.1, 1e-4)]
    assert counts[0] <= counts[1] <= counts[2]
    assert counts[0] < counts[2]


def test_posterior_is_the_textbook_gaussian_one():
    """One covariance, one scale: the mean and the deviation in closed form."""
    generator = np.random.default_rng(2)
    counts, bins, curvature_, scatter, noise = np.array([50.0, 80.0, 20.0, 40.0]), 4, 0.35, 0.2, 30.0
    covariance = centred(np.eye(bins), counts / counts.sum())
    release = generator.normal(0, 20, bins)
    prior = np.full((1, len(SCALES)), -np.inf)
    prior[0, 5] = 0.0
    posterior = Posterior(counts, np.eye(bins), [covariance], scatter / noise)
    mean, weights = posterior.solve(release, noise, curvature_, prior)
    blur = np.eye(bins) + np.diag(counts) * (scatter / noise)
    joint = curvature_**2 * SCALES[5] * np.diag(counts) @ covariance @ np.diag(counts) + noise * blur
    gain = curvature_ * SCALES[5] * covariance @ np.diag(counts) @ np.linalg.inv(joint)
    assert mean == pytest.approx(gain @ release, abs=1e-9)
    expected = SCALES[5] * covariance - gain @ (curvature_ * SCALES[5] * np.diag(counts) @ covariance)
    assert posterior.sd(noise, curvature_, weights) == pytest.approx(np.sqrt(np.diag(expected)), abs=1e-9)


def test_weights_of_the_mixture_are_marginal_likelihoods():
    """All scales, by dense normal densities of the release; of small eigenvalues, too."""
    generator = np.random.default_rng(3)
    counts, curvature_, scatter, noise = np.array([50.0, 80.0, 20.0, 40.0]), 0.35, 0.2, 30.0
    covariances = [centred(np.eye(4), counts / counts.sum()), centred(np.diag([1.0, 4.0, 0.5, 2.0]), counts / 190)]
    covariances.append(centred(np.diag([1.0, 1e-3, 2e-3, 1e-3]), counts / 190))
    release = generator.normal(0, 25, 4)
    posterior = Posterior(counts, np.eye(4), covariances, scatter / noise)
    mean, weights = posterior.solve(release, noise, curvature_, None)
    blur, design = noise * (np.eye(4) + np.diag(counts) * (scatter / noise)), curvature_ * np.diag(counts)
    logs, means = np.empty((3, len(SCALES))), []
    for i, covariance in enumerate(covariances):
        for k, scale in enumerate(SCALES):
            joint = scale * design @ covariance @ design + blur
            logs[i, k] = multivariate_normal(np.zeros(4), joint).logpdf(release)
            means.append(scale * covariance @ design @ np.linalg.solve(joint, release))
    expected = np.exp(logs - logs.max())
    expected /= expected.sum()
    np.testing.assert_allclose(weights, expected, rtol=1e-9)
    np.testing.assert_allclose(mean, expected.ravel() @ np.array(means), atol=1e-9)


def test_noise_alone_is_shrunk_to_nothing_and_a_strong_signal_is_kept():
    counts = np.full(10, 1000.0)
    priors = numeric_covariances(counts / counts.sum())
    posterior = Posterior(counts, np.eye(10), priors, 0.35 / 30.0**2)
    generator = np.random.default_rng(0)
    truth = np.append(np.linspace(-1, 1, 9), 0.0)
    truth -= truth.mean()
    kept, _ = posterior.solve(0.35 * counts * truth + generator.normal(0, 30, 10), 30.0**2, 0.35, None)
    gone, _ = posterior.solve(generator.normal(0, 30, 10), 30.0**2, 0.35, None)
    assert np.abs(kept - truth).max() < 0.25
    assert np.abs(gone).max() < 0.1


@pytest.mark.parametrize("intercept", [-2.0, 0.0, 1.0])
def test_curvature_is_the_slope_of_the_expected_step(intercept):
    probability = 1 / (1 + math.exp(-intercept))

    def push(score: float) -> float:
        at = np.array([score])
        return (probability * mada_boost(at) - (1 - probability) * mada_boost(-at)).item()

    slope = -(push(intercept + 1e-5) - push(intercept - 1e-5)) / 2e-5
    assert curvature(intercept, 0.0) == pytest.approx(slope, rel=1e-4)


def test_rows_scatter_by_the_share_of_a_rare_class_and_never_more_than_is_typical():
    assert scatter_of_rows(0.0, 0.0) == scatter_of_rows(0.0, 3.0) == EFFECTS.typical_scatter
    assert scatter_of_rows(-4.0, 0.0) == pytest.approx(1 / (1 + math.exp(4.0)))
    assert scatter_of_rows(-4.0, 1.5) == pytest.approx(scatter_of_rows(4.0, 1.5))
    assert scatter_of_rows(-4.0, 0.0) < scatter_of_rows(-4.0, 1.5) < EFFECTS.typical_scatter
    generator = np.random.default_rng(4)
    logits = np.full(200_000, -4.0)
    y = generator.random(len(logits)) < 1 / (1 + np.exp(-logits))
    pushes = np.where(y, mada_boost(logits), -mada_boost(-logits))
    assert scatter_of_rows(-4.0, 0.0) == pytest.approx(pushes.var(), rel=0.05)


def test_the_intercept_finds_the_rate_without_noise():
    for rate in (0.05, 0.4, 0.9):
        intercept = PosteriorIntercept(10_000.0)
        for _ in range(12):
            score = intercept.value
            push = rate * mada_boost(score) - (1 - rate) * mada_boost(-score)
            observe(intercept, 10_000 * push.item(), 0.0)
        assert 1 / (1 + math.exp(-intercept.value[0])) == pytest.approx(rate, abs=0.005)


@pytest.mark.parametrize("columns", [2, 9, 100])
def test_trees_are_planned_by_the_rows_and_not_by_the_columns(columns):
    """They cost the same however many columns there are; pairs do not."""
    wholes = [699.0, 701.0, 2999.0, 7500.0]
    signals = [whole / math.sqrt(columns) for whole in wholes]
    plans = [Planner().plan(5000.0, columns, signal, False, remainder=Remainder.AVERAGED) for signal in signals]
    for made, signal, whole in zip(plans, signals, wholes, strict=True):
        rest = 1 - 0.12 - 0.35 - (0.1 if signal >= PLANNING.pairs_from else 0.0)
        assert made.trees == pytest.approx(0.7 * rest if whole > 700.0 else 0.0)
        assert made.tree_noise == (PLANNING.tree_noise if whole > 700.0 else 0.0)
        assert not made.undecided


@pytest.mark.parametrize("columns", [2, 9, 100, 1000])
def test_two_classes_wait_for_what_is_explained_where_rows_are_enough(columns):
    wholes = [699.0, 701.0, 2999.0, 3001.0, 40_000.0]
    plans = [Planner().plan(5000.0, columns, whole / math.sqrt(columns), False) for whole in wholes]
    assert [made.undecided for made in plans] == [False, True, True, True, True]
    for made, whole in zip(plans[1:], wholes[1:], strict=True):
        looks, clear = whole / math.sqrt(columns) >= PLANNING.pairs_from, whole > 3000.0
        assert (made.looks_for_pairs, made.screening) == (looks, 0.1 if looks else 0.0)
        assert made.mains == (0.15 if clear else 0.35)
        assert made.trees == pytest.approx(1.0 - PLANNING.binning_share - made.mains - made.screening)
        assert made.sweeps == (12 if clear else 24 if looks else 6)
        assert (made.n_trees, made.tree_noise) == ((400, 0.0) if clear else (150, PLANNING.tree_noise))


def decided(columns, explained, pairs=True, whole=3000.0):
    """The plan that waits, and the one after pairs are looked for."""
    plan = Planner().plan(5000.0, columns, whole / math.sqrt(columns), False, pairs)
    return plan, Planner().decided(plan, explained)


@pytest.mark.parametrize("columns", [2, 9, 100, 450, 1000])
@pytest.mark.parametrize("whole", [701.0, 2999.0, 3001.0])
def test_pairs_and_trees_follow_where_much_is_explained(columns, whole):
    plan, after = decided(columns, PLANNING.trees_explained_from, whole=whole)
    assert (after.mains, after.sweeps, after.screening) == (plan.mains, plan.sweeps, plan.screening)
    assert after.trees == pytest.approx(0.7 * plan.trees)
    assert after.pair_counts == pytest.approx(0.3 * 0.05 if plan.looks_for_pairs else 0.0)
    shares = (after.binning, after.mains, after.screening, after.pair_counts, after.joint, after.trees)
    assert sum(shares) == pytest.approx(1.0)
    trees = (400, 0.0, 0.01) if whole > 3000.0 else (150, PLANNING.tree_noise, 0.0)
    assert (after.n_trees, after.tree_noise, after.tree_enough, after.undecided) == (*trees, False)
    assert after.joint_sweeps == 12


@pytest.mark.parametrize("whole", [1500.0, 2999.0])
def test_the_plan_of_pairs_is_followed_where_little_is_explained_in_noise(whole):
    after = decided(9, 0.0, whole=whole)[1]
    plain = Planner().plan(5000.0, 9, whole / 3.0, False, trees=False)
    for name in ("mains", "screening", "pair_counts", "joint", "sweeps", "joint_sweeps"):
        assert getattr(after, name) == pytest.approx(getattr(plain, name))


@pytest.mark.parametrize("explained", [0.99, 0.0])
@pytest.mark.parametrize("columns", [2, 9, 100])
def test_pairs_and_columns_follow_where_little_is_explained(columns, explained):
    plan, after = decided(columns, explained * PLANNING.trees_explained_from)
    assert after.looks_for_pairs
    assert (after.screening, after.pair_counts) == (plan.screening, 0.05)
    assert after.joint == pytest.approx(plan.trees - 0.05)
    assert (after.trees, after.n_trees, after.undecided) == (0.0, 0, False)
    assert (after.mains, after.sweeps, after.joint_sweeps) == (plan.mains, 12, 24)


@pytest.mark.parametrize(("columns", "pairs"), [(9, False), (1000, True)])
def test_columns_have_it_all_where_pairs_are_not_wanted_or_noise_hides_them(columns, pairs):
    plan, after = decided(columns, 0.5, pairs=pairs)
    assert not after.looks_for_pairs
    assert (after.joint, after.pair_counts) == (pytest.approx(plan.trees), 0.0)


@pytest.mark.parametrize("columns", [2, 9, 100])
def test_trees_of_very_many_rows_are_judged_one_by_one(columns):
    wholes = [899.0, 1500.0, 3001.0, 7500.0]
    plans = [Planner().plan(500_000.0, columns, whole / math.sqrt(columns), False) for whole in wholes]
    ramp = 0.5 * math.log(1500 / 900) / math.log(3000 / 900)
    assert [made.trees for made in plans] == pytest.approx([0.0, ramp, 0.5, 0.5])
    assert not any(made.tree_noise for made in plans)


def test_pairs_stand_beside_trees_of_several_classes_and_numbers():
    others = Planner().plan(5000.0, 9, 2000.0, False, remainder=Remainder.AVERAGED)
    assert others.looks_for_pairs
    assert others.tree_noise > 0
    quantiles = Planner().plan(5000.0, 9, 2000.0, False, remainder=Remainder.NEWTON)
    assert (quantiles.looks_for_pairs, quantiles.tree_noise) == (True, 0.0)
    assert quantiles.trees == 0.5


@pytest.mark.parametrize("signal", [140.0, 500.0, 1e5])
def test_pairs_have_the_same_shares_wherever_they_are_tried(signal):
    plan = Planner().plan(5000.0, 9, signal, False, trees=False)
    assert (plan.binning, plan.mains, plan.screening, plan.pair_counts) == (0.12, 0.35, 0.1, 0.05)
    assert (plan.joint, plan.sweeps, plan.joint_sweeps) == (pytest.approx(0.38), 24, 12)
    assert not Planner().plan(5000.0, 9, 139.9, False, trees=False).looks_for_pairs


def test_a_single_column_has_nothing_to_interact_with():
    assert Planner().plan(5000.0, 1, 7500.0, False).trees == 0.0


@settings(max_examples=80, deadline=None)
@given(st.floats(30, 1e7), st.integers(1, 500), st.floats(0.01, 1e6), st.booleans(), st.booleans(), st.booleans())
def test_a_plan_spends_the_allowance_and_no_more(total, columns, signal, pure, pairs, trees):
    chosen = Planner().plan(total, columns, signal, pure, pairs, trees)
    looks = (chosen.binning, chosen.mains, chosen.screening, chosen.pair_counts, chosen.joint)
    parts = (*looks, chosen.trees)
    assert min(parts) >= 0
    assert sum(parts) == pytest.approx(1.0)


def test_sweeps_go_on_where_noise_is_little_and_no_trees_follow():
    for columns in (5, 200):
        signals = [100.0, 400.0, 900.0, 5000.0, 1e6]
        plans = [Planner().plan(5000.0, columns, signal, False, trees=False) for signal in signals]
        made = [Planner().patient(known, columns, signal) for known, signal in zip(plans, signals, strict=True)]
        assert made[:2] == plans[:2]  # where noise is large nothing changes
        sweeps = [after.sweeps for after in made]
        assert sweeps == sorted(sweeps)
        assert sweeps[-1] <= PLANNING.most_sweeps
        assert max(sweeps[-1] * columns, 24 * columns) <= max(PLANNING.most_swept, 24 * columns)
        assert made[-1].recency == 1.0
        for before, after in zip(plans, made, strict=True):
            assert (
                replace(after, sweeps=before.sweeps, joint_sweeps=before.joint_sweeps, recency=before.recency) == before
            )
    many = Planner().plan(1e6, 5, 1e6, False, trees=False)
    assert Planner().patient(many, 5, 1e6) == many  # sweeps over very many rows end by themselves
