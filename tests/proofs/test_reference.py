"""The kernels give what the plain algorithms of the lemmas give; most charges of default fits rest on lemmas."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.engines.blocks import MemoryTable
from tacit.queries.cells import column_cells
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.rules import RowRule
from tacit.report.budget import checked_share
from tests.replay.neighbours import schema_of, table_of

sys.path.insert(0, str(Path(__file__).parents[2] / "proofs"))
import reference

CODES = (5, 3)
ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 1)), max_size=12)


def table(rows: list[tuple[int, int, int]]) -> MemoryTable:
    data = np.array(rows, np.int64).reshape(-1, 3)
    return MemoryTable([data[:, j].astype(np.uint8) for j in (0, 1)], data[:, 2].astype(np.uint8), CODES, 2)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(0, 1000))
def test_a_histogram_through_a_map(rows: list[tuple[int, int, int]], seed: int) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.integers(-9, 10, (2, 1, 2)).astype(np.int32)
    matrix = generator.integers(-50, 51, (3, 5))
    plain = reference.histogram([(a, vectors[y, 0].tolist()) for a, _, y in rows], 5, 2)
    rule, cells = RowRule(vectors, 8), column_cells(0, 5)
    assert table(rows).answer(Histogram(cells, rule)).tolist() == plain
    mapped = Histogram(cells, rule, None, ReleaseMap(matrix, 1))
    assert table(rows).answer(mapped).tolist() == reference.release(matrix.tolist(), plain)


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
