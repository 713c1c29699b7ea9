"""The scaling of the row space: exact without noise, the identity where noise is all there is."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from tacit.halfspaces.scaling import make_scaling, measure_scaling
from tacit.halfspaces.tuning import TUNING
from tacit.privacy.charges import Gaussian
from tacit.queries.dense.halfspace_log import RADIUS_16
from tacit.queries.dense.moments import MomentSum, ShortenedSquares


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
    cosines = []
    for _ in range(40):
        scaling = make_scaling(mean + rng.normal(0, 1, 30), squares + rng.normal(0, 1, 30), 1.0, 1.0)
        vector = rng.normal(size=30)
        turned = scaling.solve(vector)
        cosines.append(vector @ turned / (np.linalg.norm(vector) * np.linalg.norm(turned)))
        assert scaling.variances.min() > 0
    assert np.mean(cosines) > 0.6


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
    nothing = make_scaling(np.zeros(4), np.zeros(4), 0.0, 0.0, (2.0, 0.25))  # rows of zeros, without noise
    assert (nothing.told_apart, nothing.variances.tolist()) == (0.0, [1e-12] * 4)


def test_noise_that_is_longer_than_usual_tells_nothing_apart() -> None:
    """Columns that are alike: a surplus of two standard deviations keeps most of what is left of the noise out."""
    rng = np.random.default_rng(5)
    mean, squares = np.zeros(100), np.full(100, 0.01)
    found: dict[float, list[float]] = {0.0: [], 2.0: []}
    for _ in range(200):
        noisy = mean, squares + rng.normal(0, 0.02, 100)  # a mean of 0 tells nothing either
        for surplus, seen in found.items():
            made = make_scaling(*noisy, 0.02, 0.02, (surplus, surplus))
            assert made.told_apart is not None
            seen.append(made.told_apart)
    assert np.mean(np.array(found[0.0]) > 0) > 0.3
    assert np.mean(np.array(found[2.0]) > 0) < 0.18  # .06 of 200: seven standard errors
    different = make_scaling(mean, np.arange(1, 101) ** -2.0, 0.001, 0.001, (2.0, 2.0))
    assert different.told_apart is not None
    assert different.told_apart > 0.99


def test_a_few_wide_columns_among_many_are_told_and_narrow_ones_stay_narrow() -> None:
    """Means of 120 draws: of the surplus told apart .18 (sd .09), of the ratio 6.4 (sd 6.1), each nine errors away."""
    rng = np.random.default_rng(8)
    squares = np.full(1000, 0.001)
    squares[:3] = 0.2, 0.1, 0.05
    surplus_told, wider = [], []
    for _ in range(120):
        noisy = squares + rng.normal(0, 0.03, 1000)
        drawn, sure = (make_scaling(np.zeros(1000), noisy, 1e-9, 0.03, (0.0, surplus)) for surplus in (0.0, 0.25))
        assert drawn.told_apart is not None
        assert sure.told_apart is not None
        surplus_told.append(sure.told_apart - 2 * drawn.told_apart)
        ratios = [made.variances / np.median(made.variances) for made in (drawn, sure)]
        wider.append(ratios[1][0] / ratios[0][0])
        assert ratios[1][0] < 1.1 * (1 + TUNING.most_apart)
    assert np.mean(surplus_told) > 0
    assert np.mean(wider) > 1.5
    narrow = np.arange(1, 31) ** -2.0
    exact = make_scaling(np.zeros(30), narrow, 1e-9, 1e-9, (2.0, 0.25))
    np.testing.assert_allclose(exact.variances, narrow, rtol=1e-3)


@dataclass
class Exact:
    """A gate without noise that answers what a scaling asks, by the definition of its questions."""

    rows: np.ndarray
    asked: list[MomentSum | ShortenedSquares] = field(default_factory=list)
    layout: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(n_dense=40))

    def measure(self, query: MomentSum | ShortenedSquares, charge: object, label: object) -> SimpleNamespace:
        self.asked.append(query)
        if isinstance(query, MomentSum):
            return SimpleNamespace(value=(self.rows**query.order).sum(axis=0), sd=0.0)
        squares = self.rows**2
        longest = query.longest / query.unit
        shortened = squares * np.minimum(1, longest / np.linalg.norm(squares, axis=1))[:, None]
        return SimpleNamespace(value=np.append(shortened.sum(axis=0), squares.sum() * query.length_weight), sd=0.0)


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_shortened_squares_say_how_large_variances_are(spread: float) -> None:
    """Ratios are kept nearly, and lengths exactly, although much of the squares was cut off."""
    rng = np.random.default_rng(6)
    rows = 0.02 + rng.normal(size=(3000, 40)) * np.arange(1, 41) ** (-spread / 2)
    rows /= np.linalg.norm(rows, axis=1)[:, None] * rng.uniform(1, 2, (3000, 1))
    gate, charge = Exact(rows), Gaussian(1.0)
    scaling = measure_scaling(gate, RADIUS_16, 3000.0, (charge, charge), 0.3)  # type: ignore[arg-type]
    first, second = gate.asked
    assert first == MomentSum(1, 40, RADIUS_16)
    assert isinstance(second, ShortenedSquares)
    assert second.longest / second.unit == pytest.approx(0.3, abs=1e-6)
    np.testing.assert_allclose(scaling.mean, rows.mean(axis=0))
    assert scaling.variances.sum() == pytest.approx(rows.var(axis=0).sum(), rel=0.01)
    ratios = scaling.variances / rows.var(axis=0)
    assert 0.6 < ratios.min() <= ratios.max() < 1.6
    assert scaling.told_apart == 1.0


@pytest.mark.parametrize(("factor", "remainder"), [(1e6, 0.3), (1e-6, 1.0)])
def test_shortening_leaves_at_least_the_longest_and_at_most_all(factor: float, remainder: float) -> None:
    """A released length that noise has made far too large, or too small, says no more than what is sure."""

    class Noisy(Exact):
        def measure(self, query: MomentSum | ShortenedSquares, charge: object, label: object) -> SimpleNamespace:
            release = super().measure(query, charge, label)
            if isinstance(query, ShortenedSquares):
                release.value[-1] *= factor
            return release

    rows = np.outer([1.0, -1.0, 1.0, -1.0], np.linspace(0.1, 0.2, 40))  # whose squares are .17 long: none is shortened
    charge = Gaussian(1.0)
    scaling = measure_scaling(Noisy(rows), RADIUS_16, 4.0, (charge, charge), 0.3)  # type: ignore[arg-type]
    np.testing.assert_allclose(scaling.variances, rows[0] ** 2 / remainder, rtol=1e-6)


def test_rows_with_a_constant_coordinate_are_asked_for_their_squares_as_they_are() -> None:
    rows = np.hstack([np.random.default_rng(7).uniform(-0.1, 0.1, (500, 39)), np.full((500, 1), 0.7)])
    gate, charge = Exact(rows), Gaussian(1.0)
    scaling = measure_scaling(gate, RADIUS_16, 500.0, (charge, charge))  # type: ignore[arg-type]
    assert gate.asked == [MomentSum(1, 40, RADIUS_16), MomentSum(2, 40, RADIUS_16)]
    assert scaling.told_apart is None
    np.testing.assert_allclose(scaling.variances[:39], rows[:, :39].var(axis=0))


def test_squares_that_are_short_enough_are_asked_for_as_they_are() -> None:
    """With nothing to shorten, the plain sum has less noise: it needs no length beside it."""
    rows = np.random.default_rng(8).normal(size=(500, 40)) * np.arange(1, 41) ** -0.5
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    gate, charge = Exact(rows), Gaussian(1.0)
    scaling = measure_scaling(gate, RADIUS_16, 500.0, (charge, charge), 1.0)  # type: ignore[arg-type]
    assert gate.asked == [MomentSum(1, 40, RADIUS_16), MomentSum(2, 40, RADIUS_16)]
    assert scaling.told_apart == 1.0
    np.testing.assert_allclose(scaling.variances, rows.var(axis=0))


def test_rows_off_centre_are_told_as_columns_of_different_spread_are() -> None:
    """A mean that is surely not 0 asks for long steps too: the first centre points along it."""
    flat = np.full(30, 1 / 30)
    at_zero, off_centre = (make_scaling(np.full(30, mean), flat, 0.01, 0.01, (2.0, 0.25)) for mean in (0.0, 0.1))
    assert at_zero.told_apart == 0.0
    assert off_centre.told_apart > 0.9
