"""From what was said of two tables to bounds, one pair of trials after the other.

A guess is chosen on the pairs so far, and counted on those that follow; it is chosen again whenever there are twice as
many. Every guess is fixed before the pair that it is counted on, which is all that the bounds need.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from tacit.arrays import Floats
from tacit.audit.bound import (
    Counts,
    Line,
    best_guess_of_gaussian,
    best_guess_of_pure,
    chances,
    epsilon_lower,
    gaussian,
    gaussian_lower,
    gaussian_shift,
    log_evidence,
    most_provable,
    plain,
    usual_counts,
)
from tacit.audit.guess import Guess, choose
from tacit.audit.result import Audit, GaussianFinding
from tacit.privacy.charges import BoundedRange, Charge, Gaussian, Repeated
from tacit.privacy.gaussian import gaussian_epsilon, gaussian_of_range, smallest_gaussian_multiplier
from tacit.privacy.request import RequestError

CHOOSING, MOST_CHOOSING = 3, 12
"""The first guess is chosen on one trial in so many, and on at most so many trials."""

DECISIVE = 100.0
"""Evidence against a claim counts by so much more than evidence against half of it, and that than a difference."""

AGREEMENT = 1e-6
"""Relative difference granted to an accountant."""


def first_choice(trials: int) -> int:
    """On how many pairs of trials the first guess is chosen."""
    return min(MOST_CHOOSING, trials // CHOOSING)


@dataclass
class Wager:
    """Bets against one claim."""

    lines: tuple[Line, ...]  # the inequalities of the claim
    measure: Callable[[Counts], float]  # by which a guess is chosen
    in_the_middle: bool = False  # whether the median is the only threshold
    earlier: float = 0.0  # logarithm of the evidence of audits of earlier versions
    counts: Counts = field(default_factory=Counts)  # of the guesses so far
    _guess: Guess | None = None

    def choose(self, with_canary: Sequence[Floats], without: Sequence[Floats]) -> None:
        """Chooses the guess on all that was said so far."""
        self._guess = choose(np.stack(with_canary), np.stack(without), self.measure, self.in_the_middle)

    def add(self, with_canary: Floats, without: Floats) -> None:
        """Counts the guess about one more pair."""
        if self._guess is not None:
            values = self._guess.sums(np.stack([with_canary, without])) > self._guess.threshold
            self.counts = self.counts.and_pair(bool(values[0]), bool(values[1]))

    @property
    def evidence(self) -> float:
        """The logarithm of the evidence against the claim, without that of earlier audits."""
        return log_evidence(self.counts, self.lines)

    def refutes(self, error: float) -> bool:
        """Whether the evidence of all audits together is as large as a chance of error asks for."""
        return self.earlier + self.evidence >= -math.log(error)


@final
@dataclass
class Judge:
    """Hears what models say, pair by pair, and knows when a claim is refuted."""

    epsilon: float  # `epsilon`, `delta`: the claim
    delta: float
    confidence: float  # with which all bounds hold together, whenever the audit ends
    trials: int  # pairs at most
    gaussian: bool  # whether the claim is about Gaussian noise alone; becomes False with a fit of which it is not
    earlier: Sequence[Audit] = ()  # results of audits of earlier versions of the learner
    _said: tuple[list[Floats], list[Floats]] = field(default_factory=lambda: ([], []))

    def __post_init__(self) -> None:
        # both bounds hold together; whether there are two was known before the first bet
        self._each = 1 - (1 - self.confidence) / (2 if self.gaussian else 1)
        for audit in self.earlier:
            if (audit.epsilon, audit.delta) != (self.epsilon, self.delta):
                raise RequestError(f"an earlier audit is of epsilon {audit.epsilon:g} and delta {audit.delta:g}")
        before = math.fsum(audit.evidence for audit in self.earlier)
        lines = plain(self.epsilon, self.delta)
        self._plain = Wager(lines, self._telling, earlier=before)
        self._normal: Wager | None = None
        if self.gaussian:
            self._mu = 1 / smallest_gaussian_multiplier(self.epsilon, self.delta)
            evidence = [audit.gaussian.evidence for audit in self.earlier if audit.gaussian is not None]
            by_shift = lambda seen: gaussian_shift(*chances(seen, self._each))  # noqa: E731 - beside the other one
            self._normal = Wager(gaussian(self._mu), by_shift, True, math.fsum(evidence))
        self._next = first_choice(self.trials)

    def _telling(self, counts: Counts) -> float:
        """How much counts tell: evidence against the claim; where there is none, against half of it; else a little."""
        whole, half = (log_evidence(counts, plain(share * self.epsilon, self.delta)) for share in (1.0, 0.5))
        little = (counts.hits - counts.false_alarms) / counts.trials
        return little + DECISIVE * max(0.0, half) + DECISIVE**2 * max(0.0, whole)

    def add(self, with_canary: Floats, without: Floats, fact: tuple[bool, bool] | None = None) -> None:
        """Hears one pair; ``fact``: what a fact that tells the tables apart says of both, where there is one."""
        if fact is not None:
            self._plain.counts = self._plain.counts.and_pair(*fact)
        else:
            self._plain.add(with_canary, without)
        if self._normal is not None:
            self._normal.add(with_canary, without)
        for answers, values in zip(self._said, (with_canary, without), strict=True):
            answers.append(values)
        if len(self._said[0]) == self._next:
            self._next *= 2
            self._plain.choose(*self._said)
            if self._normal is not None:
                self._normal.choose(*self._said)

    @property
    def decided(self) -> bool:
        """Whether a claim is refuted, so that nothing more has to be heard."""
        wagers = [self._plain, *([self._normal] if self.gaussian and self._normal is not None else [])]
        return any(wager.refutes(1 - self._each) for wager in wagers)

    def _finding(self) -> GaussianFinding | None:
        """What was found of the Gaussian claim."""
        if self._normal is None or not self.gaussian:
            return None
        counts = self._normal.counts
        usual = usual_counts(counts.trials, best_guess_of_gaussian(self._mu))
        bound, common = (gaussian_lower(seen, self.delta, self._each) for seen in (counts, usual))
        return GaussianFinding(counts, bound, common, self._normal.evidence)

    def audit(self, name: str, relation: str, rows: int, *, from_rows: bool = False, leak: str | None = None) -> Audit:
        """What was found so far, of something called ``name``; see :class:`tacit.audit.result.Audit`."""
        counts = self._plain.counts
        usual = usual_counts(counts.trials, best_guess_of_pure(self.epsilon))
        return Audit(
            estimator=name,
            epsilon=self.epsilon,
            delta=self.delta,
            neighbouring=relation,
            rows_per_unit=rows,
            trials=len(self._said[0]),
            confidence=self.confidence,
            counts=counts,
            epsilon_lower=epsilon_lower(counts, self.delta, self._each),
            provable=most_provable(counts.trials, self.delta, self._each),
            usual=epsilon_lower(usual, self.delta, self._each),
            evidence=self._plain.evidence,
            refuted=self.decided,
            gaussian=self._finding(),
            from_rows=from_rows,
            leak=leak,
        )


def gaussian_claim(charges: Iterable[Charge], epsilon: float, delta: float) -> float | None:
    """The mu of which releases are Gaussian private together, where that gives a claim; None for other releases."""
    shifts = [_shift(charge) for charge in charges]
    if delta <= 0 or not shifts or None in shifts:
        return None
    together = math.sqrt(math.fsum(shift * shift for shift in shifts if shift is not None))
    return together if gaussian_epsilon(together, delta) <= epsilon * (1 + AGREEMENT) else None


def _shift(charge: Charge) -> float | None:
    """The mu of a charge; None where it has none."""
    if isinstance(charge, Repeated):
        single = _shift(charge.charge)
        return None if single is None else single * math.sqrt(charge.times)
    if isinstance(charge, BoundedRange):
        return gaussian_of_range(charge.range)
    return 1.0 / charge.noise_multiplier if isinstance(charge, Gaussian) else None
