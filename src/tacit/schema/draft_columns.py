"""From the cells of a public sample to a column of a draft, and one line about what was decided or is doubtful."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, final

import narwhals as nw
import pyarrow as pa

from tacit.schema.alike import spelled_apart
from tacit.schema.cell_format import CellFormat, parse_date
from tacit.schema.columns import (
    BooleanColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    IdColumn,
    IgnoredColumn,
    NumericColumn,
)
from tacit.schema.csv_format import COMMA, POINT
from tacit.schema.errors import SchemaError
from tacit.schema.identifier_names import tells_apart
from tacit.schema.identifiers import MOSTLY, Verdict, evident, judge
from tacit.schema.notations import beside, compound, rewriting
from tacit.schema.spellings import (
    FEW,
    MARKS,
    Spelled,
    are_codes,
    doubtful_marks,
    far_marks,
    leading_zeros,
    made_dates,
    marks_among,
    plain_number_of,
    spelled,
    strays_among,
)
from tacit.schema.times import are_weeks, as_times, date_format, date_marks, names_date
from tacit.schema.values import needs_exact

MOST_LISTED = 200
"""Texts with more distinct values than this are cut to the most frequent ones."""

MOST_CODES, LEAST_CELLS = 10, 20
"""Whole numbers of so few values, in so many cells or more, may be codes."""

FIRST_YEAR, LAST_YEAR = 1600, 2100
"""Years between which dates are beyond doubt."""

LOG_RATIO = 1000.0
"""Positive numbers that span this factor are drafted with log spacing."""


@final
@dataclass(frozen=True)
class Reading:
    """What somebody said that numbers of a sample have before fractions, and between groups of three digits."""

    decimal: str = POINT
    thousands: str = ""


@final
@dataclass(frozen=True)
class Cells:
    """The cells of a column, counted: texts in the order of rows, numbers, or days as ``date.toordinal`` has them.

    ``kind`` is ``"text"``, ``"number"``, ``"truth"``, ``"date"``, or what else the type says.
    """

    name: str
    rows: int
    kind: str = "text"
    texts: Mapping[str, int] = field(default_factory=Counter)
    numbers: Mapping[float, int] = field(default_factory=Counter)
    days: Mapping[int, int] = field(default_factory=Counter)

    @property
    def is_empty(self) -> bool:
        """Whether no cell holds anything."""
        return not (self.texts or self.numbers or self.days) and self.kind in ("text", "number", "date")


def cells_of(series: nw.Series[Any]) -> Cells:
    """The cells of a column of any table."""
    name, dtype, rows = series.name, series.dtype, len(series)
    if dtype == nw.Boolean:
        return Cells(name, rows, "truth")
    if dtype in (nw.Date, nw.Datetime):
        return Cells(name, rows, "date", days=_days(series))
    if dtype.is_nested() or dtype.is_temporal():
        return Cells(name, rows, str(dtype))
    values = [value for value in series.drop_nulls().to_list() if value == value]
    if values and all(isinstance(value, dt.date) for value in values):
        return Cells(name, rows, "date", days=Counter(value.toordinal() for value in values))
    if all(isinstance(value, int | float | Decimal) for value in values) and (values or dtype.is_numeric()):
        numbers = Counter(value for value in map(_plain, values) if math.isfinite(value))
        return Cells(name, rows, "number", numbers=numbers)
    texts = (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in values)
    return Cells(name, rows, texts=Counter(text.strip() for text in texts if text.strip()))


def _plain(value: Any) -> float:
    return value if isinstance(value, int) else float(value)


def _days(series: nw.Series[Any]) -> Counter[int]:
    """The days of a column of dates or times, within the calendar of Python."""
    days = series.drop_nulls().to_arrow().cast(pa.date32(), safe=False).cast(pa.int32()).to_pylist()
    since = dt.date(1970, 1, 1).toordinal()
    return Counter(min(max(day + since, dt.date.min.toordinal()), dt.date.max.toordinal()) for day in days)


def draft_column(cells: Cells, reading: Reading) -> tuple[Column, str]:
    """A column, and what should be said about it; empty where nothing is doubtful."""
    column, note = _drafted(cells, reading)
    many = len(cells.texts) + len(cells.numbers) + len(cells.days) > FEW
    if many and tells_apart(cells.name) and not isinstance(column, IdColumn | IgnoredColumn):
        coarse = 'set granularity = "year"' if isinstance(column, DateColumn) else "keep only the region"
        note = "; ".join(filter(None, (note, f"may it tell persons apart, with other columns? Then {coarse}")))
    return column, note


def _drafted(cells: Cells, reading: Reading) -> tuple[Column, str]:
    """The same without what a name of a day of birth or a place has one ask."""
    if cells.kind == "truth":
        return BooleanColumn(), ""
    if cells.is_empty:
        return IgnoredColumn(), "ignored, because the sample has no values"
    if cells.kind == "date":
        return _dates(cells.days)
    if cells.kind == "number":
        return _numbers(cells.name, cells.numbers, CellFormat(), "")
    if cells.kind != "text":
        return IgnoredColumn(), f"ignored, because {cells.kind} is not learned from; derive numbers or texts"
    return _texts(cells, reading)


def _texts(cells: Cells, reading: Reading) -> tuple[Column, str]:
    """A column of texts, whatever they spell."""
    present = {text: count for text, count in cells.texts.items() if text.casefold() not in MARKS} or cells.texts
    verdict = evident(cells.name, list(present), sum(present.values()))
    if verdict.is_identifier:
        return IdColumn(), _identifier(cells.name, verdict.reason)
    shape = date_format(present)
    if shape is not None and 2 * sum(present.values()) > sum(cells.texts.values()):
        days = Counter[int]()
        for text, count in present.items():
            if day := parse_date(text, shape[0]):
                days[day.toordinal()] += count
        column, note = _dates(days, "" if shape[0] == "%Y-%m-%d" else shape[0])
        lost = sum(count for text, count in present.items() if parse_date(text, shape[0]) is None)
        others = f"{lost} of {sum(present.values())} cells are no such date, and are missing" if lost else ""
        return column, "; ".join(part for part in (note, others, shape[1]) if part)
    truths = _truths(present)
    if truths is not None:
        return truths
    verdict = judge(cells.name, list(present), sum(present.values())) if are_codes(present) else verdict
    if verdict.is_identifier:
        return IdColumn(), _identifier(cells.name, verdict.reason)
    numbers = spelled(cells.texts, reading.decimal, reading.thousands)
    plain = numbers is not None and numbers.cell_format.is_plain
    if leading_zeros(present) and plain:
        return _codes(cells, present)
    draft = _in_other_notation(cells, present, numbers, reading)
    if draft is not None:
        return draft
    verdict = judge(cells.name, list(present), sum(present.values()))
    if verdict.is_identifier:
        return IdColumn(), _identifier(cells.name, verdict.reason)
    if verdict.asks_identifier:
        return IdColumn(), _unlisted(verdict.reason)
    column, note = _categories(cells, reading)
    return column, "; ".join(part for part in (verdict.reason, note) if part)


def _in_other_notation(
    cells: Cells, present: Mapping[str, int], numbers: Spelled | None, reading: Reading
) -> tuple[Column, str] | None:
    """Texts that spell numbers, or may in another notation; None for others."""
    if question := rewriting(cells.texts, reading.decimal, reading.thousands):
        plain = numbers is not None and numbers.numbers and numbers.cell_format.is_plain
        column, note = _spelled(cells, numbers) if numbers is not None and plain else (IgnoredColumn(), "")
        return column, f"{note or 'ignored'}; {question}"
    if numbers is not None and numbers.numbers:
        return _spelled(cells, numbers)
    question = "" if are_weeks(present) else compound(present)
    if numbers is not None and not question:
        return _spelled(cells, numbers)
    if question := question or ("" if are_weeks(present) else beside(present)):
        column, note = _categories(cells, reading) if len(present) <= FEW else (IgnoredColumn(), "ignored until then")
    elif are_weeks(present):
        question = f"is {next(iter(present))!r} a week or a quarter? Then write the day on which it begins"
        column, note = _categories(cells, reading)
    else:
        return None
    return column, "; ".join(filter(None, (question, note)))


def _truths(present: Mapping[str, int]) -> tuple[Column, str] | None:
    words = {text.lower() for text in present}
    if words <= {"true", "false"} or words == {"yes", "no"}:
        return BooleanColumn(), "read as true and false"
    return None


def _spelled(cells: Cells, spelling: Spelled) -> tuple[Column, str]:
    if not spelling.numbers:
        return IgnoredColumn(), spelling.note
    counts: Counter[float] = Counter()
    for text, number in spelling.numbers.items():
        counts[number] += cells.texts[text]
    column, note = _numbers(cells.name, counts, spelling.cell_format, spelling.note)
    strays = {text: count for text, count in cells.texts.items() if text not in spelling.numbers}
    if strays and isinstance(column, NumericColumn):
        note = f"{note or 'read as numbers'}; cells that spell none are missing: {strays_among(strays)}"
    return column, note


def _codes(cells: Cells, present: Mapping[str, int]) -> tuple[Column, str]:
    """Digits with zeros in front: an identifier, or categories."""
    cells_there = sum(present.values())
    verdict = judge(cells.name, list(present), cells_there)
    if verdict.is_identifier or (len(present) > MOSTLY * cells_there and cells_there >= LEAST_CELLS):
        reason = verdict.reason if verdict.is_identifier else "nearly all of its codes differ"
        return IdColumn(), _identifier(cells.name, reason)
    if verdict.asks_identifier:
        return IdColumn(), _unlisted(verdict.reason)
    column, note = _categories(cells, Reading())
    question = 'codes, because some begin with zeros: are they numbers? Then kind = "numeric" with bounds'
    return column, f"{question}; {note}" if note else question


def _identifier(name: str, reason: str) -> str:
    return (
        f"taken for an identifier, because {reason}. If it tells persons apart, add [unit] with column = {name!r} and "
        f'max_rows; if it is none, declare what it is, with allow = "identifier"'
    )


def _unlisted(question: str) -> str:
    """The question about values that may tell persons apart, which a draft therefore does not list."""
    return f'{question} Until you say so it is taken for one (kind = "id"), and none of its values is listed'


def _dates(days: Mapping[int, int], date_format: str = "") -> tuple[Column, str]:
    """Dates by month, from the first year of the sample to the last, without days that may say that one is missing."""
    marks = date_marks(days)
    first, last = (dt.date.fromordinal(bound(day for day in days if day not in marks)) for bound in (min, max))
    column = DateColumn("month", dt.date(first.year, 1, 1), dt.date(last.year, 12, 31), format=date_format)
    form = f" written as {date_format}" if date_format else ""
    note = f"a date{form}, by month: change granularity to year or weekday where that matters more"
    if first.year > LAST_YEAR or last.year < FIRST_YEAR:
        note += f"; are years such as {first.year} shifted, or of another calendar? Then write those of the common one"
    if marks:
        shown = " and ".join(str(dt.date.fromordinal(mark)) for mark in marks)
        share, what = sum(days[mark] for mark in marks) / sum(days.values()), "does" if len(marks) == 1 else "do"
        note += f"; {what} {shown} ({share:.1%} of cells) say that a date is missing? Then leave those cells empty"
    return column, note


def _categories(cells: Cells, reading: Reading) -> tuple[Column, str]:
    counts = Counter[str]()
    for text, count in cells.texts.items():
        fits = reading.decimal == COMMA and plain_number_of(text, COMMA) is not None
        counts[text.replace(COMMA, POINT) if fits else text] += count
    listed = sorted(sorted(counts, key=lambda text: (-counts[text], text))[:MOST_LISTED])
    missing = sum(counts.values()) < cells.rows
    cut = f"the {MOST_LISTED} most frequent of {len(counts)} values are listed; the rest is 'other'"
    column = CategoricalColumn(tuple(listed), missing=missing, exact=needs_exact(listed))
    notes = (
        spelled_apart(counts) or marks_among(listed) or made_dates(listed),
        cut if len(counts) > MOST_LISTED else "",
    )
    return column, "; ".join(filter(None, notes))


def _numbers(name: str, counts: Mapping[float, int], cell_format: CellFormat, note: str) -> tuple[Column, str]:
    """A column of numbers: an identifier, truth values, or numbers between bounds rounded outward."""
    verdict = judge(name, list(counts), sum(counts.values()), counts.values()) if cell_format.is_plain else Verdict()
    values = sorted(map(float, counts))
    if verdict.is_identifier and not (names_date(name) and as_times(name, values)):
        return IdColumn(), _identifier(name, verdict.reason)
    if set(counts) == {0, 1} and cell_format.is_plain:
        return BooleanColumn(), "0 and 1 read as false and true"
    marks = far_marks(values, {float(value): count for value, count in counts.items()})
    values = [value for value in values if value not in marks]
    time = as_times(name, values)
    notes = [note, time or verdict.reason]
    if marks:
        share = sum(counts[mark] for mark in marks) / sum(counts.values())
        listed = ", ".join(f"{mark:.12g}" for mark in marks)
        notes.append(f"{listed} ({share:.1%} of cells) taken for missing: leave missing_values out if it is a value")
    if lone := doubtful_marks({value: counts[value] for value in values}):
        shown, what = " and ".join(f"{number:.12g}" for number in lone), "does" if len(lone) == 1 else "do"
        every = ", ".join(f"{number:.12g}" for number in (*marks, *lone))
        notes.append(f"{what} {shown} say that a value is missing? Then declare missing_values = [{every}]")
    elif (
        not (time or marks)
        and 2 < len(counts) <= MOST_CODES
        and sum(counts.values()) >= LEAST_CELLS
        and all(map(float.is_integer, values))
    ):
        notes.append('a few whole numbers: if they are codes without order, declare kind = "categorical"')
    column, more = _between(values, CellFormat(cell_format.symbol, cell_format.thousands, marks))
    questions = [part for part in notes if "?" in part]
    return column, "; ".join(part for part in (*notes, more) if part and part not in questions[1:])


def _between(values: list[float], cell_format: CellFormat) -> tuple[Column, str]:
    least, most = values[0], values[-1]
    how: dict[str, Any] = {name: getattr(cell_format, name) for name in ("symbol", "thousands", "missing_values")}
    log = least > 0 and most / least >= LOG_RATIO
    try:
        if log:
            column = NumericColumn(_log_round(least, -1), _log_round(most, 1), spacing="log", **how)
        else:
            column = NumericColumn(*round_outward(least, most), **how)
    except SchemaError as error:
        return IgnoredColumn(), f"ignored, because {error.problem}: rescale it"
    if log:
        return column, f"log spacing, because values span a factor {most / least:.3g}"
    return column, "the sample has one value only: widen the bounds" if least == most else ""


def round_outward(least: float, most: float) -> tuple[float, float]:
    """The next round numbers below and above: multiples of a 1-2-5 step of about a twentieth of the span."""
    span = most - least or abs(least) or 1.0
    if not 1e-200 < span < 1e200:
        return least, most
    rough = span / 20.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step for step in (1.0, 2.0, 5.0, 10.0) if step * power >= rough * (1 - 1e-9)) * power
    lower, upper = math.floor(least / step), math.ceil(most / step)
    if lower == upper:
        lower, upper = lower - 1, upper + 1
    decimals = max(0, -math.floor(math.log10(step)))
    return min(round(lower * step, decimals), least), max(round(upper * step, decimals), most)


def _log_round(value: float, outward: int) -> float:
    """The next 1, 2 or 5 times a power of ten above (``outward = 1``) or below (``-1``) a positive number."""
    power = 10.0 ** math.floor(math.log10(value))
    steps = [float(f"{step * power:.1g}") for step in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)]
    return min(s for s in steps if s >= value) if outward > 0 else max(s for s in steps if s <= value)
