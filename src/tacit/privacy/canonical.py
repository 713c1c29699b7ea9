"""One text for plain data, and its SHA-256: what a certificate says of a model, a schema and a ledger.

Files may be laid out anew; what counts is what they hold. Keys are sorted, numbers are written as Python writes them
(the shortest text that reads back as the same double), everything beyond ASCII is escaped.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any


def canonical_json(data: Any) -> str:
    """The text of plain data that all files with the same content share.

    Raises:
        ValueError: for numbers that JSON lacks (see :func:`finite`).
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def sha256(data: Any) -> str:
    """SHA-256 of the canonical text, in hexadecimal."""
    return hashlib.sha256(canonical_json(data).encode("ascii")).hexdigest()


def finite(data: Any) -> Any:
    """Plain data with infinities as words, because JSON has none."""
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)
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
