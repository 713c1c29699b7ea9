"""The rows of a block with their margins and scores: running sums of each log, and the sums that queries ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tacit.arrays import Codes, Ints
from tacit.engines import score_kernels
from tacit.engines.rows import FollowsCodes, Rows, folded
from tacit.queries.cells import each_its_own
from tacit.queries.histogram import ResidualLevels, ScoreHistogram
from tacit.queries.margins import Margins, Scores, Update
from tacit.queries.rules import COUNT_UNIT, WEIGHT_UNIT, LabelWeights
from tacit.queries.score_rules import LevelRule, LogLink, SoftmaxRule, exponentials


@dataclass
class Running:
    """The running sums of one log, an entry or a line per row, and how much of the log is in them."""

    sums: npt.NDArray[np.int32]
    applied: int = 0


class MarginRows(FollowsCodes):
    """Running margins, kept for as long as their logs live."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._margins: WeakKeyDictionary[Margins, Running] = WeakKeyDictionary()

    @classmethod
    def of(cls, rows: Rows) -> MarginRows:
        """Those of a block."""
        return rows.kept(cls, cls)

    def caught_up(self, margins: Margins, leave: int = 0) -> tuple[npt.NDArray[np.int32], Update | None]:
        """The running margins, the log applied but for its last ``leave`` new entries, which the caller applies."""
        cache = self._margins.get(margins)
        if cache is None:
            cache = self._margins[margins] = Running(self._rows.workspace.zeros(len(self._rows), np.int32))
        pending = margins.updates[cache.applied :]
        last = None
        if leave and pending:
            last = pending.pop()
        sums = cache.sums
        for entry in pending:
            self._rows.add_mapped(*self.steps(entry), sums)
        cache.applied = len(margins.updates)
        return sums, last

    def steps(self, entry: Update | None) -> tuple[Codes, npt.NDArray[np.int32]]:
        """An update as codes and what to add for each code."""
        if entry is None:
            return self._rows.zeros, np.zeros(1, np.int32)
        codes, lookup = self._rows.codes(entry.cells)
        return codes, _by_code(entry.values, lookup)

    def before_codes_change(self, column: int) -> None:
        """Applies all logs: updates so far speak of the old codes."""
        del column
        for margins in list(self._margins):
            self.caught_up(margins)


Contribute = Callable[[npt.NDArray[Any], int, int, Ints], None]
"""Given the code of every row, adds to sums by code over a range of rows."""

FACTOR_BITS = WEIGHT_UNIT.bit_length() - 1
UNWEIGHTED = LabelWeights(np.arange(256, dtype=np.uint8), np.full(256, WEIGHT_UNIT, np.int64))
"""Labels are classes, and all of them weigh 1."""

ONE_EACH = np.full(256, COUNT_UNIT, np.int64)
"""What a row adds to a count where none has a weight."""


class ScoreRows(FollowsCodes):
    """Running scores, kept for as long as their logs live, and the sums that queries ask for."""

    def __init__(self, rows: Rows) -> None:
        self._rows, self._labels = rows, rows.labels
        self._scores: WeakKeyDictionary[Scores, Running] = WeakKeyDictionary()
        self._exponentials = exponentials()

    @classmethod
    def of(cls, rows: Rows) -> ScoreRows:
        """Those of a block."""
        return rows.kept(cls, cls)

    def before_codes_change(self, column: int) -> None:
        """Applies all logs: updates so far speak of the old codes."""
        del column
        for scores in list(self._scores):
            self.caught_up(scores)

    def histogram(self, query: ScoreHistogram, labels: Codes) -> Ints:
        """Sums by cell, shape ``(cells, channels)``; ``labels`` are the table's, or those of rows bounded together."""
        channels, contribute = query.rule.channels, self._contributions(query, labels)
        codes, lookup = self._rows.codes(query.cells)  # behind what catches up: trees share the memory for leaves
        run = partial(contribute, codes)
        by_code = self._rows.run(run, len(lookup) * channels).reshape(len(lookup), channels)
        return folded(by_code, lookup, query.cells.size)

    def _contributions(self, query: ScoreHistogram, labels: Codes) -> Contribute:
        """Adds what the rule of a query says of every row to the line of its code."""
        rule, scores = query.rule, self.caught_up(query.scores)
        weights = UNWEIGHTED if query.weights is None else query.weights
        classes, factors = weights.classes, weights.factors
        bits = FACTOR_BITS - (0 if query.weights is None else rule.finer)
        facts: tuple[Any, ...] = (labels, classes, factors, bits, scores)
        kernel: Any
        if isinstance(rule, SoftmaxRule):
            kernel, facts = score_kernels.softmax_sum, (*facts, self._exponentials, rule.curvature, rule.norm)
        elif isinstance(rule, LevelRule):
            kernel, facts = score_kernels.looked_up_sum, (*facts, rule.table)
        else:
            clip = (rule.shift, rule.low, rule.high, rule.curvature, rule.weighted_first)
            numbers = (rule.scale.offset, rule.scale.numerator, *clip)
            link = None if rule.link is None else _tables(rule.link)
            kernel, facts = score_kernels.residual_sum, (labels, factors, bits, self._targets, scores, numbers, link)
        return lambda codes, start, stop, sums: kernel(codes, *facts, sums, start, stop)

    def levels(self, query: ResidualLevels) -> Ints:
        """Rows between edges, shape ``query.shape``."""
        scores, targets = self.caught_up(query.scores), self._targets
        edges, labels = np.ascontiguousarray(query.edges, np.int64), self._labels
        factors = ONE_EACH if query.weights is None else query.weights.factors
        first = query.weighted_first and query.weights is not None
        scale, link = (query.scale.offset, query.scale.numerator), None if query.link is None else _tables(query.link)
        facts = (labels, factors, FACTOR_BITS, first, targets, scores, scale, link, edges)

        def run(start: int, stop: int, sums: Ints) -> None:
            score_kernels.residual_levels(*facts, sums, start, stop)

        return self._rows.run(run, len(edges) + 1).reshape(query.shape)

    @property
    def _targets(self) -> npt.NDArray[np.int32]:
        if self._rows.targets is None:
            raise TypeError("residuals need a numeric target, and this table's label has classes")
        return self._rows.targets

    def caught_up(self, scores: Scores) -> npt.NDArray[np.int32]:
        """The running scores, the log applied."""
        cache = self._scores.get(scores)
        if cache is None:
            sums = self._rows.workspace.zeros((len(self._labels), scores.n_scores), np.int32)
            cache = self._scores[scores] = Running(sums)
        for entry in scores.updates[cache.applied :]:
            codes, lookup = self._rows.codes(entry.cells)
            self._rows.run(partial(_update, codes, _by_code(entry.values, lookup), cache.sums))
        cache.applied = len(scores.updates)
        return cache.sums


def _by_code(values: npt.NDArray[np.int32], lookup: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """What an update adds for every code, from what it adds in every cell."""
    return values if lookup is each_its_own(len(lookup)) else np.ascontiguousarray(values[lookup])


def _tables(link: LogLink) -> tuple[Ints, Ints, Ints]:
    return link.means, link.factors, link.shares


def _update(
    codes: Codes, steps: npt.NDArray[np.int32], scores: npt.NDArray[np.int32], start: int, stop: int, _: Ints
) -> None:
    score_kernels.update_scores(codes, steps, scores, start, stop)
