"""A first schema from public data: a public sample, or a data dictionary.

What a schema states is public, so it must not be computed from the rows it will protect: a bound is an extreme value of
somebody, and a category that one person has is that person.
"""

from __future__ import annotations

import csv
import datetime as dt
import math
import os
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, final

import narwhals as nw
import pyarrow as pa

from tacit.schema.columns import (
    KINDS,
    BooleanColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    IdColumn,
    IgnoredColumn,
    NumericColumn,
    column_from_dict,
)
from tacit.schema.csv_format import COMMA, PLAIN, POINT, UTF8, CsvFormat
from tacit.schema.errors import SchemaError, nearest, refuse_unknown
from tacit.schema.label import MOST_CLASSES, Label
from tacit.schema.schema import Schema
from tacit.schema.values import OTHER_DATE, Value, identity, needs_exact, parse_number, plain_date

PUBLIC_ONLY = """\
A schema is PUBLIC and is never charged for: make it from public data only (a public sample, a data dictionary, what
is common knowledge). If the rows this draft was made from are private, do not use it: its bounds and categories are
taken from them, and finding those privately would cost part of the privacy budget."""
"""What every draft says about itself."""

MOST_LISTED = 200
"""Texts with more distinct values than this are cut to the most frequent ones."""

NUMBERS_PER_STRAY = 10
"""Texts with so many different numbers per other text, or more, are numbers: the others say what is missing."""

TOTALS = frozenset(
    (
        "total",
        "totals",
        "grand total",
        "sum",
        "summe",
        "gesamt",
        "gesamtsumme",
        "insgesamt",
        "somme",
        "totale",
        "totaal",
    )
)
"""What the last row of an export says where it is no row, but the sum of all others."""

LOG_RATIO = 1000.0
"""Positive numbers that span this factor are drafted with log spacing."""

_DICTIONARY = ("name", "kind", "lower", "upper", "categories", "description", "granularity")


class PublicDataWarning(UserWarning):
    """A schema was drafted from rows: right only if those rows are public."""


@final
@dataclass(frozen=True)
class Draft:
    """A schema to be read and corrected by a person.

    Attributes:
        schema: the draft.
        notes: what was decided and why, one line each.
    """

    schema: Schema
    notes: tuple[str, ...]

    def to_toml(self, path: str | os.PathLike[str]) -> None:
        """Writes the schema file with the warning and the notes on top."""
        self.schema.to_toml(path, header="\n".join([PUBLIC_ONLY, "", *self.notes]))


def draft_schema(table: Any, label: str, positive: Any = None, *, public: bool = False) -> Draft:
    """Drafts a schema from a PUBLIC sample.

    Numeric bounds are the sample's, rounded outward to round numbers; texts become categories, identifiers and free
    text are left out.

    Args:
        table: the sample (pandas, polars, pyarrow, or a mapping from names to sequences).
        label: name of the label's column.
        positive: the positive class, if it is not to be the last one.
        public: states that the sample is public; otherwise :class:`PublicDataWarning` reminds of it.

    Raises:
        SchemaError: if the label is not among the columns or no schema can be made.
    """
    if not public:
        warnings.warn(PUBLIC_ONLY, PublicDataWarning, stacklevel=2)
    source = pa.table(dict(table)) if isinstance(table, Mapping) else table
    frame = nw.from_native(source, eager_only=True)
    if label not in frame.columns:
        raise SchemaError(
            "the label is not among the columns", nearest(label, frame.columns), where=f"column '{label}'"
        )
    columns: dict[str, Column] = {}
    notes: list[str] = []
    total = _total(frame)
    if total:
        frame = _without_last(frame)
        notes.append(f"the last row says {total!r} and is left out, as a sum of the others: leave it out of fits, too")
    for name in frame.columns:
        if name != label:
            columns[name], note = _draft_column(frame[name])
            notes.extend([f"{name}: {note}"] if note else [])
    target, note = _draft_label(frame[label], positive)
    return Draft(Schema(columns, target), (*notes, f"{label}: {note}"))


def _total(frame: nw.DataFrame[Any]) -> str:
    """What the last row says where it alone says that it is a total; empty where it does not."""
    for name in frame.columns if len(frame) > 2 else ():
        if frame[name].dtype == nw.String:
            *before, last = (str(value or "").strip(" :").casefold() for value in frame[name].to_list())
            if last in TOTALS and last not in before:
                return str(frame[name][-1])
    return ""


def _without_last(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """The table without its last row; what were texts for its sake alone are numbers."""
    rest = frame.head(len(frame) - 1)
    table = rest.to_arrow()
    for place, name in enumerate(frame.columns):
        last = frame[name][-1]
        if frame[name].dtype != nw.String or not (last or "").strip() or parse_number(last) is not None:
            continue
        texts = [text if text and text.strip() else None for text in rest[name].to_list()]
        numbers = [None if text is None else parse_number(text) for text in texts]
        if any(texts) and all(text is None or number is not None for text, number in zip(texts, numbers, strict=True)):
            whole = all(isinstance(number, int | None) for number in numbers)
            table = table.set_column(place, name, pa.array(numbers, pa.int64() if whole else pa.float64()))
    return nw.from_native(table, eager_only=True)


def _draft_column(series: nw.Series[Any]) -> tuple[Column, str]:
    """A column and what should be said about it."""
    dtype = series.dtype
    if dtype == nw.Boolean:
        return BooleanColumn(), ""
    if dtype.is_numeric():
        return _draft_numeric(series.name, series.drop_nulls().to_list(), len(series))
    values = [] if dtype.is_nested() else series.drop_nulls().to_list()
    if values and all(isinstance(value, dt.date) for value in values):
        return _draft_date(values)
    if dtype.is_temporal() or dtype.is_nested():
        return IgnoredColumn(), f"ignored, because {dtype} is not learned from; derive numbers or texts if it matters"
    if values and all(isinstance(value, int | float | Decimal) for value in values):
        return _draft_numeric(series.name, values, len(series))
    texts = [str(value) for value in values if str(value).strip()]
    counts = _counted(texts)
    if not counts:
        return IgnoredColumn(), "ignored, because the sample has no values"
    if _mostly(counts, OTHER_DATE.fullmatch):
        return IgnoredColumn(), "ignored, because dates are read only if they are written as 2024-12-31: rewrite them"
    if _mostly(counts, lambda text: text.count(COMMA) == 1 and parse_number(text.replace(COMMA, POINT)) is not None):
        return IgnoredColumn(), "ignored: are these numbers with a decimal comma? Then draft it with --decimal ,"
    differ = len(counts) > MOST_LISTED and len(counts) > 0.9 * len(texts)
    numbers = {text: number for text in counts if (number := parse_number(text)) is not None}
    strays = sorted(counts.keys() - numbers)
    whole = all(float(number).is_integer() for number in numbers.values())
    if strays and NUMBERS_PER_STRAY * len(strays) <= len(numbers) and not (differ and whole):
        column, note = _draft_numeric(series.name, list(numbers.values()), len(texts))
        return column, f"{note or 'read as numbers'}; missing is what spells none: {', '.join(map(repr, strays[:3]))}"
    if differ:
        return IdColumn(), f"taken for an identifier, because nearly all of {len(texts)} values differ"
    kept = sorted(sorted(counts, key=lambda text: (-counts[text], text))[:MOST_LISTED])
    missing = len(texts) < len(series)
    if {text.lower() for text in kept} <= {"true", "false"} or {text.lower() for text in kept} == {"yes", "no"}:
        return BooleanColumn(), "read as true and false"
    cut = f"the {MOST_LISTED} most frequent of {len(counts)} values are listed; the rest is 'other'"
    return CategoricalColumn(tuple(kept), missing=missing, exact=needs_exact(kept)), cut if len(
        counts
    ) > MOST_LISTED else ""


def _draft_date(values: list[dt.date]) -> tuple[Column, str]:
    """Dates by month, from the first year of the sample to the last."""
    years = [value.year for value in values]
    column = DateColumn("month", dt.date(min(years), 1, 1), dt.date(max(years), 12, 31))
    return column, "a date, by month: change granularity to year or weekday where that matters more"


def _mostly(counts: dict[str, int], holds: Callable[[str], Any]) -> bool:
    """Whether something is said of more than half of the texts."""
    return 2 * sum(count for text, count in counts.items() if holds(text)) > sum(counts.values())


def _counted(texts: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text in texts:
        key = text.strip()
        counts[key] = counts.get(key, 0) + 1
    return counts


def _draft_numeric(name: str, found: list[Any], n_rows: int) -> tuple[Column, str]:
    values = [float(value) for value in found if math.isfinite(float(value))]
    if not values:
        return IgnoredColumn(), "ignored, because the sample has no values"
    if re.search(r"(^|[_\W])id$", name, re.IGNORECASE) and len(set(values)) == n_rows > 1:
        return IdColumn(), "taken for an identifier, because of its name and because all values differ"
    least, most = min(values), max(values)
    if set(values) == {0.0, 1.0}:
        return BooleanColumn(), "0 and 1 read as false and true"
    if least > 0 and most / least >= LOG_RATIO:
        lower, upper = _log_round(least, -1), _log_round(most, 1)
        return NumericColumn(
            lower, upper, spacing="log"
        ), f"log spacing, because values span a factor {most / least:.3g}"
    lower, upper = round_outward(least, most)
    try:
        column = NumericColumn(lower, upper)
    except SchemaError as error:
        return IgnoredColumn(), f"ignored, because {error.problem}: rescale it"
    note = "the sample has one value only: widen the bounds" if least == most else ""
    return column, note


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


def _draft_label(series: nw.Series[Any], positive: Any) -> tuple[Label, str]:
    values = [value for value in series.drop_nulls().to_list() if not isinstance(value, str) or value.strip()]
    distinct: dict[str, Value] = {}
    for value in values:
        distinct.setdefault(identity(value if isinstance(value, str | bool | int) else float(value)), value)
    name = series.name
    if series.dtype.is_float() and len(distinct) > 20:
        lower, upper = round_outward(min(values), max(values))
        return Label(name, "numeric", lower=lower, upper=upper), "a numeric label; bounds rounded outward"
    if len(distinct) > MOST_CLASSES:
        raise SchemaError(f"has {len(distinct)} distinct values", "is this the label?", where=f"column '{name}'")
    classes = sorted(distinct.values(), key=lambda value: (isinstance(value, str), value))
    exact = needs_exact(classes)
    label = Label(name, "classes", tuple(classes), () if positive is None else positive, exact=exact)
    if label.positive_classes and positive is None:
        label = Label(name, "classes", tuple(classes), label.positive_classes, exact=exact)
        return label, f"{label.positive_classes[0]!r} is taken for the positive class: check it"
    return label, "classes listed as found"


def draft_from_dictionary(
    path: str | os.PathLike[str], label: str, positive: Any = None, written: CsvFormat = PLAIN
) -> Draft:
    """Drafts a schema from a data dictionary: a CSV with columns ``name, kind, lower, upper, categories, description``.

    ``categories`` are separated by ``|``; if all spell numbers, they are numbers. The label's line lists its
    classes there or gives bounds, whatever its kind. Bounds of dates are dates such as ``2020-03-31``, and a column
    ``granularity`` may say what of them counts (``month`` where it is empty).

    Raises:
        SchemaError: names the file and line.
    """
    where = os.fspath(path)
    try:
        encoding = "utf-8-sig" if written.encoding == UTF8 else written.encoding
        with Path(path).open(encoding=encoding, newline="") as file:
            header = file.readline()
            file.seek(0)
            lines = list(csv.DictReader(file, skipinitialspace=True, delimiter=written.delimiter_of(header)))
    except OSError as error:
        raise SchemaError(f"cannot be read ({error.strerror})", "give a data dictionary", where=where) from None
    except (UnicodeError, csv.Error):
        raise SchemaError(f"is not CSV in {written.encoding.upper()}", "save it as UTF-8", where=where) from None
    if not lines:
        raise SchemaError("has no lines", f"its header is {','.join(_DICTIONARY)}", where=where)
    columns: dict[str, Column] = {}
    target: Label | None = None
    for number, line in enumerate(lines, start=2):
        place = f"{where}, line {number}"
        try:
            refuse_unknown([key for key in line if key is not None], _DICTIONARY)
            if None in line:
                raise SchemaError("has more cells than the header", "put texts with commas in quotes")
            given = {key: text.strip() for key, text in line.items() if text and text.strip()}
            if written.decimal == COMMA:
                given |= {key: given[key].replace(COMMA, POINT) for key in ("lower", "upper") if key in given}
            name = given.pop("name", "")
            if not name or name in columns:
                raise SchemaError(
                    "names no column" if not name else f"names '{name}' again", "one line per column", "name"
                )
            if name == label:
                target = _label_of_line(name, given, positive)
            else:
                columns[name] = _column_of_line(given)
        except SchemaError as error:
            raise error.inside(place) from None
    if target is None:
        raise SchemaError("has no line for the label", nearest(label, columns), where=f"{where}, column '{label}'")
    return Draft(Schema(columns, target), (f"from the data dictionary {Path(path).name}",))


def _column_of_line(given: dict[str, str]) -> Column:
    kind = given.get("kind", "")
    if kind not in KINDS:
        raise SchemaError(f"unknown kind '{kind}'", nearest(kind, KINDS), "kind")
    if kind == DateColumn.kind:
        given.setdefault("granularity", "month")
    return column_from_dict(_numbers_and_lists(given))


def _label_of_line(name: str, given: dict[str, str], positive: Any) -> Label:
    fields = _numbers_and_lists(given)
    if "categories" in fields:
        return Label(name, "classes", fields["categories"], () if positive is None else positive)
    return Label(name, "numeric", lower=fields.get("lower"), upper=fields.get("upper"))


def _numbers_and_lists(given: dict[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = dict(given)
    dates = given.get("kind") == DateColumn.kind
    for bound in ("lower", "upper"):
        if bound in fields and dates:
            fields[bound] = plain_date(fields[bound], bound)
        elif bound in fields:
            number = parse_number(fields[bound])
            if number is None:
                raise SchemaError(f"'{fields[bound]}' is not a number", "write for example 17 or 0.5", bound)
            fields[bound] = number
    if "categories" in fields:
        texts = [text.strip() for text in fields["categories"].split("|")]
        numbers = [parse_number(text) for text in texts]
        spelled = all(str(number) == text for number, text in zip(numbers, texts, strict=True))
        fields["categories"] = tuple(numbers if spelled else texts)
    return fields
