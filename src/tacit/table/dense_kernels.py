"""The passes over dense and sparse fixed-point rows. Integer throughout; every kernel releases the interpreter lock.

The 16-bit kernels keep their running sums in 32 bits, which doubles the lanes of a vector instruction. They cannot
overflow: a partial product sum of a row of length ``radius < 2**15`` and a vector of length ``< 2**15`` is below
``2**30`` by Cauchy and Schwarz, and a column sum is moved to 64 bits before ``group`` rows could fill it.
"""

from __future__ import annotations

import numba as nb
import numpy as np

NARROW = 128
"""Widths below this take the kernel for narrow rows."""

COLUMNS = 4096
"""Columns whose 32-bit sums stay in the first-level cache."""


@nb.njit(nogil=True, cache=True)
def longest_dense(values):  # type: ignore[no-untyped-def]
    """The largest squared length of a row."""
    longest = np.int64(0)
    for i in range(values.shape[0]):
        length = np.int64(0)
        for j in range(values.shape[1]):
            length += np.int64(values[i, j]) * np.int64(values[i, j])
        longest = max(longest, length)
    return longest


@nb.njit(nogil=True, cache=True)
def longest_sparse(values, indptr):  # type: ignore[no-untyped-def]
    """The largest squared length of a row, if no column repeats within a row."""
    longest = np.int64(0)
    for i in range(len(indptr) - 1):
        length = np.int64(0)
        for k in range(indptr[i], indptr[i + 1]):
            length += np.int64(values[k]) * np.int64(values[k])
        longest = max(longest, length)
    return longest


@nb.njit(nogil=True, cache=True)
def advance_int16(values, vector, multiplier, shift, limit, sums, start, stop):  # type: ignore[no-untyped-def]
    """Adds the clipped, scaled product of each row with ``vector`` to its margin."""
    for i in range(start, stop):
        product = np.int32(0)
        row = values[i]
        for j in range(len(vector)):
            product = np.int32(product + np.int32(row[j]) * np.int32(vector[j]))
        sums[i] += max(min((np.int64(product) * multiplier) >> shift, limit), -limit)


@nb.njit(nogil=True, cache=True)
def advance_int32(values, vector, multiplier, shift, limit, sums, start, stop):  # type: ignore[no-untyped-def]
    """As :func:`advance_int16`, with 64-bit products."""
    for i in range(start, stop):
        product = np.int64(0)
        row = values[i]
        for j in range(len(vector)):
            product += np.int64(row[j]) * np.int64(vector[j])
        sums[i] += max(min((product * multiplier) >> shift, limit), -limit)


@nb.njit(nogil=True, cache=True)
def advance_sparse(values, indices, indptr, vector, multiplier, shift, limit, sums, start, stop):  # type: ignore[no-untyped-def]
    """As :func:`advance_int32`, over the stored values of CSR rows."""
    for i in range(start, stop):
        product = np.int64(0)
        for k in range(indptr[i], indptr[i + 1]):
            product += np.int64(values[k]) * np.int64(vector[indices[k]])
        sums[i] += max(min((product * multiplier) >> shift, limit), -limit)


@nb.njit(nogil=True, cache=True)
def count_levels(sums, signs, shift, half, levels, counts, start, stop):  # type: ignore[no-untyped-def]
    """Writes the level of each row's signed margin and counts the levels."""
    top = 2 * half - 1
    for i in range(start, stop):
        level = max(min(((signs[i] * sums[i]) >> shift) + half, top), 0)
        levels[i] = level
        counts[level] += 1


@nb.njit(nogil=True, cache=True)
def signed_weights(sums, signs, shift, half, table, weights, start, stop):  # type: ignore[no-untyped-def]
    """Writes ``sign * table[level of the signed margin]`` for each row."""
    top = 2 * half - 1
    for i in range(start, stop):
        level = max(min(((signs[i] * sums[i]) >> shift) + half, top), 0)
        weights[i] = signs[i] * table[level]


@nb.njit(nogil=True, cache=True)
def add_int16(values, weights, group, sums, start, stop):  # type: ignore[no-untyped-def]
    """Adds ``weights[i] * values[i]``, in 32 bits for up to ``group`` rows at a time."""
    width = values.shape[1]
    partial = np.zeros(min(width, COLUMNS), np.int32)
    for left in range(0, width, COLUMNS):
        size = min(COLUMNS, width - left)
        for first in range(start, stop, group):
            partial[:size] = 0
            for i in range(first, min(first + group, stop)):
                weight = weights[i]
                if weight != 0:
                    row = values[i, left : left + size]
                    for j in range(size):
                        partial[j] = np.int32(partial[j] + np.int32(row[j]) * weight)
            for j in range(size):
                sums[left + j] += partial[j]


@nb.njit(nogil=True, cache=True)
def add_narrow_int16(values, weights, group, sums, start, stop):  # type: ignore[no-untyped-def]
    """As :func:`add_int16`, four rows at a time: for narrow rows, where setting up a loop costs more than the loop."""
    width = values.shape[1]
    partial = np.zeros(width, np.int32)
    for first in range(start, stop, group):
        partial[:] = 0
        last = min(first + group, stop)
        i = first
        while i + 4 <= last:
            a, b, c, d = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
            for j in range(width):
                one = np.int32(np.int32(values[i, j]) * a + np.int32(values[i + 1, j]) * b)
                two = np.int32(np.int32(values[i + 2, j]) * c + np.int32(values[i + 3, j]) * d)
                partial[j] = np.int32(partial[j] + one + two)
            i += 4
        while i < last:
            a = weights[i]
            for j in range(width):
                partial[j] = np.int32(partial[j] + np.int32(values[i, j]) * a)
            i += 1
        for j in range(width):
            sums[j] += partial[j]


@nb.njit(nogil=True, cache=True)
def add_int32(values, weights, sums, start, stop):  # type: ignore[no-untyped-def]
    """Adds ``weights[i] * values[i]`` in 64 bits."""
    for i in range(start, stop):
        weight = np.int64(weights[i])
        if weight != 0:
            row = values[i]
            for j in range(values.shape[1]):
                sums[j] += np.int64(row[j]) * weight


@nb.njit(nogil=True, cache=True)
def add_sparse(values, indices, indptr, weights, sums, start, stop):  # type: ignore[no-untyped-def]
    """Adds ``weights[i] * values[i]`` over stored values in 64 bits."""
    for i in range(start, stop):
        weight = np.int64(weights[i])
        if weight != 0:
            for k in range(indptr[i], indptr[i + 1]):
                sums[indices[k]] += np.int64(values[k]) * weight


@nb.njit(nogil=True, cache=True)
def capped_weights(levels, signs, table, cut, full_rows, step, partial, weights):  # type: ignore[no-untyped-def]
    """Writes ``sign * units`` per row; at level ``cut`` the first rows, in order, get ``step`` or ``partial`` more."""
    seen = 0
    for i in range(len(levels)):
        level = levels[i]
        units = table[level]
        if level == cut:
            if seen < full_rows:
                units += step
            elif seen == full_rows:
                units += partial
            seen += 1
        weights[i] = signs[i] * units
