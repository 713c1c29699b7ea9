"""Growing one tree by the exponential mechanism: full levels, or the leaf of largest risk first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Bools, Ints
from tacit.curator.curator import Curator
from tacit.models.tree import TreeShape, complete_shape
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.margins import Margins
from tacit.queries.rules import WEIGHT_UNIT, RowRule
from tacit.queries.selection import Selection, floored, floored_movement
from tacit.queries.tree_cells import SplitHistogram, TreeCells
from tacit.theory.trees import node_risk_range
from tacit.trees.losses import Loss
from tacit.trees.splits import FLOAT_ERROR, SCORE_UNIT, SplitCandidates, SplitScore, split_selection

LossOfLevel = Callable[[int, TreeCells], Loss]
"""The loss that scores the splits of a level, given the leaves that are to be split (a loss may be released)."""


@dataclass(frozen=True, eq=False)
class Induction:
    """What all trees of a fit share.

    Attributes:
        curator: the only access to the rows.
        candidates: the public splits.
        cap: a public bound on the weight of a node; see :class:`tacit.trees.splits.SplitScore`.
        depth: of the trees, at most 16.
    """

    curator: Curator
    candidates: SplitCandidates
    cap: int
    depth: int

    def levels(
        self, rule: RowRule, margins: Margins, charge: Charge, loss_of_level: LossOfLevel, tree: int
    ) -> TreeShape:
        """A complete tree, level by level: each level costs ``charge``, once for all its nodes.

        No test decides whether to split: that would spend budget, or leak.
        """
        splits: list[int] = []
        for level in range(self.depth):
            cells = TreeCells(self._complete(splits))
            selection = split_selection(cells, self.candidates, loss_of_level(level, cells), self.cap, rule, margins)
            chosen = self.curator.select(selection, charge, Label(Stage.SPLITS, f"splits of depth {level}", tree))
            splits += chosen.indices.tolist()
        return self._complete(splits)

    def nodes(
        self,
        rule: RowRule,
        margins: Margins,
        charge_of_depth: Callable[[int], Charge],
        loss_of_level: LossOfLevel,
        tree: int,
        movement: Callable[[Loss], int],
    ) -> TreeShape:
        """A complete tree node by node, each node charged by itself: the paper's way."""
        splits: list[int] = []
        for level in range(self.depth):
            cells = TreeCells(self._complete(splits))
            loss = loss_of_level(level, cells)
            whole = split_selection(cells, self.candidates, loss, self.cap, rule, margins, movement(loss))
            for node in range(cells.size):
                one = _only(whole, node)
                chosen = self.curator.select(
                    one, charge_of_depth(level), Label(Stage.SPLITS, f"node {node} of depth {level}", tree)
                )
                splits.append(int(chosen.indices[0]))
        return self._complete(splits)

    def heaviest_first(
        self, rule: RowRule, margins: Margins, charge: Charge, loss: Loss, leaves: int, tree: int
    ) -> TreeShape:
        """The top-down growth of Kearns and Mansour: split the leaf of largest risk, ``leaves - 1`` times.

        Finding the leaf costs ``charge``, and so does choosing its split: private choices one after the other. No leaf
        at the largest depth is split.
        """
        nodes: list[tuple[int, int, int] | None] = [None]  # (candidate, left, right) of a split, None for a leaf
        for step in range(leaves - 1):
            shape, order = _flatten(nodes, self.candidates)
            cells = TreeCells(shape)
            place = 0
            if step > 0:
                heavy = _heaviest(cells, self.candidates, loss, self.cap, rule, margins, shape.depths < self.depth)
                place = int(
                    self.curator.select(heavy, charge, Label(Stage.SPLITS, f"leaf of split {step + 1}", tree)).indices[
                        0
                    ]
                )
            whole = split_selection(cells, self.candidates, loss, self.cap, rule, margins)
            chosen = self.curator.select(_only(whole, place), charge, Label(Stage.SPLITS, f"split {step + 1}", tree))
            nodes[order[place]] = (int(chosen.indices[0]), len(nodes), len(nodes) + 1)
            nodes += [None, None]
        return _flatten(nodes, self.candidates)[0]

    def _complete(self, splits: list[int]) -> TreeShape:
        return complete_shape(self.candidates.owners[splits], self.candidates.right[splits])


def _only(selection: Selection, node: int) -> Selection:
    """The same choice in one node alone."""
    whole = selection.score
    assert isinstance(whole, SplitScore)
    one = replace(whole, node=node)
    return Selection(selection.queries, one, (1, selection.shape[1]), selection.movement, selection.theorem)


def _heaviest(
    cells: TreeCells,
    candidates: SplitCandidates,
    loss: Loss,
    cap: int,
    rule: RowRule,
    margins: Margins,
    splittable: Bools,
) -> Selection:
    """The choice of the leaf of largest risk: a row raises the risk of one leaf, by at most ``cap L(1 / cap)``."""
    query = SplitHistogram(cells, candidates.columns[:1], candidates.n_codes[:1], rule, margins)

    def score(answers: Iterator[Ints]) -> Ints:
        weights = np.minimum(next(answers).sum(axis=1), (cap - 1) * WEIGHT_UNIT) / WEIGHT_UNIT
        risk = np.where(splittable, loss.node_risk(weights[:, 1], weights.sum(axis=1)), -np.inf)
        return floored(risk, SCORE_UNIT)[None, :]

    largest = node_risk_range(loss.bayes_risk, cap)
    movement = floored_movement(0.0, largest, SCORE_UNIT, 4.0 * cap * FLOAT_ERROR)
    theorem = f"leaf of largest risk: a row moves one leaf by at most {cap} L(1/{cap}) (node_risk_range)"
    return Selection((query,), score, (1, cells.size), movement, theorem)


def _flatten(nodes: list[tuple[int, int, int] | None], candidates: SplitCandidates) -> tuple[TreeShape, list[int]]:
    """The shape, with leaves from left to right, and which node each leaf is."""
    chosen: list[int] = []
    children: list[list[int]] = []
    order: list[int] = []

    def visit(node: int) -> int:
        split = nodes[node]
        if split is None:
            order.append(node)
            return -len(order)
        place = len(chosen)
        chosen.append(split[0])
        children.append([0, 0])
        children[place] = [visit(split[1]), visit(split[2])]
        return place

    visit(0)
    shape = TreeShape(
        candidates.owners[chosen], candidates.right[chosen], np.array(children, np.int64).reshape(len(chosen), 2)
    )
    return shape, order
