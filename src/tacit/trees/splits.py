"""Public candidate splits, and their scores from exact class weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from tacit.arrays import CODES, Bools, Bytes, Floats, Ints
from tacit.binning.tree_bins import Column
from tacit.queries.margins import Margins
from tacit.queries.rules import WEIGHT_UNIT, RowRule
from tacit.queries.selection import Selection, floored, floored_movement
from tacit.queries.tree_cells import SplitHistogram, TreeCells
from tacit.theory.trees import node_risk_range
from tacit.trees.losses import Loss

SUBSET_CATEGORIES = 5
"""Up to this many codes every two-way split of a category is a candidate; beyond, one against the rest."""

SCORE_UNIT = 1 << 16
"""Not tuned: integer units of a score."""

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
        chosen = [s for size in range(1, n_codes) for s in combinations(codes, size) if 0 not in s]
    else:
        chosen = [(code,) for code in codes]
    member = np.zeros((len(chosen), n_codes), np.bool_)
    for row, inside in enumerate(chosen):
        member[row, list(inside)] = True
    return member


@dataclass(frozen=True, eq=False)
class SplitScore:
    """The score of every candidate in every leaf: minus the risk of its two children, in integers.

    Sensitivity (docs/theory/sensitivities.md, section 2): a node's risk is superadditive, so a row of weight at
    most 1 raises the risk of the one child it falls into by an amount in ``[0, cap L(1 / cap)]`` and all candidates'
    scores move the same way.
    Class weights are clipped at ``cap - 1``, so that this holds for any number of rows.

    Attributes:
        candidates: the splits.
        loss: whose Bayes risk scores them.
        cap: a public bound on the weight of a node, or a number beyond which weights are clipped; at least 2.
        node: the one leaf to score; None for all.
    """

    candidates: SplitCandidates
    loss: Loss
    cap: int
    node: int | None = None

    def __call__(self, answers: Iterator[Ints]) -> Ints:
        histogram = next(answers)
        if self.node is not None:
            histogram = histogram[self.node : self.node + 1]
        right = self.candidates.right_weights(histogram)
        left = self.candidates.totals(histogram)[:, None, :] - right
        return floored(-(self._risk(left) + self._risk(right)), SCORE_UNIT)

    def _risk(self, weights: Ints) -> Floats:
        kept = np.minimum(weights, (self.cap - 1) * WEIGHT_UNIT) / WEIGHT_UNIT
        return self.loss.node_risk(kept[..., 1], kept.sum(axis=-1))

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

    ``rule`` is the weight of a row, one channel; ``cap`` that of :class:`SplitScore`; ``movement`` is taken instead of
    the sharp range, if it is larger.

    Raises:
        ValueError: for weights out of [0, 1].
    """
    if not 0 <= int(rule.table.min()) <= int(rule.table.max()) <= WEIGHT_UNIT:
        raise ValueError("weights must lie in [0, 1]")
    score = SplitScore(candidates, loss, cap)
    query = SplitHistogram(cells, candidates.columns, candidates.n_codes, rule, margins)
    theorem = f"split scores: a row moves them one way, by at most {cap} L(1/{cap}) (node_risk_range)"
    shape = (cells.size, len(candidates.owners))
    return Selection((query,), score, shape, max(score.movement, movement or 0), theorem)
