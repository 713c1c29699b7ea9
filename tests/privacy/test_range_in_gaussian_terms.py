"""A bounded range in Gaussian terms: it covers every pair of laws, and a little less would not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm

from tacit.privacy.budget import Allowance
from tacit.privacy.charges import BoundedRange, Gaussian
from tacit.privacy.coverage import Coverage
from tacit.privacy.gaussian import gaussian_delta, gaussian_of_range, range_of_gaussian
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring

SPANS = [1e-4, 0.03, 0.5, 2.0, 3.9999, 4.0001, 9.0, 25.0]


def corners(span: float) -> tuple[np.ndarray, np.ndarray]:
    """Errors of the first and second kind at the corner of the worst pair whose loss lies in ``[t - span, t]``."""
    t = np.linspace(1e-3, 1 - 1e-3, 4001) * span
    first = -np.expm1(-t) * np.exp(t - span) / -np.expm1(-span)
    return first, np.exp(-t) * (1 - first)


@pytest.mark.parametrize("span", SPANS)
def test_no_pair_of_laws_is_told_apart_better(span):
    first, second = corners(span)
    needed = float((norm.isf(first) - norm.ppf(second)).max())
    assert needed <= gaussian_of_range(span) * (1 + 1e-9)
    assert needed > 0.999 * gaussian_of_range(span)  # nor is the price too high


@pytest.mark.parametrize("span", SPANS)
def test_conversions_are_inverse(span):
    mu = gaussian_of_range(span)
    assert range_of_gaussian(mu) == pytest.approx(span, rel=1e-11)
    assert gaussian_of_range(range_of_gaussian(mu)) <= mu * (1 + 2e-12)


@pytest.mark.parametrize("span", [0.5, 3.0, 9.0])
def test_both_conversions_are_rounded_to_the_safe_side(span):
    exact = 2 * float(norm.isf(1 / (1 + math.exp(span / 2))))
    assert exact < gaussian_of_range(span) < exact * (1 + 1e-11)
    assert span * (1 - 1e-11) < range_of_gaussian(exact) < span


def test_small_and_large_ranges_meet_and_extremes_stay_finite():
    below, above = gaussian_of_range(4 * (1 - 1e-13)), gaussian_of_range(4 * (1 + 1e-13))
    assert above == pytest.approx(below, rel=1e-12)
    assert gaussian_of_range(1e-9) == pytest.approx(math.sqrt(2 * math.pi) / 4 * 1e-9, rel=1e-9)
    assert gaussian_of_range(0.0) == range_of_gaussian(0.0) == 0.0
    assert math.isfinite(range_of_gaussian(1e9))
    assert range_of_gaussian(1e9) > 1000


@pytest.mark.parametrize("epsilon", [0.1, 0.4, 1.0])
def test_many_randomised_responses_cost_no_more_than_the_pool_says(epsilon):
    """``k`` binary choices of range ``span``, composed exactly, against the one Gaussian they are charged as."""
    k, span = 40, 0.08
    hits = np.arange(k + 1)
    likely = 1 / (1 + math.exp(-span / 2))
    loss = (2 * hits - k) * span / 2
    delta = float((binom.pmf(hits, k, likely) * np.maximum(-np.expm1(epsilon - loss), 0.0)).sum())
    pool = gaussian_delta(gaussian_of_range(span) * math.sqrt(k), epsilon)
    assert delta <= pool
    if epsilon < 0.5:
        assert delta > gaussian_delta(0.7 * gaussian_of_range(span) * math.sqrt(k), epsilon)


def test_a_gaussian_pool_pays_for_choices_and_no_more_of_them():
    pool = Coverage([Gaussian(0.5)])
    span = range_of_gaussian(2.0 * math.sqrt(0.1))
    assert [pool.take(BoundedRange(span)) for _ in range(5)] == [True] * 5
    assert pool.take(Gaussian(0.5 / math.sqrt(0.5)))
    assert not pool.take(BoundedRange(span))
    assert not Coverage([Gaussian(0.5)]).take(BoundedRange(range_of_gaussian(2.0) * 1.001))


def test_a_planned_range_is_used_before_the_pool():
    both = Coverage([Gaussian(1.0), BoundedRange(0.2)])
    assert both.take(BoundedRange(0.2))
    assert both.take(Gaussian(1.0))
    assert not both.take(BoundedRange(1e-3))


def test_shares_of_a_allowance_are_what_its_reservation_covers():
    allowance = Allowance.of(1.0, 1e-6)
    with Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test") as reservation:
        for number in range(50):
            reservation.record(allowance.selection(0.01), f"choice {number}", "test")
            reservation.record(allowance.charge(0.01), f"sum {number}", "test")
        with pytest.raises(BudgetExceeded):
            reservation.record(allowance.selection(0.01), "one more", "test")


def test_reach_makes_noise_larger_and_nothing_costlier():
    for allowance in (Allowance.of(1.0, 1e-6), Allowance.of(1.0, 0.0), Allowance.of(math.inf, 1e-6)):
        wide = replace(allowance, reach=3.0)
        assert wide.sd(0.2) == pytest.approx(3.0 * allowance.sd(0.2))
        assert wide.part(0.5).sd(0.2) == pytest.approx(3.0 * allowance.part(0.5).sd(0.2))
        assert wide.charge(0.2) == allowance.charge(0.2)
        assert wide.selection(0.2) == allowance.selection(0.2)
        assert wide.whole == allowance.whole
