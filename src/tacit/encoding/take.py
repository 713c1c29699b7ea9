"""Rows of a table by position, whatever kind of table it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.encoding.frames import Frame


def take_rows(frame: Frame, index: npt.NDArray[np.int64]) -> Frame:
    """Rows of a frame by position; a row may come more than once, and every column keeps its kind."""
    columns = {name: take(frame.column(name), index) for name in frame.names}
    return Frame(columns, len(index), frame.mixed, frame.untyped)


def take(values: Any, index: npt.NDArray[np.int64]) -> Any:
    """Entries of a vector, or rows of a matrix, by position."""
    if hasattr(values, "gather"):  # polars
        return values.gather(index)
    if hasattr(values, "take") and not isinstance(values, np.ndarray):  # pandas, pyarrow
        return values.take(index)
    return [values[place] for place in index.tolist()] if isinstance(values, list | tuple) else values[index]
