"""The view that relabels a random part of the rows by a pattern that is scored on all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Bools, Ints
from tacit.curator.views.relabel import Candidates, Chosen, Relabel, drawn
from tacit.curator.views.view import Rows, charge_of, cost_of
from tacit.curator.views.view_rows import random_part
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import Charge, NonPrivate
from tacit.privacy.neighbouring import Neighbouring
from tacit.theory.closure.privacy import learned_on_part


@dataclass(frozen=True, eq=False)
class Restricted:
    """Patterns on some of the points, each with the least score of those that say so there."""

    scores: Ints
    patterns: Bools
    lengths: None = None

    def labels(self, index: int) -> Bools:
        """The labels that a pattern gives to the points that are left."""
        said: Bools = self.patterns[index]
        return said


@dataclass(frozen=True, eq=False)
class RelabelPart(Relabel):
    """As :class:`Relabel`, of a random part of the rows: patterns are those of the part, scores those of all rows.

    Cost: :func:`tacit.theory.closure.privacy.learned_on_part`. Of the parent's fields, ``span`` is the range of the
    scores alone, ``epsilon / 2``.

    Attributes:
        rate: the probability that a row is in the part.
        delta: at which the child's charge is counted.
    """

    rate: float = 1.0
    delta: float = 0.0

    def charges(self, neighbouring: Neighbouring) -> Sequence[tuple[Charge, str]]:
        if neighbouring.n_is_public:
            raise ValueError("patterns of a part are analysed for rows that are added or removed")
        if math.isinf(self.epsilon):
            return [(NonPrivate(), self.theorem)]
        return [(charge_of(learned_on_part(self.span, cost_of(self.child, self.delta), self.rate)), self.theorem)]

    def choose(self, rows: Rows, noise: NoiseSource) -> Chosen:
        n = len(rows.labels)
        taken = random_part(noise, self.rate, n) if self.rate < 1 else np.ones(n, bool)
        found, kept, place = self.scored(rows)
        within = taken[kept]
        held = np.unique(place[within])
        part = restricted(found, held)
        index = drawn(part, self.epsilon, noise)
        return Chosen(index, part, kept[within], np.searchsorted(held, place[within]))


def restricted(found: Candidates, points: Ints) -> Restricted:
    """Patterns as they differ on some of the points: of those that agree there, the best one."""
    if len(points) == 0:
        return Restricted(found.scores.min(keepdims=True), np.zeros((1, 0), bool))
    packed = np.stack([np.packbits(found.labels(k)[points]) for k in range(len(found.scores))])
    keys, group = np.unique(packed, axis=0, return_inverse=True)
    scores = np.full(len(keys), np.iinfo(np.int64).max, np.int64)
    np.minimum.at(scores, group.reshape(-1), found.scores)
    return Restricted(scores, np.unpackbits(keys, axis=1, count=len(points)).astype(bool))
