"""Online learning of finite classes and their unions: optimal learner, Weighted Majority, agnostic experts.

Not private: these are the learners behind the paper's bounds on Littlestone dimensions (Alon, Beimel, Moran, Stemmer
2020, section 4), with the mistake bounds they stand for. The online room has private ones.

A *realisable learner* is an immutable state with ``predict(x)`` and ``update(x, label)``; states are values (hashable,
compared by content), so that learners built from them can branch and merge. The classes with ``predict_one`` and
``learn_one`` are what a user holds.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from tacit.theory.closure.bounds import MISTAKE_WEIGHT, agnostic_regret
from tacit.theory.closure.limit import Limit
from tacit.theory.dimensions import FiniteClass, LittlestoneSearch


class RealisableLearner(Protocol):
    """A state of a deterministic online learner that makes few mistakes on labels from its class."""

    def predict(self, x: Hashable) -> int:
        """The label it expects."""

    def update(self, x: Hashable, label: int) -> Self:
        """The state after seeing a label."""


def key_of(x: Any) -> Hashable:
    """A point as a value: a mapping (one row of features) by its items, anything else as it is."""
    return tuple(sorted(x.items())) if isinstance(x, Mapping) else x


class FiniteDomain:
    """A finite class on named points, with the Littlestone dimensions of its sub-classes as they become known.

    Args:
        matrix: 0/1, one row per hypothesis.
        points: what the columns stand for; by default their numbers.
        cap: work for one dimension, see :mod:`tacit.theory.dimensions`.

    Raises:
        ValueError: for an empty class, or if the points are not as many as the columns.
    """

    def __init__(self, matrix: npt.ArrayLike, points: Sequence[Any] | None = None, cap: int = 10**6) -> None:
        self.family = FiniteClass(matrix)
        if len(self.family) == 0:
            raise ValueError("an online learner needs a class with at least one hypothesis")
        n_columns = len(self.family.columns)
        if points is not None and len(points) != n_columns:
            raise ValueError(f"points must name all {n_columns} columns of the class, got {len(points)}")
        names = range(n_columns) if points is None else [key_of(p) for p in points]
        self._column = dict(zip(names, self.family.columns, strict=True))
        self._search = LittlestoneSearch(self.family, cap)
        self._cap = cap

    def ones(self, x: Hashable) -> int:
        """The hypotheses that label ``x`` 1, as bits; :class:`ValueError` if it is none of the points."""
        if x not in self._column:
            raise ValueError(f"the class has no point {x!r}")
        return self._column[x]

    def dimension(self, subset: int) -> int:
        """Littlestone dimension of a sub-class."""
        self._search.limit = Limit(self._search.work + self._cap, math.inf)
        return self._search.value(subset)


@dataclass(frozen=True)
class OptimalState:
    """Standard Optimal Algorithm (Littlestone 1987): the hypotheses left, as bits.

    It expects the label whose hypotheses have the larger Littlestone dimension, so that each mistake lowers that of
    what is left: at most Ldim mistakes on labels from the class. A label no hypothesis left explains changes nothing.
    """

    domain: FiniteDomain
    left: int

    def predict(self, x: Hashable) -> int:
        ones = self.left & self.domain.ones(x)
        zeros = self.left ^ ones
        if not ones or not zeros:
            return int(bool(ones))
        return int(self.domain.dimension(ones) >= self.domain.dimension(zeros))

    def update(self, x: Hashable, label: int) -> OptimalState:
        ones = self.domain.ones(x)
        remaining = self.left & (ones if label else ~ones)
        return OptimalState(self.domain, remaining) if remaining else self


@dataclass(frozen=True)
class MajorityState:
    """Weighted Majority (Littlestone, Warmuth 1989) over learners; a learner that errs loses the factor ``beta``.

    If one of k learners makes at most d mistakes it makes at most ``(log k + d log 1/beta) / log(2/(1+beta))``:
    Proposition 4.3's learner for a union, with one learner per class.
    """

    learners: tuple[Any, ...]
    mistakes: tuple[int, ...]
    beta: float = MISTAKE_WEIGHT

    @staticmethod
    def of(learners: Sequence[RealisableLearner], beta: float = MISTAKE_WEIGHT) -> MajorityState:
        """All learners with the same weight."""
        return MajorityState(tuple(learners), (0,) * len(learners), beta)

    def predict(self, x: Hashable) -> int:
        fewest = min(self.mistakes)
        vote = sum(
            self.beta ** (m - fewest) * (1 if learner.predict(x) else -1)
            for learner, m in zip(self.learners, self.mistakes, strict=True)
        )
        return int(vote >= 0)

    def update(self, x: Hashable, label: int) -> MajorityState:
        wrong = [int(learner.predict(x) != label) for learner in self.learners]
        return MajorityState(
            tuple(learner.update(x, label) for learner in self.learners),
            tuple(m + w for m, w in zip(self.mistakes, wrong, strict=True)),
            self.beta,
        )


class OnlineLearner:
    """A realisable learner with ``predict_one`` and ``learn_one``. Counts its mistakes."""

    def __init__(self, state: RealisableLearner) -> None:
        self._state = state
        self.mistakes = 0

    def predict_one(self, x: Any) -> int:
        """The label of a point."""
        return self._state.predict(key_of(x))

    def learn_one(self, x: Any, y: int) -> Self:
        """Learns the label of a point."""
        key, label = key_of(x), int(bool(y))
        self.mistakes += int(self._state.predict(key) != label)
        self._state = self._state.update(key, label)
        return self


class StandardOptimal(OnlineLearner):
    """The optimal deterministic learner of a finite class: at most ``Ldim`` mistakes on labels from it."""

    def __init__(self, matrix: npt.ArrayLike, points: Sequence[Any] | None = None) -> None:
        domain = FiniteDomain(matrix, points)
        super().__init__(OptimalState(domain, domain.family.everything))
        self.mistake_bound = domain.dimension(domain.family.everything)


class UnionLearner(OnlineLearner):
    """Weighted Majority over one optimal learner per class: labels from any of the classes (Proposition 4.3)."""

    def __init__(self, matrices: Sequence[npt.ArrayLike], points: Sequence[Any] | None = None) -> None:
        if len(matrices) == 0:
            raise ValueError("a union needs at least one class")
        domains = [FiniteDomain(matrix, points) for matrix in matrices]
        states = [OptimalState(domain, domain.family.everything) for domain in domains]
        super().__init__(MajorityState.of(states))
        most = max(domain.dimension(domain.family.everything) for domain in domains)
        self.mistake_bound = 3 * most + 3 * math.log2(len(domains))


class AgnosticOnlineLearner:
    """Agnostic online learning (Ben-David, Pal, Shalev-Shwartz 2009) on top of a realisable learner.

    An expert is a choice of rounds in which the realisable learner is told that it erred; some expert with at most
    ``mistakes`` such rounds agrees with the best concept throughout. Exponential weights over all experts, with the
    prior that each round is such a round with probability ``mistakes / rounds``; experts in the same state are merged,
    so the memory is the number of reachable states, not of experts. Expected regret ``sqrt(T/2 * d ln(e T/d))``.

    Args:
        start: the realisable learner.
        mistakes: its mistake bound d.
        rounds: the horizon T; afterwards it goes on without a guarantee.
        generator: randomness of the predictions.
    """

    def __init__(self, start: RealisableLearner, mistakes: int, rounds: int, generator: np.random.Generator) -> None:
        if rounds < 1 or mistakes < 0:
            raise ValueError(f"rounds must be positive and mistakes not negative, got {rounds} and {mistakes}")
        self.rounds = rounds
        self.regret_bound = agnostic_regret(mistakes, rounds)
        bits = self.regret_bound**2 * 2 / rounds
        self._rate = math.sqrt(8 * bits / rounds) if bits else 1.0
        self._flip = min(0.5, mistakes / rounds)
        self._weights: dict[RealisableLearner, float] = {start: 1.0}
        self._generator = generator

    def probability_one(self, x: Any) -> float:
        """The probability of predicting 1."""
        key = key_of(x)
        one = 0.0
        for state, weight in self._weights.items():
            one += weight * (1 - self._flip if state.predict(key) else self._flip)
        return one / sum(self._weights.values())

    def predict_one(self, x: Any) -> int:
        """A random label."""
        return int(self._generator.random() < self.probability_one(x))

    def learn_one(self, x: Any, y: int, weight: float = 1.0) -> Self:
        """Learns the label of a point; errors count ``weight``, in [0, 1]."""
        key, label = key_of(x), int(bool(y))
        fresh: dict[RealisableLearner, float] = {}
        for state, mass in self._weights.items():
            expected = state.predict(key)
            for prediction, share in ((expected, 1 - self._flip), (1 - expected, self._flip)):
                if share == 0:
                    continue
                following = state.update(key, prediction)
                loss = math.exp(-self._rate * weight * (prediction != label))
                fresh[following] = fresh.get(following, 0.0) + mass * share * loss
        total = sum(fresh.values())
        self._weights = {state: mass / total for state, mass in fresh.items()}
        return self
