"""The weighted histogram: per cell, the sum of what its rows contribute, optionally through a public linear map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.cells import Cells
from tacit.queries.margins import Margins
from tacit.queries.rules import RowRule
from tacit.queries.sensitivity import Sensitivity, largest_vector


@dataclass(frozen=True, eq=False)
class ReleaseMap:
    """A public integer matrix ``A`` of shape ``(outputs, cells)``: what is released is ``A @ histogram``.

    ``unit`` integer units stand for 1.0 in ``A``. Column norms are computed in integers.
    """

    matrix: npt.NDArray[np.int64]
    unit: int

    @property
    def column_norms(self) -> tuple[int, int]:
        """The largest L1 norm and squared L2 norm of a column."""
        return largest_vector(np.ascontiguousarray(self.matrix.T))

    @staticmethod
    def from_floats(matrix: npt.NDArray[np.float64], unit: int = 1 << 12) -> ReleaseMap:
        """Truncates a real matrix toward zero: no column norm grows."""
        return ReleaseMap(np.trunc(matrix * unit).astype(np.int64), unit)


class Contributions(Protocol):
    """How long a row's contribution can be, and how far apart two can be: L1 norm and squared L2 norm."""

    @property
    def longest(self) -> tuple[int, int]: ...

    @property
    def diameter(self) -> tuple[int, int]: ...


def sensitivity_of_sums(
    rule: Contributions,
    cells: int,
    release_map: ReleaseMap | None,
    neighbouring: Neighbouring,
    theorem: str,
    one_orthant: Callable[[], bool] = lambda: False,
) -> Sensitivity:
    """How far one row moves sums by cell, through a public map or not: see :class:`Histogram` for the argument.

    Args:
        rule: what a row contributes.
        cells: how many there are.
        release_map: what is released of them; None for the sums themselves.
        neighbouring: the relation.
        theorem: why a row moves one cell only, for the ledger.
        one_orthant: whether no contribution has a negative part; asked where it matters.
    """
    l1, l2_squared = rule.longest
    if release_map is not None:
        map_l1, map_l2_squared = release_map.column_norms
        l1, l2_squared = l1 * map_l1, l2_squared * map_l2_squared
        theorem += ", through a public map"
    if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE:
        return Sensitivity(l1, l2_squared, theorem)
    if release_map is not None:
        apart = 2 if release_map.matrix.min() >= 0 and one_orthant() else 4
        return Sensitivity(2 * l1, apart * l2_squared, f"{theorem}; replace = remove + add")
    same_l1, same_l2_squared = rule.diameter
    apart = 0 if cells == 1 else 1
    return Sensitivity(
        max(2 * l1 * apart, same_l1), max(2 * l2_squared * apart, same_l2_squared), f"{theorem}; replace"
    )


@dataclass(frozen=True, eq=False)
class Histogram:
    """A query for ``sum over rows of rule(label, margin)`` per cell: integers of shape ``(outputs, channels)``.

    Sensitivity (docs/theory/sensitivities.md, section 0): adding or removing a row changes one cell by one vector of
    the rule.
    Replacing a row is one removal and one addition, whatever happens to its label and margin: either the two vectors
    fall into different cells (squared norms add) or into one (their difference counts; a row that a public rule drops
    counts as the zero vector); through a release map, the triangle inequality gives twice the add/remove bound, and
    where nothing is negative the two vectors point into one orthant, so that squared norms bound their difference.
    """

    cells: Cells
    rule: RowRule
    margins: Margins | None = None
    release_map: ReleaseMap | None = None

    def __post_init__(self) -> None:
        if self.rule.uses_margin and self.margins is None:
            raise ValueError("a rule that depends on the margin needs margins")
        if self.release_map is not None and self.release_map.matrix.shape[1] != self.cells.size:
            raise ValueError(
                f"the release map has {self.release_map.matrix.shape[1]} columns for {self.cells.size} cells"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """``(outputs, channels)``."""
        outputs = self.cells.size if self.release_map is None else len(self.release_map.matrix)
        return (outputs, self.rule.channels)

    @property
    def unit(self) -> int:
        """Integer units that stand for 1.0 in the answer."""
        return self.rule.unit * (1 if self.release_map is None else self.release_map.unit)

    @property
    def longest(self) -> int:
        """The squared length of the longest vector that a row can contribute to a cell."""
        return self.rule.longest[1]

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the answer, in integer units."""
        rule = self.rule
        return sensitivity_of_sums(
            rule,
            self.cells.size,
            self.release_map,
            neighbouring,
            "weighted histogram: one row, one cell",
            lambda: rule.vectors.min() >= 0,
        )

    def finish(self, histogram: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The exact answer from the raw histogram of shape ``(cells, channels)``."""
        return histogram if self.release_map is None else self.release_map.matrix @ histogram
