"""Dates as numbers: the year, the month or the day of the week of each, by public rules, cell by cell.

A year or a month is the middle of its part of the calendar in years (2020.5, 2020 + 2.5 / 12), so that it falls well
within one cell of a grid; a day of the week is 0.5 for Monday to 6.5 for Sunday. What is no date is NaN, as missing is:
no cell is a reason to stop.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.encoding.arrow import as_texts, by_value, in_chunks, integers, is_arrow
from tacit.encoding.errors import FrameError
from tacit.encoding.numbers import series_of
from tacit.packages import nw, pa, pc
from tacit.schema.cell_format import parse_date
from tacit.schema.columns import YEAR, DateColumn

_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})([T ].*)?", re.ASCII)
_ONLY_YEAR = re.compile(r"\d{4}(\.0*)?", re.ASCII)

MONDAY, SUNDAY = dt.date(2024, 1, 1), dt.date(2024, 1, 7)

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_NAT = np.datetime64("NaT", "D")
_NONE = np.iinfo(np.int64).min
"""How NaT is stored."""

_PER_DAY = {"h": 24, "m": 1440, "s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
_PER_DAY |= {"ps": 86_400 * 10**12, "fs": np.iinfo(np.int64).max, "as": np.iinfo(np.int64).max}
"""How many moments of a unit are in a day; of the finest, all that there are after 1970."""

LARGEST = 10**9
"""More than any number has whose digits are a date: floats and texts do not hold all numbers."""

FAR = 10**12
"""Days from 1970 that no date of a schema reaches, and from which on numpy's years may wrap around."""

Day = Callable[[Any], np.datetime64]
"""From a Python value to the day that it stands for, or NaT."""


def bounds_of(column: DateColumn) -> tuple[float, float, int]:
    """Lower and upper bound of a column in these numbers, and how many years, months or days lie between them."""
    if column.lower is None or column.upper is None:
        return 0.0, float(len(DAYS)), len(DAYS)
    first, last = column.lower, column.upper
    if column.granularity == YEAR:
        return float(first.year), float(last.year + 1), last.year + 1 - first.year
    months = 12 * (last.year - first.year) + last.month + 1 - first.month
    return first.year + (first.month - 1) / 12, last.year + last.month / 12, months


def text_of(granularity: str, number: float) -> str:
    """What begins at an edge of a grid: ``"2020"``, ``"2020-03"`` or ``"Tuesday"``; ``"Monday"`` follows on Sunday."""
    if granularity == YEAR:
        return f"{number:.0f}"
    if granularity == "weekday":
        return DAYS[round(number) % len(DAYS)]
    months = round(12 * number)
    return f"{months // 12:04d}-{months % 12 + 1:02d}"


def dates_as_numbers(values: Any, granularity: str, date_format: str = "", name: str = "") -> Floats:
    """A vector of dates, times or texts (numpy, pandas, polars, pyarrow, sequence) as numbers, shape ``(n,)``.

    Texts are dates in ISO 8601 (``2020-03-31``), or in the declared format, with or without a time, which plays no
    part; times with a zone are those of their zone. A number stands for a year where years are asked for and no format
    is declared; for its digits where the format has digits alone; and for nothing otherwise.

    Args:
        values: the column; no value in it raises anything.
        granularity: ``"year"``, ``"month"`` or ``"weekday"``.
        date_format: the declared format; empty for ISO 8601.
        name: of the column, for the error.

    Raises:
        FrameError: for a type that holds no date (durations, times of day, periods, lists, structs), or times of a zone
            that is not known.
    """
    day = partial(_day, granularity=granularity, date_format=date_format)
    return _numbers_of_days(_days(values, day, name), granularity)


def _numbers_of_days(days: npt.NDArray[np.datetime64], granularity: str) -> Floats:
    valid = ~np.isnat(days)
    number = np.where(valid, days.astype(np.int64), 0)
    safe = np.clip(number, -FAR, FAR).astype("datetime64[D]")
    if granularity == YEAR:
        numbers = safe.astype("datetime64[Y]").astype(np.int64) + 1970.5
    elif granularity == "month":
        numbers = 1970 + (safe.astype("datetime64[M]").astype(np.int64) + 0.5) / 12
    else:
        numbers = (number % 7 + 3) % 7 + 0.5  # the first day of 1970 was a Thursday
    return np.where(valid, numbers, np.nan)


def _days(values: Any, day: Day, name: str) -> npt.NDArray[np.datetime64]:
    values = in_chunks(values)
    series = None if is_arrow(values) else series_of(values)
    if series is not None:
        values = _arrow_of(series)
    if is_arrow(values):
        return _of_arrow(values, day, name)
    array = values if isinstance(values, np.ndarray) else None
    if array is not None and array.ndim == 1 and array.dtype.kind == "M":
        return _of_numpy(array)
    if array is not None and array.dtype.kind in "mV":
        raise _dateless(name, array.dtype)
    return np.array([day(value) for value in (values if array is None else array.ravel().tolist())], "datetime64[D]")


def _of_numpy(moments: npt.NDArray[np.datetime64]) -> npt.NDArray[np.datetime64]:
    """The days of numpy's moments, NaT where the number of a day would be too large, which numpy wraps around."""
    unit, multiple = np.datetime_data(moments.dtype)
    if unit == "generic":  # which only NaT is
        return np.full(len(moments), _NAT)
    numbers = moments.astype(np.int64)
    if unit in _PER_DAY:
        days = numbers * multiple // _PER_DAY[unit]
    else:
        days = moments.astype("datetime64[D]").astype(np.int64)
    reach = 2.0**63 / multiple / {"Y": 365.2425, "M": 365.2425 / 12, "W": 7}.get(unit, 1)
    days[(np.abs(numbers.astype(np.float64)) > reach) | (numbers == _NONE)] = _NONE
    return days.view("datetime64[D]")


def _arrow_of(series: nw.Series[Any]) -> Any:
    """A series as Arrow data, or as a list where its values have no type of Arrow's."""
    native = series.to_native()
    dtype = str(getattr(native, "dtype", "")).lower()
    if dtype in ("object", "category") or dtype.startswith("sparse["):
        return native.to_list()
    try:
        arrow = series.to_arrow()
    except (pa.ArrowException, UnicodeError, NotImplementedError, TypeError, ValueError):
        return native.to_list()
    return in_chunks(arrow)


def days_of(values: pa.ChunkedArray) -> npt.NDArray[np.datetime64] | None:
    """The days of Arrow's dates and times, those beyond Python's calendar too; None for other types.

    Raises:
        FrameError: for times of a zone that is not known here, which the type says, whatever rows there are.
    """
    if pa.types.is_dictionary(values.type) and pa.types.is_temporal(values.type.value_type):
        values = values.cast(values.type.value_type)
    kind, moments = values.type, values
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        try:
            pc.local_timestamp(pa.nulls(1, kind))  # of no rows at all, Arrow looks for no zone
        except pa.ArrowInvalid:
            raise FrameError(f"a column of times has the zone {kind.tz!r}, which is not known here") from None
        values = pc.local_timestamp(values)
        kind = values.type
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return None
    per_day = 1 if pa.types.is_date32(kind) else _PER_DAY[getattr(kind, "unit", "ms")]
    numbers = _integers(values)
    days = np.where(numbers == _NONE, _NONE, numbers // per_day)
    if values is not moments:  # the last local times are wrapped around
        days[np.abs(numbers.astype(np.float64) - _integers(moments)) > 2.0**62] = _NONE
    return days.view("datetime64[D]")


def _integers(moments: pa.ChunkedArray) -> Ints:
    """The numbers that Arrow has for dates and times."""
    wide = moments.cast(pa.int32() if pa.types.is_date32(moments.type) else pa.int64()).cast(pa.int64())
    return np.concatenate([np.empty(0, np.int64), *(integers(chunk, _NONE) for chunk in wide.chunks)])


def _of_arrow(values: pa.ChunkedArray, day: Day, name: str) -> npt.NDArray[np.datetime64]:
    days = days_of(values)
    if days is not None:
        return days
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_temporal(kind) or pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
        raise _dateless(name, kind)
    return by_value(as_texts(values), day, "datetime64[D]")


def _dateless(name: str, dtype: object) -> FrameError:
    """The error for a type that no date has, which is public: a fit would pay for a column without a value."""
    column = f"column '{name}'" if name else "the column"
    return FrameError(f"{column} is a date in the schema but has dtype {dtype}; convert it to dates, or leave it out")


def _day(value: Any, granularity: str, date_format: str) -> np.datetime64:
    """The day that a Python value stands for, or NaT."""
    if isinstance(value, dt.datetime | dt.date):
        parts = (getattr(value, name, None) for name in ("year", "month", "day"))
        return _date(*parts)  # of pandas' missing time they are no numbers, of which there is no date
    if isinstance(value, np.datetime64):
        return _day_of(value)
    value = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    text = value.strip() if isinstance(value, str) else ""
    if date_format:
        date = parse_date(text or _digits(value), date_format)
        return _NAT if date is None else np.datetime64(date, "D")
    match = _ISO.fullmatch(text)
    if match is not None:
        return _date(*(int(part) for part in match.groups()[:3]))
    if granularity == YEAR:
        number = text if _ONLY_YEAR.fullmatch(text) else value
        if isinstance(number, str) or _is_number(number):
            return _year(number)
    return _NAT


def _digits(value: Any) -> str:
    """The digits of a whole number that a reader made of a text such as ``20241231``."""
    try:
        number = float(value) if _is_number(value) else math.nan
    except OverflowError:
        return ""
    return str(int(number)) if abs(number) < LARGEST and number == int(number) else ""


def _is_number(value: Any) -> bool:
    """Whether a value is a real number; durations are integers of numpy's."""
    real = isinstance(value, int | float | np.integer | np.floating)
    return real and not isinstance(value, bool | np.timedelta64)


def _day_of(moment: np.datetime64) -> np.datetime64:
    try:
        day: np.datetime64 = _of_numpy(np.array([moment]))[0]
    except (OverflowError, ValueError):  # no day has so large a number, or the moment has no unit
        return _NAT
    return day


def _year(number: Any) -> np.datetime64:
    try:
        year = float(number)
    except (ValueError, OverflowError):
        return _NAT
    return _date(int(year), 1, 1) if 0 < year < 10_000 and year == int(year) else _NAT


def _date(year: Any, month: Any, day: Any) -> np.datetime64:
    try:
        return np.datetime64(dt.date(year, month, day), "D")
    except (ValueError, TypeError, OverflowError):
        return _NAT
