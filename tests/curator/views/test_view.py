"""What views are made of: coins, indices, orders, rows by position, labels as values; and what they refuse."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from tacit.curator.choose import select_concept, select_member
from tacit.curator.rows import PrivateRows
from tacit.curator.trusted import run_trusted
from tacit.curator.views.relabel import Relabel
from tacit.curator.views.view import Parts, Rows, Sample, labels_as_values, open_view, random_order, uniform_indices
from tacit.encoding.frames import columns_of
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.noise.system_source import SystemSource
from tacit.privacy.charges import ApproxDP, BoundedRange, Gaussian, NonPrivate, Pure
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.schema import Unit
from tacit.theory.checks import Cost
from tests.chance import within_law, within_share

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE
LABELS = LabelIndex((0, 1))
NOISE = SystemSource()
ENCODING = TableEncoding(("x",), (NumericGrid(0.0, 1.0, cells=2),))


def private_rows(n: int, charges: list[object], neighbouring: Neighbouring = ADD) -> PrivateRows:
    frame = columns_of({"x": np.linspace(0, 1, n), "row": np.arange(n)})
    return PrivateRows(frame, np.arange(n) % 2, Reservation(charges, neighbouring), 0)  # type: ignore[arg-type]


def test_indices_are_uniform() -> None:
    counts = Counter(uniform_indices(NOISE, 7, 280_000).tolist())
    assert sorted(counts) == list(range(7))
    assert within_law(counts, dict.fromkeys(range(7), 1 / 7))
    assert not within_share(counts[0], 280_000, 1.1 / 7)
    assert uniform_indices(NOISE, 0, 5).tolist() == []


def test_orders_are_uniform() -> None:
    counts = Counter(tuple(random_order(NOISE, 3).tolist()) for _ in range(6000))
    assert len(counts) == 6
    assert within_law(counts, dict.fromkeys(counts, 1 / 6))


def test_coins_have_their_rate() -> None:
    rows = Rows(columns_of({"x": np.zeros(40_000)}), np.zeros(40_000, np.uint8))
    (taken,) = Sample(0.3, LABELS, (Pure(1.0),)).open(rows, ADD, NOISE)
    kept = int((taken.labels == 0).sum())
    assert within_share(kept, 40_000, 0.3)
    assert not within_share(kept, 40_000, 0.33)
    assert taken.frame.n_rows == 40_000
    (fixed,) = Sample(0.3, LABELS, (Pure(1.0),)).open(rows, REPLACE, NOISE)
    assert fixed.frame.n_rows == 12_000


@pytest.mark.parametrize(
    "index",
    [LabelIndex((0, 1)), LabelIndex(("a", "b", "c"), ("b",)), LabelIndex((False, True)), LabelIndex((1.5, "x"))],
)
def test_labels_survive_the_way_through_a_view(index: LabelIndex) -> None:
    codes = np.array([0, 1, 255, 1, 0], np.uint8)
    assert index.encode(labels_as_values(codes, index)).tolist() == codes.tolist()


def test_the_parent_is_charged_before_rows_are_read_and_children_have_their_own_limit() -> None:
    view = Sample(0.5, LABELS, (Pure(1.0),))
    with pytest.raises(BudgetExceeded):
        open_view(private_rows(10, [Pure(0.1)]), view, "too much")
    parent = private_rows(10, [Pure(1.0)])
    (child,) = open_view(parent, view, "sample")
    curator = child.seal(ENCODING, LABELS)
    assert curator.neighbouring is ADD
    (entry,) = parent._reservation.entries
    assert entry.charge.epsilon == pytest.approx(math.log1p(0.5 * math.expm1(1.0)))  # type: ignore[attr-defined]
    with pytest.raises(BudgetExceeded):
        child._reservation.record(Pure(1.1), "more than declared", "none")


@pytest.mark.parametrize("view", [Sample(0.5, LABELS, (Pure(1.0),)), Parts(LABELS, ((Pure(1.0),), (Pure(1.0),)))])
def test_children_of_a_view_discover_nothing(view: Sample | Parts) -> None:
    """Their tables hold rows that a label marks as left out, and keys would have counted them."""
    children = open_view(private_rows(10, [Pure(1.0)]), view, "part")
    for child in children:
        with pytest.raises(TypeError, match="children of a view discover nothing"):
            child.keys(None, Pure(0.1), 1e-6, "classes")
        assert child._reservation.entries == ()


def test_relabel_charges_the_choice_and_the_child() -> None:
    view = Relabel(ENCODING, LABELS, (), lambda points: None, 1.0, 0.9, (Gaussian(2.0),), "claim")  # type: ignore[arg-type, return-value]
    assert [charge for charge, _ in view.charges(ADD)] == [BoundedRange(0.9), Gaussian(2.0)]
    free = Relabel(ENCODING, LABELS, (), view.candidates, math.inf, math.inf, (NonPrivate(),), "claim")
    assert [charge for charge, _ in free.charges(ADD)] == [NonPrivate()]
    halves = Relabel(ENCODING, LABELS, (), view.candidates, 1.0, 0.9, (), "claim", scored_share=0.5)
    with pytest.raises(ValueError, match="public number of rows"):
        halves.charges(ADD)
    stated = Relabel(ENCODING, LABELS, (), view.candidates, 1.0, 0.9, (Pure(1.0),), "claim", stated=Cost(4.0, 1e-6))
    ((charge, _),) = stated.charges(REPLACE)
    assert charge == ApproxDP(math.nextafter(4.0, 5.0), 1e-6)
    low = Relabel(ENCODING, LABELS, (), view.candidates, 1.0, 0.9, (Pure(1.0),), "claim", stated=Cost(1.5, 0.0))
    with pytest.raises(ValueError, match="below the cost"):
        low.charges(REPLACE)
    with pytest.raises(ValueError, match="public candidates"):
        select_concept(private_rows(4, [BoundedRange(1.0)]), view, "secret")


def test_units_of_several_rows_are_refused() -> None:
    """Wherever a cost is that of one row: in views, in choices, and in learners that see rows."""
    frame = columns_of({"x": np.zeros(4), "who": np.array([1, 1, 2, 2])})
    several = PrivateRows(frame, np.zeros(4, np.int64), Reservation([Pure(1.0)], ADD), 0, Unit("who", 2))
    choice = Relabel(ENCODING, LABELS, (), lambda points: None, 1.0, 0.5, (), "claim", public=True)  # type: ignore[arg-type, return-value]
    for release in (
        lambda: open_view(several, Sample(0.5, LABELS, (Pure(1.0),)), "sample"),
        lambda: select_concept(several, choice, "which"),
        lambda: select_member(several, (), LABELS, BoundedRange(0.5), "best"),
        lambda: run_trusted(several, None, None, LABELS, "foreign"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match="one by one; a unit of several"):
            release()
    assert several._reservation.entries == ()


def test_no_privacy_passes_through_every_view() -> None:
    free = ((NonPrivate(),), (Pure(1.0),))
    assert Parts(LABELS, free).charges(ADD)[0][0] == NonPrivate()
    assert Sample(0.5, LABELS, (NonPrivate(),)).charges(ADD)[0][0] == NonPrivate()
