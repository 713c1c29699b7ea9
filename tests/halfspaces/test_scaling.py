"""The scaling of the row space: exact without noise, the identity where noise is all there is."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from tacit.halfspaces.scaling import make_scaling, measure_scaling
from tacit.privacy.charges import Gaussian
from tacit.queries.dense.halfspace_log import RADIUS_16
from tacit.queries.dense.moments import MomentSum, ShortenedSquares


def moments(rng: np.random.Generator, spread: float) -> tuple[np.ndarray, np.ndarray]:
    rows = 0.05 + rng.normal(size=(4000, 30)) * np.arange(1, 31) ** (-spread / 2)
    rows /= np.linalg.norm(rows, axis=1).max()
    return rows.mean(axis=0), (rows**2).mean(axis=0)


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
