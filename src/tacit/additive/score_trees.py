"""Rounds of boosting by random trees whose leaves hold a vector: one release per tree, as for one margin."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.additive.score_sweeps import ScoreState
from tacit.additive.term import LEAST_SD
from tacit.boosting.newton_trees import LARGEST_STEP, LeafSums, NewtonPlan, shrunk_curvatures
from tacit.boosting.random_trees import RandomStructures
from tacit.curator.curator import Curator
from tacit.models.additive_scores import ScoreTree
from tacit.privacy.purse import Purse
from tacit.queries.score_histogram import ScoreHistogram
from tacit.queries.tree_cells import TreeCells

Floats = npt.NDArray[np.float64]

FIRST_PRIOR = 0.25
"""Prior variance of a leaf's step before anything is known, relative to the plan's."""

LEAST_PRIOR = 0.02
"""The prior's variance never falls below this part of the first one."""

MEMORY = 0.97
"""What earlier trees tell about the prior counts for less and less: trees use up what there is to find."""


def grow_score_trees(
    curator: Curator,
    purse: Purse,
    share: float,
    structures: RandomStructures,
    plan: NewtonPlan,
    state: ScoreState,
) -> tuple[ScoreTree, ...]:
    """Boosts the scores by ``plan.trees`` trees, spending ``share`` of the purse evenly."""
    if not structures.can_split:
        return ()
    loss, steps = state.loss, LeafSteps(plan)
    charge, trees = purse.charge(share / plan.trees), []
    for number in range(plan.trees):
        cells = TreeCells(structures.draw(plan.depth, plan.columns_per_tree))
        query = ScoreHistogram(cells, loss.tree_rule, state.scores)
        release = curator.measure(query, charge, f"tree {number + 1}")
        sd = max(release.sd, LEAST_SD * loss.bound)
        sums = LeafSums(release.value[:, :-1], release.value[:, -1] / loss.tree_curvature, sd, sd / loss.tree_curvature)
        added = state.add(cells, steps.take(sums, loss.curvature(state.rows), loss.scatter))
        trees.append(ScoreTree(cells.shape, added, np.maximum(sums.curvatures, 0.0)))
    return tuple(trees)


class LeafSteps:
    """Steps of leaves from noisy sums: the posterior mean under a Gaussian prior, times the rate.

    The prior's variance is learned from the sums of the trees so far, by how much they scatter beyond noise and chance
    (empirical Bayes on released numbers): where nothing is left over for trees to find, steps vanish.

    Args:
        plan: the rate and the first prior.
    """

    def __init__(self, plan: NewtonPlan) -> None:
        self._plan = plan
        self._excess, self._weight, self._chance = 0.0, 0.0, 0.0

    def take(self, sums: LeafSums, shape: Floats, scatter: float) -> Floats:
        """The steps, shape ``(leaves, n_scores)``.

        A leaf's curvature matrix is thought to have the shape of the whole table's, scaled to the leaf's released and
        shrunk trace.

        Args:
            sums: the release.
            shape: curvature of one row on average, ``(n_scores, n_scores)``.
            scatter: variance of a row's contribution per unit of curvature.
        """
        h, basis = self._curvatures(sums, shape)
        gradients = sums.gradients @ basis
        expected = scatter * h + sums.sd**2
        self._excess = MEMORY * self._excess + float((gradients**2 - expected).sum())
        self._weight = MEMORY * self._weight + float((h**2).sum())
        self._chance = MEMORY**2 * self._chance + float((2 * expected**2).sum())
        first = FIRST_PRIOR * self._plan.prior * scatter
        trust = first**2 / (first**2 + self._chance / max(self._weight, 1e-12) ** 2)
        prior = max(trust * self._excess / max(self._weight, 1e-12) + (1 - trust) * first, LEAST_PRIOR * first)
        steps = gradients * h * prior / (h**2 * prior + expected)
        return np.asarray(np.clip(self._plan.rate * steps @ basis.T, -LARGEST_STEP, LARGEST_STEP))

    def _curvatures(self, sums: LeafSums, shape: Floats) -> tuple[Floats, Floats]:
        """Curvatures by leaf and direction, and the directions."""
        traces = shrunk_curvatures(sums.curvatures, sums.curvature_sd)
        values, basis = np.linalg.eigh(shape)
        values = np.maximum(values, 0.0) / max(float(np.trace(shape)), 1e-12)
        return np.asarray(traces[:, None] * values[None, :]), basis
