"""Branch and bound for the threshold dimension: the longest staircase in a 0/1 matrix.

A sequence is built from its first pair on. After ``(h_1, x_1)`` the rest must use hypotheses that are 0 on ``x_1``
and points on which ``h_1`` is 1: a state is a pair (hypotheses left, points left). For the first pair only hypotheses
with a maximal set of points left, and points with a minimal set of hypotheses left, matter: if another could take its
place, exchanging them leaves every state at least as large, and the other cannot occur later (it would have to differ
from it on the pair already there).
"""

from __future__ import annotations

from tacit.theory.closure.limit import Limit

Pair = tuple[int, int]

NODES_BETWEEN = 256
"""Not tuned: nodes between two reports of progress."""


class ThresholdSearch:
    """One class, given as the bit sets of its rows (over points) and columns (over hypotheses).

    Attributes:
        best: the longest sequence found, as pairs (hypothesis, point).
        work: nodes visited.
    """

    def __init__(self, rows: list[int], columns: list[int], limit: Limit) -> None:
        self.rows = rows
        self.columns = columns
        self.limit = limit
        self.work = 0
        self.best: list[Pair] = []
        self._most = len(rows)
        self._upper: dict[Pair, int] = {}

    def run(self) -> int:
        """Searches, fills :attr:`best` and returns the upper bound that is proved."""
        state = ((1 << len(self.rows)) - 1, (1 << len(self.columns)) - 1)
        self.best = self._greedy(state)
        upper = self._most = min(self._bound(*state), rank_mod_two(self.rows))
        while len(self.best) < upper:
            self.limit.tell(len(self.best), upper, self.work)
            found = self._at_least(state, len(self.best) + 1)
            if self.limit.reached(self.work):
                return upper
            if found is None:
                return len(self.best)
            self.best = found
        return len(self.best)

    def _candidates(self, hypotheses: int, points: int) -> dict[int, tuple[int, int]]:
        """Hypotheses with a maximal, non-empty set of points left: set -> (its size, one hypothesis)."""
        sets: dict[int, int] = {}
        rest = hypotheses
        while rest:
            low = rest & -rest
            rest ^= low
            h = low.bit_length() - 1
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
        rest = points
        while rest:
            low = rest & -rest
            rest ^= low
            x = low.bit_length() - 1
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
        known = self._upper.get((hypotheses, points))
        if known is not None:
            return known
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
        """A sequence of at least this length, or None; None as well when the work runs out (see ``work``)."""
        hypotheses, points = state
        if length <= 0:
            return []
        if self._bound(hypotheses, points) < length:
            return None
        self.work += 1
        if self.work % NODES_BETWEEN == 0:
            self.limit.tell(len(self.best), self._most, self.work)
        if self.limit.reached(self.work):
            return None
        for have, (size, h) in self._candidates(hypotheses, points).items():
            if size < length:
                break
            for lost, x in self._pivots(hypotheses, have):
                rest = self._at_least((hypotheses & ~lost, have), length - 1)
                if rest is not None:
                    return [(h, x), *rest]
                if self.limit.reached(self.work):
                    return None
        self._upper[state] = length - 1
        return None


def bit_positions(subset: int) -> list[int]:
    """Positions of the ones of an integer, ascending."""
    positions = []
    while subset:
        low = subset & -subset
        positions.append(low.bit_length() - 1)
        subset ^= low
    return positions


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
