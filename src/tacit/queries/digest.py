"""A digest of public data: of a query with all that it is made of, so that two of one shape are told apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, final
from weakref import WeakKeyDictionary

import numpy as np

BYTES = 16  # of a digest. It says where two fits part; a model and its tape are held together by whole SHA-256.


@final
class Digests:
    """Digests of values that share parts: that of a part that cannot change is computed once."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()

    def of(self, value: Any) -> bytes:
        """The digest of numbers, texts, arrays, sequences, mappings and dataclasses of such.

        Arrays count by dtype, shape and values, dataclasses by name and fields. Functions, and objects that are no
        plain data, count by their name alone.
        """
        return self._of(value)[0]

    def _of(self, value: Any) -> tuple[bytes, bool]:
        """The digest, and whether it stays: a log of updates grows inside a query that is asked again."""
        if is_dataclass(value) and not isinstance(value, type):
            return self._of_dataclass(value)
        if isinstance(value, Enum | np.generic):
            return self._of(value.value if isinstance(value, Enum) else value.item())
        if value is None or isinstance(value, bool | int | float | str | bytes):
            return _digest(type(value).__name__, repr(value).encode()), True
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                return self._of(value.tolist())
            return _digest(f"{value.dtype.str} {value.shape}", np.ascontiguousarray(value).tobytes()), True
        if isinstance(value, Mapping):
            return self._of_parts("mapping", (part for pair in value.items() for part in pair))[0], False
        if isinstance(value, list | tuple):
            digest, stays = self._of_parts("sequence", value)
            return digest, stays and isinstance(value, tuple)
        subject = value if hasattr(value, "__qualname__") else type(value)
        return _digest("object", f"{subject.__module__}.{subject.__qualname__}".encode()), True

    def _of_dataclass(self, value: Any) -> tuple[bytes, bool]:
        kind: Any = type(value)
        by_identity = kind.__hash__ is object.__hash__
        if by_identity and (digest := self._known.get(value)) is not None:
            return digest, True
        parts = [getattr(value, each.name) for each in fields(value)]
        whole, stay = self._of_parts(kind.__qualname__, parts)
        stays = stay and bool(kind.__dataclass_params__.frozen)
        if stays and by_identity:
            self._known[value] = whole
        return whole, stays

    def _of_parts(self, kind: str, parts: Iterable[Any]) -> tuple[bytes, bool]:
        pairs = [self._of(part) for part in parts]
        return _digest(kind, b"".join(digest for digest, _ in pairs)), all(stays for _, stays in pairs)


def _digest(kind: str, content: bytes) -> bytes:
    return hashlib.sha256(kind.encode() + b"\0" + content).digest()[:BYTES]
