"""Candidate splits and their scores: exact, and no more sensitive than declared."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tacit.binning.measure import Column
from tacit.curator.curator import Curator
from tacit.curator.select import selection_scale
from tacit.engines.blocks import MemoryTable
from tacit.models.tree import complete_shape, threshold_sets
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.charges import BoundedRange, NonPrivate, Pure
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import column_cells
from tacit.queries.histogram import CellFunction, Histogram
from tacit.queries.margins import Margins
from tacit.queries.rules import WEIGHT_UNIT, RowRule, class_count_rule
from tacit.queries.selection import Selection
from tacit.queries.tree_cells import TreeCells
from tacit.theory.trees import node_risk_range
from tacit.trees.induction import SCORE_UNIT, Induction, SplitCandidates, SplitScore, _heaviest, split_selection
from tacit.trees.losses import MATSUSHITA, Loss, MAlphaLoss, SmoothedLoss, SquareLoss

UNWEIGHTED = RowRule(np.full((2, 1, 1), WEIGHT_UNIT, np.int32), WEIGHT_UNIT)
COLUMNS = [Column(0, "age", True), Column(1, "town", False)]
ROOT = TreeCells(complete_shape([], threshold_sets([])))


def candidates() -> SplitCandidates:
    return SplitCandidates.of(COLUMNS, [4, 3], [True, True])


def table(rows: list[tuple[int, int, int]]) -> MemoryTable:
    columns = [np.array([r[k] for r in rows], np.uint8) for k in range(2)]
    return MemoryTable(columns, np.array([r[2] for r in rows], np.uint8), [4, 3], 2, threads=1)


def scores(selection: Selection, rows: list[tuple[int, int, int]]) -> np.ndarray:
    world = table(rows)
    return selection.score(world.answer(query) for query in selection.queries)


def test_scores_are_minus_the_risk_of_the_children() -> None:
    rng = np.random.default_rng(0)
    rows = [(int(a), int(b), int(y)) for a, b, y in zip(*rng.integers(0, (4, 3, 2), (60, 3)).T, strict=True)]
    loss = MAlphaLoss(0.5)
    result = scores(split_selection(ROOT, candidates(), loss, 1000, UNWEIGHTED, Margins()), rows)[0]
    for k, (owner, right) in enumerate(zip(candidates().owners, candidates().right, strict=True)):
        goes = np.unpackbits(right, bitorder="little")[[r[owner] for r in rows]].astype(bool)
        y = np.array([r[2] for r in rows])
        risk = sum(float(loss.node_risk(y[side].sum(), side.sum())) for side in (goes, ~goes))
        assert result[k] == pytest.approx(-risk * SCORE_UNIT, abs=1.5)


def spread(selection: Selection, before: list[tuple[int, int, int]], after: list[tuple[int, int, int]]) -> int:
    moves = scores(selection, after) - scores(selection, before)
    return int((moves.max(axis=1) - moves.min(axis=1)).sum())


@pytest.mark.parametrize("loss", [MATSUSHITA, MAlphaLoss(0.3), SquareLoss(), SmoothedLoss(0.1)], ids=repr)
@pytest.mark.parametrize("cap", [4, 12])
def test_no_neighbour_moves_scores_by_more_than_the_range(loss: Loss, cap: int) -> None:
    """Search over small worlds, some with more rows than the cap; a range 10 % smaller would be found out."""
    rng = np.random.default_rng(3)
    selection = split_selection(ROOT, candidates(), loss, cap, UNWEIGHTED, Margins())
    worlds = [
        [(int(rng.integers(4)), int(rng.integers(3)), 0) for _ in range(int(rng.integers(0, 25)))] for _ in range(60)
    ]
    worlds += [[(0, 0, 0)] * (cap - 1), [(3, 0, 0)] * (cap - 1), [(0, 0, 1)] * (cap - 1) + [(3, 1, 0)]]
    added = swapped = 0
    for rows in worlds:
        for row in product((0, 3), (0, 2), (0, 1)):
            added = max(added, spread(selection, rows, [*rows, row]))
            if rows:
                swapped = max(swapped, spread(selection, rows, [row, *rows[1:]]))
    one = selection.score_range(Neighbouring.ADD_OR_REMOVE_ONE)
    assert 0.9 * one < added <= one
    assert swapped <= selection.score_range(Neighbouring.REPLACE_ONE)


def test_replacing_a_row_reaches_twice_the_range() -> None:
    cap = 10
    selection = split_selection(ROOT, candidates(), MATSUSHITA, cap, UNWEIGHTED, Margins())
    rows = [(3, 0, 0)] * (cap - 1) + [(0, 1, 1)] * 3
    moved = spread(selection, [*rows, (0, 0, 1)], [*rows, (3, 1, 1)])
    bound = selection.score_range(Neighbouring.REPLACE_ONE)
    assert 0.99 * bound < moved <= bound


def test_the_cap_matters() -> None:
    """With weights clipped at the cap itself a row moves Matsushita's scores by more than the range at that cap."""
    honest = split_selection(ROOT, candidates(), MATSUSHITA, 9, UNWEIGHTED, Margins())
    careless = Selection(
        honest.queries, SplitScore(candidates(), MATSUSHITA, 10), honest.shape, honest.movement, honest.theorem
    )
    rows = [(0, 0, 0)] * 9
    assert spread(honest, rows, [*rows, (3, 0, 1)]) <= honest.movement
    assert spread(careless, rows, [*rows, (3, 0, 1)]) > careless.movement


def test_nodes_hold_disjoint_rows() -> None:
    cells = TreeCells(complete_shape([0], threshold_sets([1])))
    selection = split_selection(cells, candidates(), SquareLoss(), 50, UNWEIGHTED, Margins())
    rows = [(0, 0, 0), (3, 1, 1), (2, 2, 0)]
    moves = scores(selection, [*rows, (3, 2, 1)]) - scores(selection, rows)
    assert np.all(moves[0] == 0)
    assert np.any(moves[1] != 0)


def test_weights_must_lie_in_the_unit_interval() -> None:
    heavy = RowRule(np.full((2, 1, 1), WEIGHT_UNIT + 1, np.int32), WEIGHT_UNIT)
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        split_selection(ROOT, candidates(), MATSUSHITA, 9, heavy, Margins())


def test_the_leaf_of_largest_risk_moves_by_at_most_the_range() -> None:
    cells, cap = TreeCells(complete_shape([0], threshold_sets([1]))), 8
    selection = _heaviest(cells, candidates(), MATSUSHITA, cap, UNWEIGHTED, Margins(), np.array([True, True]))
    worst = 0
    for zeros, ones in product(range(14), range(4)):
        rows = [(0, 0, 0)] * zeros + [(0, 1, 1)] * ones + [(3, 0, 0)]
        for row in product((0, 3), (0,), (0, 1)):
            worst = max(worst, spread(selection, rows, [*rows, row]))
    assert 0.9 * selection.movement < worst <= selection.movement
    deep = _heaviest(cells, candidates(), MATSUSHITA, cap, UNWEIGHTED, Margins(), np.array([False, True]))
    assert int(scores(deep, [(0, 0, 0), (0, 0, 1), (3, 0, 0)]).argmax()) == 1


def gate(rows: list[tuple[int, int, int]], *charges: object) -> tuple[Curator, Reservation]:
    reservation = Reservation(charges or [NonPrivate()], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    return Curator(table(rows), reservation, SeededSource(0)), reservation


def test_induction_finds_the_best_splits_without_noise() -> None:
    rows = [(a, b, int((a >= 2) ^ (b == 1))) for a, b in product(range(4), range(3))] * 5
    curator, reservation = gate(rows)
    induction = Induction(curator, candidates(), 1000, 2)
    shape = induction.levels(UNWEIGHTED, Margins(), NonPrivate(), lambda *_: MATSUSHITA, "tree")
    codes = [np.array([r[k] for r in rows], np.uint8) for k in range(2)]
    leaves, y = shape.find(codes), np.array([r[2] for r in rows])
    assert all(len(set(y[leaves == leaf])) <= 1 for leaf in range(4))
    assert len(reservation.entries) == 2


def test_growth_by_largest_risk() -> None:
    """It goes where the risk is: the pure half stays a leaf."""
    rows = [(a, b, int(a >= 2 and b == 1)) for a, b in product(range(4), range(3))] * 5
    curator, _ = gate(rows)
    induction = Induction(curator, candidates(), 1000, 16)
    shape = induction.heaviest_first(UNWEIGHTED, Margins(), NonPrivate(), MATSUSHITA, 3, "tree")
    codes = [np.array([r[k] for r in rows], np.uint8) for k in range(2)]
    leaves, y = shape.find(codes), np.array([r[2] for r in rows])
    assert shape.n_leaves == 3
    assert sorted(shape.depths.tolist()) == [1, 2, 2]
    assert all(len(set(y[leaves == leaf])) <= 1 for leaf in range(3))
    # not beyond the largest depth, wherever the risk is
    curator, _ = gate([(3, b, y) for b, y in product(range(3), range(2))] * 9 + [(0, 0, 0), (0, 1, 0)] * 9)
    shape = Induction(curator, candidates(), 1000, 2).heaviest_first(
        UNWEIGHTED, Margins(), NonPrivate(), MATSUSHITA, 4, "tree"
    )
    assert shape.depths.tolist() == [2, 2, 2, 2]


def test_charges_of_growth() -> None:
    rows = [(0, 0, 0), (3, 1, 1)] * 20
    epsilon = 1.0
    curator, reservation = gate(rows, Pure(epsilon))
    induction = Induction(curator, candidates(), 100, 3)
    induction.levels(UNWEIGHTED, Margins(), BoundedRange(0.1), lambda *_: MATSUSHITA, "tree")
    assert [e.charge for e in reservation.entries] == [BoundedRange(0.1)] * 3
    induction.nodes(UNWEIGHTED, Margins(), lambda d: BoundedRange(0.1 / 2**d), lambda *_: MATSUSHITA, "t", lambda _: 1)
    nodes = [e.charge.range for e in reservation.entries[3:]]
    assert nodes == [0.1] + [0.05] * 2 + [0.025] * 4
    induction.heaviest_first(UNWEIGHTED, Margins(), BoundedRange(0.01), MATSUSHITA, 4, "tree")
    assert len(reservation.entries) == 3 + 7 + 5  # a leaf and a split each time, but the first leaf is known


def test_a_smaller_movement_is_never_used() -> None:
    sharp = split_selection(ROOT, candidates(), MATSUSHITA, 100, UNWEIGHTED, Margins())
    assert split_selection(ROOT, candidates(), MATSUSHITA, 100, UNWEIGHTED, Margins(), 5).movement == sharp.movement
    larger = split_selection(ROOT, candidates(), MATSUSHITA, 100, UNWEIGHTED, Margins(), 2 * sharp.movement)
    assert larger.movement == 2 * sharp.movement
    assert selection_scale(larger.movement, BoundedRange(1.0)) == larger.movement


@pytest.mark.sensitivity_of("CellFunction")
def test_a_function_of_cells_moves_by_its_clip() -> None:
    """Whatever the function: here one that jumps as far as it can on any change of its cell."""

    def jumpy(sums: np.ndarray) -> int:
        return 10**9 if int(sums.sum()) % 2 else -(10**9)

    query = CellFunction(Histogram(column_cells(0, 4), class_count_rule(2)), jumpy, 7, 1)
    answers = {
        size: [table(rows).answer(query) for rows in product([(0, 0, 0), (1, 0, 1), (3, 0, 0)], repeat=size)]
        for size in (1, 2)
    }
    base = table([(0, 0, 0), (1, 0, 1)]).answer(query)
    assert base.tolist() == [7, 7, -7, -7]
    for relation, others in (
        (Neighbouring.ADD_OR_REMOVE_ONE, [table([(0, 0, 0)]).answer(query)]),
        (Neighbouring.REPLACE_ONE, [table([(0, 0, 0), (k, 0, 0)]).answer(query) for k in range(4)]),
    ):
        bound = query.sensitivity(relation)
        moved = [np.abs(base - other) for other in others]
        assert max(int(m.sum()) for m in moved) == bound.l1
        assert max(int((m**2).sum()) for m in moved) == bound.l2_squared
    assert all(np.abs(a).max() == 7 for group in answers.values() for a in group)
    with pytest.raises(ValueError, match="positive"):
        CellFunction(query.histogram, jumpy, 0, 1)


@pytest.mark.parametrize("cap", [2, 1000, 10**10])
def test_what_is_charged_has_room_for_rounding(cap: int) -> None:
    """The range, twice the error of two scores at either end (149 units each at 10**10 rows), and whole units."""
    for loss in (SquareLoss(), MAlphaLoss(1.0)):
        exact = node_risk_range(loss.bayes_risk, cap) * SCORE_UNIT
        room = SplitScore(SplitCandidates((), ()), loss, cap).movement - exact
        assert 0 < room - 4 * (4.0 * cap * 2.0**-44 * SCORE_UNIT) < 4
