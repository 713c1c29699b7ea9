"""Scores of rules that follow what was released: pure rules of many rows first, others once there are none left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Ints
from tacit.theory.em_cover import Shifts

UNIT = 64
"""Not tuned: integer units of a row that a rule gets wrong."""

LAST = np.int64(-(10**12))
"""The score of every rule once a list is as long as it may be: "no rule", with score 0, is chosen."""


@dataclass(frozen=True)
class PureFirst:
    """``right - penalty * wrong - need`` rows, by a penalty that falls by one stage for every "no rule".

    A row that a rule gets wrong counts :data:`UNIT`, one that it gets right that over the penalty; in a pure stage
    those beyond a ``knee`` count by the penalty ``beyond``, so that of large rules the purest is the best. The stage of
    a step follows from how many rules were chosen before, which is released: as long as there are rules that pass a
    stage they are taken, and one step without any ends it. After the pure stages the penalty follows the step alone.

    A row moves the score of a rule that covers it by ``-UNIT``, or by at most ``UNIT / penalty``, whatever
    the others do: the property of Lemma A.1, with the smallest penalty that the step can have.

    Attributes:
        step: which step this is, from 0 on.
        most: rules that a list may have.
        pure: penalties of the pure stages.
        penalty: after them.
        need: rows by which a rule of a pure stage must gain, a released or public number.
        knee: rows of a rule of a pure stage beyond which one more counts by another penalty, such a number too.
        beyond: that penalty; that of the stage where it is larger.
    """

    step: int
    most: int
    pure: tuple[int, ...]
    penalty: float
    need: int
    knee: int = 0
    beyond: int = 0

    def _penalty(self, stage: int) -> float:
        return self.pure[stage] if stage < len(self.pure) else self.penalty

    def _reward(self, stage: int) -> int:
        return max(1, round(UNIT / self._penalty(stage)))

    @property
    def shifts(self) -> Shifts:
        """What one row can do to the score of a rule that covers it, at any stage that the step can be in."""
        return Shifts(-float(UNIT), float(max(self._reward(stage) for stage in range(self.step + 1))))

    def scores(self, counts: Ints, chosen: Sequence[tuple[int, int]]) -> Ints:
        """Shape ``(conjunctions, classes)``."""
        if len(chosen) >= self.most:
            return np.full(counts.shape, LAST)
        stage = self.step - len(chosen)  # as many steps chose no rule
        reward = self._reward(stage)
        wrong = counts.sum(axis=1, keepdims=True) - counts
        found: Ints = reward * counts - UNIT * wrong
        if stage < len(self.pure):
            found -= reward * self.need
            further = max(1, round(UNIT / max(self.beyond, self.pure[stage])))
            found -= (reward - further) * np.maximum(counts - self.knee, 0)
        return found
