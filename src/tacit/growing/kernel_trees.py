"""Boosting by the kernel of random trees: many deep trees, each with a short step.

How often two rows share a leaf of a random tree is a kernel ``k`` (the random partition kernel of Davies and Ghahramani
2014), and what the trees of a fit release is, on average, the function ``sum_i k(x, x_i) w_i (y_i - p_i)`` behind a
Gaussian process (as in Hall, Rinaldo and Wasserman 2013). A tree's noise grows with the root of their number, and the
average takes that back: at any point the noise is that of one sum, ``clip / mu``, however many trees there are. A leaf
of a few rows is lost in the noise of its tree, and not in that of all trees together. So a leaf is not judged by what
its own tree says of it, as :mod:`~tacit.growing.newton_trees` does: every sum is followed by the same short way. Such
steps are gradient descent in the space of functions of ``k``, and ending it after a way of ``v`` does what a Gaussian
prior of covariance ``v k`` does (early stopping; Yao, Rosasco and Caponnetto 2007).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD
from tacit.growing.newton_trees import LARGEST_STEP, LeafSums
from tacit.growing.random_trees import RandomStructures
from tacit.growing.variance_filter import VarianceFilter
from tacit.models.tree import Tree
from tacit.privacy.label import Label, Stage
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.tree_cells import TreeCells, logistic_gradient_rule

CLIP, HESSIAN_SCALE = 0.55, 0.87
"""The largest norm of a row's contribution, and by how much its curvature is blown up to share the noise."""

ROWS_OF_NOISE = 20.0
"""A leaf holds about so many times ``1 / mu**2`` rows: there noise and the rows' own variation are of a size."""

LEAST_DEPTH, MOST_DEPTH = 3.0, 9.0

MOST_VARIANCE = 2.0
"""The prior variance of a score (log-odds squared) is never larger."""

COARSE_LEVELS = 7
"""Levels of a tree at which the variance of what is left over is seen: deeper, noise drowns it."""

INFORMATIVE = 100
"""So many trees tell how much is left over; later ones have taken part of it themselves."""

MOST_NUMBERS = 1e6
"""No more trees than release so many numbers, unless all of them are needed for that."""

OF_A_POINT = 80.0
"""A point's prior variance relative to the variance of the means of leaves: what two rows of one leaf have in common is
little of what deep trees of other columns can tell of each."""


@dataclass(frozen=True)
class KernelPlan:
    """How trees are grown, from public and released numbers alone.

    Attributes:
        trees: how many.
        depth: levels on average; a tree has one more or less at random where it is not whole.
        columns_per_tree: how many columns a tree may cut.
        variance: the prior variance of a score (log-odds squared) at most; what is left over may show that it is less.
    """

    trees: int
    depth: float
    columns_per_tree: int
    variance: float


def kernel_plan(
    rows: float,
    sd: float,
    noise: float,
    trees: int,
    columns_per_tree: int,
    longest: float = CLIP,
    most_variance: float = MOST_VARIANCE,
) -> KernelPlan:
    """The plan for so much noise.

    Args:
        rows: the released number of rows.
        sd: standard deviation of the noise where one number of sensitivity 1 takes what all trees may spend.
        noise: standard deviation that noise may have in a score, about.
        trees: how many.
        columns_per_tree: how many columns a tree may cut.
        longest: the largest norm of a row's contribution.
        most_variance: the prior variance of a score is never larger; for contributions that are longer per unit of the
            score it is smaller.
    """
    mu = 1.0 / max(sd, 1e-9)
    depth = math.log2(max(rows * mu**2 / ROWS_OF_NOISE, 1.0))
    variance = min(noise * mu / longest, most_variance)
    return KernelPlan(trees, min(max(depth, LEAST_DEPTH), MOST_DEPTH), columns_per_tree, variance)


def within_time(plan: KernelPlan, channels: int) -> KernelPlan:
    """The plan with fewer trees where leaves release many numbers: each takes time.

    Args:
        plan: as it would be.
        channels: numbers per leaf.
    """
    affordable = int(MOST_NUMBERS / (channels * 2.0**plan.depth))
    return replace(plan, trees=min(plan.trees, max(affordable, INFORMATIVE)))


class LeftOver:
    """The variance of what scores still lack, from the sums of the first trees: costs nothing.

    A sum of what rows contribute to a leaf varies by what its rows lack on average, by noise, and by the rows
    themselves, of which the variance is released beside it. Deep leaves are drowned, so sums are looked at some levels
    up. Where noise is large it tells next to nothing, and the first belief stays; where rows are many, it tells whether
    there is anything to learn.

    Args:
        own: the variance of the rows' contribution in one direction, per unit of the released curvature.
        squares: the mean, over directions, of the squared curvature in one, relative to the released.
    """

    def __init__(self, own: float = 1.0, squares: float = 1.0) -> None:
        self._filter, self._believed, self._trees = VarianceFilter(drift=0.0), 0.0, 0
        self._own, self._squares = own, squares

    def learn(self, sums: LeafSums) -> float:
        """Takes the sums of a complete tree's leaves, and returns the variance of the means of leaves.

        Gradients are numbers, or vectors whose directions are told apart.
        """
        self._trees += 1
        if self._trees > INFORMATIVE:
            return self._believed
        leaves = len(sums.gradients)
        upper = min(leaves, 1 << COARSE_LEVELS)
        gradients = sums.gradients.reshape(upper, leaves // upper, -1).sum(axis=1).ravel()
        curvatures = sums.curvatures.reshape(upper, -1).sum(axis=1)
        widening = leaves / upper
        mean = float(curvatures.mean())
        squares = max(float((curvatures**2).mean()) - widening * sums.curvature_sd**2, mean**2, 0.25)
        noise = math.sqrt(widening) * sums.sd
        self._believed = self._filter.learn(gradients, self._own * mean, self._squares * squares, noise)
        return self._believed


def kernel_steps(sums: LeafSums, way: float) -> Floats:
    """Steps of a tree's leaves, shape ``(leaves,)``: the same way along every sum, less where it would go too far.

    Args:
        sums: as released.
        way: the prior variance over the number of trees.
    """
    steps = way * sums.gradients / (1.0 + way * np.maximum(sums.curvatures, 0.0))
    clipped: Floats = np.clip(steps, -LARGEST_STEP, LARGEST_STEP)
    return clipped


def grow_kernel_trees(
    budget: Budget,
    structures: RandomStructures,
    plan: KernelPlan,
    margins: Margins,
    generator: np.random.Generator,
    observe: Callable[[LeafSums, Floats], None] | None = None,
) -> tuple[Tree, ...]:
    """Boosts the margins by ``plan.trees`` trees, spending the budget evenly.

    Args:
        budget: of all trees together, of Gaussian noise, on a table with two labels.
        structures: where shapes come from; columns are the table's.
        plan: how to grow.
        margins: the log; each tree is appended.
        generator: public randomness.
        observe: told the released sums and the steps of every tree.
    """
    if not structures.can_split:
        return ()
    rule = logistic_gradient_rule(CLIP, HESSIAN_SCALE, 2, variance=True)
    each, left_over, trees = budget.split(plan.trees), LeftOver(), []
    for number in range(plan.trees):
        depth = int(plan.depth + generator.random())
        cells = TreeCells(structures.draw(depth, plan.columns_per_tree))
        release = each.measure(Histogram(cells, rule, margins), 1.0, Label(Stage.TREE, round=number + 1))
        sd = max(release.sd, LEAST_SD)
        sums = LeafSums(release.value[:, 0], release.value[:, 1] / HESSIAN_SCALE, sd, sd / HESSIAN_SCALE)
        variance = min(OF_A_POINT * left_over.learn(sums), plan.variance)
        steps = margins.add(cells, kernel_steps(sums, variance / plan.trees))
        if observe is not None:
            observe(LeafSums(sums.gradients, sums.curvatures, release.sd, release.sd / HESSIAN_SCALE), steps)
        trees.append(Tree(cells.shape, steps, np.maximum(sums.curvatures, 0.0).round(2)))  # a model file holds it
    return tuple(trees)
