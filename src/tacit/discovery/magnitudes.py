"""Which powers of two hold a column's rows, where noise drowns single counts: the run of cells that is most likely.

Values of a column mostly have a few magnitudes in a row, so that neighbouring cells can vouch for each other: three
counts of two standard deviations each say what one of four would. Post-processing of what was released.
"""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats, Ints

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
