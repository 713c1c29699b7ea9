"""Gradient trees: random or chosen structure, private Newton leaves, one release per tree.

Of the family of Maddock and others 2022 ("Federated boosted decision trees with differential privacy"). A row's whole
contribution to a tree is one short integer vector in one leaf, so adding a row moves a release by that vector alone,
and the margins of all rows follow from what was released. Everything but the marked releases is post-processing.

Trees start from a score of 0 and not from the base rate: at 0 both classes contribute alike, while near the rate of a
rare class the many rows of the other one hardly say anything. As long as scores are near 0 the totals of a tree's
leaves say how many rows there are and by how many the classes differ, more precisely than a separate release could.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Floats
from tacit.binning.measure import Column
from tacit.binning.tree_bins import Totals, TreeBins, counted_bins, public_bins, release_totals
from tacit.binning.tuning import MANY_ROWS
from tacit.curator.budget import Budget
from tacit.growing.chosen_trees import columns_to_cut, structures_of
from tacit.growing.newton_trees import CurvatureLevel, LeafSums, NewtonPlan, grow_trees
from tacit.growing.random_trees import Cuts
from tacit.growing.tree_noise import LeafNoise
from tacit.growing.tuning import BASE, GRADIENT, Base, Gradient
from tacit.models.tree import Tree
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.rules import LEVEL_BITS, LEVELS, RowRule
from tacit.queries.tree_cells import HESSIAN_IS_FREE, logistic_gradient_rule


class BaseRate:
    """Precision-weighted averages of the number of rows and of the difference of the classes, as both are released."""

    def __init__(self, totals: Totals, tuning: Base = BASE) -> None:
        self.tuning = tuning
        precision = 1.0 / (2.0 * totals.sd**2) if totals.sd > 0 else 1.0
        self._exact = totals.sd == 0
        self._rows = [totals.raw_rows * precision, precision]
        self._difference = [totals.raw_difference * precision, precision]
        self._beyond = [0.0, 0.0]
        self._start, self._chance, self._weight = 0.0, 0.5, 1.0
        self.mean_score = 0.0
        self._square = 0.0

    def start(self, margins: Margins, rule: RowRule) -> float:
        """Moves all scores to the base rate's log-odds, as far as they are known, and returns how far that is."""
        self._start = float(margins.add(OneCell(), [self.log_odds])[0])
        self._chance = 0.5 * (1.0 + math.tanh(0.5 * self._start))
        level = LEVELS // 2 + math.floor(self._start * 2**LEVEL_BITS)
        self._weight = float(rule.table[1, level, 0] - rule.table[0, level, 0]) / rule.unit
        self.mean_score = self._start
        return self._start

    @property
    def curvature_at_start(self) -> float:
        """Of a row, as the rule weighs it."""
        return self._weight * self._chance * (1.0 - self._chance)

    def add_tree(self, sums: LeafSums, steps: Floats) -> None:
        """Takes in a tree: its released sums, and its steps."""
        moved = math.sqrt(self._square) + abs(self.mean_score - self._start)
        if moved <= self.tuning.near_start and not self._exact:
            self._count(sums, len(steps))
        weight = np.maximum(sums.curvatures, 0.0) + sums.curvature_sd + 1e-9
        total = float(weight.sum())
        self.mean_score += float((steps * weight).sum()) / total
        self._square += float((steps**2 * weight).sum()) / total

    def _count(self, sums: LeafSums, leaves: int) -> None:
        """While scores are about as at the start, trees add up to ``w (n_1 - p n)`` and ``w p (1 - p) n``."""
        average_in(self._rows, float(sums.curvatures.sum()), sums.curvature_sd, leaves, 1.0 / self.curvature_at_start)
        average_in(self._beyond, float(sums.gradients.sum()), sums.sd, leaves, 2.0 / self._weight)

    def _difference_now(self) -> tuple[float, float]:
        """Positives minus negatives, by the first release and by all trees together, and its variance."""
        by_trees = self._beyond[0] + self._beyond[1] * (2.0 * self._chance - 1.0) * self.rows
        precision = self._difference[1] + self._beyond[1]
        return (self._difference[0] + by_trees) / precision, 1.0 / precision

    @property
    def rows(self) -> float:
        """The number of rows, at least 1."""
        return max(self._rows[0] / self._rows[1], 1.0)

    @property
    def log_odds(self) -> float:
        """The base rate's log-odds, drawn to 0 by the noise that is left."""
        difference, variance = self._difference_now()
        curvature = self.rows / 4.0
        noise = 0.0 if self._exact else variance / 4.0
        prior, most = self.tuning.rate_prior, self.tuning.largest_difference
        trust = curvature**2 * prior / (curvature**2 * prior + curvature + noise)
        return trust * 2.0 * math.atanh(float(np.clip(difference / self.rows, -most, most)))

    @property
    def curvature(self) -> float:
        """Of a row at the base rate."""
        rate = 0.5 * (1.0 + math.tanh(0.5 * self.log_odds))
        return rate * (1.0 - rate)

    def intercept_sd(self, sd: float) -> float:
        """Standard deviation that noise of ``sd`` in the last step's sum leaves in the intercept."""
        curvature = max(self.rows * self.curvature, 1.0)
        prior = self.tuning.intercept_prior
        return sd * curvature * prior / (curvature**2 * prior + curvature + sd**2)


def average_in(average: list[float], total: float, sd: float, leaves: int, factor: float) -> None:
    """Adds ``factor`` times the total of noisy leaves to a precision-weighted average."""
    precision = 1.0 / (leaves * (factor * sd) ** 2)
    average[0] += factor * total * precision
    average[1] += precision


def set_intercept(budget: Budget, margins: Margins, base_rate: BaseRate, steps: int) -> float:
    """The intercept: what the base rate asks for beyond the trees' mean score, then Newton steps that look.

    ``budget`` is that of one step, on a table with two labels; the intercept is added to ``margins``.
    """
    pure, numbers = budget.is_pure, base_rate.tuning
    rule = logistic_gradient_rule(1.0, 1.0 if pure else math.sqrt(HESSIAN_IS_FREE), 1 if pure else 2)
    scale = float(rule.table[1, LEVELS // 2, 1]) / (rule.unit / 4)
    start = float(np.clip(base_rate.log_odds - base_rate.mean_score, -numbers.largest, numbers.largest))
    intercept = float(margins.add(OneCell(), [start])[0])
    least = max(min(numbers.least_curvature, 0.5 * base_rate.curvature) * base_rate.rows, 1.0)
    for number in range(steps):
        query = Histogram(OneCell(), rule, margins)
        sums = budget.measure(query, 1.0, Label(Stage.INTERCEPT, round=number + 1))
        gradient = float(sums.value[0, 0])
        curvature = max(float(sums.value[0, 1]) / scale, least)
        step = gradient * curvature * numbers.intercept_prior
        step /= curvature**2 * numbers.intercept_prior + curvature + sums.sd**2
        intercept += float(
            margins.add(OneCell(), [float(np.clip(step, -numbers.largest_step, numbers.largest_step))])[0]
        )
    return intercept


STEEPEST_SCALE = 3.8
"""Not tuned, of the rule: 4 would fill the clip, with a gradient of 1/2 and a curvature of 1/4; rounding needs room."""

LARGEST_SIGNAL = 1e12  # not tuned, of the arithmetic: no plan depends on more, and `inf` has none


def _hessian_scale(clip: float) -> float:
    """How far the curvature is blown up: as far as it fits beside the gradient of a row at score 0."""
    return STEEPEST_SCALE * math.sqrt(clip**2 - 1 / 4)


def choosing_plan(rows: float, tuning: Gradient = GRADIENT) -> NewtonPlan:
    """The rule for trees that choose their splits, which see in one look what random ones need many for."""
    trees = max(min(tuning.choosing_trees, tuning.choosing_rows / rows), tuning.least_choosing_trees)
    return NewtonPlan(
        trees=int(trees),
        depth=tuning.choosing_depth,
        columns_per_tree=columns_to_cut(rows),
        rate=tuning.choosing_rate * math.sqrt(tuning.choosing_trees / trees),
        clip=tuning.clip,
        hessian_scale=_hessian_scale(tuning.clip),
        least_prior=tuning.enough,
        choice=tuning.choice_share,
        enough=tuning.enough,
    )


def gaussian_plan(rows: float, mu: float, may_choose: bool = True, tuning: Gradient = GRADIENT) -> NewtonPlan:
    """The rule for Gaussian noise: deeper trees as ``rows * mu``, the rows relative to the noise, grows.

    ``mu`` is that of the whole budget; ``may_choose``: whether trees may choose their splits, which takes longer.
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
    signal = min(max(rows * epsilon, 0.0), LARGEST_SIGNAL)
    target = round(tuning.laplace_factor * signal**tuning.laplace_power)
    trees = int(np.clip(target, tuning.least_laplace_trees, tuning.most_laplace_trees))
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
    """What was learned, all of it released: the model is built from this."""

    rows: float  # the released number of rows
    intercept: float  # log-odds before any tree
    bins: tuple[TreeBins, ...]  # per column, the map from codes to bins
    trees: tuple[Tree, ...]  # tested columns are numbered as `bins` are
    plan: NewtonPlan  # how they were grown
    share: float  # of the budget that the leaves of each tree took
    intercept_sd: float = 0.0  # standard deviation of the noise in the intercept

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

    All of ``budget`` is planned for. Columns must be the table's, in the order in which trees will number them;
    ``n_trees`` and ``depth`` are instead of the rule's, and of random trees.
    """
    generator = budget.public_generator
    totals, bins, by_rule, remainder = _prepare(budget, columns, n_trees is None and depth is None, tuning)
    plan = replace(by_rule, trees=n_trees or by_rule.trees, depth=depth or by_rule.depth)
    unordered = [
        place
        for place, (column, b) in enumerate(zip(columns, bins, strict=True))
        if not (column.ordered or b.is_ranked)
    ]
    margins, base_rate = Margins(), BaseRate(totals)
    rule = logistic_gradient_rule(plan.clip, plan.hessian_scale, 1 if budget.is_pure else 2)
    origin = base_rate.start(margins, rule)
    plan = replace(plan, prior=plan.prior / 4 / base_rate.curvature_at_start)  # of chances, as at 1/2
    masses, noise = [b.mass for b in bins], LeafNoise()
    cuts = Cuts(masses, reordered=unordered)
    structures, growing = structures_of(budget.part(remainder), plan, margins, cuts, generator)

    def observe(sums: LeafSums, steps: Floats) -> None:
        base_rate.add_tree(sums, steps)
        noise.observe(sums, steps)

    level = None
    if not budget.is_pure:
        level = CurvatureLevel(totals.rows, math.sqrt(2.0) * totals.sd, base_rate.curvature_at_start)
    trees = grow_trees(growing, structures, plan, margins, observe, level)
    share = _intercept_share(budget, tuning)
    intercept = origin + set_intercept(budget.part(share), margins, base_rate, tuning.intercept_steps)
    trees = noise.annotate(trees, masses, generator)
    sd = base_rate.intercept_sd(budget.sd(share))
    return LearnedTrees(base_rate.rows, intercept, bins, trees, plan, growing.share / plan.trees, sd)


def _prepare(
    budget: Budget, columns: Sequence[Column], may_choose: bool, tuning: Gradient
) -> tuple[Totals, tuple[TreeBins, ...], NewtonPlan, float]:
    """Class totals, bins, the plan that follows from them, and the share of the budget that is left for trees."""
    steps = tuning.intercept_steps * _intercept_share(budget, tuning)
    rows_share = tuning.pure_rows_share if budget.is_pure else tuning.rows_share
    totals = release_totals(budget.part(rows_share))
    remainder = 1.0 - rows_share - steps
    if budget.is_pure:
        epsilon = math.sqrt(2.0) / (totals.sd * rows_share)
        plan = laplace_plan(totals.rows, epsilon, tuning)
        if totals.rows * epsilon < tuning.signal_for_bins * len(columns):
            return totals, public_bins(budget.curator, columns, tuning.binning), plan, remainder
    else:
        mu = math.inf if totals.sd == 0 else 1.0 / (totals.sd * math.sqrt(rows_share))
        plan = gaussian_plan(totals.rows, mu, may_choose, tuning)
    bins, cost = counted_bins(budget.part(tuning.bins_share), columns, totals, tuning.binning)
    return totals, bins, plan, remainder - cost


def _intercept_share(budget: Budget, tuning: Gradient) -> float:
    return tuning.pure_intercept_share if budget.is_pure else tuning.intercept_share
