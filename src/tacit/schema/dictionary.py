"""A first schema from a data dictionary."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

from tacit.schema.columns import KINDS, Column, DateColumn, column_from_dict
from tacit.schema.csv_format import COMMA, PLAIN, POINT, UTF8, CsvFormat
from tacit.schema.draft import Draft
from tacit.schema.errors import SchemaError, nearest, refuse_unknown
from tacit.schema.label import Label
from tacit.schema.schema import Schema
from tacit.schema.values import parse_number, plain_date

_DICTIONARY = ("name", "kind", "lower", "upper", "categories", "description", "granularity", "format")


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
