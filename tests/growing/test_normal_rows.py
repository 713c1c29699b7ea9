"""Moments of features of normal rows against quadrature, which is exact here, and descent along them by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tacit.arrays import Floats
from tacit.curator.measurement import Measurement
from tacit.growing.fourier import VARIANCES, Descent, Directions, believed_way
from tacit.growing.normal_rows import NormalRows
from tacit.growing.tuning import SMOOTH
from tacit.privacy.charges import Gaussian
from tacit.privacy.label import Label, Stage

FREQUENCIES = np.array([[0.5, 0.2], [-0.3, 1.1], [1.4, 0.6]])
COVARIANCE = np.array([[0.8, 0.5], [0.5, 1.5]])
ROWS = NormalRows(FREQUENCIES, COVARIANCE)


def quadrature() -> tuple[Floats, Floats]:
    """Weights of points of the plane under ``N(0, C)``, and their vectors of features."""
    nodes, each = np.polynomial.hermite_e.hermegauss(60)
    points = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2) @ np.linalg.cholesky(COVARIANCE).T
    phases = points @ FREQUENCIES.T
    vectors = np.concatenate([np.cos(phases), np.sin(phases)], axis=1) / math.sqrt(3)
    return np.multiply.outer(each, each).ravel() / (2 * math.pi), vectors


WEIGHTS, VECTORS = quadrature()


def test_one_feature_by_hand() -> None:
    """``w'Cw = 2 * 2 * 0.7``: the mean of a cosine is ``exp(-1.4)``, that of its square ``(1 + exp(-5.6)) / 2``."""
    rows = NormalRows(np.array([[2.0]]), np.array([[0.7]]))
    assert rows.mean == pytest.approx([math.exp(-1.4), 0.0])
    cosines, sines = rows.products
    assert (cosines[0, 0], sines[0, 0]) == (
        pytest.approx((1 + math.exp(-5.6)) / 2),
        pytest.approx((1 - math.exp(-5.6)) / 2),
    )
    variance = 9 * ((1 + math.exp(-5.6)) / 2 - math.exp(-2.8)) + 25 * (1 - math.exp(-5.6)) / 2
    assert rows.variance(np.array([3.0, 5.0])) == pytest.approx(variance)


def test_moments_are_those_of_quadrature() -> None:
    assert ROWS.mean == pytest.approx(WEIGHTS @ VECTORS, abs=1e-12)
    products = (VECTORS * WEIGHTS[:, None]).T @ VECTORS
    for block, part in zip(ROWS.products, (slice(0, 3), slice(3, 6)), strict=True):
        assert block == pytest.approx(products[part, part], abs=1e-12)
    assert products[:3, 3:] == pytest.approx(np.zeros((3, 3)), abs=1e-12)
    some = np.random.default_rng(0).normal(size=(6, 2))
    scores = VECTORS @ some
    spread = WEIGHTS @ scores**2 - (WEIGHTS @ scores) ** 2
    assert ROWS.variance(some) == pytest.approx(float(spread.sum()))
    assert ROWS.variance(some[:, 1]) == pytest.approx(float(spread[1]))
    assert ROWS.variance(np.zeros(6)) == 0.0


def two_directions(own: float = 1.0, steepest: float = 0.25) -> Directions:
    return Directions(np.eye(2), np.array([100.0, 4.0]), 0.2, own, steepest)


def test_steps_are_shorter_where_rows_would_answer() -> None:
    assert two_directions().lengths(0.5) == pytest.approx([1 / 27, 1 / 3])
    assert two_directions(steepest=1.0).lengths(0.5) == pytest.approx([1 / 102, 1 / 6])
    assert two_directions().kept(0.5) == pytest.approx([1 - 20 / 27, 1 - 0.8 / 3])
    turned = replace(two_directions(), vectors=np.array([[0.6, -0.8], [0.8, 0.6]]))
    expected = np.array([[0.36, 0.48], [0.48, 0.64]]) / 27 + np.array([[0.64, -0.48], [-0.48, 0.36]]) / 3
    assert turned.steps(0.5) == pytest.approx(expected)


def test_likelihoods_of_a_sum_by_hand() -> None:
    """Along the two directions rows answer by 20 and 0.8."""
    found = two_directions(own=1.5).likelihood(np.array([3.0, -2.0]), 0.5)
    for place in (0, 7, 41):
        v = VARIANCES[place]
        spreads = (400 * v + 30 + 0.25, 0.64 * v + 1.2 + 0.25)
        expected = -0.5 * sum(x * x / s + math.log(s) for x, s in zip((3.0, -2.0), spreads, strict=True))
        assert found[place] == pytest.approx(expected)
    exact = Directions(np.eye(1), np.zeros(1), 0.2, 1.0, 0.25).likelihood(np.zeros(1), 0.0)
    assert exact == pytest.approx(np.full(42, -math.log(1e-9)))


def test_how_far_to_go_by_hand() -> None:
    """All variances alike likely: of 42, the first has what nothing was given beforehand."""
    assert VARIANCES[[0, 1, 9, 41]] == pytest.approx([0.0, 1e-4, 1e-3, 10.0])
    flat = np.zeros(42)
    some = np.minimum(SMOOTH.of_the_likely * VARIANCES[1:], 0.3)
    assert believed_way(flat, 0.3) == pytest.approx((1 - SMOOTH.nothing) * some.mean())
    sure = flat.copy()
    sure[21] = 50.0
    assert believed_way(sure, 10.0) == pytest.approx(2.0 * VARIANCES[21])


@pytest.mark.parametrize(("noise", "most_variance"), [(0.7, 10.0), (9.0, 0.02)])
def test_a_descent_by_hand(noise: float, most_variance: float) -> None:
    """With whole matrices in place of directions: the way, all steps along it, and what noise leaves in a score.

    The first sum has noise of deviation 3 / sqrt(3) and each of three later ones 4 / sqrt(3), beside a bound of 2; all
    that is left of the budget would have 0.8.
    """
    sums, root = 9.0 * np.random.default_rng(5).normal(size=(4, 6)), math.sqrt(3)
    features: Any = SimpleNamespace(pairs=3, size=6)
    asked: list[tuple[float, str]] = []

    def measure(query: Any, share: float, label: Label) -> Measurement:
        asked.append((share, str(label)))
        return Measurement(str(label), sums[len(asked)][:, None], 4.0, Gaussian(1.0), "x")

    numbers, each = replace(SMOOTH, steps=3), SimpleNamespace(measure=measure)
    budget: Any = SimpleNamespace(sd=lambda: 0.8, split={3: each}.__getitem__)
    descent = Descent(
        query=SimpleNamespace(features=features),  # type: ignore[arg-type]
        add=lambda _, step: np.floor(step * 2**20) / 2**20,
        normal=ROWS,
        rows=50.0,
        first=Measurement("first", sums[0][:, None], 3.0, Gaussian(1.0), "x"),
        along=(Directions.of(ROWS, 50.0, 0.2, 1.0, 0.25),),
        bound=2.0,
        most_variance=most_variance,
        basis=np.array([[-1.0]]),
        numbers=numbers,
    )
    found = descent.go(budget, noise)

    cosines, sines = ROWS.products
    scatter = 50 * np.block([[cosines, np.zeros((3, 3))], [np.zeros((3, 3)), sines]])
    answer, seen = 0.2 * scatter, sums[0] / root
    covariances = [v * answer @ answer + answer + 3.0 * np.eye(6) for v in VARIANCES]
    likelihood = np.array([-0.5 * (seen @ np.linalg.solve(c, seen) + np.linalg.slogdet(c)[1]) for c in covariances])
    part = 0.8**2 / ((root / 2) ** 2 + 0.8**2)  # of the information, where the first sum has a deviation of root / 2
    most = min(noise / (math.sqrt(1 - part) * 0.8 * 2.0), most_variance)
    variance = believed_way(likelihood, most, numbers)
    assert 0 < variance < most
    weights, left = np.zeros(6), np.zeros((6, 6))
    ways = [(part * variance, 3.0), *[((1 - part) * variance / 3, 4.0)] * 3]
    for value, (way, sd) in zip(sums, ways, strict=True):
        step = np.linalg.inv(np.eye(6) / way + 0.25 * scatter)
        weights += step @ value / root
        kept = np.eye(6) - step @ answer
        left = kept @ left @ kept.T + step @ step.T * sd**2 / 3
    assert found.weights[:, 0] == pytest.approx(weights, abs=1e-5)
    assert found.sd == pytest.approx(math.sqrt(np.trace(scatter @ left) / 50))
    assert found.spread == pytest.approx(math.sqrt(ROWS.variance(found.weights)))
    assert found.features is features
    assert asked == [(1.0, str(Label(Stage.FOURIER, round=number))) for number in (1, 2, 3)]


def test_directions_of_both_blocks() -> None:
    """Scatter times rows."""
    every = Directions.of(ROWS, 50.0, 0.2, 1.5, 0.7)
    assert (every.curvature, every.own, every.steepest) == (0.2, 1.5, 0.7)
    cosines, sines = ROWS.products
    assert np.sort(every.rows) == pytest.approx(
        np.sort(50 * np.concatenate([np.linalg.eigvalsh(cosines), np.linalg.eigvalsh(sines)]))
    )
    assert (every.vectors * every.rows) @ every.vectors.T == pytest.approx(
        50 * np.block([[cosines, np.zeros((3, 3))], [np.zeros((3, 3)), sines]])
    )
