"""What rounds do to the scores of a Winnow: two classes share one vector of weights, more of them have one each.

With ``C > 2`` classes there is a weight per class and coordinate, and the class of the largest score is said. A round
of class ``y`` whose strongest rival is ``k`` adds its row to the scores of ``y`` and takes it from those of ``k``, so
that, as with two classes, no score moves by more than 1 (docs/theory/winnow.md, Theorem 8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Ints


@dataclass(frozen=True)
class Marks:
    """The shape of a learner's scores, and what rounds do to them.

    Labels of two classes are int8: 1, -1, or 0 for a null round; of more classes int16: 1 to ``classes``, or 0.
    """

    dimension: int
    classes: int = 2

    @property
    def n_weights(self) -> int:
        """Scores, without those of negations."""
        return self.dimension if self.classes == 2 else self.dimension * self.classes

    @property
    def label_dtype(self) -> npt.DTypeLike:
        return np.int8 if self.classes == 2 else np.int16

    def check(self, table: npt.NDArray[Any], labels: npt.NDArray[Any]) -> None:
        """Raises ``ValueError`` for a wrong shape or dtype: what is public about rounds."""
        if table.dtype != np.int8 or table.ndim != 2 or table.shape[1] != self.dimension:
            raise ValueError(
                f"rows must be int8 of shape (n, {self.dimension}), got {table.dtype} of shape {table.shape}"
            )
        kind = np.dtype(self.label_dtype)
        if labels.dtype != kind or labels.shape != (len(table),):
            raise ValueError(f"labels must be {kind} of shape ({len(table)},), got {labels.dtype} {labels.shape}")

    def scores(self, weights: Ints, table: npt.NDArray[np.int8]) -> Ints:
        """``<w, x>`` per row, shape ``(n,)``, or ``(n, classes)``; what is positive in a row counts 1, all else -1."""
        shaped = weights if self.classes == 2 else weights.reshape(self.classes, self.dimension)
        used = np.flatnonzero(shaped.reshape(-1, self.dimension).any(axis=0))
        positive = table[:, used] > 0
        scores: Ints = 2 * (positive @ shaped[..., used].T) - shaped[..., used].sum(axis=-1)
        return scores

    def said(self, scores: Ints) -> Ints:
        """The place of the class that is said: the first of the largest score; of two classes 1 if it is positive."""
        return (scores > 0).astype(np.int64) if self.classes == 2 else scores.argmax(axis=1)

    def hit(self, scores: Ints, labels: npt.NDArray[Any], least: int = 0) -> tuple[Bools, Ints]:
        """Which rounds are mistakes, or right by less than ``least``, and the place of each one's strongest rival."""
        if self.classes == 2:
            hit = np.where(labels > 0, scores <= 0, (labels < 0) & (scores > 0))
            return hit | ((labels != 0) & (labels * scores < least)), (labels < 0).astype(np.int64)
        lines, own = np.arange(len(labels)), np.maximum(labels.astype(np.int64) - 1, 0)
        others = scores.copy()
        others[lines, own] = np.iinfo(np.int64).min
        rivals = others.argmax(axis=1)
        unsure = scores[lines, own] - others[lines, rivals] < least
        return (labels > 0) & ((self.said(scores) != own) | unsure), rivals

    def total(self, table: npt.NDArray[np.int8], labels: npt.NDArray[Any], rivals: Ints) -> Ints:
        """What rounds that were hit add to the scores, shape ``(n_weights,)``; each moves no score by more than 1."""
        if self.classes == 2:
            agree = (table > 0) == (labels > 0)[:, None]
            total: Ints = 2 * agree.sum(axis=0, dtype=np.int64) - len(table)
            return total
        lines = np.arange(len(labels))
        moves = np.zeros((len(labels), self.classes), np.int64)
        moves[lines, labels.astype(np.int64) - 1] = 1
        moves[lines, rivals] = -1
        signs = np.where(table > 0, 1, -1).astype(np.int64)
        return (moves.T @ signs).reshape(-1)
