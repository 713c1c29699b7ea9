"""A selection: candidates scored by exact private histograms, of which only chosen indices come out.

The score function goes in, an index comes out. Scores are integers; whoever has real ones floors them with
:func:`floored` and states the range with :func:`floored_movement`, which rounds it up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.privacy.unit import Neighbouring
from tacit.queries.query import Query

Score = Callable[[Iterator[Ints]], Ints]
"""From the exact answers of the selection's queries, in order and made one at a time, to int64 scores of shape
``(nodes, candidates)``. It must be a pure function, keep nothing, and raise for no content."""


@dataclass(frozen=True, eq=False)
class Selection:
    """What to choose: in each node, the candidate with (about) the highest score.

    Range (docs/theory/sensitivities.md, sections 0 and 2): the exponential mechanism pays for how differently the
    scores of the candidates move, ``max - min`` over the candidates of a node. With several nodes, which must hold
    *disjoint rows* (the scores of a node depend on its own rows only), adding or removing a row moves one node, so that
    all nodes are chosen for the price of one. Replacing is a removal and an addition: ranges add up, in one node or in
    two.
    """

    queries: tuple[Query, ...]  # what the scores are made of
    score: Score  # see `Score`
    shape: tuple[int, int]  # `(nodes, candidates)`; public
    # a bound on `max - min` over candidates of the change of the scores of a node, in integer units, when a row is
    # added or removed, whatever the table
    movement: int
    theorem: str  # the claim that `movement` stands on
    # a bound on the same when a row of a node is replaced by another of the same node; None for twice the movement,
    # which always holds
    replaced: int | None = None
    # whether the movement bounds that of a row of less weight than the rule gives it, too: only then may weighted rows
    # be chosen by
    holds_for_lighter_rows: bool = False

    def __post_init__(self) -> None:
        if not self.queries:
            raise ValueError("a selection needs at least one query to make scores of")
        if min(self.shape) < 1:
            raise ValueError(f"a selection needs at least one node and one candidate, got shape {self.shape}")
        if self.movement < 1 or (self.replaced is not None and self.replaced < 1):
            raise ValueError("the movement of the scores must be a positive integer: round it up")

    def score_range(self, neighbouring: Neighbouring) -> int:
        """The range of the movement of the scores that one row can cause, summed over the nodes it can touch."""
        if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE:
            return self.movement
        twice = 2 * self.movement
        if self.replaced is None:
            return twice
        return self.replaced if self.shape[0] == 1 else max(self.replaced, twice)


def per_query(score: Callable[[int, Ints], Ints]) -> Score:
    """A score function made of one per query, ``score(position, answer)``, whose candidates stand side by side.

    Only one histogram is held at a time: for many columns, or many chunks of candidates.
    """

    def scores(answers: Iterator[Ints]) -> Ints:
        return np.concatenate([score(position, answer) for position, answer in enumerate(answers)], axis=1)

    return scores


def floored(values: Floats, unit: int) -> Ints:
    """Real scores as integers, ``unit`` of which stand for 1.0. Not finite: the lowest score there is."""
    scaled = np.floor(np.where(np.isfinite(values), values, -np.inf) * unit)
    scores: Ints = np.clip(scaled, -(2.0**62), 2.0**62).astype(np.int64)
    return scores


def floored_movement(low: float, high: float, unit: int, error: float) -> int:
    """The range of floored scores, when every real score moves by an amount in ``[low, high]``.

    ``unit`` is as in :func:`floored`; ``error`` bounds that of a score computed in floating point, in natural units.
    """
    if not low <= high:
        raise ValueError(f"low must not exceed high, got {low} and {high}")
    slack = 2.0 * error
    highest = math.ceil(math.nextafter((high + slack) * unit, math.inf))
    lowest = math.floor(math.nextafter((low - slack) * unit, -math.inf))
    return highest - lowest
