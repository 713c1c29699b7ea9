"""What covers cost, as numbers: each analysis written once more, and solved again where it is a solution."""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext

import numpy as np
import pytest

from tacit.privacy import accountants
from tacit.privacy.charges import ZCDP, ApproxDP, NonPrivate, PrivacyLoss, Pure, Renyi
from tacit.privacy.unit import Neighbouring
from tacit.queries.covers.candidates import Conjunctions, FirstMatch, StreamedConjunctions, TooManyCandidates
from tacit.queries.covers.charges import (
    ORDERS,
    Accounting,
    cover_charge,
    curve_charge,
    exact_charge,
    moments_charge,
    paper_charge,
    ranges_charge,
    theorem,
)
from tacit.queries.covers.cover import Cover, CoverStep, ScoredStep
from tacit.theory import em_cover as theory
from tacit.theory.em_cover import PENALTY, Shifts

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE
STEPS = [CoverStep(0.02, 0, 5), CoverStep(0.01, 0, 10), CoverStep(0.02, 0, 5)]
"""One-sided, each of score scale .1."""

BOTH = [CoverStep(0.02, 3, 5), CoverStep(0.01, 7, 2)]


def test_orders() -> None:
    assert len(ORDERS) == 64
    assert (ORDERS[0], ORDERS[-1]) == (1.05, 5001.0)
    assert (np.diff(np.log(np.array(ORDERS) - 1)) == pytest.approx(math.log(1e5) / 63, rel=1e-3))  # fmt: skip


def test_moments() -> None:
    for replace in (False, True):
        charge = moments_charge(tuple(BOTH), replace)
        powers = np.array(charge.orders) - 1
        moments = theory.log_moment(powers, [0.02, 0.01], [Shifts(-5, 3), Shifts(-2, 7)], replace)
        assert charge.orders == ORDERS
        assert np.array(charge.divergences) == pytest.approx(moments / powers)
        assert cover_charge(BOTH, REPLACE if replace else ADD) == charge


def test_the_closed_curve() -> None:
    room = 1 / math.expm1(0.1)
    for replace, moment in ((False, theory.closed_log_moment), (True, theory.closed_log_moment_replace)):
        charge = curve_charge(STEPS, replace)
        inside = [order for order in ORDERS if order - 1 < room]
        extra = [1 + room * share for share in (0.5, 0.8, 0.9, 0.97)]
        assert list(charge.orders) == pytest.approx(sorted(inside + extra))
        for order, epsilon in zip(charge.orders, charge.divergences, strict=True):
            assert epsilon == pytest.approx(moment(order - 1, 0.1) / (order - 1))
    assert curve_charge(BOTH).divergences[0] == pytest.approx(theory.closed_log_moment(0.05, 0.1) / 0.05)
    with pytest.raises(ValueError, match="one-sided"):
        curve_charge(BOTH, True)


def hockey_stick(pair: PrivacyLoss, epsilon: float) -> float:
    losses, masses = np.array(pair.losses), np.array(pair.probabilities)
    return pair.infinity_mass + float((masses * np.maximum(0.0, -np.expm1(epsilon - losses))).sum())


@pytest.mark.parametrize("scale", [0.1, 0.7])
def test_the_pair_of_the_exact_charge_has_the_closed_hockey_stick(scale: float) -> None:
    """Chords above the curve, nowhere by more than 2 parts in a thousand of it; below 0 its dual."""
    charge = exact_charge([CoverStep(scale / 5, 0, 5)] * 3)
    assert math.fsum(charge.probabilities) + charge.infinity_mass == pytest.approx(1.0, abs=1e-12)
    assert charge.infinity_mass < 1e-16
    for means in (0.0, 0.31, 1.0, 3.7, 12.0, 30.0):
        epsilon = means * math.expm1(scale)
        claimed = theory.adding_delta(scale, epsilon)
        assert claimed * (1 - 1e-6) < hockey_stick(charge, epsilon) < 1.002 * claimed
        dual = 1 - math.exp(-epsilon) * (1 - claimed)
        assert hockey_stick(charge, -epsilon) == pytest.approx(dual, rel=2e-3)


def test_what_the_exact_charge_does_not_cover() -> None:
    for steps, replace, why in (
        (STEPS, True, "holds for one-sided scores"),
        (BOTH, False, "holds for one-sided scores"),
        ([*STEPS, CoverStep(0.01, 0, 5)], False, "proven for steps of one scale"),
    ):
        with pytest.raises(ValueError, match=why):
            exact_charge(steps, replace)
    exact_charge([CoverStep(0.02, 5, 0)])


def test_the_bound_of_the_paper_and_twice() -> None:
    once = paper_charge(STEPS, False, 1e-6)
    assert once == ApproxDP(0.2 * (math.log(1e6) + 1.5), 1e-6)
    twice = paper_charge(STEPS, True, 1e-6)
    used = math.exp(1.5 - twice.epsilon / 0.4)  # delta of one use
    assert twice.epsilon == pytest.approx(0.4 * (math.log(1 / used) + 1.5))
    assert used * (1 + math.exp(twice.epsilon / 2)) == pytest.approx(1e-6)
    assert twice.delta == 1e-6
    with pytest.raises(ValueError, match=r"delta must lie in \(0, 1\), got 0\.0"):
        paper_charge(STEPS, True, 0.0)
    for scale in (0.5, 1.0):
        with pytest.raises(ValueError, match="reaches no delta"):
            paper_charge([CoverStep(scale, 0, 1)], True, 1e-6)


@pytest.mark.parametrize("scale", [0.01, 0.1, 0.3, 0.4999, 0.5, 1.2])
@pytest.mark.parametrize("delta", [0.3, 1e-6, 1e-300, 5e-324])
def test_the_bound_of_the_paper_at_any_delta(scale: float, delta: float) -> None:
    """By decimals of 60 places, as neither ``exp(epsilon)`` nor the delta of one use need be a double."""
    steps = [CoverStep(scale, 0, 1)]
    assert math.isfinite(paper_charge(steps, False, delta).epsilon)
    if scale >= 0.5:
        with pytest.raises(ValueError, match="reaches no delta"):
            paper_charge(steps, True, delta)
        return
    twice = paper_charge(steps, True, delta).epsilon
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, MAX_EMAX, MIN_EMIN
        exactly = Decimal(scale)

        def used_twice(epsilon: float) -> Decimal:
            each = Decimal(epsilon) / 2
            return (Decimal("1.5") - each / (2 * exactly)).exp() * (1 + each.exp())

        assert used_twice(twice * (1 - 1e-12)) > Decimal(delta)
        assert used_twice(twice * (1 + 1e-12)) < Decimal(delta)


def test_ranges() -> None:
    """Ranges of .16 and .09, of .1 three times."""
    assert ranges_charge(BOTH, False) == ZCDP((0.16**2 + 0.09**2) / 8)
    assert ranges_charge(STEPS, True).rho == pytest.approx(3 * 0.2**2 / 8)
    assert ranges_charge(STEPS, True, 3).rho == pytest.approx(3 * 0.6**2 / 8)
    assert cover_charge(STEPS, ADD, Accounting.RANGES, rows_per_unit=3).rho == pytest.approx(3 * 0.3**2 / 8)  # type: ignore[union-attr]


def test_which_analysis_is_charged() -> None:
    expected = {
        Accounting.MOMENTS: moments_charge(tuple(STEPS)),
        Accounting.CURVE: curve_charge(STEPS),
        Accounting.EXACT: exact_charge(STEPS),
        Accounting.PAPER: paper_charge(STEPS, False, 1e-6),
        Accounting.PURE: Pure(theory.pure_epsilon([0.02, 0.01, 0.02], [Shifts(-5, 0), Shifts(-10, 0), Shifts(-5, 0)])),
        Accounting.RANGES: ranges_charge(STEPS, False),
    }
    assert isinstance(expected[Accounting.MOMENTS], Renyi)
    for accounting, charge in expected.items():
        assert cover_charge(STEPS, ADD, accounting, 1e-6) == charge
        assert cover_charge([*STEPS, CoverStep(math.inf, 1, 1)], ADD, accounting, 1e-6) == NonPrivate()
        if accounting is not Accounting.RANGES:
            with pytest.raises(ValueError, match="single rows"):
                cover_charge(STEPS, ADD, accounting, 1e-6, 2)
        assert len({theorem(accounting, replace) for replace in (False, True)}) == 1 + (accounting != Accounting.EXACT)
    assert accountants.epsilon((expected[Accounting.MOMENTS],), 1e-6) < expected[Accounting.PAPER].epsilon  # type: ignore[union-attr]


def test_steps_by_hand() -> None:
    step = CoverStep(0.5, 3, 5)
    assert step.shifts == Shifts(-5.0, 3.0)
    assert step.scores(np.array([[4, 1], [0, 2]]), ()).tolist() == [[12 - 5, 3 - 20], [-10, 6]]
    CoverStep(1e-9, 0, 1)
    CoverStep(1e-9, 1, 0)
    for scale, reward, penalty in ((0.0, 1, 1), (-1.0, 1, 1), (1.0, -1, 2), (1.0, 2, -1), (1.0, 0, 0)):
        with pytest.raises(ValueError, match=r"scale|reward"):
            CoverStep(scale, reward, penalty)
    for scale in (0.0, -1.0):
        with pytest.raises(ValueError, match="scale"):
            ScoredStep(scale, step)


def test_covers_by_hand() -> None:
    """A prior of so many nats is so many over the scale in units of the score; without a scale there is none."""
    truths = (np.array([False, True]), np.array([True, False]))
    candidates = Conjunctions((0, 0), truths, np.array([[-1], [0], [1]], np.int32))
    prior = np.array([0.0, -1.0, 2.26])
    cover = Cover(candidates, 2, (CoverStep(0.5, 0, 5), CoverStep(0.1, 1, 2)), log_prior=prior)
    assert cover.offsets(cover.steps[0]).tolist() == [0, -2, 5]
    assert cover.offsets(cover.steps[1]).tolist() == [0, -10, 23]
    assert cover.offsets(CoverStep(math.inf, 1, 1)).tolist() == [0, 0, 0]
    assert cover.offsets(CoverStep(1e-300, 1, 1)).tolist() == [0, -(2**40), 2**40]
    assert (cover.scales, cover.shifts) == ((0.5, 0.1), (Shifts(-5.0, 0.0), Shifts(-2.0, 1.0)))
    assert candidates.constant.tolist() == [0]
    assert FirstMatch(candidates).size == 4
    some = candidates.take([1, 2])
    with pytest.raises(ValueError, match="needs the constant"):
        Cover(some, 2, (CoverStep(0.5, 0, 5, ending=True),))
    for wrong in (np.zeros(2), np.array([0.0, 0.0, math.inf])):
        with pytest.raises(ValueError, match="log_prior"):
            Cover(candidates, 2, (CoverStep(0.5, 0, 5),), log_prior=wrong)
    with pytest.raises(ValueError, match="at least one step"):
        Cover(candidates, 2, ())


def test_how_many_rules_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three conjunctions of two classes are six rules; streamed, two conjunctions begin with the first of two."""
    truths = (np.array([False, True]), np.array([False, True]))
    candidates = Conjunctions((0, 1), truths, np.array([[-1], [0], [1]], np.int32))
    for most, refused in ((6, False), (5, True)):
        monkeypatch.setattr("tacit.queries.covers.cover.MOST_RULES", most)
        if refused:
            with pytest.raises(TooManyCandidates, match="more than 5"):
                Cover(candidates, 2, (CoverStep(0.5, 0, 5),))
        else:
            Cover(candidates, 2, (CoverStep(0.5, 0, 5),))
    three = (np.array([False, True]),) * 3
    for most, refused in ((6, False), (5, True)):
        monkeypatch.setattr("tacit.queries.covers.candidates.MOST_RULES", most)
        if refused:
            with pytest.raises(TooManyCandidates, match="2 conjunctions begin with one"):
                StreamedConjunctions((0, 1, 2), three, 2, True, 3)
        else:
            assert len(StreamedConjunctions((0, 1, 2), three, 2, True, 3)) == 1 + 3 + 3


# the theory of covers


def test_closed_forms_of_a_cover() -> None:
    a, b = math.e**0.3 - 1, 1 - math.e**-0.3
    assert theory.closed_log_moment(0.5, 0.3) == pytest.approx(-0.15 - math.log(1 - 0.5 * a))
    assert theory.closed_log_moment(1 / a, 0.3) == math.inf
    assert theory.closed_log_moment_replace(0.5, 0.3) == pytest.approx(-math.log(1 - 0.5 * a) - math.log(1 + 0.5 * b))
    assert theory.closed_log_moment_replace(1.0001 / a, 0.3) == math.inf
    assert theory.adding_delta(0.3, 0.8) == pytest.approx(b * math.exp(-1.1 / a))
    assert theory.adding_delta(0.3, -0.5) == pytest.approx(1 - math.exp(-0.5))
    assert theory.adding_epsilon(0.3, 1e-5) == pytest.approx(a * math.log(b / 1e-5) - 0.3)
    assert theory.adding_epsilon(0.3, 0.9) == 0.0
    assert theory.paper_epsilon(0.3, 1e-5) == pytest.approx(0.6 * (math.log(1e5) + 1.5))
    assert theory.paper_score_scale(theory.paper_epsilon(0.3, 1e-5), 1e-5) == pytest.approx(0.3)
    assert math.expm1(theory.PAPER_LIMIT) == pytest.approx(2 * theory.PAPER_LIMIT, abs=1e-12)
    for scale, delta in ((1.2565, 1e-5), (0.0, 1e-5), (0.3, 0.0), (0.3, 1.0)):
        with pytest.raises(ValueError, match=r"scale|delta"):
            theory.paper_epsilon(scale, delta)
    assert (PENALTY.span, PENALTY.largest, Shifts(-2.0, 3.0).span, Shifts(-2.0, 3.0).largest) == (1.0, 1.0, 5.0, 3.0)
    assert [shifts.one_sided for shifts in (PENALTY, Shifts(0, 2), Shifts(-1, 1))] == [True, True, False]


def one_step(lam: float, scale: float, shifts: Shifts, replace: bool) -> float:
    """The best distribution on two of the values of ``u``, on a fine grid."""
    e_low, e_high = scale * shifts.low, scale * shifts.high
    if replace:
        values = {0.0, -e_low, -e_high, e_low, e_high, e_high - e_low, e_low - e_high}
        sides = [values]
    else:
        sides = [{0.0, -e_low, -e_high}, {0.0, e_low, e_high}]
    p, best = np.linspace(0, 1, 20_001), 0.0
    for side in sides:
        for x in side:
            for y in side:
                u, v = math.exp(x), math.exp(y)
                best = max(best, float(np.log((u + p * (v - u)) ** lam * (u**-lam * (1 - p) + v**-lam * p)).max()))
    return best


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(("low", "high"), [(-1.0, 0.0), (-1.0, 0.6), (0.0, 2.0)])
def test_one_step_of_a_cover(low: float, high: float, replace: bool) -> None:
    shifts = Shifts(low, high)
    for lam in (0.4, 3.0):
        value = float(theory.log_moment(lam, [0.7], shifts, replace)[0])
        assert value == pytest.approx(one_step(lam, 0.7, shifts, replace), rel=1e-5)
    largest = 0.7 * (high - low) * (2 if replace else 1)
    assert theory.pure_epsilon([0.7], shifts, replace) == pytest.approx(largest)
