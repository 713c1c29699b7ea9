"""Guards, caps and borders of the room: what is just inside is taken, what is just outside is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tacit.errors import TacitError
from tacit.privacy import accountants, coverage, loss
from tacit.privacy.budget import Allowance
from tacit.privacy.calibration import calibrate, gaussian_noise_multiplier
from tacit.privacy.charges import ZCDP, ApproxDP, Gaussian, Laplace, NonPrivate, PrivacyLoss, Pure, Repeated
from tacit.privacy.composition import Parts, parts_of
from tacit.privacy.coverage import TOLERANCE, Coverage
from tacit.privacy.ledger import COMPLETED, FAILED, Reservation
from tacit.privacy.progress import Step
from tacit.privacy.promised_budget import EphemeralAccount, PromisedBudget, _floored, check_promise
from tacit.privacy.random_stopping import RandomStopping
from tacit.privacy.request import Request, check_noise_fits
from tacit.privacy.store_records import Facts, read_charges, read_facts
from tacit.privacy.unit import Neighbouring, describe_unit, name_question, unit_key
from tacit.privacy.verification import (
    FORMAT,
    NO_NOISE,
    NO_PROMISE,
    RELEASABLE_SOURCES,
    UNFINISHED,
    check_format,
    claim_errors,
    cost_problems,
    unreleasable_reasons,
)
from tacit.schema import Unit

TINY = 5e-324
ADD, REPLACE = "add_or_remove_one", "replace_one"
BELOW_1 = math.nextafter(1.0, 0.0)
KNOWN = next(iter(RELEASABLE_SOURCES))


def above(number: float) -> float:
    return math.nextafter(number, math.inf)


def noise_fits(epsilon: float, mu: float, least: float) -> None:
    check_noise_fits(Allowance(epsilon, 0.0 if mu == 0 else 1e-6, mu), least, "x")


@pytest.mark.parametrize(
    ("made", "given"),
    [
        *((Request.of, (e, 0.0, ADD, None)) for e in (0.0, -1.0, math.nan, True, "1", None)),
        *((Request.of, (1.0, d, ADD, None)) for d in (-TINY, 1.0, math.nan, False, "0")),
        *((Request.of, (1.0, 0.0, ADD, seed)) for seed in (-1, True, 1.0, "1")),
        (Request.of, (1.0, 0.0, "swap", None)),
        *((accountants.epsilon, ([Gaussian(1.0)], d)) for d in (-TINY, 1.0, math.nan)),
        *((accountants.delta, ([Gaussian(1.0)], e)) for e in (-TINY, math.nan)),
        *((check_promise, pair) for pair in ((0.0, 0.0), (math.nan, 0.0), (1.0, 1.0), (1.0, -TINY))),
        *((gaussian_noise_multiplier, (e, 1e-6)) for e in (0.0, math.inf, math.nan)),
        *((gaussian_noise_multiplier, (1.0, d)) for d in (0.0, 1.0)),
        *((calibrate, (lambda z: [Pure(1 / z)], e, 0.0)) for e in (0.0, math.inf)),
        *((Allowance(1.0, d, 1.0).charge, (share,)) for d in (0.0, 1e-6) for share in (0.0, above(1 + 1e-9))),
        *((Allowance(1.0, d, 1.0).selection, (share,)) for d in (0.0, 1e-6) for share in (0.0, above(1 + 1e-9))),
        *((Request.of, (e, 0, ADD, 0)) for e in (TINY, math.nextafter(1e-9, 0.0), above(1e9))),
        *((check_promise, (e, 0.0)) for e in (TINY, math.nextafter(1e-9, 0.0), above(1e9))),
        (noise_fits, (1.0, 0.0, above(1.0))), (noise_fits, (1.0, 0.25, above(0.25))),
        *((RandomStopping, pair) for pair in ((1.0, 1.0), (above(1000.0), 1.0), (2.0, -TINY), (2.0, above(100.0)))),
        (unit_key, ("person",)),
        *((read_facts, (e, d, ADD)) for e, d in ((0.0, 0.0), (1.0, 1.0), (1.0, -TINY), ("1", 0.0), (1.0, "0"))),
        (read_facts, (1.0, 0.0, "swap")),
        *((read_charges, (text,)) for text in ("{}", "no", None, '[{"kind": "free"}]')),
        *((check_format, ({"format": FORMAT, "version": v},)) for v in (0, 2, True, "1", None)),
        *((check_format, (data,)) for data in ({"format": "x", "version": 1}, [FORMAT], {"version": 1})),
        *((Reservation([], Neighbouring(ADD)).close, (outcome,)) for outcome in ("", "open")),
    ],
)  # fmt: skip
def test_just_outside(made: Callable[..., Any], given: tuple[Any, ...]) -> None:
    with pytest.raises((ValueError, TacitError), match=r"must|lie|share|delta|small|too|damaged|not a|format|outcome"):
        made(*given)


@pytest.mark.parametrize(
    ("made", "given", "found"),
    [
        *((Request.of, (e, 0, ADD, 0), Request(e, 0.0, Neighbouring(ADD), 0)) for e in (1e-9, 1e9)),
        (Request.of, (math.inf, BELOW_1, REPLACE, None), Request(math.inf, BELOW_1, Neighbouring(REPLACE), None)),
        (Request.of, (1, 0, ADD, np.int64(3)), Request(1.0, 0.0, Neighbouring(ADD), 3)),
        *((accountants.check_delta, (d,), None) for d in (0.0, BELOW_1)),
        *((accountants.check_epsilon, (e,), None) for e in (0.0, math.inf)),
        *((check_promise, pair, None) for pair in ((1e-9, 0.0), (1e9, 0.0), (math.inf, BELOW_1))),
        (Allowance(1.0, 0.0, 0.0).charge, (1 + 1e-9,), Laplace(1 / (1 + 1e-9))),
        (Allowance(1.0, 1e-6, 1.0).charge, (1 + 1e-9,), Gaussian(1 / math.sqrt(1 + 1e-9))),
        *((noise_fits, given, None) for given in ((1e-9, 0.0, 0.0), (1e9, 0.0, 0.0), (1.0, 0.0, 1.0))),
        (noise_fits, (1.0, 0.25, 0.25), None),
        (unit_key, (None,), ("", 1)), (unit_key, ("row",), ("", 1)), (unit_key, (Unit("p", 3),), ("p", 3)),
        (describe_unit, (("", 1),), "single rows"), (describe_unit, (("p", 1),), "one 'p' with up to 1 row"),
        (describe_unit, (("p", 2),), "one 'p' with up to 2 rows"),
        (describe_unit, (("", 2),), "one '' with up to 2 rows"),
        (read_facts, (TINY, 0, ADD), Facts(TINY, 0.0, Neighbouring(ADD))),
        (read_facts, (1, BELOW_1, REPLACE), Facts(1.0, BELOW_1, Neighbouring(REPLACE))),
        (read_charges, ("[]",), ()), (read_charges, ('[{"kind": "pure", "epsilon": 0.5}]',), (Pure(0.5),)),
        (check_format, ({"format": FORMAT, "version": 1},), None),
        (_floored, (0.0,), 0.0), (_floored, (math.inf,), math.inf), (_floored, (0.12349,), 0.1234),
    ],
)  # fmt: skip
def test_just_inside(made: Callable[..., Any], given: tuple[Any, ...], found: Any) -> None:
    assert made(*given) == found


def test_numbers_of_runs_at_their_borders() -> None:
    for rule in (RandomStopping(above(1.0), 0.0), RandomStopping(1000.0, 100.0)):
        assert 0 < rule.gamma <= 1
    assert RandomStopping(3.0)._mean_at(1.0) == RandomStopping(3.0)._mean_at(1.5) == 1.0


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("id", True), ("ID", True), ("user_id", True), ("userID", True), ("user-Id", True), ("paid", False),
        ("PAID", False), ("idea", False),
    ],
)  # fmt: skip
def test_which_names_are_asked_about(name: str, asked: bool) -> None:
    assert (repr(name) in name_question(["age", name])) == asked


def test_what_is_composed_on_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many uses, kinds and as wide a step as the limits say, and no more: other ways are valid then."""
    step = 1.0
    monkeypatch.setattr(loss, "_composed", lambda parts: parts)
    monkeypatch.setattr(loss, "_step", lambda parts: step)
    nothing = parts_of([])
    half = PrivacyLoss((0.5, -0.25), (0.5, 0.5))
    approx = ApproxDP(0.1, 1e-9)

    def is_composed(**given: Any) -> bool:
        return loss.composed(Parts(**{**nothing.__dict__, **given})) is not None

    many = 1 << 19
    assert is_composed(pure=((0.1, many),))
    assert not is_composed(pure=((0.1, many + 1),))
    assert is_composed(pure=((0.1, many - 5),), approx=((approx, 5),))
    assert not is_composed(pure=((0.1, many - 5),), approx=((approx, 6),))
    uses = 1 << 24
    assert is_composed(ranges=((0.1, uses - 2),), losses=((half, 2),))
    assert not is_composed(ranges=((0.1, uses - 2),), losses=((half, 3),))
    for kind, one in (("pure", 0.1), ("ranges", 0.1), ("approx", approx), ("losses", half)):
        assert is_composed(**{kind: ((one, 1),) * 256})
        assert not is_composed(**{kind: ((one, 1),) * 257})
    kept = loss.composed(Parts(**{**nothing.__dict__, "rho": 0.5, "pure": ((0.1, 1),)}))
    assert isinstance(kept, Parts)
    assert kept.rho == 0.0
    step = above(1.0)
    assert not is_composed(pure=((0.1, 1),))


def test_how_much_of_one_charge_is_paid_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "MOST_USES", 3)
    assert Coverage([Pure(1.0)]).take(Repeated(Pure(0.25), 3))
    assert not Coverage([Pure(1.0)]).take(Repeated(Pure(0.25), 4))
    assert Coverage([ZCDP(1.0)]).take(Repeated(ZCDP(0.25), 4))
    monkeypatch.setattr(coverage, "MOST_TIMES", 5)
    assert Coverage([ZCDP(1.0)]).take(Repeated(ZCDP(0.125), 5))
    assert not Coverage([ZCDP(1.0)]).take(Repeated(ZCDP(0.125), 6))
    assert Coverage([Repeated(ZCDP(0.125), 9)]).take(ZCDP(0.625))
    assert not Coverage([Repeated(ZCDP(0.125), 9)]).take(ZCDP(0.626))


@pytest.mark.parametrize("planned", [Gaussian(1.0), ZCDP(1.0), Pure(1.0)])
def test_rounding_is_granted_and_no_more(planned: Any) -> None:
    def of_size(size: float) -> Any:
        return Gaussian(1 / math.sqrt(size)) if isinstance(planned, Gaussian) else type(planned)(size)

    assert Coverage([planned]).take(of_size(1 + 0.99 * TOLERANCE))
    assert not Coverage([planned]).take(of_size(1 + 1.01 * TOLERANCE))
    assert Coverage([]).spent == 0.0
    paid = Coverage([planned, Laplace(1.0)])
    assert paid.take(of_size(0.25))
    assert paid.spent == pytest.approx(0.25)


def test_a_budget_grants_rounding_and_no_more() -> None:
    account = EphemeralAccount(1.0, 0.0)
    assert account.covers([Pure(1 + 0.99e-9)])
    assert not account.covers([Pure(1 + 1.01e-9)])
    with account.reserve([Pure(1.0)], "x"):
        pass
    assert (account.remaining, account.affordable()) == (0.0, 0.0)
    gaussian = EphemeralAccount(1.0, 1e-6)
    with gaussian.reserve([Allowance.of(1.0, 1e-6).whole], "x"):
        pass
    assert gaussian.affordable() == pytest.approx(0.0, abs=1e-3)
    assert EphemeralAccount(math.inf, 1e-6).remaining == math.inf


@pytest.mark.parametrize(
    ("known", "asked", "fine"),
    [
        (None, ("", 1), True), (None, ("p", 2), True), (("p", 2), ("p", 2), True), (("p", 2), ("p", 3), False),
        (("p", 2), ("", 1), False), (("", 1), ("", 1), True), (("", 1), ("p", 1), False), (("p", 2), ("q", 2), False),
    ],
)  # fmt: skip
def test_which_units_add_up(known: tuple[str, int] | None, asked: tuple[str, int], fine: bool) -> None:
    if fine:
        PromisedBudget._check_unit(known, asked, "x")
        return
    with pytest.raises(TacitError, match="do not add up"):
        PromisedBudget._check_unit(known, asked, "x")


def test_what_is_evident_of_a_claim() -> None:
    assert unreleasable_reasons(1.0, 0.01, [Pure(1.0)], COMPLETED) == ()
    assert unreleasable_reasons(1.0, above(0.01), [Pure(1.0)], COMPLETED) == (NO_PROMISE,)
    assert unreleasable_reasons(math.inf, 0.5, [], COMPLETED) == (NO_NOISE,)
    assert unreleasable_reasons(1.0, 0.5, [Repeated(NonPrivate(), 2)], FAILED) == (NO_NOISE, UNFINISHED)
    for epsilon, delta in ((-TINY, 0.0), (math.nan, 0.0), (1.0, 1.0), (1.0, -TINY)):
        assert "no promise" in cost_problems(epsilon, delta, [])[0]
    assert cost_problems(0.0, 0.0, []) == cost_problems(1.0, BELOW_1, [Pure(1.0)]) == []
    assert cost_problems(1.0, 0.0, [Pure(1 + 0.99e-6)]) == []
    assert len(cost_problems(1.0, 0.0, [Pure(1 + 1.01e-6)])) == 1


@pytest.mark.parametrize(
    ("releasable", "reasons", "evident", "source", "problems"),
    [
        (False, (), (), KNOWN, 1), (False, ("a",), ("a",), "a seed", 0), (True, (), (), KNOWN, 0),
        (True, ("a",), (), KNOWN, 1), (True, (), ("a",), KNOWN, 1), (True, (), (), "a seed", 1),
        (True, ("a",), ("a",), "a seed", 3),
    ],
)  # fmt: skip
def test_how_many_claims_contradict(
    releasable: bool, reasons: tuple[str, ...], evident: tuple[str, ...], source: str, problems: int
) -> None:
    assert len(claim_errors(releasable, reasons, evident, source)) == problems


def test_time_left_and_shares_of_progress() -> None:
    def left(spent: float) -> float | None:
        return Step("w", "x", "other", None, 1, spent, 3.0).seconds_left

    assert (left(0.0), left(0.099), left(0.1), left(0.25), left(1.0)) == (None, None, pytest.approx(27.0), 9.0, 0.0)
