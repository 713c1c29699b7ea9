"""The passes over dense and sparse fixed-point rows. Integer throughout; every kernel releases the interpreter lock.

The 16-bit kernels keep their running sums in 32 bits, which doubles the lanes of a vector instruction. They cannot
overflow: a partial product sum of a row of length ``radius < 2**15`` and a vector of length ``< 2**15`` is below
``2**30`` by Cauchy and Schwarz, and a column sum is moved to 64 bits before ``group`` rows could fill it.

They also read on beyond the end of a row, up to the next multiple of :data:`LANES`: then no element is left over from
the vector instructions: what is read there is multiplied by zero, or added to sums that nobody looks at. The last rows,
which have nothing behind them, are read element by element.
"""

from __future__ import annotations

import numba as nb
import numpy as np

LANES = 16
"""16-bit numbers that are read at a time."""

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
def advance_int16(flat, vector, width, multiplier, shift, limit, sums, start, stop):  # type: ignore[no-untyped-def]
    """Adds the clipped, scaled product of each row with ``vector`` to its margin.

    ``flat`` holds rows of ``width`` one after the other; ``vector`` is filled up with zeros to a multiple of ``LANES``.
    """
    padded = len(vector)
    safe = min(stop, (len(flat) - padded) // width + 1)
    for i in range(start, stop):
        size = padded if i < safe else width
        product = np.int32(0)
        row = flat[i * width : i * width + size]
        for j in range(size):
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
    """Writes ``sign * table[level of the signed margin]`` for each row, from the first place of ``weights`` on."""
    top = 2 * half - 1
    for i in range(start, stop):
        level = max(min(((signs[i] * sums[i]) >> shift) + half, top), 0)
        weights[i - start] = signs[i] * table[level]


@nb.njit(nogil=True, cache=True)
def add_int16(flat, width, padded, weights, offset, group, sums, start, stop):  # type: ignore[no-untyped-def]
    """Adds ``weights[i - offset] * row i``, in 32 bits for up to ``group`` rows at a time, four rows at a time.

    For rows of up to ``COLUMNS`` columns; ``padded`` is ``width`` rounded up to a multiple of ``LANES``.
    """
    partial = np.zeros(padded, np.int32)
    safe = min(stop, (len(flat) - padded) // width + 1)
    for first in range(start, stop, group):
        partial[:] = 0
        last = min(first + group, stop)
        i = first
        while i + 4 <= last and i + 4 <= safe:
            a, b = weights[i - offset], weights[i + 1 - offset]
            c, d = weights[i + 2 - offset], weights[i + 3 - offset]
            row = flat[i * width : i * width + padded]
            second = flat[(i + 1) * width : (i + 1) * width + padded]
            third = flat[(i + 2) * width : (i + 2) * width + padded]
            fourth = flat[(i + 3) * width : (i + 3) * width + padded]
            for j in range(padded):
                one = np.int32(np.int32(row[j]) * a + np.int32(second[j]) * b)
                two = np.int32(np.int32(third[j]) * c + np.int32(fourth[j]) * d)
                partial[j] = np.int32(partial[j] + one + two)
            i += 4
        while i < last:
            a = weights[i - offset]
            row = flat[i * width : (i + 1) * width]
            for j in range(width):
                partial[j] = np.int32(partial[j] + np.int32(row[j]) * a)
            i += 1
        for j in range(width):
            sums[j] += partial[j]


@nb.njit(nogil=True, cache=True)
def add_wide_int16(values, weights, offset, group, sums, start, stop):  # type: ignore[no-untyped-def]
    """As :func:`add_int16`, ``COLUMNS`` columns at a time: for rows that are wider."""
    width = values.shape[1]
    partial = np.zeros(min(width, COLUMNS), np.int32)
    for left in range(0, width, COLUMNS):
        size = min(COLUMNS, width - left)
        for first in range(start, stop, group):
            partial[:size] = 0
            for i in range(first, min(first + group, stop)):
                weight = weights[i - offset]
                if weight != 0:
                    row = values[i, left : left + size]
                    for j in range(size):
                        partial[j] = np.int32(partial[j] + np.int32(row[j]) * weight)
            for j in range(size):
                sums[left + j] += partial[j]


@nb.njit(nogil=True, cache=True)
def add_int32(values, weights, offset, sums, start, stop):  # type: ignore[no-untyped-def]
    """Adds ``weights[i - offset] * values[i]`` in 64 bits."""
    for i in range(start, stop):
        weight = np.int64(weights[i - offset])
        if weight != 0:
            row = values[i]
            for j in range(values.shape[1]):
                sums[j] += np.int64(row[j]) * weight


@nb.njit(nogil=True, cache=True)
def add_sparse(values, indices, indptr, weights, offset, sums, start, stop):  # type: ignore[no-untyped-def]
    """Adds ``weights[i - offset] * values[i]`` over stored values in 64 bits."""
    for i in range(start, stop):
        weight = np.int64(weights[i - offset])
        if weight != 0:
            for k in range(indptr[i], indptr[i + 1]):
                sums[indices[k]] += np.int64(values[k]) * weight


@nb.njit(nogil=True, cache=True)
def capped_weights(levels, signs, table, cut, full_rows, step, partial, seen, weights, start, stop):  # type: ignore[no-untyped-def]
    """Writes ``sign * units`` per row, from the first place of ``weights`` on.

    At level ``cut`` the first rows of the table, in order, get ``step`` or ``partial`` more; ``seen`` of them come
    before ``start``. Returns how many come before ``stop``.
    """
    here = 0
    for i in range(start, stop):
        here += levels[i] == cut
    if seen > full_rows or seen + here <= full_rows:
        more = step if seen <= full_rows else 0
        for i in range(start, stop):
            level = levels[i]
            weights[i - start] = signs[i] * (table[level] + (more if level == cut else 0))
        return seen + here
    for i in range(start, stop):
        level = levels[i]
        units = table[level]
        if level == cut:
            if seen < full_rows:
                units += step
            elif seen == full_rows:
                units += partial
            seen += 1
        weights[i - start] = signs[i] * units
    return seen
