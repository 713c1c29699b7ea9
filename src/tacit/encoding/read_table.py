"""`read_table`: a file of rows as an Arrow table, read cell by cell; the way of the command line for Python."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.encoding.errors import DataError
from tacit.encoding.frames import UNTYPED
from tacit.encoding.read import column_names, is_parquet, read_columns
from tacit.privacy.request import declared_schema
from tacit.schema import Schema
from tacit.schema.columns import is_plain_number
from tacit.schema.csv_format import COMMA, POINT, UTF8, CsvFormat


def read_table(
    path: str | os.PathLike[str],
    schema: Schema | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    columns: Sequence[str] | None = None,
    encoding: str = UTF8,
    delimiter: str | None = None,
    decimal: str | None = None,
    multiline: bool = False,
) -> pa.Table:
    r"""Reads a table row by row: what a cell becomes depends on that cell and the schema alone.

    A reader that makes types from rows, such as ``pandas.read_csv``, does not: one text among numbers makes a column of
    texts, one gap makes floats of integers, ``007`` becomes ``7``. Differential privacy is a promise about the way from
    rows to model, and that way begins with the file; this is how ``tacit fit`` reads it, too.

    Numeric columns of the schema become floats, NaN where a cell spells no number in plain decimal notation; all others
    stay texts. ``NA``, ``null`` and the like are texts like any other; only empty cells are missing. Without a schema
    all are texts, and a fit asks what they stand for and pays for that. The columns of a Parquet file keep its types,
    which are public: they must not come from the rows.

    Args:
        path: a CSV file (``.gz`` too; commas, semicolons or tabs) or a Parquet file.
        schema: says which columns are read and which of them are numbers: a schema, its dictionary, or its file. Its
            label and its unit are read where the file has them.
        columns: which columns to read; by default those of the schema, or all.
        encoding: of a CSV file: ``"utf-8"``, or for example ``"latin-1"`` or ``"windows-1252"``.
        delimiter: what parts its cells; by default the comma, semicolon or tab that its header has most of.
        decimal: ``","`` where its numbers have a decimal comma; a number with a point then counts as missing. None is a
            point, and refused where the header's names are parted by semicolons, as files with decimal commas have it,
            and the schema declares numbers: then say ``"."`` or ``","``.
        multiline: whether quoted cells of a CSV file may hold line breaks. By default each ends in its line, so that no
            line changes how another is read; with line breaks a quote that is never closed reaches into other rows,
            and only a file that a program wrote is safe.

    Returns:
        The table, columns in the order of the schema: features, label, unit. ``table.drop_columns("y")`` and
        ``table["y"]`` are what ``fit`` takes; ``table.to_pandas()`` is a data frame of the same cells.

    Raises:
        ValueError: one sentence that names the file and what is wrong with it; never what a cell holds.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tacit import read_table
        >>> path = Path(tempfile.mkdtemp(), "rows.csv")
        >>> _ = path.write_text("age,sick\n44,yes\n61,no\n")
        >>> schema = {"label": {"column": "sick", "classes": ["no", "yes"]},
        ...           "columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100}}}
        >>> table = read_table(path, schema)
        >>> print(table.num_rows, table.drop_columns("sick").column_names)
        2 ['age']
    """
    dialect = csv_format(encoding, delimiter, decimal, multiline)
    declared = declared_schema(schema)
    present = column_names(path, dialect)
    names, numeric = _wanted(declared, present)
    if columns is not None:
        names = list(columns)
    frame = read_columns(path, names, [name for name in numeric if name in names], dialect=dialect)
    vectors = {name: frame.column(name) for name in frame.names}
    table = pa.table({name: pa.array(v) if isinstance(v, np.ndarray) else v for name, v in vectors.items()})
    untyped = declared is None and not is_parquet(path)
    return table.replace_schema_metadata(dict(UNTYPED)) if untyped else table


_NOT_BY_CHARACTER = re.compile(r"punycode|idna|undefined|mbcs|oem|hz|utf.?7|iso2022.*|(raw.)?unicode.escape")
"""Codecs in which a character depends on those before it, so that a line could change the next one; or of no text."""


def csv_format(
    encoding: str = UTF8, delimiter: str | None = None, decimal: str | None = None, multiline: bool = False
) -> CsvFormat:
    """How a CSV file is written; raises :class:`DataError` where none can be written so."""
    try:
        name = codecs.lookup(encoding).name
        "a".encode(name)  # raises LookupError for codecs that make no text: hex, rot13, zip
        usable = not _NOT_BY_CHARACTER.fullmatch(name)
    except (LookupError, TypeError, ValueError):
        usable = False
    if not usable:
        raise DataError(
            f"encoding {encoding!r} is not one of text files; give one such as 'utf-8', 'latin-1' or 'windows-1252'"
        )
    if decimal not in (POINT, COMMA, None):
        raise DataError(f"decimal must be '.' or ',', what numbers have before their fractions; got {decimal!r}")
    mark = "\t" if delimiter in ("tab", "\\t") else delimiter
    if mark is not None and (len(mark) != 1 or not mark.isascii() or mark in '"\r\n'):
        raise DataError(f"delimiter must be one character such as ';', or 'tab'; got {delimiter!r}")
    plain = UTF8 if name in (UTF8, "utf-8-sig", "ascii") else name
    return CsvFormat(plain, mark, decimal or POINT, said=decimal is not None, multiline=bool(multiline))


def _wanted(schema: Schema | None, present: Sequence[str]) -> tuple[list[str], list[str]]:
    """Which columns to read, and which of them are numbers."""
    if schema is None:
        return list(present), []
    names = list(schema.features)
    numeric = [name for name in names if is_plain_number(schema.columns[name])]
    if schema.label is not None and schema.label.column in present:
        names.append(schema.label.column)
        numeric += [schema.label.column] if schema.label.is_plain_number else []
    if schema.unit is not None and schema.unit.column in present and schema.unit.column not in names:
        names.append(schema.unit.column)
    return names, numeric
