"""Rows by position, of every kind of table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from tacit.encoding.frames import Frame, columns_of, take, take_rows

VALUES = [10, 20, 30]
COLUMNS = {
    "numpy": np.array(VALUES),
    "objects": np.array([10, "20", 30], object),
    "pandas": pd.Series(VALUES, index=[5, 6, 7]),
    "extension": pd.array(VALUES, dtype="Int64"),
    "polars": pl.Series(VALUES),
    "arrow": pa.chunked_array([VALUES[:1], VALUES[1:]]),
    "list": VALUES,
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_rows_are_taken_by_position_and_keep_their_kind(kind: str) -> None:
    nothing = take_rows(Frame({"v": COLUMNS[kind]}, 3), np.zeros(0, np.int64))
    assert len(nothing.column("v")) == nothing.n_rows == 0
    frame = take_rows(Frame({"v": COLUMNS[kind]}, 3), np.array([2, 0, 2]))
    assert [int(v) for v in np.asarray(frame.column("v"))] == [30, 10, 30]
    assert frame.n_rows == 3
    assert type(frame.column("v")) is type(COLUMNS[kind])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_of_a_matrix_stay_rows(kind) -> None:
    matrix = kind(np.arange(6.0).reshape(3, 2))
    taken = take(matrix, np.array([2, 2, 1]))
    assert (taken @ np.eye(2)).tolist() == [[4, 5], [4, 5], [2, 3]]


def test_what_is_known_of_a_table_stays_known() -> None:
    frame = columns_of(np.array([["1", "x"], ["2", "y"]], object))
    assert take_rows(frame, np.array([1])).mixed == frame.mixed
