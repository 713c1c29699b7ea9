"""Passes over rows: every query has one, blocks add up to the whole, and others can register their own."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

import tacit.queries
from tacit.additive.ordered_loss import ordered_rule
from tacit.checks import check_query
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.engines.passes.base import Pass, register, row_pass
from tacit.engines.rows import Rows
from tacit.models.tree import TreeShape, complete_shape, threshold_sets
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.charges import Gaussian
from tacit.privacy.label import Label, Stage
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import OneCell, column_cells
from tacit.queries.dense.halfspace_log import HalfspaceLog, Levels, MarginCounts, MeasureSize
from tacit.queries.dense.moments import MomentSum, ShortenedSquares
from tacit.queries.dense.vector_sum import VectorSum
from tacit.queries.histogram import CellFunction, Histogram, ResidualLevels, ScoreHistogram
from tacit.queries.margins import Margins, Scores
from tacit.queries.query import Sensitivity
from tacit.queries.rules import LEVELS, RowRule, class_count_rule, signed_margin_rule
from tacit.queries.score_rules import ResidualRule, SoftmaxRule, TargetScale
from tacit.queries.tree_cells import SplitHistogram, TreeCells, class_weight_rule

ONE, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE

N_CODES = (5, 7, 3)
ROWS = 600
DEFAULT = row_pass.dispatch(object)

ELSEWHERE = {
    "Query": "what all queries are",
    "KeyCounts": "counts texts that nobody declared; the verb keys reads them",
    "JointBound": "what rows are bounded by, and no question",
}


def kinds_of_queries() -> Iterator[type]:
    """All classes of the room that state a sensitivity."""
    for found in pkgutil.walk_packages(tacit.queries.__path__, "tacit.queries."):
        module = importlib.import_module(found.name)
        for _, kind in inspect.getmembers(module, inspect.isclass):
            stated = hasattr(kind, "sensitivity") or hasattr(kind, "joint_sensitivity")
            if kind.__module__ == module.__name__ and stated:
                yield kind


def test_every_query_of_the_library_has_a_pass() -> None:
    kinds = {kind for kind in kinds_of_queries() if kind.__name__ not in ELSEWHERE}
    assert {Histogram, SplitHistogram, VectorSum} <= kinds
    assert [kind.__name__ for kind in kinds if row_pass.dispatch(kind) is DEFAULT] == []


def test_a_query_without_a_pass_is_refused_by_name() -> None:
    table = MemoryTable([], np.zeros(3, np.uint8), (), 2)
    with pytest.raises(TypeError, match="cannot answer a Sensitivity: no pass"):
        table.answer(Sensitivity(1, 1, "no query"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no dense rows"):
        table.answer(MomentSum(1, 2, 10))


# Blocks add up.


def world(seed: int = 0) -> dict[str, Any]:
    """Rows with everything that a query may ask about."""
    generator = np.random.default_rng(seed)
    return {
        "columns": [generator.integers(0, size, ROWS).astype(np.uint8) for size in N_CODES],
        "labels": generator.integers(0, 2, ROWS).astype(np.uint8),
        "dense": generator.integers(-40, 41, (ROWS, 3)).astype(np.int16),
        "targets": generator.integers(0, 1 << 15, ROWS).astype(np.int32),
    }


def margin(values: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(values))


def queries() -> dict[str, Any]:
    """A query of each type whose sums add up over blocks, about logs that have entries already."""
    margins, scores, log = Margins(), Scores(2), HalfspaceLog(3, 100)
    margins.add(column_cells(0, 5), np.linspace(-1, 1, 5))
    margins.add(column_cells(1, 7), np.linspace(1, -1, 7))
    scores.add(column_cells(0, 5), np.linspace(-1, 1, 10).reshape(5, 2))
    log.add(np.array([0.5, -1.0, 0.2]), step=1.0)
    one = Scores(1)
    one.add(column_cells(2, 3), np.linspace(-1, 1, 3)[:, None])
    levels = Levels.covering(8.0, 256)
    weights = np.arange(levels.count, dtype=np.int64)
    counts = Histogram(column_cells(1, 7), class_count_rule(2))
    scale = TargetScale(1 << 14, 1 << 12)
    splits = SplitHistogram(TreeCells(stump()), (0, 1, 2), N_CODES, class_weight_rule(margin, split=False), margins)
    return {
        "counts": counts,
        "margins": Histogram(column_cells(2, 3), signed_margin_rule(margin), margins),
        "vectors": Histogram(column_cells(0, 5), RowRule(thirds(), 1), margins),
        "function": CellFunction(counts, lambda sums: int(sums[0] - sums[1]), 1000, 1),
        "splits": splits,
        "scores": ScoreHistogram(column_cells(1, 7), SoftmaxRule(2), scores),
        "of levels": ScoreHistogram(column_cells(1, 7), ordered_rule(np.zeros(1), 0.3), one),
        "residuals": ScoreHistogram(column_cells(1, 7), ResidualRule(scale, 0, -4096, 4096), one),
        "levels": ResidualLevels(scale, np.arange(-2000, 2000, 400, dtype=np.int64), one),
        "vector": VectorSum(log, levels, weights, 1024),
        "size": MeasureSize(log, levels, weights, 1024),
        "margin counts": MarginCounts(log, levels),
        "moments": MomentSum(2, 3, 100),
        "shortened": ShortenedSquares(3, 100, 2000),
    }


def stump() -> TreeShape:
    return complete_shape(np.array([1]), threshold_sets(np.array([3])))


def thirds() -> np.ndarray:
    return np.random.default_rng(4).integers(-9, 9, (2, LEVELS, 3)).astype(np.int32)


# A query of one's own.


@dataclass(frozen=True, eq=False)
class Disagreement:
    """How many rows have different codes in two columns.

    A row adds 1 or nothing: adding or removing it moves the count by at most 1, and so does replacing it.
    """

    left: int
    right: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (1,)

    @property
    def unit(self) -> int:
        return 1

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        del neighbouring
        return Sensitivity(1, 1, "a row disagrees or not")


class DisagreementPass(Pass[Disagreement]):
    """One look at two columns."""

    def sums(self, query: Disagreement, rows: Rows) -> np.ndarray:
        left, right = rows.columns[query.left], rows.columns[query.right]

        def run(start: int, stop: int, sums: np.ndarray) -> None:
            sums[0] += np.count_nonzero(left[start:stop] != right[start:stop])

        return rows.run(run, 1)


register(Disagreement, DisagreementPass())


def disagreement_rate(curator: Curator, charge: Gaussian) -> float:
    """A mechanism of one's own: two releases, and what follows from them costs nothing."""
    rows = Histogram(OneCell(), class_count_rule(2))
    count = curator.measure(Disagreement(0, 1), charge, Label(Stage.OTHER, "rows that disagree"))
    total = curator.measure(rows, charge, Label(Stage.COUNTS, "number of rows"))
    return float(np.clip(count.value[0] / max(total.value.sum(), 1.0), 0.0, 1.0))


def gate(columns: list[np.ndarray], reservation: Reservation) -> Curator:
    table = MemoryTable([c.copy() for c in columns], np.zeros(len(columns[0]), np.uint8), [3, 3], 2)
    return Curator(table, reservation, SeededSource(3))


def test_a_query_and_a_mechanism_of_ones_own() -> None:
    generator = np.random.default_rng(1)
    columns = [generator.integers(0, 3, 4000).astype(np.uint8) for _ in range(2)]
    truth = float((columns[0] != columns[1]).mean())
    charge = Gaussian(5.0)
    with Reservation([charge, charge], ONE, "a mechanism") as reservation:
        curator = gate(columns, reservation)
        assert abs(disagreement_rate(curator, charge) - truth) < 0.02
        with pytest.raises(BudgetExceeded):
            disagreement_rate(curator, charge)
    assert [entry.label for entry in reservation.entries] == ["rows that disagree", "number of rows"]
    assert reservation.entries[0].theorem == "a row disagrees or not"


def test_its_sensitivity_is_the_furthest_that_a_row_moves_it() -> None:
    def sealed(rows: list[tuple[int, int]]) -> MemoryTable:
        codes = np.array(rows, np.uint8).reshape(-1, 2)
        return MemoryTable([codes[:, 0], codes[:, 1]], np.zeros(len(codes), np.uint8), [2, 2], 2)

    assert check_query(Disagreement(0, 1), product(range(2), range(2)), sealed) == {str(ONE): 1.0, str(REPLACE): 1.0}
