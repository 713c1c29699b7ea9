"""What a Winnow has released, the predictor that follows from it, and what the next period begins with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.arrays import Floats, Ints

SUMS = (8, 16, 32)
"""How many of the last released weights are summed, once the draws are used up."""

SHARES = 1 << 10
"""Whole shares of the last weights drawn, where several are summed."""

MIXED_UNITS = 1 << 20
"""Integer units of weight 1 where released weights are mixed with fresh ones."""


@dataclass
class WinnowLog:
    """What has been released, and the predictor that follows from it.

    When the draws are used up, sums of the last few released weights become candidates too: one sample of few draws is
    noisy, many of nearly the same weights are not. An epoch that ends then makes way for a candidate that was never in
    use, or for the one whose latest epoch was the longest: how long weights lasted until so many mistakes is public, so
    choosing by it is free.

    Where updates come at public times (``decay`` is a number), the weights in use are the sum of all that were drawn,
    each by ``decay`` lighter than the one after it, and the start by ``carried`` of a draw; at 0 those drawn last.

    Attributes:
        dimension: number of weights, without those of negations: coordinates, or classes times coordinates.
        signed, epochs: as in the stream.
        vectors: released weights in integer units, each of shape ``(dimension,)``; the first is the start, sums of
            released ones come after the last.
        lengths: rounds that the latest epoch of each took; 0 while it is the first or still to come.
        current: which one is in use.
        since: the round at which it came into use.
        decay: of released weights with every update after them, in [0, 1); None where mistakes decide.
        carried: what the start weighs among them.
    """

    dimension: int
    signed: bool
    epochs: int
    vectors: list[Ints] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    current: int = 0
    since: int = 0
    decay: float | None = None
    carried: float = 0.0
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
        drawn = self.vectors[1:]
        shares = [round(SHARES * self.decay**age) for age in range(len(drawn))]
        total: Ints = np.sum([share * v for share, v in zip(shares, reversed(drawn), strict=True)], axis=0)
        size, start = int(np.abs(self.vectors[0]).sum()), self.vectors[0]
        if self.carried and size:
            part = SHARES * self.carried * self.decay ** (len(drawn) - 1) * int(np.abs(drawn[-1]).sum()) / size
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
        """The inverse of :meth:`to_dict`."""
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
