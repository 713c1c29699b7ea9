"""The reservation covers what it should, refuses the rest, and closes once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tacit.privacy.charges import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Charge,
    Gaussian,
    Laplace,
    NonPrivate,
    PrivacyLoss,
    Pure,
    Renyi,
    Repeated,
)
from tacit.privacy.label import Label
from tacit.privacy.ledger import BudgetExceeded, Entry, Reservation
from tacit.privacy.unit import Neighbouring

RELATION = Neighbouring.ADD_OR_REMOVE_ONE


def reserve(*charges: Charge) -> Reservation:
    return Reservation(charges, RELATION, "test")


def spend(reservation: Reservation, *charges: Charge) -> None:
    for charge in charges:
        reservation.record(charge, "release", "theorem")


def test_entries_are_numbered_and_kept() -> None:
    reservation = reserve(Gaussian(1.0))
    entry = reservation.record(Gaussian(1.0), "counts", "one row, one cell")
    assert entry == Entry(0, Label.of("counts"), Gaussian(1.0), "one row, one cell")
    assert reservation.entries == (entry,)


def test_gaussian_precision_may_be_split_at_will() -> None:
    reservation = reserve(Gaussian(2.0), Repeated(Gaussian(4.0), 4))
    total = Gaussian(2.0).precision + 4 * Gaussian(4.0).precision
    pieces = [0.5, 0.25, 0.125, 0.125]
    spend(reservation, *(Gaussian((total * share) ** -0.5) for share in pieces))
    with pytest.raises(BudgetExceeded, match="nothing was read"):
        spend(reservation, Gaussian(1e3))
    assert len(reservation.entries) == 4


def test_a_thousand_equal_gaussians_fit_exactly_and_no_more() -> None:
    reservation = reserve(Repeated(Gaussian(0.7), 1000))
    spend(reservation, *[Gaussian(0.7)] * 1000)
    with pytest.raises(BudgetExceeded):
        spend(reservation, Gaussian(0.7))


def test_pure_charges_split_but_do_not_merge() -> None:
    """Ten times 0.1 does not pay for 1.0: with delta > 0 an accountant charges the ten less than the one."""
    spend(reserve(Pure(1.0)), *[Laplace(10.0)] * 10)
    spend(reserve(Pure(1.0)), Pure(0.5), BoundedRange(0.5))
    spend(reserve(Laplace(1.0)), Laplace(2.0), Laplace(2.0))
    with pytest.raises(BudgetExceeded):
        spend(reserve(Repeated(Pure(0.1), 10)), Pure(1.0))
    for other in (Pure(0.5), BoundedRange(0.5)):  # at a delta above 0 a Laplace charge is counted for less than these
        with pytest.raises(BudgetExceeded):
            spend(reserve(Laplace(1.0)), other)
    with pytest.raises(BudgetExceeded):
        spend(reserve(Pure(1.0)), *[Laplace(10.0)] * 11)
    with pytest.raises(BudgetExceeded):
        spend(reserve(Pure(1.0)), Gaussian(1e6))


def test_rho_pays_for_gaussian_bounded_range_and_pure() -> None:
    reservation = reserve(ZCDP(1.0))
    spend(reservation, Gaussian(2.0), BoundedRange(1.0), Pure(0.5), ZCDP(0.625))
    with pytest.raises(BudgetExceeded):
        spend(reservation, ZCDP(1e-6))


def test_bounded_range_matches_its_own_kind_first_and_does_not_split() -> None:
    reservation = reserve(BoundedRange(1.0), BoundedRange(0.5), Pure(0.4))
    spend(reservation, BoundedRange(0.5), BoundedRange(0.9), BoundedRange(0.3))
    with pytest.raises(BudgetExceeded):
        spend(reservation, BoundedRange(0.2))
    with pytest.raises(BudgetExceeded):
        spend(reserve(BoundedRange(1.0)), Pure(0.1))
    halves = reserve(BoundedRange(1.0))
    spend(halves, BoundedRange(0.5))
    with pytest.raises(BudgetExceeded):
        spend(halves, BoundedRange(0.5))


@pytest.mark.parametrize(
    "charge",
    [Renyi((2.0, 4.0), (0.1, 0.3)), PrivacyLoss((0.0, 1.0), (0.5, 0.5)), ApproxDP(0.5, 1e-7)],
    ids=lambda charge: charge.kind,
)
def test_other_kinds_match_exactly(charge: Charge) -> None:
    reservation = reserve(Repeated(charge, 2), Gaussian(1.0))
    spend(reservation, charge, charge)
    with pytest.raises(BudgetExceeded):
        spend(reservation, charge)


def test_a_smaller_approximate_charge_is_covered() -> None:
    spend(reserve(ApproxDP(0.5, 1e-7)), ApproxDP(0.4, 1e-8))
    with pytest.raises(BudgetExceeded):
        spend(reserve(ApproxDP(0.5, 1e-7)), ApproxDP(0.4, 2e-7))


def test_repeated_releases_are_paid_whole_or_not_at_all() -> None:
    reservation = reserve(Repeated(BoundedRange(0.1), 3))
    with pytest.raises(BudgetExceeded):
        spend(reservation, Repeated(BoundedRange(0.1), 4))
    spend(reservation, Repeated(Repeated(BoundedRange(0.1), 3), 1))
    assert len(reservation.entries) == 1
    with pytest.raises(BudgetExceeded):
        spend(reservation, BoundedRange(0.1))


@pytest.mark.parametrize("one", [Gaussian(2.0), ZCDP(0.1), Laplace(2.0), Pure(0.5), BoundedRange(0.1)], ids=str)
def test_many_releases_as_one_charge_cost_as_many(one: Charge) -> None:
    """From the pool of their kind as from rho, which pays for each of them, too."""
    for reserved in (Repeated(one, 3), Repeated(ZCDP(RHO[type(one)]), 3)):
        reservation = reserve(reserved)
        with pytest.raises(BudgetExceeded):
            spend(reservation, Repeated(one, 4))
        spend(reservation, Repeated(one, 2), one)
        with pytest.raises(BudgetExceeded):
            spend(reservation, one)


RHO = {Gaussian: 0.125, ZCDP: 0.1, Laplace: 0.125, Pure: 0.125, BoundedRange: 0.00125}
"""Of each of these."""


def test_what_has_to_be_kept_is_not_released_otherwise() -> None:
    class Keeping(Reservation):
        keeps = True

    reservation = Keeping([Pure(1.0)], RELATION)
    with pytest.raises(TypeError, match="'counts' is not kept"):
        reservation.record(Pure(1.0), "counts", "theorem")
    assert reservation.entries == ()
    reservation.record(Pure(1.0), "counts", "theorem", kept=True)


def test_non_private_covers_everything_and_is_covered_by_nothing_else() -> None:
    spend(reserve(NonPrivate()), NonPrivate(), Gaussian(0.1), Pure(100.0))
    with pytest.raises(BudgetExceeded):
        spend(reserve(Gaussian(1e-3), Pure(100.0)), NonPrivate())


def test_an_unknown_kind_is_never_covered() -> None:
    class Foreign(Charge):
        kind = "foreign"

    with pytest.raises(BudgetExceeded):
        spend(reserve(Gaussian(1e-3), ZCDP(1e3), Pure(1e3)), Foreign())


def test_threads_cannot_overspend() -> None:
    reservation = reserve(Repeated(Gaussian(1.0), 50))

    def attempt(_: int) -> bool:
        try:
            spend(reservation, Gaussian(1.0))
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(200))) == 50
    assert [entry.sequence for entry in reservation.entries] == list(range(50))


def test_closing_is_told_once() -> None:
    told: list[tuple[int, str]] = []
    reservation = Reservation(
        [Pure(1.0)], RELATION, "test", lambda entries, outcome: told.append((len(entries), outcome))
    )
    with reservation:
        spend(reservation, Pure(0.25))
    reservation.close("failed")
    assert told == [(1, "completed")]
    assert reservation.outcome == "completed"
    with pytest.raises(BudgetExceeded, match="closed"):
        spend(reservation, Pure(0.25))
    with pytest.raises(ValueError, match="outcome"):
        reservation.close("lost")


def test_a_failing_fit_closes_as_failed_and_its_error_survives() -> None:
    def broken(entries: tuple[Entry, ...], outcome: str) -> None:
        raise OSError(f"disk full, {outcome}")

    reservation = Reservation([Pure(1.0)], RELATION, "test", broken)
    with pytest.raises(RuntimeError, match="the fit broke") as caught, reservation:
        raise RuntimeError("the fit broke")
    assert "disk full, failed" in "".join(caught.value.__notes__)
    assert reservation.outcome == "failed"
    assert reservation.charges == (Pure(1.0),)
