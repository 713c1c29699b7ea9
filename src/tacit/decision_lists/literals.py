"""Candidates of a decision list: literals on public codes, and their conjunctions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Bools, Floats, Ints
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder
from tacit.models.decision_list import AT_LEAST, BELOW, IS, IS_NOT, Condition
from tacit.queries.covers.candidates import (
    MOST_RULES,
    MOST_STREAMED,
    Conjunctions,
    StreamedConjunctions,
    TooManyCandidates,
)

HALVINGS = 7
"""Further thresholds towards the lower bound and towards 0, each half as far away: for columns with a long tail."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Public candidates over coarsened columns."""

    # per column, the map from its codes to the codes that the literals look at; None where they are the same
    maps: tuple[Ints | None, ...]
    conditions: tuple[Condition, ...]  # per literal, what it says in terms of the original codes
    conjunctions: Conjunctions | StreamedConjunctions  # the candidates, over the coarsened codes

    def conditions_of(self, conjunction: int) -> tuple[Condition, ...]:
        """A conjunction as the model writes it."""
        return tuple(self.conditions[literal] for literal in self.conjunctions.literals_of(conjunction))


def nice_thresholds(lower: float, upper: float, most: int) -> list[float]:
    """At most ``most`` round numbers between two bounds, evenly spaced; halvings towards ``lower`` and towards 0."""
    span = upper - lower
    power = 10.0 ** math.floor(math.log10(span / (most + 1)))
    step = next(power * factor for factor in (1, 2, 5 / 2, 5, 10, 20, 25) if span / (power * factor) < most + 1)
    values = {round(i * step, 12) for i in range(math.floor(lower / step), math.ceil(upper / step) + 1)}
    for j in range(1, HALVINGS + 1):
        part = float(f"{step / 2**j:.1e}")
        values.add(lower + part)
        if lower < 0 < upper:
            values |= {part, -part}
    return sorted(value for value in values if lower < value < upper)


def threshold_codes(grid: NumericGrid, most: int) -> Ints:
    """Codes between which a numeric column is split: all cells of a coarse grid, round numbers on a fine one."""
    if grid.cells <= most + 1:
        return np.arange(1, grid.cells)
    if isinstance(grid.spacing, str) and grid.spacing == "linear":
        values = np.array(nice_thresholds(grid.lower, grid.upper, most))
        codes = grid.encode(values).astype(np.int64)
        return np.unique(codes[(codes > 0) & (codes < grid.cells)])
    return np.unique(np.round(np.linspace(0, grid.cells, most + 2))[1:-1].astype(np.int64))


def most_literals(encoder: Encoder | None, most: int) -> int:
    """The literals of a column, without making them; for a numeric column whose bounds are not known (None) a bound."""
    if encoder is None:
        return 2 * (most + 2 + 3 * HALVINGS) + 1
    if isinstance(encoder, NumericGrid):
        return 2 * len(threshold_codes(encoder, most)) + 1
    return 2 * (encoder.n_codes - len(_odd_codes(encoder))) + 1


def _odd_codes(encoder: Encoder) -> set[int]:
    """The codes that stand for no declared value."""
    return {encoder.missing, getattr(encoder, "other", encoder.missing)}


def single_codes(n_codes: int, holds: bool) -> list[Bools]:
    """Per code, a literal that holds for it alone (``holds``), or for all but it.

    They are windows of one vector: of 10,000 codes, written out, they would be 100 MB of flags.
    """
    flags = np.full(2 * n_codes - 1, not holds)
    flags[n_codes - 1] = holds
    return [flags[start : start + n_codes] for start in range(n_codes - 1, -1, -1)]


def column_literals(column: int, encoder: Encoder, most: int) -> tuple[Ints | None, list[Condition], list[Bools]]:
    """The map of a column to coarse codes (or None), its conditions, and for which coarse codes each holds.

    They are thresholds both ways, each declared category and its negation, and "is missing". "is not missing" and "is
    not other" hold for nearly every row: noise would take them for rules.
    """
    if not isinstance(encoder, NumericGrid):
        declared = [code for code in range(encoder.n_codes) if code not in _odd_codes(encoder)]
        conditions = [Condition(column, test, code) for code in declared for test in (IS, IS_NOT)]
        conditions.append(Condition(column, IS, encoder.missing))
        truths = {IS: single_codes(encoder.n_codes, True), IS_NOT: single_codes(encoder.n_codes, False)}
        return None, conditions, [truths[condition.test][condition.code] for condition in conditions]
    cuts = threshold_codes(encoder, most)
    mapping = np.append(np.searchsorted(cuts, np.arange(encoder.cells), side="right"), len(cuts) + 1)
    coarse = np.arange(len(cuts) + 2)
    conditions, flags = [], []
    for place, code in enumerate(cuts):
        conditions += [Condition(column, AT_LEAST, int(code)), Condition(column, BELOW, int(code))]
        flags += [(coarse > place) & (coarse <= len(cuts)), coarse <= place]
    conditions.append(Condition(column, IS, encoder.missing))
    flags.append(coarse == len(cuts) + 1)
    return mapping.astype(np.int64), conditions, flags


def candidates(encoders: Sequence[Encoder], k: int, most: int, n_labels: int, constant: bool) -> Candidates:
    """All conjunctions of at most ``k`` literals of the columns; streamed where they are too many to list.

    A numeric column has at most ``most`` evenly spaced thresholds; ``constant``: whether true is the first candidate.

    Raises:
        TooManyCandidates: if there are more than can be enumerated.
    """
    check_enumerable(sum(most_literals(encoder, most) for encoder in encoders), k, n_labels)
    columns = [column_literals(column, encoder, most) for column, encoder in enumerate(encoders)]
    conditions = [condition for _, listed, _ in columns for condition in listed]
    truths = tuple(truth for _, _, listed in columns for truth in listed)
    where = tuple(condition.feature for condition in conditions)
    streamed = StreamedConjunctions(where, truths, k, constant, n_labels)
    conjunctions = streamed.listed() if len(streamed) * n_labels <= MOST_RULES else streamed
    return Candidates(tuple(mapping for mapping, _, _ in columns), tuple(conditions), conjunctions)


def check_enumerable(n_literals: int, k: int, n_labels: int) -> None:
    """Raises :class:`TooManyCandidates` if the conjunctions of up to ``k`` literals are far too many to list.

    A slack of 4 allows for the sets that contradict or repeat themselves; the exact count is checked later.
    """
    rules = n_labels * sum(math.comb(n_literals, j) for j in range(1, k + 1))
    if rules > 4 * MOST_STREAMED:
        raise TooManyCandidates(
            f"{n_literals} literals make {rules:.3g} rules of up to {k} conditions, and at most {MOST_STREAMED} can be "
            "enumerated: lower k or thresholds, or use fewer columns or columns of fewer categories"
        )


def length_prior(conjunctions: Conjunctions | StreamedConjunctions, n_labels: int) -> Floats:
    """Nats per conjunction (streamed: per block of them): each length is as likely as another, and so are its rules.

    All rules together weigh as much as one candidate without a preference ("no rule"). Without it long conjunctions,
    being many, would win by noise, with conditions that say nothing.
    """
    counts = sizes_by_length(conjunctions)
    lengths = _lengths(conjunctions)
    n_lengths = np.count_nonzero(counts[1:])  # the constant, of length 0, has steps of its own
    counts[0] = 1.0 / n_labels / n_lengths
    prior: Floats = -np.log(n_lengths * n_labels * np.maximum(counts[lengths], counts[0]))
    return prior


def sizes_by_length(conjunctions: Conjunctions | StreamedConjunctions) -> Floats:
    """How many conjunctions there are of each number of literals, from 0 on."""
    if isinstance(conjunctions, Conjunctions):
        sizes: Floats = np.ones(len(conjunctions))
    else:
        sizes = np.array([conjunctions.size(block) for block in range(conjunctions.n_blocks)], np.float64)
    return np.asarray(np.bincount(_lengths(conjunctions), weights=sizes), np.float64)


def _lengths(conjunctions: Conjunctions | StreamedConjunctions) -> Ints:
    """Literals per conjunction (streamed: per block of them)."""
    if isinstance(conjunctions, Conjunctions):
        return np.asarray((conjunctions.members >= 0).sum(axis=1), np.int64)
    return np.array([conjunctions.length(block) for block in range(conjunctions.n_blocks)], np.int64)
