"""Arrow's arrays as numpy's, read from their buffers.

pyarrow's own ``to_numpy``, and any Python scalar handed to its functions, load pandas where it is installed; that takes
as long as learning a small table does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.packages import pa, pc


def is_arrow(values: Any) -> bool:
    """Whether something is an array of Arrow's, in one chunk or several."""
    return "pyarrow" in sys.modules and isinstance(values, pa.Array | pa.ChunkedArray)


def in_chunks(values: Any) -> Any:
    """An array of Arrow's as a chunked one, without runs; anything else as it is."""
    if not is_arrow(values):
        return values
    if pa.types.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    return pa.chunked_array([values]) if isinstance(values, pa.Array) else values


def floats(array: pa.Array) -> Floats:
    """An array of float64, NaN where it is null."""
    return _values(array, np.float64, np.nan)


def positions(coded: pa.DictionaryArray, null: int) -> Ints:
    """Where in its dictionary the value of every row stands, and ``null`` where there is none."""
    return integers(coded.indices.cast(pa.int64()), null)


def integers(array: pa.Array, null: int) -> Ints:
    """An array of int64, ``null`` where it is null."""
    return _values(array, np.int64, null)


def dictionary_of(chunk: pa.Array) -> pa.DictionaryArray:
    """The distinct values of an array, and which of them every row holds."""
    kind = chunk.type
    if isinstance(chunk, pa.DictionaryArray):
        return chunk
    if pa.types.is_float16(kind):  # Arrow tells apart no values of 16 bits, nor of narrow decimals
        wide = chunk.cast(pa.float32()).dictionary_encode()
        return pa.DictionaryArray.from_arrays(wide.indices, wide.dictionary.cast(kind))
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        chunk = chunk.cast(pa.decimal128(kind.precision, kind.scale))
    return chunk.dictionary_encode()


def by_value(tokens: pa.ChunkedArray, entry: Callable[[Any], Any], kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """``entry`` of the value of every row, a Python value or None; asked once for each distinct value of a chunk."""
    parts = [np.empty(0, kind)]
    for chunk in tokens.chunks:
        coded = dictionary_of(chunk)
        table = np.array([*map(entry, listed(coded.dictionary)), entry(None)], kind)
        parts.append(table[positions(coded, len(table) - 1)])
    return np.concatenate(parts)


def listed(values: pa.Array) -> list[Any]:
    """Python values of an array; of texts whose bytes are not UTF-8, what can be read of them.

    Floats of 32 or 16 bits stay such: in 64 bits 0.1 would be another number.
    """
    narrow = {pa.float16(): np.float16, pa.float32(): np.float32}.get(values.type)
    if narrow is not None:
        return [None if value is None else narrow(value) for value in values.to_pylist()]
    try:
        items: list[Any] = values.to_pylist()
    except UnicodeDecodeError:
        kind = pa.large_binary() if pa.types.is_large_string(values.type) else pa.binary()
        items = [None if raw is None else raw.decode("utf-8", "replace") for raw in values.cast(kind).to_pylist()]
    except (OverflowError, ValueError):  # a moment or a duration that Python has not, which stands for nothing
        items = [_python(value) for value in values]
    return items


def _python(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        return None


def as_texts(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Binary data as the UTF-8 text that it holds, as a CSV file would have it; other data as they are.

    A byte that is no character becomes the replacement character: what a row holds is no error.
    """
    if not is_binary(values.type):
        return values
    try:
        return values.cast(pa.large_binary()).cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        texts = [None if raw is None else raw.decode("utf-8", "replace") for raw in values.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.large_string())])


def is_binary(kind: pa.DataType) -> bool:
    """Whether values of a type are bytes."""
    of = pa.types
    return bool(
        of.is_binary(kind) or of.is_large_binary(kind) or of.is_binary_view(kind) or of.is_fixed_size_binary(kind)
    )


def _values(array: pa.Array, kind: Any, null: Any) -> npt.NDArray[Any]:
    validity, data = array.buffers()
    if not len(array) or data is None:
        return np.full(len(array), null, kind)
    values: npt.NDArray[Any] = np.frombuffer(data, kind, len(array), array.offset * np.dtype(kind).itemsize)
    if validity is None:
        return values
    bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
    return np.where(bits[array.offset : array.offset + len(array)], values, null)
