"""A curator over weighted rows: every rule a learner asks with is applied with the weights of classes and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from tacit.arrays import Floats
from tacit.curator.curator import Curator
from tacit.curator.gate import NOBODY, Witness
from tacit.curator.joint_clipping import JointWeights
from tacit.curator.measurement import Measurement
from tacit.curator.select import Choice
from tacit.engines.protocol import SealedTable
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label
from tacit.privacy.ledger import Reservation
from tacit.queries.fourier import ScatterSum, ScoreFourierSum
from tacit.queries.histogram import SCORE_QUERIES, Histogram, ScoreQuery
from tacit.queries.query import Layout, Query
from tacit.queries.row_weights import LabelWeights, weighted_rule
from tacit.queries.rules import RowRule
from tacit.queries.selection import Selection
from tacit.queries.tree_cells import SplitHistogram


class WeightedCurator(Curator):
    """The curator of a table whose labels are ``class * levels + level``. A learner sees classes alone.

    It measures weighted histograms, of rows with scores too; their sensitivity is that of the weighted rule (see
    :mod:`tacit.queries.row_weights`). It chooses splits by weighted rows, and nothing else. Weights of classes and of
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
    ) -> None:
        super().__init__(table, reservation, noise, rows_per_unit, witness)
        self._classes, self._levels = tuple(classes), levels
        self._label_weights = LabelWeights.of(self._classes, levels)

    @property
    def layout(self) -> Layout:
        """What is public about the table; labels are classes."""
        return replace(super().layout, n_labels=len(self._classes))

    def measure_all(self, asks: Sequence[tuple[Query, Charge, Label | str]]) -> list[Measurement]:
        """Releases noisy weighted histograms; see :meth:`Curator.measure_all`.

        Raises:
            TypeError: for a query that knows no weights; nothing was read.
        """
        return super().measure_all([(self._weighted(query), charge, label) for query, charge, label in asks])

    def select(self, selection: Selection, charge: Charge, label: Label | str) -> Choice:
        """Chooses by weighted rows; see :meth:`Curator.select`.

        A weighted row weighs at most what the rule gives it, so a movement that holds for lighter rows holds here.

        Raises:
            TypeError: for a selection that does not say so, or whose queries know no weights; nothing was read.
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

    def _weighted(self, query: Query) -> Histogram | ScatterSum | ScoreFourierSum | ScoreQuery:
        if isinstance(query, (*SCORE_QUERIES, ScoreFourierSum)):
            return replace(query, weights=self._label_weights)
        if not isinstance(query, Histogram | ScatterSum):
            raise TypeError(f"a {type(query).__name__} knows no weights of rows")
        return replace(query, rule=self._weighted_rule(query.rule))

    def _weighted_splits(self, query: Query) -> SplitHistogram:
        if not isinstance(query, SplitHistogram):
            raise TypeError(f"a {type(query).__name__} knows no weights of rows in choices")
        return replace(query, rule=self._weighted_rule(query.rule), classes=self._label_weights.classes)

    def _weighted_rule(self, rule: RowRule) -> RowRule:
        return weighted_rule(rule, self._classes, self._levels)
