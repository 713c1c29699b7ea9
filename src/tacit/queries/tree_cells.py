"""The leaves of a tree as cells, and what a row contributes to a Newton leaf."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.models.tree import TreeShape
from tacit.queries.cells import Cells
from tacit.queries.rules import LEVEL_BITS, LEVELS, WEIGHT_UNIT, RowRule

HESSIAN_IS_FREE = 11.09
"""For the logistic loss ``g**2 + c**2 h**2 <= 1`` for every ``c**2`` up to this number (privacy notes, section 2)."""


@dataclass(frozen=True, eq=False)
class TreeCells(Cells):
    """Every row in the leaf of a public tree: one cell per row, so one row moves one cell."""

    shape: TreeShape

    @property
    def size(self) -> int:
        return self.shape.n_leaves


def middle_margins() -> npt.NDArray[np.float64]:
    """The margin in the middle of each level of a rule."""
    levels = np.arange(LEVELS, dtype=np.float64)
    middles: npt.NDArray[np.float64] = (levels - LEVELS // 2 + 0.5) / 2**LEVEL_BITS
    return middles


def logistic_gradient_rule(clip: float, hessian_scale: float, norm: int) -> RowRule:
    """The contribution ``(g, c h)`` of a binary row to a Newton step on the logistic loss, clipped jointly.

    ``g = y - p`` and ``h = p (1 - p)`` with ``p`` the logistic function of the margin. A vector longer than ``clip`` is
    scaled down to it, both parts alike, so ``g / h`` stays right. Values are truncated toward zero, which never
    lengthens them.

    Args:
        clip: the largest norm, at most 1.
        hessian_scale: ``c``.
        norm: 2 for Gaussian noise, 1 for Laplace noise.
    """
    if not 0 < clip <= 1 or hessian_scale <= 0 or norm not in (1, 2):
        raise ValueError(f"need 0 < clip <= 1, c > 0 and norm 1 or 2, got {clip}, {hessian_scale}, {norm}")
    p = 0.5 * (1.0 + np.tanh(0.5 * middle_margins()))
    table = np.zeros((2, LEVELS, 2), np.int32)
    for label in (0, 1):
        vector = np.stack([label - p, hessian_scale * p * (1.0 - p)], axis=1)
        length = np.linalg.norm(vector, ord=norm, axis=1, keepdims=True)
        shrunk = vector * np.minimum(1.0, clip * (1.0 - 1e-12) / length)
        table[label] = np.trunc(shrunk * WEIGHT_UNIT).astype(np.int32)
    return RowRule(table, WEIGHT_UNIT)
