"""Fixed-point rows: no row is ever longer than the radius, in exact integers, and none sees another."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from tacit.encoding.dense import RowClipper, RowEncoder
from tacit.encoding.errors import FrameError
from tacit.schema import BooleanColumn, CategoricalColumn, NumericColumn, OrdinalColumn, Schema

clippers = st.builds(
    RowClipper,
    st.sampled_from([1.0, 3.7, 1e-100, 1e100, math.sqrt(14)]),
    st.sampled_from([1, 2, 7, 100, 32767, 32768, 1 << 20, 1 << 24]),
)
rows = st.integers(1, 6).flatmap(
    lambda d: st.lists(st.lists(st.floats(), min_size=d, max_size=d), min_size=1, max_size=6)
)


def squared_norms(matrix: Any) -> list[int]:
    return [sum(int(entry) ** 2 for entry in row) for row in matrix]


@settings(max_examples=100, deadline=None)
@given(clipper=clippers, matrix=rows)
@example(clipper=RowClipper(1.0, 1 << 24), matrix=[[0.6, 0.8], [math.sqrt(0.5)] * 2, [1.0, 1e-300], [1e308, -1e308]])
@example(clipper=RowClipper(math.sqrt(3), 32767), matrix=[[1.0, -1.0, 1.0]])
def test_no_row_is_longer_than_the_radius(clipper: RowClipper, matrix: list[list[float]]) -> None:
    out = clipper.clip(np.array(matrix))
    assert out.dtype == (np.int16 if clipper.radius <= 32767 else np.int32)
    assert max(squared_norms(out)) <= clipper.radius**2
    for row, one in zip(matrix, out, strict=True):
        assert np.array_equal(clipper.clip(np.array([row]))[0], one)


def test_the_search_finds_rows_beyond_a_radius_ten_percent_smaller() -> None:
    rng = np.random.default_rng(0)
    out = RowClipper(1.0).clip(rng.normal(size=(100, 5)))
    assert max(squared_norms(out)) > (0.9 * 32767) ** 2


@settings(max_examples=80, deadline=None)
@given(
    matrix=st.lists(st.lists(st.floats(-2, 2), min_size=3, max_size=3), min_size=1, max_size=5),
    radius=st.sampled_from([1000, 32767, 1 << 20]),
)
def test_rows_keep_their_direction_and_short_ones_their_length(matrix: list[list[float]], radius: int) -> None:
    exact = np.array(matrix)
    length = np.maximum(np.linalg.norm(exact, axis=1, keepdims=True), 1.0)
    out = RowClipper(1.0, radius).clip(exact)
    assert np.all(np.abs(out) <= np.abs(exact / length) * radius + 1e-6)  # truncation toward zero
    assert np.max(np.abs(out / radius - exact / length)) <= 2.5 / radius


@settings(max_examples=80, deadline=None)
@given(matrix=rows, clipper=clippers)
def test_sparse_rows_are_the_same_rows(matrix: list[list[float]], clipper: RowClipper) -> None:
    exact = np.array(matrix)
    out = clipper.clip(sparse.csr_matrix(exact))
    assert sparse.issparse(out)
    assert out.format == "csr"
    assert out.dtype == clipper.dtype
    assert np.array_equal(out.toarray(), clipper.clip(exact))


def test_sparse_duplicates_are_added_before_the_norm_is_taken() -> None:
    doubled = sparse.csr_matrix((np.array([0.8, 0.8]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    out = RowClipper(1.0, 100).clip(doubled)
    assert out.toarray().tolist() == [[100, 0]]
    assert doubled.nnz == 2
    assert RowClipper(1.0, 10).clip(sparse.coo_array(np.eye(2))).toarray().tolist() == [[10, 0], [0, 10]]


def test_what_is_no_number_counts_as_zero() -> None:
    out = RowClipper(1.0, 100).clip(np.array([[np.nan, 0.5], [np.inf, -0.5], [np.nan, -np.inf]]))
    assert out.tolist() == [[0, 50], [0, -50], [0, 0]]
    assert RowClipper(2.0, 100).clip(np.array([[1, 0], [0, -1]])).tolist() == [[50, 0], [0, -50]]


SCHEMA = Schema(
    {
        "age": NumericColumn(0, 100),
        "work": CategoricalColumn(("a", "b")),
        "rank": OrdinalColumn(("low", "mid", "high")),
        "married": BooleanColumn(),
    }
)


def test_tables_become_rows() -> None:
    encoder = RowEncoder.of(SCHEMA, intercept=True)
    assert encoder.names == (
        "age",
        "work=a",
        "work=b",
        "work=(other)",
        "work=(missing)",
        "rank",
        "married",
        "(intercept)",
    )
    assert encoder.width == 8
    table = pd.DataFrame(
        {
            "age": [75.0, None, -3.0],
            "work": ["b", None, "z"],
            "rank": ["high", "mid", "?"],
            "married": [False, True, None],
        }
    )
    out = encoder.encode(table) / encoder.clipper.unit
    expected = [[0.5, 0, 1, 0, 0, 2 / 3, -1, 1], [0, 0, 0, 0, 1, 0, 1, 1], [-1, 0, 0, 1, 0, 0, 0, 1]]
    assert np.allclose(out, expected, atol=2e-4)
    assert RowEncoder.from_dict(json.loads(json.dumps(encoder.to_dict()))) == encoder


@settings(max_examples=50, deadline=None)
@given(
    ages=st.lists(st.floats(), min_size=1, max_size=5),
    norm=st.sampled_from([0.5, 1.0, None]),
    radius=st.sampled_from([100, 32767, 1 << 20]),
    data=st.data(),
)
def test_encoded_tables_never_exceed_the_radius(
    ages: list[float], norm: float | None, radius: int, data: st.DataObject
) -> None:
    def column(*values: Any) -> list[Any]:
        return data.draw(st.lists(st.sampled_from([*values, None, "?"]), min_size=len(ages), max_size=len(ages)))

    encoder = RowEncoder.of(SCHEMA, norm, radius, intercept=True)
    table = {"age": ages, "work": column("a", "b"), "rank": column("low", "high"), "married": column("yes", "no")}
    assert max(squared_norms(encoder.encode(table))) <= radius**2


def test_wrong_input() -> None:
    for norm in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="norm must be"):
            RowClipper(norm)
    for radius in (0, (1 << 24) + 1):
        with pytest.raises(ValueError, match="radius must be"):
            RowClipper(1.0, radius)
    for matrix in (np.zeros(3), np.array([["a"]]), sparse.csr_matrix(np.eye(2) * 1j)):
        with pytest.raises(FrameError, match="matrix of numbers"):
            RowClipper().clip(matrix)
