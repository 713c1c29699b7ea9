"""Rounds of boosting by trees with private Newton leaves: one release per tree, however its splits were chosen.

A row's whole contribution to a tree is one short integer vector ``(g, c h)`` in one leaf, so adding a row moves a
release by that vector alone, and the margins of all rows follow from what was released (the family of Maddock and
others 2022).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_ndtr

from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD
from tacit.growing.random_trees import RandomStructures
from tacit.growing.tuning import GROWING, NEWTON, STEPPING, Growing, Newton, Stepping
from tacit.models.tree import Tree
from tacit.privacy.label import Label, Stage
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.tree_cells import TreeCells, logistic_gradient_rule

FAR_BELOW = -1e3
"""Not tuned, of the arithmetic: standard deviations below 0 at which only the tail of a normal distribution is left."""


def mean_above_zero(mean: float, sd: float) -> float:
    """The mean of a normal variable that is known to be positive."""
    ratio = mean / sd
    if ratio < FAR_BELOW:  # the first term of its asymptotic series; the difference below would cancel
        return -sd / ratio
    return mean + sd * math.exp(-0.5 * ratio**2 - 0.5 * math.log(2.0 * math.pi) - float(log_ndtr(ratio)))


class VarianceFilter:
    """The variance of leaves' true steps, from the sums of all trees so far.

    A leaf's sum of ``y - p`` varies by the step that its rows need on average, by the rows themselves and by the noise:
    ``E g**2 = h**2 v + k h + sd**2``. On rows whose own variation earlier trees have fitted in part, ``k`` is below 1.
    A filter over the trees finds ``v``, which may ``drift`` (standard deviation from tree to tree), each tree weighing
    as much as it can tell: where noise is large that is next to nothing, and the first belief stays. A variance is not
    negative: what is believed is the mean of the filter's normal distribution cut off at 0, so that a few unlucky trees
    do not stop all others.
    """

    def __init__(self, drift: float, numbers: Stepping = STEPPING) -> None:
        self._found, self._uncertainty, self._drift = numbers.first_variance, numbers.first_spread**2, drift

    def at_most(self, sds: float) -> float:
        """The variance so many standard deviations above what was found."""
        return self._found + sds * math.sqrt(self._uncertainty)

    def learn(self, gradients: Floats, own: float, squares: float, sd: float) -> float:
        """Takes a tree's released sums and returns the variance that is believed.

        ``gradients`` are noisy sums by leaf, which vary by ``own`` (``k h``) through the rows themselves; ``squares``
        is the mean of ``h**2``, ``sd`` the noise in a gradient.
        """
        excess = float((gradients**2).mean()) - own - sd**2
        expected = (sd**2 + max(own, 0.5)) / squares + max(self._found, 0.0)
        variance = 2.0 / len(gradients) * expected**2
        self._uncertainty += self._drift**2
        gain = self._uncertainty / (self._uncertainty + variance)
        self._found += gain * (excess / squares - self._found)
        self._uncertainty *= 1.0 - gain
        return mean_above_zero(self._found, math.sqrt(self._uncertainty))


CLEAREST = 100.0
"""Not tuned, of the arithmetic: a value whose standard deviation is so many times the noise's scale is taken as it is,
but for linear shrinkage."""


@dataclass(frozen=True)
class NewtonPlan:
    """How trees are grown, from public and released numbers alone."""

    trees: int  # how many
    depth: int  # of every tree
    columns_per_tree: int = 4  # how many columns a tree may cut
    rate: float = 0.25  # how far to step toward the posterior mean
    prior: float = 0.1  # variance of a leaf's true step (log-odds squared)
    clip: float = 0.55  # the largest norm of a row's contribution
    hessian_scale: float = 0.87  # by how much the curvature is scaled to share the noise better
    # if given, the prior is learned from the released sums (`LearnedPrior`), never below this
    least_prior: float | None = None
    # share of the budget that goes to choosing splits, for structures that choose; 0 for random ones
    choice: float = 0.0
    # growing ends, and what is left of the budget stays unspent, once the learned prior is surely below this (log-odds
    # squared); 0 for never
    enough: float = 0.0


@dataclass(frozen=True, eq=False)
class LeafSums:
    """Released sums of a tree's leaves."""

    gradients: Floats  # of `y - p`, with noise, shape `(leaves,)`; of rows with scores, `(leaves, n_scores)`
    curvatures: Floats  # of `p (1 - p)`, or of a matrix's trace, with noise, shape `(leaves,)`
    sd: float  # `sd`, `curvature_sd`: standard deviation of that noise
    curvature_sd: float


def without_laplace(values: Floats, variance: Floats, scale: float) -> Floats:
    """The posterior mean of a Gaussian value with mean 0 behind Laplace noise, shape of ``values``.

    Beyond ``variance / scale`` (of the value, and of the noise) it does not grow: the score of Laplace noise is its
    sign, so where noise is the larger part an answer has twice the information that it has under Gaussian noise of the
    same variance.
    """
    sd = np.sqrt(variance)
    noise = np.maximum(scale, sd / CLEAREST)  # beyond, the difference below would cancel
    odds = log_ndtr(values / sd - sd / noise) - log_ndtr(-values / sd - sd / noise) - 2.0 * values / noise
    shrunk = variance / noise * np.tanh(0.5 * odds)
    return np.where(sd > CLEAREST * scale, values * variance / (variance + 2.0 * scale**2), shrunk)


class LearnedPrior:
    """The prior of steps, never below ``least``, from what all trees so far released: costs nothing.

    It is ``within_leaves`` times the variance that leaves' means show (:class:`VarianceFilter`), the variance at a
    point and not of a leaf's mean: a point's score is the sum of steps of many different leaves. Where it is sure that
    nothing is left to learn, steps vanish by themselves, and trees do not fit noise.
    """

    def __init__(self, least: float, numbers: Growing = GROWING) -> None:
        self._least, self._numbers = least, numbers.newton
        self._filter = VarianceFilter(numbers.newton.variance_drift, numbers.stepping)

    @property
    def surely_below(self) -> float:
        """What the prior would be at most, were it not for its lower bound."""
        return self._numbers.within_leaves * self._filter.at_most(self._numbers.sure)

    def learn(self, gradients: Floats, curvatures: Floats, sd: float) -> float:
        """Takes a tree's released sums and returns the prior for it."""
        mean = max(float(curvatures.mean()), 0.5)
        believed = self._filter.learn(gradients, self._numbers.rows_variation * mean, mean**2, sd)
        return min(max(self._numbers.within_leaves * believed, self._least), self._numbers.largest_prior)


class CurvatureLevel:
    """The mean curvature of leaves, from all trees so far: costs nothing.

    Every tree sums up the same rows, so its total says what the other totals say, but for a slow change (``drift``,
    relative, from tree to tree) as scores move away from 0. Where noise hides one tree's total, a filter over all of
    them still sees it. Before the first tree, ``rows`` with noise of ``sd`` have a ``curvature`` each.
    """

    def __init__(self, rows: float, sd: float, curvature: float = 0.25, drift: float = NEWTON.level_drift) -> None:
        self._drift = drift
        self._total, self._variance = rows * curvature, (sd * curvature) ** 2

    def mean(self, curvatures: Floats, sd: float) -> float:
        """Takes in a tree's released curvatures, with noise of ``sd`` each, and returns their mean, at least 1/2."""
        self._variance += (self._drift * self._total) ** 2
        gain = self._variance / (self._variance + len(curvatures) * sd**2)
        self._total += gain * (float(curvatures.sum()) - self._total)
        self._total = max(self._total, 0.5 * len(curvatures))
        self._variance *= 1.0 - gain
        return self._total / len(curvatures)


def shrunk_curvatures(
    curvatures: Floats, sd: float, laplace: bool = False, level: float | None = None, numbers: Newton = NEWTON
) -> Floats:
    """Noisy curvatures of leaves shrunk to their mean by what their scatter exceeds the noise, and kept positive.

    ``level`` is their mean, where more is known of it than from this tree; scatter is then believed up to a bound.
    """
    mean = max(float(curvatures.mean()), 0.5) if level is None else level
    signal = max(float(((curvatures - mean) ** 2).mean()) - sd**2, 0.0)
    if level is not None:
        signal = min(signal, numbers.most_scatter * mean**2)
    if laplace and signal > 0:
        h = mean + without_laplace(curvatures - mean, np.full_like(curvatures, signal), sd / math.sqrt(2.0))
    else:
        h = mean + (curvatures - mean) * signal / (signal + sd**2 + 1e-12)
    return np.maximum(h, numbers.least_curvature * mean)


def newton_leaves(
    gradients: Floats,
    curvatures: Floats,
    sd: float,
    curvature_sd: float,
    plan: NewtonPlan,
    laplace: bool = False,
    level: float | None = None,
    numbers: Growing = GROWING,
) -> Floats:
    """Steps from noisy sums: the posterior mean under a Gaussian prior, times the rate, shape ``(leaves,)``.

    ``gradients`` are noisy sums of ``y - p`` per leaf, ``curvatures`` of ``p (1 - p)``; ``level`` is the leaves' mean
    curvature, where more is known of it than from this tree.
    """
    h = shrunk_curvatures(curvatures, curvature_sd, laplace, level, numbers.newton)
    spread = h**2 * plan.prior + h
    if laplace:
        denoised = without_laplace(gradients, spread, sd / math.sqrt(2.0))
    else:
        denoised = gradients * spread / (spread + sd**2)
    steps = plan.rate * plan.prior * h * denoised / spread
    return np.clip(steps, -numbers.stepping.largest_step, numbers.stepping.largest_step)


def grow_trees(
    budget: Budget,
    structures: RandomStructures,
    plan: NewtonPlan,
    margins: Margins,
    observe: Callable[[LeafSums, Floats], None] | None = None,
    level: CurvatureLevel | None = None,
    numbers: Growing = GROWING,
) -> tuple[Tree, ...]:
    """Boosts the margins by ``plan.trees`` trees, spending the budget evenly.

    ``budget`` is that of all trees together, on a table with two labels. Each tree is appended to ``margins``;
    ``observe`` is called with its released sums and steps; with ``level`` the leaves' mean curvature is taken from all
    trees, and not from each alone.
    """
    if not structures.can_split:
        return ()
    rule = logistic_gradient_rule(plan.clip, plan.hessian_scale, 1 if budget.is_pure else 2)
    each, trees, least = budget.split(plan.trees), [], structures.trees_for_pairs(plan.columns_per_tree)
    learned = None if plan.least_prior is None else LearnedPrior(plan.least_prior, numbers)
    for number in range(plan.trees):
        cells = TreeCells(structures.draw(plan.depth, plan.columns_per_tree))
        release = each.measure(Histogram(cells, rule, margins), 1.0, Label(Stage.TREE, round=number + 1))
        sd = max(release.sd, LEAST_SD)
        gradients, curvatures = release.value[:, 0], release.value[:, 1] / plan.hessian_scale
        curvature_sd = sd / plan.hessian_scale
        if learned is not None:
            plan = replace(plan, prior=learned.learn(gradients, curvatures, sd))
        mean = None if level is None else level.mean(curvatures, curvature_sd)
        leaves = newton_leaves(gradients, curvatures, sd, curvature_sd, plan, budget.is_pure, mean, numbers)
        steps = margins.add(cells, leaves)
        if observe is not None:
            observe(LeafSums(gradients, curvatures, release.sd, release.sd / plan.hessian_scale), steps)
        trees.append(Tree(cells.shape, steps, np.maximum(curvatures, 0.0).round(2)))  # a model file holds it
        nothing_left = learned is not None and max(learned.surely_below, 0.0) < plan.enough
        if (
            nothing_left and number + 1 >= least
        ):  # what two columns say only together is not seen before a tree cuts both
            break
    return tuple(trees)
