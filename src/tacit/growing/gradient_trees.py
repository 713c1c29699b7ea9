"""Gradient trees: random or chosen structure, private Newton leaves, one release per tree.

Of the family of Maddock and others 2022 ("Federated boosted decision trees with differential privacy"). A row's whole
contribution to a tree is one short integer vector in one leaf, so adding a row moves a release by that vector alone,
and the margins of all rows follow from what was released. Everything but the marked releases is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Floats
from tacit.binning.tree_bins import Column, Totals, TreeBins, counted_bins, public_bins, release_totals
from tacit.binning.tuning import MANY_ROWS
from tacit.curator.budget import Budget
from tacit.growing.chosen_trees import columns_to_cut, structures_of
from tacit.growing.gradient_trees import BaseRate, set_intercept
from tacit.growing.newton_trees import CurvatureLevel, LeafSums, NewtonPlan, grow_trees
from tacit.growing.random_trees import Cuts
from tacit.growing.tree_noise import LeafNoise
from tacit.growing.tuning import GRADIENT, Gradient
from tacit.models.tree import Tree
from tacit.queries.margins import Margins
from tacit.queries.tree_cells import logistic_gradient_rule


def _hessian_scale(clip: float) -> float:
    """How far the curvature is blown up: as far as it fits beside the gradient of a row at score 0."""
    return 3.8 * math.sqrt(clip**2 - 0.25)


def choosing_plan(rows: float, tuning: Gradient = GRADIENT) -> NewtonPlan:
    """The rule for trees that choose their splits, which see in one look what random ones need many for."""
    wanted = max(min(tuning.choosing_trees, tuning.choosing_rows / rows), tuning.least_choosing_trees)
    return NewtonPlan(
        trees=int(wanted),
        depth=tuning.choosing_depth,
        columns_per_tree=columns_to_cut(rows),
        rate=tuning.choosing_rate * math.sqrt(tuning.choosing_trees / wanted),
        clip=tuning.clip,
        hessian_scale=_hessian_scale(tuning.clip),
        least_prior=tuning.enough,
        choice=tuning.choice_share,
        enough=tuning.enough,
    )


def gaussian_plan(rows: float, mu: float, may_choose: bool = True, tuning: Gradient = GRADIENT) -> NewtonPlan:
    """The rule for Gaussian noise: deeper trees as ``rows * mu``, the rows relative to the noise, grows.

    Args:
        rows: the released number of rows.
        mu: of the whole budget.
        may_choose: whether trees may choose their splits, which takes longer.
        tuning: the numbers of the rule.
    """
    signal = rows * mu
    if may_choose and rows > MANY_ROWS and signal >= tuning.clear:
        return choosing_plan(rows, tuning)
    faint, clear, deep = signal < tuning.faint, signal >= tuning.clear, signal >= tuning.deepest_from
    clip = tuning.faint_clip if faint else tuning.clip
    return NewtonPlan(
        trees=tuning.more_trees if deep else tuning.trees,
        depth=4 + (signal >= tuning.deeper_from) + deep,
        columns_per_tree=2 if faint else 3,
        rate=tuning.faint_rate if faint else tuning.clear_rate if clear else tuning.rate,
        prior=tuning.faint_prior if faint else tuning.deep_prior if deep and not clear else tuning.prior,
        clip=clip,
        hessian_scale=_hessian_scale(clip),
    )


def laplace_plan(rows: float, epsilon: float, tuning: Gradient = GRADIENT) -> NewtonPlan:
    """The rule for Laplace noise, which grows with the number of trees: few, and larger steps."""
    signal = min(max(rows * epsilon, 0.0), 1e12)
    wanted = round(tuning.laplace_factor * signal**tuning.laplace_power)
    trees = int(np.clip(wanted, tuning.least_laplace_trees, tuning.most_laplace_trees))
    return NewtonPlan(
        trees=trees,
        depth=4 + sum(signal >= more for more in tuning.laplace_deeper_from),
        columns_per_tree=2 + sum(signal >= more for more in tuning.laplace_more_columns_from),
        rate=min(tuning.most_laplace_rate, tuning.laplace_rate / math.sqrt(trees)),
        prior=tuning.laplace_prior,
        clip=tuning.laplace_clip,
        hessian_scale=tuning.laplace_curvature_scale,
    )


@dataclass(frozen=True, eq=False)
class LearnedTrees:
    """What was learned, all of it released: the model is built from this.

    Attributes:
        rows: the released number of rows.
        intercept: log-odds before any tree.
        bins: per column, the map from codes to bins.
        trees: tested columns are numbered as ``bins`` are.
        plan: how they were grown.
        share: of the budget that the leaves of each tree took.
        intercept_sd: standard deviation of the noise in the intercept.
    """

    rows: float
    intercept: float
    bins: tuple[TreeBins, ...]
    trees: tuple[Tree, ...]
    plan: NewtonPlan
    share: float
    intercept_sd: float = 0.0

    @property
    def level_shares(self) -> tuple[float, ...]:
        """The share that the splits of each level of a tree took; nothing where they are random."""
        if not self.plan.choice:
            return ()
        return (self.share * self.plan.choice / (1.0 - self.plan.choice) / self.plan.depth,) * self.plan.depth


def learn_gradient_trees(
    budget: Budget,
    columns: Sequence[Column],
    n_trees: int | None = None,
    depth: int | None = None,
    tuning: Gradient = GRADIENT,
) -> LearnedTrees:
    """Learns a sum of trees for a binary label on the logistic loss.

    Args:
        budget: that of the whole fit, on a table with two labels; all of it is planned for.
        columns: the columns to use, in the order in which trees will number them; they must be the table's columns.
        n_trees: instead of the rule's number of trees; of random ones.
        depth: instead of the rule's depth; of random trees.
        tuning: the numbers of the learner.
    """
    generator = budget.public_generator
    totals, bins, by_rule, left = _prepare(budget, columns, n_trees is None and depth is None, tuning)
    chosen = replace(by_rule, trees=n_trees or by_rule.trees, depth=depth or by_rule.depth)
    unordered = [
        place
        for place, (column, b) in enumerate(zip(columns, bins, strict=True))
        if not (column.ordered or b.is_ranked)
    ]
    margins, base_rate = Margins(), BaseRate(totals)
    rule = logistic_gradient_rule(chosen.clip, chosen.hessian_scale, 1 if budget.is_pure else 2)
    origin = base_rate.start(margins, rule)
    chosen = replace(chosen, prior=chosen.prior * 0.25 / base_rate.curvature_at_start)  # of chances, as at 1/2
    masses, noise = [b.mass for b in bins], LeafNoise()
    cuts = Cuts(masses, reordered=unordered)
    structures, growing = structures_of(budget.part(left), chosen, margins, cuts, generator)

    def observe(sums: LeafSums, steps: Floats) -> None:
        base_rate.add_tree(sums, steps)
        noise.observe(sums, steps)

    level = None
    if not budget.is_pure:
        level = CurvatureLevel(totals.rows, math.sqrt(2.0) * totals.sd, base_rate.curvature_at_start)
    trees = grow_trees(growing, structures, chosen, margins, observe, level)
    share = _intercept_share(budget, tuning)
    intercept = origin + set_intercept(budget.part(share), margins, base_rate, tuning.intercept_steps)
    trees = noise.annotate(trees, masses, generator)
    sd = base_rate.intercept_sd(budget.sd(share))
    return LearnedTrees(base_rate.rows, intercept, bins, trees, chosen, growing.share / chosen.trees, sd)


def _prepare(
    budget: Budget, columns: Sequence[Column], may_choose: bool, tuning: Gradient
) -> tuple[Totals, tuple[TreeBins, ...], NewtonPlan, float]:
    """Class totals, bins, the plan that follows from them, and the share of the budget that is left for trees."""
    steps = tuning.intercept_steps * _intercept_share(budget, tuning)
    rows_share = tuning.pure_rows_share if budget.is_pure else tuning.rows_share
    totals = release_totals(budget.part(rows_share))
    left = 1.0 - rows_share - steps
    if budget.is_pure:
        epsilon = math.sqrt(2.0) / (totals.sd * rows_share)
        chosen = laplace_plan(totals.rows, epsilon, tuning)
        if totals.rows * epsilon < tuning.signal_for_bins * len(columns):
            return totals, public_bins(budget.curator, columns, tuning.binning), chosen, left
    else:
        mu = math.inf if totals.sd == 0 else 1.0 / (totals.sd * math.sqrt(rows_share))
        chosen = gaussian_plan(totals.rows, mu, may_choose, tuning)
    bins, spent = counted_bins(budget.part(tuning.bins_share), columns, totals, tuning.binning)
    return totals, bins, chosen, left - spent


def _intercept_share(budget: Budget, tuning: Gradient) -> float:
    return tuning.pure_intercept_share if budget.is_pure else tuning.intercept_share
