"""Every step of noisy gradient trees, computed again from their releases: prior, spread, noise and curvature level."""

from __future__ import annotations

import math
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.integrate import quad

from tacit.binning.measure import Column
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.curator.measurement import Measurement
from tacit.engines.blocks import MemoryTable
from tacit.growing.gradient_trees import learn_gradient_trees
from tacit.growing.newton_trees import CurvatureLevel, NewtonPlan, VarianceFilter, mean_above_zero, newton_leaves
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring

ROWS, POSITIVE = 3000, 0.2


def recorded(epsilon: float, delta: float, monkeypatch: pytest.MonkeyPatch) -> tuple[object, list[Measurement]]:
    """A fit of six trees of depth 3 on three columns, and all that it released."""
    generator, releases, measure = np.random.default_rng(3), [], Curator.measure
    codes = generator.integers(0, 100, (3, ROWS)).astype(np.uint8)
    labels = (generator.random(ROWS) < POSITIVE * 1.6 * np.where(codes[0] < 50, 1.0, 0.25)).astype(np.uint8)

    def recording(self: Curator, *asked: object) -> Measurement:
        releases.append(measure(self, *asked))
        return releases[-1]

    monkeypatch.setattr(Curator, "measure", recording)
    allowance = Allowance.of(epsilon, delta)
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    curator = Curator(MemoryTable(list(codes), labels, [101] * 3, 2, threads=1), reservation, SeededSource(4))
    columns = [Column(place, name, True) for place, name in enumerate("abc")]
    return learn_gradient_trees(Budget(curator, allowance), columns, n_trees=6, depth=3), releases


def weighted_curvature(counts: np.ndarray, sd: float, clip: float, scale: float, norm: int) -> float:
    """The curvature of a row at the released base rate, as the rule weighs it: the longer vector is cut to the clip."""
    rows, difference = counts.sum(), counts[1] - counts[0]
    trust = (rows / 4) ** 2 / ((rows / 4) ** 2 + rows / 4 + 2 * sd**2 / 4)
    chance = 1 / (1 + math.exp(-trust * 2 * math.atanh(difference / rows)))
    longest = float(np.linalg.norm([max(chance, 1 - chance), scale * chance * (1 - chance)], norm))
    return min(clip / longest, 1.0) * chance * (1 - chance)


def test_every_step_under_gaussian_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = Mock(side_effect=CurvatureLevel)
    monkeypatch.setattr("tacit.growing.gradient_trees.CurvatureLevel", levels)
    learned, releases = recorded(1.0, 1e-6, monkeypatch)
    (counts,), sd = releases[0].value, releases[0].sd
    curvature = weighted_curvature(counts, sd, 0.53, 3.8 * math.sqrt(0.53**2 - 0.25), 2)
    scale, prior = learned.plan.hessian_scale, 0.5 / 4 / curvature
    total, variance = counts.sum() * curvature, (math.sqrt(2.0) * sd * curvature) ** 2
    trees = [release for release in releases if release.label.startswith("tree")]
    assert len(trees) == len(learned.trees) == 6
    for release, tree in zip(trees, learned.trees, strict=True):
        gradients, curvatures, noise = release.value[:, 0], release.value[:, 1] / scale, release.sd / scale
        variance += (0.01 * total) ** 2
        gain = variance / (variance + 8 * noise**2)
        total, variance = total + gain * (curvatures.sum() - total), (1 - gain) * variance
        mean = total / 8
        scatter = min(max(((curvatures - mean) ** 2).mean() - noise**2, 0.0), 2 * mean**2)
        h = np.maximum(mean + (curvatures - mean) * scatter / (scatter + noise**2), 0.05 * mean)
        steps = 0.1 * prior * h * gradients / (h**2 * prior + h + release.sd**2)
        assert tree.values == pytest.approx(steps, rel=5e-3, abs=1e-4)
        assert np.abs(steps).max() > 0
    assert levels.call_args.args == pytest.approx((counts.sum(), math.sqrt(2.0) * sd, curvature), rel=5e-3)


def posterior_mean(value: float, variance: float, scale: float) -> float:
    """Of a Gaussian of mean 0 behind Laplace noise, by integration."""
    sd = math.sqrt(variance)

    def weight(x: float) -> float:
        return math.exp(-(x**2) / 2 / variance - abs(value - x) / scale)

    ends = {"points": [value, 0.0], "limit": 200} if abs(value) < 12 * sd else {}
    whole, mean = (quad(f, -12 * sd, 12 * sd, **ends)[0] for f in (weight, lambda x: x * weight(x)))
    return float(mean / whole)


def test_every_step_under_laplace_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Curvatures and gradients are posterior means behind Laplace noise; no level is carried from tree to tree."""
    learned, releases = recorded(2.0, 0.0, monkeypatch)
    (counts,), sd = releases[0].value, releases[0].sd
    prior = 1.0 / 4 / weighted_curvature(counts, sd, 0.65, 0.6, 1)
    trees = [release for release in releases if release.label.startswith("tree")]
    for release, tree in zip(trees, learned.trees, strict=True):
        gradients, curvatures, noise = release.value[:, 0], release.value[:, 1] / 0.6, release.sd / 0.6
        mean = max(curvatures.mean(), 0.5)
        scatter = max(((curvatures - mean) ** 2).mean() - noise**2, 0.0)
        h = np.full(8, mean)
        if scatter > 0:
            h = mean + np.array([posterior_mean(k - mean, scatter, noise / math.sqrt(2)) for k in curvatures])
        h = np.maximum(h, 0.05 * mean)
        spread = h**2 * prior + h
        signals = [posterior_mean(g, v, release.sd / math.sqrt(2)) for g, v in zip(gradients, spread, strict=True)]
        steps = np.clip(learned.plan.rate * prior * h * np.array(signals) / spread, -2, 2)
        assert tree.values == pytest.approx(steps, rel=5e-3, abs=1e-4)
    assert learned.plan.rate == pytest.approx(1.05 / math.sqrt(37))  # .173 (2 rows)^.617 trees by the rule


def test_newton_leaves_by_hand() -> None:
    """Spread 16/2 + 4 = 12 beside noise of variance 9: 12/21 of the gradient is believed, 1/6 of it a step."""
    plan = NewtonPlan(1, 1, rate=0.2, prior=0.5)
    assert newton_leaves(np.array([6.0]), np.array([4.0]), 3.0, 0.0, plan) == pytest.approx([0.2 * 6 * 4 * 0.5 / 21])
    assert newton_leaves(np.array([1e9, -1e9]), np.array([4.0, 4.0]), 3.0, 0.0, plan).tolist() == [2.0, -2.0]
    laplace = newton_leaves(np.array([6.0]), np.array([4.0]), 3.0, 0.0, plan, laplace=True)
    assert laplace == pytest.approx([0.2 * 0.5 * 4 * posterior_mean(6.0, 12.0, 3 / math.sqrt(2)) / 12], rel=1e-4)


def test_two_trees_of_the_variance_filter_by_hand() -> None:
    """First belief .02, variance .05**2; a tree's excess over its own variation and noise weighs by its precision."""
    result, uncertainty, filtered = 0.02, 0.05**2, VarianceFilter(0.001)
    for gradients, own, squares, sd in (([30.0, -50.0], 50.0, 1e4, 10.0), ([5.0, -80.0], 40.0, 8e3, 20.0)):
        excess = (np.square(gradients).mean() - own - sd**2) / squares
        variance = ((sd**2 + own) / squares + result) ** 2  # 2 / leaves is 1
        uncertainty += 1e-6
        gain = uncertainty / (uncertainty + variance)
        result, uncertainty = result + gain * (excess - result), uncertainty * (1 - gain)
        believed = filtered.learn(np.array(gradients), own, squares, sd)
        assert believed == pytest.approx(mean_above_zero(result, math.sqrt(uncertainty)))
    assert filtered.at_most(2.0) == pytest.approx(result + 2 * math.sqrt(uncertainty))


def test_two_trees_of_the_curvature_level_by_hand() -> None:
    """Of 1000 rows, known to within 30, a quarter each: the total 250 of variance 7.5**2, and 1 % of drift a tree."""
    level, total, variance = CurvatureLevel(1000.0, 30.0), 250.0, 7.5**2
    for curvatures, sd in (([70.0, 90.0, 50.0, 60.0], 4.0), ([40.0, 20.0, 90.0, 80.0], 6.0)):
        variance += (0.01 * total) ** 2
        gain = variance / (variance + 4 * sd**2)
        total, variance = total + gain * (sum(curvatures) - total), variance * (1 - gain)
        assert level.mean(np.array(curvatures), sd) == pytest.approx(total / 4)
