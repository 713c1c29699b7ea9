"""Tables and labels as callers give them, refused in scikit-learn's words where they are none."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame, columns_of
from tacit.faces.request import RequestError


def table_of(X: Any) -> Frame:
    """The columns of ``X``; in scikit-learn's words where it is no table."""
    if hasattr(X, "tocsr"):
        raise FrameError(
            "Sparse data was passed, but this estimator needs dense columns: sparse input is not supported"
        )
    shape = getattr(X, "shape", ())
    if isinstance(shape, tuple) and len(shape) == 1:
        raise FrameError(f"Expected a table of rows and columns, got shape {shape}. Reshape your data")
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise FrameError("Complex data not supported")
    return columns_of(X)


def label_vector(y: Any) -> Any:
    """The labels as a vector of any kind; a column vector is flattened with scikit-learn's warning."""
    labels = y if hasattr(y, "to_numpy") or hasattr(y, "combine_chunks") else np.asarray(y)
    shape = getattr(labels, "shape", None)
    if shape is not None and len(shape) == 2 and shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn("A column-vector y was passed when a 1d array was expected", DataConversionWarning, stacklevel=4)
        return np.asarray(labels)[:, 0]
    if shape is not None and len(shape) != 1:
        raise RequestError(f"y must be a vector of labels, got shape {shape}")
    return labels


def plain(value: Any) -> Any:
    """A scalar of numpy as Python's own."""
    return value.item() if isinstance(value, np.generic) else value
