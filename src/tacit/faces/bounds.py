"""Bounds of numeric columns nobody declared: found from noisy counts in exponential bins, and paid for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tacit.curator.vault import Vault
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.privacy.purse import Purse
from tacit.queries.cells import column_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import RowRule

BOUNDS_SHARE = 0.05
"""Share of a fit's budget that finds numeric bounds when no schema declares them."""

SMALLEST_POWER, LARGEST_POWER = -20, 40
NOISE_LEVELS = 4.0
"""A bin counts as inhabited when its noisy count is this many standard deviations of the noise above 0."""

DEFAULT_BOUNDS = (-1.0, 1.0)


@cache
def exponential_grid() -> NumericGrid:
    """Cells between powers of two, both signs, and one around zero."""
    powers = 2.0 ** np.arange(SMALLEST_POWER, LARGEST_POWER + 1)
    cuts = tuple(float(cut) for cut in np.concatenate([-powers[::-1], powers]))
    return NumericGrid(-2.0 * powers[-1], 2.0 * powers[-1], spacing=cuts)


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
        Per column, the outer edges of the inhabited bins; values outside will be clipped. A column whose bins all drown
        in noise gets :data:`DEFAULT_BOUNDS`.
    """
    grid = exponential_grid()
    curator = vault.seal(TableEncoding(tuple(names), (grid,) * len(names)), label_index)
    rule = RowRule(np.full((label_index.n_classes, 1, 1), 64, np.int32), 64)
    edges = np.append(grid.edges(), grid.upper)
    bounds = {}
    for index, name in enumerate(names):
        query = Histogram(column_cells(index, grid.n_codes), rule)
        release = curator.measure(query, purse.charge(share / len(names)), f"bounds of {name}")
        inhabited = np.flatnonzero(release.value[:-1, 0] > max(NOISE_LEVELS * release.sd, 0.5))
        if len(inhabited) == 0:
            bounds[name] = DEFAULT_BOUNDS
        else:
            bounds[name] = (float(edges[inhabited[0]]), float(edges[inhabited[-1] + 1]))
    return bounds
