"""The default learner from start to end: count, bin, sweep, look for pairs, sweep again, boost what is left by trees.

One engine for every loss: a row has ``k`` scores, and two classes, and numbers, have one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.additive.first_look import FirstLook, first_look
from tacit.additive.intercept import Intercept
from tacit.additive.joint_clipping import bounds_jointly
from tacit.additive.losses import Loss
from tacit.additive.pairs import Side, free_columns, most_pairs, pair_side, pair_terms, screen_pairs
from tacit.additive.plan import Pace, Plan
from tacit.additive.planner import Planner
from tacit.additive.posterior import categorical_covariances, numeric_covariances
from tacit.additive.public_prior import ColumnPrior, PublicPrior
from tacit.additive.sweeps import HyperPrior, State, sweep
from tacit.additive.term import AVERAGING_LOSS, Directions, Prior, Term
from tacit.additive.trees import fit_remainder
from tacit.additive.tuning import TUNING, Tuning
from tacit.arrays import Floats, added
from tacit.binning.measure import Bins, Column
from tacit.binning.release_map import (
    centred_map,
    few_modes,
    natural_modes,
    principal_modes,
    with_missing,
    without_largest,
)
from tacit.binning.tuning import RELEASING
from tacit.curator.budget import Budget
from tacit.growing.softmax import SimulatedRows
from tacit.models.tree import ScoreTree, Tree
from tacit.queries.cells import OneCell, column_cells


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned, all of it released: the model is built from this."""

    total: float  # released number of rows
    intercept: Floats  # shape `(n_scores,)`
    columns: tuple[Column, ...]  # `columns`, `bins`: of the table
    bins: tuple[Bins, ...]
    mains: tuple[Term, ...]  # `mains`, `pairs`: terms with their effects
    pairs: tuple[tuple[Side, Side, Term], ...]
    trees: tuple[Tree, ...] | tuple[ScoreTree, ...]  # of one margin, or of several scores, for what those leave over
    plan: Plan  # how the budget was divided
    directions: Directions  # where the loss was curved in the end
    intercept_sd: Floats  # standard deviation of the noise in the intercept, shape `(n_scores,)`


def learn(
    budget: Budget,
    columns: Sequence[Column],
    loss: Loss,
    pairs: bool = True,
    trees: bool = True,
    tuning: Tuning = TUNING,
    priors: Mapping[int, ColumnPrior] | None = None,
) -> Learned:
    """Learns an additive model with ``k`` scores per row.

    All of ``budget`` is planned for; the loss spends a share of its own. ``priors`` are what the schema expects of
    effects, by the index of the column; several scores take none.
    """
    whole, planner = budget, Planner(tuning.planning, tuning.growing.cutting)
    trees = trees and sum(not column.monotone for column in columns) > 1  # a declared direction is never cut
    start = first_look(whole.part(1 - loss.share).as_whole(), columns, pairs, trees, loss, planner, tuning.binning)
    plan = _plan_for(loss, start, planner, trees, whole.is_pure)
    # a wrong intercept costs log loss whatever the columns say: where noise is large it is worth more than a column
    weight = planner.intercept_share(start.signal, len(columns)) if loss.tuned else 1.0
    intercept, budget, plan = _begin(whole, start, loss, weight, plan)
    state = _state_of(whole, budget, start, loss, intercept, tuning)
    each = budget.part(plan.mains).split(len(columns) + weight)
    columns_and_bins = zip(start.columns, start.bins, strict=True)
    mains = [main_term(column, bins, each, state) for column, bins in columns_and_bins]
    if priors and loss.n_scores == 1:
        state.public_prior = PublicPrior(list(zip(mains, start.bins, strict=True)), priors, tuning.expecting)
    plan = plan.passed_on(sweep(budget.part(plan.mains), _pace(loss, plan.pace), mains, state))
    pair_effects, plan = _learn_pairs(budget, plan, planner, mains, state)
    grown: tuple[Tree, ...] | tuple[ScoreTree, ...] = ()
    if plan.n_trees:
        # the clip of the last sweeps fits residuals that columns have since made smaller
        loss.refresh(whole, "before the trees")
        grown = fit_remainder(budget, plan, mains, state)
    shift, sd = loss.level(whole, start.total)
    directions = state.directions()
    return Learned(
        start.total,
        intercept.value + shift,
        start.columns,
        tuple(start.bins),
        tuple(mains),
        tuple(pair_effects),
        grown,
        plan,
        directions,
        np.hypot(intercept.sd(directions), sd),
    )


def _begin(whole: Budget, start: FirstLook, loss: Loss, weight: float, plan: Plan) -> tuple[Intercept, Budget, Plan]:
    """The intercept, what is left beside the share that the loss keeps for itself, and the plan for that."""
    before = loss.share
    intercept = loss.begin(whole, start.total, weight)
    if loss.share > before:  # a loss that needs more takes it from all but the bins, which are paid
        plan = plan.with_binning(plan.binning * (1 - before) / (1 - loss.share))
    return intercept, whole.part(1 - loss.share).as_whole(), plan


def _state_of(
    whole: Budget, budget: Budget, start: FirstLook, loss: Loss, intercept: Intercept, tuning: Tuning
) -> State:
    """The model of an intercept alone; ``budget`` is what terms and trees may spend of the whole."""
    jointly = loss.jointly and bounds_jointly(budget.allowance, start.signal, tuning.clipping)
    if loss.growth is not None and budget.curator.weighs_rows:
        jointly = False  # rows that are bounded together are weighed down behind the clip
    hyper_prior = HyperPrior(len(start.columns), tuning.sweeping)
    rows = None
    if not loss.tuned:
        counts, simulated = [bins.counts for bins in start.bins], tuning.sweeping.simulated_rows
        rows = SimulatedRows(counts, loss.n_scores, budget.public_generator, simulated)
    state = State(start, whole, loss, intercept, hyper_prior, rows, jointly, tuning=tuning)
    state.add(OneCell(), intercept.value[None, :])
    return state


def _plan_for(loss: Loss, start: FirstLook, planner: Planner, trees: bool, pure: bool) -> Plan:
    plan, count = start.plan, len(start.columns)
    # judged for two classes alone
    if loss.tuned:
        plan = planner.with_choices(plan, start.total, count, start.signal)
    # trees would take up what slow sweeps leave over, and Laplace noise grows with the number of sweeps
    if loss.tuned and not trees and not pure:
        plan = planner.patient(plan, count, start.signal)
    return plan


def _pace(loss: Loss, planned: Pace) -> Pace:
    return planned if loss.tuned else planned.plain()


def column_prior(column: Column, bins: Bins, noise_variance: float, pure: bool, state: State) -> Prior:
    """The priors of a column, and the release map that fits them."""
    start = state.start
    masses = bins.counts / start.total
    covariances = numeric_covariances(masses) if bins.ordered else categorical_covariances(masses)
    ratio = noise_variance / (state.tuning.pairing.mode_scale * start.total * state.loss.slope) ** 2
    smooth = covariances[2][:-1, :-1] if bins.ordered and len(masses) > 3 else None
    mapped = _laplace_map if pure else _gaussian_map
    release_map = mapped(masses, smooth, ratio, state.jointly)
    guard = 0.5 * min(start.binning_sd, start.total / len(masses))
    kind, cells = "numeric" if bins.ordered else "categorical", column_cells(column.index, len(masses))
    return Prior(kind, cells, bins.counts, guard, covariances, release_map)


def _gaussian_map(masses: Floats, smooth: Floats | None, ratio: float, jointly: bool) -> Floats | None:
    """What is released of a column in Gaussian noise: centred where rows are bounded together; None for its bins."""
    release_map = None
    # unordered bins have no smooth directions: they are released as they are
    if smooth is not None:
        shares = masses[:-1] / masses[:-1].sum()
        if jointly:
            release_map = with_missing(natural_modes(shares, smooth, ratio), RELEASING.longest)
        else:
            release_map = with_missing(principal_modes(shares, smooth, ratio))
    # bounded together, rows must not pay for the constant, which the intercept learns: the map is centred
    if not jointly:
        return release_map
    return centred_map(np.eye(len(masses)) if release_map is None else release_map, masses / masses.sum())


def _laplace_map(masses: Floats, smooth: Floats | None, ratio: float, jointly: bool) -> Floats | None:
    """The same in Laplace noise, where a row that is bounded alone is shortest in the bins themselves."""
    if not jointly:
        return None
    if smooth is None:
        return without_largest(masses)
    return with_missing(few_modes(masses[:-1] / masses[:-1].sum(), smooth, RELEASING.bounded_noise * ratio), math.inf)


def main_term(column: Column, bins: Bins, each: Budget, state: State) -> Term:
    """The term of one column, of whose releases ``each`` is the budget."""
    loss = state.loss
    noise_variance = each.sd(1.0, loss.bound) ** 2 * AVERAGING_LOSS
    prior = column_prior(column, bins, noise_variance, each.is_pure, state)
    term = Term(column.name, prior, noise_variance, loss.n_scores, loss.tuned, loss.growth)
    term.monotone = column.monotone
    return term


def _learn_pairs(
    budget: Budget, plan: Plan, planner: Planner, mains: list[Term], state: State
) -> tuple[list[tuple[Side, Side, Term]], Plan]:
    """The pairs that were found, and the plan that is decided and hands on what was not needed."""
    columns, numbers = state.start.columns, state.tuning.pairing
    free = free_columns(columns, mains, state.start.signal, numbers) if plan.looks_for_pairs else []
    sides = [pair_side(columns[i].index, columns[i].name, state.start.bins[i], numbers) for i in free]
    most, looks = most_pairs(len(columns), numbers), len(sides) > 1
    screened, variance = screen_pairs(budget.part(plan.screening), sides, most, state) if looks else ([], 0.0)
    # trees pay where effects are large; how large they are is known only now, from what is released
    if plan.undecided:
        plan = planner.decided(plan, added(term.variance for term in mains) + variance)
    if not plan.joint:
        return [], plan
    pace = _pace(state.loss, plan.joint_pace)
    # nothing stood out of the noise: columns have the budget of the pairs, and what was spent on looking is lost
    if not screened:
        remainder = budget.part(plan.joint + plan.pair_counts + (0.0 if looks else plan.screening))
        return [], plan.passed_to_trees(sweep(remainder, pace, mains, state, "second "))
    learning = budget.part(plan.joint)
    terms = pair_terms(budget.part(plan.pair_counts), learning, screened, len(mains), state)
    unspent = sweep(learning, pace, mains + terms, state, "joint ")
    sides_and_terms = zip(screened, terms, strict=True)
    return [(left, right, term) for (left, right), term in sides_and_terms], plan.passed_to_trees(unspent)
