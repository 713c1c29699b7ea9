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

MARGIN_LIMIT = 1 << 26
"""One update moves a margin by at most 2**10 units of log-odds, so that 16 of them fit an int32 before clipping."""


@dataclass(frozen=True, eq=False)
class Update:
    """Adds ``values[cell]`` (fixed point, int32) to the margin of every row."""

    cells: Cells
    values: npt.NDArray[np.int32]


@dataclass(eq=False)
class Margins:
    """The log of one score. Identity is the object: an engine caches by it."""

    updates: list[Update] = field(default_factory=list)

    def add(self, cells: Cells, values: npt.ArrayLike) -> None:
        """Appends an update of ``values`` (shape ``(cells.size,)``, units of log-odds) and rounds it to fixed point."""
        exact = np.asarray(values, dtype=np.float64)
        if exact.shape != (cells.size,):
            raise ValueError(f"an update over {cells.size} cells needs that many values, got shape {exact.shape}")
        if not np.all(np.isfinite(exact)):
            raise ValueError("an update must be finite")
        fixed = np.clip(np.rint(exact * 2**MARGIN_BITS), -MARGIN_LIMIT, MARGIN_LIMIT)
        self.updates.append(Update(cells, fixed.astype(np.int32)))
