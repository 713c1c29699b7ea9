"""What views cost and draw, as numbers worked out by hand: shares, parts, choices behind the gate and released ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tacit.curator.choose import select_concept, select_member
from tacit.curator.rows import PrivateRows
from tacit.curator.views.relabel import Relabel, RelabelPart, drawn, restricted, scored_rows
from tacit.curator.views.resample import MeasureSample
from tacit.curator.views.view import Parts, Rows, Sample, rows_of_share, uniform_indices
from tacit.encoding.frames import columns_of
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.noise import SystemSource
from tacit.privacy.charges import BoundedRange, Charge, Pure
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.theory.checks import Cost
from tacit.theory.resampling import cost_of_draws

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE
LABELS = LabelIndex((0, 1))
ENCODING = TableEncoding(("x",), (NumericGrid(0.0, 1.0, cells=2),))


class Scored:
    """Candidates with given scores; each says 1 everywhere."""

    def __init__(self, scores: list[int], lengths: list[int] | None = None) -> None:
        self.scores = np.array(scores, np.int64)
        self.lengths = None if lengths is None else np.array(lengths, np.uint64)

    def labels(self, index: int) -> np.ndarray:
        del index
        return np.ones(2, bool)


class Asked:
    """A source of given words that keeps what it is asked to draw, and draws 1."""

    def __init__(self, *words: int) -> None:
        self.left, self.asked = list(words), []  # type: ignore[var-annotated]

    def words(self, size: int) -> np.ndarray:
        taken, self.left = self.left[:size], self.left[size:]
        return np.array(taken, np.uint64)

    def __getattr__(self, name: str) -> Any:
        def draw(scores: np.ndarray, *rest: Any) -> int:
            self.asked.append((name, scores.tolist(), rest[-1]))
            return 1

        return draw


def epsilon_of(view: Any, relation: Neighbouring) -> float:
    ((charge, _),) = view.charges(relation)
    assert isinstance(charge, Pure)
    return charge.epsilon


def test_shares_of_rows() -> None:
    assert [rows_of_share(0.3, n) for n in (3, 4, 9, 10, 11)] == [0, 1, 2, 3, 3]
    assert [scored_rows(0.3, n) for n in (3, 4, 9, 10, 11)] == [1, 2, 3, 3, 4]


def test_a_share_drawn_with_replacement_costs_more_than_a_part() -> None:
    """``.3 (e - 1)``, as the times that a row comes up have about a Poisson law; without, ``log(1 + .3 (e - 1))``."""
    part = Sample(0.3, LABELS, (Pure(1.0),))
    assert epsilon_of(part, REPLACE) == pytest.approx(math.log1p(0.3 * math.expm1(1.0)))
    again = Sample(0.3, LABELS, (Pure(1.0),), replacement=True)
    assert epsilon_of(again, REPLACE) == pytest.approx(0.3 * math.expm1(1.0))
    with pytest.raises(ValueError, match="public number of rows"):
        again.charges(ADD)


def test_indices_are_drawn_again_beyond_the_last_whole_multiple() -> None:
    """``2**64`` is 2 more than a multiple of 7: of the last two words nothing is made."""
    source = Asked(2**64 - 2, 2**64 - 3, 2**64 - 1, 5)
    assert uniform_indices(source, 7, 2).tolist() == [6, 5]  # type: ignore[arg-type]


def test_parts_cost_what_the_dearest_does_and_share_no_row() -> None:
    plans: tuple[tuple[Charge, ...], ...] = ((Pure(0.2),), (Pure(1.0),), (Pure(0.5),))
    parts = Parts(LABELS, plans)
    assert epsilon_of(parts, ADD) == pytest.approx(1.0)
    rows = Rows(columns_of({"x": np.arange(60)}), np.zeros(60, np.uint8))
    held = [part.labels != DROPPED for part in parts.open(rows, ADD, SystemSource())]
    assert np.sum(held, axis=0).tolist() == [1] * 60
    assert sum(len(part.labels) for part in parts.open(rows, REPLACE, SystemSource())) == 60


@pytest.mark.parametrize(("lengths", "draw"), [(None, "exponential"), ([5, 1, 9], "exponential_runs")])
def test_a_choice_behind_the_gate_is_drawn_at_two_over_epsilon(lengths: list[int] | None, draw: str) -> None:
    source = Asked()
    assert drawn(Scored([3, 0, 7], lengths), 0.5, source) == 1  # type: ignore[arg-type]
    assert source.asked == [(draw, [-3, 0, -7], math.nextafter(4.0, 5.0))]


def private_rows(*charges: Charge) -> PrivateRows:
    return PrivateRows(columns_of({"x": np.array([0.1, 0.9])}), np.arange(2), Reservation(charges, ADD), 0)


def test_a_released_choice_is_charged_by_its_range_before_it_is_made() -> None:
    choice = Relabel(ENCODING, LABELS, (), lambda _: Scored([3, 0]), 1.0, 0.4, (), "claim", public=True)
    rows = private_rows(BoundedRange(0.4))
    assert select_concept(rows, choice, "which") in (0, 1)
    (entry,) = rows._reservation.entries
    assert (entry.charge, entry.theorem) == (BoundedRange(0.4), "claim")
    for release in (
        lambda rows: select_concept(rows, choice, "which"),
        lambda rows: select_member(rows, (), LABELS, BoundedRange(0.4), "which"),
    ):
        with pytest.raises(BudgetExceeded):
            release(private_rows(BoundedRange(0.39)))


def test_a_row_is_in_the_part_no_oftener_than_at_its_rate() -> None:
    """Words below a quarter of all are in; the pattern is chosen among those of the points that are left."""
    view = RelabelPart(ENCODING, LABELS, (), lambda _: Scored([3, 0]), 1.0, 0.5, (Pure(1.0),), "claim", rate=0.25)
    rows = Rows(columns_of({"x": np.array([0.1, 0.9, 0.9])}), np.array([0, 1, 1], np.uint8))
    kept = view.choose(rows, Asked(2**62 - 1, 2**62, 2**63)).kept  # type: ignore[arg-type]
    assert kept.tolist() == [0]
    with pytest.raises(ValueError, match="added or removed"):
        view.charges(REPLACE)


def test_draws_from_a_measure_cost_by_the_size_of_the_measure() -> None:
    child = (Pure(0.1),)
    view = MeasureSample((), 50, 0.3, 7, LABELS, child, Cost(0.1, 0.0))
    assert epsilon_of(view, REPLACE) == pytest.approx(cost_of_draws(Cost(0.1, 0.0), 1 / 50, 7, "sharp").epsilon)
    with pytest.raises(ValueError, match="use replace_one"):
        view.charges(ADD)


def test_units_of_a_measure_that_are_nobodys_draw_a_null_row() -> None:
    """Of a total of four rows, two count: each has a quarter of all units, and a dropped one between them has none."""
    view = MeasureSample((), 4, 0.3, 5, LABELS, (Pure(0.1),), Cost(0.1, 0.0))
    rows = Rows(columns_of({"x": np.array([0.1, 0.5, 0.9])}), np.array([1, DROPPED, 0], np.uint8))
    one = int(view.weights(rows).max())
    assert view.weights(rows).tolist() == [one, 0, one]
    (drawn,) = view.open(rows, REPLACE, Asked(0, one - 1, one, 2 * one, 4 * one - 1))  # type: ignore[arg-type]
    assert drawn.labels.tolist() == [1, 1, 0, DROPPED, DROPPED]
    assert drawn.frame.column("x")[:3].tolist() == [0.1, 0.1, 0.9]


def test_of_patterns_that_agree_on_a_part_the_best_counts() -> None:
    class Patterns(Scored):
        def labels(self, index: int) -> np.ndarray:
            return np.array([index > 0, True, index == 1])

    result = restricted(Patterns([4, 3, 1]), np.array([0, 1]))
    assert [(result.labels(k).tolist(), score) for k, score in enumerate(result.scores)] == [
        ([False, True], 4),
        ([True, True], 1),
    ]
