"""Dates and times of a sample: in what format they are written, what numbers count them, and which say nothing."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence

from tacit.schema.cell_format import DATE_FORMATS, parse_date
from tacit.schema.identifier_names import words_of
from tacit.schema.spellings import TIMES_OTHERS, mostly

FIRST_LOOK = 200
"""Distinct texts by which formats of dates are tried before all are."""


def date_format(counts: Mapping[str, int]) -> tuple[str, str] | None:
    """The format that more than half of the cells have as dates, and what is doubtful about it; None if none."""
    first = list(counts)[:FIRST_LOOK]
    tried = [shape for shape in DATE_FORMATS if any(_fits(text, shape) for text in first)]
    fitting = {shape: sum(count for text, count in counts.items() if _fits(text, shape)) for shape in tried}
    best = max(tried, key=fitting.__getitem__, default="")
    if not best or 2 * fitting[best] <= sum(counts.values()):
        return None
    other = next((shape for shape in tried if shape != best and fitting[shape] == fitting[best]), "")
    example = next(text for text in first if parse_date(text, best))
    doubt = f"is {example!r} day or month first? {best} is taken, and {other} fits as well" if other else ""
    two = "; years such as 68 are 2068, and 69 is 1969" if "%y" in best else ""
    return best, f"{doubt}{two}" if doubt else two.removeprefix("; ")


_WEEK = re.compile(
    r"\d{4}-?W[0-5]\d(?:-?[1-7])?|\d{4}[-/ ]?Q[1-4]|[QH][1-4][-/ ]?\d{4}|[1-4]Q\d\d(\d\d)?"
    r"|(KW|CW|WK) ?\d{1,2}[-/ ]\d{2,4}",
    re.ASCII | re.IGNORECASE,
)


def _fits(text: str, shape: str) -> bool:
    """Whether a text is a date of a format; of digits alone, only one of these centuries."""
    date = parse_date(text, shape)
    return date is not None and (not text.isdecimal() or 1800 <= date.year <= 2200 or text[:4] in ("0001", "9999"))


def are_weeks(counts: Mapping[str, int]) -> bool:
    """Whether most cells are weeks of ISO 8601, or quarters: ``2024-W07``, ``Q1 2024``."""
    return mostly(counts, _WEEK.fullmatch)


_TIMES = (
    (100, 12, 3, 'is {} a month? Then declare kind = "date" with format = "%Y%m"'),
    (1000, 366, 3, "is {} a year with the number of its day? Then write the date"),
    (100, 53, 10, "is {} a year with the number of its week? Then write the date of its Monday"),
    (10, 4, 6, "is {} a year with its quarter? Then write the date on which it begins"),
)
"""What follows a year in whole numbers, up to what, how many different ones are no chance, and the question."""

_SECONDS, _TICKS = 86400.0, 864e9
_CLOCKS: Sequence[tuple[str, float, float]] = (
    *((f"{unit} from 1970 on", _SECONDS * n, 0.0) for unit, n in (("seconds", 1), ("milliseconds", 1e3))),
    *((f"{unit} from 1970 on", _SECONDS * n, 0.0) for unit, n in (("microseconds", 1e6), ("nanoseconds", 1e9))),
    ("Windows file times", _TICKS, 134_774.0),
    ("ticks of .NET", _TICKS, 719_162.0),
    ("days of Excel", 1.0, 25_569.0),
    ("days from 1970 on", 1.0, 0.0),
    ("days of SAS or Stata", 1.0, 3653.0),
    ("seconds of SAS", _SECONDS, 3653.0),
    ("milliseconds of Stata", _SECONDS * 1e3, 3653.0),
    ("seconds of SPSS", _SECONDS, 141_428.0),
    ("days of MATLAB", 1.0, 719_529.0),
    ("Julian days", 1.0, 2_440_587.5),
)
"""What numbers may count, how many of them a day has, and the day number of 1970-01-01."""

_BY_DIGITS = 6
"""The first clocks, whose numbers are so long that they need no name of a date beside them."""

FEWEST = 20
"""Numbers with fractions from which on their length alone may say that they are times."""

_NAMES = """
date datum dates data dat dt dtm dtc fecha dob birth born birthday timestamp epoch admit admitted admission discharge
discharged death visit onset start begin end created updated opened closed due expiry aufnahme entlassung beginn ende
"""
_DATES = frozenset(_NAMES.split())
_STAMP = re.compile(r"((?:19|20)\d{6})([01]\d|2[0-3])([0-5]\d)?([0-5]\d)?", re.ASCII)
"""A day and its time without anything between them: ``20190411113000``."""


def as_times(name: str, numbers: Sequence[float]) -> str:
    """A question about numbers that may all be dates such as 201512, 20151231 or 43831; empty if there is none."""
    if len(numbers) < 3:
        return ""
    whole = all(map(float.is_integer, numbers))
    if whole and (question := _as_digits(numbers)):
        return question
    is_date = names_date(name)
    for what, per_day, of_1970 in _CLOCKS if is_date else _CLOCKS[:_BY_DIGITS]:
        first, last = ((number / per_day - of_1970) / 365.2425 + 1970 for number in (min(numbers), max(numbers)))
        recent = 1995 <= first <= last <= 2035 and last - first <= 25 and (whole or len(numbers) > FEWEST)
        if recent or (is_date and 1900 <= first <= last <= 2040 and last >= 1990):
            day = dt.date(1970, 1, 1) + dt.timedelta(days=numbers[0] / per_day - of_1970)
            return f"is {f'{numbers[0]:.3f}'.removesuffix('.000')} the day {day}, in {what}? Then write the date"
    return ""


def names_date(name: str) -> bool:
    """Whether a column is called a date, in a language or the short form of one: ``admit_dt``, ``Geburtsdatum``."""
    words = words_of(name)
    return bool(words) and (not {words[0], words[-1]}.isdisjoint(_DATES) or words[-1].endswith(("date", "datum")))


def _as_digits(numbers: Sequence[float]) -> str:
    """The question about whole numbers whose digits are those of a date."""
    texts = [f"{number:.0f}" for number in numbers]
    stamps = [_STAMP.fullmatch(text) for text in texts]
    if all(stamp and parse_date(stamp[1], "%Y%m%d") for stamp in stamps):
        return f"is {texts[0]} a day with its time? Then write the date, {parse_date(texts[0][:8], '%Y%m%d')}"
    if all(1900 <= number // 10**4 < 2100 and parse_date(f"{number:.0f}", "%Y%m%d") for number in numbers):
        return f'is {texts[0]} a day? Then declare kind = "date" with format = "%Y%m%d"'
    for base, most, fewest, question in _TIMES:
        fitting = (1900 <= number // base < 2100 and 1 <= number % base <= most for number in numbers)
        if len(numbers) >= fewest and all(fitting):
            return question.format(texts[0])
    if len(texts) >= FEWEST and all(parse_date(text, "%y%m%d") for text in texts):
        return f'is {texts[0]} a day? Then declare kind = "date" with format = "%y%m%d"'
    return ""


_YEAR, _ERA = 365, 36_525
"""Days by which a repeated day, and any day, may lie outside of all others and be one."""

_MIDDLE = dt.date(2000, 1, 1).toordinal()
"""From where the mark among two days is farther away."""


def date_marks(counts: Mapping[int, int]) -> list[int]:
    """Days that may say that a date is missing, such as 1900-01-01 and 9999-12-31.

    They begin or end a year and have far more cells than any other, or lie farther from all others than these from one
    another. Days are counted as :meth:`datetime.date.toordinal` has them.
    """
    days, marks = sorted(counts), list[int]()
    while len(days) > 1 and (mark := _outermost(days, counts)):
        days.remove(mark)
        marks.append(mark)
    *_, second, most = sorted(days, key=counts.__getitem__) if len(days) > 2 else (0, 0)
    if most and _is_edge(most) and counts[most] >= max(3, TIMES_OTHERS * counts[second]):
        marks.append(most)
    return sorted(marks)


def _outermost(days: Sequence[int], counts: Mapping[int, int]) -> int:
    """The first or the last of sorted days, if it lies far outside of the others; otherwise zero."""
    ends = ((days[-1], days[:-1]), (days[0], days[1:]))
    for day, others in sorted(ends, key=lambda end: -abs(end[0] - _MIDDLE)):
        gap, span = min(abs(day - others[0]), abs(day - others[-1])), others[-1] - others[0]
        if gap > max(span, _ERA) or (gap > max(span, _YEAR) and counts[day] > 1 and _is_edge(day)):
            return day
    return 0


def _is_edge(day: int) -> bool:
    """Whether a day begins or ends a year, or the calendar of a program."""
    date = dt.date.fromordinal(day)
    return (date.month, date.day) in ((1, 1), (12, 31)) or date in (dt.date(1899, 12, 30), dt.date(1582, 10, 14))
