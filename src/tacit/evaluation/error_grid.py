"""The public side of judging numbers: cells over errors, and the sums of their powers that are released.

An error is the target minus the prediction, as a share of the target's declared range: a number in [-1, 1]. Cells are
equal on a logarithmic scale, because what a small error is follows from no declaration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from tacit.arrays import Floats, Ints
from tacit.encoding.grid import NumericGrid

OCTAVES = 14
"""Errors below ``2**-OCTAVES`` of the range count as none."""

PER_OCTAVE = (32, 16, 8, 4)
"""Cells in each octave: fewer where many groups share a release."""

MOST_ENTRIES = 1 << 22
"""Entries of a release matrix, at most."""

CLIP_STEPS = 14
"""Half octaves below the whole range at which errors may be clipped."""

ABOVE, BELOW, OVER, UNDER, OVER_SQUARE, UNDER_SQUARE, FOURTH = range(7)
"""What is released: rows with an error of at least 0, and below; sums of their sizes, and squares; of fourth powers."""

WEIGHTS = np.array([0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 0.25])
"""The precision of each release. Counts enter figures only times a mean error, fourth powers only intervals."""

TARGET_CELLS = 1024
TARGET_WEIGHTS = np.array([1.0, 1.0, 0.25, 0.25])
"""The same for the first four powers of the targets."""


@final
@dataclass(frozen=True)
class ErrorGrid:
    """Cells over errors."""

    per_octave: int  # cells in each octave, on each side of 0; even

    @staticmethod
    def of(groups: int) -> ErrorGrid:
        """The finest grid whose release matrix stays small, for so many groups."""
        for per_octave in PER_OCTAVE:
            grid = ErrorGrid(per_octave)
            if len(WEIGHTS) * (groups + 1) * groups * grid.cells <= MOST_ENTRIES:
                return grid
        return ErrorGrid(PER_OCTAVE[-1])

    @cached_property
    def edges(self) -> Floats:
        """Sizes between the cells of one side, from the smallest to 1."""
        return 2.0 ** (np.arange(-OCTAVES * self.per_octave, 1) / self.per_octave)

    @property
    def cells(self) -> int:
        """On both sides; 0 belongs to the first cell of the upper side."""
        return 2 * len(self.edges)

    @property
    def encoder(self) -> NumericGrid:
        """The encoder of a column of errors."""
        inner = self.edges[:-1]
        return NumericGrid(-1.0, 1.0, spacing=tuple(np.concatenate([-inner[::-1], [0.0], inner]).tolist()))

    @cached_property
    def values(self) -> Floats:
        """The error that stands for every cell, shape ``(cells,)``."""
        sizes = np.concatenate([[0.0], (self.edges[1:] + self.edges[:-1]) / 2])
        return np.concatenate([-sizes[::-1], sizes])

    def moments(self, clip: float) -> Floats:
        """The release matrix, shape ``(7, cells)``: what rows of a cell add, errors clipped and divided by ``clip``."""
        share = np.minimum(np.abs(self.values) / clip, 1.0)
        side = np.repeat([0.0, 1.0], self.cells // 2)
        lines = [side, 1 - side, share * side, share * (1 - side), share**2 * side, share**2 * (1 - side), share**4]
        return np.asarray(WEIGHTS[:, None] * np.array(lines))

    @property
    def clips(self) -> Floats:
        """Where errors may be clipped: half octaves, rising to the whole range."""
        return 2.0 ** (np.arange(-CLIP_STEPS, 1) / 2)

    @cached_property
    def steps(self) -> Ints:
        """For every cell, how many of :attr:`clips` its errors reach beyond, shape ``(cells,)``."""
        lower = np.concatenate([[0.0], self.edges[:-1]])
        reached = np.searchsorted(self.clips * (1 - 1e-9), lower, side="right")
        return np.concatenate([reached[::-1], reached]).astype(np.int64)


COARSE_CELLS = 32
"""Cells of the histogram that says where targets are."""

REACHES = 2.0 ** (np.arange(-8, 3) / 2)
"""How far from their centre targets may reach, in halves of the range: a 16th to all of it from anywhere."""


def target_values(cells: int) -> Floats:
    """The target that stands for each of so many equal cells, between -1 and 1."""
    return (np.arange(cells) + 0.5) / cells * 2 - 1


def target_moments(centre: float, reach: float) -> Floats:
    """The release matrix of targets, shape ``(4, cells)``: the first four powers of what they are from the centre.

    Clipped to the reach, and divided by it.
    """
    middle = np.clip((target_values(TARGET_CELLS) - centre) / reach, -1.0, 1.0)
    return np.asarray(TARGET_WEIGHTS[:, None] * np.array([middle, middle**2, middle**3, middle**4]))


CELLS = 128
"""Cells of the finest grid: an eighth of log-odds each."""

REACH = 8.0
"""Log-odds beyond which probabilities share the outermost cell: 0.03 % and 99.97 %."""


def log_odds(probabilities: npt.ArrayLike) -> Floats:
    """Log-odds of probabilities, clipped a little beyond the grid; what is no number counts as a probability of 1/2."""
    p = np.nan_to_num(np.asarray(probabilities, np.float64), nan=0.5)
    least = float(expit(-REACH - 1.0))
    p = np.clip(p, least, 1.0 - least)
    return np.log(p) - np.log1p(-p)


@final
@dataclass(frozen=True)
class ScoreGrid:
    """Cells over log-odds. Public: made from numbers a person declared."""

    cuts: tuple[float, ...]  # log-odds between the cells, increasing; one fewer than cells

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
