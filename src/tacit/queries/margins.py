"""Margins: the score of every row under what has been released so far, as an append-only public log.

The log holds released hypotheses only. An engine may cache the running sums, because they follow from the log alone:
this is what makes a boosting round resumable and gives the private learner no private state.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tacit.queries.cells import Cells
from tacit.queries.rules import MARGIN_BITS

MARGIN_LIMIT = (1 << 31) - 1
"""Margins are int32. The log knows how far its updates can move any row and clips the one that would go beyond."""


def fixed_point(
    values: npt.ArrayLike, shape: tuple[int, ...], reach: int, limit: int
) -> tuple[npt.NDArray[np.int32], int]:
    """An update in fixed point, clipped to what a log of this reach may still add, and how far it reaches then.

    Raises:
        ValueError: unless the values are finite and of this shape.
    """
    exact = np.asarray(values, dtype=np.float64)
    if exact.shape != shape:
        raise ValueError(f"an update needs values of shape {shape}, a line per cell, got shape {exact.shape}")
    if not np.all(np.isfinite(exact)):
        raise ValueError("an update must be finite")
    fixed = np.clip(np.rint(exact * 2**MARGIN_BITS), reach - limit, limit - reach)
    return fixed.astype(np.int32), reach + int(np.abs(fixed).max(initial=0))


@dataclass(frozen=True, eq=False)
class Update:
    """Adds ``values[cell]`` (fixed point, int32) to the margin of every row."""

    cells: Cells
    values: npt.NDArray[np.int32]


@dataclass(eq=False)
class Margins:
    """The log of one score. Identity is the object: an engine caches by it."""

    updates: list[Update] = field(default_factory=list)
    reach: int = 0

    def add(self, cells: Cells, values: npt.ArrayLike) -> None:
        """Appends an update of ``values`` (shape ``(cells.size,)``, units of log-odds) and rounds it to fixed point."""
        fixed, self.reach = fixed_point(values, (cells.size,), self.reach, MARGIN_LIMIT)
        self.updates.append(Update(cells, fixed))
