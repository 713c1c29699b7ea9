"""Covers: rules chosen one after the other by the exponential mechanism, each of which removes the rows it covers.

EM-cover of Bun, Fang (Algorithm A.1) over public candidates (:mod:`tacit.queries.covers.candidates`). The score of "if
the conjunction holds, say this class" is a function of the rows that it covers and no earlier rule does: a row moves
the scores of covering rules only, and by how much is public (:class:`CoverStep`). That is the condition
of Lemma A.1 in integer units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.queries.covers.candidates import MOST_RULES, Conjunctions, StreamedConjunctions, TooManyCandidates
from tacit.theory.em_cover import Shifts


class Step(Protocol):
    """One choice: a rule is drawn with probability proportional to ``exp(scale * score)``."""

    @property
    def scale(self) -> float:
        """Per integer unit of the score; ``inf`` for the last of the best rules."""

    @property
    def shifts(self) -> Shifts:
        """What adding one row can do to the score of a rule that covers it, in integer units."""

    @property
    def ending(self) -> bool:
        """Whether only the constant, which ends the list, can be chosen."""

    def scores(self, counts: Ints, rules: Sequence[tuple[int, int]]) -> Ints:
        """The scores of rules, int64 ``(conjunctions, classes)``: a rule says a class where its conjunction holds.

        ``counts`` are the classes of the rows that each covers among those that are left; the family may follow
        ``rules``.
        """


@dataclass(frozen=True)
class CoverStep:
    """The scores that are in use: ``reward * right - penalty * wrong``."""

    scale: float  # per integer unit of the score; `inf` for the last of the best rules
    reward: int  # integer units per row that the rule covers and gets right
    penalty: int  # integer units per row that it covers and gets wrong
    ending: bool = False  # whether only the constant can be chosen

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise ValueError(f"scale must be positive, got {self.scale}")
        if self.reward < 0 or self.penalty < 0 or self.reward + self.penalty == 0:
            raise ValueError(f"reward and penalty must not be negative, nor both 0: {self.reward}, {self.penalty}")

    @property
    def shifts(self) -> Shifts:
        return Shifts(-float(self.penalty), float(self.reward))

    def scores(self, counts: Ints, rules: Sequence[tuple[int, int]]) -> Ints:  # noqa: ARG002 - the same always
        covered = counts.sum(axis=1, keepdims=True)
        scores: Ints = (self.reward + self.penalty) * counts - self.penalty * covered
        return scores


class ScoreFamily(Protocol):
    """Any scores with the property of Lemma A.1: hashable, public, and a function of the rows a rule covers alone."""

    @property
    def shifts(self) -> Shifts:
        """A promise: adding a row to those that a rule covers moves its score by something in here, always."""

    def scores(self, counts: Ints, rules: Sequence[tuple[int, int]]) -> Ints:
        """As in :meth:`Step.scores`."""


@dataclass(frozen=True)
class ScoredStep:
    """A choice by other scores. Its charge rests on what the family promises: test it (`widest_shifts`)."""

    scale: float
    family: ScoreFamily
    ending: bool = False

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise ValueError(f"scale must be positive, got {self.scale}")

    @property
    def shifts(self) -> Shifts:
        return self.family.shifts

    def scores(self, counts: Ints, rules: Sequence[tuple[int, int]]) -> Ints:
        return self.family.scores(counts, rules)


def widest_shifts(family: ScoreFamily, n_labels: int, most: int, rules: Sequence[tuple[int, int]] = ()) -> Shifts:
    """By how much one more row moves scores at all, searched over all counts up to ``most`` per class."""
    grid = np.indices((most + 1,) * n_labels).reshape(n_labels, -1).T.astype(np.int64)
    before = family.scores(grid, rules)
    moves = [family.scores(grid + np.eye(n_labels, dtype=np.int64)[y], rules) - before for y in range(n_labels)]
    return Shifts(min(0.0, float(np.min(moves))), max(0.0, float(np.max(moves))))


@dataclass(frozen=True, eq=False)
class Cover:
    """A whole run of EM-cover: a public number of steps over public candidates.

    A chosen conjunction leaves with all classes. The run ends early when nothing can change any more: the constant was
    chosen, or no candidates are left. "No rule", whose score is public, may be chosen in every step but an ending one,
    and covers nothing.
    """

    candidates: Conjunctions | StreamedConjunctions  # the conjunctions
    n_labels: int  # classes a rule can say
    steps: tuple[Step, ...]  # the steps, in order
    idle_score: int | None = None  # the score of "no rule in this step", in integer units; None if there must be one
    # per conjunction (streamed: per block of them), nats added to all its rules: a public preference, for short ones
    # say; None for none
    log_prior: Floats | None = None
    constant_last: bool = False  # whether the constant can only be chosen in a step that is an ending one

    def __post_init__(self) -> None:
        if self.log_prior is not None and (
            self.log_prior.shape != (self._n_priors,) or not np.isfinite(self.log_prior).all()
        ):
            raise ValueError(f"log_prior must hold {self._n_priors} finite numbers")
        if not self.steps:
            raise ValueError("a cover needs at least one step")
        if any(step.ending for step in self.steps) and len(self.candidates.constant) == 0:
            raise ValueError("an ending step needs the constant among the candidates")
        if isinstance(self.candidates, Conjunctions) and len(self.candidates) * self.n_labels > MOST_RULES:
            raise TooManyCandidates(
                f"{len(self.candidates)} conjunctions with {self.n_labels} classes each are more than {MOST_RULES} "
                "rules: stream them, take shorter conjunctions, fewer thresholds or fewer columns"
            )

    @property
    def _n_priors(self) -> int:
        candidates = self.candidates
        return len(candidates) if isinstance(candidates, Conjunctions) else candidates.n_blocks

    @property
    def scales(self) -> tuple[float, ...]:
        return tuple(step.scale for step in self.steps)

    @property
    def shifts(self) -> tuple[Shifts, ...]:
        return tuple(step.shifts for step in self.steps)

    def offsets(self, step: Step) -> Ints:
        """The prior in integer units of a step's score, in the shape of the prior; it does not look at the rows."""
        if self.log_prior is None or math.isinf(step.scale):
            return np.zeros(self._n_priors, np.int64)
        return np.clip(np.rint(self.log_prior / step.scale), -(2**40), 2**40).astype(np.int64)
