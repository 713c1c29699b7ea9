"""What a distinguishing experiment proves about epsilon, with a confidence level and no assumption about the learner.

A gambler bets on guesses of models against ``P(with | with) <= exp(e) P(with | without) + d``, and the same with the
answers exchanged (docs/audit.md). No number of trials has to be fixed before, guesses may be improved on the way, and
evidence of several versions of a learner multiplies. Of Gaussian noise the inequalities ``(e, delta(e))`` of its
privacy profile hold together. They use guesses as they mostly are, where a single inequality needs those rare ones that
make an epsilon large, and so prove far more.

Source: Wasserman, Zhou 2010 and Kairouz, Oh, Viswanath 2015 (privacy as a test of hypotheses); Ramdas, Grunwald, Vovk,
Shafer 2023 (testing by betting); Gonzalez and others 2025, "Sequentially auditing differential privacy"; Kutta,
Dunsche, Wei, Zikas 2026, "Sequential auditing for f-differential privacy" (arXiv:2602.06518).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri

from tacit.arrays import Floats
from tacit.privacy.gaussian import gaussian_delta

STAKES = np.asarray([0.02, 0.05, 0.1, 0.2, 0.35, 0.55, 0.8, 0.98])
"""Shares of what may be bet at most. Money is spread over them evenly, so that none has to be chosen."""

TANGENTS = (0.0, 0.5, 1.5)
"""Epsilons, in units of mu, whose inequalities are bet against where noise is Gaussian."""

MOST = 700.0
"""``exp`` of more overflows."""

TINY = 1e-12
"""A parameter that is as good as 0."""

Line = tuple[float, float]
"""``epsilon`` and ``delta`` of one inequality."""


@final
@dataclass(frozen=True)
class Counts:
    """What came of an experiment: guesses "with", of pairs of fits, one to either of two tables.

    Attributes:
        hits: how many of the fits to the table with the canary were said to be with it.
        false_alarms: how many of the fits to the table without it were.
        trials: pairs of fits.
        both: pairs of which both were said to be with it.

    Example:
        >>> from tacit.audit import Counts, epsilon_lower
        >>> print(round(epsilon_lower(Counts(hits=90, false_alarms=10, trials=100), delta=0.0, confidence=0.95), 2))
        1.31
    """

    hits: int = 0
    false_alarms: int = 0
    trials: int = 0
    both: int = 0

    def __post_init__(self) -> None:
        least, most = max(0, self.hits + self.false_alarms - self.trials), min(self.hits, self.false_alarms)
        if not (0 <= self.hits <= self.trials and 0 <= self.false_alarms <= self.trials and least <= self.both <= most):
            raise ValueError(f"counts must lie between 0 and the number of trials, got {self}")

    def and_pair(self, first: bool, second: bool) -> Counts:
        """With one more pair of guesses, of a fit with the canary and of one without."""
        return Counts(self.hits + first, self.false_alarms + second, self.trials + 1, self.both + (first and second))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {"hits": self.hits, "false_alarms": self.false_alarms, "trials": self.trials, "both": self.both}


def plain(epsilon: float, delta: float) -> tuple[Line, ...]:
    """The one inequality of an (epsilon, delta) claim."""
    return ((epsilon, delta),)


def gaussian(mu: float) -> tuple[Line, ...]:
    """Some inequalities of a mu-Gaussian claim."""
    return tuple((share * mu, gaussian_delta(mu, share * mu)) for share in TANGENTS)


def log_evidence(counts: Counts, lines: Sequence[Line]) -> float:
    """The logarithm of what the gambler has who began with 1 and spread it over inequalities, directions and stakes."""
    wealth = np.concatenate([_wealth(counts, *line) for line in lines])
    top = float(wealth.max())
    return top + math.log(float(np.exp(wealth - top).mean()))


def _wealth(counts: Counts, epsilon: float, delta: float) -> Floats:
    """Logarithms of what becomes of 1 by stake, bet against one inequality in either direction."""
    if epsilon > MOST or delta >= 1:
        return np.zeros(2 * len(STAKES))
    ratio = math.exp(epsilon)
    stake = STAKES / (ratio + delta)  # at most all is lost, when the guesses are the wrong way round
    right, wrong = counts.hits - counts.both, counts.false_alarms - counts.both
    neither = counts.trials - right - wrong - counts.both
    decided = right * np.log1p(stake * (1 - delta)) + wrong * np.log1p(-STAKES)
    lost, idle = np.log1p(stake * (1 - ratio - delta)), np.log1p(-stake * delta)
    return np.concatenate(
        [decided + counts.both * lost + neither * idle, decided + neither * lost + counts.both * idle]
    )


def largest_refuted(counts: Counts, claim: Callable[[float], Sequence[Line]], error: float) -> float:
    """The largest parameter of a claim that counts refute; 0 if they refute none.

    The chance that it ever exceeds the truth, at whatever time somebody looks, is at most ``error``.
    """
    threshold = -math.log(error)
    return largest_where(lambda parameter: log_evidence(counts, claim(parameter)) >= threshold)


def largest_where(refuted: Callable[[float], bool]) -> float:
    """The largest parameter that is refuted, of a test that refutes all smaller ones; 0 if it refutes hardly any."""
    if not refuted(TINY):
        return 0.0
    low, high = 0.0, 1.0
    while refuted(high):
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def epsilon_lower(counts: Counts, delta: float, confidence: float) -> float:
    """A lower bound on the epsilon of whatever was tried; but for a chance of ``1 - confidence``.

    It assumes that the pair of trials that a guess is made of is independent of those before, and nothing else.

    Example:
        >>> from tacit.audit import Counts, epsilon_lower
        >>> print(round(epsilon_lower(Counts(hits=300, false_alarms=0, trials=300), delta=0.0, confidence=0.95), 2))
        4.16
    """
    return largest_refuted(counts, lambda epsilon: plain(epsilon, delta), 1.0 - confidence)


def gaussian_lower(counts: Counts, delta: float, confidence: float) -> float:
    """The same bound for whoever tells two tables apart no better than a shift of Gaussian noise lets them.

    A mechanism is mu-Gaussian private if no guess beats the best one between ``N(0, 1)`` and ``N(mu, 1)`` (Dong, Roth,
    Su 2022). It is a bound for what is mu-Gaussian private for some mu and has the epsilon of that mu: what spends its
    budget on Gaussian noise. Of anything else it proves that the Gaussian claim of the same epsilon does not hold, and
    not that the epsilon does not.

    Raises:
        ValueError: for a delta of 0, at which Gaussian noise has no finite epsilon.

    Source: Nasr and others 2023, section 4.

    Example:
        >>> from tacit.audit import Counts, gaussian_lower
        >>> print(round(gaussian_lower(Counts(hits=90, false_alarms=10, trials=100), delta=1e-6, confidence=0.95), 1))
        7.8
    """
    if delta <= 0:
        raise ValueError(f"Gaussian noise has no finite epsilon at delta={delta:g}")
    mu = largest_refuted(counts, gaussian, 1.0 - confidence)
    return 0.0 if mu == 0 else epsilon_of_shift(mu, delta)


def epsilon_of_shift(mu: float, delta: float) -> float:
    """An epsilon at which ``mu`` still misses ``delta``: rounded down, as a lower bound must be."""
    return largest_where(lambda epsilon: gaussian_delta(mu, epsilon) > delta)


def most_provable(trials: int, delta: float, confidence: float) -> float:
    """What a guess that is always right proves with so many pairs of fits: no audit of that size shows more.

    Example:
        >>> from tacit.audit import most_provable
        >>> print(round(most_provable(300, delta=0.0, confidence=0.95), 2))
        4.16
    """
    return epsilon_lower(Counts(trials, 0, trials), delta, confidence)


def usual_counts(trials: int, right: float) -> Counts:
    """What is counted on average where a guess is right with this chance, of either table."""
    hits = round(trials * right)
    return Counts(hits, trials - hits, trials, round(trials * right * (1 - right)))


def best_guess_of_pure(epsilon: float) -> float:
    """How often the best guess is right where epsilon is used up by randomised response."""
    return 1 / (1 + math.exp(-min(epsilon, MOST)))


def best_guess_of_gaussian(mu: float) -> float:
    """How often the best guess is right where the two tables are a shift of ``mu`` apart."""
    return float(ndtr(mu / 2))


# By these a guess is chosen. They bound a chance from a fixed number of trials, and prove nothing of an audit.


def least_chance(count: int, trials: int, error: float) -> float:
    """A chance is at least this large, but for a probability of ``error``: Clopper and Pearson's one-sided bound."""
    return 0.0 if count == 0 else float(betaincinv(count, trials - count + 1, error))


def largest_chance(count: int, trials: int, error: float) -> float:
    """A chance is at most this large, but for a probability of ``error``: Clopper and Pearson's one-sided bound."""
    return 1.0 if count == trials else float(betaincinv(count + 1, trials - count, 1.0 - error))


def chances(counts: Counts, confidence: float) -> tuple[float, float]:
    """The least chance of a hit and the largest of a false alarm; both hold together with this confidence."""
    error = (1.0 - confidence) / 2
    return (least_chance(counts.hits, counts.trials, error), largest_chance(counts.false_alarms, counts.trials, error))


def gaussian_shift(hit: float, false_alarm: float) -> float:
    """How many standard deviations of a Gaussian apart the two tables must be for such chances; 0 if none."""
    if hit <= false_alarm:
        return 0.0
    return float(ndtri(hit) - ndtri(false_alarm))
