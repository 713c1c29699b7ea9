"""A budget spends shares of shares, by the numbers of its allowance, and the curator's ledger says the same."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_count_rule

COUNT = Histogram(OneCell(), fine_count_rule(2))
REQUESTS = [(1.0, 1e-6), (0.3, 0.0), (math.inf, 0.0)]


def gate(allowance: Allowance) -> tuple[Budget, Reservation]:
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    table = MemoryTable([np.zeros(40, np.uint8)], np.zeros(40, np.uint8), [1], 2)
    return Budget(Curator(table, reservation, SeededSource(3)), allowance), reservation


@pytest.mark.parametrize("request_", REQUESTS)
@given(st.floats(0.01, 1.0), st.floats(0.01, 1.0), st.integers(1, 50))
def test_shares_of_shares_multiply_without_rounding_elsewhere(request_, first, second, parts):
    allowance = Allowance.of(*request_)
    budget, _ = gate(allowance)
    inner = budget.part(first).split(parts)
    assert inner.charge(second) == allowance.charge(first / parts * second)
    assert inner.selection(second) == allowance.selection(first / parts * second)
    assert inner.sd(second, 2.0) == allowance.sd(first / parts * second, 2.0)
    assert budget.part(first).after(first / 2).share == first - first / 2


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_part_made_whole_costs_what_the_part_does(request_):
    budget, _ = gate(Allowance.of(*request_))
    part = budget.part(0.3)
    again = part.as_whole()
    assert again.share == 1.0
    assert again.sd(0.5) == pytest.approx(part.sd(0.5), rel=1e-12)
    if part.is_private:
        assert again.allowance.whole != budget.allowance.whole
    assert (again.is_private, again.is_pure) == (budget.is_private, budget.is_pure)


def test_what_is_measured_is_entered_at_its_share():
    allowance = Allowance.of(1.0, 1e-6)
    budget, reservation = gate(allowance)
    one = budget.part(0.5).measure(COUNT, 0.4, "one")
    two, three = budget.part(0.25).measure_all([(COUNT, 0.5, "two"), (COUNT, 0.25, "three")])
    assert [entry.label for entry in reservation.entries] == ["one", "two", "three"]
    for entry, release, share in zip(reservation.entries, (one, two, three), (0.2, 0.125, 0.0625), strict=True):
        assert entry.charge.precision == pytest.approx(share * allowance.mu**2)
        assert release.sd == pytest.approx(allowance.sd(share), rel=1e-3)


def test_more_than_was_reserved_is_refused_however_it_is_divided():
    budget, reservation = gate(Allowance.of(1.0, 1e-6))
    budget.measure(COUNT, 0.9, "most")
    with pytest.raises(BudgetExceeded):
        budget.part(0.5).measure(COUNT, 0.5, "too much")
    assert [entry.label for entry in reservation.entries] == ["most"]
    with pytest.raises(ValueError, match="a share lies in"):
        budget.part(4.0).charge(0.5)


def test_what_is_public_is_the_curators():
    budget, _ = gate(Allowance.of(1.0, 1e-6))
    inner = budget.part(0.1)
    assert inner.layout == budget.curator.layout
    assert inner.neighbouring is Neighbouring.ADD_OR_REMOVE_ONE
    assert isinstance(inner.public_generator, np.random.Generator)
