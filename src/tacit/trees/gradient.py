"""Gradient trees: random or chosen structure, private Newton leaves, one release per tree.

Of the family of Maddock and others 2022 ("Federated boosted decision trees with differential privacy"). A row's whole
contribution to a tree is one short integer vector in one leaf, so adding a row moves a release by that vector alone,
and the margins of all rows follow from what was released. Everything but the marked releases is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Floats
from tacit.binning.refine import MANY_ROWS
from tacit.binning.tree_bins import Column, Totals, TreeBins, counted_bins, public_bins, release_totals
from tacit.curator.budget import Budget
from tacit.growing.chosen_trees import columns_to_cut, structures_of
from tacit.growing.newton_trees import CurvatureLevel, LeafSums, NewtonPlan, grow_trees
from tacit.growing.random_trees import Cuts
from tacit.growing.tree_noise import LeafNoise
from tacit.models.tree import Tree
from tacit.queries.margins import Margins
from tacit.trees.base_rate import BaseRate, set_intercept

BINS_SHARE = 0.09
"""Share of the budget for histograms, where they are bought."""

SIGNAL_FOR_BINS = 600.0
"""Under pure epsilon histograms are bought from so many rows times epsilon on per column: their noise is dear."""

ROWS_SHARE = 0.005
PURE_ROWS_SHARE = 0.02
"""Share of the budget for the number of rows."""

INTERCEPT_SHARE = 0.005
PURE_INTERCEPT_SHARE = 0.01
INTERCEPT_STEPS = 2
"""Each step of the intercept takes this share of the budget."""


FAINT = 300.0
"""Rows relative to the noise, below which scores stay near 0. Curvatures say little then, so the clip leaves them
little room, and trees that cut fewer columns say more of each."""


CLIP, FAINT_CLIP = 0.53, 0.505
"""The largest norm of a row's contribution under Gaussian noise, and below :data:`FAINT`."""

CLEAR = 100_000.0
"""Rows relative to the noise, from which it hardly matters: trees are as bold as without privacy."""


CHOICE_SHARE = 0.5
"""Beyond :data:`MANY_ROWS` rows, and from :data:`CLEAR` on, splits are chosen, and this share of the trees' budget goes
to that: elsewhere random trees see as much for nothing."""

CHOOSING_TREES, LEAST_CHOOSING_TREES, CHOOSING_ROWS = 150, 64, 1e8
"""How many such trees, how many at least, and how many times the rows at most: each takes long."""

CHOOSING_RATE = 0.22
"""How far each of so many steps towards the posterior mean; further where they are fewer."""

ENOUGH = 0.006
"""Such trees end once the prior of their steps is surely below this (log-odds squared)."""


def _hessian_scale(clip: float) -> float:
    """How far the curvature is blown up: as far as it fits beside the gradient of a row at score 0."""
    return 3.8 * math.sqrt(clip**2 - 0.25)


def choosing_plan(rows: float) -> NewtonPlan:
    """The rule for trees that choose their splits, which see in one look what random ones need many for."""
    wanted = max(min(CHOOSING_TREES, CHOOSING_ROWS / rows), LEAST_CHOOSING_TREES)
    return NewtonPlan(
        trees=int(wanted),
        depth=6,
        columns_per_tree=columns_to_cut(rows),
        rate=CHOOSING_RATE * math.sqrt(CHOOSING_TREES / wanted),
        clip=CLIP,
        hessian_scale=_hessian_scale(CLIP),
        least_prior=ENOUGH,
        choice=CHOICE_SHARE,
        enough=ENOUGH,
    )


def gaussian_plan(rows: float, mu: float, may_choose: bool = True) -> NewtonPlan:
    """The rule for Gaussian noise: deeper trees as ``rows * mu``, the rows relative to the noise, grows.

    Args:
        rows: the released number of rows.
        mu: of the whole budget.
        may_choose: whether trees may choose their splits, which takes longer.
    """
    signal = rows * mu
    if may_choose and rows > MANY_ROWS and signal >= CLEAR:
        return choosing_plan(rows)
    faint = signal < FAINT
    clip = FAINT_CLIP if faint else CLIP
    return NewtonPlan(
        trees=500 if signal < 6000 else 700,
        depth=4 if signal < 1500 else 5 if signal < 6000 else 6,
        columns_per_tree=2 if faint else 3,
        rate=0.12 if faint else 0.1 if signal < CLEAR else 0.17,
        prior=1.0 if faint else 0.2 if 6000 <= signal < CLEAR else 0.5,
        clip=clip,
        hessian_scale=_hessian_scale(clip),
    )


def laplace_plan(rows: float, epsilon: float) -> NewtonPlan:
    """The rule for Laplace noise, which grows with the number of trees: few, and larger steps."""
    signal = min(max(rows * epsilon, 0.0), 1e12)
    trees = int(np.clip(round(0.173 * signal**0.617), 4, 250))
    return NewtonPlan(
        trees=trees,
        depth=4 + sum(signal >= more for more in (1000, 6000, 30_000)),
        columns_per_tree=2 if signal < 1000 else 3 if signal < 10_000 else 4,
        rate=min(0.3, 1.05 / math.sqrt(trees)),
        prior=1.0,
        clip=0.65,
        hessian_scale=0.6,
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
    progress: Callable[[str], None] | None = None,
    plan: Callable[[NewtonPlan], NewtonPlan] = lambda by_rule: by_rule,
) -> LearnedTrees:
    """Learns a sum of trees for a binary label on the logistic loss.

    Args:
        budget: that of the whole fit, on a table with two labels; all of it is planned for.
        columns: the columns to use, in the order in which trees will number them; they must be the table's columns.
        n_trees: instead of the rule's number of trees; of random ones.
        depth: instead of the rule's depth; of random trees.
        progress: told the name of every stage.
        plan: changes what the rule made of the released number of rows.
    """
    tell = progress or (lambda _: None)
    tell("counting")
    generator = budget.public_generator
    totals, bins, by_rule, left = _prepare(budget, columns, n_trees is None and depth is None)
    chosen = plan(replace(by_rule, trees=n_trees or by_rule.trees, depth=depth or by_rule.depth))
    unordered = [
        place
        for place, (column, b) in enumerate(zip(columns, bins, strict=True))
        if not (column.ordered or b.is_ranked)
    ]
    margins, base_rate = Margins(), BaseRate(totals)
    masses, noise = [b.mass for b in bins], LeafNoise()
    cuts = Cuts(masses, reordered=unordered)
    structures, growing = structures_of(budget.part(left), chosen, margins, cuts, generator)

    def observe(sums: LeafSums, steps: Floats) -> None:
        base_rate.add_tree(sums, steps)
        noise.observe(sums, steps)

    level = None if budget.is_pure else CurvatureLevel(totals.rows, math.sqrt(2.0) * totals.sd)
    trees = grow_trees(growing, structures, chosen, margins, progress, observe, level)
    tell("setting the intercept")
    intercept = set_intercept(budget.part(_intercept_share(budget)), margins, base_rate, INTERCEPT_STEPS)
    trees = noise.annotate(trees, masses, generator)
    sd = base_rate.intercept_sd(budget.sd(_intercept_share(budget)))
    return LearnedTrees(base_rate.rows, intercept, bins, trees, chosen, growing.share / chosen.trees, sd)


def _prepare(
    budget: Budget, columns: Sequence[Column], may_choose: bool
) -> tuple[Totals, tuple[TreeBins, ...], NewtonPlan, float]:
    """Class totals, bins, the plan that follows from them, and the share of the budget that is left for trees."""
    steps = INTERCEPT_STEPS * _intercept_share(budget)
    rows_share = PURE_ROWS_SHARE if budget.is_pure else ROWS_SHARE
    totals = release_totals(budget.part(rows_share))
    left = 1.0 - rows_share - steps
    if budget.is_pure:
        epsilon = math.sqrt(2.0) / (totals.sd * PURE_ROWS_SHARE)
        chosen = laplace_plan(totals.rows, epsilon)
        if totals.rows * epsilon < SIGNAL_FOR_BINS * len(columns):
            return totals, public_bins(budget.curator, columns), chosen, left
    else:
        mu = math.inf if totals.sd == 0 else 1.0 / (totals.sd * math.sqrt(ROWS_SHARE))
        chosen = gaussian_plan(totals.rows, mu, may_choose)
    bins, spent = counted_bins(budget.part(BINS_SHARE), columns, totals)
    return totals, bins, chosen, left - spent


def _intercept_share(budget: Budget) -> float:
    return PURE_INTERCEPT_SHARE if budget.is_pure else INTERCEPT_SHARE
