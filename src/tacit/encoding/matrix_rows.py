"""Matrices, full or sparse, taken as rows in a ball: the encoding for data whose scale is declared as one norm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.encoding.dense import RowClipper
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame, numbered, rows_of_objects
from tacit.encoding.grid import BLOCK
from tacit.encoding.numbers import number_or_nan

ROWS = "(rows)"
"""Name of the one column of a frame that holds a whole matrix."""


def matrix_frame(data: Any) -> Frame:
    """A numeric matrix, full or CSR, as a frame of one column of rows; what spells no number is missing.

    Raises:
        FrameError: if it is no matrix, or one of dates or complex numbers; decided by shape and dtype, never by values.
    """
    matrix = data.tocsr() if hasattr(data, "tocsr") else _full(data)
    if matrix.dtype.kind == "c":
        raise FrameError("Complex data not supported")
    if matrix.ndim != 2:
        raise FrameError(f"Expected a matrix of rows and columns, got shape {matrix.shape}. Reshape your data")
    if matrix.dtype.kind not in "fiub":
        raise FrameError(f"expected a matrix of numbers, got dtype {matrix.dtype}; convert it, or declare a schema")
    if matrix.shape[1] == 0:
        raise FrameError(f"0 feature(s) (shape={matrix.shape}) while a minimum of 1 is required.")
    return Frame({ROWS: matrix}, int(matrix.shape[0]))


def _full(data: Any) -> Any:
    """A matrix; one of texts or objects, which a single value makes of all, number by number."""
    matrix = rows_of_objects(data) if isinstance(data, list | tuple) else np.asarray(data)
    if matrix.ndim != 2 or matrix.dtype.kind not in "OUST":
        return matrix
    return np.fromiter(map(number_or_nan, matrix.ravel().tolist()), np.float64, matrix.size).reshape(matrix.shape)


@final
@dataclass(frozen=True)
class MatrixEncoder:
    """Rows of a matrix to fixed-point rows of bounded norm; sparse stays sparse."""

    n_features: int  # width of the matrix; public
    clipper: RowClipper
    intercept: float = 0.0  # the constant that comes last in every row, in natural units; 0 for none

    @property
    def width(self) -> int:
        return self.n_features + (self.intercept != 0)

    @property
    def names(self) -> tuple[str, ...]:
        own = numbered(self.n_features)
        return (*own, "(intercept)") if self.intercept else own

    def encode(self, data: Any) -> Any:
        """Fixed-point rows of a matrix or a :func:`matrix_frame`: a numpy matrix, or CSR for CSR."""
        frame = data if isinstance(data, Frame) else matrix_frame(data)
        matrix = frame.column(ROWS)
        if matrix.shape[1] != self.n_features:
            raise FrameError(f"X has {matrix.shape[1]} features, but {self.n_features} features were expected")
        if hasattr(matrix, "tocsr"):
            return self.clipper.clip(self._with_constant(matrix))
        out: npt.NDArray[np.signedinteger] = np.empty((frame.n_rows, self.width), self.clipper.dtype)
        block = np.full((min(BLOCK, max(1, frame.n_rows)), self.width), float(self.intercept))
        for start in range(0, frame.n_rows, BLOCK):
            stop = min(start + BLOCK, frame.n_rows)
            block[: stop - start, : self.n_features] = matrix[start:stop]
            self.clipper.clip_block(block[: stop - start], out[start:stop])
        return out

    def _with_constant(self, matrix: Any) -> Any:
        if not self.intercept:
            return matrix
        from scipy import sparse

        constant: Floats = np.full((matrix.shape[0], 1), float(self.intercept))
        return sparse.hstack([matrix, sparse.csr_matrix(constant)], format="csr")

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "matrix_encoder",
            "n_features": self.n_features,
            "clipper": self.clipper.to_dict(),
            "intercept": self.intercept,
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> MatrixEncoder:
        return MatrixEncoder(int(data["n_features"]), RowClipper.from_dict(data["clipper"]), float(data["intercept"]))
