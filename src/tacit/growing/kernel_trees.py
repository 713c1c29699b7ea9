"""Boosting by the kernel of random trees: many deep trees, each with a short step.

How often two rows share a leaf of a random tree is a kernel ``k`` (the random partition kernel of Davies and Ghahramani
2014), and what the trees of a fit release is, on average, the function ``sum_i k(x, x_i) w_i (y_i - p_i)`` behind a
Gaussian process (as in Hall, Rinaldo and Wasserman 2013). A tree's noise grows with the root of their number, and the
average takes that back: at any point the noise is that of one sum, ``clip / mu``, however many trees there are. A leaf
of a few rows is lost in the noise of its tree, and not in that of all trees together. So a leaf is not judged by what
its own tree says of it, as :mod:`~tacit.growing.newton_trees` does: every sum is followed by the same short way. Such
steps are gradient descent in the space of functions of ``k``, and stopping at a total step length ``v`` is
equivalent to a Gaussian prior with covariance ``v k`` (early stopping; Yao, Rosasco and Caponnetto 2007).

Limits: all leaves step alike, so that a sharp edge of few rows is learned slowly, whatever its size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD
from tacit.growing.newton_trees import LeafSums, VarianceFilter
from tacit.growing.random_trees import RandomStructures
from tacit.growing.tuning import GROWING, KERNEL, STEPPING, Growing, Kernel
from tacit.models.tree import Tree
from tacit.privacy.label import Label, Stage
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.tree_cells import TreeCells, logistic_gradient_rule


@dataclass(frozen=True)
class KernelPlan:
    """How trees are grown, from public and released numbers alone."""

    trees: int  # how many
    depth: float  # levels on average; a tree has one more or less at random where it is not whole
    columns_per_tree: int  # how many columns a tree may cut
    # the prior variance of a score (log-odds squared) at most; what is left over may show that it is less
    variance: float


def kernel_plan(
    rows: float,
    sd: float,
    noise: float,
    trees: int,
    columns_per_tree: int,
    longest: float = KERNEL.clip,
    most_variance: float = KERNEL.most_variance,
    numbers: Kernel = KERNEL,
) -> KernelPlan:
    """The plan of so many trees for so much noise.

    ``sd`` is the standard deviation of the noise where one number of sensitivity 1 takes what all trees may spend,
    ``noise`` about what it may be in a score; ``longest`` the largest norm of a row's contribution. The prior variance
    of a score is at most ``most_variance``, and smaller for contributions that are longer per unit of the score.
    """
    mu = 1.0 / max(sd, 1e-9)
    depth = math.log2(max(rows * mu**2 / numbers.rows_of_noise, 1.0))
    variance = min(noise * mu / longest, most_variance)
    depth = min(max(depth, numbers.least_depth), numbers.most_depth)
    return KernelPlan(trees, depth, columns_per_tree, variance)


def within_time(plan: KernelPlan, channels: int, numbers: Kernel = KERNEL) -> KernelPlan:
    """The plan with fewer trees where leaves release many numbers: each takes time."""
    affordable = int(numbers.most_numbers / (channels * 2.0**plan.depth))
    return replace(plan, trees=min(plan.trees, max(affordable, numbers.informative)))


class LeftOver:
    """The variance of what scores still lack, from the sums of the first trees: costs nothing.

    A sum of what rows contribute to a leaf varies by what its rows lack on average, by noise, and by the rows
    themselves: by ``own`` in one direction per unit of the released curvature. Deep leaves are lost in noise, so sums
    are looked at some levels up. Where noise is large they are next to no evidence, and the prior stays; where rows are
    many, they show whether there is anything to learn. ``squares`` is the mean, over directions, of the squared
    curvature in one, relative to the released.
    """

    def __init__(self, own: float = 1.0, squares: float = 1.0, numbers: Growing = GROWING) -> None:
        self._filter, self._believed, self._trees = VarianceFilter(0.0, numbers.stepping), 0.0, 0
        self._numbers = numbers.kernel
        self._own, self._squares = own, squares

    def learn(self, sums: LeafSums) -> float:
        """Takes the sums of a complete tree's leaves, and returns the variance of the means of leaves.

        Gradients are numbers, or vectors whose directions are treated one by one.
        """
        self._trees += 1
        if self._trees > self._numbers.informative:
            return self._believed
        leaves = len(sums.gradients)
        upper = min(leaves, 1 << self._numbers.coarse_levels)
        gradients = sums.gradients.reshape(upper, leaves // upper, -1).sum(axis=1).ravel()
        curvatures = sums.curvatures.reshape(upper, -1).sum(axis=1)
        widening = leaves / upper
        mean = float(curvatures.mean())
        squares = max(float((curvatures**2).mean()) - widening * sums.curvature_sd**2, mean**2, 1 / 4)
        noise = math.sqrt(widening) * sums.sd
        self._believed = self._filter.learn(gradients, self._own * mean, self._squares * squares, noise)
        return self._believed


def kernel_steps(sums: LeafSums, way: float, largest: float = STEPPING.largest_step) -> Floats:
    """Steps of a tree's leaves, shape ``(leaves,)``: the same way along every sum, less where it would go too far.

    ``way`` is the prior variance over the number of trees; no step is larger than ``largest``.
    """
    steps = way * sums.gradients / (1.0 + way * np.maximum(sums.curvatures, 0.0))
    return np.clip(steps, -largest, largest)


def prior_variance(left_over: float, earlier: int, plan: KernelPlan, numbers: Kernel = KERNEL) -> float:
    """The prior variance of a score that the next steps follow: what is left over, if noise allows for it.

    More noise is allowed for where earlier trees have shown that much is left over.

    ``left_over`` is the variance of the means of leaves, as far as ``earlier`` trees have shown it.
    """
    target = numbers.of_a_point * left_over
    bold = min(max(target / numbers.bold_from, 1.0) ** 2, numbers.boldest) if earlier >= numbers.bold_after else 1.0
    return min(target, bold * plan.variance)


def grow_kernel_trees(
    budget: Budget,
    structures: RandomStructures,
    plan: KernelPlan,
    margins: Margins,
    generator: np.random.Generator,
    observe: Callable[[LeafSums, Floats], None] | None = None,
    numbers: Growing = GROWING,
) -> tuple[Tree, ...]:
    """Boosts the margins by ``plan.trees`` trees, spending the budget evenly.

    ``budget`` is that of all trees together, of Gaussian noise, on a table with two labels. Each tree is appended to
    ``margins``; ``observe`` is called with its released sums and steps.
    """
    if not structures.can_split:
        return ()
    scale, largest = numbers.kernel.hessian_scale, numbers.stepping.largest_step
    rule = logistic_gradient_rule(numbers.kernel.clip, scale, 2, variance=True)
    each, left_over, trees = budget.split(plan.trees), LeftOver(numbers=numbers), []
    for number in range(plan.trees):
        depth = int(plan.depth + generator.random())
        cells = TreeCells(structures.draw(depth, plan.columns_per_tree))
        release = each.measure(Histogram(cells, rule, margins), 1.0, Label(Stage.TREE, round=number + 1))
        sd = max(release.sd, LEAST_SD)
        sums = LeafSums(release.value[:, 0], release.value[:, 1] / scale, sd, sd / scale)
        variance = prior_variance(left_over.learn(sums), number, plan, numbers.kernel)
        steps = margins.add(cells, kernel_steps(sums, variance / plan.trees, largest))
        if observe is not None:
            observe(LeafSums(sums.gradients, sums.curvatures, release.sd, release.sd / scale), steps)
        trees.append(Tree(cells.shape, steps, np.maximum(sums.curvatures, 0.0).round(2)))  # a model file holds it
    return tuple(trees)
