"""Private rows on their way into the curator: sealed under a public encoding, they are handed to a curator."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.arrays import Bools, Bytes, Codes, Floats
from tacit.curator.curator import Curator
from tacit.curator.gate import NOBODY, Gate, Witness, check_may_watch
from tacit.curator.joint_clipping import JointWeights
from tacit.curator.measurement import Measurement
from tacit.curator.options import choices_under, chosen_source
from tacit.curator.recipes import Columns, Lengths, Magnitudes, Recipe, Vectors, label_codes, targets_of
from tacit.curator.select import Choice
from tacit.encoding.dense import RowEncoder
from tacit.encoding.frames import Frame
from tacit.encoding.grid import NumericGrid
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.matrix_rows import MatrixEncoder
from tacit.encoding.table import TableEncoding
from tacit.encoding.units import NO_KEY, first_rows, key_codes, unit_codes
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.engines.blocks import WIDE_DROPPED, MemoryTable, SealedTable
from tacit.errors import TacitError
from tacit.noise import NoiseSource, PublicChoices
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label
from tacit.privacy.ledger import Reservation
from tacit.queries.histogram import SCORE_QUERIES, Histogram, ScoreQuery
from tacit.queries.query import Layout, Query
from tacit.queries.rules import LabelWeights, RowRule, level_weights, weight_levels, weighted_rule
from tacit.queries.selection import Selection
from tacit.queries.tree_cells import SplitHistogram
from tacit.schema import Unit

if TYPE_CHECKING:
    from tacit.curator.keys import Keys


class WeightedCurator(Curator):
    """The curator of a table whose labels are ``class * levels + level``. A learner sees classes alone.

    It measures weighted histograms, of rows with scores too; their sensitivity is that of the weighted rule (see
    :mod:`tacit.queries.rules`). It chooses splits by weighted rows, and nothing else. Weights of classes and of
    levels of rows lie in [0, 1].
    """

    def __init__(
        self,
        table: SealedTable,
        reservation: Reservation,
        noise: NoiseSource,
        rows_per_unit: int,
        classes: Sequence[float],
        levels: Floats,
        witness: Witness = NOBODY,
        choices: PublicChoices | None = None,
    ) -> None:
        super().__init__(table, reservation, noise, rows_per_unit, witness, choices)
        self._classes, self._levels = tuple(classes), levels
        self._label_weights = LabelWeights.of(self._classes, levels)

    @property
    def layout(self) -> Layout:
        """What is public about the table; labels are classes."""
        return replace(super().layout, n_labels=len(self._classes))

    def measure_all(self, asks: Sequence[tuple[Query, Charge, Label | str]]) -> list[Measurement]:
        """Releases noisy weighted histograms; see :meth:`Curator.measure_all`."""
        return super().measure_all([(self._weighted(query), charge, label) for query, charge, label in asks])

    def select(self, selection: Selection, charge: Charge, label: Label | str) -> Choice:
        """Chooses by weighted rows; see :meth:`Curator.select`.

        A weighted row weighs at most what the rule gives it, so a movement that holds for lighter rows holds here.
        """
        if not selection.holds_for_lighter_rows:
            raise TypeError("this choice is made over unweighted rows")
        queries = tuple(self._weighted_splits(query) for query in selection.queries)
        return super().select(replace(selection, queries=queries), charge, label)

    def cover(self, *_: Any, **__: Any) -> Any:
        """Not for weighted rows."""
        raise TypeError("covers are made over unweighted rows")

    @property
    def _own_levels(self) -> int:
        return len(self._levels)

    @cached_property
    def _weigh(self) -> JointWeights:
        return JointWeights(self._classes)

    def _weighted(self, query: Query) -> Histogram | ScoreQuery:
        if isinstance(query, SCORE_QUERIES):
            return replace(query, weights=self._label_weights)
        if not isinstance(query, Histogram):
            raise TypeError(f"a {type(query).__name__} knows no weights of rows")
        return replace(query, rule=self._weighted_rule(query.rule))

    def _weighted_splits(self, query: Query) -> SplitHistogram:
        if not isinstance(query, SplitHistogram):
            raise TypeError(f"a {type(query).__name__} knows no weights of rows in choices")
        return replace(query, rule=self._weighted_rule(query.rule), classes=self._label_weights.classes)

    def _weighted_rule(self, rule: RowRule) -> RowRule:
        return weighted_rule(rule, self._classes, self._levels)


class HandedOnError(TacitError, TypeError):
    """Rows would leave a curator that keeps its releases: to children, searches, streams."""


class PrivateRows:
    """Rows that one fit may ask about, under one reservation and one source of noise.

    A fit may seal the same rows more than once (coarsely to find bounds, finely to learn): every sealing is a public
    function of what was declared or released before, and every release is paid from the same reservation.

    Args:
        frame: the columns, as they came.
        labels: the label vector, as it came.
        reservation: the budget, already durable.
        random_state: None for the operating system's entropy, an integer for repeatable noise that is not releasable.
        unit: who is protected, if it is not a row: rows with equal values in its column; its first ``max_rows`` count,
            rows without a value do not.
        row_weights: public weights of the rows, clipped into [0, 1]; None if all count alike.
    """

    witness: Witness = NOBODY
    """Who sees what leaves: nobody, unless an audit or a test stands there."""

    def __init__(
        self,
        frame: Frame,
        labels: Any,
        reservation: Reservation,
        random_state: int | None,
        unit: Unit | None = None,
        row_weights: Floats | None = None,
    ) -> None:
        self._row_weights = row_weights
        self._frame = frame
        self._labels = labels
        self._reservation = reservation
        self._noise = self.witness.source(chosen_source(random_state))
        self._choices = choices_under(reservation, random_state)
        self._unit = unit
        self._rows_per_unit = 1 if unit is None else unit.max_rows
        self._is_whole = True  # a child of a view has rows that do not count, marked by their labels

    @property
    def noise_name(self) -> str:
        """Where noise comes from, for the certificate."""
        return self._noise.name

    @property
    def releasable(self) -> bool:
        """Whether what this noise touches may be released."""
        return self._noise.releasable

    @property
    def has_row_weights(self) -> bool:
        """Whether rows have weights of their own."""
        return self._row_weights is not None

    @property
    def public_generator(self) -> np.random.Generator:
        """Randomness for choices that protect nobody."""
        return self._choices.generator()

    @property
    def public_seed(self) -> bytes:
        """What those choices follow from."""
        return self._choices.seed

    @property
    def names(self) -> tuple[str, ...]:
        return self._frame.names

    def with_witness(self, witness: Witness) -> PrivateRows:
        """The same rows, whose releases a witness sees."""
        check_may_watch(witness, self._noise)
        rows = copy.copy(self)
        rows.witness, rows._noise = witness, witness.source(self._noise)
        return rows

    def with_choices(self, seed: bytes) -> PrivateRows:
        """The same rows, with the public choices that follow from a seed."""
        rows = copy.copy(self)
        rows._choices = PublicChoices(seed)
        return rows

    @property
    def gate(self) -> Gate:
        """Where all that is released of these rows goes through."""
        return Gate(self._reservation, self._noise, self._rows_per_unit, self.witness)

    def with_labels_as(self, name: str) -> PrivateRows:
        """The same rows, with the labels as one more column of this name; paid from the same reservation."""
        widened = copy.copy(self)
        frame = self._frame
        widened._frame = Frame({**frame.columns, name: self._labels}, frame.n_rows, frame.mixed, frame.untyped)
        return widened

    def seal(self, encoding: TableEncoding, label_index: LabelIndex | NumericLabelIndex) -> Curator:
        """Encodes the columns that ``encoding`` names and hands out a curator over the sealed table."""
        return self._curator(Columns(encoding), label_index)

    def seal_weighted(
        self, encoding: TableEncoding, label_index: LabelIndex | NumericLabelIndex, class_weights: Sequence[float]
    ) -> WeightedCurator:
        """As :meth:`seal`, with the rows' weights and those of classes, both in [0, 1], in everything measured."""
        levels = np.ones(1) if self._row_weights is None else level_weights()
        table = self._table(Columns(encoding), label_index, len(levels))
        return WeightedCurator(
            table,
            self._reservation,
            self._noise,
            self._rows_per_unit,
            class_weights,
            levels,
            self.witness,
            self._choices,
        )

    def seal_rows(self, encoder: RowEncoder | MatrixEncoder, label_index: LabelIndex) -> Curator:
        """Encodes every row as a fixed-point vector of bounded norm and hands out a curator over the sealed rows."""
        return self._curator(Vectors(encoder), label_index)

    def seal_lengths(self, encoder: RowEncoder, grid: NumericGrid, label_index: LabelIndex) -> Curator:
        """The lengths of the rows, before they are clipped, in the cells of a public grid: a table of one column."""
        return self._curator(Lengths(encoder, grid), label_index)

    def seal_magnitudes(self, encoding: TableEncoding, label_index: LabelIndex) -> Curator:
        """Of every row the largest magnitude in any column: a table of one column.

        All columns are numeric, on one grid that is symmetric about its middle cell.
        """
        return self._curator(Magnitudes(encoding), label_index)

    def keys(self, name: str | None, charge: Charge, delta: float, label: Label | str, exact: bool = False) -> Keys:
        """Values of an undeclared column (None: of the labels) that enough rows hold, with noisy counts.

        Guarantee: the composition of ``charge`` and ``ApproxDP(0, delta)``, which the reservation must hold; see
        :class:`tacit.queries.keys.KeyCounts`. ``exact``: whether values are told apart by spelling, not by meaning.
        """
        if not self._is_whole:
            raise TypeError("children of a view discover nothing: rows that a view leaves out would count")
        codes, texts = key_codes(self._labels if name is None else self._frame.column(name), name or "label", exact)
        if self._unit is not None:
            codes = np.where(self._within_unit, codes, NO_KEY)
        from tacit.curator.keys import release_keys  # few fits look for values that nobody declared

        return release_keys(codes, texts, self.gate, charge, delta, label)

    def check_handed_on(self) -> None:
        """Raises for a unit of several rows, of which a child knows nothing, or where rows stay with one curator."""
        if self._rows_per_unit != 1:
            raise ValueError("rows that are handed on are protected one by one; a unit of several is not supported")
        if self._reservation.keeps:
            raise HandedOnError("what other learners make of the rows is not kept: such a fit cannot go on later")

    def _curator(self, recipe: Recipe, label_index: LabelIndex | NumericLabelIndex) -> Curator:
        table = self._table(recipe, label_index)
        return Curator(table, self._reservation, self._noise, self._rows_per_unit, self.witness, self._choices)

    def _table(self, recipe: Recipe, label_index: LabelIndex | NumericLabelIndex, levels: int = 1) -> SealedTable:
        """The rows in the engine, as a recipe says; labels hold a level of weight beside the class if there are any."""
        codes = self._label_codes(label_index)
        labels: Codes = codes
        if self._row_weights is not None and levels > 1:
            combined = codes.astype(np.int64) * levels + weight_levels(self._row_weights)
            if label_index.n_classes * levels <= DROPPED:
                labels = np.where(codes == DROPPED, DROPPED, combined).astype(np.uint8)
            else:
                labels = np.where(codes == DROPPED, WIDE_DROPPED, combined).astype(np.uint16)
        frame, targets = self._frame, targets_of(self._labels, label_index)
        n_labels = label_index.n_classes * levels
        return MemoryTable(
            recipe.columns(frame), labels, recipe.n_codes, n_labels, dense=recipe.dense(frame), targets=targets
        )

    def _label_codes(self, label_index: LabelIndex | NumericLabelIndex) -> Bytes:
        codes = label_codes(self._labels, label_index)
        if self._unit is None:
            return codes
        return np.where(self._within_unit, codes, np.uint8(DROPPED))

    @cached_property
    def _within_unit(self) -> Bools:
        """Whether a row counts: it has a unit, and is among the first ``max_rows`` of it."""
        assert self._unit is not None
        return first_rows(unit_codes(self._frame.column(self._unit.column), self._unit.column), self._rows_per_unit)
