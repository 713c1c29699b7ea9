"""64-bit floats as integers in their order: how far apart two numbers are in numbers that lie between.

The bits of a positive float, read as an integer, rise with it, and by one from each float to the next. So the places at
which a column can be cut are consecutive integers, whatever the scale of the column: no grid and no bounds.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.encoding.frames import columns_of

REACH = 2.0**960
"""Cuts lie strictly between ``-REACH`` and ``REACH``: bounds of which a grid can have the span, about the widest."""

MISSING = np.iinfo(np.int64).min
"""The key of NaN and of both infinities, as grids have them."""


def key_of(value: float) -> int:
    """The key of a finite float; both zeros have 0, and the float that follows has the next key."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits) if bits >= 0 else -(int(bits) & 0x7FFF_FFFF_FFFF_FFFF)


def float_of(key: int) -> float:
    """The float of a key; the inverse of :func:`key_of`."""
    (value,) = struct.unpack("<d", struct.pack("<q", abs(key)))
    return float(-value if key < 0 else value)


LARGEST_CUT = key_of(REACH) - 1
"""Cuts have the keys ``-LARGEST_CUT .. LARGEST_CUT``."""

CUTS = 2 * LARGEST_CUT + 1
"""How many places there are to cut a column: 97 % of ``2**64``."""


def keys_of(numbers: npt.NDArray[Any]) -> Ints:
    """Keys of a vector of numbers; those beyond all cuts have the key next to the last cut on their side."""
    with np.errstate(over="ignore", invalid="ignore"):  # a long double may be beyond all doubles
        values = np.ascontiguousarray(numbers, np.float64)
    bits = values.view(np.int64)
    keys = np.where(bits >= 0, bits, -(bits & np.int64(0x7FFF_FFFF_FFFF_FFFF)))
    keys = np.clip(keys, -LARGEST_CUT - 1, LARGEST_CUT + 1)
    return np.where(np.isfinite(values), keys, MISSING)


@final
@dataclass(frozen=True)
class FloatOrder:
    """The encoding of numeric columns as they are: per column the keys of its values."""

    names: tuple[str, ...]

    def encode(self, data: Any) -> list[Ints]:
        """One vector of keys per column; values never raise.

        Raises:
            FrameError: names the column that is missing or has the wrong dtype.
        """
        frame = columns_of(data, self.names)
        return [keys_of(frame.numbers(name)) for name in self.names]
