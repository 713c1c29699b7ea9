"""The constant term where noise leaves the class shares in doubt."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from tacit.additive.intercept import _GRID, PosteriorIntercept, curvature, expected_push
from tacit.additive.planner import Planner
from tacit.additive.term import Directions
from tacit.additive.tuning import EFFECTS, PLANNING
from tacit.binning.measure import release_total
from tacit.binning.tuning import MEASURING
from tacit.boosting.mada_boost import mada_boost
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.curator.measurement import Measurement
from tacit.engines.blocks import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Gaussian
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring


@pytest.mark.parametrize("at", [-2.0, 0.3, 4.0])
@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_the_expected_push_is_that_of_rows(at: float, spread: float) -> None:
    generator = np.random.default_rng(0)
    truth = _GRID[100]
    others = spread * generator.normal(size=400_000)
    positive = generator.random(len(others)) < expit(truth + others)
    score = at + others
    push = np.where(positive, mada_boost(score), -mada_boost(-score)).mean()
    assert expected_push(at, spread)[100] == pytest.approx(push, abs=0.005)


def test_the_push_vanishes_at_the_truth() -> None:
    for place in (20, 140, 230):
        assert expected_push(float(_GRID[place]), 1.0)[place] == pytest.approx(0.0, abs=1e-12)


def released(value: float, sd: float) -> Measurement:
    """A release of the intercept, as the curator would let it out."""
    return Measurement("intercept", np.array([[value]]), sd, Gaussian(1.0), "test")


def observe(intercept: PosteriorIntercept, value: float, sd: float, spread: float = 0.0) -> None:
    """Lets the intercept see a release where its loss is curved as at its value."""
    at = float(intercept.value[0])
    intercept.observe(released(value, sd), Directions.alone(curvature(at, spread), EFFECTS.typical_scatter), spread)


def rounds(rate: float, noise: float, generator: np.random.Generator, total: float = 2000.0) -> float:
    """The probability after 24 releases of a table without columns."""
    intercept = PosteriorIntercept(total)
    for _ in range(24):
        score = intercept.value
        push = (rate * mada_boost(score) - (1 - rate) * mada_boost(-score)).item()
        observe(intercept, total * push + noise * generator.normal(), noise)
    return float(expit(intercept.value[0]))


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5])
def test_much_noise_costs_little_log_loss(rate: float) -> None:
    """Noise of a tenth of the rows once all releases are averaged: rates are known to within .1, not better."""
    generator = np.random.default_rng(1)
    result = np.array([rounds(rate, 2000 * 0.1 * math.sqrt(24), generator) for _ in range(60)])
    excess = rate * np.log(rate / result) + (1 - rate) * np.log((1 - rate) / (1 - result))
    assert excess.mean() < 0.06
    assert excess.max() < 0.25


def test_little_noise_finds_the_rate() -> None:
    generator = np.random.default_rng(2)
    for rate in (0.02, 0.3, 0.9):
        assert rounds(rate, 4.0, generator) == pytest.approx(rate, abs=0.01)


def test_absurd_releases_leave_a_value_that_can_be_used() -> None:
    intercept = PosteriorIntercept(30.0)
    for signed_sum, sd in ((1e9, 1.0), (-1e9, 1e9), (0.0, 0.0), (1e300, 1e-3)):
        observe(intercept, signed_sum, sd, 2.0)
        assert math.isfinite(intercept.value[0])
        assert curvature(float(intercept.value[0]), 2.0) > 0


def test_its_share_grows_only_where_the_rates_are_in_doubt() -> None:
    assert Planner().intercept_share(1000.0, 14) == 1.0
    shares = [Planner().intercept_share(signal, 14) for signal in (40.0, 10.0, 3.0, 0.1)]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(14 * PLANNING.largest_intercept_part / (1 - PLANNING.largest_intercept_part))


@pytest.mark.parametrize(("rows", "releases"), [(200, 2), (50_000, 1)])
def test_rows_in_doubt_are_counted_once_more(rows: int, releases: int) -> None:
    allowance = Allowance.of(0.5, 1e-6)
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    table = MemoryTable([np.zeros(rows, np.uint8)], np.zeros(rows, np.uint8), [2], 2)
    gate = Curator(table, reservation, SeededSource(3))
    total, spent = release_total(Budget(gate, allowance).part(0.005))
    assert len(reservation.entries) == releases
    charged = math.fsum(1 / entry.charge.noise_multiplier**2 for entry in reservation.entries)  # type: ignore[attr-defined]
    assert charged == pytest.approx(spent * allowance.mu**2, rel=1e-6)
    assert abs(total - rows) < 6 * allowance.sd(spent)
    assert (rows > MEASURING.sure_of_rows * allowance.sd(0.005)) == (releases == 1)
