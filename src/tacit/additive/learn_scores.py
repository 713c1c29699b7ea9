"""The flagship for several classes and for numeric targets: the same steps, with a vector of effects per bin.

Count, bin, sweep, look for pairs, sweep again, boost the rest by trees; see :mod:`tacit.additive.learn` for one margin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.additive.constrained import cut_masses, free_columns
from tacit.additive.first_look import first_look
from tacit.additive.imagined import ImaginedRows
from tacit.additive.jointly import bounds_jointly
from tacit.additive.learn import AVERAGING_LOSS, column_prior
from tacit.additive.pairs import Side, most_pairs, pair_side, quieten
from tacit.additive.plan import Plan, pseudo_terms
from tacit.additive.score_intercept import ScoreIntercept
from tacit.additive.score_losses import Loss
from tacit.additive.score_pairs import score_pair_terms, screen_score_pairs
from tacit.additive.score_sweeps import ScoreState, sweep_scores
from tacit.additive.score_term import Directions, ScoreTerm, strongest_order
from tacit.additive.score_trees import grow_score_trees
from tacit.additive.sweeps import HyperPrior
from tacit.arrays import Floats
from tacit.binning.measure import Bins, Column
from tacit.curator.budget import Budget
from tacit.growing.kernel_trees import kernel_plan, within_time
from tacit.growing.newton_trees import NewtonPlan
from tacit.growing.random_trees import RandomStructures
from tacit.models.additive_scores import ScoreTree
from tacit.queries.cells import OneCell
from tacit.queries.margins import Scores


@dataclass(frozen=True, eq=False)
class LearnedScores:
    """What was learned, all of it released: the model is built from this."""

    total: float
    intercept: Floats
    columns: tuple[Column, ...]
    bins: tuple[Bins, ...]
    mains: tuple[ScoreTerm, ...]
    pairs: tuple[tuple[Side, Side, ScoreTerm], ...]
    trees: tuple[ScoreTree, ...]
    plan: Plan
    directions: Directions
    intercept_sd: Floats


def learn_scores(
    budget: Budget,
    columns: Sequence[Column],
    loss: Loss,
    pairs: bool = True,
    trees: bool = True,
) -> LearnedScores:
    """Learns an additive model with a vector of scores per row.

    Args:
        budget: that of the whole fit; all of it is planned for.
        columns: columns to use.
        loss: what rows contribute; it spends its own share.
        pairs: whether to look for interactions of two columns where the budget allows.
        trees: whether to boost what is left over by trees where the budget allows.
    """
    whole, count = budget, len(columns)
    begun = whole.part(1 - loss.share).as_whole()
    known = first_look(begun, columns, pairs, trees, loss.strength, False, loss.together)
    total, chosen, bins = known.total, known.plan, known.bins
    start, doubt = loss.begin(whole, total)
    budget = whole.part(
        1 - loss.share
    ).as_whole()  # a loss that settles for less leaves more; parts of a larger one still add up
    each, jointly = (
        budget.part(chosen.mains).split(count + 1),
        loss.jointly and bounds_jointly(budget.allowance, known.signal),
    )
    mains = [
        main_score_term(column, found, each, known.binning_sd, total, loss, jointly)
        for column, found in zip(columns, bins, strict=True)
    ]
    hyper_prior = HyperPrior(count, pseudo_terms(known.signal))
    state = _state(budget.public_generator, bins, loss, ScoreIntercept(start, total, doubt), hyper_prior, jointly)
    sweep_scores(budget.part(chosen.mains), whole, chosen.sweeps, mains, state, settles=chosen.settles)
    found: list[tuple[Side, Side, ScoreTerm]] = []
    if chosen.looks_for_pairs:
        found = _learn_pairs(budget, whole, chosen, bins, columns, mains, state, total)
    grown: tuple[ScoreTree, ...] = ()
    if chosen.n_trees:
        loss.refresh(whole, state.scores, "before the trees")
        grown = _learn_trees(budget, chosen, columns, bins, mains, state, total)
    shift, sd = loss.level(whole, state.scores, total)
    return LearnedScores(
        total, state.intercept.value + shift, tuple(columns), tuple(bins), tuple(mains), tuple(found), grown, chosen,
        state.directions(), np.hypot(state.intercept.sd(state.directions()), sd),
    )  # fmt: skip


def _state(
    generator: np.random.Generator,
    bins: Sequence[Bins],
    loss: Loss,
    intercept: ScoreIntercept,
    hyper_prior: HyperPrior,
    jointly: bool,
) -> ScoreState:
    rows = ImaginedRows([found.counts for found in bins], loss.n_scores, generator)
    state = ScoreState(loss, Scores(loss.n_scores), rows, intercept, hyper_prior, jointly)
    state.add(OneCell(), intercept.value[None, :])
    return state


def main_score_term(
    column: Column, bins: Bins, each: Budget, binning_sd: float, total: float, loss: Loss, jointly: bool
) -> ScoreTerm:
    """The term of one column."""
    noise_variance = each.sd(1.0, loss.bound) ** 2 * AVERAGING_LOSS
    prior = column_prior(column, bins, noise_variance, loss.slope, binning_sd, total, each.is_pure, jointly)
    term = ScoreTerm(column.name, prior, noise_variance, loss.n_scores)
    term.monotone = column.monotone
    return term


def _learn_trees(
    budget: Budget,
    chosen: Plan,
    columns: Sequence[Column],
    bins: Sequence[Bins],
    mains: Sequence[ScoreTerm],
    state: ScoreState,
    total: float,
) -> tuple[ScoreTree, ...]:
    """Trees over the residual; unordered columns are cut in the order of their strongest effects."""
    ranks = [
        None if found.ordered else strongest_order(term.effect, term.counts)
        for found, term in zip(bins, mains, strict=True)
    ]
    structures = RandomStructures(cut_masses(columns, bins), budget.public_generator, ranks)
    if chosen.tree_noise:
        loss, noise = state.loss, chosen.tree_noise * state.loss.tree_noise
        longest, most = loss.bound, loss.most_variance
        sd, columns_per_tree = budget.sd(chosen.trees), chosen.tree_columns
        kernel = kernel_plan(total, sd, noise, chosen.n_trees, columns_per_tree, longest, most)
        kernel = within_time(kernel, loss.tree_rule.channels)
        return grow_score_trees(budget.part(chosen.trees), structures, kernel, state)
    newton = NewtonPlan(trees=chosen.n_trees, depth=chosen.tree_depth, rate=chosen.tree_rate)
    return grow_score_trees(budget.part(chosen.trees), structures, newton, state)


def _learn_pairs(
    budget: Budget,
    whole: Budget,
    chosen: Plan,
    bins: Sequence[Bins],
    columns: Sequence[Column],
    mains: list[ScoreTerm],
    state: ScoreState,
    total: float,
) -> list[tuple[Side, Side, ScoreTerm]]:
    sides = [pair_side(columns[i].index, columns[i].name, bins[i]) for i in free_columns(columns, mains)]
    most = most_pairs(len(columns))
    found = screen_score_pairs(budget.part(chosen.screening), sides, most, state, total) if len(sides) > 1 else []
    if not found:
        share = chosen.joint + chosen.pair_counts
        sweep_scores(budget.part(share), whole, chosen.joint_sweeps, mains, state, "second ", chosen.settles)
        return []
    counts, joint = budget.part(chosen.pair_counts), budget.part(chosen.joint)
    terms = score_pair_terms(counts, joint, found, len(mains), total, state)
    quieten(mains)
    sweep_scores(joint, whole, chosen.joint_sweeps, mains + terms, state, "joint ", chosen.settles)
    return [(left, right, term) for (left, right), term in zip(found, terms, strict=True)]
