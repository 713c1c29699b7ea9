"""What a Winnow has released, the predictor that follows from it, and what the next period begins with.

With ``C > 2`` classes there is a weight per class and coordinate, and the class of the largest score is said. A round
of class ``y`` whose strongest rival is ``k`` adds its row to the scores of ``y`` and takes it from those of ``k``, so
that, as with two classes, no score moves by more than 1 (docs/theory/winnow.md, Theorem 8).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Floats, Ints


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
        places = np.flatnonzero(shaped.reshape(-1, self.dimension).any(axis=0))
        positive = table[:, places] > 0
        scores: Ints = 2 * (positive @ shaped[..., places].T) - shaped[..., places].sum(axis=-1)
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


SUMS = (8, 16, 32)  # how many of the last released weights are summed, once the draws are used up
SHARES = 1 << 10  # whole shares of the last weights drawn, where several are summed
MIXED_UNITS = 1 << 20  # integer units of weight 1 where released weights are mixed with fresh ones


@dataclass
class WinnowLog:
    """What has been released, and the predictor that follows from it.

    When the draws are used up, sums of the last few released weights become candidates too: one sample of few draws is
    noisy, many of nearly the same weights are not. An epoch that ends then makes way for a candidate that was never in
    use, or for the one whose latest epoch was the longest: how long weights lasted until so many mistakes is public, so
    choosing by it is free.

    Where updates come at public times (``decay`` is a number), the weights in use are the sum of all that were drawn,
    each by ``decay`` lighter than the one after it, and the start by ``carried`` of a draw; at 0 those drawn last.
    """

    dimension: int  # number of weights, without those of negations: coordinates, or classes times coordinates
    signed: bool  # `signed`, `epochs`: as in the stream
    epochs: int
    # released weights in integer units, each of shape `(dimension,)`; the first is the start, sums of released ones
    # come after the last
    vectors: list[Ints] = field(default_factory=list)
    # rounds that the latest epoch of each took; 0 while it is the first or still to come
    lengths: list[int] = field(default_factory=list)
    current: int = 0  # which one is in use
    since: int = 0  # the round at which it came into use
    # of released weights with every update after them, in [0, 1); None where mistakes decide
    decay: float | None = None
    carried: float = 0.0  # what the start weighs among them
    known: tuple[int, Ints] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.vectors:
            start = np.zeros(self.dimension, np.int64) if self.signed else np.ones(self.dimension, np.int64)
            self.vectors.append(start)
            self.lengths.append(0)

    @property
    def weights(self) -> Ints:
        """The weights in use; a row is positive if ``<weights, x> > 0``."""
        if not self.decay or self.current == 0:
            return self.vectors[self.current]
        if self.known is None or self.known[0] != self.current:
            self.known = self.current, self._sum()
        return self.known[1]

    def _sum(self) -> Ints:
        """Each vector in whole shares of :data:`SHARES`; the start is brought to the size of the last one drawn."""
        assert self.decay is not None
        vectors = self.vectors[1:]
        shares = [round(SHARES * self.decay**age) for age in range(len(vectors))]
        total: Ints = np.sum([share * v for share, v in zip(shares, reversed(vectors), strict=True)], axis=0)
        size, start = int(np.abs(self.vectors[0]).sum()), self.vectors[0]
        if self.carried and size:
            part = SHARES * self.carried * self.decay ** (len(vectors) - 1) * int(np.abs(vectors[-1]).sum()) / size
            total = total + np.rint(part * start).astype(np.int64)
        return total

    @property
    def draws_left(self) -> bool:
        """Whether the next update draws."""
        return len(self.vectors) <= self.epochs

    def end_epoch(self, at: int, weights: Ints | None) -> None:
        """An epoch ended in round ``at`` (the row of that round included), with new weights or without."""
        self.lengths[self.current] = at + 1 - self.since
        self.since = at + 1
        if weights is not None:
            self.vectors.append(weights)
            self.lengths.append(0)
            self.current = len(self.vectors) - 1
            if len(self.vectors) == self.epochs + 1 and self.decay is None:
                self._add_sums()
            return
        untried = [place for place in range(1, len(self.vectors)) if self.lengths[place] == 0]
        self.current = untried[-1] if untried else int(np.argmax(self.lengths))

    def _add_sums(self) -> None:
        for many in SUMS:
            if many <= self.epochs:
                self.vectors.append(np.sum(self.vectors[self.epochs + 1 - many : self.epochs + 1], axis=0))
                self.lengths.append(0)

    def to_dict(self) -> dict[str, Any]:
        """As plain data: sparse vectors as pairs of coordinate and weight."""
        return {
            "dimension": self.dimension,
            "signed": self.signed,
            "epochs": self.epochs,
            "vectors": [[[int(j), int(v[j])] for j in np.flatnonzero(v)] for v in self.vectors],
            "lengths": list(self.lengths),
            "current": self.current,
            "since": self.since,
            **({} if self.decay is None else {"decay": self.decay, "carried": self.carried}),
        }

    @staticmethod
    def from_dict(data: dict[str, Any]) -> WinnowLog:
        vectors = []
        for pairs in data["vectors"]:
            vector = np.zeros(int(data["dimension"]), np.int64)
            for place, weight in pairs:
                vector[int(place)] = int(weight)
            vectors.append(vector)
        return WinnowLog(
            int(data["dimension"]),
            bool(data["signed"]),
            int(data["epochs"]),
            vectors,
            [int(length) for length in data["lengths"]],
            int(data["current"]),
            int(data["since"]),
            None if data.get("decay") is None else float(data["decay"]),
            float(data.get("carried", 0.0)),
        )


def mixture(released: Ints, signed: bool, carried: float) -> Floats:
    """Weights of sum 1, a share ``carried`` of them released and the rest uniform; uniform if none were released.

    Released ones are in whole units, of any sum, shape ``(n,)``; if signed, those of negations come last, ``(2 n,)``.
    """
    parts = np.concatenate([np.maximum(released, 0), np.maximum(-released, 0)]) if signed else released
    total = int(parts.sum())
    share = carried if total else 0.0
    return (1.0 - share) / len(parts) + share * parts / max(total, 1)


def scores_of(weights: Floats, rate: float) -> Ints:
    """The whole scores, at most 0, whose weights at this learning rate are about these: each within ``exp(rate)``."""
    scores: Ints = np.rint(np.log(weights / weights.max()) / rate).astype(np.int64)
    return scores


def first_weights(released: Ints, signed: bool, carried: float) -> Ints:
    """The weights in use until the first draw: the mixture; signed ones say the same without its fresh share."""
    if signed:
        return released.copy()
    return np.rint(MIXED_UNITS * mixture(released, signed, carried)).astype(np.int64)
