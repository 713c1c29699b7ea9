"""The length that rows are clipped to, where nobody declared it: a noisy quantile of their lengths."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.arrays import Floats
from tacit.curator.rows import PrivateRows
from tacit.discovery.bounds import exponential_grid, sure_levels
from tacit.encoding.dense import RowEncoder
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.halfspaces.tuning import TUNING, Tuning
from tacit.privacy.budget import Allowance
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import column_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_count_rule


def length_grid(longest: float, tuning: Tuning = TUNING) -> NumericGrid:
    """Cells of lengths from 0 to ``longest``, the upper ones of equal ratio."""
    each = tuning.cells_per_octave
    cuts = longest * 2.0 ** (-np.arange(each * tuning.octaves, 0, -1) / each)
    return NumericGrid(0.0, longest, spacing=tuple(float(cut) for cut in cuts))


def find_row_norm(
    private_rows: PrivateRows,
    encoder: RowEncoder,
    label_index: LabelIndex,
    allowance: Allowance,
    tuning: Tuning = TUNING,
) -> float:
    """A length that few rows are longer than, from one noisy histogram of lengths, for ``tuning.norm_share``.

    One row is in one cell, so the release has the sensitivity of a histogram: 1 for adding a row, sqrt(2) for replacing
    one. What it is used for is public: every row is shortened to the length found, by itself. Where noise hides more it
    is the longest that a row can be. Rows without a known label do not count.
    """
    longest = math.sqrt(len(encoder.ordinal))
    grid = length_grid(longest, tuning)
    curator = private_rows.seal_lengths(encoder, grid, label_index)
    query = Histogram(column_cells(0, grid.n_codes), fine_count_rule(label_index.n_classes))
    release = curator.measure(query, allowance.charge(tuning.norm_share), Label(Stage.BOUNDS, "(lengths of rows)"))
    uppers = np.append(grid.edges()[1:], longest)
    return float(uppers[quantile_cell(release.value[:-1, 0], release.sd, tuning)])


def find_common_bounds(
    private_rows: PrivateRows,
    names: Sequence[str],
    label_index: LabelIndex,
    allowance: Allowance,
    each: float,
    tuning: Tuning = TUNING,
) -> tuple[float, float] | None:
    """One pair of bounds for all columns, where single columns would drown in noise; None where they would not.

    From one noisy histogram of the largest magnitude in a row, for ``tuning.norm_share``: one row is in one cell,
    however many columns there are. ``each`` is what the bounds of a single column would take. Rows without a known
    label do not count.
    """
    grid = exponential_grid()
    curator = private_rows.seal_magnitudes(TableEncoding(tuple(names), (grid,) * len(names)), label_index)
    query = Histogram(column_cells(0, curator.layout.n_codes[0]), fine_count_rule(label_index.n_classes))
    release = curator.measure(query, allowance.charge(tuning.norm_share), Label(Stage.BOUNDS, "(all columns)"))
    counts = release.value[:, 0]
    if float(counts.sum()) >= tuning.own_bounds * allowance.sd(each):
        return None
    last = quantile_cell(counts, release.sd, tuning)
    # every further cell is twice as large: one that noise alone makes look inhabited would put all rows into one place
    sure = np.flatnonzero(counts > sure_levels(release.charge, len(counts)) * release.sd)
    if len(sure):
        last = min(last, int(sure[-1]) + 1)
    edges = np.append(grid.edges(), grid.upper)[len(grid.edges()) // 2 + 1 :]
    largest = float(edges[last])
    return -largest, largest


def quantile_cell(counts: Floats, sd: float, tuning: Tuning = TUNING) -> int:
    """The first cell of noisy rows by length beyond which few lie; the last where there are too few to say."""
    total = float(counts.sum())
    if total <= tuning.least_sure * sd * math.sqrt(len(counts)):
        return len(counts) - 1
    beyond = total - np.cumsum(counts)  # in the cells above
    above = np.arange(len(counts))[::-1]
    few = beyond <= tuning.shortened * total + tuning.unsure * sd * np.sqrt(above)
    last_many = np.flatnonzero(~few)
    return int(last_many[-1]) + 1 if len(last_many) else 0
