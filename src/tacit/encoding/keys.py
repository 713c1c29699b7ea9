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
    kind, said = meaning(value)
    if kind == "number":
        return exact_key_of(said)
    return _encodable(str(said).lower() if kind == "truth" else str(said))


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
    """A code per row, :data:`NO_KEY` where there is no key, and the text of every code. The texts are private.

    Args:
        values: a column.
        name: of the column, for the error.
        exact: whether values are told apart by spelling.

    Raises:
        FrameError: for dtypes that hold no texts, numbers or booleans; ``name`` names the column.
    """
    codes, keys = codes_by(exact_key_of if exact else key_of, as_tokens(values, name))
    return codes, tuple(keys)


def codes_by(
    told_apart: Callable[[Any], K | None], tokens: pa.ChunkedArray | npt.NDArray[np.object_]
) -> tuple[Ints, list[K]]:
    """A code per row, :data:`NO_KEY` where nothing tells its value apart; and what every code stands for.

    Distinct values are asked once where Arrow knows them.
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
