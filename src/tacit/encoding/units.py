"""Units (rows of one person, by the identifier in a column) and keys that undeclared values are told apart by."""

from __future__ import annotations

import decimal
import hmac
import math
import re
import sys
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.arrays import Bools, Ints
from tacit.encoding.arrow import by_value
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame
from tacit.encoding.numbers import as_numbers, series_of
from tacit.encoding.tokens import as_tokens
from tacit.encoding.values import is_missing, plain
from tacit.schema.values import identity, meaning

K = TypeVar("K", bound=Hashable)

NO_KEY = -1
"""The code of a value that has no key."""

LARGEST_INTEGER = int(sys.float_info.max)
"""Beyond it integers are not finite as numbers, and Python may refuse to write them."""


def key_of(value: Any) -> str | None:
    """The text that stands for a value, however a reader typed it: that of its :func:`~tacit.schema.values.meaning`.

    ``"007"``, ``7`` and ``"7.0"`` have the key ``7``, ``True`` and ``"TRUE"`` the key ``true``: a reader that makes
    types from rows would give all of them the one or the other. None for what is missing, is not finite, or cannot be
    written as UTF-8. Depends on the value alone.
    """
    value = plain(value)
    if is_missing(value) or not isinstance(value, str | int | float | decimal.Decimal):
        return None
    kind, content = meaning(value)
    if kind == "number":
        return exact_key_of(content)
    return _encodable(str(content).lower() if kind == "truth" else str(content))


def exact_key_of(value: Any) -> str | None:
    """The same by spelling: texts without surrounding blanks, whole floats as integers, booleans in lower case.

    For texts that no reader took for anything else: ``"007"`` and ``"7"`` have two keys.
    """
    value = plain(value)
    if is_missing(value) or not isinstance(value, str | int | float | decimal.Decimal):
        return None
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        return None
    if isinstance(value, float | decimal.Decimal):
        number = float(value)
        if not math.isfinite(number):
            return None
        value = int(number) if number.is_integer() else number
    return _encodable(identity(value))


def _encodable(text: str) -> str | None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return text


def key_codes(values: Any, name: str = "", exact: bool = False) -> tuple[Ints, tuple[str, ...]]:
    """A code per row, :data:`NO_KEY` where there is no key, and the text of every code. The texts are private."""
    codes, keys = codes_by(exact_key_of if exact else key_of, as_tokens(values, name))
    return codes, tuple(keys)


def codes_by(
    told_apart: Callable[[Any], K | None], tokens: pa.ChunkedArray | npt.NDArray[np.object_]
) -> tuple[Ints, list[K]]:
    """A code per row, :data:`NO_KEY` where nothing tells its value apart; and what every code stands for.

    Distinct values are asked once where Arrow knows them.
    """
    codes: dict[K, int] = {}

    def code(value: Any) -> int:
        key = told_apart(value)
        return NO_KEY if key is None else codes.setdefault(key, len(codes))

    if isinstance(tokens, np.ndarray):
        return np.array([code(value) for value in tokens.tolist()], np.int64), list(codes)
    return by_value(tokens, code, np.int64), list(codes)


_WHOLE = re.compile(r"(0|-?[1-9][0-9]{0,299})(\.0+)?")
"""How a whole number is written that loses nothing by being read."""

NO_UNIT = NO_KEY
"""The code of a row whose identifier is missing: nobody can tell whose it is."""


def unit_of(value: Any) -> Hashable | None:
    """What identifies a unit, None where nothing does. Depends on the value alone.

    However one identifier came to be written, it must be one unit, or a person would have more rows than are paid for:
    ``1``, ``1.0``, ``True``, ``"1"``, ``" 1.0"`` and ``b"1"`` are equal. Other texts stand for themselves: ``"007"``,
    ``"12e3"`` and ``"0e46"`` are no numbers here, as they would make one unit of several persons.
    """
    try:
        value = value.item() if isinstance(value, np.generic) else value
        value = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
        if is_missing(value) or (isinstance(value, pa.Scalar) and not value.is_valid):
            return None
        if isinstance(value, str):
            text = value.strip()
            return int(text.partition(".")[0]) if _WHOLE.fullmatch(text) else text
        if isinstance(value, float | decimal.Decimal) and not math.isfinite(value):
            return None
        hash(value)
    except (TypeError, ValueError, ArithmeticError):  # it cannot say what it is; no row is a reason to stop
        return None
    unit: Hashable = value
    return unit


def identifiers_of(frame: Frame, name: str) -> Any:
    """The column that says whose a row is.

    A floating-point column that goes beyond the whole numbers that its type tells apart (2^53) merges persons: a reader
    makes it of integers for the sake of a single missing one. Each would push rows of the others out, which nobody has
    paid for, and no rule for single rows helps: the other digits are gone.
    """
    column = frame.column(name)
    distinct = _told(column)
    kind = str(getattr(distinct, "dtype", None) or getattr(distinct, "type", None))
    if "float" not in kind.lower() and "double" not in kind:
        return column
    numbers = as_numbers(distinct, name)
    exact = 2.0 ** (min(np.finfo(numbers.dtype).nmant, 52) + 1)
    if (np.isfinite(numbers) & (np.abs(numbers) >= exact)).any():
        raise FrameError(
            f"column '{name}' says whose a row is and came as {kind}, with numbers that this type does not tell apart: "
            "read it as texts (tacit.read_table does, or dtype=str)"
        )
    return column


def _told(column: Any) -> Any:
    """What values a vector can have: its categories, where it has them."""
    categories = getattr(getattr(column, "dtype", None), "categories", None)
    if categories is not None and hasattr(categories, "to_series"):
        return categories.to_series()
    if isinstance(column, pa.ChunkedArray | pa.DictionaryArray) and pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column


def unit_codes(values: Any, name: str = "") -> Ints:
    """A code per row, equal where rows are of one unit, :data:`NO_UNIT` where the identifier is missing."""
    return codes_by(unit_of, _tokens(values, name))[0]


def secret_units(values: Any, most: int, key: bytes, name: str = "") -> Ints:
    """A number for the unit of every row that counts, the same in whatever order rows stand; 0 for rows that do not.

    The first ``most`` rows of a unit count. Without the key the numbers tell of nobody.
    """
    codes, units = codes_by(unit_of, _tokens(values, name))
    digests = [hmac.digest(key, _written(unit).encode("utf-8", "surrogatepass"), "sha256") for unit in units]
    numbers = np.array([*(int.from_bytes(digest[:8], "big", signed=True) for digest in digests), 0], np.int64)
    return np.where(first_rows(codes, most), numbers[codes], 0)


def _written(unit: Hashable) -> str:
    """A unit as a text: the same for 1, 1.0 and True, whichever of them came first."""
    if isinstance(unit, bool | float) and unit == int(unit):
        unit = int(unit)
    return f"{unit:x}" if isinstance(unit, int) else f"{type(unit).__name__} {unit}"


def _tokens(values: Any, name: str) -> pa.ChunkedArray | npt.NDArray[np.object_]:
    try:
        return as_tokens(values, name)
    except FrameError:  # dates and the like: no categories, but they can identify
        pass
    moments = values
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        moments = pa.array(values.astype(np.int64), mask=np.isnat(values))
    elif (series := series_of(values)) is not None and _is_temporal(series):
        moments = series.to_arrow()
    chunks = moments.chunks if isinstance(moments, pa.ChunkedArray) else [moments]
    if not all(isinstance(chunk, pa.Array) and _is_whole(chunk.type) for chunk in chunks):
        return np.fromiter(values, object, len(values))
    # as whole numbers: of a moment that no calendar has, a library of tables makes no Python object, but raises
    narrow = [chunk.cast(pa.int32()) if chunk.type.bit_width == 32 else chunk for chunk in chunks]
    return pa.chunked_array([chunk.cast(pa.int64()) for chunk in narrow], pa.int64())


def _is_temporal(series: nw.Series[Any]) -> bool:
    dtype = str(getattr(series.to_native(), "dtype", ""))  # narwhals does not know every time zone of pandas
    return bool(series.dtype.is_temporal()) or dtype.startswith("datetime64")


def _is_whole(kind: pa.DataType) -> bool:
    """Whether values of a type are whole numbers, or moments and durations that are kept as such."""
    return bool(pa.types.is_int64(kind) or (pa.types.is_temporal(kind) and not pa.types.is_interval(kind)))


def first_rows(units: Ints, most: int) -> Bools:
    """Whether a row is among the first ``most`` of its unit, shape ``(rows,)``; rows without a unit are not.

    A row depends on its own unit only: were rows without an identifier one unit, persons would push each other out.
    """
    order = np.argsort(units, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(units[order]) > 0])) if len(order) else order
    rank = np.empty(len(units), np.int64)
    rank[order] = np.arange(len(units)) - np.repeat(starts, np.diff(np.append(starts, len(units))))
    counts: Bools = (rank < most) & (units != NO_UNIT)
    return counts
