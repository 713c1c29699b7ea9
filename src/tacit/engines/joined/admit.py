"""A site's side of a joined fit: carries out commands on its rows, after checking them.

Passes trust the library's own queries. A query from another machine could name a code that no column has, and a
compiled loop would then read beyond an array: every number that a pass uses as a place must be one that exists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np

from tacit.arrays import Ints
from tacit.engines.blocks import BlockTable
from tacit.engines.joined.wire import LOGS, LOOKS, NOISY, Log, Receiver, WireError, array_of, charge_of
from tacit.engines.passes.dense import CoverSums
from tacit.engines.rows import Rows
from tacit.engines.score_rows import MarginRows, ScoreRows
from tacit.privacy.charges import Charge
from tacit.queries.cells import Cells, OneCell, ProductCells
from tacit.queries.covers.candidates import Conjunctions, FirstMatch, StreamedConjunctions
from tacit.queries.dense.halfspace_log import (
    MULTIPLIER_BITS,
    VECTOR_NORM,
    HalfspaceLog,
    HalfspaceStep,
    MarginCounts,
    MeasureSize,
)
from tacit.queries.dense.moments import MomentSum, ShortenedSquares
from tacit.queries.dense.vector_sum import VectorSum
from tacit.queries.histogram import Histogram, ResidualLevels, ScoreHistogram
from tacit.queries.joint_bound import SLIGHTLY, JointBound, JointHistogram
from tacit.queries.margins import Margins, Scores, ScoreUpdate, Update
from tacit.queries.query import Layout
from tacit.queries.rules import MARGIN_BITS, N_LEVELS, WEIGHT_UNIT, LabelWeights, RowRule, level_weights
from tacit.queries.score_rules import LevelRule, SoftmaxRule
from tacit.queries.tree_cells import SplitHistogram, TreeCells

MOST_SUMS = 1 << 27
"""Sums of one answer at most: 1 GiB."""

MOST_QUESTIONS = 1 << 16
"""Queries of one answer at most."""

MOST_CELLS = 1 << 16
"""Cells that the code of a row can name."""

MOST_SHIFT = 62
"""Bits that a 64-bit number can be shifted by."""


def _require(holds: Any, what: str) -> None:
    if not holds:
        raise WireError(what)


class Admission:
    """Checks what is asked of a table, as its codes are now; ``has_targets``: whether labels are numbers."""

    def __init__(self, table: BlockTable, has_targets: bool) -> None:
        self._table, self._has_targets = table, has_targets

    @property
    def layout(self) -> Layout:
        """What is public about the table now."""
        return self._table.layout

    # Objects, as they come.

    @singledispatchmethod
    def part(self, value: Any) -> None:
        """Checks an update as it arrives, and everything that does not depend on codes; raises :class:`WireError`."""

    @part.register
    def _(self, value: Update) -> None:
        self.cells(value.cells)
        _require(value.values.shape == (value.cells.size,), "an update needs a value for each of its cells")

    @part.register
    def _(self, value: ScoreUpdate) -> None:
        self.cells(value.cells)
        _require(
            value.values.ndim == 2 and len(value.values) == value.cells.size, "an update needs a line for each cell"
        )

    @part.register
    def _(self, value: HalfspaceLog) -> None:
        _require(value.n_features == self.layout.n_dense, "a log of halfspaces is over the coordinates of the rows")

    @part.register
    def _(self, value: HalfspaceStep) -> None:
        vector = value.vector.astype(np.int64)
        _require(vector.shape == (self.layout.n_dense,), "a halfspace needs a weight for each coordinate")
        _require(int(vector @ vector) <= VECTOR_NORM**2, f"a halfspace of integers has length at most {VECTOR_NORM}")
        sizes = 0 <= value.multiplier <= 1 << MULTIPLIER_BITS and 0 <= value.shift <= MOST_SHIFT
        _require(sizes and 0 < value.limit <= 1024 << MARGIN_BITS, "the sizes of a halfspace are out of range")

    # Questions.

    def look(self, look: Any) -> None:
        if isinstance(look, CoverSums):
            self._cover(look)
            return
        for query in look.queries if hasattr(look, "queries") else (look.query,):
            self.query(query)

    def query(self, query: Any) -> None:
        self._query(query, self.layout.n_labels)
        if isinstance(query, JointHistogram):
            _weighed_down(query)
        _fits(math.prod(query.shape))

    @singledispatchmethod
    def _query(self, query: Any, n_labels: int) -> None:
        raise WireError(f"a {type(query).__name__} cannot be asked of sites, whatever their {n_labels} labels")

    @_query.register
    def _(self, query: Histogram, n_labels: int) -> None:
        self.cells(query.cells)
        self._rule(query.rule, n_labels)
        _fits(query.cells.size * query.rule.channels)

    @_query.register
    def _(self, query: ScoreHistogram, n_labels: int) -> None:
        self.cells(query.cells)
        self._of_scores(query, n_labels)
        _fits(query.cells.size * query.rule.channels)

    def _of_scores(self, query: ScoreHistogram, n_labels: int) -> None:
        weights, rule = query.weights, query.rule
        if weights is not None:
            self._weights(weights, n_labels)
        if isinstance(rule, SoftmaxRule | LevelRule):
            classes = n_labels if weights is None else int(weights.classes.max()) + 1
            _require(classes <= rule.n_labels, "the rule knows fewer classes than labels have")
        else:
            _require(self._has_targets, "residuals are of labels that are numbers")

    @_query.register
    def _(self, query: ResidualLevels, n_labels: int) -> None:
        _require(self._has_targets, "residuals are of labels that are numbers")
        if query.weights is not None:
            self._weights(query.weights, n_labels)

    @_query.register
    def _(self, query: JointHistogram, n_labels: int) -> None:
        self._query(query.histogram, n_labels * N_LEVELS)

    @_query.register
    def _(self, query: SplitHistogram, n_labels: int) -> None:
        self.cells(query.cells)
        self._columns(query.columns)
        self._rule(query.rule, n_labels)
        _require(len(query.class_of) == n_labels, "a split needs the class of every label")
        _require(
            all(a == self.layout.n_codes[column] for a, column in zip(query.n_codes, query.columns, strict=True)),
            "a split query knows another number of codes",
        )
        _fits(math.prod(query.shape))

    @_query.register(VectorSum)
    @_query.register(MeasureSize)
    @_query.register(MarginCounts)
    def _(self, query: VectorSum | MeasureSize | MarginCounts, n_labels: int) -> None:
        del n_labels
        self.part(query.log)
        _require(query.levels.shift <= MOST_SHIFT, "the levels of margins are out of range")

    @_query.register(MomentSum)
    @_query.register(ShortenedSquares)
    def _(self, query: MomentSum | ShortenedSquares, n_labels: int) -> None:
        del n_labels
        _require(query.n_features == self.layout.n_dense, "moments are of the coordinates of the rows")

    def bound(self, bound: JointBound) -> None:
        for part in bound.parts:
            self.cells(part.cells)

    # Their parts.

    def _columns(self, columns: tuple[int, ...]) -> None:
        _require(all(0 <= column < self.layout.n_columns for column in columns), "there is no such column")

    def _cover(self, look: CoverSums) -> None:
        candidates, removed, block = look.candidates, look.removed, look.block
        self._conjunctions(candidates)
        valid = all(0 <= each < len(candidates) for each in removed) and len(set(removed)) == len(removed)
        _require(valid, "rows leave with conjunctions that there are, each once")
        blocks, size = 1, len(candidates)
        if isinstance(candidates, StreamedConjunctions):
            blocks, size = candidates.n_blocks, max(map(candidates.size, range(candidates.n_blocks)), default=0)
        _require(0 <= block < blocks, "there is no such block of conjunctions")
        _fits(size * self.layout.n_labels)

    def _conjunctions(self, candidates: Conjunctions | StreamedConjunctions) -> None:
        n_codes = self.layout.n_codes
        for where, truth in zip(candidates.columns, candidates.truths, strict=True):
            columns = where if isinstance(where, tuple) else (where,)
            self._columns(columns)
            _require(truth.shape == tuple(n_codes[column] for column in columns), "a literal was made for other codes")

    def cells(self, cells: Cells) -> None:
        if isinstance(cells, OneCell) or self._table.is_derived(cells):  # kept codes stay when those of columns change
            return
        if isinstance(cells, FirstMatch):
            self._conjunctions(cells.conjunctions)
            _require(cells.size <= MOST_CELLS, f"a code can name {MOST_CELLS} cells, not {cells.size}")
            return
        _require(isinstance(cells, ProductCells | TreeCells), f"rows are not told apart by {type(cells).__name__}")
        if isinstance(cells, TreeCells):
            self._columns(tuple(cells.shape.columns.tolist()))
            return
        assert isinstance(cells, ProductCells)
        self._columns(cells.columns)
        sizes = (self.layout.n_codes[column] for column in cells.columns)
        _require(
            all(len(mapping) == n for mapping, n in zip(cells.maps, sizes, strict=True)),
            "the cells of a column were made for another number of codes",
        )
        _require(cells.size <= MOST_CELLS, f"a code can name {MOST_CELLS} cells, not {cells.size}")

    def _rule(self, rule: RowRule, n_labels: int) -> None:
        _require(rule.table.shape[0] == n_labels, f"the rule is for {rule.table.shape[0]} labels, not {n_labels}")

    def _weights(self, weights: LabelWeights, n_labels: int) -> None:
        _require(weights.classes.shape == (n_labels,), "every label needs a weight")


def _weighed_down(query: JointHistogram) -> None:
    """Raises :class:`WireError` unless a row counts by no more than the level of weight that its label holds."""
    histogram, levels = query.histogram, level_weights()
    if isinstance(histogram, ScoreHistogram):
        _require(histogram.weights is not None, "rows that are bounded together have weights")
        assert histogram.weights is not None
        factors = histogram.weights.factors
        _require(len(factors) % N_LEVELS == 0, "every class needs all levels of weight")
        most = np.tile(levels * WEIGHT_UNIT, len(factors) // N_LEVELS)
        _require((factors <= most).all(), "a row would count more than its bound allows")
        return
    table = histogram.rule.table
    _require(len(table) % N_LEVELS == 0, "every class needs all levels of weight")
    lengths = (table.astype(np.float64) ** 2).sum(axis=2).max(axis=1)
    most = np.tile(levels**2, len(table) // N_LEVELS) * float(histogram.longest[1])
    _require((lengths <= most * (1 + SLIGHTLY)).all(), "a row would count more than its bound allows")


def _fits(sums: int) -> None:
    _require(sums <= MOST_SUMS, f"an answer may have {MOST_SUMS} sums, not {sums}")


@dataclass(frozen=True, eq=False)
class CatchUp:
    """Applies what is new in a log to a block of rows, as their codes are now."""

    log: Margins | Scores

    def __call__(self, rows: Rows) -> Ints:
        if isinstance(self.log, Scores):
            ScoreRows.of(rows).caught_up(self.log)
        else:
            MarginRows.of(rows).caught_up(self.log)
        return np.zeros(0, np.int64)


class SiteTables:
    """The sealed rows of a site, as the coordinator knows them; ``seal`` makes a table of a recipe in plain data."""

    def __init__(self, seal: Callable[[Any], BlockTable], has_targets: bool) -> None:
        self._seal, self._has_targets = seal, has_targets
        self._tables: dict[int, BlockTable] = {}
        self._current: tuple[BlockTable, Admission] | None = None
        self._cover: CoverSums | None = None
        self._homes: WeakKeyDictionary[Margins | Scores | JointBound, ReferenceType[BlockTable]] = WeakKeyDictionary()
        self._receiver = Receiver(self._admit, self._catch_up)

    def forget(self, numbers: Any) -> None:
        """Lets go of what the coordinator no longer refers to."""
        self._receiver.forget(numbers)

    def tell(self, what: Any) -> None:
        """Does what is no question.

        Raises:
            WireError, ValueError, RuntimeError: for what cannot be done; nothing depends on what rows hold.
        """
        if not isinstance(what, dict) or not isinstance(what.get("table"), int):
            raise WireError("something came that is nothing to do")
        do, number = what.get("do"), what["table"]
        if do == "seal":
            if number in self._tables:
                raise WireError("a table came under a number that is taken")
            self._tables[number] = self._seal(what.get("recipe"))
        elif do == "unseal":
            self._tables.pop(number, None)
        elif do == "coarsen":
            table, _ = self._use(number)
            for log in what.get("logs", ()):
                self._receiver.object(log, tuple(LOGS))
            column, mapping = what.get("column"), array_of(what.get("mapping", {}))
            if not isinstance(column, int) or not 0 <= column < table.layout.n_columns or mapping.dtype != np.int64:
                raise WireError("there is no such column")
            table.coarsen(column, mapping)
        elif do == "derive":
            table, admission = self._use(number)
            cells = self._receiver.object(what.get("cells"), (ProductCells, OneCell))
            admission.cells(cells)
            table.derive(cells)
        elif do == "bind":
            table, admission = self._use(number)
            bound = self._receiver.object(what.get("bound"), (JointBound,))
            admission.bound(bound)
            home = self._homes.setdefault(bound, ref(table))
            # One payment is for all parts: in another table a row could have its length in another part.
            _require(home() is table, "rows are bounded together in one table")
            table.bind(bound, 1)
        else:
            raise WireError(f"nobody knows how to {str(do)[:20]!r}")

    def look(self, what: dict[str, Any]) -> Any:
        """The look that was asked for, checked; see :meth:`answer`."""
        _, admission = self._use(what.get("table"))
        look = self._receiver.object(what.get("look"), LOOKS)
        admission.look(look)
        return look

    def questions(self, what: dict[str, Any]) -> list[tuple[Any, Charge]]:
        """The queries that are to be answered with noise, checked, each with the charge that it names."""
        _, admission = self._use(what.get("table"))
        listed = what.get("questions")
        _require(isinstance(listed, list) and 0 < len(listed) <= MOST_QUESTIONS, "some questions were expected")
        pairs: list[tuple[Any, Charge]] = []
        for each in listed or []:
            query = self._receiver.object(each["query"], NOISY)
            admission.query(query)
            pairs.append((query, charge_of(each["charge"])))
        return pairs

    def answers(self, queries: Sequence[Any]) -> list[Ints]:
        table, _ = self._of_use()
        return table.answer_all(queries)

    def sums_of(self, look: Any) -> int:
        """How many releases a look that may be asked is for: none more if it goes on with the last cover."""
        if not isinstance(look, CoverSums):
            return len(look.queries) if hasattr(look, "queries") else 1
        last, self._cover = self._cover, look
        goes_on = last is not None and last.candidates is look.candidates
        return 0 if goes_on and last is not None and look.removed[: len(last.removed)] == last.removed else 1

    def answer(self, look: Any) -> Ints:
        table, _ = self._of_use()
        return table.total(look)

    def _use(self, number: Any) -> tuple[BlockTable, Admission]:
        if not isinstance(number, int) or number not in self._tables:
            raise WireError("there is no such table")
        table = self._tables[number]
        self._current = (table, Admission(table, self._has_targets))
        return self._current

    def _of_use(self) -> tuple[BlockTable, Admission]:
        if self._current is None:
            raise WireError("no table was named")
        return self._current

    def _admit(self, value: Any) -> None:
        table, admission = self._of_use()
        home = self._homes.get(value) if isinstance(value, Margins | Scores) else None
        if home is not None and home() is not table:  # its updates were checked against the codes of that one
            raise WireError("a log of updates came that is of another table")
        admission.part(value)

    def _catch_up(self, log: Log) -> None:
        if not isinstance(log, HalfspaceLog):  # those are of rows whose numbers stay what they are
            table, _ = self._of_use()
            self._homes[log] = ref(table)
            table.total(CatchUp(log))
