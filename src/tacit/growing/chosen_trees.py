"""Tree structures whose splits are chosen: level by level, by the exponential mechanism on the edges of all splits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.boosting.measures.mada_boost import mada_boost
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


@dataclass(frozen=True, eq=False)
class EdgeScore:
    """The edge of every cut in every node: by how much the signed weight on its left exceeds what mass alone explains.

    With ``G`` the signed boosting weight of a node's rows (weight of class 1 less that of class 0), ``G_left`` that of
    those left of a cut, and ``part`` a public number between 0 and 1, the edge is ``|G_left - part G|``. A row of
    weight ``w`` moves it by at most ``w``: by ``(1 - part) w`` on the left, by ``part w`` on the right.

    Attributes:
        orders: per column, its codes in the order in which they are cut.
        parts: per column, the part of a node's rows expected left of each cut, in units of :data:`PART_UNIT`, shape
            ``(nodes, codes - 1)``; 0 where the cut is outside the node's box.
    """

    orders: tuple[Ints, ...]
    parts: tuple[Ints, ...]

    def __call__(self, answers: Iterator[Ints]) -> Ints:
        weights = next(answers)
        signed = weights[..., 1] - weights[..., 0]
        scores, start = [], 0
        for order, parts in zip(self.orders, self.parts, strict=True):
            upto = np.cumsum(signed[:, start + order], axis=1)
            edges = np.abs(PART_UNIT * upto[:, :-1] - parts * upto[:, -1:])
            scores.append(np.where(parts > 0, edges, NO_CANDIDATE))
            start += len(order)
        return np.concatenate(scores, axis=1)


def edge_selection(query: SplitHistogram, score: EdgeScore) -> Selection:
    """The choice of a cut in every node, by its edge.

    A row raises the edge of one cut and lowers that of another by at most its weight each: the range is twice that.
    """
    shape = (query.cells.size, sum(len(order) - 1 for order in score.orders))
    movement = 2 * int(query.rule.table.max()) * PART_UNIT
    return Selection((query,), score, shape, movement, THEOREM, holds_for_lighter_rows=True)


class ChosenStructures(RandomStructures):
    """Complete trees whose nodes cut where labels still differ most from what the scores say.

    The edge of a split under the measure of the boosting schema (Bun, Carmosino and Sorrell 2020; the measure is
    MadaBoost's) is what a weak learner that is one split looks for. One choice costs the same however many columns and
    thresholds there are, and the nodes of a level hold disjoint rows, so a level is chosen for the price of a node. In
    little noise such trees see what random ones would need many more of to see; in large noise choices are nearly
    random, and random trees, which cost nothing, are better.

    Args:
        curator: the gate to a table with two labels.
        charge: what the choices of one level cost.
        margins: the log that the measure depends on.
        masses, generator, ranks, reordered: as :class:`~tacit.growing.random_trees.RandomStructures` takes them.
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
        """A complete tree of this depth over the next ``n_columns`` columns; each level costs the charge."""
        columns = tuple(sorted(self._next_columns(min(n_columns, len(self._usable)))))
        sizes = [self._last[column] + 1 for column in columns]
        orders = tuple(self._order(column) for column in columns)
        owners = np.repeat(np.arange(len(columns)), [size - 1 for size in sizes])
        cuts = np.concatenate([np.arange(size - 1) for size in sizes])
        boxes: list[tuple[tuple[int, int], ...]] = [tuple((0, size - 1) for size in sizes)]
        tested: list[int] = []
        at: list[int] = []
        self._trees += 1
        for level in range(depth):
            parts = tuple(self._parts(column, [box[k] for box in boxes]) for k, column in enumerate(columns))
            cells = TreeCells(complete_shape(tested, self._sets(tested, at)))
            query = SplitHistogram(cells, columns, tuple(sizes), self._rule, self._margins)
            text = f"splits of tree {self._trees}, depth {level}"
            label = Label(Stage.SPLITS, f"depth {level}", self._trees, text)
            chosen = self._curator.select(edge_selection(query, EdgeScore(orders, parts)), self._charge, label).indices
            boxes = [
                child
                for box, place in zip(boxes, chosen, strict=True)
                for child in _cut_box(box, int(owners[place]), int(cuts[place]))
            ]
            tested += [columns[owner] for owner in owners[chosen]]
            at += cuts[chosen].tolist()
        return complete_shape(tested, self._sets(tested, at))

    def _order(self, column: int) -> Ints:
        rank = self._ranks[column]
        return np.arange(self._last[column] + 1) if rank is None else np.argsort(rank, kind="stable")

    def _parts(self, column: int, sides: list[tuple[int, int]]) -> Ints:
        """The part of each node's rows expected left of every cut of a column, were columns independent."""
        upto = np.array(self._upto[column])
        low, high = np.array(sides, np.int64).T
        start, whole = upto[low], upto[high + 1] - upto[low]
        parts = (upto[None, 1:-1] - start[:, None]) / np.maximum(whole, 1e-300)[:, None]
        cut = np.arange(len(upto) - 2)
        inside = (cut >= low[:, None]) & (cut < high[:, None])
        units = np.clip(np.rint(parts * PART_UNIT), 1, PART_UNIT - 1)
        units_inside: Ints = np.where(inside, units, 0).astype(np.int64)
        return units_inside


def columns_to_cut(rows: float, numbers: Cutting = CUTTING) -> int:
    """How many columns a tree that chooses its splits may cut, by the released number of rows."""
    return int(max(numbers.most_columns * min(math.sqrt(numbers.wide_upto / rows), 1.0), numbers.least_columns))


def structures_of(
    budget: Budget,
    plan: NewtonPlan,
    margins: Margins,
    cuts: Cuts,
    generator: np.random.Generator,
    tries: int = CUTTING.tries,
) -> tuple[RandomStructures, Budget]:
    """Where a plan's tree structures come from, and the budget that they leave for leaves.

    Args:
        budget: of all trees together, on a table with two labels.
        plan: how trees are grown.
        margins: the log that trees are appended to.
        cuts: what may be cut.
        generator: public randomness.
        tries: as :class:`~tacit.growing.random_trees.RandomStructures` takes it.
    """
    if not plan.choice:
        return RandomStructures(cuts.masses, generator, cuts.ranks, cuts.reordered, tries), budget
    charge = budget.part(plan.choice).split(plan.trees * plan.depth).selection()
    structures = ChosenStructures(budget.curator, charge, margins, cuts.masses, generator, cuts.ranks, cuts.reordered)
    return structures, budget.part(1.0 - plan.choice)


def _cut_box(box: tuple[tuple[int, int], ...], side: int, cut: int) -> list[tuple[tuple[int, int], ...]]:
    """The boxes of the two children; that of a child that no row can reach is one its parent has, too."""
    low, high = box[side]
    left, right = (low, max(min(cut, high), low)), (min(max(cut + 1, low), high), high)
    return [(*box[:side], left, *box[side + 1 :]), (*box[:side], right, *box[side + 1 :])]
