"""The kernels give what the plain algorithms of the lemmas give; most charges of default fits rest on lemmas."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.engines.blocks import MemoryTable
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import column_cells
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.query import Sensitivity
from tacit.queries.rules import RowRule
from tacit.report.budget import checked_share
from tests.replay.neighbours import schema_of, table_of

sys.path.insert(0, str(Path(__file__).parents[2] / "proofs"))
import reference

CODES = (5, 3)
Row = tuple[int, int, int]
ROW = st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 1))
ROWS = st.lists(ROW, max_size=12)


def table(rows: list[Row]) -> MemoryTable:
    data = np.array(rows, np.int64).reshape(-1, 3)
    return MemoryTable([data[:, j].astype(np.uint8) for j in (0, 1)], data[:, 2].astype(np.uint8), CODES, 2)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(0, 1000))
def test_a_histogram_through_a_map(rows: list[Row], seed: int) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.integers(-9, 10, (2, 1, 2)).astype(np.int32)
    matrix = generator.integers(-50, 51, (3, 5))
    plain = reference.histogram([(a, vectors[y, 0].tolist()) for a, _, y in rows], 5, 2)
    rule, cells = RowRule(vectors, 8), column_cells(0, 5)
    assert table(rows).answer(Histogram(cells, rule)).tolist() == plain
    mapped = Histogram(cells, rule, None, ReleaseMap(matrix, 1))
    assert table(rows).answer(mapped).tolist() == reference.release(matrix.tolist(), plain)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.lists(ROW, min_size=1, max_size=5), st.integers(0, 1000), st.sampled_from(Neighbouring))
def test_a_unit_moves_a_histogram_by_as_many_rows(
    rows: list[Row], unit: list[Row], seed: int, relation: Neighbouring
) -> None:
    """Rows that come one by one, or that take the place of the first ones; a unit of equal rows moves it so far."""
    vectors = np.random.default_rng(seed).integers(-9, 10, (2, 1, 2)).astype(np.int32)
    query = Histogram(column_cells(0, 5), RowRule(vectors, 8))
    replaced = unit[::-1] if relation is Neighbouring.REPLACE_ONE else []
    tables = [rows + unit[:t] + replaced[t:] for t in range(len(unit) + 1)]
    answers = [table(each).answer(query).reshape(-1).tolist() for each in tables]
    one, all_rows = query.sensitivity(relation), query.sensitivity(relation).times(len(unit))
    for step in pairwise(answers):
        apart = reference.unit_moves(step)
        assert apart[0] <= one.l1
        assert apart[1] <= one.l2_squared
    l1, l2_squared = reference.unit_moves(answers)
    assert l1 <= all_rows.l1
    assert l2_squared <= all_rows.l2_squared
    longest = max((0, 1), key=lambda y: int((vectors[y].astype(int) ** 2).sum()))
    equal = [table(rows + [(2, 0, longest)] * t).answer(query).reshape(-1).tolist() for t in range(len(unit) + 1)]
    alone = query.sensitivity(Neighbouring.ADD_OR_REMOVE_ONE).times(len(unit))
    assert reference.unit_moves(equal)[1] == alone.l2_squared


@given(st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=1, max_size=6))
def test_a_unit_moves_scores_apart_by_as_many_steps(wrong: list[list[int]]) -> None:
    """Counts of errors: a row adds an error or none to each of four concepts."""
    chain = [[sum(row[concept] for row in wrong[:t]) for concept in range(4)] for t in range(len(wrong) + 1)]
    assert reference.unit_range(chain) <= Sensitivity(1, 1, "").times(len(wrong)).l1


DEFAULTS = [
    (tacit.AdditiveBoostClassifier, "two"),
    (tacit.AdditiveBoostRegressor, "number"),
    (tacit.BoostedTreesClassifier, "two"),
    (tacit.RandomTreesClassifier, "two"),
    (tacit.HalfspaceBoostClassifier, "two"),
]


@pytest.mark.parametrize(("estimator", "kind"), DEFAULTS)
def test_four_fifths_of_the_charges_of_a_default_fit_rest_on_lemmas(estimator: type, kind: str) -> None:
    rows = table_of(kind, 90)
    fit = estimator(epsilon=1.0, delta=1e-6, random_state=1, schema=schema_of(kind)).fit(rows.X, rows.y)
    certificate = fit.certificate_
    share = checked_share(certificate.entries, certificate.charges, certificate.delta)
    print(f"{estimator.__name__:28} {share:.1%}")
    assert share >= 0.8


def test_a_renyi_curve_counts_by_what_it_costs() -> None:
    """By the slope of its curve it would seem to cost nothing, and a decision list to rest on its histogram."""
    rows = table_of("two", 90)
    asked = {"epsilon": 1.0, "delta": 1e-6, "random_state": 1, "schema": schema_of("two")}
    certificate = tacit.DecisionListClassifier(**asked).fit(rows.X, rows.y).certificate_
    assert checked_share(certificate.entries, certificate.charges, certificate.delta) < 0.5
