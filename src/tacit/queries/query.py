"""What every query states about itself, and what is public about the table it asks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from tacit.arrays import Ints
from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.sensitivity import Sensitivity


class Query(Protocol):
    """A question whose exact answer is an array of integers."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the answer; public."""

    @property
    def unit(self) -> int:
        """Integer units that stand for 1.0 in the answer."""

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the answer, in integer units, under a relation."""


@dataclass(frozen=True)
class Layout:
    """What is public about a sealed table. The number of rows is not, and is not here.

    Attributes:
        n_codes: per column, how many codes its encoding has (missing and "other" included).
        n_labels: number of classes.
        n_dense: width of the dense fixed-point rows, 0 if there are none.
    """

    n_codes: tuple[int, ...]
    n_labels: int
    n_dense: int = 0

    @property
    def n_columns(self) -> int:
        return len(self.n_codes)

    def coarsened(self, column: int, mapping: Ints) -> Layout:
        """The layout once a column's codes are replaced by a public map of them."""
        n_codes = list(self.n_codes)
        n_codes[column] = int(mapping.max()) + 1
        return replace(self, n_codes=tuple(n_codes))
