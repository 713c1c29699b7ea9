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
