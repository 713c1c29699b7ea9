"""The exact hockey stick of a cover, by which `benchmarks.list_choices` tells what a sharper charge could give."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.list_choices import hockey_sticks, loss_of
from tacit.privacy.accountants import delta
from tacit.theory import em_cover as theory
from tests.decision_lists import cover_reference as reference

EPSILONS = (0.0, 0.1, 0.3, 0.9)


def worst(n_features: int, most_rows: int, scales: list[float], reward: float) -> np.ndarray:
    """The largest hockey sticks over all pairs of neighbours, by enumeration of all outputs."""
    found = np.zeros(len(EPSILONS))
    for first, second in reference.neighbours(n_features, most_rows, replace=False):
        p, q = (reference.distribution(rows, n_features, scales, reward) for rows in (first, second))
        found = np.maximum(found, [reference.hockey_stick(p, q, epsilon) for epsilon in EPSILONS])
    return found


def claimed(scales: list[float], reward: float, cells: int = 300) -> np.ndarray:
    y, values = hockey_sticks(scales, [theory.Shifts(-1.0, reward)] * len(scales), cells)
    return np.interp(np.exp(EPSILONS), y, values)


@pytest.mark.parametrize(
    ("n_features", "most_rows", "scales", "reward", "share"),
    [
        (1, 2, [0.7], 0.0, 0.99),
        (2, 2, [1.0], 1.0, 0.9),
        (2, 2, [1.0, 0.5], 0.5, 0.9),
        (2, 1, [0.6, 0.3, 0.15], 1.0, 0.8),
    ],
)
def test_no_pair_of_neighbours_exceeds_the_hockey_stick_and_one_comes_close(
    n_features: int, most_rows: int, scales: list[float], reward: float, share: float
) -> None:
    found, said = worst(n_features, most_rows, scales, reward), claimed(scales, reward)
    assert (found <= said + 1e-12).all()
    assert (found > share * said).any()
    assert (found > claimed([0.9 * scale for scale in scales], reward)).any()


def test_one_sided_scores_stay_below_the_closed_hockey_stick() -> None:
    few, many = (claimed([0.2] * steps, 0.0, 25 * steps) for steps in (3, 30))
    closed = np.array([theory.adding_delta(0.2, epsilon) for epsilon in EPSILONS])
    assert (few < many).all()
    assert (many <= closed * 1.001).all()
    assert many[:2] == pytest.approx(closed[:2], rel=0.05)


def test_a_finer_grid_is_never_above() -> None:
    coarse, fine = (claimed([0.5, 0.3, 0.2], 0.5, cells) for cells in (100, 400))
    assert (fine <= coarse + 1e-12).all()
    assert fine == pytest.approx(coarse, rel=0.05, abs=1e-9)


def test_the_charge_has_the_hockey_stick() -> None:
    y, values = hockey_sticks([0.5, 0.3, 0.2], [theory.Shifts(-1.0, 0.5)] * 3)
    loss = loss_of(y, values)
    for epsilon in EPSILONS:
        assert delta([loss], epsilon) == pytest.approx(np.interp(math.exp(epsilon), y, values), rel=0.01, abs=1e-9)
