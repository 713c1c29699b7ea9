"""Bounds of numeric columns nobody declared: found from noisy counts in exponential bins, and paid for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from tacit.curator.vault import Vault
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.privacy.charges import Charge, Laplace
from tacit.privacy.purse import Purse
from tacit.queries.cells import column_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_count_rule

BOUNDS_SHARE = 0.05
"""Share of a fit's budget that finds numeric bounds when no schema declares them."""

SMALLEST_POWER, LARGEST_POWER = -20, 40
MISTAKEN = 1e-5
"""Chance that noise alone makes any bin of any column look inhabited.

A bin that nobody lives in, far from the others, widens bounds until all rows share one cell: the column is lost. A
column has over a hundred bins, so what would do for one count is far too little for all of them.
"""

LEAST_LEVELS = 4.0
"""Where no bin is sure to be inhabited, the fullest counts if it is so many standard deviations of noise above 0."""

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


def inhabited(counts: npt.NDArray[np.float64], sd: float, levels: float) -> npt.NDArray[np.int64]:
    """The bins in which there are rows: sure ones, or else the fullest, or none."""
    sure = np.flatnonzero(counts > max(levels * sd, 0.5))
    if len(sure) == 0 and counts.max() > max(LEAST_LEVELS * sd, 0.5):
        return np.array([counts.argmax()])
    return sure


def find_bounds(
    vault: Vault, names: Sequence[str], label_index: LabelIndex, purse: Purse, share: float
) -> dict[str, tuple[float, float]]:
    """Bounds of each column, as powers of two, from one noisy histogram each.

    Args:
        vault: the rows.
        names: numeric columns without declared bounds.
        label_index: rows without a known label do not count.
        purse: the budget of the fit.
        share: what all columns together may spend of it.

    Returns:
        Per column, the outer edges of the bins that are sure to be inhabited (:data:`MISTAKEN`), or else those of the
        fullest; values outside will be clipped. A column whose bins all drown in noise gets :data:`DEFAULT_BOUNDS`.
    """
    grid = exponential_grid()
    curator = vault.seal(TableEncoding(tuple(names), (grid,) * len(names)), label_index)
    rule = fine_count_rule(label_index.n_classes)
    edges = np.append(grid.edges(), grid.upper)
    bounds = {}
    for index, name in enumerate(names):
        query = Histogram(column_cells(index, grid.n_codes), rule)
        release = curator.measure(query, purse.charge(share / len(names)), f"bounds of {name}")
        counts = release.value[:-1, 0]  # the last cell is that of missing values
        found = inhabited(counts, release.sd, sure_levels(release.charge, len(counts) * len(names)))
        bounds[name] = DEFAULT_BOUNDS if len(found) == 0 else (float(edges[found[0]]), float(edges[found[-1] + 1]))
    return bounds
