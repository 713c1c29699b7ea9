"""The noise of rounds averages out: the two steps of the proof, attained; integers; rounds and rates by value."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tacit.boosting.game import capped_scaling
from tacit.boosting.measures import LazyBregman
from tacit.queries.dense.halfspace_log import HalfspaceLog
from tacit.queries.dense.vector_sum import CappedSum
from tacit.theory import averaged_noise as theory


def dense(scores: np.ndarray, density: float) -> np.ndarray:
    """The distribution that lazy Bregman plays: the largest of ``<p, s> - KL(p || uniform)`` among dense ones."""
    weights = capped_scaling(scores, density * len(scores))
    return weights / weights.sum()


def potential(scores: np.ndarray, density: float) -> float:
    """What it attains."""
    p = dense(scores, density)
    return float(p @ scores - p @ np.log(p * len(scores)))


def test_one_round_moves_the_potential_by_at_most_a_log_moment() -> None:
    """``Phi(s - l) <= Phi(s) + log E_p exp(-l)`` for any losses; attained where no weight is at the cap."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, density = int(rng.integers(3, 60)), rng.uniform(0.05, 0.95)
        scores, loss = rng.normal(size=n) * rng.uniform(0, 5), rng.normal(size=n) * rng.uniform(0, 4)
        moment = math.log(dense(scores, density) @ np.exp(-loss))
        assert potential(scores - loss, density) <= potential(scores, density) + moment + 1e-9
    scores, loss = rng.normal(size=50), rng.normal(size=50)
    moment = math.log(dense(scores, 1e-3) @ np.exp(-loss))
    assert potential(scores - loss, 1e-3) == pytest.approx(potential(scores, 1e-3) + moment)


@pytest.mark.parametrize(("shortest", "sigma"), [(0.1, 0.2), (0.3, 0.3), (0.05, 0.2)])
def test_a_round_gains_what_the_theorem_counts_on_the_worst_rows(shortest: float, sigma: float) -> None:
    """Rows as long as they may be, on both sides of the centre: within a hundredth of what is counted."""
    step = theory.averaged_step(shortest, sigma)
    share = (1 + shortest) / 2  # of rows +e, so that the centre is m e
    rows = np.array([1.0, -1.0])
    chances = np.array([share, 1 - share])
    moment = math.log(chances @ np.exp(-step * shortest * rows)) + step**2 * sigma**2 / 2
    counted = -step * shortest**2 + step**2 * (shortest**2 + sigma**2) / 2
    assert moment <= counted
    assert moment == pytest.approx(counted, rel=0.1)
    assert counted == pytest.approx(-(shortest**4) / (2 * (shortest**2 + sigma**2)))
    for other in (0.5 * step, 1.5 * step):  # no other step gains more
        assert -other * shortest**2 + other**2 * (shortest**2 + sigma**2) / 2 > counted


def moment_of_games(noise_counts: bool) -> float:
    """The mean of ``exp(Phi + gains counted)`` over 4,000 games of 12 rounds; at most 1 by the theorem."""
    rng, sigma, step, games = np.random.default_rng(1), 0.5, 0.6, 4000
    rows = np.array([[0.3, 0.95, 0.0], [0.3, -0.95, 0.0], [0.3, 0.0, 0.95], [0.3, 0.0, -0.95]])
    total = 0.0
    for _ in range(games):
        scores, gains = np.zeros(len(rows)), 0.0
        for _ in range(12):
            p = dense(-scores, 1e-3)
            centre = p @ rows
            scores += step * rows @ (centre + sigma * rng.normal(size=3))
            gains += step * (centre @ centre) * (1 - step / 2) - noise_counts * step**2 * sigma**2 / 2
        total += math.exp(potential(-scores, 1e-3) + gains)
    return total / games


def test_games_with_noise_stay_below_the_theorem_and_not_far() -> None:
    assert 0.5 < moment_of_games(True) <= 1.02
    assert moment_of_games(False) > 1.02  # without the noise's part the theorem is false


def test_rounds_and_rates_by_value() -> None:
    assert theory.shortest_centre(0.5, 0.125) == pytest.approx(0.5 * 0.875 - 0.125)
    for margin in (0.05, 0.4, 0.99):  # a quarter of the margin may be violations: half of it is left
        assert theory.shortest_centre(margin, margin / 4) >= margin / 2
        assert theory.shortest_centre(margin, margin / 2) < margin / 2
    assert theory.averaged_rounds(7.0, 0.25, 0.5) == math.ceil(2 * 0.3125 * 7 / 0.25**4)
    assert theory.averaged_rounds(7.0, 0.25, 0.5, 0.05) == math.ceil(2 * 0.3125 * 7 / (0.25 * 0.2) ** 2)
    # H^2 log(..) / (2 gamma^2) with gamma = tau / 4, s = sigma / (tau / 2)
    assert theory.averaged_rounds(7.0, 0.25, 0.5) == math.ceil((1 + 2**2) * 7 / (2 * 0.125**2))
    assert theory.averaged_step(0.25, 0.5) == pytest.approx(0.2)
    assert theory.averaged_step(0.25, 0.5, 0.05) == pytest.approx(0.25 * 0.2 / 0.3125)
    for slack in (-0.01, 0.25):
        with pytest.raises(ValueError, match="slack"):
            theory.averaged_rounds(7.0, 0.25, 0.5, slack)
    reach = 0.2 * (900 + 9 * 0.5 * 30)
    scores = reach / 65_536 + 900 * 2.0**-16 * reach / 16_384 + 2.0**-15
    units = 2 / 0.1 / 16_384
    slack = 2 * math.tanh(scores) + 2 * (units + (1 + units) * math.expm1(1 / 16_384))
    assert theory.rounding_slack(0.2, 900, 0.5, 0.1) == pytest.approx(slack)


def test_a_run_in_real_numbers_and_in_integers() -> None:
    exact = theory.averaged_run(0.1, 0.05, 0.4, exact=True)
    lam = math.log(10) + math.log(20)
    assert (exact.density, exact.sigma, exact.margin) == (0.1, 0.8, 0.0)
    assert exact.rounds == math.ceil(10 * lam / 0.16)
    assert exact.divisor == pytest.approx((exact.rounds + 7.2 * math.sqrt(exact.rounds)) / 16_384)
    assert exact.learning_rate == pytest.approx(2 * 0.2 * exact.divisor)
    run = theory.averaged_run(0.1, 0.05, 0.4)
    slack = theory.rounding_slack(run.learning_rate / (2 * run.divisor), run.rounds, 0.8, 0.1)
    assert theory.averaged_rounds(lam, 0.4, 0.8, slack) <= run.rounds <= 1.1 * exact.rounds
    wide = theory.averaged_run(0.1, 0.05, 0.4, 1.0, 0.5, exact=True)
    assert wide.margin == 0.2
    assert wide.rounds == math.ceil(4 * lam / 0.2**2)
    with pytest.raises(ValueError, match="too short for 65536 levels"):
        theory.averaged_run(0.1, 0.05, 0.05)
    for wrong in ((0.0, 0.05, 0.4), (0.1, 1.0, 0.4), (0.1, 0.05, 1.0)):
        with pytest.raises(ValueError, match="must lie in"):
            theory.averaged_run(*wrong)
    length = math.sqrt(30) + math.sqrt(2 * math.log(20))
    assert theory.noise_spread(exact, 0.4, 30, 0.05) == pytest.approx(2 * length / math.sqrt(exact.rounds))


@pytest.mark.parametrize("density", [0.1, 0.3])
def test_integer_weights_are_as_close_to_real_ones_as_is_counted(density: float) -> None:
    """Random rows under a random log of unclipped halfspaces, as in a run that reaches as far."""
    rng = np.random.default_rng(3)
    rounds, n, width = 60, 4000, 5
    run = replace(theory.averaged_run(density, 0.05, 0.5), rounds=rounds)
    rows = rng.normal(size=(n, width))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    log = HalfspaceLog(width)
    steps = rng.normal(size=(rounds, width)) * 0.4 / run.divisor
    for direction in steps:
        log.add_whole(direction)
    scaled = np.trunc(rows * log.radius).astype(np.int64)
    margins = np.zeros(n, np.int64)
    for step in log.steps:
        moved = (scaled @ step.vector.astype(np.int64) * step.multiplier) >> step.shift
        assert np.abs(moved).max() < step.limit  # nothing is clipped
        margins += moved
    exact = scaled / log.radius @ steps.sum(axis=0)
    np.testing.assert_allclose(margins / 2.0**16, exact, atol=2 * rounds * 2.0**-16)
    query = LazyBregman(density, run.learning_rate, n, fine=True).weighted_sum(log, rounds, theory.REACH)
    assert isinstance(query, CappedSum)
    assert (query.levels.count, query.bits, query.levels.shift) == (65_536, 14, 15)
    levels = np.clip((margins >> query.levels.shift) + query.levels.count // 2, 0, query.levels.count - 1)
    capped = query.weights(np.bincount(levels, minlength=query.levels.count))
    result = capped.per_row(levels) / (query.total << query.bits)
    assert result.sum() == pytest.approx(1.0)
    apart = float(np.abs(result - dense(-run.learning_rate / 2 * exact, density)).sum())
    most = theory.rounding_slack(run.learning_rate / (2 * run.divisor), rounds, 0.5, density)
    assert 0.01 * most < apart <= most


def test_long_halfspaces_are_added_in_parts() -> None:
    log, direction = HalfspaceLog(3), np.array([3000.0, -4.0, 0.001])
    log.add_whole(direction)
    assert len(log.steps) == 8
    row = np.array([20_000, -15_000, 9_000], np.int64)
    moved = sum((int(row @ s.vector.astype(np.int64)) * s.multiplier) >> s.shift for s in log.steps)
    assert moved / 2.0**16 == pytest.approx(float(row @ direction) / log.radius, abs=1e-3)
    zero = HalfspaceLog(3)
    zero.add_whole(np.zeros(3))
    assert sum(int(np.abs(s.vector).max()) for s in zero.steps) == 0
    with pytest.raises(ValueError, match="finite"):
        log.add_whole(np.array([math.inf, 0.0, 0.0]))
