"""Cells: a public rule that sends a row to one of finitely many integers.

All state in a cell rule is public: bin tables come from the schema or from released measurements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints


@lru_cache(maxsize=1024)
def each_its_own(size: int) -> npt.NDArray[np.int32]:
    """The map of so many codes to cells that leaves them as they are; one object, so that nobody has to compare."""
    return np.arange(size, dtype=np.int32)


class Cells:
    """A rule from rows to ``0 .. size - 1``."""

    @property
    def size(self) -> int:
        """Number of cells."""
        raise NotImplementedError


@dataclass(frozen=True)
class OneCell(Cells):
    """Every row in cell 0: totals and intercepts."""

    @property
    def size(self) -> int:
        return 1


@dataclass(frozen=True, eq=False)
class ProductCells(Cells):
    """Cells of one or several columns: each column's code goes through a public map, the maps' values are crossed.

    ``maps[j]`` has one entry per code of column ``columns[j]`` and values ``0 .. sizes[j] - 1``; the cell of a row is
    the row-major index of its mapped codes.
    """

    columns: tuple[int, ...]
    maps: tuple[Ints, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if not len(self.columns) == len(self.maps) == len(self.sizes) >= 1:
            raise ValueError("columns, maps and sizes must have one, equal, length of at least 1")
        for mapping, size in zip(self.maps, self.sizes, strict=True):
            if mapping.ndim != 1 or len(mapping) == 0 or mapping.min() < 0 or mapping.max() >= size:
                raise ValueError(f"a map must be a vector with values in 0..{size - 1}")

    @property
    def size(self) -> int:
        return int(math.prod(self.sizes))

    @cached_property
    def offsets(self) -> tuple[npt.NDArray[np.int32], ...]:
        """Per column, the code's contribution to the cell index: the index is their sum."""
        if len(self.maps) == 1 and np.array_equal(self.maps[0], each_its_own(self.size)):
            return (each_its_own(self.size),)
        strides = np.cumprod((1, *self.sizes[:0:-1]))[::-1]
        return tuple(
            np.ascontiguousarray(mapping if stride == 1 else mapping * stride, dtype=np.int32)
            for mapping, stride in zip(self.maps, strides, strict=True)
        )


def column_cells(column: int, n_codes: int) -> ProductCells:
    """The codes of one column, as they are."""
    return ProductCells((column,), (np.arange(n_codes, dtype=np.int64),), (n_codes,))


def mapped_cells(column: int, mapping: npt.ArrayLike) -> ProductCells:
    """One column's codes, merged by a public map."""
    table = np.asarray(mapping, dtype=np.int64)
    return ProductCells((column,), (table,), (int(table.max()) + 1,))
