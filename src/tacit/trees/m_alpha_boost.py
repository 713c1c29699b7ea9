"""M-alpha-boost over privately grown trees (Nock, Henecka 2020), with every step that reads rows paid for.

Boosting weights ``psi^-1(-y F)`` follow from the released trees alone, so they are recomputed and never released;
margins are kept and not weights, because the inverse link is flat around 0 for ``alpha < 1``. Per tree:

1. its splits are chosen by the exponential mechanism, level by level (:mod:`tacit.trees.induction`);
2. the two class weights of every leaf are released with noise: one row, one leaf;
3. what a leaf says (the link of its proportion) and the leveraging coefficient follow from them as post-processing.

The paper computes the coefficient, and in objective calibration the loss of a level, from the exact rows. Neither is
covered by its noise: the sign of the coefficient alone reveals labels (repaired below).

With ``analysis="paper"`` (sections 6 and 17.2), kept as printed: replace-one and a public number of rows ``m``; pure
epsilon; ``beta_tree epsilon / (T d 2**depth)`` per node, nodes added up one by one; split scores divided by
``2 Delta*(m)`` with ``Delta* = 3 + 2 alpha (sqrt(m) - 1)``; leaves that say the link of their proportion, kept in
``[1e-4, 1 - 1e-4]``, with Laplace noise; leveraging ``a = alpha / M**2``. Repaired, because the printed step is not
covered by the noise it gets:

* leaves are clamped to ``[-M, M]`` before the noise, not after it (the link reaches 100), and a replaced row may change
  two leaves: Laplace noise of L1 sensitivity ``4 M``, not ``2 M``;
* the leveraging coefficient is released: half of the leaves' budget buys the sum of ``w_i y_i h(x_i)``; the paper takes
  it exact, which shows the labels whatever the noise in the leaves;
* objective calibration compares released errors and not exact ones, for 30 % of each level's budget. (Elsewhere it
  takes them from the last tree's released leaves, which cost nothing more.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.binning.measure import Column
from tacit.binning.tree_bins import TreeBins, release_rows
from tacit.curator.curator import Curator
from tacit.models.tree import Tree, TreeShape
from tacit.models.tree_ensemble import Link, TreeSpending
from tacit.privacy.charges import BoundedRange, Charge, Repeated
from tacit.privacy.label import Label, Stage
from tacit.queries.histogram import CellFunction, Histogram, ReleaseMap
from tacit.queries.margins import Margins
from tacit.queries.rules import LEVEL_BITS, MARGIN_BITS, RowRule, signed_margin_rule
from tacit.queries.tree_cells import TreeCells, class_weight_rule
from tacit.theory.trees import leveraging_constant, paper_m_alpha_sensitivity, paper_sensitivity
from tacit.trees.budget import SplitBudget
from tacit.trees.forest import base_rate_of_leaves, drawn_to, public_cells
from tacit.trees.induction import SCORE_UNIT, Induction, SplitCandidates
from tacit.trees.losses import SMOOTHED, Loss, MAlphaLoss, SmoothedLoss, loss_of
from tacit.trees.tuning import BOOSTING, Boosting

CALIBRATED: Final = "calibrated"


@dataclass(frozen=True)
class BoostSettings:
    """What a user may choose; see :class:`~tacit.MAlphaBoostClassifier`.

    With ``alpha="calibrated"`` link and weights are at 1, the split score of each level at its error in the last tree
    over that of the root; as printed, at the released error so far in the same tree.
    """

    alpha: float | str
    criterion: str | None
    trees: int | None
    depth: int
    split_share: float
    bound: float
    cells: int
    leaves: int | None = None
    tuning: Boosting = BOOSTING

    @property
    def loss(self) -> MAlphaLoss:
        """The loss behind the link and the weights."""
        return MAlphaLoss(1.0 if isinstance(self.alpha, str) else self.alpha)

    @property
    def selections(self) -> int:
        """How many choices, one after the other, a tree's splits take: of levels, or of splits and leaves to split."""
        return self.depth if self.leaves is None else max(2 * self.leaves - 3, 1)

    def shares(self, counted: bool, spare: float = 0.0) -> tuple[float, float]:
        """Shares of one choice and of one tree's leaves; leaves have the ``spare`` one where rows need no counting."""
        counting, trees = self.tuning.rows_share if counted else spare, self.trees or 1
        choices, leaves = self.split_share * (1.0 - counting), (1.0 - self.split_share) * (1.0 - counting)
        return choices / trees / self.selections, (leaves if counted else leaves + spare) / trees

    def charges(self, pool: SplitBudget) -> tuple[Charge, ...]:
        """All charges of a sharp fit whose number of trees is given, whether or not the number of rows is public."""
        (choice, leaves), trees = self.shares(counted=True), self.trees or 1
        splits = Repeated(pool.selection(choice), trees * self.selections)
        return pool.release(self.tuning.rows_share), splits, Repeated(pool.release(leaves), trees)


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """What was learned, all of it released."""

    bins: tuple[TreeBins, ...]  # per column, the map from codes to cells
    trees: tuple[Tree, ...]  # leaves hold the leveraging coefficient times the link of their proportion
    rows: float  # the number of rows, public or released
    coefficients: tuple[float, ...]  # the leveraging coefficients
    spending: TreeSpending  # what each tree took of the budget
    link: Link  # from scores to probabilities


def trees_rule(rows: float, budget: SplitBudget, tuning: Boosting = BOOSTING) -> int:
    """How many trees: many only where rows far outweigh the noise."""
    power = budget.amount if budget.pure else math.sqrt(8.0 * budget.amount)
    if math.isinf(power):
        return tuning.most_trees
    trees = round(math.sqrt(rows * power) / tuning.signal_per_tree)
    return int(np.clip(trees, tuning.least_trees, tuning.most_trees))


def bounded_weight_rule(loss: Loss, margins: Margins, split: bool) -> tuple[RowRule, float]:
    """The weights as parts of the largest that any row can have, and that largest weight.

    How far a score can be from 0 follows from the log: in the first round all weights are 1/2, and a row counts 1.
    """
    reach = margins.reach / 2.0**MARGIN_BITS + 2.0**-LEVEL_BITS
    largest = float(loss.boosting_weight(-reach))

    def share(margin: Floats) -> Floats:
        return loss.boosting_weight(np.clip(margin, -reach, reach)) / largest

    return class_weight_rule(share, split), largest


def believed_shares(weights: Floats, sd: float) -> tuple[Floats, Floats]:
    """Proportion of the positive class and total weight of every leaf from noisy weights, shape ``(leaves,)`` each.

    A leaf lost in the noise is at the tree's base rate. None is nearer to 0 or 1 than if a standard deviation of the
    noise had been added to either class, or than half of the base rate is: leveraging divides by the square of the
    largest value, so that one extreme leaf would silence all others. (Kept from falling below the base rate, leaves of
    few rows would be above it on average.)
    """
    base, total = base_rate_of_leaves(weights, sd), np.maximum(weights.sum(axis=1), 0.0)
    least = sd / np.maximum(np.maximum(weights, 0.0).sum(axis=1) + 2.0 * sd, 1e-9)
    shares = drawn_to(base, weights, sd, sampled=False)
    return np.clip(shares, np.minimum(least, 0.5 * base), 1.0 - np.minimum(least, 0.5 * (1.0 - base))), total


@dataclass(frozen=True, eq=False)
class Said:
    """What the leaves of a tree say before leveraging, and the released proportions and weights behind it.

    ``released`` are the noisy class weights, shape ``(leaves, 2)``, where leaves release them.
    """

    values: Floats
    shares: Floats
    weights: Floats
    released: Floats | None = None


def scale_of_scores(coefficients: Sequence[float], trees: Sequence[Said]) -> float:
    """The factor that makes scores the argument of Matsushita's inverse link, fitted to released leaves.

    Leveraging coefficients keep scores far below what one leaf says, and a few trees below what the base rate asks for.
    The scale is the one under which the rows of the first tree's leaves, whose weights were all alike, have the least
    log loss against the released proportions. In the mean, scores are what all trees say in the mean; in a leaf they
    are taken to differ from it as if all trees said what the first one says. Where they do not, probabilities are
    nearer to the base rate. A grid of eighths of an octave: no more is known. Everything in it was released before.
    """
    values, shares, weights = trees[0].values, trees[0].shares, trees[0].weights
    if not weights.any():
        return 1.0
    means = [float(np.average(t.values, weights=t.weights)) if t.weights.any() else 0.0 for t in trees]
    scores = float(np.dot(coefficients, means)) + math.fsum(coefficients) * (values - means[0])
    reach = float(np.abs(scores).max())
    if reach <= 0.0:
        return 1.0
    scales = 2.0 ** (np.arange(-80, 81) / 8.0 - round(8.0 * math.log2(reach)) / 8.0)
    log_odds = 2.0 * np.arcsinh(0.5 * scales[:, None] * scores)
    losses = np.logaddexp(0.0, log_odds) - shares * log_odds
    return float(scales[int((losses @ weights).argmin())])


class MAlphaBoost:
    """One fit, analysed sharply: monotone scores, parallel levels, released class weights in leaves.

    ``missing`` says per column whether missing values are expected.
    """

    def __init__(
        self,
        curator: Curator,
        budget: SplitBudget,
        columns: Sequence[Column],
        missing: Sequence[bool],
        settings: BoostSettings,
        public_rows: int | None = None,
    ) -> None:
        self.curator, self.budget = curator, budget
        self.bins = public_cells(curator, columns, settings.cells)
        if public_rows is None:
            released = release_rows(curator, budget.release(settings.tuning.rows_share))
            self.rows, cap = max(released.value, 1.0), released.value + settings.tuning.sure * released.sd
        else:
            self.rows, cap = float(max(public_rows, 1)), float(public_rows)
        candidates = SplitCandidates.of(columns, [b.size for b in self.bins], missing)
        self.induction = Induction(curator, candidates, max(math.ceil(cap), 2), settings.depth)
        self.margins = Margins()
        self.said: list[Said] = []
        self._class_weights: tuple[int, tuple[RowRule, float]] | None = None
        self.trees = settings.trees or trees_rule(self.rows, budget, settings.tuning)
        self.settings = replace(settings, trees=self.trees)
        spare = settings.tuning.rows_share if budget.schedule else 0.0
        self.choice_share, self.leaf_share = self.settings.shares(public_rows is None, spare)

    def run(self) -> BoostedTrees:
        """Grows all trees."""
        trees, coefficients = [], []
        for number in range(self.trees):
            shape = self.grow(number + 1)
            tree, coefficient = self.leverage(shape, number + 1)
            trees.append(tree)
            coefficients.append(coefficient)
        depth = max(tree.shape.depth for tree in trees)
        level = self.choice_share * (self.settings.selections / depth)
        spending = TreeSpending((level,) * depth, self.leaf_share)
        link = Link("m_alpha", self.settings.loss.alpha, scale_of_scores(coefficients, self.said))
        return BoostedTrees(self.bins, tuple(trees), self.rows, tuple(coefficients), spending, link)

    def grow(self, tree: int) -> TreeShape:
        """The splits of the next tree."""
        rule, _ = bounded_weight_rule(self.settings.loss, self.margins, split=False)
        charge = self.budget.selection(self.choice_share)
        if self.settings.leaves is not None:
            loss = self.split_loss(0, None, tree)
            return self.induction.heaviest_first(rule, self.margins, charge, loss, self.settings.leaves, tree)

        def loss_of_level(level: int, cells: TreeCells) -> Loss:
            return self.split_loss(level, cells, tree)

        return self.induction.levels(rule, self.margins, charge, loss_of_level, tree)

    def split_loss(self, level: int, cells: TreeCells | None, tree: int, root_error: list[float] | None = None) -> Loss:
        """The loss that scores the splits of a level.

        Objective calibration takes the error of the level from the last tree's released leaves; given ``root_error``,
        the errors so far in this tree, it releases it.
        """
        settings = self.settings
        if settings.criterion == SMOOTHED:
            return self.smoothed_loss(2.0**level if settings.leaves is None else settings.leaves)
        if settings.criterion is not None:
            return loss_of(settings.criterion)
        if not isinstance(settings.alpha, str):
            return MAlphaLoss(settings.alpha)
        if cells is None:
            return MAlphaLoss(1.0)
        if root_error is None:
            return MAlphaLoss(self.last_alpha(level))
        error = self.released_error(cells, Label(Stage.SPLITS, f"error at depth {level}", tree))
        root_error.append(min(error, *root_error) if root_error else max(error, 1e-6))
        return MAlphaLoss(float(np.clip(root_error[-1] / root_error[0], 0.0, 1.0)))

    def last_alpha(self, level: int) -> float:
        """The error of this level of the last tree over that of its root; 1 before there is a tree.

        The leaves below a node add up to it, and their class weights were released: post-processing, which costs
        nothing. The majorities of children err on no more than that of their parent, so the ratio is at most 1.
        """
        released = self.said[-1].released if self.said else None
        if released is None:
            return 1.0
        leaves = np.maximum(released, 0.0)
        errors = [float(leaves.reshape(nodes, -1, 2).sum(axis=1).min(axis=1).sum()) for nodes in (1, 2**level)]
        return errors[1] / errors[0] if errors[0] > 0 else 1.0

    def smoothed_loss(self, leaves: float) -> SmoothedLoss:
        """Matsushita's loss, smoothed by what noise and support ask for, for ``leaves`` nodes of the next tree.

        Where a node's weight is small beside the noise of a choice, scores must not move by more than Gini's. The
        weight is the mean over nodes of what the last tree's leaves were released to hold; before, of all rows.
        """
        support = float(self.said[-1].weights.sum()) if self.said else self.rows
        charge = self.budget.selection(self.choice_share)
        noise = 1.0 / charge.range if isinstance(charge, BoundedRange) else 0.0
        tuning = self.settings.tuning
        return SmoothedLoss(tuning.smoothing + tuning.smoothing_by_noise * noise * leaves / max(support, 1.0))

    def released_error(self, cells: TreeCells, label: Label) -> float:
        """The share of weight that the majority of its leaf misjudges, from released class weights: at most 1/2."""
        rule, _ = self.class_weights()
        share = self.choice_share * self.settings.tuning.errors_share
        weights = self.curator.measure(Histogram(cells, rule, self.margins), self.budget.release(share), label).value
        positive = np.maximum(weights, 0.0)
        return float(positive.min(axis=1).sum() / max(float(positive.sum()), 1e-9))

    def class_weights(self) -> tuple[RowRule, float]:
        """The rule for the two class weights of a leaf, and what 1 stands for; made once per tree."""
        updates = len(self.margins.updates)
        if self._class_weights is None or self._class_weights[0] != updates:
            self._class_weights = (updates, bounded_weight_rule(self.settings.loss, self.margins, split=True))
        return self._class_weights[1]

    def leverage(self, shape: TreeShape, tree: int) -> tuple[Tree, float]:
        """Releases the class weights of the leaves; the rest is post-processing: (tree, leveraging coefficient)."""
        loss, cells = self.settings.loss, TreeCells(shape)
        rule, largest = self.class_weights()
        query = Histogram(cells, rule, self.margins)
        charge = self.budget.release(self.leaf_share)
        released = self.curator.measure(query, charge, Label(Stage.LEAVES, "leaves", tree))
        shares, total = believed_shares(released.value, released.sd)
        values = np.clip(loss.link(np.clip(shares, 1e-4, 1.0 - 1e-4)), -self.settings.bound, self.settings.bound)
        self.said.append(Said(values, shares, total, released.value))
        edge = largest * float(((released.value[:, 1] - released.value[:, 0]) * values).sum()) / self.rows
        bound = max(float(np.abs(values).max()), 1e-9)
        coefficient = leveraging_constant(loss.alpha, bound, sharp=True) * float(np.clip(edge, -bound, bound))
        return self.append(cells, coefficient * values, largest * total), coefficient

    def append(self, cells: TreeCells, values: Floats, support: Floats) -> Tree:
        """Adds a tree to the margins; the model keeps what they were given, in fixed point."""
        return Tree(cells.shape, self.margins.add(cells, values), support)


CLAMP = 1e-4  # not tuned, the paper's `zeta`: proportions are kept this far from 0 and 1
SAID_UNIT = 1 << 12  # not tuned: integer units of what a leaf says


def printed_sensitivity(loss: Loss, rows: int) -> float:
    """``Delta*``: Corollary 7 for the M-alpha loss, Theorem 3 for any other."""
    if isinstance(loss, MAlphaLoss):
        return paper_m_alpha_sensitivity(loss.alpha, rows)
    return paper_sensitivity(loss.bayes_risk, rows)


class PaperBoost(MAlphaBoost):
    """One fit by the paper's schedule. Needs replace-one, a public number of rows and ``delta = 0``."""

    def grow(self, tree: int) -> TreeShape:
        """The splits of the next tree, node by node."""
        settings = self.settings
        rule = class_weight_rule(settings.loss.boosting_weight, split=False)
        calibrated = settings.alpha == CALIBRATED and settings.criterion is None
        share = self.choice_share * (1.0 - settings.tuning.errors_share if calibrated else 1.0)
        root_error: list[float] = []

        def charge_of_depth(depth: int) -> Charge:
            return self.budget.selection(share / 2.0**depth)

        def loss_of_level(level: int, cells: TreeCells) -> Loss:
            return self.split_loss(level, cells, tree, root_error)

        def movement(loss: Loss) -> int:
            return math.ceil(printed_sensitivity(loss, self.induction.cap) * SCORE_UNIT)

        return self.induction.nodes(rule, self.margins, charge_of_depth, loss_of_level, tree, movement)

    def leverage(self, shape: TreeShape, tree: int) -> tuple[Tree, float]:
        """Releases what the leaves say, then the leveraging coefficient, each for half of the leaves' budget."""
        loss, cells, bound = self.settings.loss, TreeCells(shape), self.settings.bound
        charge = self.budget.release(self.leaf_share / 2.0)
        weights = Histogram(cells, class_weight_rule(loss.boosting_weight, split=True), self.margins)
        query = CellFunction(weights, said_by(loss), int(bound * SAID_UNIT), SAID_UNIT)
        values = self.curator.measure(query, charge, Label(Stage.LEAVES, "leaves", tree)).value
        values = np.clip(values, -bound, bound)
        # leaves' weights are not released
        self.said.append(Said(values, loss.inverse_link(values), np.ones(shape.n_leaves)))
        signed, through = signed_margin_rule(loss.boosting_weight), ReleaseMap.from_floats(values[None, :])
        edges = Histogram(cells, signed, self.margins, through)
        edge = self.curator.measure(edges, charge, Label(Stage.LEAVES, "leveraging", tree)).value.item() / self.rows
        coefficient = leveraging_constant(loss.alpha, bound) * float(np.clip(edge, -bound, bound))
        return self.append(cells, coefficient * values, np.ones(shape.n_leaves)), coefficient


def said_by(loss: Loss) -> Callable[[Ints], int]:
    """What a leaf says, from its class weights: the link of the clamped proportion, in units."""

    def said(weights: Ints) -> int:
        negatives, positives = int(weights[0]), int(weights[1])
        share = positives / (negatives + positives) if negatives + positives > 0 else 0.5
        return int(float(loss.link(min(max(share, CLAMP), 1.0 - CLAMP))) * SAID_UNIT)

    return said
