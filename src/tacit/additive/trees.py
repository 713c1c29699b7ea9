"""What columns and pairs leave over: trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from tacit.additive.losses import ScoreLoss, TwoClassLoss
from tacit.additive.pairs import cut_masses
from tacit.additive.plan import Plan
from tacit.additive.sweeps import State
from tacit.additive.term import Term
from tacit.arrays import Floats, Ints
from tacit.curator.budget import Budget
from tacit.growing.chosen_trees import structures_of
from tacit.growing.kernel_trees import grow_kernel_trees, kernel_plan, within_time
from tacit.growing.newton_trees import NewtonPlan, grow_trees
from tacit.growing.random_trees import Cuts, RandomStructures
from tacit.growing.score_leaves import grow_score_trees
from tacit.growing.tree_noise import LeafNoise
from tacit.models.tree import ScoreTree, Tree
from tacit.queries.margins import Margins, Scores
from tacit.queries.score_rules import ScoreRule
from tacit.queries.tree_cells import TreeCells


def fit_remainder(
    budget: Budget, plan: Plan, mains: Sequence[Term], state: State
) -> tuple[Tree, ...] | tuple[ScoreTree, ...]:
    """Boosts the scores by trees, of one margin or of several scores; unordered columns are cut by their effects."""
    if isinstance(state.loss, TwoClassLoss):
        return _of_margins(budget, plan, mains, state, state.loss.log)
    return _of_scores(budget.part(plan.trees), plan, _cuts(mains, state), state)


def _cuts(mains: Sequence[Term], state: State) -> Cuts:
    start = state.start
    ranks = [
        None if bins.ordered else state.loss.order(term.effect, term.counts)
        for bins, term in zip(start.bins, mains, strict=True)
    ]
    return Cuts(cut_masses(start.columns, start.bins), ranks)


def _newton_plan(plan: Plan, least_prior: float) -> NewtonPlan:
    return NewtonPlan(
        trees=plan.n_trees,
        depth=plan.tree_depth,
        columns_per_tree=plan.tree_columns,
        rate=plan.tree_rate,
        least_prior=least_prior,
        choice=plan.tree_choice,
        enough=plan.tree_enough,
    )


def _of_margins(budget: Budget, plan: Plan, mains: Sequence[Term], state: State, margins: Margins) -> tuple[Tree, ...]:
    """Of two classes: kernel trees, or chosen or random trees by Newton's steps."""
    generator, numbers, cuts = budget.public_generator, state.tuning.growing, _cuts(mains, state)
    noise, whole = LeafNoise(numbers.tracing), budget.part(plan.trees)
    if plan.tree_noise:
        trees = _kernel_trees(whole, plan, cuts, state, margins, noise)
    else:
        newton = _newton_plan(plan, state.tuning.planning.least_tree_prior)
        structures, growing = structures_of(whole, newton, margins, cuts, generator, numbers.cutting)
        trees = grow_trees(growing, structures, newton, margins, observe=noise.observe, numbers=numbers)
    return noise.annotate(trees, [bins.counts for bins in state.start.bins], generator)


def _kernel_trees(
    growing: Budget, plan: Plan, cuts: Cuts, state: State, margins: Margins, noise: LeafNoise
) -> tuple[Tree, ...]:
    generator, total, numbers = growing.public_generator, state.start.total, state.tuning.growing
    trees, columns, kernel = plan.n_trees, plan.tree_columns, numbers.kernel
    noise_of_all, longest, most = plan.tree_noise, kernel.clip, kernel.most_variance
    kernel_trees = kernel_plan(total, growing.sd(), noise_of_all, trees, columns, longest, most, kernel)
    structures = RandomStructures(cuts.masses, generator, cuts.ranks, numbers=numbers.cutting)
    return grow_kernel_trees(growing, structures, kernel_trees, margins, generator, noise.observe, numbers)


@dataclass(frozen=True, eq=False)
class StateRounds:
    """What trees of scores need to know of the model: see :class:`~tacit.growing.score_leaves.TreeRounds`."""

    state: State
    loss: ScoreLoss

    @property
    def scores(self) -> Scores:
        return self.loss.log

    @property
    def rule(self) -> ScoreRule:
        return self.loss.tree_rule

    @property
    def unit(self) -> float:
        return self.loss.tree_curvature

    @property
    def bound(self) -> float:
        return self.loss.bound

    @property
    def scatter(self) -> float:
        return self.loss.scatter

    @property
    def most_variance(self) -> float:
        return self.loss.most_variance(self.state.tuning.growing.kernel)

    def curvature(self) -> Floats:
        assert self.state.rows is not None
        return self.loss.curvature(self.state.rows)

    def add(self, cells: TreeCells, values: Floats) -> Floats:
        return self.state.add(cells, values)

    def places(self, cells: TreeCells) -> Ints:
        assert self.state.rows is not None
        return self.state.rows.places(cells)


def _of_scores(growing: Budget, plan: Plan, cuts: Cuts, state: State) -> tuple[ScoreTree, ...]:
    """Of several scores, or of a number: random trees by Newton's steps, or kernel trees."""
    rounds = StateRounds(state, cast(ScoreLoss, state.loss))
    loss, total, numbers = rounds.loss, rounds.state.start.total, rounds.state.tuning.growing
    structures = RandomStructures(cuts.masses, growing.public_generator, cuts.ranks, numbers=numbers.cutting)
    if not plan.tree_noise:
        newton = NewtonPlan(trees=plan.n_trees, depth=plan.tree_depth, rate=plan.tree_rate)
        return grow_score_trees(growing, structures, newton, rounds, numbers)
    noise, kernel = plan.tree_noise * loss.tree_noise, numbers.kernel
    trees, columns, bound, most = plan.n_trees, plan.tree_columns, loss.bound, rounds.most_variance
    kernel_trees = kernel_plan(total, growing.sd(), noise, trees, columns, bound, most, kernel)
    kernel_trees = within_time(kernel_trees, loss.tree_rule.channels, kernel)
    return grow_score_trees(growing, structures, kernel_trees, rounds, numbers)
