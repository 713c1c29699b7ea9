"""Floats as integers in their order."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.encoding.errors import FrameError
from tacit.encoding.grid import NumericGrid
from tacit.encoding.order import CUTS, LARGEST_CUT, MISSING, REACH, FloatOrder, float_of, key_of, keys_of

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE, FINITE)
def test_keys_have_the_order_of_the_numbers(a: float, b: float) -> None:
    assert (key_of(a) < key_of(b)) == (a < b)
    assert (key_of(a) == key_of(b)) == (a == b)
    assert float_of(key_of(a)) == a


@given(st.floats(-1e280, 1e280))
def test_the_next_float_has_the_next_key(a: float) -> None:
    assert key_of(math.nextafter(a, math.inf)) == key_of(a) + 1
    assert keys_of(np.array([a])).tolist() == [key_of(a)]


def test_a_key_depends_on_its_own_value_alone() -> None:
    values = [0.0, -0.0, 5e-324, -5e-324, math.nan, math.inf, -math.inf, 1e300, -1e300, REACH, -REACH]
    beyond = LARGEST_CUT + 1
    expected = [0, 0, 1, -1, MISSING, MISSING, MISSING, beyond, -beyond, beyond, -beyond]
    assert keys_of(np.array(values)).tolist() == expected
    assert [int(keys_of(np.array([value]))[0]) for value in values] == expected
    assert keys_of(np.array([3, -2], np.int8)).tolist() == [key_of(3.0), key_of(-2.0)]
    assert 0.965 * 2**64 < CUTS < 0.975 * 2**64


def test_every_cut_fits_a_grid_of_two_cells() -> None:
    for key in (-LARGEST_CUT, -1, 0, 1, key_of(1.5), LARGEST_CUT):
        cut = float_of(key)
        grid = NumericGrid(-REACH, REACH, spacing=(cut,))
        values = np.array([math.nextafter(cut, -math.inf), cut, 1e300, -1e300, math.inf, math.nan])
        assert grid.encode(values).tolist() == [0, 1, 1, 0, 2, 2]
        assert (keys_of(values)[:4] >= key).tolist() == [False, True, True, False]


def test_columns_are_read_as_numbers() -> None:
    table = pd.DataFrame({"a": [1.5, None], "b": [2, 3], "c": pd.to_datetime(["2020-01-01", "2021-01-01"])})
    keys = FloatOrder(("b", "a")).encode(table)
    assert [column.tolist() for column in keys] == [[key_of(2.0), key_of(3.0)], [key_of(1.5), MISSING]]
    with pytest.raises(FrameError, match="'c'"):
        FloatOrder(("c",)).encode(table)
