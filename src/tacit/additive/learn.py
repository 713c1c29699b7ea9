"""The flagship from start to end: count, bin, sweep, look for pairs, sweep again, boost the rest by trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.additive.constrained import cut_masses, free_columns
from tacit.additive.covariance import categorical_covariances, numeric_covariances
from tacit.additive.first_look import FirstLook, first_look
from tacit.additive.intercept import Intercept
from tacit.additive.jointly import bounds_jointly
from tacit.additive.pairs import (
    MODE_CURVATURE,
    MODE_SCALE,
    Side,
    most_pairs,
    pair_side,
    pair_terms,
    quieten,
    screen_pairs,
)
from tacit.additive.plan import LEAST_TREE_PRIOR, Plan, company, intercept_share, patient, pseudo_terms, with_choices
from tacit.additive.sweeps import HyperPrior, State, sweep
from tacit.additive.term import Prior, Term
from tacit.arrays import Floats, Ints
from tacit.binning.measure import Bins, Column
from tacit.binning.release_map import LONGEST, centred_map, natural_modes, principal_modes, with_missing
from tacit.curator.budget import Budget
from tacit.growing.chosen_trees import structures_of
from tacit.growing.fourier import CLIP as FOURIER_CLIP
from tacit.growing.fourier import LeftOpen, grow_fourier_term, released_left_open
from tacit.growing.kernel_trees import grow_kernel_trees, kernel_plan
from tacit.growing.newton_trees import NewtonPlan, grow_trees
from tacit.growing.random_trees import Cuts, RandomStructures
from tacit.growing.tree_noise import LeafNoise
from tacit.models.fourier_features import FourierTerm
from tacit.models.tree import Tree
from tacit.queries.cells import column_cells
from tacit.queries.margins import Margins

AVERAGING_LOSS = 4 / 3
"""Variance of the weighted average of releases, relative to spending the whole share on one."""

LEFT_OPEN_PART = 0.03
"""Of the smooth function's budget goes to what scores leave open before it."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned, all of it released: the model is built from this."""

    total: float
    intercept: float
    columns: tuple[Column, ...]
    bins: tuple[Bins, ...]
    mains: tuple[Term, ...]
    pairs: tuple[tuple[Side, Side, Term], ...]
    fourier: FourierTerm | None
    trees: tuple[Tree, ...]
    plan: Plan
    slope: float
    intercept_sd: float = 0.0


def column_prior(
    column: Column,
    bins: Bins,
    noise_variance: float,
    curvature: float,
    binning_sd: float,
    total: float,
    pure: bool,
    jointly: bool,
) -> Prior:
    """The priors of a column, and the release map that fits them: centred where rows are to be bounded together."""
    masses = bins.counts / total
    covariances = numeric_covariances(masses) if bins.ordered else categorical_covariances(masses)
    release_map = None
    if bins.ordered and len(masses) > 3 and not pure:
        shares, covariance = masses[:-1] / masses[:-1].sum(), covariances[2][:-1, :-1]
        ratio = noise_variance / (MODE_SCALE * total * curvature) ** 2
        if jointly:
            release_map = with_missing(natural_modes(shares, covariance, ratio), LONGEST)
        else:
            release_map = with_missing(principal_modes(shares, covariance, ratio))
    if jointly:
        plain = np.eye(len(masses)) if release_map is None else release_map
        release_map = centred_map(plain, masses / masses.sum())
    guard = 0.5 * min(binning_sd, total / len(masses))
    kind, cells = "numeric" if bins.ordered else "categorical", column_cells(column.index, len(masses))
    return Prior(kind, cells, bins.counts, guard, covariances, release_map)


def main_term(
    column: Column, bins: Bins, noise_variance: float, binning_sd: float, total: float, pure: bool, jointly: bool
) -> Term:
    """The term of one column."""
    prior = column_prior(column, bins, noise_variance, MODE_CURVATURE, binning_sd, total, pure, jointly)
    term = Term(column.name, prior, noise_variance)
    term.monotone = column.monotone
    return term


def learn_additive(
    budget: Budget,
    columns: Sequence[Column],
    pairs: bool = True,
    trees: bool = True,
) -> Learned:
    """Learns an additive model of a binary label with at most pairs.

    Args:
        budget: that of the whole fit; all of it is planned for.
        columns: columns to use.
        pairs: whether to look for interactions of two columns where the budget allows.
        trees: whether to boost what is left over by trees where the budget allows.
    """
    count = len(columns)
    known = first_look(budget, columns, pairs, trees)
    total, bins = known.total, known.bins
    chosen = with_choices(known.plan, total, count, known.signal)
    chosen = chosen if trees or budget.is_pure else patient(chosen, count, known.signal)
    weight, jointly = intercept_share(known.signal, count), bounds_jointly(budget.allowance, known.signal)
    mains = _main_terms(budget.part(chosen.mains).split(count + weight), known, columns, jointly)
    hyper_prior = HyperPrior(count, pseudo_terms(known.signal), company(known.signal))
    state = State(Margins(), Intercept(total, weight), hyper_prior, jointly=jointly)
    chosen = chosen.passed_on(sweep(budget.part(chosen.mains), chosen.pace, mains, state))
    found: list[tuple[Side, Side, Term]] = []
    if chosen.looks_for_pairs:
        found, left = _learn_pairs(budget, chosen, columns, bins, mains, state, total)
        chosen = chosen.passed_to_trees(left)
    smooth: FourierTerm | None = None
    grown: tuple[Tree, ...] = ()
    if chosen.n_trees:
        smooth, grown = _learn_rest(budget, chosen, columns, bins, mains, state, total)
    return Learned(
        total,
        state.intercept.value,
        tuple(columns),
        tuple(bins),
        tuple(mains),
        tuple(found),
        smooth,
        grown,
        chosen,
        state.slope,
        state.intercept.sd(state.slope),
    )


def _main_terms(each: Budget, known: FirstLook, columns: Sequence[Column], jointly: bool) -> list[Term]:
    """A term per column, with the budget of each."""
    noise_variance = each.sd() ** 2 * AVERAGING_LOSS
    return [
        main_term(column, found, noise_variance, known.binning_sd, known.total, each.is_pure, jointly)
        for column, found in zip(columns, known.bins, strict=True)
    ]


def _learn_rest(
    budget: Budget,
    chosen: Plan,
    columns: Sequence[Column],
    bins: Sequence[Bins],
    mains: Sequence[Term],
    state: State,
    total: float,
) -> tuple[FourierTerm | None, tuple[Tree, ...]]:
    """A smooth function and trees of what is left over; unordered columns go in the order of their effects."""
    ranks = [
        None if found.ordered else np.argsort(np.argsort(term.effect, kind="stable"), kind="stable")
        for found, term in zip(bins, mains, strict=True)
    ]
    masses, generator, noise = cut_masses(columns, bins), budget.public_generator, LeafNoise()
    if chosen.tree_noise:
        smooth, grown = _learn_together(budget, chosen, masses, ranks, state.margins, total, noise)
        return smooth, noise.annotate(grown, [found.counts for found in bins], generator)
    newton = NewtonPlan(
        trees=chosen.n_trees,
        depth=chosen.tree_depth,
        columns_per_tree=chosen.tree_columns,
        rate=chosen.tree_rate,
        least_prior=LEAST_TREE_PRIOR,
        choice=chosen.tree_choice,
        enough=chosen.tree_enough,
    )
    structures, growing = structures_of(
        budget.part(chosen.trees), newton, state.margins, Cuts(masses, ranks), generator
    )
    grown = grow_trees(growing, structures, newton, state.margins, observe=noise.observe)
    return None, noise.annotate(grown, [found.counts for found in bins], generator)


def _learn_together(
    budget: Budget,
    chosen: Plan,
    masses: Sequence[Floats],
    ranks: Sequence[Ints | None],
    margins: Margins,
    total: float,
    noise: LeafNoise,
) -> tuple[FourierTerm | None, tuple[Tree, ...]]:
    """A smooth function of all columns, and trees that are heard together."""
    generator, left_open, smooth = budget.public_generator, LeftOpen(), None
    if chosen.fourier:
        look = LEFT_OPEN_PART * chosen.fourier
        left_open = released_left_open(budget.part(look), total, FOURIER_CLIP, margins)
        allowed, rest = left_open.loudness * chosen.fourier_noise, budget.part(chosen.fourier).after(look)
        smooth, left = grow_fourier_term(rest, total, left_open.curvature, allowed, masses, ranks, margins, generator)
        chosen = chosen.passed_to_trees(left)
    allowed, sd = left_open.loudness * chosen.tree_noise, budget.sd(chosen.trees)
    plan = kernel_plan(total, sd, allowed, chosen.n_trees, chosen.tree_columns)
    structures = RandomStructures(masses, generator, ranks)
    trees = grow_kernel_trees(budget.part(chosen.trees), structures, plan, margins, generator, noise.observe)
    return smooth, trees


def _learn_pairs(
    budget: Budget,
    chosen: Plan,
    columns: Sequence[Column],
    bins: Sequence[Bins],
    mains: list[Term],
    state: State,
    total: float,
) -> tuple[list[tuple[Side, Side, Term]], float]:
    """The pairs that were found, and the share of the allowance that was not needed."""
    sides = [pair_side(columns[i].index, columns[i].name, bins[i]) for i in free_columns(columns, mains)]
    most = most_pairs(len(columns))
    found = screen_pairs(budget.part(chosen.screening), sides, most, state, total) if len(sides) > 1 else []
    if not found:
        share = chosen.joint + chosen.pair_counts
        return [], sweep(budget.part(share), chosen.joint_pace, mains, state)
    learning = budget.part(chosen.joint)
    terms = pair_terms(budget.part(chosen.pair_counts), learning, found, len(mains), total, state.jointly)
    quieten(mains)
    unspent = sweep(learning, chosen.joint_pace, mains + terms, state)
    return [(left, right, term) for (left, right), term in zip(found, terms, strict=True)], unspent
