"""Steps of a cover: what scores a rule, and how strongly. Any scores with the property of Lemma A.1 (Bun, Fang)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tacit.arrays import Ints
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

    def scores(self, counts: Ints, chosen: Sequence[tuple[int, int]]) -> Ints:
        """The scores of rules, int64 ``(conjunctions, classes)``: a rule says a class where its conjunction holds.

        ``counts`` are the classes of the rows that each covers among those that are left; the family may follow
        ``chosen``.
        """


@dataclass(frozen=True)
class CoverStep:
    """The scores that are in use: ``reward * right - penalty * wrong``.

    Attributes:
        scale: per integer unit of the score; ``inf`` for the last of the best rules.
        reward: integer units per row that the rule covers and gets right.
        penalty: integer units per row that it covers and gets wrong.
        ending: whether only the constant can be chosen.
    """

    scale: float
    reward: int
    penalty: int
    ending: bool = False

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise ValueError(f"scale must be positive, got {self.scale}")
        if self.reward < 0 or self.penalty < 0 or self.reward + self.penalty == 0:
            raise ValueError(f"reward and penalty must not be negative, nor both 0: {self.reward}, {self.penalty}")

    @property
    def shifts(self) -> Shifts:
        """What one row can do to the score of a rule that covers it."""
        return Shifts(-float(self.penalty), float(self.reward))

    def scores(self, counts: Ints, chosen: Sequence[tuple[int, int]]) -> Ints:  # noqa: ARG002 - the same always
        """Shape ``(conjunctions, classes)``."""
        covered = counts.sum(axis=1, keepdims=True)
        found: Ints = (self.reward + self.penalty) * counts - self.penalty * covered
        return found


class ScoreFamily(Protocol):
    """Any scores with the property of Lemma A.1: hashable, public, and a function of the rows a rule covers alone."""

    @property
    def shifts(self) -> Shifts:
        """A promise: adding a row to those that a rule covers moves its score by something in here, always."""

    def scores(self, counts: Ints, chosen: Sequence[tuple[int, int]]) -> Ints:
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
        """What the family promises."""
        return self.family.shifts

    def scores(self, counts: Ints, chosen: Sequence[tuple[int, int]]) -> Ints:
        """What the family says."""
        return self.family.scores(counts, chosen)


def widest_shifts(family: ScoreFamily, n_labels: int, most: int, chosen: Sequence[tuple[int, int]] = ()) -> Shifts:
    """By how much one more row moves scores at all, searched over all counts up to ``most`` per class."""
    grid = np.indices((most + 1,) * n_labels).reshape(n_labels, -1).T.astype(np.int64)
    before = family.scores(grid, chosen)
    moves = [family.scores(grid + np.eye(n_labels, dtype=np.int64)[y], chosen) - before for y in range(n_labels)]
    return Shifts(min(0.0, float(np.min(moves))), max(0.0, float(np.max(moves))))
