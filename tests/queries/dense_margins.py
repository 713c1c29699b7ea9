"""What margins of fixed-point rows are, step by step: the definition that engines must reproduce."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.queries.dense.halfspace_log import HalfspaceLog


def fixed_margins(log: HalfspaceLog, rows: npt.NDArray[np.integer]) -> Ints:
    """Margins of integer rows of shape ``(n, n_features)`` under a log: the definition that engines must reproduce."""
    exact = np.zeros(len(rows), np.int64)
    for step in log.steps:
        product = rows.astype(np.int64) @ step.vector.astype(np.int64)
        exact += np.clip((product * step.multiplier) >> step.shift, -step.limit, step.limit)
    return exact
