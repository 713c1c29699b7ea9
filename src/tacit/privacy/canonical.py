"""One text for plain data, and its SHA-256: what a certificate says of a model, a schema and a ledger.

Files may be laid out anew; what counts is what they hold. Keys are sorted, numbers are written as Python writes them
(the shortest text that reads back as the same double), everything beyond ASCII is escaped.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from tacit.privacy.number_text import array_texts, floats_text, ints_text

MANY = 32
"""Numbers in a list from which they are written together."""

NESTED = {dict, list, np.ndarray}
"""What may have long lists of numbers in it."""

PLACE = "\0"
"""Where the numbers of an array go: no character of the canonical text, in which it would be escaped."""

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def read_json(text: str) -> Any:
    """What a JSON document says.

    Raises:
        ValueError: if it is none, or says one thing twice: readers differ in which of the two they take.
    """
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON (line {error.lineno})") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it says one thing twice")
    return found


def canonical_json(data: Any) -> str:
    """The text of plain data that all files with the same content share.

    Raises:
        ValueError: for numbers that JSON lacks (see :func:`finite`).
    """
    return _ENCODER.encode(data)


def sha256(data: Any) -> str:
    """SHA-256 of the canonical text, in hexadecimal."""
    return hashlib.sha256(canonical_json(data).encode("ascii")).hexdigest()


def sha256_of_numbers(data: Any) -> str:
    """:func:`sha256`, sooner where the data is mostly long lists of numbers, as a model is; arrays count as lists."""
    return hashlib.sha256(_text(data).encode("ascii")).hexdigest()


def _text(data: Any) -> str:
    """The canonical text, long lists of numbers written by a kernel, and all arrays together."""
    arrays: list[Any] = []
    form = _form(data, arrays)
    if not arrays:
        return form
    texts = [text or _alone(array) for array, text in zip(arrays, array_texts(arrays), strict=True)]
    return "".join(chain.from_iterable(zip(form.split(PLACE), [*texts, ""], strict=True)))


def _alone(array: Any) -> str:
    """The numbers of an array, some of which take many digits."""
    if array.dtype.kind == "i":
        return ints_text(array)
    return floats_text(array) if np.isfinite(array).all() else canonical_json(array.tolist())


_key = lru_cache(maxsize=1024)(canonical_json)


def _form(data: Any, arrays: list[Any]) -> str:
    """The canonical text but for the numbers of ``arrays``, to which this adds."""
    if isinstance(data, dict) and all(type(key) is str for key in data) and not _is_plain(data):
        return "{" + ",".join([f"{_key(key)}:{_form(data[key], arrays)}" for key in sorted(data)]) + "}"
    if isinstance(data, np.ndarray):
        if data.dtype.kind not in "fi" or data.ndim != 1 or len(data) < MANY:
            return _form(data.tolist(), arrays)
        arrays.append(data)
        return f"[{PLACE}]"
    if isinstance(data, list):
        kinds = set(map(type, data))
        if kinds == {float} and len(data) >= MANY and math.isfinite(sum(data)):
            return "[" + floats_text(data) + "]"
        if kinds == {int} and len(data) >= MANY:
            return "[" + ints_text(data) + "]"
        if kinds == {list}:
            return _lists_form(data, arrays)
        if kinds & NESTED and not all(map(_is_plain, data)):
            return "[" + ",".join([_form(item, arrays) for item in data]) + "]"
    return canonical_json(data)


def _is_plain(data: Any) -> bool:
    """Whether it is soonest written whole, as a split of a tree: no list in it is long, or of lists."""
    if type(data) is list:
        return len(data) < MANY and not NESTED & set(map(type, data))
    return all(map(_is_plain, data.values())) if type(data) is dict else type(data) is not np.ndarray


def _lists_form(data: list[Any], arrays: list[Any]) -> str:
    """The text of lists: of equally many floats, as of a matrix, all at once."""
    kinds, widths = set(map(type, chain.from_iterable(data))), set(map(len, data))
    if kinds == {float} and len(widths) == 1:
        floats, (width,) = list(chain.from_iterable(data)), widths
        if len(floats) >= MANY and all(map(math.isfinite, floats)):
            texts = floats_text(floats).split(",")
            return "[[" + "],[".join([",".join(row) for row in zip(*[iter(texts)] * width, strict=True)]) + "]]"
    if kinds & NESTED or (float in kinds and max(widths) >= MANY):
        return "[" + ",".join([_form(item, arrays) for item in data]) + "]"
    return canonical_json(data)


def finite(data: Any) -> Any:
    """Plain data with infinities as words, because JSON has none."""
    if isinstance(data, float):
        return data if math.isfinite(data) else str(data)
    if isinstance(data, str | int) or data is None:
        return data
    if isinstance(data, Mapping):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return data


def infinite(data: Any) -> Any:
    """The inverse of :func:`finite`, for charges, which hold no other words."""
    if data in ("inf", "-inf"):
        return float(data)
    if isinstance(data, Mapping):
        return {key: infinite(value) for key, value in data.items()}
    if isinstance(data, list):
        return [infinite(value) for value in data]
    return data
