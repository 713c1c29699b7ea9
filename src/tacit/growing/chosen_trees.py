"""Tree structures whose splits are chosen: level by level, by the exponential mechanism on the edges of all splits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numba as nb
import numpy as np

from tacit.arrays import Floats, Ints
from tacit.boosting.mada_boost import mada_boost
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.growing.newton_trees import NewtonPlan
from tacit.growing.random_trees import Cuts, RandomStructures
from tacit.growing.tuning import CUTTING, Cutting
from tacit.models.tree import TreeShape, complete_shape
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.margins import Margins
from tacit.queries.selection import Selection
from tacit.queries.tree_cells import SplitHistogram, TreeCells, class_weight_rule

PART_UNIT = 1 << 10
"""Not tuned: integer units of a whole node: what part of it is expected on the left of a cut. Few, as scores grow with
them and with the rows that one protected unit may hold."""

NO_CANDIDATE = -(1 << 62)
"""Not tuned: the score of a cut outside a node's box: below any edge, and the same whatever the rows are."""

THEOREM = "edges of splits: a row moves each by at most its weight, up or down"


@nb.njit(nogil=True, cache=True)
def expected_parts(upto, low, high, parts):  # type: ignore[no-untyped-def]
    """The part of each node's rows expected left of the cuts in its box, were columns independent, in integer units.

    ``upto`` is the mass before each place of a column, and all of it; boxes reach from ``low`` to ``high``. In
    ``parts`` cuts outside a box keep what they have.
    """
    for node in range(len(low)):
        start = upto[low[node]]
        whole = max(upto[high[node] + 1] - start, 1e-300)
        for cut in range(low[node], high[node]):
            part = np.rint((upto[cut + 1] - start) / whole * PART_UNIT)
            parts[node, cut] = np.int64(min(max(part, 1.0), PART_UNIT - 1.0))


@nb.njit(nogil=True, cache=True)
def column_edges(weights, start, order, parts, first, scores):  # type: ignore[no-untyped-def]
    """Writes the edges of a column's cuts in every node to ``scores``, from its candidate ``first`` on.

    ``weights`` are by node, code of all columns side by side (the column's from ``start`` on), and class; ``order`` has
    the codes as they are cut; ``parts`` are those of :class:`EdgeScore`.
    """
    for node in range(len(parts)):
        whole = upto = np.int64(0)
        for code in range(start, start + len(order)):
            whole += weights[node, code, 1] - weights[node, code, 0]
        for cut in range(len(order) - 1):
            code, part = start + order[cut], parts[node, cut]
            upto += weights[node, code, 1] - weights[node, code, 0]
            scores[node, first + cut] = abs(PART_UNIT * upto - part * whole) if part > 0 else NO_CANDIDATE


@dataclass(frozen=True, eq=False)
class EdgeScore:
    """The edge of every cut in every node: by how much the signed weight on its left exceeds what mass alone explains.

    With ``G`` the signed boosting weight of a node's rows (weight of class 1 less that of class 0), ``G_left`` that of
    those left of a cut, and ``part`` a public number between 0 and 1, the edge is ``|G_left - part G|``. A row of
    weight ``w`` moves it by at most ``w``: by ``(1 - part) w`` on the left, by ``part w`` on the right.
    """

    orders: tuple[Ints, ...]  # per column, its codes in the order in which they are cut
    # per column, the part of a node's rows expected left of each cut, in units of `PART_UNIT`, shape `(nodes, codes -
    # 1)`; 0 where the cut is outside the node's box
    parts: tuple[Ints, ...]

    def __call__(self, answers: Iterator[Ints]) -> Ints:
        weights = next(answers)
        scores = np.empty((len(weights), sum(len(order) - 1 for order in self.orders)), np.int64)
        start = first = 0
        for order, parts in zip(self.orders, self.parts, strict=True):
            column_edges(weights, start, order, parts, first, scores)
            start, first = start + len(order), first + len(order) - 1
        return scores


def edge_selection(query: SplitHistogram, score: EdgeScore) -> Selection:
    """The choice of a cut in every node, by its edge.

    A row raises the edge of one cut and lowers that of another by at most its weight each: the range is twice that.
    """
    shape = (query.cells.size, sum(len(order) - 1 for order in score.orders))
    movement = 2 * int(query.rule.table.max()) * PART_UNIT
    return Selection((query,), score, shape, movement, THEOREM, holds_for_lighter_rows=True)


class ChosenStructures(RandomStructures):
    """Complete trees whose nodes cut where labels still differ most from what the scores (``margins``) say.

    The edge of a split under the measure of the boosting schema (Bun, Carmosino and Sorrell 2020; the measure is
    MadaBoost's) is what a weak learner that is one split looks for. One choice costs the same however many columns and
    thresholds there are, and the nodes of a level hold disjoint rows, so a level is chosen for the price of a node,
    ``charge``. In little noise such trees see what random ones would need many more of to see; in large noise choices
    are nearly random, and random trees, which cost nothing, are better.
    """

    def __init__(
        self,
        curator: Curator,
        charge: Charge,
        margins: Margins,
        masses: Sequence[Floats],
        generator: np.random.Generator,
        ranks: Sequence[Ints | None] | None = None,
        reordered: Sequence[int] = (),
    ) -> None:
        super().__init__(masses, generator, ranks, reordered)
        self._curator, self._charge, self._margins = curator, charge, margins
        self._rule = class_weight_rule(mada_boost, split=False)
        self._trees = 0

    def draw(self, depth: int, n_columns: int) -> TreeShape:
        columns = tuple(sorted(self._next_columns(min(n_columns, len(self._usable)))))
        sizes = [self._last[column] + 1 for column in columns]
        orders = tuple(self._order(column) for column in columns)
        owners = np.repeat(np.arange(len(columns)), [size - 1 for size in sizes])
        cuts = np.concatenate([np.arange(size - 1) for size in sizes])
        low, high = np.zeros((len(columns), 1), np.int64), np.array(sizes, np.int64)[:, None] - 1
        tested: list[int] = []
        at: list[int] = []
        self._trees += 1
        for level in range(depth):
            parts = tuple(self._parts(column, low[k], high[k]) for k, column in enumerate(columns))
            cells = TreeCells(complete_shape(tested, self._sets(tested, at)))
            query = SplitHistogram(cells, columns, tuple(sizes), self._rule, self._margins)
            text = f"splits of tree {self._trees}, depth {level}"
            label = Label(Stage.SPLITS, f"depth {level}", self._trees, text)
            indices = self._curator.select(edge_selection(query, EdgeScore(orders, parts)), self._charge, label).indices
            low, high = _cut_boxes(low, high, owners[indices], cuts[indices])
            tested += [columns[owner] for owner in owners[indices]]
            at += cuts[indices].tolist()
        return complete_shape(tested, self._sets(tested, at))

    def _order(self, column: int) -> Ints:
        rank = self._ranks[column]
        return np.arange(self._last[column] + 1) if rank is None else np.argsort(rank, kind="stable")

    def _parts(self, column: int, low: Ints, high: Ints) -> Ints:
        """The part of each node's rows expected left of every cut of a column; 0 outside its box."""
        parts = np.zeros((len(low), self._last[column]), np.int64)
        expected_parts(self._upto[column], low, high, parts)
        return parts


def columns_to_cut(rows: float, numbers: Cutting = CUTTING) -> int:
    """How many columns a tree that chooses its splits may cut, by the released number of rows."""
    return int(max(numbers.most_columns * min(math.sqrt(numbers.wide_upto / rows), 1.0), numbers.least_columns))


def structures_of(
    budget: Budget,
    plan: NewtonPlan,
    margins: Margins,
    cuts: Cuts,
    generator: np.random.Generator,
    numbers: Cutting = CUTTING,
) -> tuple[RandomStructures, Budget]:
    """Where a plan's tree structures come from, and the budget that they leave for leaves."""
    if not plan.choice:
        return RandomStructures(cuts.masses, generator, cuts.ranks, cuts.reordered, numbers), budget
    charge = budget.part(plan.choice).split(plan.trees * plan.depth).selection()
    structures = ChosenStructures(budget.curator, charge, margins, cuts.masses, generator, cuts.ranks, cuts.reordered)
    return structures, budget.part(1.0 - plan.choice)


def _cut_boxes(low: Ints, high: Ints, sides: Ints, cuts: Ints) -> tuple[Ints, Ints]:
    """The boxes of all children, from left to right; that of a child that no row can reach is one its parent has, too.

    ``low`` and ``high`` are the first and last places of every node's box, shape ``(columns, nodes)``; ``sides`` and
    ``cuts`` the column that is cut at each node, and the last place that goes left.
    """
    lefts = 2 * np.arange(len(sides))
    low, high = np.repeat(low, 2, axis=1), np.repeat(high, 2, axis=1)
    first, last = low[sides, lefts], high[sides, lefts]
    high[sides, lefts] = np.maximum(np.minimum(cuts, last), first)
    low[sides, lefts + 1] = np.minimum(np.maximum(cuts + 1, first), last)
    return low, high
