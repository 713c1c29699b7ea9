"""Views that relabel rows by a concept chosen inside the curator, scored on all rows (closure paper, Algorithm 2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Bytes, Ints
from tacit.curator.views.resample import said_by
from tacit.curator.views.view import Plan, Rows, charge_of, cost_of, random_part
from tacit.encoding.frames import take_rows
from tacit.encoding.order import FloatOrder
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.models.base import ClassModel
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import BoundedRange, Charge, NonPrivate
from tacit.privacy.unit import Neighbouring
from tacit.theory.checks import Cost
from tacit.theory.closure.privacy import learned_on_part


@dataclass(frozen=True, eq=False)
class Points:
    """The distinct points of the rows, as a candidate function sees them."""

    codes: Ints  # cells of the columns that concepts look at, shape `(points, columns)`
    said: Bytes  # what earlier released models say of the points, 0/1, shape `(points, models)`
    counts: Ints  # scored rows by label, shape `(points, 2)`; zero where only unscored rows are


class Candidates(Protocol):
    """Patterns on the points, with a score each."""

    @property
    def scores(self) -> Ints:
        """Errors, or a minimum of errors: integers, lower is better; one-sided under adding a row."""

    @property
    def lengths(self) -> npt.NDArray[np.uint64] | None:
        """How many candidates share each score, one after the other; None where each has its own."""

    def labels(self, index: int) -> Bools:
        """The labels that a candidate gives to the points; where scores are shared, by its number among them all."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """A drawn candidate, inside the curator: its number, the candidates, and the point of each row that counts."""

    index: int
    candidates: Candidates
    kept: Ints
    place: Ints


@dataclass(frozen=True, eq=False)
class Relabel:
    """Relabels all rows by a pattern chosen by the exponential mechanism, ``P(h) ~ exp(-epsilon q(h) / 2)``.

    The pattern is not released; the child learns from the relabelled rows. Cost: the choice of a group of patterns,
    which has bounded range ``span``, composed with the child (:mod:`tacit.theory.closure.privacy`).
    """

    encoding: TableEncoding | FloatOrder  # the columns that concepts look at, in cells or as they are
    label_index: LabelIndex  # two classes
    models: tuple[ClassModel, ...]  # released models whose labels the scores use
    # patterns and scores from points: a pure function that keeps nothing and raises for no content
    candidates: Callable[[Points], Candidates]
    epsilon: float  # Relabel's parameter; `inf` for the best pattern without privacy
    span: float  # the bounded range that is charged
    child: Plan  # the child's declared maximum
    theorem: str  # the claim
    # share of the rows that scores are made of and the child gets (the paper's D); the others (T) only define points.
    # Below 1 the split goes by position, and needs a public number of rows.
    scored_share: float = 1.0
    stated: Cost | None = None  # a larger cost to charge instead of the sum, such as the paper's constant
    public: bool = False  # whether the candidates are the same whatever the rows are, so that an index may be released

    @property
    def children(self) -> tuple[Plan, ...]:
        return (self.child,)

    def charges(self, neighbouring: Neighbouring) -> Sequence[tuple[Charge, str]]:
        if self.scored_share < 1 and not neighbouring.n_is_public:
            raise ValueError("a split by position needs a public number of rows")
        if math.isinf(self.epsilon):
            return [(NonPrivate(), self.theorem)]
        learned = f"{self.theorem}, then the learner on the relabelled rows"
        parts = [(BoundedRange(self.span), self.theorem), *((charge, learned) for charge in self.child)]
        if self.stated is None:
            return parts
        least = cost_of([charge for charge, _ in parts], self.stated.delta)
        if least.epsilon > self.stated.epsilon:
            raise ValueError(f"the stated epsilon {self.stated.epsilon} is below the cost {least.epsilon}")
        return [(charge_of(self.stated), learned)]

    def open(self, rows: Rows, neighbouring: Neighbouring, noise: NoiseSource) -> Sequence[Rows]:
        del neighbouring
        choice = self.choose(rows, noise)
        labels = np.full(len(rows.labels), DROPPED, np.uint8)
        labels[choice.kept] = choice.candidates.labels(choice.index)[choice.place]
        if self.scored_share < 1:  # the learner gets D; T has done its work
            n_scored = scored_rows(self.scored_share, len(rows.labels))
            return [Rows(take_rows(rows.frame, np.arange(n_scored)), labels[:n_scored])]
        return [Rows(rows.frame, labels)]

    def choose(self, rows: Rows, noise: NoiseSource) -> Chosen:
        """Draws a pattern. Stays inside the curator."""
        candidates, places, place = self.scored(rows)
        choice = Chosen(drawn(candidates, self.epsilon, noise), candidates, places, place)
        return rows.witness.inside("pattern", self, len(rows.labels), choice)

    def scored(self, rows: Rows) -> tuple[Candidates, Ints, Ints]:
        """The candidates with their scores, the rows that count, and the point of each. Stays inside the curator."""
        places = np.flatnonzero(rows.labels != DROPPED)
        codes = np.column_stack([column[places].astype(np.int64) for column in self.encoding.encode(rows.frame)])
        votes = said_by(self.models, rows.frame)[places]
        cells, place = np.unique(np.hstack([codes, votes]), axis=0, return_inverse=True)
        place = place.reshape(-1)
        scored = places < scored_rows(self.scored_share, len(rows.labels))
        counts = np.zeros((len(cells), 2), np.int64)
        np.add.at(counts, (place[scored], rows.labels[places][scored].astype(np.int64)), 1)
        width = codes.shape[1]
        candidates = self.candidates(Points(cells[:, :width], cells[:, width:].astype(np.uint8), counts))
        return candidates, places, place


def drawn(candidates: Candidates, epsilon: float, noise: NoiseSource) -> int:
    """The number of a candidate with ``P(h) ~ exp(-epsilon q(h) / 2)``; at ``inf`` of a best one, amid its run."""
    lengths, private = candidates.lengths, not math.isinf(epsilon)
    scale = math.nextafter(2 / epsilon, math.inf) if private else 1.0
    if lengths is None:
        return noise.exponential(-candidates.scores, scale) if private else int(candidates.scores.argmin())
    if private:
        return noise.exponential_runs(-candidates.scores, lengths, scale)
    best = np.flatnonzero(lengths > 0)[int(candidates.scores[lengths > 0].argmin())]
    return sum(int(length) for length in lengths[:best]) + int(lengths[best]) // 2


def scored_rows(share: float, n_rows: int) -> int:
    """How many of a public number of rows :class:`Relabel` makes scores of, and hands to the child."""
    return math.ceil(share * n_rows)


@dataclass(frozen=True, eq=False)
class Restricted:
    """Patterns on some of the points, each with the least score of those that say so there."""

    scores: Ints
    patterns: Bools
    lengths: None = None

    def labels(self, index: int) -> Bools:
        """The labels that a pattern gives to the points that are left."""
        pattern: Bools = self.patterns[index]
        return pattern


@dataclass(frozen=True, eq=False)
class RelabelPart(Relabel):
    """As :class:`Relabel`, of a random part of the rows: patterns are those of the part, scores those of all rows.

    Cost: :func:`tacit.theory.closure.privacy.learned_on_part`. Of the parent's fields, ``span`` is the range of the
    scores alone, ``epsilon / 2``.
    """

    rate: float = 1.0  # the probability that a row is in the part
    delta: float = 0.0  # at which the child's charge is counted

    def charges(self, neighbouring: Neighbouring) -> Sequence[tuple[Charge, str]]:
        if neighbouring.n_is_public:
            raise ValueError("patterns of a part are analysed for rows that are added or removed")
        if math.isinf(self.epsilon):
            return [(NonPrivate(), self.theorem)]
        return [(charge_of(learned_on_part(self.span, cost_of(self.child, self.delta), self.rate)), self.theorem)]

    def choose(self, rows: Rows, noise: NoiseSource) -> Chosen:
        n = len(rows.labels)
        in_part = random_part(noise, self.rate, n) if self.rate < 1 else np.ones(n, bool)
        candidates, places, place = self.scored(rows)
        within = in_part[places]
        cells = np.unique(place[within])
        part = restricted(candidates, cells)
        index = drawn(part, self.epsilon, noise)
        choice = Chosen(index, part, places[within], np.searchsorted(cells, place[within]))
        return rows.witness.inside("pattern", self, n, choice)


def restricted(candidates: Candidates, points: Ints) -> Restricted:
    """Patterns as they differ on some of the points: of those that agree there, the best one."""
    if len(points) == 0:
        return Restricted(candidates.scores.min(keepdims=True), np.zeros((1, 0), bool))
    packed = np.stack([np.packbits(candidates.labels(k)[points]) for k in range(len(candidates.scores))])
    keys, group = np.unique(packed, axis=0, return_inverse=True)
    scores = np.full(len(keys), np.iinfo(np.int64).max, np.int64)
    np.minimum.at(scores, group.reshape(-1), candidates.scores)
    return Restricted(scores, np.unpackbits(keys, axis=1, count=len(points)).astype(bool))
