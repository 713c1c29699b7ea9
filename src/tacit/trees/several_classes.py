"""Gradient trees of several classes: random structure, a vector per leaf, one release per tree.

A row contributes a scaled softmax residual (:class:`~tacit.queries.score_rules.SoftmaxRule`) to one leaf of a tree:
the norm of it is at most 1 however many classes there are, so all classes share one budget. As for two classes, scores
of all rows follow from what was released, and begin at the base rates: a leaf without evidence adds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.binning.measure import Column
from tacit.binning.tree_bins import TreeBins, binned_columns, public_bins
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD
from tacit.growing.gradient_trees import laplace_plan
from tacit.growing.kernel_trees import KernelPlan, kernel_plan, within_time
from tacit.growing.newton_trees import NewtonPlan
from tacit.growing.random_trees import RandomStructures
from tacit.growing.score_leaves import grow_score_trees
from tacit.growing.softmax import SimulatedRows, log_odds_of, released_counts, softmax_curvature
from tacit.growing.tuning import BASE, GRADIENT, GROWING, SOFTMAX, Gradient
from tacit.models.tree import ScoreTree
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.histogram import ScoreHistogram
from tacit.queries.margins import Scores
from tacit.queries.score_rules import SoftmaxRule
from tacit.queries.tree_cells import TreeCells
from tacit.trees.tuning import SEVERAL_CLASSES, SeveralClasses


@dataclass(frozen=True, eq=False)
class LearnedClassTrees:
    """What was learned, all of it released: the model is built from it. Tested columns are numbered as ``bins`` are."""

    intercept: Floats
    intercept_sd: Floats
    bins: tuple[TreeBins, ...]
    trees: tuple[ScoreTree, ...]


@dataclass(frozen=True, eq=False)
class SoftmaxRounds:
    """What trees need to know of rows (:class:`~tacit.growing.score_leaves.TreeRounds`), simulated ones among it."""

    scores: Scores
    rule: SoftmaxRule
    rows: SimulatedRows

    bound: ClassVar[float] = 1.0
    scatter: ClassVar[float] = 1.0

    @property
    def unit(self) -> float:
        return self.rule.curvature / 256

    def curvature(self) -> Floats:
        return softmax_curvature(self.rows.probabilities(), self.rule)

    def add(self, cells: TreeCells | OneCell, values: Floats) -> Floats:
        added = self.scores.add(cells, values)
        self.rows.add(cells, added)
        return added

    def places(self, cells: TreeCells) -> Ints:
        return self.rows.places(cells)


def class_plan(
    rows: float, budget: Budget, classes: int, tuning: Gradient = GRADIENT, numbers: SeveralClasses = SEVERAL_CLASSES
) -> NewtonPlan | KernelPlan:
    """The rule: kernel trees under Gaussian noise; few trees by Newton's steps under Laplace noise."""
    sd = max(budget.sd(), LEAST_SD)
    if budget.is_pure:
        return laplace_plan(rows, math.sqrt(2.0) / sd, tuning)
    kernel = GROWING.kernel
    most = kernel.most_variance
    plan = kernel_plan(rows, sd, numbers.noise, numbers.trees, numbers.columns_per_tree, 1.0, most, kernel)
    return within_time(plan, classes + 1, kernel)


def learn_class_trees(
    budget: Budget,
    columns: Sequence[Column],
    n_trees: int | None = None,
    depth: int | None = None,
    tuning: Gradient = GRADIENT,
) -> LearnedClassTrees:
    """Learns a sum of trees for a label of several classes; number and depth follow from rules unless given.

    Columns must be the table's, in the order in which trees will number them.
    """
    numbers = SEVERAL_CLASSES
    classes, pure, generator = budget.layout.n_labels, budget.is_pure, budget.public_generator
    rows_share = tuning.pure_rows_share if pure else numbers.counting_share
    step_share = tuning.pure_intercept_share if pure else tuning.intercept_share
    counts, variance = released_counts(budget.part(rows_share), 1.0, "rows of each class", SOFTMAX.class_spread)
    n_rows = max(float(counts.sum()), 1.0)
    bins, cost = _bins(budget, columns, n_rows, tuning)
    plan = class_plan(n_rows, budget, classes, tuning, numbers)
    plan = replace(plan, trees=n_trees or plan.trees)
    plan = plan if depth is None else replace(plan, depth=depth)
    masses = [each.mass for each in bins]
    rule = SoftmaxRule(classes, 1 if pure else 2, SOFTMAX.tree_curvature)
    rows = SimulatedRows(masses, classes, generator, numbers.simulated_rows)
    rounds = SoftmaxRounds(Scores(classes), rule, rows)
    start = rounds.add(OneCell(), log_odds_of(counts)[None, :])[0]
    unordered = [place for place, column in enumerate(columns) if not column.ordered]
    structures = RandomStructures(masses, generator, reordered=unordered)
    growing = budget.part(1.0 - rows_share - cost - tuning.intercept_steps * step_share)
    trees = grow_score_trees(growing, structures, plan, rounds, GROWING)
    doubt = variance + numbers.moves
    shift, sd = set_constants(budget.part(step_share), rounds, n_rows, doubt, tuning.intercept_steps)
    return LearnedClassTrees(start + shift, sd, bins, trees)


def _bins(
    budget: Budget, columns: Sequence[Column], rows: float, tuning: Gradient
) -> tuple[tuple[TreeBins, ...], float]:
    """Bins, and the share of the budget they took: public ones where noise would exceed what histograms show."""
    epsilon = math.sqrt(2.0) / max(budget.sd(), LEAST_SD)
    if budget.is_pure and rows * epsilon < tuning.signal_for_bins * len(columns):
        return public_bins(budget.curator, columns, tuning.binning), 0.0
    return binned_columns(budget.part(tuning.bins_share), columns, rows, tuning.binning)


def set_constants(
    budget: Budget, rounds: SoftmaxRounds, count: float, doubt: float, steps: int
) -> tuple[Floats, Floats]:
    """What constants lack once trees are there, by Newton steps that look, and the noise in it: ``(classes,)`` each.

    The budget is that of one step; ``doubt`` says how far off constants may be: a variance.
    """
    rule, classes = replace(rounds.rule, curvature=0), rounds.scores.n_scores
    query, moved, variance = ScoreHistogram(OneCell(), rule, rounds.scores), np.zeros(classes), np.zeros(classes)
    for number in range(steps):
        release = budget.measure(query, 1.0, Label(Stage.INTERCEPT, round=number + 1))
        values, basis = np.linalg.eigh(softmax_curvature(rounds.rows.probabilities(), rule))
        curved = count * np.maximum(values, BASE.least_curvature / classes)
        answers = curved * doubt / (curved**2 * doubt + curved + release.sd**2)
        step = basis @ (answers * (basis.T @ release.value[0]))
        step = np.clip(step - step.mean(), -BASE.largest_step, BASE.largest_step)
        moved = moved + rounds.add(OneCell(), step[None, :])[0]
        variance = np.square(basis) @ np.square(answers * release.sd)
    return moved, np.sqrt(variance)
