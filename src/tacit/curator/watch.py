"""Watching what passes the curator, for audits: exact answers beside what was released, of made-up rows with a seed.

Whoever knows the seed of a fit can subtract its noise, which is why certificates of seeded fits say "not releasable".
So rows are watched only where noise has a seed, and watching them gives nothing away that the seed does not.

A :class:`Witness` is called with every release, and may replace it: an audit repeats a fit on a neighbour with the
releases of the first (:mod:`tacit.audit.replay`).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, Protocol, final

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.curator.cover import Covering
from tacit.curator.curator import Curator
from tacit.curator.joint_clipping import JointReleases
from tacit.curator.measurement import Measurement
from tacit.curator.rows import HandedOnError, PrivateRows
from tacit.curator.select import Choice
from tacit.engines.blocks import CoverRows
from tacit.engines.protocol import SealedTable
from tacit.privacy.charges import Charge, Gaussian, Laplace
from tacit.privacy.label import Label
from tacit.queries.cells import Cells
from tacit.queries.covers.candidates import Conjunctions, StreamedConjunctions
from tacit.queries.covers.charges import Accounting
from tacit.queries.covers.cover import Cover
from tacit.queries.joint_bound import JointBound, JointHistogram, JointPart
from tacit.queries.margins import Margins, Scores
from tacit.queries.query import Layout, Query
from tacit.queries.rules import RowRule
from tacit.queries.score_rules import ScoreRule
from tacit.queries.selection import Selection


@final
@dataclass(frozen=True)
class Part:
    """A part of releases that are bounded together: its precision, and that of one release of each part."""

    bound: int
    index: int
    precision: float
    total: float


@final
@dataclass(frozen=True, eq=False)
class Passage:
    """One passage of the curator.

    Attributes:
        verb: ``"measure"``, ``"joint"``, ``"select"`` or ``"cover"``.
        public: what must be the same on a neighbour: what was asked, its label, charge, sensitivity and theorem.
        exact: what the rows say, in integer units: an answer, or scores of shape ``(nodes, candidates)``.
        released: what comes out: noisy values in natural units, chosen indices, or a covering.
        allowed: how far one protected unit may move ``exact``: its L1 and squared L2 distance of an answer, twice the
            spread of scores of a choice; None where nobody says.
        noise: what was added, in integer units; None where nothing is.
        scale: that the noise needs for this charge at this sensitivity, in integer units.
        part: of a release whose rows are bounded over several.
    """

    verb: str
    public: tuple[Any, ...]
    exact: Ints | None
    released: Any
    allowed: tuple[int, int] | None = None
    noise: Ints | None = None
    scale: float = 0.0
    part: Part | None = None


class Witness(Protocol):
    """Who watches."""

    def passed(self, passage: Passage) -> Any:
        """Hears of a passage, and says what is released: ``passage.released``, or something else that is forced."""

    def peeked(self, what: str) -> None:
        """Hears of an exact answer that no verb of the curator asked for."""


def watched(rows: PrivateRows, witness: Witness) -> PrivateRows:
    """The same rows, for a fit whose releases go to a witness.

    Raises:
        TypeError: unless noise has a seed, so that nothing of the fit is releasable.
    """
    if rows.releasable or type(rows) is not PrivateRows:
        raise TypeError("rows are watched only in memory, and where noise has a seed")
    seen = copy.copy(rows)
    seen.__class__ = WatchedRows
    assert isinstance(seen, WatchedRows)
    seen.onlooker = witness
    return seen


class WatchedRows(PrivateRows):
    """Rows whose curators report to a witness. They are not handed to other learners, nor searched for categories."""

    hands_on_rows: ClassVar[bool] = False
    onlooker: Witness

    def seal_weighted(self, *how: Any) -> Any:
        """See :meth:`PrivateRows.seal_weighted`."""
        return self._watched(super().seal_weighted(*how))

    def keys(self, *_: Any, **__: Any) -> NoReturn:
        """Not here: declare a schema."""
        raise HandedOnError("it looks for values that nobody declared")

    def _curator(self, *how: Any) -> Curator:
        return self._watched(super()._curator(*how))

    def _watched(self, curator: Curator) -> Curator:
        return WatchedCurator(curator, self.onlooker, self._rows_per_unit)


class WatchedTable:
    """A sealed table that keeps what it answered until a verb takes it."""

    def __init__(self, table: SealedTable, witness: Witness) -> None:
        self._table, self._witness = table, witness
        self._asked = False
        self._answered: list[tuple[Query | JointHistogram, Ints]] = []

    @property
    def layout(self) -> Layout:
        return self._table.layout

    def answer(self, query: Query | JointHistogram) -> Ints:
        return self._kept([query], [self._table.answer(query)])[0]

    def answer_all(self, queries: Sequence[Query]) -> list[Ints]:
        return self._kept(queries, self._table.answer_all(queries))

    def coarsen(self, column: int, mapping: Ints) -> None:
        self._table.coarsen(column, mapping)

    def derive(self, cells: Cells) -> None:
        self._table.derive(cells)

    def bind(self, bound: JointBound, own_levels: int) -> None:
        self._table.bind(bound, own_levels)

    def open_cover(self, candidates: Conjunctions | StreamedConjunctions) -> CoverRows:
        self._kept([], [])
        return self._table.open_cover(candidates)

    def _kept(self, queries: Sequence[Query | JointHistogram], answers: list[Ints]) -> list[Ints]:
        if not self._asked:
            self._witness.peeked(", ".join(type(query).__name__ for query in queries) or "a cover")
        self._answered += [(query, answer.copy()) for query, answer in zip(queries, answers, strict=True)]
        return answers

    def __enter__(self) -> list[tuple[Query | JointHistogram, Ints]]:
        """A verb begins: what is answered now is kept for it."""
        self._asked, self._answered = True, []
        return self._answered

    def __exit__(self, *_: object) -> None:
        self._asked, self._answered = False, []


class WatchedCurator(Curator):
    """A curator that shows a witness what passes, and releases what the witness returns."""

    def __init__(self, curator: Curator, witness: Witness, rows_per_unit: int) -> None:
        table = WatchedTable(curator._table, witness)
        curator._table = table
        super().__init__(table, curator._gate.reservation, curator._gate.noise, rows_per_unit)
        self._seen, self._inner, self._witness = table, curator, witness
        self._bounds: list[JointBound] = []

    @property
    def layout(self) -> Layout:
        return self._inner.layout

    def measure_all(self, asks: Sequence[tuple[Query, Charge, Label | str]]) -> list[Measurement]:
        """See :meth:`Curator.measure_all`."""
        with self._seen as answered:
            measured = self._inner.measure_all(asks)
        return [
            self._tell("measure", found, *answer, isinstance(charge, Gaussian | Laplace))
            for found, answer, (_, charge, _) in zip(measured, answered, asks, strict=True)
        ]

    def open_jointly(self, bound: JointBound, rounds: int, stage: str = "", before: int = 0) -> JointReleases:
        """See :meth:`Curator.open_jointly`."""
        self._inner.open_jointly(bound, rounds, stage, before)
        self._bounds.append(bound)
        return JointReleases(bound, rounds, stage, self._release_jointly, before)

    def _release_jointly(
        self, bound: JointBound, part: JointPart, rule: RowRule | ScoreRule, state: Margins | Scores, label: Label
    ) -> Measurement:
        with self._seen as answered:
            found = self._inner._release_jointly(bound, part, rule, state, label)
        place = next(k for k, own in enumerate(self._bounds) if own is bound)
        total = sum(one.precision for one in bound.parts)
        own = Part(place, bound.parts.index(part), part.precision, total)
        return self._tell("joint", found, *answered[0], True, own)

    def _tell(
        self,
        verb: str,
        found: Measurement,
        query: Query | JointHistogram,
        exact: Ints,
        noisy: bool,
        part: Part | None = None,
    ) -> Measurement:
        move = (
            query.joint_sensitivity(self.neighbouring)
            if isinstance(query, JointHistogram)
            else query.sensitivity(self.neighbouring)
        ).times(self._gate.rows_per_unit)
        noise = np.rint(found.value * query.unit).astype(np.int64) - exact
        scale = 0.0  # worked out here once more, and not by what the curator draws at
        if isinstance(found.charge, Gaussian | Laplace):
            scale = found.charge.noise_multiplier * (move.l2 if isinstance(found.charge, Gaussian) else move.l1)
        public = (type(query).__name__, found.label, found.charge, found.theorem, query.shape, query.unit,
                  found.sd, (move.l1, move.l2_squared))  # fmt: skip
        told: Floats = self._witness.passed(
            Passage(verb, public, exact, found.value.copy(), (move.l1, move.l2_squared), noise if noisy else None,
                    scale, part)
        )  # fmt: skip
        return Measurement(found.label, told.copy(), found.sd, found.charge, found.theorem)

    def select(self, selection: Selection, charge: Charge, label: Label | str) -> Choice:
        """See :meth:`Curator.select`."""
        with self._seen as answered:
            found = self._inner.select(selection, charge, label)
            scores = selection.score(answer for _, answer in answered)
        spread = selection.score_range(self.neighbouring) * self._gate.rows_per_unit
        public = (found.label, charge, found.theorem, selection.shape, spread)
        indices = self._witness.passed(Passage("select", public, scores, found.indices.copy(), (spread, spread)))
        return Choice(found.label, np.array(indices), charge, found.theorem)

    def cover(
        self, cover: Cover, label: Label | str, accounting: Accounting = Accounting.MOMENTS, delta: float = 0.0
    ) -> Covering:
        """See :meth:`Curator.cover`."""
        with self._seen:
            found = self._inner.cover(cover, label, accounting, delta)
        public = (str(label), found.charge, found.theorem)
        covering: Covering = self._witness.passed(Passage("cover", public, None, found))
        return covering

    def coarsen(self, column: int, mapping: Ints) -> None:
        self._inner.coarsen(column, mapping)

    def derive(self, cells: Cells) -> None:
        self._inner.derive(cells)
