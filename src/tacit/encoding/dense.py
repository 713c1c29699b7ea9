"""Fixed-point rows of bounded norm, for learners that take sums of rows: a public rule, row by row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Codes, Floats
from tacit.display import Brief
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import mapping
from tacit.encoding.grid import BLOCK, NumericGrid
from tacit.encoding.table import Encoder, TableEncoding
from tacit.encoding.values import BooleanIndex
from tacit.packages import loops
from tacit.schema import OrdinalColumn, Schema
from tacit.schema.columns import MOST_BINS

kernels = loops("tacit.encoding.kernels")

MOST_RADIUS = 1 << 24
"""Largest integer norm: an int64 sum then holds 2**39 rows."""


@final
@dataclass(frozen=True)
class RowClipper:
    """Rows of real numbers to rows of integers whose exact norm is at most ``radius``.

    A row within ``norm`` is multiplied by ``radius / norm`` and truncated toward zero; a longer one is first shortened
    to ``norm``. NaN and infinity count as 0. Each row is treated by itself, and ``sum(q**2) <= radius**2`` is checked
    in integers: ``radius`` *is* the L2 sensitivity, in integer units, of a sum of rows when one is added or removed.
    """

    norm: float = 1.0  # the public bound on row norms, in natural units
    radius: int = 32767  # the integer that stands for it, at most `MOST_RADIUS`; rows are int16 up to 32767

    def __post_init__(self) -> None:
        if not (math.isfinite(self.norm) and 1e-150 < self.norm < 1e150):
            raise ValueError(f"norm must be a positive finite number, got {self.norm}")
        if not 1 <= self.radius <= MOST_RADIUS:
            raise ValueError(f"radius must be from 1 to {MOST_RADIUS}, got {self.radius}")

    @property
    def unit(self) -> float:
        """Integer units that stand for 1.0."""
        return self.radius / self.norm

    @property
    def dtype(self) -> np.dtype[np.int16] | np.dtype[np.int32]:
        return np.dtype(np.int16) if self.radius <= np.iinfo(np.int16).max else np.dtype(np.int32)

    def clip(self, rows: Any, threads: int | None = None) -> Any:
        """Fixed-point rows of a matrix of shape ``(n, d)``; a sparse one gives CSR."""
        if hasattr(rows, "tocsr"):
            return self._clip_sparse(rows, threads)
        matrix = np.asarray(rows)
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
            raise FrameError(f"expected a matrix of numbers, got shape {matrix.shape} and dtype {matrix.dtype}")
        out: npt.NDArray[np.signedinteger] = np.empty(matrix.shape, self.dtype)

        def stretch(start: int) -> None:
            self.clip_block(matrix[start : start + BLOCK], out[start : start + BLOCK])

        with mapping(matrix.size, threads) as run:
            list(run(stretch, range(0, len(matrix), BLOCK)))
        return out

    def clip_block(self, block: npt.NDArray[Any], out: npt.NDArray[np.signedinteger]) -> None:
        exact = np.ascontiguousarray(block, np.float64)[:]
        exact.flags.writeable = False  # one compiled version serves writable and read-only arrays
        kernels.clip_rows(exact, float(self.norm), np.int64(self.radius), out)

    def _clip_sparse(self, rows: Any, threads: int | None) -> Any:
        matrix = rows.tocsr()
        if matrix.dtype.kind not in "fiub":
            raise FrameError(f"expected a matrix of numbers, got dtype {matrix.dtype}")
        if not matrix.has_canonical_format:  # entries at one place add up; a norm taken before that would be wrong
            matrix = matrix.copy()
            matrix.sum_duplicates()
        indptr, data = matrix.indptr.astype(np.int64), matrix.data.astype(np.float64)
        out = np.empty(len(data), self.dtype)

        def stretch(start: int) -> None:
            stop = min(start + BLOCK, matrix.shape[0])
            kernels.clip_sparse_rows(indptr, data, float(self.norm), np.int64(self.radius), out, start, stop)

        with mapping(len(data), threads) as run:
            list(run(stretch, range(0, matrix.shape[0], BLOCK)))
        return type(matrix)((out, matrix.indices, matrix.indptr), shape=matrix.shape)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "row_clipper", "norm": self.norm, "radius": self.radius}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> RowClipper:
        return RowClipper(float(data["norm"]), int(data["radius"]))


@final
@dataclass(frozen=True, repr=False)
class RowEncoder(Brief):
    """Tables to fixed-point rows, by public tables from codes to coordinates.

    A number becomes one coordinate in [-1, 1], linear in its cell on the column's grid (missing: 0, the middle). A
    boolean becomes -1 or 1 (missing: 0), an ordinal value its rank in [-1, 1] (other and missing: 0), a categorical
    value a one-hot vector with places for "other" and missing. Each feature adds at most 1 to the squared norm, the
    intercept exactly 1.
    """

    encoding: TableEncoding
    ordinal: tuple[bool, ...]  # per feature, whether its categories are ranks
    clipper: RowClipper
    intercept: bool | float = False  # comes last in every row: True for 1, or less where rows are shorter

    @staticmethod
    def of(schema: Schema, norm: float | None = None, radius: int = 32767, intercept: bool = False) -> RowEncoder:
        """The row encoder of a schema; ``norm`` is by default the largest a row can have, so that none is clipped."""
        encoding = TableEncoding.of(schema, MOST_BINS)
        ordinal = tuple(isinstance(schema.columns[name], OrdinalColumn) for name in schema.features)
        bound = math.sqrt(len(ordinal) + intercept) if norm is None else norm
        return RowEncoder(encoding, ordinal, RowClipper(bound, radius), intercept)

    @cached_property
    def tables(self) -> tuple[Floats, ...]:
        """Per feature, the coordinates of each code: shape ``(n_codes, width)``."""
        pairs = zip(self.encoding.encoders, self.ordinal, strict=True)
        return tuple(_coordinates(encoder, ordinal) for encoder, ordinal in pairs)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each coordinate: ``age``, ``work=Private``, ``work=(other)``, ``(intercept)``."""
        names: list[str] = []
        for feature, encoder, table in zip(self.encoding.names, self.encoding.encoders, self.tables, strict=True):
            if table.shape[1] == 1 or isinstance(encoder, NumericGrid | BooleanIndex):
                names.append(feature)
            else:
                values = [*map(str, encoder.categories), "(other)", "(missing)"]
                names.extend(f"{feature}={value}" for value in values)
        return (*names, "(intercept)") if self.intercept else tuple(names)

    @property
    def width(self) -> int:
        return sum(int(table.shape[1]) for table in self.tables) + (self.intercept != 0)

    def encode(self, data: Any, threads: int | None = None) -> npt.NDArray[np.signedinteger]:
        """Fixed-point rows of a table, shape ``(n, width)``; raises :class:`FrameError` as the encoding does."""
        codes = self.encoding.encode(data, threads)
        n_rows = len(codes[0])
        out: npt.NDArray[np.signedinteger] = np.empty((n_rows, self.width), self.clipper.dtype)

        def stretch(start: int) -> None:
            stop = min(start + BLOCK, n_rows)
            self.clipper.clip_block(self._block(codes, start, stop), out[start:stop])

        with mapping(out.size, threads) as run:
            list(run(stretch, range(0, n_rows, BLOCK)))
        return out

    def lengths(self, data: Any) -> Floats:
        """The length of every row before it is clipped, without the intercept; each follows from its row alone."""
        codes = self.encoding.encode(data)
        own = sum(int(table.shape[1]) for table in self.tables)
        starts = range(0, len(codes[0]), BLOCK)
        blocks = [self._block(codes, start, min(start + BLOCK, len(codes[0])))[:, :own] for start in starts]
        return np.concatenate([np.sqrt(np.square(block).sum(axis=1)) for block in blocks] or [np.empty(0)])

    def _block(self, codes: list[Codes], start: int, stop: int) -> Floats:
        block = np.full((stop - start, self.width), float(self.intercept))
        at = 0
        for column, table in zip(codes, self.tables, strict=True):
            block[:, at : at + table.shape[1]] = table[column[start:stop]]
            at += table.shape[1]
        return block

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "row_encoder",
            "encoding": self.encoding.to_dict(),
            "ordinal": list(self.ordinal),
            "clipper": self.clipper.to_dict(),
            "intercept": self.intercept,
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> RowEncoder:
        return RowEncoder(
            TableEncoding.from_dict(data["encoding"]),
            tuple(data["ordinal"]),
            RowClipper.from_dict(data["clipper"]),
            data["intercept"],
        )


def _coordinates(encoder: Encoder, ordinal: bool) -> Floats:
    if isinstance(encoder, NumericGrid):
        return np.append(_ranks(encoder.cells), 0.0)[:, None]
    if isinstance(encoder, BooleanIndex):
        return np.array([[-1.0], [1.0], [0.0]])
    if ordinal:
        return np.append(_ranks(len(encoder.categories)), [0.0, 0.0])[:, None]
    return np.eye(encoder.n_codes)


def _ranks(size: int) -> Floats:
    """The middles of ``size`` equal parts of [-1, 1]."""
    return (2.0 * np.arange(size) + 1.0) / size - 1.0
