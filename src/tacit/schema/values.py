"""Values a schema may declare (texts, integers, finite numbers, booleans), brought to one form each."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from tacit.schema.errors import SchemaError

Value = str | int | float | bool
"""What a category or class may be."""

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def plain_value(value: Any, field: str) -> Value:
    """A declared value in its plain form: numpy scalars unpacked, whole floats as integers, texts as they are."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str):
        _require_encodable(value, field)
        return str(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        if not math.isfinite(number):
            raise SchemaError(
                f"{number} is not a value that can be declared", "leave it out: missing has its own bin", field
            )
        return int(number) if number.is_integer() else number
    raise SchemaError(
        f"{value!r} is of type {type(value).__name__}", "give texts in quotes, numbers, or true and false", field
    )


def plain_number(value: Any, field: str) -> float:
    """A finite number as a float; a negative zero loses its sign."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise SchemaError(f"must be a number, got {value!r}", "write a number without quotes", field)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise SchemaError(f"{number} is not finite", "give a finite bound; values beyond it are clipped", field)
    return number + 0.0


def plain_text(value: Any, field: str) -> str:
    """A text that can be written to a file."""
    if not isinstance(value, str):
        raise SchemaError(f"must be a text, got {value!r}", "write it in quotes", field)
    _require_encodable(value, field)
    return str(value)


def check_name(name: Any) -> None:
    """Raises unless it can be the name of a column."""
    if not isinstance(name, str) or not name:
        what = "a column has no name" if name == "" else f"column name {name!r} is not a text"
        raise SchemaError(what, "name every column, and leave out the index that pandas writes first")
    plain_text(name, "columns")


def plain_flag(value: Any, field: str) -> bool:
    """``true`` or ``false``."""
    if not isinstance(value, bool | np.bool_):
        raise SchemaError(f"must be true or false, got {value!r}", "write it without quotes", field)
    return bool(value)


def plain_count(value: Any, field: str, least: int, most: int) -> int:
    """An integer in a range."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not least <= int(value) <= most:
        raise SchemaError(f"must be a whole number from {least} to {most}, got {value!r}", "", field)
    return int(value)


def short_number(value: float) -> int | float:
    """The number as it is written in a file: whole numbers without a point. Read back, it is the same float."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def identity(value: Value) -> str:
    """The text under which declared values count as the same: ``3`` is ``3.0`` and ``"3"``, ``"a "`` is ``"a"``."""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def parse_number(text: str) -> int | float | None:
    """The number a text spells in plain decimal notation (blanks around it do not count), or None."""
    text = text.strip()
    if not _DECIMAL.fullmatch(text):
        return None
    number = float(text)
    if not math.isfinite(number):
        return None
    return int(text) if text.lstrip("+-").isdigit() else number


def distinct_values(values: Any, field: str, least: int, most: int) -> tuple[Value, ...]:
    """Declared values in plain form, checked to be a list of distinct, non-empty ones."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise SchemaError(f"must be a list, got {values!r}", 'write it as ["a", "b"]', field)
    plain = tuple(plain_value(value, field) for value in values)
    if not least <= len(plain) <= most:
        hint = "merge rare ones: what is not listed goes to 'other'" if len(plain) > most else "list what may occur"
        raise SchemaError(f"has {len(plain)} values, {least} to {most} are possible", hint, field)
    seen: dict[str, Value] = {}
    for value in plain:
        key = identity(value)
        if not key:
            raise SchemaError("holds an empty text", "leave it out: empty cells go to the missing bin", field)
        if key in seen:
            raise SchemaError(f"holds both {seen[key]!r} and {value!r}, which read the same", "keep one", field)
        seen[key] = value
    return plain


def _require_encodable(text: str, field: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise SchemaError(f"{text!r} is not valid Unicode", "give text that can be written as UTF-8", field) from None
