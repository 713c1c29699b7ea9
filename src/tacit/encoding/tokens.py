"""Columns of any library as tokens: Arrow's data, or Python's objects, and their differences from declared texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.encoding.arrow import in_chunks
from tacit.encoding.errors import FrameError
from tacit.encoding.numbers import is_object, of_column, series_of
from tacit.packages import is_installed, nw, pa


def as_tokens(values: Any, name: str = "") -> pa.ChunkedArray | npt.NDArray[np.object_]:
    """A column as Arrow data, or as an object vector if it holds Python objects of several types.

    Raises:
        FrameError: for dates, times, lists and structs.
    """
    if str(getattr(values, "dtype", "")).startswith("complex"):
        raise FrameError(f"{of_column(name)} has complex numbers, which stand for no category")
    values = in_chunks(values)
    series = series_of(values)
    tokens = _of_vector(values, name) if series is None else _of_series(series, name)
    if isinstance(tokens, np.ndarray):
        return tokens
    kind = tokens.type.value_type if pa.types.is_dictionary(tokens.type) else tokens.type
    if pa.types.is_nested(kind) or pa.types.is_temporal(kind) or isinstance(kind, pa.BaseExtensionType):
        raise _wrong_dtype(name, str(kind))
    return tokens


def _of_series(series: nw.Series[Any], name: str) -> pa.ChunkedArray | npt.NDArray[np.object_]:
    native = series.to_native()
    dtype = str(getattr(native, "dtype", ""))
    if dtype == "category" and not _holds_texts(native.dtype.categories):
        # What a categorical lists was made from rows, and so was its type: every value is read by itself.
        narrow = str(native.dtype.categories.dtype) == "float32"
        return _from_objects(np.fromiter(np.asarray(native) if narrow else native.to_list(), object, len(native)))
    if dtype.startswith("Sparse["):
        return as_tokens(np.asarray(native, native.dtype.subtype), name)
    if dtype.lower() not in ("object", "int128", "uint128"):  # Arrow has no type for them
        try:
            arrow = series.to_arrow()
            return in_chunks(arrow)
        except pa.ArrowNotImplementedError:  # a type that Arrow has not
            return _of_vector(np.asarray(native), name)
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeError):
            pass  # for one value's sake, a category or a text that is not UTF-8: each is read by itself
    return _from_objects(np.array([*native.to_list(), None], object)[:-1])


def _holds_texts(categories: Any) -> bool:
    """Whether the categories of pandas are a vector of texts, which Arrow takes as they are."""
    return isinstance(nw.from_native(categories.to_series(), series_only=True).dtype, nw.String) and not is_object(
        categories
    )


def _of_vector(values: Any, name: str) -> pa.ChunkedArray | npt.NDArray[np.object_]:
    if isinstance(values, np.ma.MaskedArray):
        hidden, data = np.ma.getmaskarray(values), np.ma.getdata(values)
        values = np.fromiter(data, object, len(data)) if data.ndim == 1 else data.astype(object)
        values[hidden] = None
    if isinstance(values, list | tuple):
        return _from_objects(np.fromiter(values, object, len(values)))
    array = np.asarray(values, None if isinstance(values, np.ndarray) else object)
    if array.ndim != 1:
        raise FrameError(f"{of_column(name)} has shape {array.shape}; a column is a vector")
    if array.dtype == object or array.dtype.kind == "T":
        return _from_objects(array.astype(object, copy=False))
    if array.dtype.kind not in "fiubSU":
        raise _wrong_dtype(name, str(array.dtype))
    if array.dtype == np.longdouble:
        with np.errstate(over="ignore"):  # a warning would tell of a value
            array = array.astype(np.float64)
    if not is_installed("pyarrow"):
        return np.fromiter(array, object, len(array))
    try:
        return pa.chunked_array([pa.array(array.astype(array.dtype.newbyteorder("="), copy=False))])
    except UnicodeError:  # one text that cannot be written in UTF-8 must not stop the others
        return _from_objects(array.astype(object))


def _from_objects(values: npt.NDArray[np.object_]) -> pa.ChunkedArray | npt.NDArray[np.object_]:
    if not is_installed("pyarrow"):
        return values
    try:
        return pa.chunked_array([pa.array(values, pa.large_string(), from_pandas=True)])
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeError):
        return values


def _wrong_dtype(name: str, dtype: str) -> FrameError:
    advice = "declared values are texts, numbers or booleans: convert it"
    return FrameError(f"{of_column(name)} has dtype {dtype}; {advice}")
