"""Thresholds on columns of floats as they are: no grid, no bounds, ``2**64`` places for a cut.

The candidates are public: all floats below ``2**960`` in size as cuts, in either direction, and some round ones many
times, so that few rows are enough for those. Their scores are those of any other class (equation 17), and piecewise
constant: between two values of the column every cut errs alike. So the exponential mechanism over all of them is drawn
by runs (:mod:`tacit.noise.exponential`). Proofs, and what it may err: docs/theory/raw_thresholds.md.

Between two values of its column a cut errs alike, so m distinct values leave ``m + 1`` places. The first cut sweeps
over its column and moves one value at a time to its other side. A tree over the values of the last column holds, for
every stretch of them, the sum of what it costs that a row lies on the last concept's side, and the least such sum
over the stretch's beginnings and over its ends: its root knows the best last cut of either direction after each move.
A cut in between is tried at all its places. So k classes of n rows take ``n^(k-1) log n`` steps, not ``n^k``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numba as nb
import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Ints
from tacit.closure.classes import BoundClass, ConceptClass, ConceptError, Direction, Encoders, OfOneColumn
from tacit.closure.search import error_table
from tacit.curator.views.relabel import Points
from tacit.encoding.grid import NumericGrid
from tacit.encoding.order import CUTS, LARGEST_CUT, MISSING, REACH, FloatOrder, float_of, keys_of
from tacit.encoding.table import Encoder
from tacit.learning.learner import Task
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.schema import NumericColumn
from tacit.schema.cell_format import PLAIN_CELLS
from tacit.theory.closure.formula import TruthTable

RISING, FALLING = 1, 2  # directions, as bits: `x >= cut` and `x < cut`
FAR = np.int64(1 << 62)  # more errors than there are rows


SUM, BEGIN, END = 0, 1, 2
"""Of a stretch: the sum, and the least sum over its beginnings and over its ends, of which one is empty."""


@nb.njit(nogil=True, cache=True)
def _join(tree: Ints, node: int) -> None:
    left, right = 2 * node, 2 * node + 1
    tree[node, SUM] = tree[left, SUM] + tree[right, SUM]
    tree[node, BEGIN] = min(tree[left, BEGIN], tree[left, SUM] + tree[right, BEGIN])
    tree[node, END] = min(tree[right, END], tree[right, SUM] + tree[left, END])


@nb.njit(nogil=True, cache=True)
def _plant(tree: Ints, size: int) -> None:
    """Fills a tree of which the leaves' sums are there."""
    for node in range(size, 2 * size):
        tree[node, BEGIN] = tree[node, END] = min(tree[node, SUM], 0)
    for node in range(size - 1, 0, -1):
        _join(tree, node)


@nb.njit(nogil=True, cache=True)
def _add(tree: Ints, node: int, change: int) -> None:
    tree[node, SUM] += change
    tree[node, BEGIN] = tree[node, END] = min(tree[node, SUM], 0)
    node //= 2
    while node > 0:
        _join(tree, node)
        node //= 2


@nb.njit(nogil=True, cache=True)
def _sweep(
    costs: Ints, order: Ints, starts: Ints, last: Ints, last_kinds: int, tree: Ints, falling: bool, best: Ints
) -> None:
    """One direction of the first cut; keeps the least errors of each of its places, from below on, in ``best``.

    ``costs`` are errors of every point, shape ``(points, 4)``, index ``first bit + 2 last bit``; ``order`` the points
    by the rank of their first value, without those that have none, and ``starts`` where each rank begins; ``last`` the
    rank of every point's last value, -1 for none; ``last_kinds`` the directions of the last cut; ``tree`` is room,
    shape ``(2 size, 3)``.
    """
    size = len(tree) // 2
    tree[:] = 0
    total = 0
    for point in range(len(costs)):
        total += costs[point, 0]
        if last[point] >= 0:
            tree[size + last[point], SUM] += costs[point, 2] - costs[point, 0]
    _plant(tree, size)
    ranks = len(starts) - 1
    for step in range(ranks + 1):
        if step > 0:
            rank = step - 1 if falling else ranks - step
            for at in range(starts[rank], starts[rank + 1]):
                point = order[at]
                total += costs[point, 1] - costs[point, 0]
                change = (costs[point, 3] - costs[point, 1]) - (costs[point, 2] - costs[point, 0])
                if last[point] >= 0 and change != 0:
                    _add(tree, size + last[point], change)
        least = FAR
        if last_kinds & RISING:
            least = min(least, total + tree[1, END])
        if last_kinds & FALLING:
            least = min(least, total + tree[1, BEGIN])
        place = step if falling else ranks - step
        best[place] = min(best[place], least)


@nb.njit(nogil=True, cache=True)
def sweep(table: Ints, ranks: Ints, orders: Ints, starts: Ints, kinds: Ints, size: int, best: Ints) -> None:
    """The fewest errors over all later cuts, for every place and direction of the first, shape ``(2, places)``.

    ``table`` has errors of every point, shape ``(points, 8)``, index ``first + 2 middle + 4 last`` bit; ``ranks``,
    ``orders`` and ``starts`` are of :func:`ordered_column`, by column (one that is not there has no values); ``kinds``
    the directions of the cuts; ``size`` a power of two, at least the distinct values of the last column.
    """
    n = len(table)
    costs = np.empty((n, 4), np.int64)
    tree = np.empty((2 * size, 3), np.int64)
    first = starts[0, : best.shape[1]]
    middle = ranks[1].max() + 1 if n > 0 else 0
    best[:] = FAR
    for falling in range(2):
        if not kinds[1] & (FALLING if falling else RISING):
            continue
        for point in range(n):
            for bit in range(4):
                costs[point, bit] = table[point, (bit & 1) + 4 * (bit >> 1)]
        for step in range(middle + 1):
            if step > 0:
                rank = step - 1 if falling else middle - step
                for at in range(starts[1, rank], starts[1, rank + 1]):
                    point = orders[1, at]
                    for bit in range(4):
                        costs[point, bit] = table[point, (bit & 1) + 2 + 4 * (bit >> 1)]
            if kinds[0] & RISING:
                _sweep(costs, orders[0], first, ranks[2], kinds[2], tree, False, best[0])
            if kinds[0] & FALLING:
                _sweep(costs, orders[0], first, ranks[2], kinds[2], tree, True, best[1])


RAW_THEOREM = "errors of the best completion, every float a cut: a row adds an error or none"

KINDS = {"rising": RISING, "falling": FALLING, "both": RISING | FALLING}

BITS_OF_ROUND, SMALLEST_POWER, LARGEST_POWER = 4, -20, 40

ROUND_CUTS: tuple[float, ...] = tuple(
    sorted(
        {0.0}
        | {
            sign * (1 + part / (1 << BITS_OF_ROUND)) * 2.0**power
            for sign in (-1, 1)
            for part in range(1 << BITS_OF_ROUND)
            for power in range(SMALLEST_POWER, LARGEST_POWER + 1)
        }
    )
)
"""0, and floats of four bits after the leading one, from a millionth to a trillion: half of all chances are theirs."""

COPIES = CUTS // len(ROUND_CUTS)  # how often each of them is a candidate beside the floats, which are candidates once
MOST_RAW = 3  # classes at most: with k of them the search for completions takes `n**(k-1) log n` steps


@dataclass(frozen=True)
class RawThresholds(OfOneColumn):
    """``column >= t``, ``column < t``, or both, for any float t: no bins, no bounds. VC dimension 1, or 2 for both.

    For :class:`~tacit.closure.FiniteClassClassifier`, and for up to three concepts of a
    :class:`~tacit.closure.ComposedClassifier`, all of this kind.

    Attributes:
        column: a numeric column; of what a schema declares of it only the kind counts. NaN and infinities are labelled
            0 by every concept.
        direction: ``"rising"``, ``"falling"`` or ``"both"``.

    Example:
        >>> import numpy as np
        >>> from tacit.closure import FiniteClassClassifier, RawThresholds
        >>> X = {"dose": np.linspace(-4, 4, 4000)}
        >>> model = FiniteClassClassifier(RawThresholds("dose", "rising"), classes=(0, 1)).fit(X, X["dose"] >= 0.5)
        >>> print(model.score(X, X["dose"] >= 0.5) > 0.97)
        True
    """

    direction: Direction = "both"

    def bind(self, encoders: Encoders) -> BoundClass:
        del encoders
        raise ConceptError(
            f"RawThresholds({self.column!r}) has no cells: use it alone, or with others of its kind, or Thresholds"
        )


@dataclass(frozen=True, eq=False)
class RawSet:
    """A class of raw thresholds as the learners use it, among the raw columns that a learner looks at."""

    declared: RawThresholds
    encoding: FloatOrder

    @property
    def kinds(self) -> int:
        """Directions, as bits."""
        return KINDS[self.declared.direction]

    @property
    def position(self) -> int:
        """Where its column stands among the encoded ones."""
        return self.encoding.names.index(self.declared.column)

    def concept(self, number: int) -> tuple[tuple[str, ...], tuple[Encoder, ...], Bools, str]:
        """The candidate of a number: its column, a grid with its cut, the cells it holds, and its words."""
        floats = CUTS * (2 if self.kinds == RISING | FALLING else 1)
        second, cut = int(number >= CUTS), float_of(number % CUTS - LARGEST_CUT)
        if number >= floats:
            second, place = divmod((number - floats) // COPIES, len(ROUND_CUTS))
            cut = ROUND_CUTS[place]
        falling = self.kinds == FALLING or bool(second)
        text = f"{self.declared.column} {'<' if falling else '>='} {cut!r}"
        grid = NumericGrid(-REACH, REACH, spacing=(cut,))
        return (self.declared.column,), (grid,), np.array([falling, not falling, False]), text


def raw_sets(concepts: Sequence[ConceptClass]) -> list[RawSet]:
    """Raw thresholds over one order of all their columns; none if no class is raw; refuses some, or too many."""
    raw = [concept for concept in concepts if isinstance(concept, RawThresholds)]
    if raw and len(raw) < len(concepts):
        raise ConceptError("raw thresholds go together with raw thresholds only")
    if len(raw) > MOST_RAW:
        raise ConceptError(
            f"at most {MOST_RAW} raw thresholds can be composed, got {len(raw)}: use Thresholds for more"
        )
    for concept in raw:
        if concept.direction not in KINDS:
            raise ConceptError(f"a direction is 'rising', 'falling' or 'both', got {concept.direction!r}")
    order = FloatOrder(tuple(dict.fromkeys(concept.column for concept in raw)))
    return [RawSet(concept, order) for concept in raw]


def check_raw(sets: Sequence[RawSet], task: Task, neighbouring: Neighbouring) -> None:
    """Refuses tasks that raw thresholds cannot learn: by their columns, or for units of several rows."""
    for column in sets[0].encoding.names:
        if column not in task.names:
            raise ConceptError(f"a concept class needs column '{column}', which is not among the features")
        declared = None if task.schema is None else task.schema.columns[column]
        if declared is not None and not isinstance(declared, NumericColumn):
            raise ConceptError(f"a raw threshold cuts a numeric column, and '{column}' is {declared.kind}")
        if declared is not None and declared.cell_format != PLAIN_CELLS:
            raise ConceptError(
                f"a raw threshold cuts numbers as they are, and '{column}' declares symbol, thousands or missing_values"
            )
    check_single_rows(task, neighbouring)


def check_single_rows(task: Task, neighbouring: Neighbouring) -> None:
    """Raises :class:`RequestError` for units of which choices inside the curator know nothing."""
    unit = task.unit
    if unit is not None and unit.max_rows > 1:
        raise RequestError("closure learners protect single rows: a unit with max_rows above 1 is not supported")
    if unit is not None and neighbouring.n_is_public:
        raise RequestError(
            "neighbouring='replace_one' is about a public number of rows, and of a unit only some rows count: use "
            "'add_or_remove_one', or leave the unit out of the schema"
        )


@dataclass(frozen=True, eq=False)
class RawScored:
    """Runs of cuts with their scores: rising ones first, from the lowest cut to the highest in either direction.

    Each run holds ``lengths`` cuts, below rank ``places``; ``ranks`` of the points are -1 where there is no value.
    """

    scores: Ints
    lengths: npt.NDArray[np.uint64]
    ranks: Ints
    places: Ints
    falling: Bools

    def run_of(self, number: int) -> int:
        """The run that holds a candidate."""
        run, before = 0, 0
        while number >= before + int(self.lengths[run]):
            before += int(self.lengths[run])
            run += 1
        return run

    def labels(self, index: int) -> Bools:
        """What a candidate says of the points."""
        run = self.run_of(index)
        above = self.ranks >= self.places[run]
        side: Bools = ~above if self.falling[run] else above
        return side & (self.ranks >= 0)


def raw_completions_on(function: TruthTable, sets: Sequence[RawSet], public: bool) -> Callable[[Points], RawScored]:
    """Cuts of the first set scored by equation (17), as a view makes them from its points."""

    def candidates(points: Points) -> RawScored:
        return raw_completions(function, sets, public, points)

    return candidates


def raw_completions(function: TruthTable, sets: Sequence[RawSet], public: bool, points: Points) -> RawScored:
    """The first set's cuts, each with the fewest errors over all cuts of the others (one to three sets in all).

    The function is one of the earlier models' bits, then the sets'. If ``public``, all floats are candidates; otherwise
    the distinct patterns on the points, one each.
    """
    n = len(points.codes)
    columns = [points.codes[:, one.position] for one in sets]
    nothing = np.full(n, MISSING, np.int64)
    first, *later = columns
    ordered = [ordered_column(column) for column in (first, later[0] if len(later) == 2 else nothing)]
    ordered.append(ordered_column(later[-1] if later else nothing))
    kinds = [sets[0].kinds, sets[1].kinds if len(later) == 2 else RISING, sets[-1].kinds if later else RISING]
    table = _of_three_bits(error_table(function, points.said, points.counts), len(later))
    values = np.unique(first[first != MISSING])
    size = 1 << int(ordered[2][0].max(initial=0)).bit_length()
    best = np.empty((2, len(values) + 1), np.int64)
    ranks, orders, starts = (np.stack(parts) for parts in zip(*ordered, strict=True))
    sweep(table, ranks, orders, starts, np.array(kinds), size, best)
    return _runs(best, values, ranks[0], sets[0].kinds, public)


def ordered_column(keys: Ints) -> tuple[Ints, Ints, Ints]:
    """Of a column of keys the rank of each point, -1 for none; points by rank; and where each rank begins."""
    n = len(keys)
    present = keys != MISSING
    ranks = np.full(n, -1, np.int64)
    values, ranks[present] = np.unique(keys[present], return_inverse=True)
    order = np.argsort(np.where(present, ranks, n), kind="stable").astype(np.int64)
    starts = np.full(n + 1, present.sum(), np.int64)
    starts[: len(values)] = np.searchsorted(ranks[order[: present.sum()]], np.arange(len(values)))
    return ranks, order, starts


def _of_three_bits(table: Ints, later: int) -> Ints:
    """Errors by the bits of the first, middle and last cut; those that are not there change nothing."""
    bits = np.arange(8)
    own, middle, last = bits & 1, (bits >> 1) & 1, bits >> 2
    index = (own, own + 2 * last, own + 2 * middle + 4 * last)[later]
    return np.ascontiguousarray(table[:, index])


def _runs(best: Ints, values: Ints, ranks: Ints, kinds: int, public: bool) -> RawScored:
    """Runs of the directions asked for, then the round cuts; of patterns those of nothing and everything only once."""
    m = len(values)
    ends = np.concatenate([[-LARGEST_CUT - 1], np.minimum(values, LARGEST_CUT), [LARGEST_CUT]])
    lengths = (ends[1:].astype(np.uint64) - ends[:-1].astype(np.uint64)).astype(np.uint64)
    places = [np.arange(m + 1), np.arange(m + 1)]
    if not public and kinds == RISING | FALLING:
        places[1] = places[1][1:m]
    parts = [direction for direction, kind in enumerate((RISING, FALLING)) if kinds & kind]
    sizes = [lengths[places[d]] if public else np.ones(len(places[d]), np.uint64) for d in parts]
    where, falling = [places[d] for d in parts], [np.full(len(places[d]), d == 1) for d in parts]
    if public:  # a cut parts the values below it from the others
        where += [np.searchsorted(values, keys_of(np.array(ROUND_CUTS)))] * len(parts)
        falling += [np.full(len(ROUND_CUTS), d == 1) for d in parts]
        sizes += [np.full(len(ROUND_CUTS), COPIES, np.uint64)] * len(parts)
    place, is_falling = np.concatenate(where), np.concatenate(falling)
    return RawScored(best[is_falling.astype(np.int64), place], np.concatenate(sizes), ranks, place, is_falling)
