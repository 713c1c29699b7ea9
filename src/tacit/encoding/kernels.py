"""The two loops that turn floats into codes.

Each value's code depends on that value and public constants alone, by operations that IEEE 754 fixes to the last bit
(subtract, multiply, compare, truncate): the same code in fit and predict, on every machine. The loops have no branches,
so they compile to vector instructions, and they release the interpreter lock.
"""

from __future__ import annotations

import numba as nb
import numpy as np

LARGEST = np.finfo(np.float64).max
EXPONENT = np.int64(0x7FF0000000000000)


@nb.njit(nogil=True, cache=True)
def encode_linear(values, lower, scale, top, missing, out):  # type: ignore[no-untyped-def]
    """``floor((x - lower) * scale)`` clipped to ``0 .. top``; NaN and infinity give ``missing``."""
    for i in range(values.shape[0]):
        x = values[i]
        t = (x - lower) * scale
        t = t if t > 0.0 else 0.0  # noqa: FURB136 - this form turns a NaN into 0, so that the conversion is defined
        t = t if t < top else top  # noqa: FURB136 - compiles to one instruction
        out[i] = np.int32(t) if abs(x) <= LARGEST else missing


@nb.njit(nogil=True, cache=True)
def encode_bits(bits, base, scale, top, missing, out):  # type: ignore[no-untyped-def]
    """The same on the bit patterns of positive floats, which rise with the number and, by octaves, with its log."""
    for i in range(bits.shape[0]):
        b = bits[i]
        t = np.float64(max(b, base) - base) * scale  # negative floats have negative patterns: they clip to the bottom
        t = t if t < top else top  # noqa: FURB136 - as above
        out[i] = np.int32(t) if (b & EXPONENT) != EXPONENT else missing


@nb.njit(nogil=True, cache=True)
def _clip_row(x, norm, radius, out):  # type: ignore[no-untyped-def]
    """One row to integers with ``sum(out**2) <= radius**2``, checked in integers; what is not finite counts as 0."""
    largest = 0.0
    for j in range(x.shape[0]):
        size = abs(x[j])
        if largest < size <= LARGEST:
            largest = size
    if largest == 0.0:
        out[:] = 0
        return
    share = 0.0  # squared norm in units of the largest entry: neither overflows nor vanishes
    for j in range(x.shape[0]):
        if abs(x[j]) <= LARGEST:
            share += (x[j] / largest) * (x[j] / largest)
    length = np.sqrt(share)
    inside = largest <= norm / length
    scale = radius / norm if inside else radius / length
    total = np.int64(0)
    for j in range(x.shape[0]):
        entry = np.int64(0)
        if abs(x[j]) <= LARGEST:
            entry = np.int64((x[j] if inside else x[j] / largest) * scale)  # truncates: no entry grows
        out[j] = entry
        total += entry * entry
    while total > radius * radius:  # the float arithmetic above may be off by a unit; integers decide
        total = np.int64(0)
        for j in range(x.shape[0]):
            entry = np.int64(out[j])
            entry -= np.sign(entry)
            out[j] = entry
            total += entry * entry


@nb.njit(nogil=True, cache=True)
def clip_rows(rows, norm, radius, out):  # type: ignore[no-untyped-def]
    """Every row of a matrix to integers of norm at most ``radius``, which stands for ``norm``."""
    for i in range(rows.shape[0]):
        _clip_row(rows[i], norm, radius, out[i])


@nb.njit(nogil=True, cache=True)
def clip_sparse_rows(indptr, data, norm, radius, out, start, stop):  # type: ignore[no-untyped-def]
    """The same on rows ``start .. stop - 1`` of a CSR matrix."""
    for i in range(start, stop):
        _clip_row(data[indptr[i] : indptr[i + 1]], norm, radius, out[indptr[i] : indptr[i + 1]])
