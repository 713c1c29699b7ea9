"""Divergences, sums, shares and promises as numbers: by hand, by enumeration, or by another quadrature."""

from __future__ import annotations

import itertools
import math
from contextlib import nullcontext

import numpy as np
import pytest

from tacit.privacy import accountants
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Gaussian,
    Laplace,
    NonPrivate,
    PrivacyLoss,
    Pure,
    Renyi,
    Repeated,
)
from tacit.privacy.composition import parts_of
from tacit.privacy.gaussian import (
    gaussian_delta,
    gaussian_epsilon,
    range_of_gaussian,
    smallest_gaussian_multiplier,
    smallest_true,
)
from tacit.privacy.loss import (
    CONVOLUTION_ERROR,
    Composed,
    _pure_distribution,
    composed,
    pure_atoms,
    range_on_grid,
    split_atoms,
)
from tacit.privacy.promised_budget import EphemeralAccount, compact
from tacit.privacy.random_stopping import ORDERS, SLACK, WITNESSES, RandomStopping
from tacit.privacy.renyi import (
    ROUNDING,
    curve_divergence,
    divergence,
    loss_divergence,
    pure_divergence,
    range_divergence,
    renyi_delta,
    renyi_epsilon,
)
from tacit.privacy.request import Request, RequestError, check_noise_fits, is_number, two_bounds
from tacit.privacy.strength import best_guess, percent, strength

GRID = 1 + np.geomspace(1e-3, 1e5, 40_001)


def renyi_of(p: list[float], q: list[float], order: float) -> float:
    return math.log(sum(q[i] * (p[i] / q[i]) ** order for i in range(len(p)))) / (order - 1)


# divergences


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0, 40.0])
def test_pure_divergence_is_that_of_randomised_response(epsilon: float) -> None:
    p, q = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    for order in (1.01, 2.0, 7.0):
        exact = renyi_of([p, q], [q, p], order)
        assert float(pure_divergence(epsilon, np.array([order]))[0]) == pytest.approx(exact, rel=1e-9)
    large = float(pure_divergence(epsilon, np.array([1e6]))[0])
    assert large == pytest.approx(epsilon - math.log1p(math.exp(-epsilon)) / (1e6 - 1), rel=1e-6)


@pytest.mark.parametrize("span", [0.06, 0.9, 4.0])
def test_range_divergence_is_the_worst_of_two_points(span: float) -> None:
    """Losses t and t - span, with chances that make a pair of laws; the worst t by search, or the quadratic."""
    t = np.linspace(1e-6, span - 1e-6, 20_001)
    p = -np.expm1(t - span) / -np.expm1(-span) * 1.0  # of Q, the chance of the end at t, is p e^-t
    top = np.exp(t) * (1 - np.exp(t - span)) / (np.exp(t) - np.exp(t - span))
    assert p == pytest.approx(top)
    for order in (1.5, 3.0, 20.0):
        moments = top * np.exp((order - 1) * t) + (1 - top) * np.exp((order - 1) * (t - span))
        worst = float(np.log(moments).max()) / (order - 1)
        value = float(range_divergence(span, np.array([order]))[0])
        assert value == pytest.approx(min(worst, order * span**2 / 8, span), rel=1e-6)


def test_range_divergence_of_small_and_huge_ranges() -> None:
    assert range_divergence(0.04, np.array([3.0, 1e9])).tolist() == [3 * 0.04 * 0.04 / 8, 0.04]
    assert range_divergence(400.0, np.array([3.0])).tolist() == [400.0]


def test_a_curve_between_beyond_and_before_its_orders() -> None:
    """(a - 1) D is .2 at order 2 and 1.2 at order 4: chords between; before the first order its value bounds, too."""
    curve = Renyi((4.0, 2.0), (0.4, 0.2))
    result = curve_divergence(curve, np.array([1.5, 2.0, 3.0, 4.0, 4.1]))
    assert result[:4] == pytest.approx([0.2, 0.2, 0.35, 0.4])
    assert result[4] == math.inf
    bent = Renyi((2.0, 4.0), (0.2, 0.21))
    assert float(curve_divergence(bent, np.array([3.0]))[0]) == pytest.approx(min((0.2 + 0.63) / 2 / 2, 0.21))


def test_the_divergence_of_a_loss() -> None:
    loss = PrivacyLoss((0.5, -0.4), (0.6, 0.4))
    for order in (1.5, 6.0):
        moment = 0.6 * math.exp((order - 1) * 0.5) + 0.4 * math.exp((order - 1) * -0.4)
        assert float(loss_divergence(loss, np.array([order]))[0]) == pytest.approx(math.log(moment) / (order - 1))
    never = PrivacyLoss((0.5, -0.4), (0.5, 0.4), 0.1)
    assert loss_divergence(never, np.array([2.0])).tolist() == [math.inf]


def test_divergences_add_up() -> None:
    curve, loss = Renyi((2.0, 4.0), (0.2, 0.4)), PrivacyLoss((0.5, -0.4), (0.6, 0.4))
    orders = np.array([2.0, 3.5])
    parts = parts_of([Gaussian(2.0), ZCDP(0.3), Repeated(curve, 2), loss, loss, loss, Pure(0.7), BoundedRange(0.4)])
    released = orders * (0.25 / 2 + 0.3) + 2 * curve_divergence(curve, orders) + 3 * loss_divergence(loss, orders)
    bounded = pure_divergence(0.7, orders) + range_divergence(0.4, orders)
    assert divergence(parts, orders) == pytest.approx(released + bounded)
    assert divergence(parts, orders, bounded=False) == pytest.approx(released)


def test_conversions_of_renyi_divergences() -> None:
    """Proposition 12 of Canonne, Kamath, Steinke on a grid of its own, and Bretagnolle and Huber below it."""
    parts = parts_of([ZCDP(0.02)])
    for delta in (1e-3, 1e-8):
        every = GRID * 0.02 + np.log1p(-1 / GRID) - (math.log(delta) + np.log(GRID)) / (GRID - 1)
        assert renyi_epsilon(parts, delta) == pytest.approx(float(every.min()), rel=1e-5)
    for epsilon in (0.1, 1.0):
        every = (GRID - 1) * (GRID * 0.02 - epsilon + np.log1p(-1 / GRID)) - np.log(GRID)
        assert renyi_delta(parts, epsilon) == pytest.approx(math.exp(float(every.min())), rel=1e-4)
    tiny = parts_of([ZCDP(1e-12)])
    assert renyi_epsilon(tiny, 1.1e-6) == 0.0
    assert 0.0 < renyi_delta(tiny, 0.0) < 1.01e-6
    assert ROUNDING == 1 + 1e-12


# gaussian


def test_ends_of_the_gaussian_trade_off() -> None:
    assert (gaussian_delta(0.0, 0.3), gaussian_delta(math.inf, 0.3), gaussian_delta(1e200, 1.0)) == (0.0, 1.0, 1.0)
    assert (gaussian_delta(1.0, math.inf), gaussian_epsilon(0.0, 0.0), gaussian_epsilon(1e-9, 1e-6)) == (0.0, 0.0, 0.0)
    assert (gaussian_epsilon(0.0, 0.1), gaussian_epsilon(1.0, 0.0), gaussian_epsilon(math.inf, 0.1)) == (
        0.0, math.inf, math.inf
    )  # fmt: skip
    bound = 0.5 + math.sqrt(2 * 300 * math.log(10))
    assert gaussian_epsilon(1.0, 1e-300) == pytest.approx(bound)
    assert gaussian_epsilon(0.1, 0.5) == 0.0
    for least in (0.3, 1 / 3, 0.9):
        result = smallest_true(lambda x, least=least: x >= least, 0.0, 1.0)
        assert least <= result <= least * (1 + 1e-14)


# losses on a grid


def test_atoms_keep_their_mass_and_the_mean_of_exp() -> None:
    losses, masses = np.array([0.37, -0.21, 0.5]), np.array([0.5, 0.3, 0.2])
    first, placed = split_atoms(losses, masses, 0.1)
    points = 0.1 * (first + np.arange(len(placed)))
    assert first == -3
    assert placed.sum() == pytest.approx(1.0)
    assert placed @ np.exp(-points) == pytest.approx(masses @ np.exp(-losses))
    assert np.flatnonzero(placed > 1e-9).tolist() == [0, 1, 6, 7, 8]


def test_a_range_on_the_grid_has_its_hockey_stick() -> None:
    """``(e^(span/2) - e^(eps/2))^2 / (e^span - 1)``, from above, to second order in the step."""
    for span in (0.73, 2.0):
        first, masses = range_on_grid(span, 0.01)
        points = 0.01 * (first + np.arange(len(masses)))
        assert masses.sum() == pytest.approx(1.0)
        for epsilon in (-0.5, 0.0, 0.31, 0.7):
            exact = (math.exp(span / 2) - math.exp(epsilon / 2)) ** 2 / (math.exp(span) - 1)
            value = float((masses * np.maximum(0, -np.expm1(epsilon - points))).sum())
            assert exact * (1 - 1e-9) <= value <= exact + 2e-4


def test_randomised_responses_by_enumeration() -> None:
    losses, masses, above = pure_atoms(0.6, 3)
    p = 1 / (1 + math.exp(-0.6))
    assert losses == pytest.approx([-1.8, -0.6, 0.6, 1.8])
    assert masses == pytest.approx([(1 - p) ** 3, 3 * p * (1 - p) ** 2, 3 * p**2 * (1 - p), p**3])
    assert above == 0.0
    many, kept, lost = pure_atoms(0.1, 5000)
    assert kept.sum() + lost == pytest.approx(1.0)
    assert 0 < lost < 1e-15
    for fails in (0.0, 0.25):  # beyond all losses, what is left is the chance of an infinite one
        made = _pure_distribution(0.1, 5000, fails, 0.05)
        assert made.get_delta_for_epsilon(600.0) == pytest.approx(fails + (1 - fails) * lost, abs=1e-17)
    assert len(many) < 1500


def test_composed_losses_by_enumeration() -> None:
    """Two randomised responses, one that fails, and an explicit loss, all outcomes."""
    loss = PrivacyLoss((0.3, -0.2), (0.45, 0.5), 0.05)
    charges = [Pure(0.4), Pure(0.7), ApproxDP(0.5, 0.01), loss]

    def atoms(epsilon: float) -> list[tuple[float, float]]:
        p = 1 / (1 + math.exp(-epsilon))
        return [(epsilon, p), (-epsilon, 1 - p)]

    lists = [atoms(0.4), atoms(0.7), [*((x, 0.99 * p) for x, p in atoms(0.5)), (math.inf, 0.01)]]
    lists.append([(0.3, 0.45), (-0.2, 0.5), (math.inf, 0.05)])
    for epsilon in (0.0, 0.8):
        exact = 0.0
        for outcome in itertools.product(*lists):
            total, mass = sum(x for x, _ in outcome), math.prod(p for _, p in outcome)
            exact += mass * (1.0 if total == math.inf else max(0.0, 1 - math.exp(epsilon - total)))
        made = composed(parts_of(charges))
        assert made is not None
        assert exact <= made.delta(epsilon) <= exact * (1 + 1e-4)
        assert made.error == pytest.approx(5 * CONVOLUTION_ERROR)
        assert made.epsilon(exact * 1.001) == pytest.approx(epsilon, abs=2e-3)
    assert Composed(None, 1e-9).epsilon(1e-9) == math.inf


# accountants


def test_plain_sums() -> None:
    """Pure and approximate parts add up; what is left of delta, or epsilon, pays for the rest."""
    charges = [Pure(0.3), Laplace(5.0), BoundedRange(0.1), ApproxDP(0.4, 1e-6), ApproxDP(0.4, 1e-6), Gaussian(2.0)]
    parts = parts_of(charges)
    result = accountants._summed_epsilon(parts, 1e-5)
    assert result == pytest.approx(0.3 + 0.2 + 0.1 + 0.8 + gaussian_epsilon(0.5, 8e-6))
    assert accountants._summed_epsilon(parts, 1.9e-6) == math.inf
    assert accountants._summed_delta(parts, 3.0) == pytest.approx(2e-6 + gaussian_delta(0.5, 1.6))
    assert accountants._summed_delta(parts, 1.3) == 1.0
    mixed = parts_of([Pure(0.3), ApproxDP(0.4, 1e-6), ZCDP(0.02)])
    rest = parts_of([ZCDP(0.02)])
    assert accountants._summed_epsilon(mixed, 1e-5) == pytest.approx(0.7 + renyi_epsilon(rest, 9e-6))
    assert accountants._summed_epsilon(mixed, 1e-6) == math.inf
    assert accountants._summed_delta(mixed, 1.7) == pytest.approx(1e-6 + renyi_delta(rest, 1.0))
    assert accountants._renyi_epsilon(mixed, 1e-5) == pytest.approx(
        0.4 + renyi_epsilon(parts_of([Pure(0.3), ZCDP(0.02)]), 9e-6)
    )
    assert accountants._renyi_delta(mixed, 1.4) == pytest.approx(
        1e-6 + renyi_delta(parts_of([Pure(0.3), ZCDP(0.02)]), 1.0)
    )


def test_moments_and_losses_share_a_delta() -> None:
    """The best of four shares for what has moments only; of delta also what splits of delta prove."""
    parts, rest, moments = (parts_of(c) for c in ([Pure(0.5), ZCDP(0.02)], [Pure(0.5)], [ZCDP(0.02)]))
    whole = composed(rest)
    assert whole is not None
    expected = [renyi_epsilon(moments, s * 1e-4) + whole.epsilon((1 - s) * 1e-4) for s in (0.02, 0.1, 0.5, 0.9)]
    assert accountants._loss_epsilon(parts, 1e-4) == pytest.approx(min(expected))
    of_delta = [renyi_delta(moments, s * 1.2) + whole.delta((1 - s) * 1.2) for s in (0.02, 0.1, 0.5, 0.9)]
    result = accountants._loss_delta(parts, 1.2)
    assert result < min(of_delta)
    assert accountants._loss_epsilon(parts, result) <= 1.2 < accountants._loss_epsilon(parts, 0.9997 * result)


def test_without_delta() -> None:
    loss = PrivacyLoss((0.3, -0.2), (0.5, 0.5))
    assert accountants.epsilon([Pure(0.3), Laplace(4.0), BoundedRange(0.2), loss, loss], 0.0) == pytest.approx(1.35)
    below = PrivacyLoss((0.0, 0.0), (0.5, 0.5))
    assert accountants.epsilon([below], 0.0) == 0.0
    for charge in (Gaussian(1.0), ZCDP(0.1), ApproxDP(0.1, 1e-9), Renyi((2.0,), (0.1,)), NonPrivate()):
        assert accountants.epsilon([Pure(0.3), charge], 0.0) == math.inf
    assert accountants.epsilon([Renyi((2.0,), (0.0,))], 0.0) == 0.0
    assert accountants.delta([Pure(0.3), Pure(0.3)], 0.6) == 0.0
    assert accountants.delta([NonPrivate()], 5.0) == 1.0


def test_runs_of_equal_charges() -> None:
    a, b = Gaussian(1.0), Pure(0.1)
    assert compact([a, a, b, a, b, b, b]) == (Repeated(a, 2), b, a, Repeated(b, 3))
    assert parts_of([Repeated(a, 3), b, Repeated(b, 2)]) == parts_of([a, b, a, b, a, b])
    assert parts_of([Repeated(a, 3)]).precision == 3.0


# allowances and requests


def test_shares_of_an_allowance() -> None:
    gaussian, pure, free = Allowance(1.0, 1e-6, 0.5), Allowance(2.0, 0.0, 0.0), Allowance(math.inf, 0.0, math.inf)
    assert gaussian.whole == Gaussian(2.0)
    assert gaussian.charge(0.25) == Gaussian(4.0)
    assert gaussian.sd(0.25) == pytest.approx(4.0)
    assert Allowance(1.0, 1e-6, 0.5, 2.0).sd(0.25, 3.0) == pytest.approx(24.0)
    assert gaussian.part(0.25).mu == pytest.approx(0.25)
    assert gaussian.selection(0.25) == BoundedRange(range_of_gaussian(0.25))
    assert (pure.whole, pure.charge(0.25), pure.selection(0.25)) == (Pure(2.0), Laplace(2.0), BoundedRange(0.5))
    assert pure.sd(0.25) == pytest.approx(math.sqrt(2) * 2)
    assert Allowance(2.0, 0.0, 0.0, 2.0).sd(0.25, 3.0) == pytest.approx(math.sqrt(2) * 12)
    assert pure.part(0.25).epsilon == 0.5
    assert (free.whole, free.charge(0.5), free.selection(0.5), free.sd(0.5)) == (
        NonPrivate(), NonPrivate(), NonPrivate(), 0.0
    )  # fmt: skip
    assert free.part(0.5) is free
    assert Allowance.of(1.0, 1e-6).mu == pytest.approx(1 / smallest_gaussian_multiplier(1.0, 1e-6))


@pytest.mark.parametrize("epsilon", [5e-324, 1e-320, 1e-300, 0.9e-9, 1e-9, 1e9, 1.1e9, 1e150, 1.7e308, math.inf])
@pytest.mark.parametrize("delta", [0.0, 5e-324, 1e-301, 1e-300, 1e-6, 1 - 1e-16])
def test_budgets_that_cannot_be_computed_with_are_refused_in_our_words(epsilon: float, delta: float) -> None:
    """Of the largest floats noise was divided by zero, and of the smallest it was never found."""
    usual = (1e-9 <= epsilon <= 1e9 or math.isinf(epsilon)) and not 0 < delta < 1e-300
    words = (
        nullcontext() if usual else pytest.raises(ValueError, match=r"(epsilon must lie between|delta must be 0, or)")
    )
    with words:
        assert Request.of(epsilon, delta, "add_or_remove_one", None).allowance.epsilon == epsilon
    with words:
        assert EphemeralAccount(epsilon, delta, "add_or_remove_one").affordable() >= 0
    if not math.isinf(epsilon):
        near = 1e-100 <= epsilon <= 1e100
        with nullcontext() if near else pytest.raises(ValueError, match="epsilon must lie between 1e-100 and"):
            assert Allowance.of(epsilon, delta).charge(0.1)
        with nullcontext() if near else pytest.raises(ValueError, match="epsilon must lie between 1e-100 and"):
            assert smallest_gaussian_multiplier(epsilon, delta or 0.5) > 0


def test_budgets_whose_noise_does_not_fit() -> None:
    check_noise_fits(Allowance.of(math.inf, 0.0), 0.1, "x")
    assert [is_number(value) for value in (1, 0.5, np.float64(1), True, "1", None)] == [True] * 3 + [False] * 3
    assert two_bounds([1, 2.5], "x") == (1.0, 2.5)
    for wrong in ([1], [2, 1], [1, 1], [1, math.inf], "12", [True, 2], 3):
        with pytest.raises(RequestError, match="two finite numbers"):
            two_bounds(wrong, "x")


# what a promise is worth


def test_best_guesses() -> None:
    """A coin flip at epsilon ln 3: three to one; and at a prior of .9 it may say nothing."""
    assert best_guess(0.5, math.log(3), 0.0) == pytest.approx(0.75)
    assert best_guess(0.5, math.log(3), 0.2) == pytest.approx(1 - 0.8 / 4)
    assert best_guess(0.9, math.log(3), 0.0) == pytest.approx(0.9)
    assert best_guess(0.1, math.log(3), 0.2) == pytest.approx(1 - 0.1 * 0.8)
    assert best_guess(0.5, math.inf, 0.0) == 1.0
    assert best_guess(0.5, 0.0, 0.0) == 0.5


def test_words_for_promises() -> None:
    for guess, word in ((0.6, "strong"), (0.601, "moderate"), (0.75, "moderate"), (0.751, "weak"), (1.0, "none")):
        assert strength(50.0, 0.0, 2 * guess - 1).word == word
        assert strength(50.0, 0.0, 2 * guess - 1).guess == pytest.approx(guess)
    assert strength(math.log(1.5), 0.0).word == "strong"
    assert strength(math.inf, 0.0).warnings == ("epsilon is infinite: nothing is protected",)
    for epsilon, delta, count in ((10.0, 1e-5, 0), (10.1, 1e-5, 1), (10.0, 1.1e-5, 1)):
        assert len(strength(epsilon, delta).warnings) == count
    assert strength(1.0, 1e-3, rows=1000.0).warnings[0].startswith("delta 0.001 is above 1e-05")
    assert "1 in 1,000" in strength(1.0, 1.1e-3, rows=1000.0).warnings[0]
    assert strength(1.0, 0.5, rows=0.5).warnings[0].startswith("delta 0.5 is above 1e-05")
    shares = (0.5, 0.99949, 0.99951, 0.99998, 0.9999996, 1.0)
    words = ["50.0 %", "99.9 %", "99.95 %", "99.998 %", "99.999960 %", "100.0 %"]
    assert [percent(share) for share in shares] == words
    assert percent(1 - 1e-12) == "over 99.9999 %"


# random stopping


def test_what_random_stopping_costs() -> None:
    rule = RandomStopping(5.0, 0.5)
    assert rule.charge([[Pure(0.3)], [Pure(0.2), Pure(0.2)]], 0.0) == Pure(2.5 * 0.4 * (1 + 1e-12) + 2 * SLACK)
    assert rule.charge([[NonPrivate()], [Pure(1.0)]], 1e-6) == NonPrivate()
    result = rule.charge([[Gaussian(4.0)], [Gaussian(5.0)]], 1e-6)
    assert isinstance(result, Renyi)
    second = min((1 - 1 / b) * b / 32 + math.log(1 / rule.gamma) / b for b in WITNESSES)
    total = [a / 32 + 1.5 * second + (math.log(5) + (2 * a - 1) * SLACK) / (a - 1) for a in ORDERS]
    falling = [min(total[i:]) for i in range(len(total))]
    assert list(result.orders) == ORDERS.tolist()
    assert result.divergences == pytest.approx(falling)
