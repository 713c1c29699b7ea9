"""The one release an evaluation makes: noisy counts of rows by score cell, label and group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from tacit.curator.curator import Curator
from tacit.evaluation.grid import ScoreGrid
from tacit.evaluation.strategy import Strategy
from tacit.privacy.charges import Charge, Laplace
from tacit.queries.cells import ProductCells
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.rules import class_count_rule

Floats = npt.NDArray[np.float64]

MATRIX_UNIT = 1 << 20
"""Integer units of 1.0 in the release matrix: rounding moves an estimate by less than a ten-thousandth of the rows."""


@final
@dataclass(frozen=True, eq=False)
class ScoreCounts:
    """Released counts of one group of rows, and all that is known about their noise.

    Attributes:
        grid: the score cells.
        released: the noisy answers, shape ``(outputs, 2)``: rows of label 0 and 1.
        strategy: how answers follow from cells.
        noise: standard deviations of the independent noises that add up in every entry of ``released``.
        laplace: whether those are Laplace; Gaussian otherwise.
    """

    grid: ScoreGrid
    released: Floats
    strategy: Strategy
    noise: tuple[float, ...]
    laplace: bool

    @cached_property
    def estimate(self) -> Floats:
        """Unbiased counts by cell and label, shape ``(cells, 2)``; may be negative."""
        estimate: Floats = self.strategy.inverse @ self.released
        return estimate

    @cached_property
    def likely(self) -> Floats:
        """Counts that are not negative and fit the release best, shape ``(cells, 2)``. Biased where noise is large."""
        columns = [nnls(self.strategy.matrix, self.released[:, label], maxiter=4000)[0] for label in (0, 1)]
        return np.stack(columns, axis=1)

    @property
    def sd(self) -> float:
        """Standard deviation of the noise in every released number."""
        return float(np.linalg.norm(self.noise)) if self.noise else 0.0

    def sd_of(self, weights: Floats) -> Floats:
        """Standard deviation, from noise alone, of sums ``weights @ estimate[:, label]``."""
        spread: Floats = self.sd * np.linalg.norm(weights @ self.strategy.inverse, axis=-1)
        return spread

    def noise_draws(self, times: int, generator: np.random.Generator) -> Floats:
        """Errors of the estimate as the noise might have made them, shape ``(times, cells, 2)``; public randomness."""
        shape = (self.released.shape[0], times, 2)
        noise = np.zeros(shape)
        if self.laplace:
            for sd in self.noise:
                noise += generator.laplace(0.0, sd / np.sqrt(2.0), shape)
        elif self.noise:
            noise = generator.normal(0.0, self.sd, shape)
        errors = (self.strategy.inverse @ noise.reshape(shape[0], -1)).reshape(-1, times, 2)
        return np.ascontiguousarray(errors.transpose(1, 0, 2))


def row_draws(truth: Floats, times: int, generator: np.random.Generator) -> Floats:
    """Counts of new rows when ``truth`` (none negative) is expected, shape ``(times, *truth.shape)``.

    The number of rows varies, too; that changes no ratio to speak of, and makes the cells independent.
    """
    rows = np.zeros((times, *truth.shape))
    held = truth > 0
    rows[:, held] = generator.poisson(truth[held], size=(times, int(held.sum())))
    return rows


def release_counts(
    curator: Curator, grid: ScoreGrid, groups: int, charge: Charge, by_cell: Strategy, by_group: Strategy
) -> tuple[ScoreCounts, tuple[ScoreCounts, ...]]:
    """Asks for the counts of all groups in one release.

    Guarantee: that of ``charge``. A row has one score, one label and one group, so it moves one column of the release
    matrix, whose norm is at most 1: one weighted histogram (docs/theory/sensitivities.md, section 0).

    Args:
        curator: over a table whose column 0 is the score's cell (and one code for no number, which never occurs) and
            whose column 1 is the group, if there are several.
        grid: the score cells.
        groups: number of groups.
        charge: what to pay.
        by_cell: the strategy over score cells.
        by_group: the strategy over groups; the release matrix is the Kronecker product of the two.

    Returns:
        The counts of all rows, and of each group.
    """
    scores = np.append(np.arange(grid.cells), 0).astype(np.int64)
    cells = ProductCells((0,), (scores,), (grid.cells,))
    if groups > 1:
        cells = ProductCells((1, 0), (np.arange(groups, dtype=np.int64), scores), (groups, grid.cells))
    release_map = ReleaseMap.from_floats(np.asarray(np.kron(by_group.matrix, by_cell.matrix), np.float64), MATRIX_UNIT)
    query = Histogram(cells, class_count_rule(2), None, release_map)
    release = curator.measure(query, charge, f"counts by score ({by_cell.name}), label and group")
    values = release.value.reshape(len(by_group.matrix), len(by_cell.matrix), 2)

    def view(weights: Floats) -> ScoreCounts:
        noise = tuple(abs(float(weight)) * release.sd for weight in weights if abs(weight) > 1e-12 and release.sd > 0)
        return ScoreCounts(grid, np.einsum("g,gol->ol", weights, values), by_cell, noise, isinstance(charge, Laplace))

    each = tuple(view(weights) for weights in by_group.inverse) if groups > 1 else ()
    return view(by_group.inverse.sum(axis=0)), each
