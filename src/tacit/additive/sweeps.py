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
import numpy.typing as npt
from scipy.special import expit, ndtri

from tacit.additive.posterior import SCALES
from tacit.additive.term import Term
from tacit.curator.curator import Curator
from tacit.curator.measurement import LEAST_SD
from tacit.privacy.purse import Purse
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.rules import RowRule, signed_margin_rule

Floats = npt.NDArray[np.float64]

LEAST_CURVATURE = 0.005
INTERCEPT_VARIANCE = 6.0
"""Prior variance of the intercept (squared log-odds)."""

LARGEST_INTERCEPT = 6.0
STEP, LONG_STEP = 0.5, 0.9
"""Share of the way from the current effect to the posterior mean that one step goes; long where sweeps are few."""

FEW_SWEEPS = 4

TYPICAL_VARIANCE = 2.0
"""What the variance of a table's log-odds is thought to be before anything is known, all columns together."""

PSEUDO_TERMS = 3.0
"""How many terms the initial hyper-prior of a kind counts for."""


def mada_boost(margin: Floats) -> Floats:
    """MadaBoost's measure ``min(1, exp(-margin))`` (Domingo and Watanabe 2000).

    Its population optimum is exactly the log-odds; among measures bounded by 1 it carries the most signal.
    """
    return np.minimum(1.0, np.exp(-np.maximum(margin, 0.0)))


def mada_boost_rule() -> RowRule:
    """What a row contributes to a step: its sign times MadaBoost's measure."""
    return signed_margin_rule(mada_boost)


def curvature(intercept: float, spread: float) -> float:
    """Average of ``min(P, 1 - P)``, the slope of the expected step, when log-odds are normal around the intercept."""
    quantiles = ndtri((np.arange(40) + 0.5) / 40)
    probability = expit(intercept + spread * quantiles)
    return max(float(np.minimum(probability, 1 - probability).mean()), LEAST_CURVATURE)


@dataclass
class Intercept:
    """The constant term: closed form at the first release, damped Newton on the averaged releases afterwards."""

    total: float
    value: float = 0.0
    _count: int = 0
    _precision: float = 0.0
    _sum: float = 0.0
    _values: float = 0.0
    _variance: float = 0.0

    def observe(self, signed_sum: float, sd: float, slope: float) -> float:
        """Takes a release of ``sum of s w`` and returns how far the intercept moves."""
        sd = max(sd, LEAST_SD)
        self._count += 1
        if self._count == 1:
            rate = float(np.clip(signed_sum / self.total, -0.97, 0.97)) / (1 + (2 * sd / self.total) ** 2)
            new = math.log((1 + rate) / (1 - rate))
        else:
            weight = (self._count - 1) / sd**2
            self._precision += weight
            self._sum += weight * signed_sum
            self._values += weight * self.value
            self._variance += (weight * sd) ** 2
            full = self._values / self._precision + self._sum / self._precision / (self.total * slope)
            variance = self._variance / self._precision**2 / (self.total * slope) ** 2
            full *= INTERCEPT_VARIANCE / (INTERCEPT_VARIANCE + variance)
            new = float(np.clip(full, self.value - 1, self.value + 1))
        new = float(np.clip(new, -LARGEST_INTERCEPT, LARGEST_INTERCEPT))
        step, self.value = new - self.value, new
        return step

    def sd(self, slope: float) -> float:
        """Standard deviation that noise leaves in the intercept, from all releases but the first."""
        return math.sqrt(self._variance) / self._precision / (self.total * slope) if self._precision else 0.0


class Weighted(Protocol):
    """A term as the hyper-prior sees it."""

    kind: str
    weights: Floats


class HyperPrior:
    """What effects of a kind look like: learned from the posteriors of all terms of that kind (empirical Bayes).

    To begin with, many columns are thought to matter less each: the log-odds of a table vary by a few units, however
    many columns share them. Otherwise a wide table drowned in noise would be read as a sum of large effects.

    Args:
        n_columns: how many share the log-odds.
        pseudo_terms: how many terms it counts for beside what the posteriors of a kind say.
    """

    def __init__(self, n_columns: int, pseudo_terms: float = PSEUDO_TERMS) -> None:
        self._pseudo_terms = pseudo_terms
        start = 1.0 / (1.0 + SCALES * n_columns / TYPICAL_VARIANCE)
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


def sweep(curator: Curator, purse: Purse, share: float, sweeps: int, terms: list[Term], state: State) -> None:
    """Runs ``sweeps`` sweeps over the intercept and the terms, spending ``share`` of the purse.

    A release's share is proportional to its term's; the intercept counts as one.
    """
    rule, everything = mada_boost_rule(), OneCell()
    length = STEP if sweeps > FEW_SWEEPS else LONG_STEP
    generator = curator.public_generator
    for number in range(sweeps):
        unit = share / (sweeps * (1.0 + sum(term.share for term in terms)))
        release = curator.measure(
            Histogram(everything, rule, state.margins), purse.charge(unit), f"intercept, sweep {number + 1}"
        )
        spread = math.sqrt(sum(term.variance for term in terms))
        state.slope = curvature(state.intercept.value, spread)
        step = state.intercept.observe(release.value.item(), release.sd, state.slope)
        state.margins.add(everything, [step])
        state.slope = curvature(state.intercept.value, spread)
        for index in generator.permutation(len(terms)):
            term = terms[index]
            query = Histogram(term.cells, rule, state.margins, term.release_map)
            term.observe(curator.measure(query, purse.charge(unit * term.share), f"{term.name}, sweep {number + 1}"))
            new = term.effect + length * (term.solve(state.slope, state.hyper_prior.log(term.kind)) - term.effect)
            state.margins.add(term.cells, new - term.effect)
            term.effect = new
        state.hyper_prior.learn(terms)
