"""Values a schema may declare (texts, integers, finite numbers, booleans), brought to one form each."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import numbers
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tacit.schema.errors import SchemaError

Value = str | int | float | bool
"""What a category or class may be."""

EXACT = 2**53
"""Integers below it are doubles, as which JSON readers take them."""

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def plain_value(value: Any, field: str) -> Value:
    """A declared value in its plain form: numpy scalars unpacked, whole floats as integers, texts as they are."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str):
        _require_encodable(value, field)
        return str(value)
    if isinstance(value, numbers.Integral):
        if abs(int(value)) >= EXACT:
            right = "write it in quotes, and set exact = true"
            raise SchemaError(f"{value} is an integer that other programs read as another one", right, field)
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        if not math.isfinite(number):
            raise SchemaError(
                f"{number} is not a value that can be declared", "leave it out: missing has its own bin", field
            )
        return int(number) if number.is_integer() and abs(number) < EXACT else number
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


def plain_date(value: Any, field: str) -> dt.date:
    """A declared date: one of Python's, or of TOML's, or a text such as ``"2020-03-31"``."""
    if isinstance(value, dt.datetime):
        value = value.date()
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        try:
            value = dt.date.fromisoformat(value)
        except ValueError:
            raise SchemaError(f"there is no date {value}", "give one such as 2020-03-31", field) from None
    if not isinstance(value, dt.date):
        what = "is missing" if value is None else f"must be a date, got {value!r}"
        raise SchemaError(what, "give one such as 2020-03-31", field)
    return value


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
    return int(value) if value.is_integer() and abs(value) < EXACT else value


def identity(value: Value) -> str:
    """The text under which declared values count as the same: ``3`` is ``3.0`` and ``"3"``, ``"a "`` is ``"a"``."""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


MINUS = "\u2212"
"""The typographic minus, which word processors write for a hyphen."""


def parse_number(text: str) -> int | float | None:
    """The number a text spells in plain decimal notation (blanks around it do not count), or None."""
    text = text.strip().replace(MINUS, "-")
    if not _DECIMAL.fullmatch(text):
        return None
    number = float(text)
    if not math.isfinite(number):
        return None
    if not text.lstrip("+-").isdigit():
        return number
    return int(text) if len(text) <= MOST_DIGITS else int(number)  # zeros in front, or Python would not read it


MOST_DIGITS = 310
"""Digits of the largest integer that is finite as a number."""

COMPARED_DIGITS = 15
"""Significant digits by which numbers are compared: as many as every reader of decimals gets right."""

_TRUTH = {"true": True, "false": False}
_INFINITE = {"inf": math.inf, "infinity": math.inf}


class Meaning(NamedTuple):
    """What a value counts as, however a reader typed it: ``"number"``, ``"truth"`` or ``"text"``, and which."""

    kind: str
    value: float | bool | str


def meaning(value: str | float | decimal.Decimal) -> Meaning:
    """What a value counts as where its spelling does not matter. Depends on the value alone.

    Readers that make types from rows (``pandas.read_csv``) turn ``007`` and ``1.10`` into numbers and ``True`` into a
    truth value, or leave them texts where another row of the column spells no number. So that no row decides how
    others are read, a text that such a reader can take for a number *is* that number, rounded to
    :data:`COMPARED_DIGITS`, and ``true`` or ``false`` in any case *are* truth values.
    """
    if isinstance(value, bool):
        return Meaning("truth", value)
    if isinstance(value, str):
        text = value.strip()
        lowered = text.lower()
        if lowered in _TRUTH:
            return Meaning("truth", _TRUTH[lowered])
        if lowered.lstrip("+-") in _INFINITE and len(lowered) - len(lowered.lstrip("+-")) <= 1:
            return Meaning("number", -math.inf if lowered.startswith("-") else math.inf)
        if not _DECIMAL.fullmatch(text):
            return Meaning("text", text)
        return Meaning("number", _rounded(float(text)))
    try:
        return Meaning("number", _rounded(float(value)))
    except OverflowError:
        return Meaning("number", math.inf if value > 0 else -math.inf)


def _rounded(number: float) -> float:
    return float(f"{number:.{COMPARED_DIGITS}g}") + 0.0


def needs_exact(values: Iterable[Value]) -> bool:
    """Whether only spelling tells declared values apart: two have one :func:`meaning`, or a number loses digits."""
    listed = list(values)
    return len({meaning(value) for value in listed}) < len(listed) or any(map(_loses_digits, listed))


def _loses_digits(value: Value) -> bool:
    """Whether a number has more significant digits than are compared."""
    kind, counted = meaning(value)
    if kind != "number" or not math.isfinite(float(counted)):
        return False
    number = decimal.Decimal(value.strip() if isinstance(value, str) else repr(value))
    return number != decimal.Decimal(repr(counted))


def distinct_values(values: Any, field: str, least: int, most: int, exact: bool = False) -> tuple[Value, ...]:
    """Declared values in plain form, checked to be a list of distinct, non-empty ones.

    Unless texts that spell numbers stand for themselves (``exact``), values of one :func:`meaning` and numbers of more
    than :data:`COMPARED_DIGITS` are refused.
    """
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
    if not exact:
        _require_meanings(plain, field)
    return plain


def _require_meanings(plain: Iterable[Value], field: str) -> None:
    exactly = "keep one, or set exact = true and have the cells read as texts (tacit.read_table)"
    meant: dict[Meaning, Value] = {}
    for value in plain:
        other = meant.setdefault(meaning(value), value)
        if other is not value:
            raise SchemaError(
                f"holds both {other!r} and {value!r}, which are one number or truth value", exactly, field
            )
        if _loses_digits(value):
            raise SchemaError(
                f"holds {value!r}, and numbers are compared by {COMPARED_DIGITS} significant digits",
                exactly.replace("keep one", "shorten it"),
                field,
            )


def _require_encodable(text: str, field: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise SchemaError(f"{text!r} is not valid Unicode", "give text that can be written as UTF-8", field) from None
