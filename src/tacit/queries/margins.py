"""Margins: the score of every row under what has been released so far, as an append-only public log.

The log holds released hypotheses only. An engine may cache the running sums, because they follow from the log alone:
this is what makes a boosting round resumable and gives the private learner no private state.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numba as nb
import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
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
    fixed = np.empty(exact.size, np.int32)
    farthest = _round(exact.ravel(), float(limit - reach), fixed)
    if farthest < 0:
        raise ValueError("an update must be finite")
    return fixed.reshape(shape), reach + int(farthest)


@nb.njit(nogil=True, cache=True)
def _round(exact, room, fixed):  # type: ignore[no-untyped-def]
    """Rounds to fixed point, at most ``room`` from 0; returns the largest magnitude, -1 if a number is not finite."""
    farthest = 0.0
    for i in range(len(exact)):
        if not np.isfinite(exact[i]):
            return -1.0
        value = min(max(np.rint(exact[i] * 2.0**MARGIN_BITS), -room), room)
        fixed[i] = np.int32(value)
        farthest = max(farthest, abs(value))
    return farthest


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

    def add(self, cells: Cells, values: npt.ArrayLike) -> Floats:
        """Appends an update of ``values`` (shape ``(cells.size,)``, units of log-odds); returns them in fixed point."""
        fixed, self.reach = fixed_point(values, (cells.size,), self.reach, MARGIN_LIMIT)
        self.updates.append(Update(cells, fixed))
        return fixed / 2.0**MARGIN_BITS


SCORE_LIMIT = (1 << 30) - 1
"""Scores are int32, and so are differences of two of them: the log clips the update that would go beyond."""


@dataclass(frozen=True, eq=False)
class ScoreUpdate:
    """Adds ``values[cell]`` (fixed point, int32, one line per cell) to the scores of every row."""

    cells: Cells
    values: npt.NDArray[np.int32]


@dataclass(eq=False)
class Scores:
    """The log of ``n_scores`` scores. Identity is the object: an engine caches by it."""

    n_scores: int
    updates: list[ScoreUpdate] = field(default_factory=list)
    reach: int = 0

    def __post_init__(self) -> None:
        if self.n_scores < 1:
            raise ValueError(f"a row has at least one score, got {self.n_scores}")

    def add(self, cells: Cells, values: npt.ArrayLike) -> Floats:
        """Appends an update, shape ``(cells.size, n_scores)``, rounded to fixed point; returns what was added then."""
        fixed, self.reach = fixed_point(values, (cells.size, self.n_scores), self.reach, SCORE_LIMIT)
        self.updates.append(ScoreUpdate(cells, fixed))
        return np.asarray(fixed / 2.0**MARGIN_BITS)
