"""Files of rows: CSV (also compressed with gzip) and Parquet.

What a file *is* may be refused: empty, truncated, not a table, a column missing, a quote that is not closed
(:mod:`tacit.encoding.csv_lines`). What its cells hold is not: a cell of a numeric column that spells no number is
missing. Texts stay texts, so that ``02139`` keeps its zero.
"""

from __future__ import annotations

import csv
import glob
import gzip
import io
import os
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from tacit.encoding.arrow import as_texts, is_binary
from tacit.encoding.csv_lines import CheckedRows, Scanner, Structure, check_header, structure_of
from tacit.encoding.errors import DataError
from tacit.encoding.file_kinds import START, check_markup, check_start, check_unicode, check_visible
from tacit.encoding.frames import Frame
from tacit.encoding.numbers import decimal_points, parse_numbers
from tacit.schema.csv_format import COMMA, PLAIN, POINT, UTF8, CsvFormat
from tacit.schema.errors import nearest, resembles

BLOCK_BYTES = 4 << 20
"""Bytes of CSV taken apart at a time: texts of one block, not of the file, are in memory at once."""

MOST_BLOCK_BYTES = 2**31 - 1
"""The largest block there can be: where a row is longer than one, the file is read again in longer ones."""

_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
_ENDINGS = ((".parquet", "Parquet", _PARQUET), (".pq", "Parquet", _PARQUET), (".gz", "gzip", _GZIP))
"""What names promise, and the bytes that such files start with."""


def read_columns(
    path: str | os.PathLike[str],
    names: Sequence[str],
    numeric: Iterable[str] = (),
    on_rows: Callable[[int], None] | None = None,
    dialect: CsvFormat = PLAIN,
) -> Frame:
    """Reads columns by name.

    Args:
        path: a CSV file (``.gz`` too) or a Parquet file; which of them is told from its first bytes.
        names: the columns.
        numeric: those of them that are read as numbers, cell by cell.
        on_rows: called now and then with the number of rows read so far.
        dialect: how a CSV file writes its cells.

    Raises:
        DataError: one sentence that names the file and what is wrong with it.
    """
    present = column_names(path, dialect)
    check_columns(names, present, os.fspath(path))
    if is_parquet(path):
        with explained(path):
            table = _parquet(path).read(columns=list(names))
        return Frame({name: table[name] for name in names}, table.num_rows)
    numeric_names = frozenset(numeric)
    check_decimals(path, numeric_names, dialect)
    return _read_csv(path, list(names), numeric_names, on_rows, dialect)


def check_columns(names: Iterable[str], present: Sequence[str], where: str) -> None:
    """Raises :class:`DataError` unless all of ``names`` are there, once each."""
    counts = Counter(present)
    for name in names:
        if not counts[name]:
            check_visible(name, present, where)
            if f"{os.sep}{name}=" in f"{os.sep}{where}":
                raise DataError(
                    f"{where} has no column '{name}', which stands in the name of its folder: Parquet files in such "
                    "folders are read by pyarrow.dataset.dataset(..., partitioning='hive') and by DuckDB"
                )
            width = (
                f"it has {len(present):,} column{'s' if len(present) != 1 else ''} (of a CSV file the first line is "
                "the header, with no title or comment above it; --delimiter says what separates its cells)"
            )
            raise DataError(
                f"{where} has no column '{name}'; {nearest(name, present) if resembles(name, present) else width}"
            )
        if counts[name] > 1:
            raise DataError(f"{where} has two columns named '{name}'; rename one")


def check_decimals(path: str | os.PathLike[str], numeric: Collection[str], dialect: CsvFormat = PLAIN) -> None:
    """Raises :class:`DataError` where numbers are to be read and whether they have decimal commas is a guess.

    Looks at the first line of a CSV file alone, which is public as the names in it are, and at what was said: whether
    cells hold numbers must not decide whether a fit takes place. Semicolons are what spreadsheets part cells with where
    commas are in numbers; read with points, all of those would be missing, and a budget spent on that.
    """
    if dialect.said or not numeric or is_parquet(path):
        return
    with explained(path, dialect=dialect):
        mark = dialect.delimiter_of(_header(path, dialect))
    if mark == ";":
        raise DataError(
            f"{os.fspath(path)} parts its cells with semicolons, as files do whose numbers have decimal commas, and "
            "nobody said what these have: give decimal ',' (24,5) or '.' (24.5), on the command line --decimal"
        )


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether a file is Parquet (else CSV), told from its first bytes; errors as in :func:`read_columns`."""
    return _starts(path).startswith(_PARQUET)


def is_gzip(path: str | os.PathLike[str]) -> bool:
    """Whether a file is packed with gzip; errors as in :func:`read_columns`."""
    return _starts(path).startswith(_GZIP)


def _parquet(path: str | os.PathLike[str]) -> Any:
    from pyarrow import parquet  # brings clients of remote stores with it, which a CSV file need not wait for

    return parquet.ParquetFile(path)


def parquet_types(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The type of each column of a Parquet file, which is public; errors as in :func:`read_columns`."""
    with explained(path):
        return {field.name: field.type for field in _parquet(path).schema_arrow}


def parquet_groups(path: str | os.PathLike[str]) -> list[int]:
    """How many rows each row group of a Parquet file has; errors as in :func:`read_columns`."""
    with explained(path):
        facts = _parquet(path).metadata
        return [facts.row_group(number).num_rows for number in range(facts.num_row_groups)]


def parquet_chunks(
    path: str | os.PathLike[str], names: Sequence[str], rows: int, groups: Sequence[int] | None = None
) -> Iterator[Frame]:
    """The rows of a Parquet file, or of some row groups, so many at a time; errors as in :func:`read_columns`."""
    with explained(path):
        group_list, file = None if groups is None else list(groups), _parquet(path)
        check_columns(names, file.schema_arrow.names, os.fspath(path))  # it may have changed since it was checked
        for batch in file.iter_batches(batch_size=rows, columns=list(names), row_groups=group_list):
            yield Frame({name: batch.column(name) for name in names}, batch.num_rows)


def column_names(path: str | os.PathLike[str], dialect: CsvFormat = PLAIN) -> list[str]:
    """The names a file gives its columns, which are public; errors as in :func:`read_columns`."""
    if is_parquet(path):
        with explained(path):
            return list(_parquet(path).schema_arrow.names)
    with explained(path, dialect=dialect):
        line = _header(path, dialect).rstrip("\r\n")
        mark = dialect.delimiter_of(line)
        scanner = Scanner(mark, False, os.fspath(path))  # a header is one line, whatever rows may be
        for part in (line.encode("utf-8", "surrogatepass"), b""):
            scanner.check(part)
        names = next(csv.reader([line], delimiter=mark), [])
    check_header(os.fspath(path), line, names, dialect)
    if not any(name.strip() for name in names):
        raise DataError(f"{os.fspath(path)} has no names in its first line; a CSV file starts with its column names")
    return names


def read_sample(path: str | os.PathLike[str], dialect: CsvFormat = PLAIN) -> pa.Table:
    """A PUBLIC sample as a fit reads it: a CSV file as texts, a Parquet file with its types; not for private rows.

    Columns without a name are left out, and binary ones are texts. Errors as in :func:`read_columns`.
    """
    names = [name for name in column_names(path, dialect) if name.strip()]
    if not is_parquet(path) and not _header(path, dialect).endswith(("\n", "\r")):  # names, and not one row
        raise DataError(f"{os.fspath(path)} cannot be read as a table")
    frame = read_columns(path, names, dialect=replace(dialect, decimal=POINT))
    return pa.table({name: _readable(frame.column(name)) for name in names})


def _readable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without dictionaries, and binary values as the texts that a fit makes of them."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return as_texts(column).cast(pa.string()) if is_binary(column.type) else column


def _read_csv(
    path: str | os.PathLike[str],
    names: list[str],
    numeric: frozenset[str],
    on_rows: Callable[[int], None] | None,
    dialect: CsvFormat,
) -> Frame:
    parts: dict[str, list[Any]] = {name: [] for name in names}
    n_rows = 0
    for chunk in csv_chunks(path, names, numeric, dialect):
        for name in names:
            parts[name].append(chunk.column(name))
        n_rows += chunk.n_rows
        if on_rows is not None and n_rows:
            on_rows(n_rows)
    columns: dict[str, Any] = {}
    for name in names:  # one column at a time, so that only one is held twice
        chunks = parts.pop(name)
        if name in numeric:
            columns[name] = np.concatenate(chunks) if chunks else np.empty(0)
        else:
            columns[name] = pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string()))
    return Frame(columns, n_rows)


def csv_chunks(
    path: str | os.PathLike[str], names: Sequence[str], numeric: frozenset[str], dialect: CsvFormat = PLAIN
) -> Iterator[Frame]:
    """The rows of a CSV file, block by block; errors as in :func:`read_columns`.

    How long a row is depends on what it holds, and one person's long text must not decide whether a fit fails: where
    one is longer than a block, the file is read again in longer ones, from the row on that was to come.
    """
    with explained(path, dialect=dialect):
        if not _header(path, dialect).endswith(("\n", "\r")):  # one line without an end: names, and no rows
            return
        is_alone = len(column_names(path, dialect)) == 1
    rows, block = 0, BLOCK_BYTES
    while True:
        with explained(path, block, dialect):
            try:
                for chunk in _csv_blocks(path, names, numeric, is_alone, block, dialect, rows):
                    rows += chunk.n_rows
                    yield chunk
                return
            except pa.ArrowInvalid:  # of a row that is longer than a block
                if block >= MOST_BLOCK_BYTES:
                    raise
        block = min(4 * block, MOST_BLOCK_BYTES)


def _csv_blocks(
    path: str | os.PathLike[str],
    names: Sequence[str],
    numeric: frozenset[str],
    keep_empty_lines: bool,
    block: int,
    dialect: CsvFormat,
    skip: int,
) -> Iterator[Frame]:
    """Blocks of so many bytes, but for the first ``skip`` rows."""
    with _rows(path, dialect) as stream:
        batches = pa_csv.open_csv(
            stream,
            read_options=pa_csv.ReadOptions(block_size=block),
            parse_options=pa_csv.ParseOptions(
                delimiter=dialect.delimiter_of(_header(path, dialect)),
                newlines_in_values=dialect.multiline,
                ignore_empty_lines=not keep_empty_lines,
            ),
            convert_options=pa_csv.ConvertOptions(
                include_columns=list(names),
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )
        for batch in batches:
            _check_text(batch)
            rest = batch.slice(min(skip, batch.num_rows))
            skip -= batch.num_rows - rest.num_rows
            yield Frame({name: _cells(rest[name], name in numeric, dialect) for name in names}, rest.num_rows)


def _check_text(batch: pa.RecordBatch) -> None:
    """Here and not by the reader, whose type of error for it is that for a row longer than a block."""
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        raise UnicodeError from None


def _cells(texts: pa.Array, numeric: bool, dialect: CsvFormat) -> Any:
    """A column of a block: numbers, or texts that are kept once each."""
    if numeric:
        return parse_numbers(texts, dialect.decimal)
    return (decimal_points(texts) if dialect.decimal == COMMA else texts).dictionary_encode()


def _starts(path: str | os.PathLike[str]) -> bytes:
    with explained(path), Path(path).open("rb") as file:
        start = file.read(START)
    where = os.fspath(path)
    if not start:
        raise DataError(f"{where} is empty")
    for ending, what, sign in _ENDINGS:
        if where.lower().endswith(ending) and not start.startswith(sign):
            raise DataError(f"{where} is no {what} file, whatever its name says")
    check_start(where, start)
    return start


@contextmanager
def unpacked(path: str | os.PathLike[str]) -> Iterator[Any]:
    """The bytes of a file, of a packed one those inside."""
    with gzip.open(path) if is_gzip(path) else Path(path).open("rb") as stream:
        yield stream


@contextmanager
def _rows(path: str | os.PathLike[str], dialect: CsvFormat, checked: bool = True) -> Iterator[CheckedRows]:
    """The bytes of a CSV file in UTF-8; where they are ``checked``, the first fault of its structure is an error."""
    scanner = _scanner(path, dialect) if checked else None
    with pa.input_stream(os.fspath(path), compression="gzip" if is_gzip(path) else None) as raw:
        yield CheckedRows(raw, dialect, scanner)


def _scanner(path: str | os.PathLike[str], dialect: CsvFormat) -> Scanner:
    return Scanner(dialect.delimiter_of(_header(path, dialect)), dialect.multiline, os.fspath(path))


def structure(path: str | os.PathLike[str], dialect: CsvFormat = PLAIN) -> Structure:
    """Rows, cells with line breaks, and faults of a CSV file; errors as in :func:`read_columns`."""
    with explained(path, dialect=dialect), _rows(path, dialect, checked=False) as stream:
        return structure_of(stream, _scanner(path, dialect))


def _header(path: str | os.PathLike[str], dialect: CsvFormat = PLAIN) -> str:
    """The first line with its end, of a compressed file too."""
    where, encoding = os.fspath(path), "utf-8-sig" if dialect.encoding == UTF8 else dialect.encoding
    with unpacked(path) as raw:
        start = raw.read(START)
        check_start(where, start, packed=is_gzip(path))
        check_unicode(where, start[:32], dialect.encoding)
        raw.seek(0)
        with io.TextIOWrapper(raw, encoding) as file:
            line = file.readline(1 << 20)
    if not line:
        raise DataError(f"{where} is empty")
    check_markup(where, line)
    return line


@contextmanager
def explained(path: str | os.PathLike[str], block: int = 0, dialect: CsvFormat = PLAIN) -> Iterator[None]:
    """Turns what the readers below raise into one sentence without a cell of the file in it."""
    where = os.fspath(path)
    try:
        yield
    except FileNotFoundError:
        pattern = "; one file is read here, and no pattern of several" if glob.has_magic(where) else ""
        raise DataError(f"{where} does not exist{pattern}") from None
    except IsADirectoryError:
        raise DataError(f"{where} is a folder; one file is read here, CSV or Parquet") from None
    except PermissionError as error:
        raise DataError(f"{where} cannot be read: {error.strerror}") from None
    except UnicodeError:
        what, more = dialect.encoding, ""
        if what == UTF8:
            what, more = "UTF-8", ", or give its encoding, such as windows-1252 (Western Europe) or gb18030 (Chinese)"
        raise DataError(f"{where} is not {what} text; save it as UTF-8{more}") from None
    except csv.Error:
        raise DataError(f"{where} has a name of a column that is too long") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(f"{where} is a damaged or truncated gzip file") from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{where} {_reason(path, error, block)}") from None


def _reason(path: str | os.PathLike[str], error: Exception, block: int) -> str:
    """Told from what the file is and where its reader gave up: pyarrow has one type of error for all."""
    if is_parquet(path):
        return "is a damaged Parquet file"
    if isinstance(error, pa.ArrowInvalid) and block:
        return f"has a row longer than {block >> 20} MB"
    return "is a damaged or truncated gzip file" if is_gzip(path) else "cannot be read as a table"
