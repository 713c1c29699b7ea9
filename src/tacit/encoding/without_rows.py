"""What is public of a vector: its kind, kept by the same vector with no rows. No value is looked at."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa


def without_rows(values: Any) -> Any:
    """A vector like this one, of the same kind and dtype, with no rows: what raises on it is public.

    A Python list has no dtype, so nothing about one raises here; it is read value by value.
    """
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values.slice(0, 0)
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series.head(0).to_native()
    if isinstance(values, list | tuple):
        return []
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    return array[:0] if array.ndim else array
