"""The total of an account costs what its history costs: exactly, or more where numbers were rounded up."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit.privacy.store as store
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.accountants import epsilon
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
from tacit.privacy.composition import Sums, exact_sum, parts_of
from tacit.privacy.ledger import AccountError
from tacit.privacy.store import MOST_VALUES, curves_of, digest, read_total, rounded_up, write_total

sizes = st.floats(1e-6, 50)
CHARGES = st.one_of(
    sizes.map(Gaussian),
    sizes.map(ZCDP),
    sizes.map(Pure),
    sizes.map(Laplace),
    sizes.map(BoundedRange),
    st.builds(ApproxDP, sizes, st.sampled_from([0.0, 1e-9, 1e-7])),
    st.just(Renyi((2.0, 8.0), (0.1, 0.5))),
    sizes.map(lambda size: Renyi((2.0, 3.0), (size, 2 * size))),
    st.just(PrivacyLoss((-0.5, 1.5), (0.5, 0.5))),
    st.just(NonPrivate()),
)


def stored(total: Sums) -> Sums:
    """What comes back from a store."""
    texts = {digest(curve): json.dumps(curve.to_dict()) for curve in curves_of(total)}
    return read_total(write_total(total), lambda names: {name: texts[name] for name in names})


@settings(max_examples=80)
@given(st.lists(st.lists(st.tuples(CHARGES, st.integers(1, 10**6)), max_size=4), max_size=8))
def test_a_stored_total_is_that_of_the_history_bit_by_bit(plans: list[list[tuple[Charge, int]]]) -> None:
    total, history = Sums(), []
    for plan in plans:
        charges = [Repeated(charge, times) for charge, times in plan]
        total = stored(total.plus(charges))
        history += charges
        assert total.parts == parts_of(history)


@given(st.lists(st.floats(0, 1e12), max_size=200))
def test_an_exact_sum_is_exact(values: list[float]) -> None:
    partials = exact_sum(values)
    assert math.fsum(partials) == math.fsum(values)
    assert math.fsum([*partials, *(-value for value in values)]) == 0


def test_a_sum_that_rounds_would_be_below_the_truth() -> None:
    """Ten thousand costs too small to move a float are there in the end."""
    big, small = Gaussian(1.0), Gaussian(1e8)  # 1, and 1e-16: half of what 1 can tell
    total = stored(Sums().plus([big]))
    for _ in range(100):
        total = stored(total.plus([Repeated(small, 100)]))
    assert total.parts.precision == 1 + 1e-12
    assert total.parts == parts_of([big, Repeated(small, 10_000)])


@pytest.mark.parametrize("make", [Pure, BoundedRange, lambda x: ApproxDP(x, 1e-9)])
def test_many_different_costs_are_rounded_up(make: type[Pure]) -> None:
    draw = random.Random(3)
    charges = [make(10 ** draw.uniform(-5, -1)) for _ in range(3000)]
    total = Sums()
    for start in range(0, len(charges), 50):
        total = stored(total.plus(charges[start : start + 50]))
    values = len(total.pure) + len(total.ranges) + len(total.approx)
    assert MOST_VALUES < values < 1800  # 128 in each of thirteen doublings
    delta = 1e-4
    assert 1 <= epsilon(total, delta) / epsilon(charges, delta) < 1.01
    few = stored(Sums().plus(charges[:MOST_VALUES]))
    assert few.parts == parts_of(charges[:MOST_VALUES])


@given(st.floats(1e-300, 1e300))
def test_rounding_up_is_small_and_not_done_twice(value: float) -> None:
    assert value <= rounded_up(value) <= value * (1 + 1 / 128)
    assert rounded_up(rounded_up(value)) == rounded_up(value)
    assert [rounded_up(0.0), rounded_up(math.inf)] == [0.0, math.inf]


@pytest.mark.parametrize(
    "change",
    [
        {"precisions": [-1.0]}, {"precisions": [math.nan]}, {"rhos": "x"}, {"pure": [[-0.1, 1]]}, {"pure": [[0.1, -5]]},
        {"pure": [[0.1, 1.5]]}, {"ranges": [[math.nan, 1]]}, {"approx": [[0.1, 1.5, 1]]}, {"curves": [["0" * 64, 1]]},
        {"pure": None}, {"curves": [[1]]}, {"pure": [[True, 1]]},
    ],
)  # fmt: skip
def test_a_damaged_total_pays_for_nothing(change: dict[str, object]) -> None:
    whole = json.loads(write_total(Sums().plus([Gaussian(1.0), Pure(0.1)])))
    for text in (json.dumps({**whole, **change}), "{}", "[]", "x", None):
        with pytest.raises(AccountError, match="damaged: its total cannot be read"):
            read_total(text, lambda _: {})


def test_a_curve_is_what_its_digest_says(tmp_path: Path) -> None:
    curve, other = Renyi((2.0,), (0.5,)), Renyi((2.0,), (0.1,))
    text = write_total(Sums().plus([curve]))
    with pytest.raises(AccountError, match="damaged"):
        read_total(text, lambda names: {name: json.dumps(other.to_dict()) for name in names})


def test_a_reservation_reads_no_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = PrivacyAccount.create(str(tmp_path / "b.db"), "d", 30.0, 1e-6)
    curve = Renyi((2.0, 8.0), (0.01, 0.1))
    planned = [Gaussian(20.0), Pure(0.01), curve]
    for _ in range(3):
        account.reserve(planned, "a fit").close()
    spent = epsilon(account.charges, 1e-6)

    def unread(_: object) -> tuple[Charge, ...]:
        raise AssertionError

    monkeypatch.setattr(store, "read_charges", unread)
    assert account.spent == spent
    account.reserve(planned, "a fit").close()
    assert account.spent == epsilon(planned * 4, 1e-6)
    assert account.affordable() > 0
