"""From rows as they came to what an engine keeps of them: plain data, so that a recipe can go where the rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes, Codes
from tacit.encoding.dense import RowEncoder
from tacit.encoding.frames import Frame
from tacit.encoding.grid import NumericGrid
from tacit.encoding.labels import NO_LABEL, NumericLabelIndex
from tacit.encoding.matrix_rows import MatrixEncoder
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.engines.dense import DenseRows


class Recipe(ABC):
    """What becomes of the columns. What it makes of a row depends on that row alone."""

    @property
    @abstractmethod
    def n_codes(self) -> tuple[int, ...]:
        """How many codes each column has."""

    @property
    def n_dense(self) -> int:
        """How many coordinates there are beside them."""
        return 0

    @abstractmethod
    def columns(self, frame: Frame) -> list[Codes]:
        """Codes of every column."""

    def dense(self, frame: Frame) -> DenseRows | None:
        """Fixed-point rows beside them."""
        del frame
        return None


@dataclass(frozen=True)
class Columns(Recipe):
    """The codes of an encoding."""

    encoding: TableEncoding

    @property
    def n_codes(self) -> tuple[int, ...]:
        return self.encoding.n_codes

    def columns(self, frame: Frame) -> list[Codes]:
        return self.encoding.encode(frame)


@dataclass(frozen=True)
class Vectors(Recipe):
    """Every row as a fixed-point vector of bounded norm."""

    encoder: RowEncoder | MatrixEncoder

    @property
    def n_codes(self) -> tuple[int, ...]:
        return ()

    @property
    def n_dense(self) -> int:
        return self.encoder.width

    def columns(self, frame: Frame) -> list[Codes]:
        del frame
        return []

    def dense(self, frame: Frame) -> DenseRows:
        """The vectors, a matrix or CSR, as the engine keeps them; their norms are checked once more."""
        encoder = self.encoder
        rows: Any = encoder.encode(frame)
        radius, width = encoder.clipper.radius, encoder.width
        if hasattr(rows, "indptr"):
            return DenseRows(rows.data, radius, width, rows.indices.astype(np.int32), rows.indptr.astype(np.int64))
        return DenseRows(rows, radius, width)


@dataclass(frozen=True)
class Lengths(Recipe):
    """The lengths of the vectors, before they are clipped, in the cells of a public grid: a table of one column."""

    encoder: RowEncoder
    grid: NumericGrid

    @property
    def n_codes(self) -> tuple[int, ...]:
        return (self.grid.n_codes,)

    def columns(self, frame: Frame) -> list[Codes]:
        return [self.grid.encode(self.encoder.lengths(frame))]


@dataclass(frozen=True)
class Magnitudes(Recipe):
    """Of every row the largest magnitude in any column: a table of one column.

    All columns are numeric, on one grid that is symmetric about its middle cell.
    """

    encoding: TableEncoding

    @property
    def middle(self) -> int:
        """The cell in the middle; the last code is that of missing values, which have no magnitude."""
        return self.encoding.n_codes[0] // 2 - 1

    @property
    def n_codes(self) -> tuple[int, ...]:
        return (self.middle + 1,)

    def columns(self, frame: Frame) -> list[Codes]:
        largest = np.zeros(frame.n_rows, np.uint16)
        for codes in self.encoding.encode(frame):
            away = np.abs(codes.astype(np.int64) - self.middle)
            np.maximum(largest, np.where(codes == 2 * self.middle + 1, 0, away).astype(np.uint16), out=largest)
        return [largest]


def label_codes(labels: Any, label_index: LabelIndex | NumericLabelIndex) -> Bytes:
    """Class codes, :data:`DROPPED` for rows that a rule drops; of numbers, 0 where there is one."""
    if isinstance(label_index, NumericLabelIndex):
        return np.where(label_index.encode(labels) == NO_LABEL, np.uint8(DROPPED), np.uint8(0))
    return label_index.encode(labels).astype(np.uint8)


def targets_of(labels: Any, label_index: LabelIndex | NumericLabelIndex) -> npt.NDArray[np.int32] | None:
    """Numeric labels in fixed point; None of classes."""
    return label_index.encode(labels) if isinstance(label_index, NumericLabelIndex) else None
