"""A table without its rows, of the kind that it came as."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.encoding.frames import Frame


def no_rows_of(data: Any, frame: Frame) -> Any:
    """A table of the kind of ``data``, whose columns are ``frame``, without rows: what raises on it is public."""
    if isinstance(data, list | tuple):
        return np.empty((0, len(frame.names)))
    if isinstance(data, np.ndarray):
        return data[:0]
    if hasattr(data, "head"):
        return data.head(0)
    return data.slice(0, 0) if hasattr(data, "slice") else frame.without_rows()
