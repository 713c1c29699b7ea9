"""What columns and pairs leave over: a smooth function of all columns, and trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from tacit.additive.losses import ScoreLoss
from tacit.additive.pairs import cut_masses
from tacit.additive.plan import Plan
from tacit.additive.sweeps import State
from tacit.additive.term import Term
from tacit.arrays import Floats, Ints
from tacit.curator.budget import Budget
from tacit.growing.chosen_trees import structures_of
from tacit.growing.fourier import grow_fourier
from tacit.growing.kernel_trees import grow_kernel_trees, kernel_plan, within_time
from tacit.growing.newton_trees import NewtonPlan, grow_trees
from tacit.growing.random_trees import Cuts, RandomStructures
from tacit.growing.score_leaves import grow_score_trees
from tacit.growing.tree_noise import LeafNoise
from tacit.models.fourier_features import FourierFeatures, FourierTerm
from tacit.models.tree import ScoreTree, Tree
from tacit.queries.margins import Margins, Scores
from tacit.queries.score_rules import ScoreRule
from tacit.queries.tree_cells import TreeCells


@dataclass(frozen=True, eq=False)
class Grown:
    """What was learned of what columns and pairs leave over.

    Attributes:
        fourier: a smooth function of all columns together, of several scores or a number, if there is one.
        trees: of one margin, or of several scores.
    """

    fourier: FourierTerm | None = None
    trees: tuple[Tree, ...] | tuple[ScoreTree, ...] = ()


def grow_rest(budget: Budget, chosen: Plan, mains: Sequence[Term], state: State) -> Grown:
    """Boosts the scores by a smooth function and trees; unordered columns go in the order of their effects.

    Args:
        budget: of the whole fit, which the plan divides.
        chosen: the plan.
        mains: the terms of the columns, in their order.
        state: the model so far.
    """
    if isinstance(state.log, Margins):
        return _of_margins(budget, chosen, mains, state, state.log)
    return _of_scores(budget, chosen, _cuts(mains, state), state)


def _cuts(mains: Sequence[Term], state: State) -> Cuts:
    known = state.known
    ranks = [
        None if found.ordered else state.loss.order(term.effect, term.counts)
        for found, term in zip(known.bins, mains, strict=True)
    ]
    return Cuts(cut_masses(known.columns, known.bins), ranks)


def _newton_plan(chosen: Plan, least_prior: float) -> NewtonPlan:
    return NewtonPlan(
        trees=chosen.n_trees,
        depth=chosen.tree_depth,
        columns_per_tree=chosen.tree_columns,
        rate=chosen.tree_rate,
        least_prior=least_prior,
        choice=chosen.tree_choice,
        enough=chosen.tree_enough,
    )


def _of_margins(budget: Budget, chosen: Plan, mains: Sequence[Term], state: State, margins: Margins) -> Grown:
    """Of two classes: kernel trees, or chosen or random trees by Newton's steps."""
    generator, numbers, cuts = budget.public_generator, state.tuning.growing, _cuts(mains, state)
    noise, whole = LeafNoise(numbers.tracing), budget.part(chosen.trees)
    if chosen.tree_noise:
        trees = _kernel_trees(whole, chosen, cuts, state, margins, noise)
    else:
        newton = _newton_plan(chosen, state.tuning.planning.least_tree_prior)
        structures, growing = structures_of(whole, newton, margins, cuts, generator, numbers.cutting)
        trees = grow_trees(growing, structures, newton, margins, observe=noise.observe, numbers=numbers)
    return Grown(trees=noise.annotate(trees, [found.counts for found in state.known.bins], generator))


def _kernel_trees(
    growing: Budget, chosen: Plan, cuts: Cuts, state: State, margins: Margins, noise: LeafNoise
) -> tuple[Tree, ...]:
    """Trees that are averaged as a kernel."""
    generator, total, numbers = growing.public_generator, state.known.total, state.tuning.growing
    trees, columns, kernel = chosen.n_trees, chosen.tree_columns, numbers.kernel
    noise_of_all, longest, most = chosen.tree_noise, kernel.clip, kernel.most_variance
    plan = kernel_plan(total, growing.sd(), noise_of_all, trees, columns, longest, most, kernel)
    structures = RandomStructures(cuts.masses, generator, cuts.ranks, numbers=numbers.cutting)
    return grow_kernel_trees(growing, structures, plan, margins, generator, noise.observe, numbers)


@dataclass(frozen=True, eq=False)
class StateRounds:
    """What trees and smooth functions of scores need to know of the model: see :mod:`tacit.growing.rounds`."""

    state: State
    loss: ScoreLoss

    @property
    def scores(self) -> Scores:
        assert isinstance(self.state.log, Scores)
        return self.state.log

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
    def bare_rule(self) -> ScoreRule:
        return self.loss.rule

    @property
    def steepest(self) -> float:
        return self.loss.steepest

    @property
    def most_variance(self) -> float:
        return self.loss.most_variance(self.state.tuning.growing.kernel)

    def add_features(self, features: FourierFeatures, weights: Floats) -> Floats:
        assert self.state.rows is not None
        added = self.scores.add_features(features, weights)
        self.state.rows.add_features(features, added)
        return added

    def curvature(self) -> Floats:
        assert self.state.rows is not None
        return self.loss.curvature(self.state.rows)

    def add(self, cells: TreeCells, values: Floats) -> Floats:
        return self.state.add(cells, values)

    def places(self, cells: TreeCells) -> Ints:
        assert self.state.rows is not None
        return self.state.rows.places(cells)


def _of_scores(budget: Budget, chosen: Plan, cuts: Cuts, state: State) -> Grown:
    """Of several scores, or of a number: a smooth function of all columns, and trees."""
    rounds, smooth = StateRounds(state, cast(ScoreLoss, state.loss)), None
    if chosen.fourier:
        planned, noise = budget.part(chosen.fourier), chosen.fourier_noise * rounds.loss.tree_noise
        total, generator, numbers = state.known.total, budget.public_generator, state.tuning.growing.smooth
        smooth, spent = grow_fourier(planned, total, noise, cuts, rounds, generator, numbers)
        chosen = chosen.passed_to_trees(chosen.fourier * (1.0 - spent / planned.share))
    return Grown(smooth, _trees_of_scores(budget.part(chosen.trees), chosen, cuts, rounds))


def _trees_of_scores(growing: Budget, chosen: Plan, cuts: Cuts, rounds: StateRounds) -> tuple[ScoreTree, ...]:
    """Random trees by Newton's steps, or kernel trees."""
    loss, total, numbers = rounds.loss, rounds.state.known.total, rounds.state.tuning.growing
    structures = RandomStructures(cuts.masses, growing.public_generator, cuts.ranks, numbers=numbers.cutting)
    if not chosen.tree_noise:
        newton = NewtonPlan(trees=chosen.n_trees, depth=chosen.tree_depth, rate=chosen.tree_rate)
        return grow_score_trees(growing, structures, newton, rounds, numbers)
    noise, kernel = chosen.tree_noise * loss.tree_noise, numbers.kernel
    trees, columns, bound, most = chosen.n_trees, chosen.tree_columns, loss.bound, rounds.most_variance
    plan = kernel_plan(total, growing.sd(), noise, trees, columns, bound, most, kernel)
    plan = within_time(plan, loss.tree_rule.channels, kernel)
    return grow_score_trees(growing, structures, plan, rounds, numbers)
