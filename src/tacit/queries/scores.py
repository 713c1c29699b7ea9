"""Scores: several numbers per row under what has been released so far, as an append-only public log.

What :class:`~tacit.queries.margins.Margins` is for one margin, this is for a vector: a score per class, or the one
score of a regression.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tacit.queries.cells import Cells
from tacit.queries.margins import fixed_point
from tacit.queries.rules import MARGIN_BITS

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

    def add(self, cells: Cells, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Appends an update and rounds it to fixed point.

        Args:
            cells: which rows get which line.
            values: shape ``(cells.size, n_scores)``, finite.

        Returns:
            What was added after rounding, in the units of ``values``.
        """
        fixed, self.reach = fixed_point(values, (cells.size, self.n_scores), self.reach, SCORE_LIMIT)
        self.updates.append(ScoreUpdate(cells, fixed))
        return np.asarray(fixed / 2.0**MARGIN_BITS)
