"""A bound class on the points of a table: patterns of the sample, or of all public cells.

Listing a class on all cells makes the candidates independent of the rows: relabelling then costs nothing for the
patterns, and the chosen concept may be released. It takes a domain and a class that are small enough to list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.arrays import Bools, Ints
from tacit.closure.classes import BoundClass, ConceptClass, ConceptError, patterns_on
from tacit.closure.patterns import JoinedPatterns, Patterns, PatternsOnGroups
from tacit.encoding.table import Encoder, TableEncoding

MOST_CELLS = 1 << 16  # largest domain whose concepts are listed
MOST_PATTERNS = 1 << 20  # default cap on the patterns of a class
MOST_CANDIDATES = 1 << 22  # what the exponential mechanism draws from at most
LARGE_SAMPLE = 1_000_000  # points that listed patterns must leave room for, where no number of rows is declared
MOST_MEMORY = 1 << 30  # bytes that listed patterns may take


@dataclass(frozen=True, eq=False)
class ConceptSet:
    """A bound class as the learners use it, in the encoding of all columns that a learner looks at.

    ``cap``: most patterns; ``n_points``: a public bound on the number of distinct points; None for the number of cells.
    """

    bound: BoundClass
    encoding: TableEncoding
    cap: int = MOST_PATTERNS
    n_points: int | None = None

    @property
    def is_public(self) -> bool:
        """Whether the class can be listed on all its cells."""
        parts = self.bound.parts()
        size = sum(part.patterns_at_most(part.n_cells) for part in parts)
        bits = sum(part.patterns_at_most(part.n_cells) * part.n_cells for part in parts if part.is_listed)
        return size <= self.cap and bits <= 8 * MOST_MEMORY and all(part.n_cells <= MOST_CELLS for part in parts)

    def check(self) -> None:
        """Raises :class:`ConceptError` if neither all cells nor the sample's patterns can be listed."""
        if self.is_public:
            return
        n = self.bound.n_cells if self.n_points is None else min(self.n_points, self.bound.n_cells)
        size = self.bound.patterns_at_most(n)
        if size > self.cap:
            raise ConceptError(
                f"the class over {', '.join(self.bound.columns)} may have {size} patterns on up to {n} points, and the "
                f"cap is {self.cap}: use fewer bins, a smaller class, or raise max_patterns"
            )
        if self.bound.is_listed and size * min(n, LARGE_SAMPLE) > 8 * MOST_MEMORY:
            raise ConceptError(
                f"the {size} patterns of the class over {', '.join(self.bound.columns)} on up to {n} points would not "
                "fit into memory: use fewer bins or a smaller class"
            )

    def positions(self, bound: BoundClass) -> list[int]:
        """Where a class's columns stand among the encoded ones."""
        return [self.encoding.names.index(column) for column in bound.columns]

    @cached_property
    def listed(self) -> JoinedPatterns:
        """All concepts part by part, each on its own cells. Parts have different domains: for :meth:`place` only."""
        return JoinedPatterns([part.patterns(part.cells()) for part in self.bound.parts()])

    def on_points(self, codes: Ints, public: bool) -> Patterns:
        """The candidates on given points: all listed concepts, or the distinct patterns of the points."""
        if not public:
            return patterns_on(self.bound, codes, self.positions(self.bound))
        mapped: list[Patterns] = []
        for part, patterns in zip(self.bound.parts(), self.listed.parts, strict=True):
            cells = np.ravel_multi_index(tuple(codes[:, self.positions(part)].T), part.n_codes)
            mapped.append(PatternsOnGroups(patterns, cells.astype(np.int64)))
        return JoinedPatterns(mapped)

    def concept(self, index: int) -> tuple[tuple[str, ...], tuple[Encoder, ...], Bools, str]:
        """A listed concept: its columns, their encoders, the cells it holds, and its words."""
        place, within = self.listed.place(index)
        part, patterns = self.bound.parts()[place], self.listed.parts[place]
        encoders = tuple(self.encoding.encoders[i] for i in self.positions(part))
        return part.columns, encoders, patterns.row(within), part.describe(patterns, within)


def concept_sets(
    classes: Sequence[ConceptClass], encoding: TableEncoding, cap: int, n_points: int | None
) -> list[ConceptSet]:
    """Classes bound to an encoding, checked: :class:`ConceptError` names what a class lacks, or its size."""
    encoders = dict(zip(encoding.names, encoding.encoders, strict=True))
    sets = [ConceptSet(declared.bind(encoders), encoding, cap, n_points) for declared in classes]
    for concept_set in sets:
        concept_set.check()
    return sets
