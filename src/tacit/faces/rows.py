"""Some of the rows of a table, whatever kind of table it is."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.encoding.frames import Frame

Mask = npt.NDArray[np.bool_]


def rows_where(frame: Frame, mask: Mask) -> Frame:
    """The rows of a frame where ``mask`` holds, in their order; every column keeps its kind."""
    columns = {name: vector_where(frame.column(name), mask) for name in frame.names}
    return Frame(columns, int(mask.sum()), frame.mixed, frame.untyped)


def no_rows_of(data: Any, frame: Frame) -> Any:
    """A table of the kind of ``data``, whose columns are ``frame``, without rows: what raises on it is public."""
    if isinstance(data, list | tuple):
        return np.empty((0, len(frame.names)))
    if isinstance(data, np.ndarray):
        return data[:0]
    if hasattr(data, "head"):
        return data.head(0)
    return data.slice(0, 0) if hasattr(data, "slice") else frame.without_rows()


def vector_where(values: Any, mask: Mask) -> Any:
    """The entries of a vector where ``mask`` holds."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values.filter(pa.array(mask))
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series[np.flatnonzero(mask)].to_native()
    if isinstance(values, np.ndarray):
        return values[mask]
    return [value for value, kept in zip(values, mask.tolist(), strict=True) if kept]
