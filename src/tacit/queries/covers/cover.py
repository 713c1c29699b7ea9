"""Covers: rules chosen one after the other by the exponential mechanism, each of which removes the rows it covers.

EM-cover of Bun, Fang (Algorithm A.1) over public candidates (:mod:`tacit.queries.covers.candidates`). The score of "if
the conjunction holds, say this class" is a function of the rows that it covers and no earlier rule does: a row moves
the scores of covering rules only, and by how much is public (:mod:`tacit.queries.covers.steps`). That is the condition
of Lemma A.1 in integer units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.queries.covers.candidates import MOST_RULES, Conjunctions, StreamedConjunctions, TooManyCandidates
from tacit.queries.covers.steps import Step
from tacit.theory.em_cover import Shifts


@dataclass(frozen=True, eq=False)
class Cover:
    """A whole run of EM-cover: a public number of steps over public candidates.

    A chosen conjunction leaves with all classes. The run ends early when nothing can change any more: the constant was
    chosen, or no candidates are left. "No rule", whose score is public, may be chosen in every step but an ending one,
    and covers nothing.

    Attributes:
        candidates: the conjunctions.
        n_labels: classes a rule can say.
        steps: the steps, in order.
        idle_score: the score of "no rule in this step", in integer units; None if there must be one.
        log_prior: per conjunction (streamed: per block of them), nats added to all its rules: a public preference, for
            short ones say; None for none.
        constant_last: whether the constant can only be chosen in a step that is an ending one.
    """

    candidates: Conjunctions | StreamedConjunctions
    n_labels: int
    steps: tuple[Step, ...]
    idle_score: int | None = None
    log_prior: Floats | None = None
    constant_last: bool = False

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
        """The scale of every step."""
        return tuple(step.scale for step in self.steps)

    @property
    def shifts(self) -> tuple[Shifts, ...]:
        """What a row can do to a covering rule, per step."""
        return tuple(step.shifts for step in self.steps)

    def offsets(self, step: Step) -> Ints:
        """The prior in integer units of a step's score, in the shape of the prior; it does not look at the rows."""
        if self.log_prior is None or math.isinf(step.scale):
            return np.zeros(self._n_priors, np.int64)
        return np.clip(np.rint(self.log_prior / step.scale), -(2**40), 2**40).astype(np.int64)
