"""Subsets as bits of an integer."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Bytes


def bits_of(row: Bytes) -> int:
    """The set of the places of a vector's ones."""
    return int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")


def lowest(subset: int) -> int:
    """The least place in a set that is not empty."""
    return (subset & -subset).bit_length() - 1


def bit_positions(subset: int) -> list[int]:
    """Positions of the ones of an integer, ascending."""
    positions = []
    while subset:
        low = subset & -subset
        positions.append(low.bit_length() - 1)
        subset ^= low
    return positions
