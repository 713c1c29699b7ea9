"""Sixteen and thirty-two numbers at a time: what the instructions compute is what numpy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba as nb
import numpy as np
import pytest

from tacit.engines.dense_kernels import ROWS, add_row_32, add_rows_16, add_rows_32, dot_16, dot_32


@nb.njit
def dots(rows, vector):  # type: ignore[no-untyped-def]
    one, other = nb.uintp(rows.ctypes.data), nb.uintp(vector.ctypes.data)
    return dot_16(one, other, nb.uintp(1)), dot_32(one, other, nb.uintp(1)), dot_32(one, other, nb.uintp(3))


@nb.njit
def add(rows, size, weights, narrow, wide, single):  # type: ignore[no-untyped-def]
    row, step = nb.uintp(rows.ctypes.data), nb.uintp(size)
    a, b, c, d = weights
    add_rows_16(row, step, a, b, c, d, nb.uintp(narrow.ctypes.data))
    add_rows_32(row, step, a, b, c, d, nb.uintp(wide.ctypes.data))
    add_row_32(row, step, a, nb.uintp(single.ctypes.data))


def extreme(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.choice([-32768, -1, 0, 1, 5, 32767], size).astype(np.int16)


@pytest.mark.parametrize("draw", [extreme, lambda rng, size: rng.integers(-99, 99, size).astype(np.int16)])
def test_products_are_those_of_numpy_modulo_32_bits(draw: Callable[[np.random.Generator, int], np.ndarray]) -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        row, vector = draw(rng, 97)[1:], draw(rng, 96)  # from an odd place on, too
        exact = row.astype(np.int64) * vector
        result = dots(row, vector)
        assert [int(np.int64(x).astype(np.int32)) for x in (exact[:16].sum(), exact[:32].sum(), exact.sum())] == list(
            result
        )


@pytest.mark.parametrize("width", [1, 9, 16])
def test_sums_are_those_of_numpy(width: int) -> None:
    rng = np.random.default_rng(2)
    flat: Any = rng.integers(-32767, 32768, ROWS * width + 32).astype(np.int16)
    weights = rng.integers(-1024, 1025, ROWS).astype(np.int32)
    narrow, wide = rng.integers(-99, 99, 16).astype(np.int32), rng.integers(-99, 99, 32).astype(np.int32)
    expected = [
        start + sum(weights[k] * flat[k * width : k * width + len(start)].astype(np.int32) for k in range(ROWS))
        for start in (narrow, wide)
    ]
    single = np.arange(32, dtype=np.int32)
    expected.append(single + weights[0] * flat[:32].astype(np.int32))
    add(flat, 2 * width, tuple(weights), narrow, wide, single)
    np.testing.assert_array_equal(narrow, expected[0])
    np.testing.assert_array_equal(wide, expected[1])
    np.testing.assert_array_equal(single, expected[2])
