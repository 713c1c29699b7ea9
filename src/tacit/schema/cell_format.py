"""How the cells of a column of numbers or dates are written, where that is not plain decimal notation or ISO 8601."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, final

from tacit.schema.errors import SchemaError
from tacit.schema.values import MINUS, parse_number, plain_number, plain_text

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FULL = ("uary", "ruary", "ch", "il", "", "e", "y", "ust", "t(?:ember)?", "ober", "ember", "ember")

_DIRECTIVES: Mapping[str, str] = {
    "%Y": r"(?P<Y>\d{4})",
    "%y": r"(?P<y>\d{2})",
    "%m": r"(?P<m>\d{1,2})",
    "%d": r"(?P<d>\d{1,2})",
    "%a": r"(?:mon|tue|tues|wed|wednes|thu(?:rs?)?|fri|sat|satur|sun)(?:day)?\.?",
    "%b": "(?P<b>" + "|".join(f"{short}(?:{rest})?" for short, rest in zip(MONTHS, _FULL, strict=True)) + r")\.?",
}

DATE_FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d. %b %Y"),
    *("%d/%b/%Y", "%d%b%Y", "%b %d, %Y", "%b %d %Y", "%Y-%b-%d", "%Y-%m", "%Y/%m", "%m/%Y", "%b %Y", "%b-%Y", "%b-%y"),
    *("%a, %d %b %Y", "%a %d %b %Y", "%a, %b %d, %Y", "%a %b %d %Y", "%a, %d.%m.%Y", "%a %d/%m/%Y"),
    *("%d%m%Y", "%m%d%Y"),
)
"""The spellings that a draft recognises; where two fit the same cells, the first is drafted and the doubt is noted."""

THOUSANDS: Mapping[str, str] = {",": ",", ".": r"\.", " ": "[ \u00a0\u2009\u202f]", "'": "['\u2019]"}
"""What may stand between groups of three digits, and the characters that count as it."""

MOST_MARKS = 100
"""Numbers that may say that a value is missing."""

FIRST_YEAR_OF_TWO_DIGITS = 1969
"""``%y`` is a year from this one to 99 years later, as POSIX has it."""


@cache
def _pattern(date_format: str) -> re.Pattern[str]:
    """What a date of a format looks like; a time of day may follow, and plays no part."""
    parts = re.split(r"(%.)", date_format)
    glued = re.search(r"%[Yymd]%[Yymd]", date_format) is not None  # without separators every part has its full width
    words = [_DIRECTIVES[part] if part.startswith("%") else re.escape(part) for part in parts]
    text = "".join(words).replace(r"\d{1,2}", r"\d{2}") if glued else "".join(words)
    return re.compile(rf"{text}([T ].*)?", re.ASCII | re.IGNORECASE | re.DOTALL)


def check_date_format(date_format: Any) -> str:
    """A format of dates as ``strftime`` has it; raises :class:`SchemaError` unless it tells the year and the month."""
    directives = re.findall(r"%.?", date_format) if isinstance(date_format, str) else []
    kinds = [{"%y": "%Y", "%B": "%b"}.get(part, part) for part in directives if part not in ("%a", "%A")]
    if not set(kinds) <= _DIRECTIVES.keys() or sorted(kinds) not in _COMPLETE:
        raise SchemaError(
            f"must say where a date has its year (%Y, %y), month (%m, %b) and day (%d), once each; got {date_format!r}",
            "give one such as '%d.%m.%Y'; leave the time of day out",
            "format",
        )
    return str(date_format).replace("%B", "%b").replace("%A", "%a")


_COMPLETE = [sorted(["%Y", month, *day]) for month in ("%m", "%b") for day in ([], ["%d"])]


def parse_date(text: str, date_format: str) -> dt.date | None:
    """The date that a text spells in a format of :func:`check_date_format`, or None; without a day, the month's first.

    Months are English names, in full or by three letters, whatever the locale; so are days of the week (``%a``), which
    play no part.
    """
    match = _pattern(date_format).fullmatch(text.strip())
    if match is None:
        return None
    parts = match.groupdict()
    month = MONTHS.index(parts["b"][:3].lower()) + 1 if parts.get("b") else int(parts["m"])
    if parts.get("y"):
        base = FIRST_YEAR_OF_TWO_DIGITS
        year = base + (int(parts["y"]) - base) % 100
    else:
        year = int(parts["Y"])
    try:
        return dt.date(year, month, int(parts.get("d") or 1))
    except ValueError:
        return None


@final
@dataclass(frozen=True)
class CellFormat:
    """How the cells of a column are written, as its schema says and its model remembers.

    Attributes:
        symbol: what stands before or behind numbers: ``"$"``, ``"%"``, ``"kg"``. A cell without it counts as well.
        thousands: what stands between groups of three digits; with a point, fractions have a comma.
        missing_values: numbers that say that the value is missing.
        date: the format of dates, as ``strftime`` has it; empty for ISO 8601.
    """

    symbol: str = ""
    thousands: str = ""
    missing_values: tuple[float, ...] = ()
    date: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether a file's numbers are in plain decimal notation."""
        return not (self.symbol or self.thousands)

    def number_of(self, text: str) -> float | None:
        """The number that a text spells, or None."""
        text = text.strip().replace(MINUS, "-")
        if self.symbol:
            sign = text[:1] if text[:1] in "+-" else ""
            bare = text[len(sign) :].strip()
            before = bare.startswith(self.symbol)
            text = sign + (bare.removeprefix(self.symbol) if before else bare.removesuffix(self.symbol)).strip()
        if self.thousands:
            point = r"," if self.thousands == "." else r"\."
            mark = THOUSANDS[self.thousands]
            grouped = re.fullmatch(rf"[+-]?\d{{1,3}}(?:{mark}\d{{3}})+(?:{point}\d*)?", text, re.ASCII)
            if grouped:
                text = re.sub(mark, "", text)
            if self.thousands == "." and text.count(",") == 1:
                text = text.replace(",", ".")
        number = parse_number(text)
        return None if number is None else float(number)

    def to_dict(self) -> dict[str, Any]:
        """The format as plain data, without what is usual; :meth:`from_dict` is the inverse."""
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in facts.items() if value}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> CellFormat:
        """The inverse of :meth:`to_dict`."""
        return CellFormat(**{**data, "missing_values": tuple(data.get("missing_values", ()))})


PLAIN_CELLS = CellFormat()


def number_format(symbol: Any, thousands: Any, missing_values: Any) -> CellFormat:
    """How the numbers of a column or a label are written; raises :class:`SchemaError`, which names the field."""
    cell_format = CellFormat(_symbol(symbol), thousands, _marks(missing_values))
    if thousands not in ("", *THOUSANDS):
        marks = ", ".join(map(repr, THOUSANDS))
        raise SchemaError(f"got {thousands!r}", f"give one of {marks}", "thousands")
    return cell_format


def _marks(value: Any) -> tuple[float, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise SchemaError(f"must be a list of numbers, got {value!r}", "write it as [-200, 999]", "missing_values")
    marks = tuple(plain_number(mark, "missing_values") for mark in value)
    if len(marks) > MOST_MARKS or len(set(marks)) < len(marks):
        raise SchemaError(f"has {len(marks)} numbers", f"list at most {MOST_MARKS}, each once", "missing_values")
    return marks


def _symbol(value: Any) -> str:
    symbol = plain_text(value, "symbol")
    if symbol != symbol.strip() or any(character.isdigit() or character in "+-.," for character in symbol):
        raise SchemaError(f"got {symbol!r}", "give what stands beside the number, such as '$' or 'kg'", "symbol")
    return symbol
