"""Candidates of a cover: public predicates on rows, listed or made block by block."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from tacit.queries.cells import Cells

BoolArray = npt.NDArray[np.bool_]
Members = npt.NDArray[np.int32]

MOST_RULES = (1 << 22) - 1
"""Pairs of a conjunction and a class that are listed at once (``noise.exponential``); one place is for "no rule"."""

MOST_STREAMED = 1 << 27
"""Pairs of a conjunction and a class that are streamed: beyond, a single choice takes many minutes."""


class TooManyCandidates(ValueError):  # noqa: N818 - a public fact, and not a fault
    """There are more candidates than can be enumerated. Nothing was spent."""


@dataclass(frozen=True, eq=False)
class Conjunctions:
    """Public predicates on rows: conjunctions of literals, a literal being any public predicate on a few columns.

    Attributes:
        columns: per literal, the column it looks at, or several.
        truths: per literal, for which codes it holds: a boolean array with an axis per column, one entry per code.
        members: int32, shape ``(n, width)``: per conjunction the literals in it, filled up with -1. A line of -1 is the
            constant true.
    """

    columns: tuple[int | tuple[int, ...], ...]
    truths: tuple[BoolArray, ...]
    members: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        check_literals(self.columns, self.truths)
        members = self.members
        if members.ndim != 2 or members.dtype != np.int32 or members.shape[1] < 1:
            raise ValueError(f"members must be int32 of shape (n, width), got {members.dtype} of shape {members.shape}")
        if members.size and (members.min() < -1 or members.max() >= len(self.columns)):
            raise ValueError(f"members must be literals 0..{len(self.columns) - 1}, or -1")

    def __len__(self) -> int:
        return len(self.members)

    def take(self, chosen: Sequence[int]) -> Conjunctions:
        """Some of the conjunctions, in that order."""
        return Conjunctions(self.columns, self.truths, self.members[list(chosen)])

    def literals_of(self, conjunction: int) -> list[int]:
        """The literals of a conjunction."""
        return [int(literal) for literal in self.members[conjunction] if literal >= 0]

    @cached_property
    def constant(self) -> npt.NDArray[np.int64]:
        """The conjunctions that always hold."""
        return np.flatnonzero((self.members < 0).all(axis=1))


def check_literals(columns: Sequence[int | tuple[int, ...]], truths: Sequence[BoolArray]) -> None:
    """Raises ValueError if the literals do not fit together."""
    if len(columns) != len(truths):
        raise ValueError(f"{len(columns)} columns for {len(truths)} literals")
    for where, truth in zip(columns, truths, strict=True):
        axes = len(where) if isinstance(where, tuple) else 1
        if truth.dtype != np.bool_ or truth.ndim != axes:
            raise ValueError(f"a literal on {axes} columns needs a boolean array with as many axes, got {truth.shape}")


@dataclass(frozen=True, eq=False)
class StreamedConjunctions:
    """All conjunctions of at most ``k`` literals that neither contradict nor repeat each other, made when needed.

    A block holds those of one length that begin with the same literal; blocks of long ones come first, after the
    constant. Positions number the candidates through all blocks. What is kept is a number per block.

    Attributes:
        columns, truths: the literals, as in :class:`Conjunctions`.
        k: the most literals in a conjunction.
        constant_first: whether the constant true is a candidate.
        n_labels: classes a rule can say: decides what is too much.
    """

    columns: tuple[int | tuple[int, ...], ...]
    truths: tuple[BoolArray, ...]
    k: int
    constant_first: bool
    n_labels: int

    def __post_init__(self) -> None:
        check_literals(self.columns, self.truths)
        len(self)
        if max(self._sizes, default=0) * self.n_labels > MOST_RULES:
            raise TooManyCandidates(
                f"{max(self._sizes):,} conjunctions begin with one literal, and blocks of them may hold "
                f"{MOST_RULES // self.n_labels:,}: take shorter conjunctions. Nothing was spent"
            )

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return len(self._keys)

    @cached_property
    def _together(self) -> BoolArray:
        return compatible(self.columns, self.truths)

    @cached_property
    def _keys(self) -> list[tuple[int, int]]:
        """Length and first literal of every block; the constant's is (0, 0)."""
        lengths = range(self.k, 0, -1)
        keys = [(length, first) for length in lengths for first in range(len(self.columns))]
        return [(0, 0)] * self.constant_first + keys

    @cached_property
    def _sizes(self) -> list[int]:
        sizes: list[int] = []
        total = 0
        for length, first in self._keys:
            sizes.append(1 if length == 0 else count_with(self._together, first, length))
            total += sizes[-1]
            if total * self.n_labels > MOST_STREAMED:  # as soon as that is clear: counting on could take for ever
                raise TooManyCandidates(
                    f"there are more than {MOST_STREAMED:,} rules, conjunctions times {self.n_labels} classes: take "
                    "shorter conjunctions, fewer thresholds or fewer columns. Nothing was spent"
                )
        return sizes

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(self._sizes))

    def start(self, block: int) -> int:
        """The position of a block's first candidate."""
        return self._ends[block] - self._sizes[block]

    def size(self, block: int) -> int:
        """How many candidates a block holds."""
        return self._sizes[block]

    def length(self, block: int) -> int:
        """Literals in each conjunction of a block."""
        return self._keys[block][0]

    def members(self, block: int) -> Members:
        """The conjunctions of a block, int32 of shape ``(size, k)``, filled up with -1."""
        length, first = self._keys[block]
        if length == 0:
            return np.full((1, self.k), -1, np.int32)
        found = extensions(self._together, np.array([[first]], np.int32), length)
        return np.pad(found, ((0, 0), (0, self.k - length)), constant_values=-1)

    def literals_of(self, conjunction: int) -> list[int]:
        """The literals of the conjunction at a position."""
        block = bisect_right(self._ends, conjunction)
        return [int(i) for i in self.members(block)[conjunction - self.start(block)] if i >= 0]

    def take(self, chosen: Sequence[int]) -> Conjunctions:
        """Some of the conjunctions, in that order, listed."""
        members = np.full((len(chosen), self.k), -1, np.int32)
        for line, conjunction in enumerate(chosen):
            literals = self.literals_of(conjunction)
            members[line, : len(literals)] = literals
        return Conjunctions(self.columns, self.truths, members)

    @property
    def constant(self) -> npt.NDArray[np.int64]:
        """The positions of conjunctions that always hold."""
        return np.zeros(int(self.constant_first), np.int64)


def compatible(columns: Sequence[int | tuple[int, ...]], truths: Sequence[BoolArray]) -> BoolArray:
    """Which pairs ``i < j`` of literals neither contradict nor repeat each other; literals on the same columns may."""
    n = len(columns)
    together = np.ones((n, n), np.bool_)
    for i in range(n):
        for j in range(i + 1, n):
            if columns[i] == columns[j]:
                both = truths[i] & truths[j]
                together[i, j] = bool(both.any()) and not (
                    np.array_equal(both, truths[i]) or np.array_equal(both, truths[j])
                )
    together &= np.arange(n)[None, :] > np.arange(n)[:, None]  # each set once, in order
    return together


def extensions(together: BoolArray, level: Members, length: int) -> Members:
    """All sets of ``length`` literals that begin with the given ones, in order; pairs must be compatible."""
    while level.shape[1] < length:
        free = np.logical_and.reduce([together[level[:, place]] for place in range(level.shape[1])])
        line, literal = np.nonzero(free)
        level = np.column_stack([level[line], literal.astype(np.int32)])
    return level


def count_with(together: BoolArray, first: int, length: int) -> int:
    """How many sets :func:`extensions` makes from one literal, without making the last literal of each."""
    if length == 1:
        return 1
    level = extensions(together, np.array([[first]], np.int32), length - 1)
    free = np.logical_and.reduce([together[level[:, place]] for place in range(level.shape[1])])
    return int(np.count_nonzero(free))


@dataclass(frozen=True, eq=False)
class FirstMatch(Cells):
    """Every row in the cell of the first conjunction that holds for it; in the last cell if none does."""

    conjunctions: Conjunctions

    @property
    def size(self) -> int:
        return len(self.conjunctions) + 1
