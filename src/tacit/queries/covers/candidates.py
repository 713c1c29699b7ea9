"""Candidates of a cover: public predicates on rows, listed or made block by block."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Ints
from tacit.errors import UNSPENT, TacitError
from tacit.queries.cells import Cells
from tacit.queries.covers.pairs import Pairs, fewest_sets

MOST_RULES = (1 << 22) - 1
"""Pairs of a conjunction and a class that are listed at once (``noise.exponential``); one place is for "no rule"."""

MOST_STREAMED = 1 << 27
"""Pairs of a conjunction and a class that are streamed: beyond, a single choice takes many minutes."""


class TooManyCandidates(TacitError):  # noqa: N818 - a public fact, and not a fault
    """There are more candidates than can be enumerated. Nothing was spent."""

    usual = UNSPENT


@dataclass(frozen=True, eq=False)
class Conjunctions:
    """Public predicates on rows: conjunctions of literals, a literal being any public predicate on a few columns."""

    columns: tuple[int | tuple[int, ...], ...]  # per literal, the column it looks at, or several
    truths: tuple[Bools, ...]  # per literal, for which codes it holds: an axis per column, an entry per code
    # shape `(n, width)`: per conjunction its literals, filled up with -1; a line of -1 is the constant true
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

    def take(self, indices: Sequence[int]) -> Conjunctions:
        return Conjunctions(self.columns, self.truths, self.members[list(indices)])

    def literals_of(self, conjunction: int) -> list[int]:
        return [int(literal) for literal in self.members[conjunction] if literal >= 0]

    @cached_property
    def constant(self) -> Ints:
        """The conjunctions that always hold."""
        return np.flatnonzero((self.members < 0).all(axis=1))


def check_literals(columns: Sequence[int | tuple[int, ...]], truths: Sequence[Bools]) -> None:
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
    constant (if that is a candidate). Positions number the candidates through all blocks. What is kept is a number per
    block. Literals are as in :class:`Conjunctions`; the number of classes decides what is too much.
    """

    columns: tuple[int | tuple[int, ...], ...]
    truths: tuple[Bools, ...]
    k: int
    constant_first: bool
    n_labels: int

    def __post_init__(self) -> None:
        check_literals(self.columns, self.truths)
        len(self)
        if max(self._sizes, default=0) * self.n_labels > MOST_RULES:
            raise TooManyCandidates(
                f"{max(self._sizes):,} conjunctions begin with one literal, and blocks of them may hold "
                f"{MOST_RULES // self.n_labels:,}: take shorter conjunctions"
            )

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @property
    def n_blocks(self) -> int:
        return len(self._keys)

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs.of(self.columns, self.truths)

    @cached_property
    def _keys(self) -> list[tuple[int, int]]:
        """Length and first literal of every block; the constant's is (0, 0)."""
        lengths = range(self.k, 0, -1)
        keys = [(length, first) for length in lengths for first in range(len(self.columns))]
        return [(0, 0)] * self.constant_first + keys

    @cached_property
    def _sizes(self) -> list[int]:
        most = MOST_STREAMED // self.n_labels - self.constant_first
        counts: list[list[int]] | None = None
        if fewest_sets(self.columns, self.k) <= most:  # else that is clear before any two literals are compared
            counts = [[1] * len(self.columns)] if self.k == 1 else self._pairs.counts(self.k, most)
        if counts is None:
            raise TooManyCandidates(
                f"there are more than {MOST_STREAMED:,} rules, conjunctions times {self.n_labels} classes: take "
                "shorter conjunctions, fewer thresholds, fewer columns or columns of fewer categories"
            )
        return [1] * self.constant_first + [size for sizes in reversed(counts) for size in sizes]

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(self._sizes))

    def start(self, block: int) -> int:
        return self._ends[block] - self._sizes[block]

    def size(self, block: int) -> int:
        return self._sizes[block]

    def length(self, block: int) -> int:
        return self._keys[block][0]

    def members(self, block: int) -> npt.NDArray[np.int32]:
        """The conjunctions of a block, int32 of shape ``(size, k)``, filled up with -1."""
        length, first = self._keys[block]
        if length == 0:
            return np.full((1, self.k), -1, np.int32)
        return self._widened(self._sets(np.array([[first]], np.int32), length))

    def listed(self) -> Conjunctions:
        """All of them, in the same order, listed."""
        levels = [np.arange(len(self.columns), dtype=np.int32)[:, None]]
        for length in range(2, self.k + 1):
            levels.append(self._sets(levels[-1], length))
        constant = np.full((int(self.constant_first), self.k), -1, np.int32)
        members = np.concatenate([constant, *(self._widened(level) for level in reversed(levels))])
        return Conjunctions(self.columns, self.truths, members)

    def _sets(self, level: npt.NDArray[np.int32], length: int) -> npt.NDArray[np.int32]:
        """All sets of a length that begin with the given ones, in order."""
        while level.shape[1] < length:
            level = self._pairs.extended(level)
        return level

    def _widened(self, level: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Sets filled up with -1, for every block in every step: ``np.pad`` would take as long as all else there."""
        members = np.full((len(level), self.k), -1, np.int32)
        members[:, : level.shape[1]] = level
        return members

    def literals_of(self, conjunction: int) -> list[int]:
        block = bisect_right(self._ends, conjunction)
        return [int(i) for i in self.members(block)[conjunction - self.start(block)] if i >= 0]

    def take(self, indices: Sequence[int]) -> Conjunctions:
        members = np.full((len(indices), self.k), -1, np.int32)
        for line, conjunction in enumerate(indices):
            literals = self.literals_of(conjunction)
            members[line, : len(literals)] = literals
        return Conjunctions(self.columns, self.truths, members)

    @property
    def constant(self) -> Ints:
        """The positions of conjunctions that always hold."""
        return np.zeros(int(self.constant_first), np.int64)


@dataclass(frozen=True, eq=False)
class FirstMatch(Cells):
    """Every row in the cell of the first conjunction that holds for it; in the last cell if none does."""

    conjunctions: Conjunctions

    @property
    def size(self) -> int:
        return len(self.conjunctions) + 1
