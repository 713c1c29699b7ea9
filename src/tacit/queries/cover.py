"""Covers: rules chosen one after the other by the exponential mechanism, each of which removes the rows it covers.

EM-cover of Bun, Fang (Algorithm A.1) over public candidates: conjunctions of literals on the codes of the columns. The
score of "if the conjunction holds, say this class" is ``reward * right - penalty * wrong``, counted over the rows that
no earlier rule covers: a row moves the scores of covering rules only, by ``reward`` up or ``penalty`` down. That is the
condition of Lemma A.1 in integer units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tacit.queries.cells import Cells
from tacit.theory.em_cover import Shifts

BoolArray = npt.NDArray[np.bool_]

MOST_RULES = (1 << 22) - 1
"""Pairs of a conjunction and a class that one selection can be made from (``noise.exponential``); one place is for
"no rule"."""


class TooManyCandidates(ValueError):  # noqa: N818 - a public fact, and not a fault
    """There are more candidates than can be enumerated. Nothing was spent."""


@dataclass(frozen=True, eq=False)
class Conjunctions:
    """Public predicates on rows: conjunctions of literals, a literal being a set of codes of one column.

    Attributes:
        columns: per literal, the column it looks at.
        truths: per literal, for which codes it holds: a boolean vector with one entry per code of the column.
        members: int32, shape ``(n, width)``: per conjunction the literals in it, filled up with -1. A line of -1 is the
            constant true.
    """

    columns: tuple[int, ...]
    truths: tuple[BoolArray, ...]
    members: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.truths):
            raise ValueError(f"{len(self.columns)} columns for {len(self.truths)} literals")
        members = self.members
        if members.ndim != 2 or members.dtype != np.int32 or members.shape[1] < 1:
            raise ValueError(f"members must be int32 of shape (n, width), got {members.dtype} of shape {members.shape}")
        if members.size and (members.min() < -1 or members.max() >= len(self.columns)):
            raise ValueError(f"members must be literals 0..{len(self.columns) - 1}, or -1")

    def __len__(self) -> int:
        return len(self.members)

    def take(self, chosen: Sequence[int]) -> Conjunctions:
        """Some of the conjunctions, in that order."""
        return Conjunctions(self.columns, self.truths, self.members[list(chosen)])

    def literals_of(self, conjunction: int) -> list[int]:
        """The literals of a conjunction."""
        return [int(literal) for literal in self.members[conjunction] if literal >= 0]

    @cached_property
    def constant(self) -> npt.NDArray[np.int64]:
        """The conjunctions that always hold."""
        return np.flatnonzero((self.members < 0).all(axis=1))


@dataclass(frozen=True, eq=False)
class FirstMatch(Cells):
    """Every row in the cell of the first conjunction that holds for it; in the last cell if none does."""

    conjunctions: Conjunctions

    @property
    def size(self) -> int:
        return len(self.conjunctions) + 1


@dataclass(frozen=True)
class CoverStep:
    """One choice: a rule is drawn with probability proportional to ``exp(scale * (reward * right - penalty * wrong))``.

    Attributes:
        scale: per integer unit of the score; ``inf`` for the first best rule.
        reward: integer units per row that the rule covers and gets right.
        penalty: integer units per row that it covers and gets wrong.
    """

    scale: float
    reward: int
    penalty: int

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise ValueError(f"scale must be positive, got {self.scale}")
        if self.reward < 0 or self.penalty < 0 or self.reward + self.penalty == 0:
            raise ValueError(f"reward and penalty must not be negative, nor both 0: {self.reward}, {self.penalty}")

    @property
    def shifts(self) -> Shifts:
        """What one row can do to the score of a rule that covers it."""
        return Shifts(-float(self.penalty), float(self.reward))


@dataclass(frozen=True, eq=False)
class Cover:
    """A whole run of EM-cover: a public number of steps over public candidates.

    A chosen conjunction leaves with all classes. The run ends early when nothing can change any more: the constant was
    chosen, or no candidates are left. "No rule", whose score is public, may be chosen in every step, and covers
    nothing.

    Attributes:
        candidates: the conjunctions.
        n_labels: classes a rule can say.
        steps: the steps, in order.
        idle_score: the score of "no rule in this step", in integer units; None if there must be one.
        log_prior: per conjunction, nats added to all its rules: a public preference, for short ones say; None for none.
    """

    candidates: Conjunctions
    n_labels: int
    steps: tuple[CoverStep, ...]
    idle_score: int | None = None
    log_prior: npt.NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if self.log_prior is not None and (
            self.log_prior.shape != (len(self.candidates),) or not np.isfinite(self.log_prior).all()
        ):
            raise ValueError("log_prior must hold one finite number per conjunction")
        if not self.steps:
            raise ValueError("a cover needs at least one step")
        if len(self.candidates) * self.n_labels > MOST_RULES:
            raise TooManyCandidates(
                f"{len(self.candidates)} conjunctions with {self.n_labels} classes each are more than {MOST_RULES} "
                "rules: take shorter conjunctions, fewer thresholds or fewer columns. Nothing was spent"
            )

    @property
    def scales(self) -> tuple[float, ...]:
        """The scale of every step."""
        return tuple(step.scale for step in self.steps)

    @property
    def shifts(self) -> tuple[Shifts, ...]:
        """What a row can do to a covering rule, per step."""
        return tuple(step.shifts for step in self.steps)

    def offsets(self, step: CoverStep) -> npt.NDArray[np.int64]:
        """The prior in integer units of a step's score, shape ``(conjunctions,)``; it does not look at the rows."""
        if self.log_prior is None or math.isinf(step.scale):
            return np.zeros(len(self.candidates), np.int64)
        offsets: npt.NDArray[np.int64] = np.clip(np.rint(self.log_prior / step.scale), -(2**40), 2**40).astype(np.int64)
        return offsets
