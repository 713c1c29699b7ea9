"""64-bit floats as integers in their order: how far apart two numbers are in numbers that lie between.

The bits of a positive float, read as an integer, rise with it, and by one from each float to the next. So the places at
which a column can be cut are consecutive integers, whatever the scale of the column: no grid and no bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.encoding.frames import columns_of

REACH = 2.0**960
"""Cuts lie strictly between ``-REACH`` and ``REACH``: bounds of which a grid can have the span, about the widest."""

MISSING = int(np.iinfo(np.int64).min)
"""The key of NaN and of both infinities, as grids have them."""


def key_of(value: float) -> int:
    """The key of a finite float; both zeros have 0, and the float that follows has the next key."""
    bits = int(np.float64(value).view(np.int64))
    return bits if bits >= 0 else MISSING - bits


def float_of(key: int) -> float:
    """The float of a key; the inverse of :func:`key_of`."""
    return float(floats_of(np.array([key]))[0])


def floats_of(keys: Ints) -> Floats:
    """The floats of many keys."""
    return np.where(keys >= 0, keys, np.int64(MISSING) - keys).view(np.float64)


LARGEST_CUT = key_of(REACH) - 1
"""Cuts have the keys ``-LARGEST_CUT .. LARGEST_CUT``."""

CUTS = 2 * LARGEST_CUT + 1
"""How many places there are to cut a column: 97 % of ``2**64``."""


def keys_of(numbers: npt.NDArray[Any]) -> Ints:
    """Keys of a vector of numbers; those beyond all cuts have the key next to the last cut on their side."""
    with np.errstate(over="ignore", invalid="ignore"):  # a long double may be beyond all doubles
        values = np.ascontiguousarray(numbers, np.float64)
    bits = values.view(np.int64)
    keys = np.where(bits >= 0, bits, np.int64(MISSING) - bits)
    keys = np.clip(keys, -LARGEST_CUT - 1, LARGEST_CUT + 1)
    return np.where(np.isfinite(values), keys, MISSING)


@final
@dataclass(frozen=True)
class FloatOrder:
    """The encoding of numeric columns as they are: per column the keys of its values."""

    names: tuple[str, ...]

    def encode(self, data: Any) -> list[Ints]:
        """One vector of keys per column; values never raise."""
        frame = columns_of(data, self.names)
        return [keys_of(frame.numbers(name)) for name in self.names]
