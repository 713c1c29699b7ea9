"""Gauss-Seidel sweeps: one boosting step per term, each on margins that already hold the step before.

This is the boosting schema of Bun, Carmosino and Sorrell with a stateless measure (weights follow from the released
hypotheses alone), an embedding into public bins, and blocks of columns in place of full rounds. Undamped parallel
updates break on correlated columns; sequential ones do not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tacit.additive.intercept import Intercept, curvature, scatter
from tacit.additive.jointly import open_sweeps
from tacit.additive.plan import Pace
from tacit.additive.posterior import SCALES
from tacit.additive.term import Term
from tacit.arrays import Floats
from tacit.boosting.measures.mada_boost import mada_boost_rule
from tacit.curator.budget import Budget
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins

STEP, LONG_STEP = 0.5, 0.9
"""Share of the way from the current effect to the posterior mean that one step goes; long where sweeps are few."""

FEW_SWEEPS = 4

SETTLED = 0.04
"""Effects have settled when a sweep moves scores by less than this part of what they vary by."""

TYPICAL_VARIANCE = 2.0
"""What the variance of a table's log-odds is thought to be before anything is known, all columns together."""

LIKELY_VARIANCE, UNLIKELY = 1.0, 1.5
"""The same where noise is so loud that little more will be known; and by how much, in natural logarithms, a column's
share of it may well be off."""


class Weighted(Protocol):
    """A term as the hyper-prior sees it."""

    kind: str
    weights: Floats


class Settling(Protocol):
    """A term as it is asked whether it still moves."""

    counts: Floats
    effect: Floats


class HyperPrior:
    """What effects of a kind look like: learned from the posteriors of all terms of that kind (empirical Bayes).

    To begin with, many columns are thought to matter less each: the log-odds of a table vary by a few units, however
    many columns share them. Otherwise a wide table drowned in noise would be read as a sum of large effects.

    Args:
        n_columns: how many share the log-odds.
        pseudo_terms: how many terms it counts for beside what the posteriors of a kind say.
        openness: from 1, where any scale will do that is not too large, to 0, where columns are thought to be alike.
    """

    def __init__(self, n_columns: int, pseudo_terms: float, openness: float = 1.0) -> None:
        self._pseudo_terms = pseudo_terms
        anything = 1.0 / (1.0 + SCALES * n_columns / TYPICAL_VARIANCE)
        alike = np.exp(-0.5 * (np.log(SCALES * n_columns / LIKELY_VARIANCE) / UNLIKELY) ** 2)
        start = anything**openness * alike ** (1.0 - openness)
        self._start: Floats = start / start.sum()
        self._logs: dict[str, Floats] = {}

    def log(self, kind: str) -> Floats:
        """Log weights of the mixture, shape ``(covariances, scales)``, or ``(scales,)`` before anything is known."""
        known = self._logs.get(kind)
        return np.log(self._start) if known is None else known

    def learn(self, terms: Sequence[Weighted]) -> None:
        """Averages the mixture weights of the terms of each kind with what was thought to begin with."""
        for kind in sorted({term.kind for term in terms}):
            weights = [term.weights for term in terms if term.kind == kind]
            pooled = np.sum(weights, axis=0) + self._pseudo_terms * self._start / len(weights[0])
            self._logs[kind] = np.log(pooled / pooled.sum())


@dataclass
class State:
    """The model so far."""

    margins: Margins
    intercept: Intercept
    hyper_prior: HyperPrior
    slope: float = 0.5
    jointly: bool = False
    """Whether rows are bounded together over the terms of a sweep, whose release maps are centred then."""


def mean_square(counts: Floats, change: Floats) -> float:
    """The mean square over the rows of a change of an effect; of several scores their sum.

    Args:
        counts: rows by cell, shape ``(cells,)``.
        change: shape ``(cells,)``, or ``(cells, n_scores)``.
    """
    squares = change**2 if change.ndim == 1 else (change**2).sum(axis=1)
    return float(counts @ squares / max(float(counts.sum()), 1e-9))


def have_settled(moved: float, terms: Sequence[Settling]) -> bool:
    """Whether a sweep that moved scores by a mean square of ``moved`` was hardly worth its while."""
    return moved < SETTLED**2 * sum(mean_square(term.counts, term.effect) for term in terms)


def step_length(pace: Pace) -> float:
    """How far steps go at that pace: far where sweeps are few or settle, and further the more haste they make."""
    if pace.sweeps <= FEW_SWEEPS or pace.settles:
        return LONG_STEP
    return STEP + max(pace.haste, 0.0) * (LONG_STEP - STEP)


def sweep(budget: Budget, pace: Pace, terms: list[Term], state: State) -> float:
    """Sweeps over the intercept and the terms, spending at most the budget.

    A release's share is proportional to its term's or the intercept's. Where the pace settles, sweeps end once effects
    have settled; rows that are bounded together have paid for all sweeps before the first, which end then for nothing.
    Returns the share of the allowance that was not spent.
    """
    rule, everything, sweeps, length = mada_boost_rule(), OneCell(), pace.sweeps, step_length(pace)
    for term in terms:
        term.hurry(pace.haste)
    state.intercept.hurry(pace.haste)
    generator = budget.public_generator
    unit = budget.split(sweeps * (state.intercept.share + sum(term.share for term in terms)))
    joint = open_sweeps(unit, sweeps, terms) if state.jointly else None
    for number in range(sweeps):
        query, label = Histogram(everything, rule, state.margins), f"intercept, sweep {number + 1}"
        release = unit.measure(query, state.intercept.share, label)
        spread = math.sqrt(sum(term.variance for term in terms))
        step = state.intercept.observe(release.value.item(), release.sd, spread)
        state.margins.add(everything, [step])
        moved = step**2
        state.slope, varies = curvature(state.intercept.value, spread), scatter(state.intercept.value, spread)
        for index in generator.permutation(len(terms)):
            term = terms[index]
            if joint is not None:
                term.observe(joint.measure(index, rule, state.margins))
            else:
                query = Histogram(term.cells, rule, state.margins, term.release_map)
                term.observe(unit.measure(query, term.share, f"{term.name}, sweep {number + 1}"))
            found = term.solve(state.slope, varies, state.hyper_prior.log(term.kind))
            new = term.effect + length * (found - term.effect)
            state.margins.add(term.cells, new - term.effect)
            moved += mean_square(term.counts, new - term.effect)
            term.effect = new
        state.hyper_prior.learn(terms)
        if pace.settles and have_settled(moved, terms):
            return 0.0 if joint is not None else budget.share * (1.0 - (number + 1) / sweeps)
    return 0.0
