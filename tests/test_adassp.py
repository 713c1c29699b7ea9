"""The peer Boosted AdaSSP: least squares where there is no noise, and noise of the scale that its budget asks for."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.adassp import CLIP, boosted_adassp, unit_rows
from tacit.privacy.budget import Allowance

pytestmark = pytest.mark.slow  # of the benchmarks, which are not shipped


def table(rows: int = 400, columns: int = 3) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(5)
    X = unit_rows(generator.uniform(-1, 1, (rows, columns)))
    return X, X @ np.array([0.5, -0.3, 0.2, 0.1]) / 4


@pytest.mark.parametrize("rounds", [1, 30])
def test_it_is_least_squares_where_noise_is_next_to_nothing(rounds: int) -> None:
    X, y = table()  # all targets within the clip
    result = boosted_adassp(X, y, 1e9, 0.5, np.random.default_rng(1), rounds)
    assert result == pytest.approx([0.125, -0.075, 0.05, 0.025], abs=1e-3)


def test_no_row_is_longer_than_one() -> None:
    assert np.linalg.norm(unit_rows(np.array([[1.0, -1.0], [9.0, 0.0], [0.0, 0.0]])), axis=1).max() <= 1 + 1e-12


class Recorded:
    """Standard deviations of the noise that is asked for; the noise is 0."""

    def __init__(self) -> None:
        self.asked: list[tuple[float, int]] = []

    def normal(self, mean: float, sd: float, shape: object = None) -> np.ndarray | float:
        self.asked.append((sd, int(np.prod(shape if shape is not None else 1))))
        return np.zeros(shape) if shape is not None else 0.0  # type: ignore[call-overload]


def test_precisions_of_all_releases_add_up_to_the_budget() -> None:
    X, y = table()
    noise, rounds = Recorded(), 20
    boosted_adassp(X, y, 1.0, 1e-6, noise, rounds)  # type: ignore[arg-type]
    assert len(noise.asked) == 2 + rounds
    # the rounds' noise is of residuals clipped to CLIP, so each is that much more precise
    precisions = [1.0 / sd**2 for sd, _ in noise.asked[:2]] + [(CLIP / sd) ** 2 for sd, _ in noise.asked[2:]]
    assert sum(precisions) == pytest.approx(Allowance.of(1.0, 1e-6).mu ** 2, rel=1e-9)
