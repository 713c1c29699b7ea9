"""From a column of whatever kind to a numpy vector of numbers, without a copy where there need not be one."""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.encoding.arrow import as_texts, floats, in_chunks, is_arrow, is_binary, listed, positions
from tacit.encoding.errors import FrameError
from tacit.packages import is_installed, nw, pa, pc
from tacit.schema.csv_format import COMMA, POINT
from tacit.schema.values import MINUS, parse_number

_WITH_COMMA = r"^(\s*[+-]?\d*),(\d+(?:[eE][+-]?\d+)?\s*)$"

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"

_PLAIN = (bool, int, float, np.bool_, np.integer, np.floating)

_TRUTH = ((r"^[tT][rR][uU][eE]$", "1"), (r"^[fF][aA][lL][sS][eE]$", "0"))
"""Words for 1 and 0: a reader that makes types from rows has made 1 and 0 of them where a column holds nothing else."""


WITHOUT = "give numpy's vectors or lists, or install tacit in place of tacit-predict"
"""What reads columns of other libraries where only models are installed."""


def series_of(values: Any) -> nw.Series[Any] | None:
    """A vector of a library of tables; None for arrays of numpy and sequences, of which nothing needs to be asked."""
    if isinstance(values, np.ndarray | list | tuple):
        return None
    if not is_installed("narwhals"):
        if hasattr(values, "dtype"):
            raise FrameError(f"a {type(values).__name__} is read with narwhals, which is not installed: {WITHOUT}")
        return None
    series = nw.from_native(values, series_only=True, pass_through=True)
    return series if isinstance(series, nw.Series) else None


def as_numbers(values: Any, name: str = "", loose: bool = False) -> npt.NDArray[Any]:
    """A vector of numbers, shape ``(n,)``; nulls become NaN.

    Args:
        values: numpy, pandas, polars or pyarrow vector, or a sequence of numbers.
        name: the column's name, for the error.
        loose: whether texts and Python objects are taken value by value, what spells no number becoming NaN. A reader
            that makes dtypes from rows gives a column of numbers such a dtype for a single cell's sake, and refusing
            it would tell of that cell. Lists have no dtype and are always read so.

    Raises:
        FrameError: if the dtype is not numeric. The decision is made on the dtype, which is public, never on values.
    """
    if is_plain(values):
        return np.asarray(values.to_numpy())
    values = in_chunks(values)
    if str(getattr(values, "dtype", "")).endswith("[pyarrow]"):  # pandas, by Arrow
        values = in_chunks(values.array.__arrow_array__())
    if is_arrow(values) and pa.types.is_decimal(values.type) and values.type.scale < 0:  # narwhals has no such type
        values = values.cast(pa.float64())
    series = series_of(values)
    if series is not None:
        numbers = _loosely(series, name) if loose else None
        return _from_series(series, name) if numbers is None else numbers
    if isinstance(values, np.ma.MaskedArray):
        shown = as_numbers(np.ma.getdata(values), name, loose).astype(np.float64)
        return np.where(np.ma.getmaskarray(values), np.nan, shown)
    if isinstance(values, list | tuple):
        return _from_list(values)
    array = np.asarray(values)
    if array.ndim != 1:
        raise FrameError(f"{of_column(name)} has shape {array.shape}; a column is a vector")
    if array.dtype.kind in "fiub":
        return array
    if loose and array.dtype.kind in "OUST":
        return np.fromiter(map(number_or_nan, array.tolist()), np.float64, len(array))
    raise _wrong_dtype(name, str(array.dtype))


def is_plain(values: Any) -> bool:
    """Whether a vector is one of pandas with numpy's numbers, of which nothing else has to be asked."""
    dtype = getattr(values, "dtype", None)
    if not isinstance(dtype, np.dtype) or dtype.kind not in "fiu":
        return False
    return type(values).__module__.partition(".")[0] == "pandas"  # which of its modules depends on the version


def is_object(values: Any) -> bool:
    """Whether a vector is one of Python objects, by its dtype."""
    return str(getattr(values, "dtype", "")).lower() == "object"  # polars writes it with a capital


def _loosely(series: nw.Series[Any], name: str) -> npt.NDArray[Any] | None:
    """Texts, objects and categoricals value by value; None for another dtype."""
    native = series.to_native()
    if is_object(native) or str(getattr(native, "dtype", "")) == "category":
        return np.fromiter(map(number_or_nan, native.to_list()), np.float64, len(series))
    if isinstance(series.dtype, nw.Categorical | nw.Enum):
        coded = in_chunks(series.to_arrow())
        if _is_text(coded.type):
            return texts_as_numbers(coded)
        return as_numbers(coded.cast(coded.type.value_type), name, loose=True)
    if isinstance(series.dtype, nw.Binary) or (is_arrow(native) and is_binary(native.type)):
        binary = series.to_arrow()
        return texts_as_numbers(as_texts(in_chunks(binary)))
    if not isinstance(series.dtype, nw.String) or str(getattr(native, "dtype", "")).startswith("Sparse["):
        return None
    try:
        arrow = series.to_arrow()
    except UnicodeError:  # one text that cannot be written in UTF-8 must not stop the others
        return np.fromiter(map(number_or_nan, native.to_list()), np.float64, len(series))
    return texts_as_numbers(in_chunks(arrow))


def _from_list(values: Sequence[Any]) -> npt.NDArray[Any]:
    """A list's values, each by itself: in an array they would take one another's type, and one row change all."""
    if all(issubclass(kind, _PLAIN) for kind in set(map(type, values))):  # these are in an array what they are alone
        try:
            array = np.asarray(values)
        except (ValueError, OverflowError, TypeError):
            array = np.empty(0, object)
        if array.dtype.kind in "fiub":
            return array
    return np.fromiter(map(number_or_nan, values), np.float64, len(values))


def _from_series(series: nw.Series[Any], name: str) -> npt.NDArray[Any]:
    dtype, native = series.dtype, str(getattr(series.to_native(), "dtype", series.dtype))
    if native.startswith("Sparse["):
        return as_numbers(np.asarray(series.to_native()), name)
    if isinstance(dtype, nw.Int128 | nw.UInt128):
        return series.cast(nw.Float64).to_numpy()
    if native == "object" or native.startswith("complex"):  # narwhals would look at the values to say more of objects
        raise _wrong_dtype(name, native)
    if isinstance(dtype, nw.Decimal | nw.Boolean) or str(dtype) in ("Unknown", "Null"):
        try:
            arrow = series.to_arrow()
        except pa.ArrowNotImplementedError:  # a type that Arrow has not
            raise _wrong_dtype(name, native) from None
        if not _is_number(arrow.type):
            raise _wrong_dtype(name, native)
        return np.asarray(pc.cast(arrow, pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    if not dtype.is_numeric():
        raise _wrong_dtype(name, native)
    array = np.asarray(series.to_numpy())
    return array if array.dtype.kind in "fiu" else array.astype(np.float64)


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
    )


def decimal_points(cells: pa.Array) -> pa.Array:
    """Texts in which numbers with a decimal comma have a decimal point; all others as they are."""
    return pc.replace_substring_regex(cells, _WITH_COMMA, r"\1.\2")


def parse_numbers(cells: pa.Array, decimal: str = POINT) -> Floats:
    """Texts as floats, cell by cell: what spells no number in plain decimal notation is NaN, true is 1 and false 0.

    Where numbers have a decimal comma, a text with a point spells none: 1.234 may be meant for a thousand.
    """
    if pa.types.is_string_view(cells.type):
        cells = cells.cast(pa.large_string())
    if decimal == COMMA:
        cells = decimal_points(pc.if_else(pc.match_substring(cells, POINT), "", cells))
    try:
        texts = pc.utf8_trim_whitespace(cells)
    except pa.ArrowInvalid:  # bytes that are no text
        return np.fromiter(map(number_or_nan, listed(cells)), np.float64, len(cells))
    filled, no_text = pc.cast(pc.binary_length(texts), pa.bool_()), pa.nulls(1, pa.string())[0]
    texts = pc.if_else(filled, texts, no_text)
    try:
        numbers = pc.cast(texts, pa.float64())
    except pa.ArrowInvalid:  # slower, and the same for every cell that the fast way reads
        texts = pc.replace_substring(texts, MINUS, "-")
        for word, number in _TRUTH:
            texts = pc.replace_substring_regex(texts, word, number)
        texts = pc.if_else(pc.match_substring_regex(texts, _NUMBER), pc.utf8_ltrim(texts, "+"), no_text)
        try:
            numbers = pc.cast(texts, pa.float64())
        except pa.ArrowInvalid:
            return np.fromiter(map(number_or_nan, listed(cells)), np.float64, len(cells))
    parsed = floats(numbers)
    finite = np.isfinite(parsed)  # Arrow's fast way reads "inf", and numbers that are too large, as infinite
    return parsed if finite.all() else np.where(finite, parsed, np.nan)


def texts_as_numbers(texts: pa.ChunkedArray, name: str = "") -> Floats:
    """A column of texts, dictionary-encoded or not, as floats; a text that spells no number is NaN."""
    if not _is_text(texts.type):
        return np.asarray(as_numbers(texts, name), np.float64)
    if pa.types.is_string_view(texts.type):
        texts = texts.cast(pa.large_string())
    parts = [np.empty(0)]
    for chunk in texts.chunks:
        coded = chunk if isinstance(chunk, pa.DictionaryArray) else chunk.dictionary_encode()
        table = np.append(parse_numbers(coded.dictionary), np.nan)
        parts.append(table[positions(coded, len(table) - 1)])
    return np.concatenate(parts)


_WORDS = {"true": "1", "false": "0"}


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def number_or_nan(value: Any) -> float:
    """A Python value as a float: numbers by value, texts as :func:`parse_numbers` reads them, anything else NaN."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        number = _WORDS.get(value.strip().lower()) or parse_number(value)
        return math.nan if number is None else float(number)
    if isinstance(value, bool | int | float | np.number | np.bool_ | decimal.Decimal) and not isinstance(
        value, complex | np.complexfloating
    ):
        try:
            return float(value)
        except (OverflowError, ValueError, TypeError):
            return math.nan
    return math.nan


def of_column(name: str) -> str:
    """How messages speak of a column."""
    return f"column '{name}'" if name else "the column"


def _wrong_dtype(name: str, dtype: str) -> FrameError:
    right = "of kind 'date'" if dtype.lower().startswith(("date", "timestamp")) else "categorical"
    advice = f"convert it to numbers, or declare it {right}"
    return FrameError(f"{of_column(name)} is numeric in the schema but has dtype {dtype}; {advice}")
