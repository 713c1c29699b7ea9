"""Views that choose rows: a random part of them, draws with replacement, disjoint parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Bools, Ints
from tacit.curator.views.view import ONE, Plan, Rows, charge_of, cost_of, is_private
from tacit.encoding.frames import take_rows
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import Charge, NonPrivate
from tacit.privacy.neighbouring import Neighbouring
from tacit.theory.closure.privacy import amplified, drawn_share_with_replacement


@dataclass(frozen=True, eq=False)
class Sample:
    """A random part of the rows.

    Attributes:
        rate: add/remove: every row takes part with this probability, by itself. Replace: so many rows, rounded down.
        label_index: how labels become codes.
        child: the child's declared maximum.
        delta: the delta at which the child's charge is amplified; 0 if it is pure.
        replacement: draw with replacement (the paper's empirical learner); needs a public number of rows.
        inside: the claims that the child's charges stand on, in words.
    """

    rate: float
    label_index: LabelIndex
    child: Plan
    delta: float = 0.0
    replacement: bool = False
    inside: str = "what the child declares, composed"

    @property
    def children(self) -> tuple[Plan, ...]:
        return (self.child,)

    def charges(self, neighbouring: Neighbouring) -> Sequence[tuple[Charge, str]]:
        if self.replacement and not neighbouring.n_is_public:
            raise ValueError("draws with replacement are analysed for a public number of rows: use replace_one")
        if not is_private(self.child):
            return [(NonPrivate(), "no privacy")]
        inner = cost_of(self.child, self.delta)
        if self.replacement:
            theorem = f"draws with replacement (Alon et al. 2020, Lemma 3.12, sharpened) of: {self.inside}"
            return [(charge_of(drawn_share_with_replacement(inner, self.rate)), theorem)]
        theorem = self.inside
        if self.rate < 1:
            theorem = f"amplification by subsampling (Balle, Barthe, Gaboardi 2018, Theorems 8 and 9) of: {theorem}"
        return [(charge_of(amplified(inner, self.rate)), theorem)]

    def open(self, rows: Rows, neighbouring: Neighbouring, noise: NoiseSource) -> Sequence[Rows]:
        n = len(rows.labels)
        if neighbouring is ONE:
            if self.rate >= 1:
                return [rows]
            return [Rows(rows.frame, np.where(random_part(noise, self.rate, n), rows.labels, np.uint8(DROPPED)))]
        size = rows_of_share(self.rate, n)
        index = uniform_indices(noise, n, size) if self.replacement else np.sort(random_order(noise, n)[:size])
        return [Rows(take_rows(rows.frame, index), rows.labels[index])]


def rows_of_share(rate: float, n_rows: int) -> int:
    """How many of a public number of rows a :class:`Sample` of that rate takes."""
    return math.floor(rate * n_rows)


def random_part(noise: NoiseSource, rate: float, size: int) -> Bools:
    """For each of ``size`` rows whether it takes part, at a rate below 1: never likelier than the rate."""
    return noise.words(size) < np.uint64(math.floor(rate * 2.0**64))


def uniform_indices(noise: NoiseSource, bound: int, size: int) -> Ints:
    """Independent uniform indices below ``bound``, by rejection."""
    if bound == 0:
        return np.zeros(0, np.int64)
    limit = (1 << 64) - (1 << 64) % bound
    found: list[int] = []
    while len(found) < size:
        words = noise.words(size - len(found))
        found += [int(w % np.uint64(bound)) for w in words if int(w) < limit]
    return np.array(found, np.int64).reshape(-1)


def random_order(noise: NoiseSource, size: int) -> Ints:
    """A uniform permutation: the order of random words, drawn again in the event of a tie."""
    while True:
        words = noise.words(size)
        order = np.argsort(words, kind="stable")
        if not (np.diff(words[order]) == 0).any():
            return order.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Parts:
    """Disjoint parts: every row is assigned at random by itself, so no part depends on positions.

    A row is in one part, so all children together cost what the dearest of them does (parallel composition; later
    children may be chosen from what earlier ones released). Under replace the number in each part is random as well: it
    depends on coins alone.

    Attributes:
        label_index: how labels become codes.
        children: the declared maxima.
        delta: at which plans that differ are compared; 0 if they are pure.
        inside: the claims that the children's charges stand on, in words.
    """

    label_index: LabelIndex
    children: tuple[Plan, ...]
    delta: float = 0.0
    inside: str = "what the children declare, composed"

    def charges(self, neighbouring: Neighbouring) -> Sequence[tuple[Charge, str]]:
        del neighbouring
        theorem = f"parallel composition over {len(self.children)} disjoint parts of: {self.inside}"
        if len(set(self.children)) == 1:
            return [(charge, theorem) for charge in self.children[0]]
        if not all(is_private(child) for child in self.children):
            return [(NonPrivate(), "no privacy")]
        dearest = max((cost_of(child, self.delta) for child in self.children), key=lambda cost: cost.epsilon)
        return [(charge_of(dearest), theorem)]

    def open(self, rows: Rows, neighbouring: Neighbouring, noise: NoiseSource) -> Sequence[Rows]:
        part = uniform_indices(noise, len(self.children), len(rows.labels))
        if neighbouring is ONE:
            return [
                Rows(rows.frame, np.where(part == i, rows.labels, np.uint8(DROPPED))) for i in range(len(self.children))
            ]
        chosen = [np.flatnonzero(part == i) for i in range(len(self.children))]
        return [Rows(take_rows(rows.frame, index), rows.labels[index]) for index in chosen]
