"""Rounds of boosting by random trees whose leaves hold a vector: one release per tree, as for one margin.

What rows contribute, and how scores are curved, is the learner's to say (:class:`TreeRounds`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD
from tacit.growing.kernel_trees import KernelPlan, LeftOver
from tacit.growing.newton_trees import LeafSums, NewtonPlan, shrunk_curvatures
from tacit.growing.random_trees import RandomStructures
from tacit.growing.tree_noise import add_by_leaf, significant
from tacit.growing.tuning import GROWING, TRACING, Growing
from tacit.models.tree import ScoreTree
from tacit.privacy.label import Label, Stage
from tacit.queries.histogram import ScoreHistogram
from tacit.queries.margins import Scores
from tacit.queries.score_rules import ScoreRule
from tacit.queries.tree_cells import TreeCells


class TreeRounds(Protocol):
    """What a learner of several scores, or of a number, says of its rows to the trees that boost them.

    Attributes:
        scores: the log that is appended to.
        rule: what rows contribute to a leaf; the last channel is their curvature.
        unit: what a row adds to that channel per unit of its curvature's trace.
        bound: the largest contribution of a row, in units of the score.
        scatter: variance of a row's contribution per unit of curvature.
    """

    @property
    def scores(self) -> Scores: ...

    @property
    def rule(self) -> ScoreRule: ...

    @property
    def unit(self) -> float: ...

    @property
    def bound(self) -> float: ...

    @property
    def scatter(self) -> float: ...

    def curvature(self) -> Floats:
        """Of one row on average, shape ``(n_scores, n_scores)``."""

    def add(self, cells: TreeCells, values: Floats) -> Floats:
        """Adds the values of a tree's leaves to all rows, and returns them as they were rounded."""

    def places(self, cells: TreeCells) -> Ints:
        """The leaf of every simulated row."""


def grow_score_trees(
    budget: Budget,
    structures: RandomStructures,
    plan: NewtonPlan | KernelPlan,
    rounds: TreeRounds,
    numbers: Growing = GROWING,
) -> tuple[ScoreTree, ...]:
    """Boosts the scores by ``plan.trees`` trees, spending the budget evenly."""
    if not structures.can_split:
        return ()
    generator, shape, scatter = budget.public_generator, CurvatureShape.of(rounds.curvature()), rounds.scatter
    steps = LeafSteps(plan, numbers) if isinstance(plan, NewtonPlan) else KernelSteps(plan, shape, scatter, numbers)
    each, trees = budget.split(plan.trees), []
    noise = ScoreNoise(generator, rounds.scores.n_scores, numbers.tracing.runs)
    for number in range(plan.trees):
        depth = int(plan.depth + generator.random())
        cells = TreeCells(structures.draw(depth, plan.columns_per_tree))
        query = ScoreHistogram(cells, rounds.rule, rounds.scores)
        release = each.measure(query, 1.0, Label(Stage.TREE, round=number + 1))
        sd = max(release.sd, LEAST_SD * rounds.bound)
        sums = LeafSums(release.value[:, :-1], release.value[:, -1] / rounds.unit, sd, sd / rounds.unit)
        step = steps.take(sums, CurvatureShape.of(rounds.curvature()), rounds.scatter)
        added = rounds.add(cells, step.values)
        noise.observe(rounds.places(cells), step, release.sd)
        trees.append(ScoreTree(cells.shape, added, np.maximum(sums.curvatures, 0.0)))
    return noise.annotate(trees)


@dataclass(frozen=True, eq=False)
class CurvatureShape:
    """The shape of the curvature of one row on average, which leaves' curvatures are thought to have."""

    basis: Floats  # the directions, orthonormal columns
    parts: Floats  # of the trace, by direction; they add up to 1

    @staticmethod
    def of(curvature: Floats) -> CurvatureShape:
        """Of a positive semidefinite matrix, shape ``(n_scores, n_scores)``."""
        values, basis = np.linalg.eigh(curvature)
        return CurvatureShape(basis, np.maximum(values, 0.0) / max(float(np.trace(curvature)), 1e-12))

    def of_leaves(self, sums: LeafSums) -> Floats:
        """By leaf and direction: this shape, scaled to the leaves' released and shrunk traces."""
        return np.asarray(shrunk_curvatures(sums.curvatures, sums.curvature_sd)[:, None] * self.parts[None, :])


@dataclass(frozen=True, eq=False)
class Taken:
    """The steps of a tree's leaves, and how they answer to its sums."""

    values: Floats  # shape `(leaves, n_scores)`
    answers: Floats  # step per unit of the gradient, by leaf and direction
    curvatures: Floats  # how much a gradient falls as scores rise, by leaf and direction
    basis: Floats  # the directions, orthonormal columns


@dataclass
class ScoreNoise:
    """How much of a sum of trees is noise; for one margin see :mod:`tacit.growing.tree_noise`.

    Noise alone runs through the rounds over simulated rows, beside the fit: a leaf answers to the noise in its sum, and
    takes back what earlier rounds left in its rows. What is left over in the end, relative to the sum of what single
    leaves hold, scales the deviations of all leaves. Post-processing: it costs nothing.
    """

    generator: np.random.Generator  # public randomness
    n_scores: int  # scores per row
    runs: int = TRACING.runs  # how often noise is run through the rounds
    _sds: list[Floats] = field(default_factory=list)
    _scores: Floats | None = None
    _alone: float = 0.0

    def observe(self, leaves: Ints, step: Taken, sd: float) -> None:
        """A round: the leaf of every simulated row, the steps, and the noise of the release."""
        size, basis = len(step.values), step.basis
        if self._scores is None:
            self._scores = np.zeros((len(leaves), self.runs, self.n_scores))
        sums = np.zeros((size, self.runs * self.n_scores))
        add_by_leaf(leaves, self._scores.reshape(len(leaves), -1), sums)
        counts = np.maximum(np.bincount(leaves, minlength=size), 1)
        means = sums.reshape(size, self.runs, self.n_scores) / counts[:, None, None] @ basis
        noise = sd * self.generator.standard_normal(means.shape)
        response = np.clip(step.answers * step.curvatures, 0.0, 1.0)
        steps = (step.answers[:, None, :] * noise - response[:, None, :] * means) @ basis.T
        self._scores += steps[leaves]
        variances = sd**2 * np.square(step.answers) @ np.square(basis).T
        self._alone += float(variances.sum(axis=1)[leaves].mean())
        self._sds.append(np.sqrt(variances))

    def annotate(self, trees: list[ScoreTree]) -> tuple[ScoreTree, ...]:
        """The trees with the standard deviation that noise leaves in every leaf."""
        remainder = 1.0
        if self._scores is not None and self._alone > 0:
            remainder = min(float(np.sqrt(np.square(self._scores).sum(axis=2).mean() / self._alone)), 1.0)
        return tuple(
            ScoreTree(tree.shape, tree.values, tree.support, significant(remainder * sds))
            for tree, sds in zip(trees, self._sds, strict=True)
        )


class LeafSteps:
    """Steps of leaves from noisy sums: the posterior mean under a Gaussian prior, times the rate.

    The prior's variance is learned from the sums of the trees so far, by how much they scatter beyond noise and chance
    (empirical Bayes on released numbers): where nothing is left over for trees to find, steps vanish.
    """

    def __init__(self, plan: NewtonPlan, numbers: Growing = GROWING) -> None:
        self._plan, self._numbers, self._largest = plan, numbers.scoring, numbers.stepping.largest_step
        self._excess, self._weight, self._chance = 0.0, 0.0, 0.0

    def take(self, sums: LeafSums, shape: CurvatureShape, scatter: float) -> Taken:
        """The steps."""
        numbers, memory = self._numbers, self._numbers.memory
        h, gradients = shape.of_leaves(sums), sums.gradients @ shape.basis
        expected = scatter * h + sums.sd**2
        self._excess = memory * self._excess + float((gradients**2 - expected).sum())
        self._weight = memory * self._weight + float((h**2).sum())
        self._chance = memory**2 * self._chance + float((2 * expected**2).sum())
        first = numbers.first_prior * self._plan.prior * scatter
        trust = first**2 / (first**2 + self._chance / max(self._weight, 1e-12) ** 2)
        prior = max(trust * self._excess / max(self._weight, 1e-12) + (1 - trust) * first, numbers.least_prior * first)
        return _taken(gradients, self._plan.rate * h * prior / (h**2 * prior + expected), h, shape.basis, self._largest)


class KernelSteps:
    """Steps of the leaves of kernel trees: the same way along every sum, less where it is too far.

    See :mod:`tacit.growing.kernel_trees`; how much is left over is seen in all directions together. ``scatter`` is the
    variance of a row's contribution per unit of curvature.
    """

    def __init__(self, plan: KernelPlan, shape: CurvatureShape, scatter: float, numbers: Growing = GROWING) -> None:
        self._plan, self._of_a_point, self._largest = plan, numbers.kernel.of_a_point, numbers.stepping.largest_step
        own, squares = scatter * float(shape.parts.mean()), float(np.square(shape.parts).mean())
        self._left_over = LeftOver(own, squares, numbers)

    def take(self, sums: LeafSums, shape: CurvatureShape, scatter: float) -> Taken:
        """The steps; arguments as for :meth:`LeafSteps.take`."""
        del scatter
        variance = min(self._of_a_point * self._left_over.learn(sums), self._plan.variance)
        h, way = shape.of_leaves(sums), variance / self._plan.trees
        return _taken(sums.gradients @ shape.basis, way / (1.0 + way * h), h, shape.basis, self._largest)


def _taken(gradients: Floats, answers: Floats, curvatures: Floats, basis: Floats, largest: float) -> Taken:
    values = np.clip((gradients * answers) @ basis.T, -largest, largest)
    return Taken(np.asarray(values), np.asarray(answers), curvatures, basis)
