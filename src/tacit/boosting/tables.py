"""Boosting over encoded tables: an embedding, SmoothBoost's measure and weak learners of cells.

A hypothesis is a value in [-1, 1] for every cell of a few columns: a stump (one column, two cells), a 1-rule (one
column, as many cells as are wanted) or a small tree that asks every column one question. Columns and cuts are drawn in
public, so that a round pays for one release: the weighted classes of the cells. Jahanara, Asadi, Carmosino, Rafiey and
Salamatian (JPC 2023) boost trees in this way: the measure never puts much weight on a row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.arrays import Codes, Floats, Ints
from tacit.boosting.measures import Measure, SmoothMeasure
from tacit.curator.curator import Curator
from tacit.encoding.table import TableEncoding
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell, ProductCells
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.rules import WEIGHT_UNIT, RowRule, signed_margin_rule

MARGINS = 7.5  # margins of a whole run reach so far: rules over margins tell them apart up to 8


@dataclass(frozen=True, eq=False)
class CellRule:
    """A released hypothesis: ``values[cell]`` in [-1, 1] for rows of a cell.

    Example:
        >>> from tacit.boosting import CellRule
        >>> print([name for name in CellRule.__dataclass_fields__])
        ['cells', 'values']
    """

    cells: ProductCells
    values: Floats

    def scores(self, codes: Sequence[Codes]) -> Floats:
        """Its value for every row, from one vector of codes per column; shape ``(rows,)``."""
        cells: Ints = sum(  # type: ignore[assignment]
            offsets[codes[column]].astype(np.int64)
            for column, offsets in zip(self.cells.columns, self.cells.offsets, strict=True)
        )
        return self.values[cells]


@dataclass(eq=False)
class CellEmbedding:
    """Keeps the public log of rules over the columns of an encoding; margins are sums of their values.

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import CellEmbedding, private_table
        >>> a = np.arange(2000) / 1000 - 1
        >>> schema = {"columns": {"a": {"kind": "numeric", "lower": -1, "upper": 1}}}
        >>> with private_table({"a": a}, a > 0, schema=schema, epsilon=1.0) as rows:
        ...     embedding = CellEmbedding(rows.encoding)
        >>> print(len(embedding.rules))
        0
    """

    encoding: TableEncoding
    margins: Margins = field(default_factory=Margins)
    rules: list[CellRule] = field(default_factory=list)

    def append(self, hypothesis: CellRule, step: float) -> None:
        """Adds a released rule.

        Raises:
            ValueError: for values beyond [-1, 1], or that are not finite.
        """
        if not (np.abs(hypothesis.values) <= 1).all():
            raise ValueError("a rule has values in [-1, 1]")
        self.margins.add(hypothesis.cells, step * hypothesis.values)
        self.rules.append(hypothesis)

    def scores(self, X: Any) -> Floats:
        """The average of the released rules for the rows of a table, in [-1, 1]; positive for the second class."""
        codes = self.encoding.encode(X)
        n = len(codes[0]) if codes else 0
        total = sum((rule.scores(codes) for rule in self.rules), np.zeros(n))
        return np.asarray(total / max(1, len(self.rules)), np.float64)


@dataclass(frozen=True)
class CellMeasure:
    """SmoothBoost's measure (Algorithm 13) over the margins of rules: stateless, so a row moves its own cell alone.

    Example:
        >>> from tacit.boosting import CellMeasure, SmoothMeasure
        >>> print(CellMeasure(SmoothMeasure(0.1), rounds=40).rounds)
        40
    """

    smooth: SmoothMeasure  # the measure
    rounds: int  # the most hypotheses of a run; margins are scaled so that all of them can be told apart

    @property
    def step(self) -> float:
        """How far a hypothesis of value 1 moves a margin."""
        return MARGINS / self.rounds

    def total(self, n_rows: float) -> float:
        return self.smooth.total(n_rows)

    def rule(self, rounds: int) -> RowRule:
        """What a row adds to its cell after so many rounds: its sign times its weight, and its weight.

        Shape ``(2, levels, 2)``; the two channels are as long as one together.
        """
        signed = signed_margin_rule(lambda margins: self.smooth.weights(margins / self.step, rounds) / math.sqrt(2.0))
        return RowRule(np.concatenate([signed.table, np.abs(signed.table)], axis=2), WEIGHT_UNIT)

    def sums(self, embedding: CellEmbedding, rounds: int, cells: ProductCells) -> Histogram:
        """The query for the weighted classes of cells; of sensitivity 1 where a row is added or removed."""
        return Histogram(cells, self.rule(rounds), embedding.margins)

    def weighted_sum(self, log: Any, rounds: int, reach: float) -> Histogram:
        """The query for the weighted classes of all rows; ``log`` is an embedding."""
        del reach
        return Histogram(OneCell(), self.rule(rounds), log.margins)


@dataclass(frozen=True, eq=False)
class CellLearner:
    """Asks for the weighted classes of the cells of some columns, and votes as they do.

    A cell says the weighted mean of its signs, drawn to 0 by the noise: ``s / (w + sd)`` from noisy sums ``s`` of
    signed weights and ``w`` of weights, clipped to [-1, 1].

    Example:
        >>> import numpy as np
        >>> from tacit.boosting import CellEmbedding, CellLearner, CellMeasure, SmoothMeasure
        >>> from tacit.boosting import boost, private_table
        >>> a = np.arange(2000) / 1000 - 1
        >>> schema = {"columns": {"a": {"kind": "numeric", "lower": -1, "upper": 1}}}
        >>> with private_table({"a": a}, a > 0, schema=schema, epsilon=1.0) as rows:
        ...     embedding = CellEmbedding(rows.encoding)
        ...     stumps = CellLearner(embedding, rows.charge(0.5), orders=rows.orders)
        ...     ensemble = boost(rows.budget.curator, embedding, CellMeasure(SmoothMeasure(0.1), 2), stumps, 2)
        >>> print(len(embedding.rules))
        2
    """

    embedding: CellEmbedding  # keeps the log
    charge: Charge  # of one round
    columns: int = 1  # how many columns a rule has: 1 for stumps and 1-rules, the depth for small trees
    parts: int = 2  # into how many ranges of codes a column is cut: 2 for stumps and trees
    # whether the codes of a column stand in an order; where not, they are dealt to the parts at random
    orders: Sequence[bool] = ()

    def learn(self, curator: Curator, measure: Measure, hypotheses: Sequence[CellRule]) -> CellRule:
        """One release; columns and cuts are drawn in public.

        Raises:
            TypeError: for a measure of other rows.
        """
        if not isinstance(measure, CellMeasure):
            raise TypeError(f"rules of cells take a CellMeasure, got {type(measure).__name__}")
        cells, rounds = self.draw(curator.public_generator), len(hypotheses)
        query = measure.sums(self.embedding, rounds, cells)
        release = curator.measure(query, self.charge, Label(Stage.ROUND, "weighted classes of cells", rounds + 1))
        signed, weights = release.value.T
        return CellRule(cells, np.clip(signed / np.maximum(weights + release.sd, 1e-9), -1.0, 1.0))

    def draw(self, generator: np.random.Generator) -> ProductCells:
        """Columns, and for each of them which codes make which part."""
        sizes = self.embedding.encoding.n_codes
        columns = tuple(int(j) for j in generator.permutation(len(sizes))[: self.columns])
        maps = []
        for column in columns:
            parts = min(self.parts, sizes[column])
            if column < len(self.orders) and not self.orders[column]:
                maps.append(generator.integers(0, parts, sizes[column]))
            else:
                cuts = np.sort(generator.permutation(np.arange(1, sizes[column]))[: parts - 1])
                maps.append(np.searchsorted(cuts, np.arange(sizes[column]), side="right"))
        return ProductCells(columns, tuple(maps), tuple(int(each.max()) + 1 for each in maps))
