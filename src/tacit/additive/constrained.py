"""Where columns with a declared direction must stay out: of pairs, and of the cuts of residual trees.

A curve can be projected onto what was declared; a pair or a tree that cuts the column could go against it elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tacit.additive.pairs import SCREENED_COLUMNS
from tacit.arrays import Floats
from tacit.binning.measure import Bins, Column


class HasVariance(Protocol):
    """A term that knows how much it matters."""

    @property
    def variance(self) -> float:
        """Variance of the effect over the rows."""


def free_columns(columns: Sequence[Column], terms: Sequence[HasVariance]) -> list[int]:
    """The strongest columns that may be part of a pair, in their order."""
    ranked = np.argsort([-term.variance for term in terms], kind="stable")
    return sorted([int(i) for i in ranked if not columns[i].monotone][:SCREENED_COLUMNS])


def cut_masses(columns: Sequence[Column], bins: Sequence[Bins]) -> list[Floats]:
    """Per column, what random trees believe of its bins; a column of one bin is never cut."""
    return [
        found.counts if not column.monotone else np.array([float(found.counts.sum())])
        for column, found in zip(columns, bins, strict=True)
    ]
