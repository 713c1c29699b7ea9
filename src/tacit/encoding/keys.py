"""Keys: the texts that values of an undeclared column are told apart by."""

from __future__ import annotations

import decimal
import math
import sys
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.arrays import Ints
from tacit.encoding.arrow import dictionary_of, listed, positions
from tacit.encoding.values import as_tokens, is_missing
from tacit.schema.values import identity

K = TypeVar("K", bound=Hashable)

NO_KEY = -1
"""The code of a value that has no key."""

LARGEST_INTEGER = int(sys.float_info.max)
"""Beyond it integers are not finite as numbers, and Python may refuse to write them."""


def key_of(value: Any) -> str | None:
    """The text that stands for a value: without surrounding blanks, whole floats as integers, booleans in lower case.

    None for what is missing, not finite, an integer that no float reaches, or cannot be written as UTF-8. Values with
    one text count as one category wherever categories are declared. Depends on the value alone.
    """
    value = value.item() if isinstance(value, np.generic) else value
    value = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if is_missing(value) or not isinstance(value, str | int | float | decimal.Decimal):
        return None
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        return None
    if isinstance(value, float | decimal.Decimal):
        number = float(value)
        if not math.isfinite(number):
            return None
        value = int(number) if number.is_integer() else number
    text = identity(value)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return text


def key_codes(values: Any, name: str = "") -> tuple[Ints, tuple[str, ...]]:
    """A code per row, :data:`NO_KEY` where there is no key, and the text of every code. The texts are private.

    Raises:
        FrameError: for dtypes that hold no texts, numbers or booleans; ``name`` names the column.
    """
    codes, keys = codes_by(key_of, as_tokens(values, name))
    return codes, tuple(keys)


def codes_by(
    told_apart: Callable[[Any], K | None], tokens: pa.ChunkedArray | npt.NDArray[np.object_]
) -> tuple[Ints, list[K]]:
    """A code per row, :data:`NO_KEY` where nothing tells its value apart; and what every code stands for.

    Args:
        told_apart: by what, from a value alone.
        tokens: from :func:`tacit.encoding.values.as_tokens`. Distinct values are asked once where Arrow knows them.
    """
    known: dict[K, int] = {}

    def code(value: Any) -> int:
        key = told_apart(value)
        return NO_KEY if key is None else known.setdefault(key, len(known))

    if isinstance(tokens, np.ndarray):
        return np.array([code(value) for value in tokens.tolist()], np.int64), list(known)
    parts = [np.empty(0, np.int64)]
    for chunk in tokens.chunks:
        coded = dictionary_of(chunk)
        table = np.array([*(code(value) for value in listed(coded.dictionary)), NO_KEY], np.int64)
        parts.append(table[positions(coded, len(table) - 1)])
    return np.concatenate(parts), list(known)
