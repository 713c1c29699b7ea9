"""What to release of a histogram so that its running sums come out well.

Accuracy, AUC, ROC and calibration are all made of sums over *ranges* of score cells. Noise on every cell alone adds up
over a range; noise on a few overlapping sums does not. A strategy is a public matrix whose columns have norm at most 1,
so that one row moves the release by at most 1; the cells are estimated from it by least squares. The one with the
least variance over all running sums is taken, which follows from public numbers alone.

Sources: matrix mechanism (Li, Miklau, Hay, McGregor, Rastogi 2015); hierarchies (Hay, Rastogi, Miklau, Suciu 2010); the
square root of the running-sum matrix (Fichtenberger, Henzinger, Upadhyay 2023; Henzinger, Upadhyay, Upadhyay 2023).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np

from tacit.arrays import Floats
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge, Gaussian, Laplace, Pure
from tacit.queries.cells import ProductCells
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.rules import RowRule

BRANCHINGS = (2, 4, 8, 16)

MATRIX_UNIT = 1 << 20
"""Integer units of 1.0 in the release matrix: rounding moves an estimate by less than a ten-thousandth of the rows."""


@final
@dataclass(frozen=True, eq=False)
class Strategy:
    """A release matrix and its inverse."""

    name: str  # for people
    matrix: Floats  # shape `(outputs, cells)`; columns have L1 norm (for Laplace noise) or L2 norm (Gaussian) at most 1
    inverse: Floats  # least squares, shape `(cells, outputs)`
    spread: float  # root mean square, over all running sums, of their standard deviation per unit of noise in an output


def square_root(cells: int) -> Floats:
    """The lower triangular Toeplitz matrix, ``(cells, cells)``, whose square is the matrix of running sums."""
    first = np.cumprod(np.concatenate([[1.0], 1.0 - 0.5 / np.arange(1, cells)]))
    lag = np.arange(cells)[:, None] - np.arange(cells)[None, :]
    return np.where(lag >= 0, first[np.maximum(lag, 0)], 0.0)


def hierarchy(cells: int, branching: int) -> Floats:
    """Sums over ranges of 1, ``branching``, ``branching**2`` ... cells, and the total; shape ``(sums, cells)``."""
    blocks = []
    width = 1
    while True:
        ranges = np.arange(cells) // width
        blocks.append((np.arange(math.ceil(cells / width))[:, None] == ranges[None, :]).astype(np.float64))
        if width >= cells:
            return np.concatenate(blocks)
        width *= branching


@cache
def strategy(cells: int, norm: int) -> Strategy:
    """The best known strategy for running sums; ``norm`` is 1 for Laplace noise, 2 for Gaussian noise."""
    candidates = {"cell by cell": np.eye(cells), "square root of the running sums": square_root(cells)}
    candidates |= {f"hierarchy of {b}": hierarchy(cells, b) for b in BRANCHINGS if b <= cells}
    return min((_scaled(name, matrix, norm) for name, matrix in candidates.items()), key=lambda one: one.spread)


def _scaled(name: str, matrix: Floats, norm: int) -> Strategy:
    scaled: Floats = np.asarray(matrix / np.linalg.norm(matrix, ord=norm, axis=0).max(), np.float64)
    inverse: Floats = np.asarray(np.linalg.pinv(scaled), np.float64)
    spread = math.sqrt(float((np.cumsum(inverse, axis=0) ** 2).sum()) / len(inverse))
    return Strategy(name, scaled, inverse, spread)


def shared(groups: int, norm: int) -> Strategy:
    """The strategy across disjoint groups: half of the precision goes to the sum of all, half to each group.

    The groups hold different rows, so that all of them together cost one release.
    """
    if groups == 1:
        return _scaled("one group", np.eye(1), norm)
    return _scaled("all and each", np.concatenate([np.ones((1, groups)), np.eye(groups)]), norm)


def views(by_group: Strategy) -> list[Floats]:
    """By which weights released sums add up to that of all rows, and to that of each group where there are several."""
    inverse = by_group.inverse
    return [inverse.sum(axis=0), *(inverse if len(inverse) > 1 else ())]


def sums_by_group(matrix: Floats, by_group: Strategy, rule: RowRule, column: int = 0, group: int = 1) -> Histogram:
    """The query for weighted sums over the cells of a column, in every group: ``matrix`` of each group's histogram.

    The matrix has shape ``(sums, cells)``; the column has one code more, for what is missing, which never occurs here.
    ``group`` is the column of the groups, if there are several.
    """
    size, groups = matrix.shape[1], by_group.matrix.shape[1]
    codes = np.append(np.arange(size), 0).astype(np.int64)
    cells = ProductCells((column,), (codes,), (size,))
    if groups > 1:
        cells = ProductCells((group, column), (np.arange(groups, dtype=np.int64), codes), (groups, size))
    release_map = ReleaseMap.from_floats(np.asarray(np.kron(by_group.matrix, matrix), np.float64), MATRIX_UNIT)
    return Histogram(cells, rule, None, release_map)


def best_charges(
    allowance: Allowance, cells: int, alone: bool, shares: Sequence[float]
) -> tuple[list[tuple[Charge, Charge]], Strategy]:
    """What to reserve and what to release with, for each share of the allowance; and the strategy for running sums.

    All have noise of one kind, that which suits the last one: kinds do not mix well. One Laplace release is often
    better than one Gaussian release of the same (epsilon, delta), but beside others it costs several times as much: so
    it is taken only where this is ``alone`` in its account.
    """
    if not allowance.is_private:
        return [(allowance.whole, allowance.whole)] * len(shares), _scaled("exact", np.eye(cells), 2)
    laplace, gaussian = strategy(cells, 1), strategy(cells, 2)
    epsilon, mu = allowance.epsilon * shares[-1], allowance.mu * math.sqrt(shares[-1])
    pure = allowance.is_pure or (alone and math.sqrt(2.0) / epsilon * laplace.spread < gaussian.spread / mu)
    return charges_of(allowance, shares, pure), laplace if pure else gaussian


def charges_of(allowance: Allowance, shares: Sequence[float], pure: bool) -> list[tuple[Charge, Charge]]:
    """What to reserve and what to release with for each share of an allowance: Laplace noise if ``pure``."""
    if pure:
        return [(Pure(allowance.epsilon * s), Laplace(1.0 / (allowance.epsilon * s))) for s in shares]
    return [(charge, charge) for charge in (Gaussian(1.0 / (allowance.mu * math.sqrt(s))) for s in shares)]


def noises(weights: Floats, sd: float) -> tuple[float, ...]:
    """Standard deviations of the independent noises in a weighted sum of released numbers."""
    return tuple(abs(float(weight)) * sd for weight in weights if abs(weight) * sd > 1e-12)


def noise_draws(sds: Sequence[float], laplace: bool, shape: tuple[int, ...], generator: np.random.Generator) -> Floats:
    """Sums of such noises as they might have been; public randomness."""
    draws = np.zeros(shape)
    for sd in sds:
        draws += generator.laplace(0.0, sd / np.sqrt(2.0), shape) if laplace else generator.normal(0.0, sd, shape)
    return draws
