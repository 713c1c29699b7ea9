"""The threshold dimension: the longest staircase in a 0/1 matrix, by two searches that take turns.

Branch and bound builds a sequence from its first pair on. After ``(h_1, x_1)`` the rest must use hypotheses that are 0
on ``x_1`` and points on which ``h_1`` is 1: a state is a pair (hypotheses left, points left). For the first pair only
hypotheses with a maximal set of points left, and points with a minimal set of hypotheses left, matter: if another could
take its place, exchanging them leaves every state at least as large, and the other cannot occur later (it would have to
differ from it on the pair already there). That suits classes with a structure. Those without any are searched from the
middle (:mod:`tacit.theory.closure.block_search`).
"""

from __future__ import annotations

import numpy as np

from tacit.arrays import Bytes
from tacit.theory.closure.block_search import BlockSearch
from tacit.theory.closure.limit import Limit, bit_positions, bits_of

MOST_WORK = 3 * 10**10  # not tuned: multiplications to find which sets are intersections of others; some seconds
MOST_STEPS = 1_000_000  # not tuned: intersections to look at, about as many as in a second

BLOCK = 512


def staircase_bound(table: Bytes, enough: int, limit: Limit) -> int:
    """The least of the bounds by rows and by columns, on ones and on zeros, of a 0/1 ``(hypotheses, points)`` matrix.

    A bound as low as ``enough`` is not improved.
    """
    bound = int(min(table.shape))
    for side in (table, table.T):
        for ones in (1, 0):  # h_2 .. h_k are 0 on x_1, each on one point more: a chain of one set fewer
            if bound > enough:
                length = longest_chain(side if ones else 1 - side, limit)
                bound = bound if length is None else min(bound, length + 1 - ones)
    return bound


def longest_chain(table: Bytes, limit: Limit) -> int | None:
    """The most non-empty intersections of rows, each strictly within the one before; None if there are too many."""
    rows = np.unique(table, axis=0)
    generators = [bits_of(row) for row in irreducible(rows)] if rows.size * len(rows) <= MOST_WORK else []
    if not 0 < len(generators) ** 2 <= MOST_STEPS // 8:  # nothing there, or too many to find more than the first few
        return None
    everything = (1 << table.shape[1]) - 1
    sets, steps = {everything}, 0
    fresh = [everything]
    while fresh:
        steps += len(fresh) * len(generators)
        if steps > MOST_STEPS or limit.reached(0):
            return None
        joint = {one & other for one in fresh for other in generators} - sets
        joint.discard(0)
        sets |= joint
        fresh = list(joint)
    below: dict[int, int] = {}
    for one in sorted(sets, key=int.bit_count):
        smaller = {one & other for other in generators}
        below[one] = max((1 + below[other] for other in smaller if other not in (one, 0)), default=0)
    return below[everything] + int(rows.all(axis=1).any())


def irreducible(rows: Bytes) -> Bytes:
    """The distinct rows that are no intersection of others; shape ``(kept, points)``."""
    members = rows.astype(np.float32)
    kept_rows = np.zeros(len(rows), bool)
    for start in range(0, len(rows), BLOCK):
        part = members[start : start + BLOCK]
        above = (part @ (1 - members.T) == 0).astype(np.float32)  # rows that hold all that a row of the part holds
        above[np.arange(len(part)), np.arange(start, start + len(part))] = 0
        common = above @ (1 - members) == 0  # points that all of them hold
        kept_rows[start : start + BLOCK] = (common & (part == 0)).any(axis=1)
    return rows[kept_rows]


Pair = tuple[int, int]

NODES_BETWEEN = 4  # not tuned: nodes between two reports of progress
FIRST_TURN = 16  # not tuned: nodes of the first turn; turns double
SETS = 1000  # not tuned: sets of points that the search from the middle visits in the time of about a node


class ThresholdSearch:
    """One class of distinct hypotheses; the longest sequence found (``best``), as pairs (hypothesis, point).

    Its ``work`` counts the nodes visited, of either search.
    """

    def __init__(self, table: Bytes, limit: Limit) -> None:
        self.table = table
        self.rows = [bits_of(row) for row in table]
        self.columns = [bits_of(column) for column in table.T]
        self.limit = limit
        self.work = 0
        self.best: list[Pair] = []
        self._most = len(self.rows)
        self._turn = 0  # nodes at which a turn ends
        self._upper: dict[Pair, int] = {}

    def run(self) -> int:
        """Searches, fills :attr:`best` and returns the upper bound that is proved."""
        state = ((1 << len(self.rows)) - 1, (1 << len(self.columns)) - 1)
        self.best = self._greedy(state)
        upper = min(self._bound(*state), rank_mod_two(self.rows))
        if len(self.best) < upper:
            upper = min(upper, staircase_bound(self.table, len(self.best), self.limit))
        self._most = upper
        while len(self.best) < upper:
            self.limit.tell(len(self.best), upper, self.work)
            sequence = self._decide(state, len(self.best) + 1)
            if sequence is not None:
                self.best = sequence
            elif self.limit.reached(self.work):
                return upper
            else:
                return len(self.best)
        return len(self.best)

    def _blocks(self, length: int) -> BlockSearch:
        """The search from the middle, by points or, if they are fewer, by hypotheses."""
        tall = len(self.rows) >= len(self.columns)
        return BlockSearch(self.table if tall else np.ascontiguousarray(self.table.T), length, self.limit)

    def _from_the_middle(self, blocks: BlockSearch) -> list[Pair] | None:
        """Goes on with it for about a node's time: a sequence or None."""
        sequence, visited = blocks.go_on(SETS)
        self.work += -(-visited // SETS)
        self.limit.tell(len(self.best), self._most, self.work)
        if sequence is None or len(self.rows) >= len(self.columns):
            return sequence
        return [(h, x) for x, h in reversed(sequence)]  # of the transposed class the last point is the first hypothesis

    def _decide(self, state: Pair, length: int) -> list[Pair] | None:
        """A sequence of this length, or None; None as well when the limit is reached."""
        blocks, turn = self._blocks(length), FIRST_TURN
        while not self.limit.reached(self.work):
            for _ in range(turn):
                if self.limit.reached(self.work):
                    return None
                sequence = self._from_the_middle(blocks)
                if sequence is not None or blocks.finished:
                    return sequence
            self._turn = self.work + turn
            sequence = self._at_least(state, length)
            if sequence is not None or not self._over():
                return sequence
            turn *= 2
        return None

    def _over(self) -> bool:
        return self.limit.reached(self.work) or self.work > self._turn

    def _candidates(self, hypotheses: int, points: int) -> dict[int, tuple[int, int]]:
        """Hypotheses with a maximal, non-empty set of points left: set -> (its size, one hypothesis)."""
        sets: dict[int, int] = {}
        for h in bit_positions(hypotheses):
            have = self.rows[h] & points
            if have:
                sets.setdefault(have, h)
        ordered = sorted(sets, key=lambda s: (-s.bit_count(), s))
        maximal: list[int] = []
        for s in ordered:
            if not any(s & big == s for big in maximal):
                maximal.append(s)
        return {s: (s.bit_count(), sets[s]) for s in maximal}

    def _pivots(self, hypotheses: int, points: int) -> list[tuple[int, int]]:
        """Points with a minimal set of hypotheses left: (that set, one point), smallest first."""
        sets: dict[int, int] = {}
        for x in bit_positions(points):
            sets.setdefault(self.columns[x] & hypotheses, x)
        minimal: list[int] = []
        for s in sorted(sets, key=lambda s: (s.bit_count(), s)):
            if not any(s & small == small for small in minimal):
                minimal.append(s)
        return [(s, sets[s]) for s in minimal]

    def _bound(self, hypotheses: int, points: int) -> int:
        """An upper bound from counting: distinct rows and columns, and their sizes in order.

        In a staircase of length k the i-th hypothesis has at least ``k - i + 1`` of the points, and these sets differ;
        the j-th point has at least j of the hypotheses.
        """
        cached = self._upper.get((hypotheses, points))
        if cached is not None:
            return cached
        rows = {self.rows[h] & points for h in bit_positions(hypotheses)} - {0}
        columns = {self.columns[x] & hypotheses for x in bit_positions(points)} - {0}
        bound = min(_staircase([r.bit_count() for r in rows]), _staircase([c.bit_count() for c in columns]))
        self._upper[hypotheses, points] = bound
        return bound

    def _greedy(self, state: Pair) -> list[Pair]:
        """A sequence that always takes the hypothesis with most points and the point that costs fewest hypotheses."""
        hypotheses, points = state
        sequence: list[Pair] = []
        while True:
            candidates = self._candidates(hypotheses, points)
            if not candidates:
                return sequence
            have, (_, h) = next(iter(candidates.items()))
            lost, x = self._pivots(hypotheses, have)[0]
            sequence.append((h, x))
            hypotheses, points = hypotheses & ~lost, have

    def _at_least(self, state: Pair, length: int) -> list[Pair] | None:
        """A sequence of at least this length, or None; None as well when it is :meth:`_over`."""
        hypotheses, points = state
        if length <= 0:
            return []
        if self._bound(hypotheses, points) < length:
            return None
        self.work += 1
        if self.work % NODES_BETWEEN == 0:
            self.limit.tell(len(self.best), self._most, self.work)
        if self._over():
            return None
        for have, (size, h) in self._candidates(hypotheses, points).items():
            if size < length:
                break
            for lost, x in self._pivots(hypotheses, have):
                rest = self._at_least((hypotheses & ~lost, have), length - 1)
                if rest is not None:
                    return [(h, x), *rest]
                if self._over():
                    return None
        self._upper[state] = length - 1
        return None


def rank_mod_two(rows: list[int]) -> int:
    """Rank over the field of two elements. A staircase is a regular matrix, so none is longer than this."""
    basis: dict[int, int] = {}
    for row in rows:
        rest = row
        while rest and rest.bit_length() in basis:
            rest ^= basis[rest.bit_length()]
        if rest:
            basis[rest.bit_length()] = rest
    return len(basis)


def _staircase(sizes: list[int]) -> int:
    """The largest k such that the i-th largest of the sizes is at least ``k - i + 1`` for all i up to k."""
    sizes = sorted(sizes, reverse=True)
    k = min(len(sizes), sizes[0] if sizes else 0)
    while k and any(sizes[i] < k - i for i in range(k)):
        k -= 1
    return k
