"""Bounds of numeric columns nobody declared: found from noisy counts in exponential bins, and paid for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.curator.measurement import LEAST_SD
from tacit.curator.rows import PrivateRows
from tacit.encoding.grid import NumericGrid
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge, Laplace
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import column_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_count_rule

SMALLEST_POWER, LARGEST_POWER = -20, 40

USUAL_POWER, UNUSUAL = 4, 0.15
"""What values are most often as large as, and what every power of two beyond or below costs in logarithms."""

LEAST_EVIDENCE, LEAST_BESIDE = 4.0, 1.5
"""In logarithms: for a run of cells, and for one of the other sign beside it."""

LARGER, SMALLER = 2.0, 0.5
"""What every power of two costs in logarithms by which the largest values of the other sign are larger or smaller."""


def most_likely_run(heights: Floats, expected: float, against: Floats) -> tuple[int, int, float]:
    """The first and the last cell of the run that is most likely to be inhabited, and the logarithm of its odds.

    ``heights`` are noisy rows per power of two, from the smallest on, in standard deviations of the noise; an inhabited
    cell is thought to have ``expected``; ``against`` is what speaks against a run that ends in a cell, in logarithms.
    """
    logs = expected * heights - 0.5 * expected**2
    upto = np.append(0.0, np.cumsum(logs))
    odds = upto[None, 1:] - upto[:-1, None] - against[None, :]  # of the run from row to column
    odds[np.tril_indices(len(heights), -1)] = -np.inf
    first, last = np.unravel_index(int(np.argmax(odds)), odds.shape)
    return int(first), int(last), float(odds[first, last])


def believed(heights: Floats, expected: float) -> Ints:
    """The outermost cells of the exponential grid that are likely to be inhabited: two of them, or none.

    ``heights`` are noisy rows of all cells, in standard deviations of the noise: of negative values from the largest
    magnitude on, of those around 0, of positive ones; the more an inhabited cell is expected to have, the less is
    believed.
    """
    middle = len(heights) // 2
    sides = {-1: heights[:middle][::-1], 1: heights[middle + 1 :]}
    powers = np.arange(SMALLEST_POWER, LARGEST_POWER + 1)
    runs = {
        sign: most_likely_run(side, expected, UNUSUAL * np.abs(powers - USUAL_POWER)) for sign, side in sides.items()
    }
    sign = max(runs, key=lambda key: runs[key][2])
    first, last, odds = runs[sign]
    if odds < LEAST_EVIDENCE:
        return np.zeros(0, dtype=np.int64)
    ends = [middle + sign * (first + 1), middle + sign * (last + 1)]
    beyond = powers - powers[last]
    against = LARGER * np.maximum(beyond, 0) + SMALLER * np.maximum(-beyond, 0)
    _, other, beside = most_likely_run(sides[-sign], expected, against)
    if beside > LEAST_BESIDE:
        ends.append(middle - sign * (other + 1))
    return np.array([min(ends), max(ends)], dtype=np.int64)


BOUNDS_SHARE = 0.05
"""Share of a fit's budget that finds numeric bounds when no schema declares them."""

MISTAKEN = 1e-5
"""Chance that noise alone makes any bin of any column look inhabited.

A bin far from the others that nobody lives in widens bounds until all rows share one cell: the column is lost. A
column has over a hundred bins, so what would do for one count is far too little for all of them.
"""

HIDDEN, UNNOTICED = 0.02, 1.5
"""Bounds are widened where a cell beyond them may hold this share of the rows and stand no more than so many standard
deviations of noise above 0."""

EXPECTED, EXPECTED_BESIDE = 2.0, 3.0
"""Standard deviations of noise that an inhabited cell is thought to stand above 0: where none is sure to be, and beside
those that are."""

DEFAULT_BOUNDS = (-1.0, 1.0)


@cache
def exponential_grid() -> NumericGrid:
    """Cells between powers of two, both signs, and one around zero."""
    powers = 2.0 ** np.arange(SMALLEST_POWER, LARGEST_POWER + 1)
    cuts = tuple(float(cut) for cut in np.concatenate([-powers[::-1], powers]))
    return NumericGrid(-2.0 * powers[-1], 2.0 * powers[-1], spacing=cuts)


def sure_levels(charge: Charge, n_counts: int) -> float:
    """By how many standard deviations noise lifts any of so many counts with probability :data:`MISTAKEN` at most."""
    each = MISTAKEN / n_counts
    if isinstance(charge, Laplace):
        return math.log(0.5 / each) / math.sqrt(2.0)
    return -NormalDist().inv_cdf(each)


def inhabited(counts: Floats, sd: float, levels: float) -> Ints:
    """The cells of :func:`exponential_grid` between which the rows are thought to lie: the first and the last, or none.

    These are the cells that are sure to be inhabited (``levels`` of noise make one sure), and all between. Where noise
    may hide :data:`HIDDEN` of the rows in another, those that :func:`believed` has count, too, and one more power of
    two at either end; where no cell but that of 0 is sure, all down to 0 as well. Bounds that are too wide cost a
    little resolution, too narrow ones the rows beyond. ``counts`` leave missing values out.
    """
    middle = len(counts) // 2
    sure = np.flatnonzero(counts > max(levels * sd, 0.5))
    in_doubt = bool((sure == middle).all())
    if not in_doubt and UNNOTICED * sd <= HIDDEN * counts[sure.min() : sure.max() + 1].sum():
        return sure[[0, -1]]
    cells = np.concatenate([sure, believed(counts / max(sd, LEAST_SD), EXPECTED if in_doubt else EXPECTED_BESIDE)])
    if (cells == middle).all():
        return cells[:0]
    first, last = (min(cells.min(), middle), max(cells.max(), middle)) if in_doubt else (cells.min(), cells.max())
    first, last = first - (first != middle), last + (last != middle)
    return np.array([max(first, 0), min(last, len(counts) - 1)], dtype=np.int64)


def find_bounds(
    private_rows: PrivateRows,
    names: Sequence[str],
    label_index: LabelIndex | NumericLabelIndex,
    allowance: Allowance,
    share: float,
) -> dict[str, tuple[float, float]]:
    """Bounds of each column, as powers of two, from one noisy histogram each, for ``share`` of the allowance together.

    They are the outer edges of the bins that are :func:`inhabited`; values outside will be clipped. A column whose bins
    all drown in noise, but perhaps for that around 0, gets :data:`DEFAULT_BOUNDS`. Rows without a known label do not
    count.
    """
    grid = exponential_grid()
    curator = private_rows.seal(TableEncoding(tuple(names), (grid,) * len(names)), label_index)
    rule = fine_count_rule(label_index.n_classes)
    edges = np.append(grid.edges(), grid.upper)
    bounds = {}
    for index, name in enumerate(names):
        query = Histogram(column_cells(index, grid.n_codes), rule)
        release = curator.measure(query, allowance.charge(share / len(names)), Label(Stage.BOUNDS, name))
        counts = release.value[:-1, 0]  # the last cell is that of missing values
        spans = inhabited(counts, release.sd, sure_levels(release.charge, len(counts) * len(names)))
        bounds[name] = DEFAULT_BOUNDS if len(spans) == 0 else _ends(float(edges[spans[0]]), float(edges[spans[-1] + 1]))
    return bounds


def _ends(lower: float, upper: float) -> tuple[float, float]:
    """Bounds between cells; an end in the narrow one around 0 is 0."""
    narrow = 2.0**SMALLEST_POWER
    if lower == -narrow and upper > narrow:
        lower = 0.0
    elif upper == narrow and lower < -narrow:
        upper = 0.0
    return lower, upper
