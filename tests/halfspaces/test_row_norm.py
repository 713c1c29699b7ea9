"""How long rows are, where nobody says: a noisy quantile of lengths, and one pair of bounds for many columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit import HalfspaceBoostClassifier, Schema
from tacit.curator.curator import Curator
from tacit.curator.rows import PrivateRows
from tacit.discovery.bounds import exponential_grid
from tacit.encoding.dense import RowEncoder
from tacit.encoding.frames import Frame, columns_of
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.halfspaces import learner
from tacit.halfspaces.learner import find_common_bounds, find_row_norm, length_grid, quantile_cell
from tacit.halfspaces.tuning import TUNING
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Gaussian, NonPrivate
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import column_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_count_rule

LABELS = LabelIndex((0, 1))


def schema(width: int) -> Schema:
    columns = {f"x{j}": {"kind": "numeric", "lower": -1, "upper": 1} for j in range(width)}
    return Schema.from_dict({"label": {"column": "y", "classes": [0, 1]}, "columns": columns})


def frame(rows: np.ndarray) -> Frame:
    return columns_of(pd.DataFrame(rows, columns=[f"x{j}" for j in range(rows.shape[1])]))


def private_rows(rows: np.ndarray, epsilon: float = math.inf) -> tuple[PrivateRows, Reservation]:
    charge = NonPrivate() if math.isinf(epsilon) else Allowance.of(epsilon, 1e-6).whole
    reservation = Reservation((charge,), Neighbouring.ADD_OR_REMOVE_ONE)
    return PrivateRows(frame(rows), np.ones(len(rows), np.int64), reservation, 0), reservation


def ball_rows(n: int, width: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of length 1 with margin .1 to .3 along the first axis, and 0/1 labels."""
    rng = np.random.default_rng(seed)
    signs, margins = rng.choice([-1, 1], n), rng.uniform(0.1, 0.3, n)
    rest = rng.normal(size=(n, width - 1))
    rest *= np.sqrt(1 - margins**2)[:, None] / np.linalg.norm(rest, axis=1, keepdims=True)
    return np.hstack([(signs * margins)[:, None], rest]), (signs > 0).astype(int)


@pytest.mark.parametrize("width", [10, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", ["row_norm", "schema", "schema and row_norm", "neither"])
def test_the_dimension_does_not_come_back_through_the_schema(width: int, way: str) -> None:
    """At 300 columns a schema cost an error of .22 to .38, and no schema one of .44: rows counted as sqrt(d) long."""
    rows, labels = ball_rows(8000, width, 0)
    told = {"schema": schema(width)} if "schema" in way else {}
    if "row_norm" in way:
        told["row_norm"] = 1.0
    table = rows if way == "row_norm" else pd.DataFrame(rows, columns=list(schema(width).columns))
    errors = []
    for seed in range(3):
        model = HalfspaceBoostClassifier(0.5, random_state=seed, **told, classes=(0, 1))
        model.fit(table[:4000], labels[:4000])
        errors.append((model.predict(table[4000:]) != labels[4000:]).mean())
    assert np.mean(errors) <= 0.015
    results = [entry for entry in model.certificate_.entries if "lengths of rows" in str(entry)]
    assert len(results) == (way in ("schema", "neither"))
    assert model.model_.encoder.clipper.norm < (1.6 if way != "neither" else 6)


def counts_of(curator: Curator) -> np.ndarray:
    query = Histogram(column_cells(0, curator.layout.n_codes[0]), fine_count_rule(2))
    return curator.measure(query, NonPrivate(), "counts").value[:, 0]


def sealed(rows: np.ndarray, what: str) -> np.ndarray:
    """Exact counts of the rows by length, or by their largest magnitude."""
    width = rows.shape[1]
    if what == "lengths":
        encoder = RowEncoder.of(schema(width))
        return counts_of(private_rows(rows)[0].seal_lengths(encoder, length_grid(math.sqrt(width)), LABELS))
    names = tuple(f"x{j}" for j in range(width))
    encoding = TableEncoding(names, (exponential_grid(),) * width)
    return counts_of(private_rows(rows)[0].seal_magnitudes(encoding, LABELS))


@pytest.mark.parametrize("what", ["lengths", "magnitudes"])
def test_a_row_moves_one_count_by_one(what: str) -> None:
    """Whatever it holds, and whatever the others do: the sensitivity that the histograms are charged for."""
    rng = np.random.default_rng(0)
    for case in range(20):
        rows = rng.normal(size=(30, 4)) * 10.0 ** rng.uniform(-3, 3, (30, 1))
        rows[rng.random((30, 4)) < 0.1] = rng.choice([np.nan, np.inf, -np.inf, 0.0, 1e300])
        whole, less = sealed(rows, what), sealed(np.delete(rows, case, axis=0), what)
        assert np.abs(whole - less).sum() == 1
        other = rows.copy()
        other[case] = rng.normal(size=4)
        assert np.abs(whole - sealed(other, what)).sum() in (0, 2)


def test_lengths_and_magnitudes_are_those_of_the_rows() -> None:
    rows = np.array([[0.6, 0.0], [0.6, 0.8], [-0.05, 0.05], [np.nan, 0.5]])
    encoder = RowEncoder.of(schema(2))
    assert encoder.lengths(frame(rows)) == pytest.approx([0.6, 1.0, 0.05 * math.sqrt(2), 0.5], abs=1e-3)
    magnitudes = sealed(np.array([[3.0, -100.0], [np.nan, 0.3], [np.inf, np.nan]]), "magnitudes")
    middle = len(exponential_grid().edges()) // 2
    edges = np.append(exponential_grid().edges(), exponential_grid().upper)[middle + 1 :]
    assert edges[np.flatnonzero(magnitudes)].tolist() == [2.0**-20, 0.5, 128.0]


def test_the_quantile_is_where_few_rows_lie_beyond() -> None:
    counts = np.array([0.0, 500, 300, 170, 30, 0])
    assert quantile_cell(counts, 0.0) == 3
    assert quantile_cell(counts * [1, 1, 1, 1, 3, 1], 0.0) == 4
    assert quantile_cell(counts, 400.0) == 5  # too few rows to say: nothing is shortened
    assert quantile_cell(np.array([1000.0, 0, 0]), 1.0) == 0
    rng = np.random.default_rng(0)
    cells = [quantile_cell(counts + rng.normal(0, 20, 6), 20.0) for _ in range(200)]
    assert set(cells) <= {2, 3, 4}


def test_what_is_found_is_paid_for() -> None:
    rows, _ = ball_rows(4000, 300, 1)
    table, reservation = private_rows(rows, 1.0)
    allowance = Allowance.of(1.0, 1e-6)
    norm = find_row_norm(table, RowEncoder.of(schema(300)), LABELS, allowance)
    assert 0.9 < norm < 1.3
    names = tuple(f"x{j}" for j in range(300))
    common = find_common_bounds(table, names, LABELS, allowance, 0.03 / 300)
    assert common is not None
    assert common[1] == -common[0]
    assert 0.2 < common[1] <= 0.5
    assert find_common_bounds(private_rows(rows)[0], names, LABELS, Allowance.of(math.inf, 0.0), 1e-4) is None
    assert [entry.charge for entry in reservation.entries] == [allowance.charge(TUNING.norm_share)] * 2
    assert isinstance(reservation.entries[0].charge, Gaussian)


def test_noise_alone_makes_no_magnitude_of_all_columns() -> None:
    """Any of some forty cells, each twice the last, may look inhabited: one in five fits was lost to that."""
    rows, _ = ball_rows(4000, 100, 1)
    names, allowance = tuple(f"x{j}" for j in range(100)), Allowance.of(0.5, 1e-6)
    results = []
    for seed in range(40):
        reservation = Reservation((allowance.whole,), Neighbouring.ADD_OR_REMOVE_ONE)
        table = PrivateRows(frame(rows), np.ones(len(rows), np.int64), reservation, seed)
        common = find_common_bounds(table, names, LABELS, allowance, 0.03 / 100)
        assert common is not None
        results.append(common[1])
    assert min(results) >= 0.25
    assert max(results) <= 1.0


def test_rows_are_clipped_to_what_is_declared_beside_a_schema() -> None:
    rows, labels = ball_rows(500, 5, 0)
    table = pd.DataFrame(rows, columns=list(schema(5).columns))
    model = HalfspaceBoostClassifier(2.0, schema=schema(5), row_norm=0.25, random_state=0).fit(table, labels)
    encoder = model.model_.encoder
    assert encoder.intercept == 0.25
    assert encoder.clipper.norm == pytest.approx(0.25 * math.sqrt(2))
    assert np.linalg.norm(encoder.encode(columns_of(table)), axis=1).max() <= encoder.clipper.radius
    assert RowEncoder.from_dict(encoder.to_dict()) == encoder


def test_one_pair_of_bounds_from_a_hundred_columns_on(monkeypatch: pytest.MonkeyPatch) -> None:
    queries: list[str] = []

    def noted(name: str) -> Callable[..., Any]:
        find = getattr(learner, name)

        def called(*rest: Any) -> Any:
            queries.append(name)
            return find(*rest)

        return called

    for name in ("find_bounds", "find_common_bounds"):
        monkeypatch.setattr(learner, name, noted(name))
    for width in (99, 100):
        rows, labels = ball_rows(50, width, 0)
        table = pd.DataFrame(rows, columns=[f"x{j}" for j in range(width)])
        HalfspaceBoostClassifier(8.0, classes=(0, 1), measure="smooth", rounds=1, random_state=0).fit(table, labels)
    assert queries[:2] == ["find_bounds", "find_common_bounds"]
