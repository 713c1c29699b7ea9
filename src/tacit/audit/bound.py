"""What a distinguishing experiment proves about epsilon, with a confidence level and no assumption about the learner.

Whoever sees the output of an (epsilon, delta)-private learner and guesses which of two neighbouring tables it was made
from is bound by ``P(yes | with) <= e^epsilon P(yes | without) + delta``, by the same with "no" for "yes", and by both
the other way round. Counting how often guesses are right bounds these chances, and so epsilon from below.

Source: Wasserman, Zhou 2010 and Kairouz, Oh, Viswanath 2015 (privacy as a test of hypotheses); Jagielski, Ullman, Oprea
2020, "Auditing differentially private machine learning" (Clopper-Pearson bounds of a guess); Nasr and others 2021,
"Adversary instantiation", and 2023, "Tight auditing of differentially private machine learning" (bounds through the
trade-off of Gaussian noise).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

from scipy.special import betaincinv, ndtri

from tacit.privacy.gaussian import gaussian_delta


@final
@dataclass(frozen=True)
class Counts:
    """What came of an experiment: guesses "with", of fits to either of two tables.

    Attributes:
        hits: how many of the fits to the table with the canary were said to be with it.
        false_alarms: how many of the fits to the table without it were.
        trials: fits to each of the two tables.
    """

    hits: int
    false_alarms: int
    trials: int

    def __post_init__(self) -> None:
        if not (0 <= self.hits <= self.trials and 0 <= self.false_alarms <= self.trials and self.trials > 0):
            raise ValueError(f"counts must lie between 0 and the number of trials, got {self}")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {"hits": self.hits, "false_alarms": self.false_alarms, "trials": self.trials}


def least_chance(count: int, trials: int, error: float) -> float:
    """A chance is at least this large, but for a probability of ``error``: Clopper and Pearson's one-sided bound."""
    return 0.0 if count == 0 else float(betaincinv(count, trials - count + 1, error))


def largest_chance(count: int, trials: int, error: float) -> float:
    """A chance is at most this large, but for a probability of ``error``: Clopper and Pearson's one-sided bound."""
    return 1.0 if count == trials else float(betaincinv(count + 1, trials - count, 1.0 - error))


def chances(counts: Counts, confidence: float) -> tuple[float, float]:
    """The least chance of a hit and the largest of a false alarm; both hold together with this confidence."""
    error = (1.0 - confidence) / 2
    return (
        least_chance(counts.hits, counts.trials, error),
        largest_chance(counts.false_alarms, counts.trials, error),
    )


def log_ratio(hit: float, false_alarm: float, delta: float) -> float:
    """The least epsilon at which these two chances are possible, negative where the guess is worse than none.

    The larger of ``log((hit - delta) / false_alarm)`` and the same of the opposite answers.
    """
    return max(_log((hit - delta), false_alarm), _log(1.0 - false_alarm - delta, 1.0 - hit))


def _log(above: float, below: float) -> float:
    if above <= 0:
        return -math.inf
    return math.inf if below <= 0 else math.log(above / below)


def epsilon_lower(counts: Counts, delta: float, confidence: float) -> float:
    """A lower bound on the epsilon of whatever was tried; it is too high with probability ``1 - confidence`` at most.

    It assumes that trials, none of which had a part in choosing the guess, are independent, and nothing else.
    """
    return max(0.0, log_ratio(*chances(counts, confidence), delta))


def gaussian_shift(hit: float, false_alarm: float) -> float:
    """How many standard deviations of a Gaussian apart the two tables must be for such chances; 0 if none."""
    if hit <= false_alarm:
        return 0.0
    return float(ndtri(hit) - ndtri(false_alarm))


def gaussian_lower(counts: Counts, delta: float, confidence: float) -> float:
    """The same bound for whoever tells two tables apart no better than a shift of Gaussian noise lets them.

    A mechanism is mu-Gaussian private if no guess beats the best one between ``N(0, 1)`` and ``N(mu, 1)`` (Dong, Roth,
    Su 2022), for which ``P(hit) = Phi(Phi^-1(P(false alarm)) + mu)``. Chances therefore bound mu, and mu is an epsilon
    at every delta. That uses guesses as they mostly are, where :func:`epsilon_lower` needs those rare ones that make an
    epsilon large, and so proves far more. It is a bound for what is mu-Gaussian private for some mu and has the epsilon
    of that mu: what spends its budget on Gaussian noise. Of anything else it proves that the Gaussian claim of the same
    epsilon does not hold, and not that the epsilon does not.

    Raises:
        ValueError: for a delta of 0, at which Gaussian noise has no finite epsilon.

    Source: Nasr and others 2023, section 4.
    """
    if delta <= 0:
        raise ValueError(f"Gaussian noise has no finite epsilon at delta={delta:g}")
    mu = gaussian_shift(*chances(counts, confidence))
    return 0.0 if mu == 0 else math.inf if math.isinf(mu) else _epsilon_of_shift(mu, delta)


def _epsilon_of_shift(mu: float, delta: float) -> float:
    """An epsilon at which ``mu`` still misses ``delta``: rounded down, as a lower bound must be."""
    low, high = 0.0, 1.0
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    while gaussian_delta(mu, high) > delta:
        high *= 2
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(mu, middle) > delta else (low, middle)
    return low


def most_provable(trials: int, delta: float, confidence: float) -> float:
    """What a guess that is always right proves with so many fits to each table: no audit of that size shows more."""
    return epsilon_lower(Counts(trials, 0, trials), delta, confidence)
