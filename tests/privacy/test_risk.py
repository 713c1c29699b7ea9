"""What attackers achieve at most: against mechanisms of which it is known exactly."""

from __future__ import annotations

import math

import pytest
from scipy.stats import norm

from tacit.privacy import accountants
from tacit.privacy.charges import ZCDP, ApproxDP, BoundedRange, Gaussian, NonPrivate, Pure
from tacit.privacy.strength import attack_risks, group_epsilon, trade_off

MIXED = ([Gaussian(8.0), BoundedRange(0.3)], [ZCDP(0.05), Gaussian(9.0)], [Pure(0.1)] * 7, [ApproxDP(1.0, 1e-5)])


@pytest.mark.parametrize(("multipliers", "mu"), [([2.0], 0.5), ([10.0], 0.1), ([4.0, 4.0], math.sqrt(2) / 4)])
@pytest.mark.parametrize("persons", [1, 10])
def test_gaussian_charges_have_the_figures_of_a_shifted_normal(multipliers, mu, persons):
    (found,) = attack_risks([Gaussian(multiplier) for multiplier in multipliers], (persons,))
    shift = mu * persons
    assert found.advantage == pytest.approx(2 * norm.cdf(shift / 2) - 1, abs=1e-9)
    assert found.true_positives_at_1_percent == pytest.approx(norm.sf(norm.isf(0.01) - shift), rel=1e-9)
    assert found.true_positives_at_01_percent == pytest.approx(norm.sf(norm.isf(0.001) - shift), rel=1e-9)
    assert found.reconstruction == pytest.approx(norm.sf(norm.isf(0.1) - shift), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_a_pure_charge_has_the_figures_of_randomised_response(epsilon):
    (one,) = attack_risks([Pure(epsilon)], (1,))
    ratio = math.exp(epsilon)
    assert one.advantage == pytest.approx((ratio - 1) / (ratio + 1), abs=1e-6)
    assert one.true_positives_at_01_percent == pytest.approx(0.001 * ratio, rel=1e-6)
    assert one.reconstruction == pytest.approx(min(0.1 * ratio, 1 - 0.9 / ratio), rel=1e-6)


@pytest.mark.parametrize("charges", MIXED)
def test_other_charges_are_bounded_by_their_profile_and_not_below_it(charges):
    curve = trade_off(charges)(1)
    for false in (1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9):
        lines = [math.exp(e) * false + accountants.delta(charges, e) for e in (0.0, 0.1, 0.3, 1.0, 2.0)]
        assert false < curve(false) <= min(1.0, *lines) * 1.05  # a coarse grid loses little
    (one, ten) = attack_risks(charges)
    assert one.advantage <= accountants.delta(charges, 0.0) + 1e-9
    assert one.advantage < ten.advantage < 1


def test_a_mixed_bound_lies_between_its_gaussian_part_and_everything():
    (part,), (whole,) = attack_risks([Gaussian(4.0)], (1,)), attack_risks([Gaussian(4.0), Pure(1e-3)], (1,))
    assert part.advantage < whole.advantage < part.advantage + 1e-3
    assert (
        part.true_positives_at_1_percent < whole.true_positives_at_1_percent < 1.02 * part.true_positives_at_1_percent
    )


def test_without_noise_everything_is_found():
    assert {attack_risks([NonPrivate()])[0].advantage, attack_risks([NonPrivate()])[1].reconstruction} == {1.0}
    assert group_epsilon([NonPrivate()], 1e-6, 2) == math.inf


def test_nothing_released_leaves_the_rates_of_chance():
    for found in attack_risks([]):
        assert found.advantage == pytest.approx(0.0, abs=1e-9)
        assert found.reconstruction == pytest.approx(0.1)


@pytest.mark.parametrize("charges", [[Gaussian(4.0)], [Pure(0.5)], *MIXED])
def test_the_epsilon_of_a_group_grows_and_is_that_of_one_for_one(charges):
    one, two, five = (group_epsilon(charges, 1e-2, persons) for persons in (1, 2, 5))
    assert one == pytest.approx(accountants.epsilon(charges, 1e-2))
    assert two >= 2 * one * (1 - 1e-9)
    assert 2 * two <= five < math.inf


def test_the_epsilon_of_a_gaussian_group_is_that_of_a_shift_as_many_times_as_large():
    assert group_epsilon([Gaussian(4.0)], 1e-6, 5) == accountants.epsilon([Gaussian(0.8)], 1e-6)


@pytest.mark.parametrize("charges", [[Gaussian(4.0)], [Pure(0.5)]])
def test_an_empty_group_is_refused(charges):
    for call in (lambda: attack_risks(charges, (0,)), lambda: group_epsilon(charges, 1e-6, 0)):
        with pytest.raises(ValueError, match="at least 1"):
            call()
