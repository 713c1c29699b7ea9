"""The public grid over scores: cells of equal width in log-odds, with a cut at the declared threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from tacit.encoding.grid import NumericGrid

Floats = npt.NDArray[np.float64]

CELLS = 128
"""Cells of the finest grid: an eighth of log-odds each."""

REACH = 8.0
"""Log-odds beyond which probabilities share the outermost cell: 0.03 % and 99.97 %."""


def log_odds(probabilities: npt.ArrayLike) -> Floats:
    """Log-odds of probabilities, clipped a little beyond the grid; what is no number counts as a coin toss."""
    p = np.nan_to_num(np.asarray(probabilities, np.float64), nan=0.5)
    least = float(expit(-REACH - 1.0))
    p = np.clip(p, least, 1.0 - least)
    odds: Floats = np.log(p) - np.log1p(-p)
    return odds


@final
@dataclass(frozen=True)
class ScoreGrid:
    """Cells over log-odds. Public: made from numbers a person declared.

    Attributes:
        cuts: log-odds between the cells, increasing; one fewer than cells.
    """

    cuts: tuple[float, ...]

    @staticmethod
    def of(cells: int, threshold: float) -> ScoreGrid:
        """``cells`` cells from ``-REACH`` to ``REACH``; the cut nearest to the threshold is moved onto it."""
        cuts = np.linspace(-REACH, REACH, cells + 1)[1:-1]
        place = math.log(threshold / (1.0 - threshold))
        if abs(place) < REACH:
            cuts[np.abs(cuts - place).argmin()] = place
        return ScoreGrid(tuple(float(cut) for cut in cuts))

    @property
    def cells(self) -> int:
        return len(self.cuts) + 1

    @property
    def encoder(self) -> NumericGrid:
        """The encoder of a column of log-odds."""
        return NumericGrid(-REACH - 2.0, REACH + 2.0, spacing=self.cuts)

    @cached_property
    def middles(self) -> Floats:
        """Log-odds that stand for each cell."""
        edges = np.concatenate([[-REACH], self.cuts, [REACH]])
        middles: Floats = (edges[1:] + edges[:-1]) / 2
        return middles

    @cached_property
    def probabilities(self) -> Floats:
        """Probabilities that stand for each cell."""
        chances: Floats = expit(self.middles)
        return chances

    @cached_property
    def thresholds(self) -> Floats:
        """Thresholds that the released counts can judge: 0 (all positive), one per cut, 1 (all negative).

        Entry ``k`` calls the cells from ``k`` on positive.
        """
        inner: Floats = expit(np.asarray(self.cuts))
        return np.concatenate([[0.0], inner, [1.0]])

    def cut(self, threshold: float) -> int:
        """The first positive cell under the available threshold nearest to ``threshold``."""
        return int(np.abs(self.thresholds - threshold).argmin())
