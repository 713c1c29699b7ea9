"""What conjunctions cover: class counts over the rows that no chosen one covers."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.arrays import Ints
from tacit.engines.cover import CoverCounts, StreamedCounts
from tacit.engines.rows import FollowsCodes, Rows
from tacit.queries.covers.candidates import Conjunctions, StreamedConjunctions


@dataclass(frozen=True, eq=False)
class CoverSums:
    """Class counts of conjunctions, shape ``(conjunctions, classes)``: no pass, as a cover is asked step by step.

    Rows of ``removed`` ones have left, in their order; ``block`` is the one of streamed candidates to count, else 0.
    """

    candidates: Conjunctions | StreamedConjunctions
    removed: tuple[int, ...]
    block: int

    def __call__(self, rows: Rows) -> Ints:
        return rows.kept(_KeptCover, _KeptCover).counts(self)


class _KeptCover(FollowsCodes):
    """The rows that are left of the cover that was asked last: what goes on with it counts on from there."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._counted: CoverCounts | StreamedCounts | None = None
        self._removed: tuple[int, ...] = ()

    def counts(self, query: CoverSums) -> Ints:
        """What is asked."""
        counted, removed = self._counted, len(self._removed)
        if counted is None or counted.conjunctions is not query.candidates or query.removed[:removed] != self._removed:
            counted, removed = _counts_of(query.candidates, self._rows), 0
        for conjunction in query.removed[removed:]:
            counted.remove(conjunction)
        self._counted, self._removed = counted, query.removed
        return counted.counts if isinstance(counted, CoverCounts) else counted.block(query.block)

    def before_codes_change(self, column: int) -> None:
        """Literals are of codes."""
        del column
        self._counted = None


def _counts_of(candidates: Conjunctions | StreamedConjunctions, rows: Rows) -> CoverCounts | StreamedCounts:
    """Over all rows."""
    facts = (rows.columns, rows.classes(), rows.layout.n_labels, rows.threads)
    if isinstance(candidates, StreamedConjunctions):
        return StreamedCounts(candidates, *facts)
    return CoverCounts(candidates, *facts)
