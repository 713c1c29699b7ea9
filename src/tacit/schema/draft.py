"""First schemas: from a public sample, or from a data dictionary.

What a schema states is public, so it must not be computed from the rows it will protect: a bound is an extreme value of
somebody, and a category that one person has is that person.
"""

from __future__ import annotations

import csv
import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, final

import narwhals as nw
import pyarrow as pa

from tacit.schema.alike import spelled_apart
from tacit.schema.cell_format import CellFormat
from tacit.schema.columns import KINDS, Column, DateColumn, column_from_dict
from tacit.schema.csv_format import COMMA, PLAIN, POINT, UTF8, CsvFormat, are_cells
from tacit.schema.draft_columns import Cells, Reading, cells_of, draft_column, round_outward
from tacit.schema.errors import SchemaError, nearest, refuse_unknown
from tacit.schema.identifier_names import tells_apart
from tacit.schema.identifiers import Verdict, evident, judge
from tacit.schema.label import MOST_CLASSES, Label
from tacit.schema.notations import rewriting
from tacit.schema.schema import Schema
from tacit.schema.spellings import MARKS, Spelled, far_marks, leading_zeros, marks_among, spelled
from tacit.schema.times import as_times, date_format
from tacit.schema.values import Value, needs_exact, parse_number, plain_date

PUBLIC_ONLY = """\
A schema is PUBLIC and is never charged for: make it from public data only (a public sample, a data dictionary, what
is common knowledge). If the rows this draft was made from are private, do not use it: its bounds and categories are
taken from them, and finding those privately would cost part of the privacy budget."""
"""What every draft says about itself."""

_TOTALS = "total,totals,grand total,sum,summe,gesamt,gesamtsumme,insgesamt,somme,totale,totaal"
TOTALS = frozenset(_TOTALS.split(","))
"""What the last row of an export says where it is no row, but the sum of all others."""

NUMERIC_FROM = 20
"""A label of more different numbers than this is a number, unless somebody says otherwise."""

MOST_HEADERS = 20
"""One row in so many may be the header once more, as in files that were put together."""

LEAST_ROWS = 200
"""Rows from which on a class that one of them has may be a slip."""

MOST_HEADS, FIRST_ROWS = 3, 200
"""Rows below the header that may be heads, too; and rows by which that is judged."""

MOST_REASONS = 20
"""Columns of which an error says why they were left out."""

NO_HEADER = "the first line holds values, where names of columns should stand"


class PublicDataWarning(UserWarning):
    """A schema was drafted from rows: right only if those rows are public."""


@final
@dataclass(frozen=True)
class Draft:
    """A schema to be read and corrected by a person.

    Attributes:
        schema: the draft.
        notes: what was decided and why, or is doubtful, one line each.
    """

    schema: Schema
    notes: tuple[str, ...]

    def to_toml(self, path: str | os.PathLike[str]) -> None:
        """Writes the schema file with the warning and the notes on top."""
        self.schema.to_toml(path, header="\n".join([PUBLIC_ONLY, "", *self.notes]))


def draft_schema(
    table: Any,
    label: str,
    positive: Any = None,
    *,
    public: bool = False,
    kind: str | None = None,
    decimal: str = POINT,
    thousands: str = "",
) -> Draft:
    """Drafts a schema from a PUBLIC sample.

    Numeric bounds are the sample's, rounded outward to round numbers; texts become numbers, dates or categories;
    identifiers and free text are left out.

    Args:
        table: the sample (pandas, polars, pyarrow, or a mapping from names to sequences).
        label: name of the label's column.
        positive: the positive class, if it is not to be the last one.
        public: states that the sample is public; otherwise :class:`PublicDataWarning` reminds of it.
        kind: of the label, ``"classes"`` or ``"numeric"``; by default told from its values.
        decimal: what numbers among texts have before their fractions, a point or a comma.
        thousands: what they have between groups of three digits; empty to draft only what is beyond doubt.

    Raises:
        SchemaError: if the label is not among the columns, the columns have no names, or no schema can be made.
    """
    if not public:
        warnings.warn(PUBLIC_ONLY, PublicDataWarning, stacklevel=2)
    source = pa.table(dict(table)) if isinstance(table, Mapping) else table
    frame = nw.from_native(source, eager_only=True)
    if are_cells(frame.columns):
        raise SchemaError(NO_HEADER, "write a line of names on top")
    if label not in frame.columns:
        raise SchemaError(
            "the label is not among the columns", nearest(label, frame.columns), where=f"column '{label}'"
        )
    frame, notes = _only_rows(frame)
    reading, columns = Reading(decimal, thousands), dict[str, Column]()
    counted = [cells_of(frame[name]) for name in frame.columns]
    again = [cells.name.strip() in cells.texts for cells in counted if cells.kind == "text"]
    if any(again) and 2 * sum(again) >= len(again):
        raise SchemaError(NO_HEADER, "write a line of names on top")
    for cells in counted:
        if cells.name == label:
            target, about = _draft_label(cells, positive, kind, reading)
            about += "; may it tell persons apart? Then predict the year, or the region" if tells_apart(label) else ""
        else:
            columns[cells.name], note = draft_column(cells, reading)
            notes.extend([f"{cells.name}: {note}"] if note else [])
    if columns and not any(column.is_feature for column in columns.values()):
        reasons = "\n  ".join(notes[:MOST_REASONS])
        raise SchemaError(f"no column to learn from; correct the sample, whose columns are all left out:\n  {reasons}")
    return Draft(Schema(columns, target), (*notes, f"{label}: {about}"))


def _only_rows(frame: nw.DataFrame[Any]) -> tuple[nw.DataFrame[Any], list[str]]:
    """The table without a total in its last row and without its header among its rows; what was left out."""
    notes = []
    texts = [name for name in frame.columns if frame[name].dtype == nw.String]
    if len(texts) == len(frame.columns) and len(frame):
        same = reduce(lambda left, right: left & right, [frame[name].str.strip_chars() == name for name in texts])
        again = int(same.fill_null(False).sum())
        if 0 < again <= max(1, len(frame) // MOST_HEADERS):  # of more, the header is a row
            frame = frame.filter(~same.fill_null(False))
            times = "once more" if again == 1 else f"{again} times more"
            notes.append(f"the header stands among the rows {times} and is left out: delete those lines")
    frame, heads = _without_heads(frame, texts)
    notes += heads
    for name in texts if len(frame) > 2 else ():
        *before, last = (str(value or "").strip(" :").casefold() for value in frame[name].to_list())
        if last in TOTALS and last not in before:
            note = f"the last row says {str(frame[name][-1])!r} and is left out, as a sum of the others"
            return frame.head(len(frame) - 1), [*notes, f"{note}: leave it out of fits, too"]
    return frame, notes


def _without_heads(frame: nw.DataFrame[Any], texts: list[str]) -> tuple[nw.DataFrame[Any], list[str]]:
    """The table without rows of units or further names below its header, and the note about them."""
    columns = [[str(value or "").strip() for value in frame[name].head(FIRST_ROWS).to_list()] for name in texts]
    below = [Counter(text for text in cells[MOST_HEADS:] if text and text.casefold() not in MARKS) for cells in columns]
    heads: list[str] = []
    for row in zip(*(cells[:MOST_HEADS] for cells in columns), strict=True) if len(texts) == len(frame.columns) else ():
        if not _is_head(row, below):
            break
        heads.append(next(filter(None, row)))
    if not heads:
        return frame, []
    one = len(heads) == 1
    what, end = ("the first row holds", "is") if one else (f"the first {len(heads)} rows hold", "are")
    note = f"{what} no values, but units or names such as {heads[0][:20]!r}, and {end} left out: delete such lines"
    return frame.tail(len(frame) - len(heads)), [note]


def _is_head(row: Sequence[str], below: Sequence[Counter[str]]) -> bool:
    """Whether a row has words above columns of numbers or dates alone, and nothing that is a value below."""
    words = 0
    for first, rest in zip(row, below, strict=True):
        is_value = parse_number(first) is not None or date_format({first: 1}) is not None
        if is_value or first in rest or first.casefold() in MARKS:
            return False
        measured = len(rest) > 2 and (all(parse_number(text) is not None for text in rest) or bool(date_format(rest)))
        words += bool(first) and measured
    return words > 0


def _draft_label(cells: Cells, positive: Any, kind: str | None, reading: Reading) -> tuple[Label, str]:
    """The label, and what should be said about it."""
    name, where = cells.name, f"column '{cells.name}'"
    spelling = spelled(cells.texts, reading.decimal, reading.thousands) if cells.texts else None
    counts = {text: count for text, count in cells.texts.items() if text.casefold() not in MARKS} or cells.numbers
    verdict = evident(name, list(counts), sum(counts.values())) if kind is None else Verdict()
    if verdict.is_identifier:
        raise _identifies(verdict, where, "")
    numbers = set(map(float, cells.numbers)) or (set(spelling.numbers.values()) if spelling else set())
    distinct = len(cells.texts) or len(cells.numbers)
    if kind == "numeric" and not numbers:
        raise SchemaError("spells no numbers", (spelling and spelling.note) or "is this the label?", where=where)
    if kind == "numeric" or (kind is None and len(numbers) > NUMERIC_FROM):
        return _draft_number(cells, spelling)
    if distinct > MOST_CLASSES:
        raise SchemaError(f"has {distinct} distinct values", "is this the label?", where=where)
    verdict = judge(name, list(counts), sum(counts.values()))
    if verdict.is_identifier or verdict.asks_identifier:
        raise _identifies(verdict, where, ", or give --kind numeric" if numbers else "")
    classes = _classes(cells)
    if len(classes) < 2:
        what = "no value in any row" if not classes else f"one value in every row that has any, {classes[0]!r}"
        raise SchemaError(
            f"holds {what}", "is this the label? If it is, write its two or more classes by hand", where=where
        )
    exact = needs_exact(classes)
    label = Label(name, "classes", classes, () if positive is None else positive, exact=exact)
    doubt = _doubt_of_classes(cells, classes) or ("give --kind numeric if it is a quantity" if len(numbers) > 2 else "")
    quantity = f"; {doubt}" if doubt else ""
    if label.positive_classes and positive is None:
        label = Label(name, "classes", classes, label.positive_classes, exact=exact)
        return label, f"{label.positive_classes[0]!r} is taken for the positive class: check it{quantity}"
    return label, f"classes listed as found{quantity}"


def _identifies(verdict: Verdict, where: str, other: str) -> SchemaError:
    reason = verdict.reason.removesuffix(": is it an identifier?")
    hint = 'is this the label? If it is, write its classes by hand, with allow = "identifier"'
    return SchemaError(f"looks like an identifier ({reason})", hint + other, where=where)


def _doubt_of_classes(cells: Cells, classes: tuple[Value, ...]) -> str:
    """The one question about classes: some look alike, say that a label is missing, or hardly occur."""
    texts = list(map(str, classes))
    rare = next((text for text, count in cells.texts.items() if count == 1 and cells.rows >= LEAST_ROWS), "")
    stray = f"{rare!r} stands in one of {cells.rows} rows: is it a class?" if rare else ""
    return spelled_apart(texts) or marks_among(texts) or rewriting(cells.texts, POINT, "") or stray


def _draft_number(cells: Cells, spelling: Spelled | None) -> tuple[Label, str]:
    """A numeric label, and what should be said about it; ``spelling`` is what texts spell."""
    counts = Counter[float]()
    for value, count in (cells.texts if spelling else cells.numbers).items():
        if spelling is None or value in spelling.numbers:
            counts[float(value if spelling is None else spelling.numbers[str(value)])] += count
    marks = far_marks(sorted(counts), counts)
    numbers = {number for number in counts if number not in marks}
    lower, upper = round_outward(min(numbers), max(numbers))
    cell_format = CellFormat() if spelling is None else spelling.cell_format
    label = Label(
        cells.name,
        "numeric",
        lower=lower,
        upper=upper,
        missing_values=marks,
        symbol=cell_format.symbol,
        thousands=cell_format.thousands,
    )
    notes = ["a numeric label; bounds rounded outward"]
    if all(number.is_integer() for number in numbers):
        how = "some of its numbers begin with zeros" if leading_zeros(cells.texts) else "its numbers are whole"
        notes.append(f"{how}: give --kind classes if they are codes")
    notes.extend([spelling.note] if spelling is not None and spelling.note else [])
    verdict = judge(cells.name, list(counts), sum(counts.values()), counts.values())
    notes.extend(filter(None, [as_times(cells.name, sorted(counts)) or verdict.reason]))
    if marks:
        listed = ", ".join(f"{mark:.12g}" for mark in marks)
        notes.append(f"{listed} taken for missing: leave missing_values out if it is a value")
    return label, "; ".join(notes)


def _classes(cells: Cells) -> tuple[Value, ...]:
    """The distinct values of a label, sorted; texts that are how Python writes whole numbers are numbers."""
    if cells.kind == "truth":
        return (False, True)
    if cells.numbers:
        return tuple(sorted(int(number) if float(number).is_integer() else number for number in cells.numbers))
    digits = all(text.lstrip("-").isdecimal() and str(int(text)) == text for text in cells.texts)
    return tuple(sorted(map(int, cells.texts))) if digits else tuple(sorted(cells.texts))


_DICTIONARY = ("name", "kind", "lower", "upper", "categories", "description", "granularity", "format")


def draft_from_dictionary(
    path: str | os.PathLike[str], label: str, positive: Any = None, dialect: CsvFormat = PLAIN
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
        encoding = "utf-8-sig" if dialect.encoding == UTF8 else dialect.encoding
        with Path(path).open(encoding=encoding, newline="") as file:
            header = file.readline()
            file.seek(0)
            lines = list(csv.DictReader(file, skipinitialspace=True, delimiter=dialect.delimiter_of(header)))
    except OSError as error:
        raise SchemaError(f"cannot be read ({error.strerror})", "give a data dictionary", where=where) from None
    except (UnicodeError, csv.Error):
        raise SchemaError(f"is not CSV in {dialect.encoding.upper()}", "save it as UTF-8", where=where) from None
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
            facts = {key: text.strip() for key, text in line.items() if text and text.strip()}
            if dialect.decimal == COMMA:
                facts |= {key: facts[key].replace(COMMA, POINT) for key in ("lower", "upper") if key in facts}
            name = facts.pop("name", "")
            if not name or name in columns:
                raise SchemaError(
                    "names no column" if not name else f"names '{name}' again", "one line per column", "name"
                )
            if name == label:
                target = _label_of_line(name, facts, positive)
            else:
                columns[name] = _column_of_line(facts)
        except SchemaError as error:
            raise error.inside(place) from None
    if target is None:
        raise SchemaError("has no line for the label", nearest(label, columns), where=f"{where}, column '{label}'")
    return Draft(Schema(columns, target), (f"from the data dictionary {Path(path).name}",))


def _column_of_line(facts: dict[str, str]) -> Column:
    kind = facts.get("kind", "")
    if kind not in KINDS:
        raise SchemaError(f"unknown kind '{kind}'", nearest(kind, KINDS), "kind")
    if kind == DateColumn.kind:
        facts.setdefault("granularity", "month")
    return column_from_dict(_numbers_and_lists(facts))


def _label_of_line(name: str, facts: dict[str, str], positive: Any) -> Label:
    fields = _numbers_and_lists(facts)
    if "categories" in fields:
        return Label(name, "classes", fields["categories"], () if positive is None else positive)
    return Label(name, "numeric", lower=fields.get("lower"), upper=fields.get("upper"))


def _numbers_and_lists(facts: dict[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = dict(facts)
    dates = facts.get("kind") == DateColumn.kind
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
