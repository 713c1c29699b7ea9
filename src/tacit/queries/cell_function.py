"""A bounded function of each cell's sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.histogram import Histogram
from tacit.queries.sensitivity import Sensitivity


@dataclass(frozen=True, eq=False)
class CellFunction:
    """A query for ``function(sums of the cell)``, cell by cell, clipped to ``[-bound, bound]``.

    Sensitivity: adding or removing a row changes the sums of one cell, hence one value, by at most the width of the
    clip; replacing a row changes two. It holds for every function, because the query does the clipping and shows the
    function one cell at a time.

    Attributes:
        histogram: one line of integer sums per cell; no release map.
        function: from the sums of one cell, shape ``(channels,)``, to an integer; pure, and raises for no content.
        bound: in integer units, positive.
        unit: integer units that stand for 1.0.
    """

    histogram: Histogram
    function: Callable[[npt.NDArray[np.int64]], int]
    bound: int
    unit: int

    def __post_init__(self) -> None:
        if self.histogram.release_map is not None:
            raise ValueError("a function of cells takes their sums as they are, without a release map")
        if self.bound < 1 or self.unit < 1:
            raise ValueError("bound and unit must be positive")

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.histogram.cells.size,)

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the answer, in integer units."""
        width = 2 * self.bound
        one_cell = neighbouring is Neighbouring.ADD_OR_REMOVE_ONE or self.histogram.cells.size == 1
        cells = 1 if one_cell else 2
        return Sensitivity(cells * width, cells * width**2, f"clipped function of cells: a row touches {cells}")

    def finish(self, sums: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The exact answer from the sums, shape ``(cells, channels)``."""
        values = [min(max(int(self.function(line)), -self.bound), self.bound) for line in sums]
        return np.array(values, np.int64)
