"""One text for plain data, and its SHA-256: what a certificate says of a model, a schema and a ledger.

The text is that of the JSON Canonicalization Scheme (RFC 8785), so that any language computes the same digests: keys
in order, no blanks, UTF-8, and every number written as JavaScript writes it as a double. A digest says nothing about
the layout of a file, nor of 1 and 1.0, nor of 0 and -0.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Mapping
from typing import Any

import rfc8785

MOST = 2**53 - 1  # the largest integer of RFC 8785: doubles stand for all integers up to it

LONGEST = 400
"""Digits and sign of an integer that may be a double: one has at most 309 digits."""

LARGEST = int(sys.float_info.max)


def read_json(text: str | bytes) -> Any:
    """The content of a JSON document.

    Raises ``ValueError`` if it is none, if readers differ in how they take it (a key that is there twice, an integer
    that no double equals).
    """
    try:
        words = text if isinstance(text, str) else text.decode("utf-8")
        return json.loads(words, object_pairs_hook=_once, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON (line {error.lineno})") from None
    except UnicodeDecodeError:
        raise ValueError("it is no text in UTF-8") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("it says one thing twice")
    return data


def _integer(text: str) -> int | float:
    """A number without a point: other programs write large doubles in this form, as shortest digits and zeros."""
    if len(text) > LONGEST:
        raise ValueError(f"it holds an integer of {len(text)} digits, which is no double")
    exact = int(text)
    if abs(exact) <= MOST:
        return exact
    double = float(text)
    if not math.isfinite(double) or (int(double) != exact and rfc8785.dumps(double) != text.encode()):
        raise ValueError(f"it holds the integer {text:.40}, which is no double")
    return double


class Written(str):
    """The canonical text of a part that was written before."""

    __slots__ = ()


class _Texts(dict[Any, str]):
    """The texts of doubles and strings, each written once: the numbers of a model recur, and the keys of a ledger."""

    def __missing__(self, value: float | str) -> str:
        text = repr(value)  # the same digits; powers of ten, whole doubles, and what is no number are written otherwise
        plain = text[-1] in "123456789" and "e" not in text
        self[value] = text if plain else rfc8785.dumps(value).decode()
        return self[value]


def canonical_json(data: Any) -> bytes:
    """The text of plain data that all files with the same content share (RFC 8785).

    Raises ``ValueError`` for numbers that JSON lacks (see :func:`finite`), and for texts that are no Unicode.
    """
    parts: list[str] = []
    _write(data, parts, _Texts())
    return "".join(parts).encode()


def _write(data: Any, parts: list[str], texts: _Texts) -> None:
    """Appends the text of plain data: lists of numbers at once, of which models are made, the rest by the library."""
    kind, types = type(data), set(map(type, data)) if type(data) in (list, dict) else set()
    if kind is list and types in ({float}, {str}):
        parts.append(f"[{','.join(map(texts.__getitem__, data))}]")
    elif kind is list and types == {int} and -MOST <= min(data) <= max(data) <= MOST:
        parts.append(str(data).replace(" ", ""))
    elif kind is list:
        for place, value in enumerate(data):
            parts.append("," if place else "[")
            _write(value, parts, texts)
        parts.append("]" if data else "[]")
    elif kind is dict and types == {str}:
        in_order = sorted(data) if "".join(data).isascii() else sorted(data, key=lambda key: key.encode("utf-16be"))
        for place, key in enumerate(in_order):
            parts += ["," if place else "{", texts[key], ":"]
            _write(data[key], parts, texts)
        parts.append("}")
    else:
        parts.append(data if kind is Written else texts[data] if kind is str else rfc8785.dumps(data).decode())


def sha256(data: Any) -> str:
    """SHA-256 of the canonical text, in hexadecimal."""
    return hashlib.sha256(canonical_json(data)).hexdigest()


def finite(data: Any) -> Any:
    """Plain data with infinities as words, because JSON has none, and integers beyond :data:`MOST` as doubles."""
    if isinstance(data, float):
        return data if math.isfinite(data) else str(data)
    if isinstance(data, int) and abs(data) > MOST:
        return float(max(-LARGEST, min(data, LARGEST)))
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
