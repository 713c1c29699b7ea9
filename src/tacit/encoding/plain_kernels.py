"""The loops of :mod:`tacit.encoding.kernels` in numpy, for machines without a compiler: slower, with the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints

LARGEST = np.finfo(np.float64).max
EXPONENT = np.int64(0x7FF0000000000000)


def encode_linear(values: Floats, lower: float, scale: float, top: float, missing: int, out: npt.NDArray[Any]) -> None:
    """``floor((x - lower) * scale)`` clipped to ``0 .. top``; NaN and infinity give ``missing``."""
    with np.errstate(over="ignore", invalid="ignore"):
        cells = (values - lower) * scale
        finite = np.abs(values) <= LARGEST
        out[:] = np.where(finite, np.where(cells > 0.0, np.minimum(cells, top), 0.0), missing)


def encode_bits(bits: Ints, base: int, scale: float, top: float, missing: int, out: npt.NDArray[Any]) -> None:
    """The same on the bit patterns of positive floats."""
    cells = np.minimum((np.maximum(bits, base) - base).astype(np.float64) * scale, top)
    out[:] = np.where((bits & EXPONENT) != EXPONENT, cells, missing)


def clip_rows(rows: Floats, norm: float, radius: int, out: npt.NDArray[Any]) -> None:
    """Every row of a matrix to integers of norm at most ``radius``, which stands for ``norm``; not finite is 0."""
    finite = np.abs(rows) <= LARGEST
    values = np.where(finite, rows, 0.0)
    largest = np.abs(values).max(axis=1, initial=0.0)
    safe = np.where(largest == 0.0, 1.0, largest)
    ratios = values / safe[:, None]
    share = np.zeros(len(values))
    for column in ratios.T:  # from left to right, as the compiled loop adds them up
        share += column * column
    length = np.sqrt(np.where(largest == 0.0, 1.0, share))
    inside = safe <= norm / length
    scale = np.where(inside, radius / norm, radius / length)
    entries = (np.where(inside[:, None], values, ratios) * scale[:, None]).astype(np.int64)
    while (beyond := np.square(entries).sum(axis=1) > radius * radius).any():
        entries[beyond] -= np.sign(entries[beyond])
    out[:] = entries
