"""Rows whose sums are bounded together: how much each weighs, as part of its label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Codes, Ints
from tacit.engines.kernels import add_costs
from tacit.queries.cells import Cells
from tacit.queries.joint_bound import JointBound
from tacit.queries.row_weights import N_LEVELS

Pass = Callable[[int, int, Ints], Any]

BLOCK = 1 << 14
"""Rows at a time: their lengths stay in the cache."""


def joint_labels(
    bound: JointBound,
    labels: Codes,
    n_labels: int,
    own_levels: int,
    codes_of: Callable[[Cells], tuple[Codes, npt.NDArray[np.int32]]],
    in_parallel: Callable[[Pass], Any],
    zeros: Callable[[int, Any], Codes],
) -> Codes:
    """Labels ``class * N_LEVELS + level`` of all rows, as ``bound`` weighs them down.

    ``own_levels`` is 1, or ``N_LEVELS`` where rows have weights of their own; then the two are multiplied. ``codes_of``
    gives the engine's codes of cells, with the table from code to cell; ``zeros`` makes room for an entry per row.
    """
    if own_levels not in (1, N_LEVELS):
        raise ValueError(f"rows have 1 or {N_LEVELS} levels of weight of their own, got {own_levels}")
    sides = [
        (codes, costs[lookup])
        for (codes, lookup), costs in zip((codes_of(part.cells) for part in bound.parts), bound.costs, strict=True)
    ]
    n_joint = n_labels // own_levels * N_LEVELS
    out = zeros(len(labels), np.uint8 if n_joint <= 256 else np.uint16)

    def run(start: int, stop: int, _: Ints) -> None:
        lengths = np.empty(BLOCK, np.int64)
        for low in range(start, stop, BLOCK):
            high = min(low + BLOCK, stop)
            lengths[: high - low] = 0
            for codes, costs in sides:
                add_costs(codes, costs, lengths, low, high)
            level = bound.levels(lengths[: high - low])
            own = labels[low:high].astype(np.int64)
            classes = own // own_levels
            if own_levels > 1:  # levels are logarithms of weights: they add up; level 0 stands for no weight at all
                lost = (N_LEVELS - 1) - level
                level = np.where(level > 0, np.maximum(own % own_levels - lost, 0), 0)
            out[low:high] = classes * N_LEVELS + level

    in_parallel(run)
    return out
