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

from tacit.additive.first_look import FirstLook
from tacit.additive.intercept import Intercept
from tacit.additive.joint_clipping import JointSweeps
from tacit.additive.losses import Loss
from tacit.additive.plan import Pace
from tacit.additive.posterior import SCALES
from tacit.additive.public_prior import PublicPrior
from tacit.additive.term import Directions, Term, mean_square
from tacit.additive.tuning import SWEEPING, TUNING, Sweeping, Tuning
from tacit.arrays import Floats, added
from tacit.curator.budget import Budget
from tacit.growing.softmax import SimulatedRows
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import Cells, OneCell

SLIGHTLY = 1.1  # not tuned, of the arithmetic: a factor of noise by which slopes are found

FLATTEST = 1e-3
"""Not tuned, of the arithmetic: no doubt is thought to fall more slowly with noise, as one divides by it."""

LOWEST_LEVEL = -60.0  # not tuned, of the arithmetic: where the search for the level of the water begins, as a logarithm

GRID = 1024
"""Not tuned, of the arithmetic: shares are whole parts of this, rounded down, so that no sum exceeds the budget."""


def shares_of_rest(
    terms: Sequence[Term], directions: Directions, precision: float, numbers: Sweeping = SWEEPING
) -> Floats:
    """What a release of each term may spend from now on, relative to equal shares, shape ``(terms,)``.

    ``precision`` is that of the releases still to come of a term at an equal share.
    """
    doubts = np.array([[term.doubt(directions, noise) for noise in (1.0, SLIGHTLY)] for term in terms])
    variances = np.maximum(doubts[:, 0], 1e-12)
    slopes = np.clip(np.log(np.maximum(doubts[:, 1], 1e-12) / variances) / math.log(SLIGHTLY), FLATTEST, 1.0)
    more = precision * np.array([term.noise_variance for term in terms])
    return water_filled(variances, slopes, more, numbers.least_share)


def water_filled(variances: Floats, slopes: Floats, more: Floats | float, least: float) -> Floats:
    """Shares for terms of these variances and slopes: none below ``least``, at most 1 on the average.

    An equal share makes a term's releases more precise by the part ``more`` of what they told so far.
    """

    def shares(log_level: float) -> Floats:
        weights = (np.sqrt(variances * slopes / math.exp(log_level)) - 1.0) / slopes / more
        return np.maximum(weights, least)

    low, high = LOWEST_LEVEL, math.log(float((variances * slopes).max()))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if shares(middle).mean() > 1.0 else (low, middle)
    return np.asarray(np.floor(shares(high) * GRID) / GRID)


class Weighted(Protocol):
    """A term as the hyper-prior sees it."""

    kind: str
    weights: Floats


class HyperPrior:
    """What effects of a kind look like: learned from the posteriors of all terms of that kind (empirical Bayes).

    To begin with, columns are thought to matter alike, and many columns less each: the log-odds of a table vary by a
    unit or so, however many columns share them. Otherwise a wide table in large noise would be read as a sum of large
    effects.

    Args:
        n_columns: how many share the log-odds.
        numbers: of what is thought beforehand.
    """

    def __init__(self, n_columns: int, numbers: Sweeping = SWEEPING) -> None:
        self._pseudo_terms = numbers.pseudo_terms
        start = np.exp(-0.5 * (np.log(SCALES * n_columns / numbers.likely_variance) / numbers.unlikely) ** 2)
        self._start: Floats = start / start.sum()
        self._logs: dict[str, Floats] = {}

    def log(self, kind: str) -> Floats:
        """Log weights of the mixture, shape ``(covariances, scales)``, or ``(scales,)`` before anything is known."""
        weights = self._logs.get(kind)
        return np.log(self._start) if weights is None else weights

    def learn(self, terms: Sequence[Weighted]) -> None:
        """Averages the mixture weights of the terms of each kind with what was thought to begin with."""
        for kind in sorted({term.kind for term in terms}):
            weights = [term.weights for term in terms if term.kind == kind]
            pooled = np.sum(weights, axis=0) + self._pseudo_terms * self._start / len(weights[0])
            self._logs[kind] = np.log(pooled / pooled.sum())


@dataclass
class State:
    """The model so far, and what is known around it."""

    start: FirstLook  # what was released before the first sweep
    whole: Budget  # the budget of the whole fit, of which the loss spends its share
    loss: Loss  # what rows contribute
    intercept: Intercept  # `intercept`, `hyper_prior`: of the terms
    hyper_prior: HyperPrior
    rows: SimulatedRows | None = None  # simulated ones, with their scores, where the loss uses them
    # whether rows are bounded together over the terms of a sweep, whose release maps are centred then
    jointly: bool = False
    spread: float = 0.0  # standard deviation over the rows of the sum of terms, when last looked at
    tuning: Tuning = TUNING  # the numbers
    public_prior: PublicPrior | None = None  # what the schema expects of some terms

    def add(self, cells: Cells, values: Floats) -> Floats:
        """Adds an update, shape ``(cells, n_scores)``, to all rows; returns it as the log rounded it."""
        added = self.loss.add(cells, values)
        if self.rows is not None:
            self.rows.add(cells, added)
        return added

    def move_intercept(self, step: Floats) -> float:
        """Adds a step of the intercept, shape ``(n_scores,)``, to all rows; returns its square."""
        added = self.add(OneCell(), step[None, :])[0]
        return float(((step if self.loss.tuned else added) ** 2).sum())

    def move(self, term: Term, target: Floats, length: float) -> Floats:
        """Moves a term part of the way to the effects wanted; returns the step."""
        if self.loss.growth is not None:
            target = term.effect + tempered(target - term.effect)
        # what was judged on tables keeps the exact step beside the rounded log; others keep what the log rounded to
        if self.loss.tuned:
            new = term.effect + length * (target - term.effect)
            step = new - term.effect
            self.add(term.cells, step)
        else:
            step = self.add(term.cells, length * (target - term.effect))
            new = term.effect + step
        term.effect = new
        return step

    def directions(self) -> Directions:
        """Where the loss is curved now."""
        return self.loss.directions(self.intercept.value, self.spread, self.rows)


def tempered(step: Floats) -> Floats:
    """A Newton step of logarithms of means, which a sum of ``n (exp(step) - 1)`` makes too long upwards."""
    return np.where(step > 0, np.log1p(np.maximum(step, 0.0)), step)


def have_converged(moved: float, terms: Sequence[Term], numbers: Sweeping = SWEEPING) -> bool:
    """Whether a sweep moved scores by little beside the effects themselves: by a mean square of ``moved``."""
    return moved < numbers.converged**2 * added(mean_square(term.counts, term.effect) for term in terms)


def step_length(pace: Pace, numbers: Sweeping = SWEEPING) -> float:
    """How far steps go at that pace: far where sweeps are few or end early, and further with more recency."""
    # few sweeps cannot undo a short step later
    if pace.converges or (pace.adapts and pace.sweeps <= numbers.few_sweeps):
        return numbers.long_step
    return numbers.step + max(pace.recency, 0.0) * (numbers.long_step - numbers.step)


def equal_sweeps(pace: Pace, pure: bool, informed: bool, numbers: Sweeping = SWEEPING) -> int:
    """How many sweeps have equal shares for all terms, before shares follow what is known.

    ``informed``: whether something was released of every term already. Shares are equal under Laplace noise.
    """
    equal = round(numbers.equal_part * pace.sweeps)
    # one sweep says too little of any term; sweeps that end early have no rest to divide; Laplace noise grows with the
    # number of shares, so that unequal ones gain nothing
    if equal < 2 or pace.converges or pure:
        return pace.sweeps
    return 0 if informed else equal


def _open(joint: JointSweeps, sweeps: int, remaining: int, equal: bool, terms: list[Term], state: State) -> None:
    """Opens the next sweeps, with equal shares for all terms or with those that leave least in doubt."""
    rest = remaining * joint.precision
    joint.open(
        sweeps, remaining, None if equal else shares_of_rest(terms, state.directions(), rest, state.tuning.sweeping)
    )


def sweep(budget: Budget, pace: Pace, terms: list[Term], state: State, stage: str = "") -> float:
    """Sweeps over the intercept and the terms, spending at most the budget.

    All terms cost the same at first, and the intercept what its share says. Where rows are bounded together, later
    sweeps spend most where most is to be learned (:mod:`tacit.additive.sweeps`). Where the pace says so, sweeps end
    once effects have converged; rows that are bounded together have paid for all sweeps before the first, which end
    then for nothing. Returns the share of the allowance that was not spent.

    Limits: sweeps credit a column with part of the effect of one correlated with it, and correct that slowly; with few
    sweeps the credit stays where noise put it.

    What the loss spends beside ``budget`` is of ``state.whole``; ``stage`` says which sweeps these are, for the ledger.
    """
    loss, prefix, length = state.loss, "" if state.loss.tuned else stage, step_length(pace, state.tuning.sweeping)
    numbers = state.tuning.sweeping
    for term in terms:
        term.set_recency(pace.recency)
    state.intercept.set_recency(pace.recency)
    generator = budget.public_generator
    unit = budget.split(pace.sweeps * (state.intercept.share + len(terms)))
    joint = JointSweeps(unit, loss.bound, terms, prefix, state.tuning.clipping) if state.jointly else None
    equal = equal_sweeps(pace, unit.is_pure, all(term.is_known for term in terms), numbers)

    def label(name: str, number: int) -> Label:
        return Label(Stage.SWEEP, name, number + 1, f"{name}, {prefix}sweep {number + 1}")

    for number in range(pace.sweeps):
        # the joint bound is charged before the first of its releases, so new shares need a new opening
        if joint is not None and number in (0, equal):
            remaining = pace.sweeps - number
            _open(joint, equal if number < equal else remaining, remaining, number < equal, terms, state)
        # residuals shrink fast at first: a clip that fits the start would cut nothing off later, under too much noise
        if number in (numbers.refreshed_later if stage else numbers.refreshed):
            loss.refresh(state.whole, f"{prefix}sweep {number + 1}")
        query = loss.query(OneCell(), loss.intercept_rule, None)
        release = unit.measure(query, state.intercept.share, label("intercept", number))
        state.spread = math.sqrt(added(term.variance for term in terms))
        moved = state.move_intercept(state.intercept.observe(release, state.directions(), state.spread))
        directions = state.directions()
        # in random order: of two correlated columns, the one that always came first would be credited with both
        for index in generator.permutation(len(terms)):
            term = terms[index]
            if joint is not None:
                release = joint.measure(index, loss.rule, loss.log)
            else:
                query = loss.query(term.cells, loss.rule, term.release_map)
                release = unit.measure(query, 1.0, label(term.name, number))
            term.observe(release, directions.gain)
            step = state.move(term, term.solve(directions, state.hyper_prior.log(term.kind)), length)
            moved += mean_square(term.counts, step) if pace.converges else 0.0
        state.hyper_prior.learn(terms)
        if state.public_prior is not None:
            state.public_prior.learn(state.directions())
        # an end before the last sweep is decided by released numbers alone, so it reveals nothing more
        if pace.converges and have_converged(moved, terms, numbers):
            return 0.0 if joint is not None else budget.share * (1.0 - (number + 1) / pace.sweeps)
    return 0.0
