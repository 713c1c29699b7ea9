"""Gradient trees: random structure, private Newton leaves, one release per tree.

Of the family of Maddock and others 2022 ("Federated boosted decision trees with differential privacy"). A row's whole
contribution to a tree is one short integer vector in one leaf, so adding a row moves a release by that vector alone,
and the margins of all rows follow from what was released. Everything but the marked releases is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.boosting.newton_trees import NewtonPlan, grow_trees
from tacit.boosting.random_trees import RandomStructures
from tacit.curator.curator import Curator
from tacit.models.tree import Tree
from tacit.privacy.purse import Purse
from tacit.queries.margins import Margins
from tacit.trees.base_rate import BaseRate, set_intercept
from tacit.trees.bins import Column, Totals, TreeBins, counted_bins, public_bins, release_totals

BINS_SHARE = 0.09
"""Share of the budget for class histograms, where they are bought."""

ROWS_SHARE = 0.005
PURE_ROWS_SHARE = 0.02
"""Share of the budget for the number of rows."""

INTERCEPT_SHARE = 0.005
PURE_INTERCEPT_SHARE = 0.01
INTERCEPT_STEPS = 2
"""Each step of the intercept takes this share of the budget."""


def gaussian_plan(rows: float, mu: float) -> NewtonPlan:
    """The rule for Gaussian noise: deeper trees as ``rows * mu``, the rows relative to the noise, grows."""
    signal = rows * mu
    clip = 0.55
    return NewtonPlan(
        trees=500,
        depth=4 if signal < 1500 else 5 if signal < 6000 else 6,
        columns_per_tree=3,
        rate=0.12,
        prior=1.5,
        clip=clip,
        hessian_scale=3.8 * math.sqrt(clip**2 - 0.25),
    )


def laplace_plan(rows: float, epsilon: float) -> NewtonPlan:
    """The rule for Laplace noise, which grows with the number of trees: few, and larger steps."""
    signal = max(rows * epsilon, 0.0)
    trees = int(np.clip(round(0.6 * math.sqrt(min(signal, 1e12))), 8, 150))
    return NewtonPlan(
        trees=trees,
        depth=4 if signal < 600 else 5 if signal < 6000 else 6,
        columns_per_tree=2 if signal < 600 else 3 if signal < 6000 else 4,
        rate=min(0.4, 2.0 / math.sqrt(trees)),
        prior=1.6,
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
        share: of the budget that each tree took.
    """

    rows: float
    intercept: float
    bins: tuple[TreeBins, ...]
    trees: tuple[Tree, ...]
    plan: NewtonPlan
    share: float


def learn_gradient_trees(
    curator: Curator,
    purse: Purse,
    columns: Sequence[Column],
    n_trees: int | None = None,
    depth: int | None = None,
    progress: Callable[[str], None] | None = None,
    plan: Callable[[NewtonPlan], NewtonPlan] = lambda by_rule: by_rule,
) -> LearnedTrees:
    """Learns a sum of trees for a binary label on the logistic loss.

    Args:
        curator: the gate to a table with two labels.
        purse: the whole budget of the fit; all of it is planned for.
        columns: the columns to use, in the order in which trees will number them; they must be the table's columns.
        n_trees: instead of the rule's number of trees.
        depth: instead of the rule's depth.
        progress: told the name of every stage.
        plan: changes what the rule made of the released number of rows.
    """
    tell = progress or (lambda _: None)
    tell("counting")
    generator = curator.public_generator
    totals, bins, by_rule, left = _prepare(curator, purse, columns)
    chosen = plan(replace(by_rule, trees=n_trees or by_rule.trees, depth=depth or by_rule.depth))
    unordered = [place for place, column in enumerate(columns) if not column.ordered] if purse.is_pure else []
    structures = RandomStructures([b.mass for b in bins], generator, reordered=unordered)
    margins, base_rate = Margins(), BaseRate(totals)
    trees = grow_trees(curator, purse, left, structures, chosen, margins, progress, base_rate.add_tree)
    tell("setting the intercept")
    intercept = set_intercept(curator, purse, margins, base_rate, _intercept_share(purse), INTERCEPT_STEPS)
    return LearnedTrees(base_rate.rows, intercept, bins, trees, chosen, left / chosen.trees)


def _prepare(
    curator: Curator, purse: Purse, columns: Sequence[Column]
) -> tuple[Totals, tuple[TreeBins, ...], NewtonPlan, float]:
    """Class totals, bins, the plan that follows from them, and the share of the budget that is left for trees."""
    steps = INTERCEPT_STEPS * _intercept_share(purse)
    if purse.is_pure:
        totals = release_totals(curator, purse, PURE_ROWS_SHARE)
        chosen = laplace_plan(totals.rows, math.sqrt(2.0) / (totals.sd * PURE_ROWS_SHARE))
        return totals, public_bins(curator, columns), chosen, 1.0 - PURE_ROWS_SHARE - steps
    totals = release_totals(curator, purse, ROWS_SHARE)
    bins = counted_bins(curator, columns, purse.charge(BINS_SHARE / len(columns)), totals)
    mu = math.inf if totals.sd == 0 else 1.0 / (totals.sd * math.sqrt(ROWS_SHARE))
    return totals, bins, gaussian_plan(totals.rows, mu), 1.0 - ROWS_SHARE - BINS_SHARE - steps


def _intercept_share(purse: Purse) -> float:
    return PURE_INTERCEPT_SHARE if purse.is_pure else INTERCEPT_SHARE
