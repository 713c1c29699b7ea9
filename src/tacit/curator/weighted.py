"""A curator over weighted rows: every rule a learner asks with is applied with the weights of classes and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tacit.curator.curator import Curator
from tacit.curator.jointly import JointWeights
from tacit.curator.measurement import Measurement
from tacit.noise.source import NoiseSource
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Reservation
from tacit.queries.histogram import Histogram
from tacit.queries.query import Layout, Query
from tacit.queries.row_weights import LabelWeights, weighted_rule
from tacit.queries.rules import RowRule
from tacit.queries.score_histogram import SCORE_QUERIES, ScoreQuery
from tacit.table.protocol import SealedTable


class WeightedCurator(Curator):
    """The gate in front of a table whose labels are ``class * levels + level``. A learner sees classes alone.

    It measures weighted histograms, of rows with scores too, and nothing else; their sensitivity is that of the
    weighted rule (see :mod:`tacit.queries.row_weights`).

    Args:
        table: the sealed rows, with such labels.
        reservation: the budget, already durably charged.
        noise: where noise comes from.
        rows_per_unit: how many rows one protected unit may hold.
        classes: weight of every class, in [0, 1].
        levels: weight of every level of rows, in [0, 1].
    """

    def __init__(
        self,
        table: SealedTable,
        reservation: Reservation,
        noise: NoiseSource,
        rows_per_unit: int,
        classes: Sequence[float],
        levels: npt.NDArray[np.float64],
    ) -> None:
        super().__init__(table, reservation, noise, rows_per_unit)
        self._classes, self._levels = tuple(classes), levels
        self._rules: WeakKeyDictionary[RowRule, RowRule] = WeakKeyDictionary()
        self._label_weights = LabelWeights.of(self._classes, levels)

    @property
    def layout(self) -> Layout:
        """What is public about the table; labels are classes."""
        return replace(super().layout, n_labels=len(self._classes))

    def measure_all(self, asks: Sequence[tuple[Query, Charge, str]]) -> list[Measurement]:
        """Releases noisy weighted histograms; see :meth:`Curator.measure_all`.

        Raises:
            TypeError: for a query that knows no weights; nothing was read.
        """
        return super().measure_all([(self._weighted(query), charge, label) for query, charge, label in asks])

    def select(self, *_: Any, **__: Any) -> Any:
        """Not for weighted rows."""
        raise TypeError("choices are made over unweighted rows")

    def cover(self, *_: Any, **__: Any) -> Any:
        """Not for weighted rows."""
        raise TypeError("covers are made over unweighted rows")

    def open_stream(self, *_: Any, **__: Any) -> Any:
        """Not for weighted rows."""
        raise TypeError("streams are opened over unweighted rows")

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
        rule = self._rules.get(query.rule)
        if rule is None:
            rule = self._rules[query.rule] = weighted_rule(query.rule, self._classes, self._levels)
        return replace(query, rule=rule)
