"""Growing one tree by the exponential mechanism over public splits: full levels, or the riskiest leaf first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from tacit.arrays import CODES, Bools, Bytes, Floats, Ints
from tacit.binning.measure import Column
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

SUBSET_CATEGORIES = 5
"""Up to this many codes every two-way split of a category is a candidate; beyond, one against the rest."""

SCORE_UNIT = 1 << 16  # not tuned: integer units of a score

FLOAT_ERROR = 2.0**-44
"""Not tuned: a bound on the relative rounding error of a score: some dozens of operations at 2**-53 each."""


@dataclass(frozen=True, eq=False)
class SplitCandidates:
    """The public set of splits of all columns: per column, the sets that go right, shape ``(candidates, codes)``."""

    columns: tuple[int, ...]
    members: tuple[Bools, ...]

    @staticmethod
    def of(columns: Sequence[Column], n_codes: Sequence[int], missing: Sequence[bool]) -> SplitCandidates:
        """Thresholds of ordered columns; subsets, or one against the rest, of the others.

        The last code of an ordered column is "missing"; only where such values are expected is "missing or not" a
        candidate.
        """
        members = []
        for column, size, expected in zip(columns, n_codes, missing, strict=True):
            members.append(thresholds(size, expected) if column.ordered else category_splits(size))
        return SplitCandidates(tuple(c.index for c in columns), tuple(members))

    @property
    def n_codes(self) -> tuple[int, ...]:
        return tuple(m.shape[1] for m in self.members)

    @cached_property
    def owners(self) -> Ints:
        """Per candidate, its table column."""
        return np.repeat(np.array(self.columns, np.int64), [len(m) for m in self.members])

    @cached_property
    def right(self) -> Bytes:
        """Per candidate, the packed set of codes that go right, shape ``(candidates, 32)``."""
        sets = np.zeros((len(self.owners), CODES), np.bool_)
        row = 0
        for member in self.members:
            sets[row : row + len(member), : member.shape[1]] = member
            row += len(member)
        return np.packbits(sets, axis=1, bitorder="little")

    def right_weights(self, histogram: Ints) -> Ints:
        """Exact class weights right of every candidate: ``(leaves, codes, 2)`` to ``(leaves, candidates, 2)``."""
        parts, start = [], 0
        for member in self.members:
            block = histogram[:, start : start + member.shape[1]]
            parts.append(np.einsum("kc,lcy->lky", member.astype(np.int64), block))
            start += member.shape[1]
        return np.concatenate(parts, axis=1)

    def totals(self, histogram: Ints) -> Ints:
        """Exact class weights of every leaf, shape ``(leaves, 2)``."""
        totals: Ints = histogram[:, : self.n_codes[0]].sum(axis=1)
        return totals


def thresholds(n_codes: int, missing: bool) -> Bools:
    """The sets "code above t", shape ``(candidates, n_codes)``."""
    cuts = np.arange(n_codes - 1 if missing else n_codes - 2)
    return np.arange(n_codes)[None, :] > cuts[:, None]


def category_splits(n_codes: int) -> Bools:
    """All two-way splits of few codes, or one against the rest of many, shape ``(candidates, n_codes)``."""
    codes = range(n_codes)
    if n_codes <= SUBSET_CATEGORIES:
        subsets = [s for size in range(1, n_codes) for s in combinations(codes, size) if 0 not in s]
    else:
        subsets = [(code,) for code in codes]
    member = np.zeros((len(subsets), n_codes), np.bool_)
    for row, inside in enumerate(subsets):
        member[row, list(inside)] = True
    return member


@dataclass(frozen=True, eq=False)
class SplitScore:
    """The score of every candidate in every leaf: minus the risk of its two children, in integers.

    Sensitivity (docs/theory/sensitivities.md, section 2): a node's risk is superadditive, so a row of weight at
    most 1 raises the risk of the one child it falls into by an amount in ``[0, cap L(1 / cap)]`` and all candidates'
    scores move the same way.
    Class weights are clipped at ``cap - 1``, so that this holds for any number of rows.
    """

    candidates: SplitCandidates  # the splits
    loss: Loss  # whose Bayes risk scores them
    cap: int  # a public bound on the weight of a node, or a number beyond which weights are clipped; at least 2
    node: int | None = None  # the one leaf to score; None for all

    def __call__(self, answers: Iterator[Ints]) -> Ints:
        histogram = next(answers)
        if self.node is not None:
            histogram = histogram[self.node : self.node + 1]
        right = self.candidates.right_weights(histogram)
        remaining = self.candidates.totals(histogram)[:, None, :] - right
        return floored(-(self._risk(remaining) + self._risk(right)), SCORE_UNIT)

    def _risk(self, weights: Ints) -> Floats:
        capped = np.minimum(weights, (self.cap - 1) * WEIGHT_UNIT) / WEIGHT_UNIT
        return self.loss.node_risk(capped[..., 1], capped.sum(axis=-1))

    @property
    def movement(self) -> int:
        """The range of the scores' movement when a row comes or goes, in integer units."""
        largest = node_risk_range(self.loss.bayes_risk, self.cap)
        return floored_movement(-largest, 0.0, SCORE_UNIT, 4.0 * self.cap * FLOAT_ERROR)


def split_selection(
    cells: TreeCells,
    candidates: SplitCandidates,
    loss: Loss,
    cap: int,
    rule: RowRule,
    margins: Margins,
    movement: int | None = None,
) -> Selection:
    """The choice of a split in every leaf; leaves hold disjoint rows, so all of them are chosen for the price of one.

    ``rule`` is the weight of a row, one channel, in [0, 1] (others raise ValueError); ``cap`` that of
    :class:`SplitScore`; ``movement`` is taken instead of the sharp range, if it is larger.
    """
    if not 0 <= int(rule.table.min()) <= int(rule.table.max()) <= WEIGHT_UNIT:
        raise ValueError("weights must lie in [0, 1]")
    score = SplitScore(candidates, loss, cap)
    query = SplitHistogram(cells, candidates.columns, candidates.n_codes, rule, margins)
    theorem = f"split scores: a row moves them one way, by at most {cap} L(1/{cap}) (node_risk_range)"
    shape = (cells.size, len(candidates.owners))
    return Selection((query,), score, shape, max(score.movement, movement or 0), theorem)


LossOfLevel = Callable[[int, TreeCells], Loss]
"""The loss that scores the splits of a level, given the leaves that are to be split (a loss may be released)."""


@dataclass(frozen=True, eq=False)
class Induction:
    """What all trees of a fit share."""

    curator: Curator  # the only access to the rows
    candidates: SplitCandidates  # the public splits
    cap: int  # a public bound on the weight of a node; see `SplitScore`
    depth: int  # of the trees, at most 16

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
            choice = self.curator.select(selection, charge, Label(Stage.SPLITS, f"splits of depth {level}", tree))
            splits += choice.indices.tolist()
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
                label = Label(Stage.SPLITS, f"node {node} of depth {level}", tree)
                choice = self.curator.select(_only(whole, node), charge_of_depth(level), label)
                splits.append(int(choice.indices[0]))
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
                label = Label(Stage.SPLITS, f"leaf of split {step + 1}", tree)
                place = int(self.curator.select(heavy, charge, label).indices[0])
            whole = split_selection(cells, self.candidates, loss, self.cap, rule, margins)
            choice = self.curator.select(_only(whole, place), charge, Label(Stage.SPLITS, f"split {step + 1}", tree))
            nodes[order[place]] = (int(choice.indices[0]), len(nodes), len(nodes) + 1)
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
    columns: list[int] = []
    children: list[list[int]] = []
    order: list[int] = []

    def visit(node: int) -> int:
        split = nodes[node]
        if split is None:
            order.append(node)
            return -len(order)
        place = len(columns)
        columns.append(split[0])
        children.append([0, 0])
        children[place] = [visit(split[1]), visit(split[2])]
        return place

    visit(0)
    shape = TreeShape(
        candidates.owners[columns], candidates.right[columns], np.array(children, np.int64).reshape(len(columns), 2)
    )
    return shape, order
