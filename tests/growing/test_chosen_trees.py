"""Trees whose splits are chosen: edges are exact, move no further than declared, and are chosen as they should be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacit.boosting.mada_boost import mada_boost
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.curator.rows import WeightedCurator
from tacit.engines.blocks import MemoryTable
from tacit.growing.chosen_trees import (
    NO_CANDIDATE,
    PART_UNIT,
    ChosenStructures,
    EdgeScore,
    edge_selection,
    structures_of,
)
from tacit.growing.newton_trees import NewtonPlan
from tacit.growing.random_trees import Cuts, RandomStructures
from tacit.models.tree import complete_shape, threshold_sets
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import BoundedRange, Charge, Gaussian, NonPrivate
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import column_cells
from tacit.queries.margins import MARGIN_BITS, Margins
from tacit.queries.rules import WEIGHT_UNIT, level_weights
from tacit.queries.selection import Selection
from tacit.queries.tree_cells import SplitHistogram, TreeCells, class_weight_rule

SIZES = [4, 3]
RULE = class_weight_rule(mada_boost, split=False)
MOVEMENT = 2 * WEIGHT_UNIT * PART_UNIT
"""What an edge selection declares; the search below finds it."""

ROOT = TreeCells(complete_shape([], threshold_sets([])))

Row = tuple[int, int, int]


def table(rows: list[Row]) -> MemoryTable:
    columns = [np.array([r[k] for r in rows], np.uint8) for k in range(2)]
    return MemoryTable(columns, np.array([r[2] for r in rows], np.uint8), SIZES, 2, threads=1)


def structures(
    rows: list[Row],
    charge: Charge | None = None,
    masses: list[list[float]] | None = None,
    seed: int = 0,
    ranks: list[np.ndarray | None] | None = None,
    relation: Neighbouring = Neighbouring.ADD_OR_REMOVE_ONE,
    margins: Margins | None = None,
) -> tuple[ChosenStructures, Reservation]:
    charge = charge or NonPrivate()
    planned = NonPrivate() if isinstance(charge, NonPrivate) else Gaussian(1e-3)
    reservation = Reservation([planned], relation, "test")
    curator = Curator(table(rows), reservation, SeededSource(seed))
    held = [np.array(mass) for mass in masses or [[1.0] * size for size in SIZES]]
    return ChosenStructures(curator, charge, margins or Margins(), held, curator.public_generator, ranks), reservation


def selection(parts: list[list[int]], margins: Margins | None = None) -> Selection:
    """The choice at the root, with these parts."""
    query = SplitHistogram(ROOT, (0, 1), tuple(SIZES), RULE, margins or Margins())
    orders = tuple(np.arange(size) for size in SIZES)
    return edge_selection(query, EdgeScore(orders, tuple(np.array([part]) for part in parts)))


def scores(choice: Selection, rows: list[Row]) -> np.ndarray:
    world = table(rows)
    return choice.score(world.answer(query) for query in choice.queries)


HALF = PART_UNIT // 2


def test_an_edge_is_what_mass_does_not_explain():
    rng = np.random.default_rng(0)
    rows = [tuple(int(v) for v in r) for r in rng.integers(0, (4, 3, 2), (70, 3))]
    margins = Margins()
    margins.add(column_cells(0, 4), np.array([-1.0, 0.0, 0.5, 2.0]))
    steps = margins.updates[0].values / 2.0**MARGIN_BITS
    parts = [[150, 460, 930], [310, 780]]
    result = scores(selection(parts, margins), rows)[0] / (PART_UNIT * WEIGHT_UNIT)
    signed = [(2 * y - 1) * float(mada_boost(np.array((2 * y - 1) * steps[a]))) for a, b, y in rows]
    expected = [
        abs(sum(g for g, r in zip(signed, rows, strict=True) if r[k] <= cut) - part / PART_UNIT * sum(signed))
        for k, of in enumerate(parts)
        for cut, part in enumerate(of)
    ]
    assert result == pytest.approx(expected, abs=0.2)  # levels of margins are 1/128 wide


def spread(choice: Selection, before: list[Row], after: list[Row]) -> int:
    moves = scores(choice, after) - scores(choice, before)
    return int((moves.max(axis=1) - moves.min(axis=1)).sum())


def test_no_neighbour_moves_edges_by_more_than_the_range_and_some_reach_it():
    """Search over small worlds and parts; a range a tenth smaller would be found out."""
    rng = np.random.default_rng(1)
    added, replaced = 0, 0
    for _ in range(60):
        parts = [np.sort(rng.integers(1, PART_UNIT, size - 1)).tolist() for size in SIZES]
        if rng.random() < 0.3:
            parts = [[1] * (size - 2) + [PART_UNIT - 1] for size in SIZES]
        choice = selection(parts)
        rows = [tuple(int(v) for v in r) for r in rng.integers(0, (4, 3, 2), (int(rng.integers(0, 6)), 3))]
        grown = [(a, b, y) for a in range(4) for b in range(3) for y in range(2)]
        for row in grown:
            added = max(added, spread(choice, rows, [*rows, row]))
            other = grown[int(rng.integers(len(grown)))]
            replaced = max(replaced, spread(choice, [*rows, row], [*rows, other]))
    assert selection(parts).movement == MOVEMENT
    assert 0.9 * MOVEMENT < added <= selection(parts).score_range(Neighbouring.ADD_OR_REMOVE_ONE)
    assert replaced <= selection(parts).score_range(Neighbouring.REPLACE_ONE)
    assert replaced > 0.9 * MOVEMENT


def test_a_row_moves_its_own_node_alone_and_cuts_outside_a_box_are_no_candidates():
    cells = TreeCells(complete_shape([0], threshold_sets([1])))
    query = SplitHistogram(cells, (0, 1), tuple(SIZES), RULE, Margins())
    parts = (np.array([[HALF, 0, 0], [0, 0, HALF]]), np.array([[HALF, HALF]] * 2))
    choice = edge_selection(query, EdgeScore(tuple(map(np.arange, SIZES)), parts))
    assert choice.shape == (2, 5)
    rows = [(0, 0, 0), (3, 1, 1), (2, 2, 0)]
    before, after = scores(choice, rows), scores(choice, [*rows, (3, 2, 1)])
    assert (before[0] == after[0]).all()
    assert (before[1] != after[1]).any()
    assert (before == NO_CANDIDATE).tolist() == [[False, True, True, False, False], [True, True, False, False, False]]


def test_the_first_split_is_drawn_from_the_exponential_mechanism():
    """Frequencies of the first split against ``exp(range edge / 2)``; a range a fifth larger is rejected."""
    rows = [(0, 0, 1), (0, 1, 1), (1, 2, 0), (3, 0, 0), (2, 1, 1), (3, 2, 0), (3, 1, 0)]
    span, draws = 3.0, 2500
    counts = np.zeros(5)
    for seed in range(draws):
        chooser, _ = structures(rows, BoundedRange(span), seed=seed)
        shape = chooser.draw(1, 2)
        above = np.flatnonzero(shape.goes_right(0)[: SIZES[int(shape.columns[0])]])
        counts[(0 if shape.columns[0] == 0 else 3) + above[0] - 1] += 1
    quarter, third = PART_UNIT / 4, PART_UNIT / 3
    parts = [[round(quarter), round(2 * quarter), round(3 * quarter)], [round(third), round(2 * third)]]
    edges = scores(selection(parts), rows)[0] / (WEIGHT_UNIT * PART_UNIT)

    def distance(scale: float) -> float:
        weights = np.exp(span * scale * edges / 2)
        expected = draws * weights / weights.sum()
        return float(((counts - expected) ** 2 / expected).sum())

    assert distance(1.0) < 48.0  # chi squared with 4 degrees of freedom: beyond it once in 1e9
    assert distance(1.2) > 60.0


def test_every_level_costs_the_charge_once_and_a_pool_pays_for_it():
    rows = [(0, 0, 0), (3, 1, 1)] * 20
    for relation in Neighbouring:
        chooser, reservation = structures(rows, BoundedRange(0.2), relation=relation)
        for _ in range(3):
            chooser.draw(4, 2)
        assert [entry.charge for entry in reservation.entries] == [BoundedRange(0.2)] * 12
    assert reservation.entries[-1].label == "splits of tree 3, depth 3"


@pytest.mark.parametrize("masses", [[[1.0], [1.0]], [[0.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]])
def test_odd_tables_have_trees_too(masses):
    """No column to cut; a column whose mass is thought to be in one code; deeper than there are cuts; no rows."""
    sizes = [len(mass) for mass in masses]
    for rows in ([], [(0, 0, 1)]):
        reservation = Reservation([Gaussian(1e-3)], Neighbouring.ADD_OR_REMOVE_ONE, "test")
        columns = [np.array([r[k] for r in rows], np.uint8) for k in range(2)]
        sealed = MemoryTable(columns, np.array([r[2] for r in rows], np.uint8), sizes, 2, threads=1)
        curator = Curator(sealed, reservation, SeededSource(0))
        chooser = ChosenStructures(
            curator, BoundedRange(0.5), Margins(), [np.array(m) for m in masses], curator.public_generator
        )
        if not chooser.can_split:
            assert max(sizes) == 1
            continue
        shape = chooser.draw(6, 5)
        assert shape.is_complete
        assert shape.n_leaves == 64


def test_boxes_shrink_as_they_are_cut():
    """A child cuts what its parent left of a column, even where choices are blind."""
    rng = np.random.default_rng(2)
    rows = [tuple(int(v) for v in r) for r in rng.integers(0, (4, 3, 2), (200, 3))]
    chooser, _ = structures(rows, BoundedRange(1e-3))
    for _ in range(60):
        shape = chooser.draw(2, 2)
        cuts = [
            (int(column), int(np.flatnonzero(shape.goes_right(k)[: SIZES[int(column)]])[0]))
            for k, column in enumerate(shape.columns)
        ]
        root, left, right = cuts
        assert left[0] != root[0] or left[1] < root[1]
        assert right[0] != root[0] or right[1] > root[1]


def weighted(rows: list[Row], levels: list[int], classes: tuple[float, float]) -> WeightedCurator:
    """The gate to rows with weights of their own, and of their classes."""
    weights = level_weights()
    labels = np.array([y * len(weights) + level for (_, _, y), level in zip(rows, levels, strict=True)], np.uint16)
    columns = [np.array([r[k] for r in rows], np.uint8) for k in range(2)]
    sealed = MemoryTable(columns, labels, SIZES, 2 * len(weights), threads=1)
    reservation = Reservation([NonPrivate()], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    return WeightedCurator(sealed, reservation, SeededSource(0), 1, classes, weights)


def edges_of(curator: Curator, parts: list[list[int]]) -> np.ndarray:
    """The scores that a choice is made by, caught on their way."""
    caught = []
    whole = selection(parts)

    def score(answers):
        caught.append(whole.score(answers))
        return caught[0]

    curator.select(replace(whole, score=score), NonPrivate(), "look")
    return caught[0]


def test_weighted_rows_weigh_less_in_edges_and_move_them_no_further():
    rng, full = np.random.default_rng(4), len(level_weights()) - 1
    parts = [[HALF, 1, PART_UNIT - 1], [HALF, PART_UNIT - 1]]
    rows = [tuple(int(v) for v in r) for r in rng.integers(0, (4, 3, 2), (12, 3))]
    plain = scores(selection(parts), rows)
    assert (edges_of(weighted(rows, [full] * 12, (1.0, 1.0)), parts) == plain).all()
    halves = edges_of(weighted(rows, [full - 10] * 12, (1.0, 1.0)), parts)  # ten levels to an octave
    assert halves == pytest.approx(plain / 2, abs=PART_UNIT * 12)
    ones = [(a, b, 1) for a, b, y in rows if y]
    assert (edges_of(weighted(rows, [full] * 12, (0.0, 1.0)), parts) == scores(selection(parts), ones)).all()
    worst = 0
    for row in [(a, b, y) for a in range(4) for b in range(3) for y in range(2)]:
        for level in (0, 30, full - 5, full):
            classes = (float(rng.uniform(0.5, 1.0)), 1.0)
            before = edges_of(weighted(rows, [full] * 12, classes), parts)
            moves = edges_of(weighted([*rows, row], [*[full] * 12, level], classes), parts) - before
            worst = max(worst, int(moves.max() - moves.min()))
            assert level > 0 or worst == 0 or not moves.any()
    assert 0.9 * MOVEMENT < worst <= MOVEMENT


def test_a_choice_that_does_not_hold_for_lighter_rows_is_refused_before_anything_is_read():
    curator = weighted([(0, 0, 0), (1, 1, 1)], [50, 60], (1.0, 1.0))
    with pytest.raises(TypeError, match="unweighted"):
        curator.select(replace(selection([[1, 1, 1], [1, 1]]), holds_for_lighter_rows=False), NonPrivate(), "no")


def test_a_plan_that_chooses_leaves_the_rest_for_leaves():
    allowance, margins, masses = Allowance.of(1.0, 1e-6), Margins(), [np.ones(4), np.ones(3)]
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    curator = Curator(table([(0, 0, 0), (3, 1, 1)]), reservation, SeededSource(0))
    plan = NewtonPlan(trees=5, depth=3, choice=0.6)
    generator = curator.public_generator
    choosing, growing = structures_of(Budget(curator, allowance, 0.5), plan, margins, Cuts(masses), generator)
    assert isinstance(choosing, ChosenStructures)
    assert growing.share == pytest.approx(0.2)
    for _ in range(5):
        choosing.draw(3, 2)
    spent = sum(entry.charge.precision for entry in reservation.entries)
    assert spent == pytest.approx(0.3 * allowance.mu**2)
    blind = replace(plan, choice=0.0)
    random, whole = structures_of(Budget(curator, allowance, 0.5), blind, margins, Cuts(masses), generator)
    assert type(random) is RandomStructures
    assert whole.share == 0.5
