"""What searches for dimensions share: when they end unfinished, and subsets as bits of an integer."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

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


Progress = Callable[[int, int, int], None]
"""Told, as a search goes on: what is proved so far, from ``lower`` to ``upper``, and the nodes visited."""


class Limit:
    """A cap on nodes and on seconds, counted from now. Once reached, it stays reached.

    Two runs that end by the clock may differ in how far they come, not in what they prove. Raises ``ValueError`` unless
    both are positive (``inf`` seconds: no clock).
    """

    def __init__(self, nodes: int, seconds: float, progress: Progress | None = None) -> None:
        if not nodes > 0 or not seconds > 0:
            raise ValueError(f"a search needs a positive cap and positive seconds, got {nodes} and {seconds}")
        self.nodes = nodes
        self._end = perf_counter() + seconds
        self._progress = progress
        self._over = False

    def reached(self, work: int) -> bool:
        """Whether a search that visited so many nodes must end."""
        self._over = self._over or work > self.nodes or perf_counter() > self._end
        return self._over

    def tell(self, lower: int, upper: int, work: int) -> None:
        """Says how far the search is."""
        if self._progress is not None:
            self._progress(lower, upper, work)
