"""M-alpha-boost with the paper's constants and budget split (``analysis="paper"``), repaired where it is not private.

Source: Nock, Henecka 2020, sections 6 and 17.2. Kept as printed: replace-one and a public number of rows ``m``; pure
epsilon; ``beta_tree epsilon / (T d 2**depth)`` per node, nodes added up one by one; split scores divided by
``2 Delta*(m)`` with ``Delta* = 3 + 2 alpha (sqrt(m) - 1)``; leaves that say the link of their proportion, kept in
``[1e-4, 1 - 1e-4]``, with Laplace noise; leveraging ``a = alpha / M**2``.

Repaired, because the printed step is not covered by the noise it gets:

* leaves are clamped to ``[-M, M]`` before the noise, not after it (the link reaches 100), and a replaced row may change
  two leaves: Laplace noise of L1 sensitivity ``4 M``, not ``2 M``;
* the leveraging coefficient is released: half of the leaves' budget buys the sum of ``w_i y_i h(x_i)``; the paper takes
  it exact, which shows the labels whatever the noise in the leaves;
* objective calibration compares released errors and not exact ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tacit.arrays import Ints
from tacit.models.tree import Tree, TreeShape
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.histogram import CellFunction, Histogram, ReleaseMap
from tacit.queries.rules import signed_margin_rule
from tacit.queries.tree_cells import TreeCells, class_weight_rule
from tacit.theory.trees import leveraging_constant, paper_m_alpha_sensitivity, paper_sensitivity
from tacit.trees.losses import Loss, MAlphaLoss
from tacit.trees.m_alpha_boost import CALIBRATED, MAlphaBoost, Said
from tacit.trees.splits import SCORE_UNIT

CLAMP = 1e-4
"""Not tuned, the paper's ``zeta``: proportions are kept this far from 0 and 1."""

SAID_UNIT = 1 << 12
"""Not tuned: integer units of what a leaf says."""


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
        share = self.split_share / settings.depth * (1.0 - settings.tuning.errors_share if calibrated else 1.0)
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
        said = self.curator.measure(query, charge, Label(Stage.LEAVES, "leaves", tree)).value
        said = np.clip(said, -bound, bound)
        self.said.append(
            Said(said, loss.inverse_link(said), np.ones(shape.n_leaves))
        )  # leaves' weights are not released
        signed = signed_margin_rule(loss.boosting_weight)
        through = ReleaseMap.from_floats(said[None, :])
        edge_query = Histogram(cells, signed, self.margins, through)
        edge = (
            float(self.curator.measure(edge_query, charge, Label(Stage.LEAVES, "leveraging", tree)).value.item())
            / self.rows
        )
        coefficient = leveraging_constant(loss.alpha, bound) * float(np.clip(edge, -bound, bound))
        return self.append(cells, coefficient * said, np.ones(shape.n_leaves)), coefficient


def said_by(loss: Loss) -> Callable[[Ints], int]:
    """What a leaf says, from its class weights: the link of the clamped proportion, in units."""

    def said(weights: Ints) -> int:
        negatives, positives = int(weights[0]), int(weights[1])
        share = positives / (negatives + positives) if negatives + positives > 0 else 0.5
        return int(float(loss.link(min(max(share, CLAMP), 1.0 - CLAMP))) * SAID_UNIT)

    return said
