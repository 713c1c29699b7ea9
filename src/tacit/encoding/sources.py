"""Where rows are that do not fit into memory: files, folders, queries, read in chunks as often as it takes.

What a source *is* may be refused: a file that is missing, parts of different columns, a query that fails. What its
cells hold is not. A chunk says nothing of the rows: they are cut by size, and no answer depends on where.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import pyarrow as pa

from tacit.encoding.errors import DataError
from tacit.encoding.folders import check_copies, files_of
from tacit.encoding.frames import Frame
from tacit.encoding.read import (
    check_columns,
    check_decimals,
    column_names,
    csv_chunks,
    is_parquet,
    parquet_chunks,
    parquet_groups,
    parquet_types,
    read_columns,
)
from tacit.schema.csv_format import PLAIN, CsvFormat

CHUNK_ROWS = 1 << 18
"""Rows that are read at a time, where a reader can say."""

DUCKDB = "duckdb:"
"""How the URL of a database of DuckDB begins."""

UNTYPED_FORMATS = ("csv", "json")
"""Files of a data set whose rows say what types they have."""


class Reader(ABC):
    """A table that is read in chunks of rows, always in the same order."""

    @property
    @abstractmethod
    def name(self) -> str:
        """For messages; no password is in it."""

    @abstractmethod
    def columns(self) -> list[str]:
        """The names of the columns, which are public."""

    @abstractmethod
    def empty(self, names: Sequence[str], numeric: frozenset[str]) -> Frame:
        """Columns without rows, of the types that :meth:`chunks` has; raises if any part of the table has others."""

    @abstractmethod
    def chunks(self, names: Sequence[str], numeric: frozenset[str]) -> Iterator[Frame]:
        """The rows of some columns; ``numeric`` ones are read as numbers where the table has texts."""

    @abstractmethod
    def state(self) -> str | None:
        """What changes when the rows may have; None where nothing tells."""

    def unfit(self) -> str:
        """Why no fit may read it (rows make its types, or one another), and what to do; else empty."""
        return ""

    def parts(self) -> Sequence[Reader]:
        """Tables whose rows, one after the other, are those of this one; each can be read in another process."""
        return [self]

    def count(self, names: Sequence[str]) -> int:
        """How many rows there are. Private, unless the relation says otherwise."""
        return sum(chunk.n_rows for chunk in self.chunks(list(names)[:1], frozenset()))


@final
@dataclass(frozen=True)
class FileReader(Reader):
    """Files of one kind, CSV (also with gzip) or Parquet, whose rows follow one another.

    ``where`` is what the user named. Of a single Parquet file ``groups`` are the row groups that are read; None for
    all.
    """

    paths: tuple[Path, ...]
    dialect: CsvFormat = PLAIN
    where: str = ""
    groups: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        return self.where or str(self.paths[0])

    def columns(self) -> list[str]:
        return column_names(self.paths[0], self.dialect)

    def empty(self, names: Sequence[str], numeric: frozenset[str]) -> Frame:
        parquet = is_parquet(self.paths[0])
        for path in self.paths:
            if is_parquet(path) != parquet:
                raise DataError(
                    f"{path} and {self.paths[0]} are of different kinds; a source is all CSV or all Parquet"
                )
            check_columns(names, column_names(path, self.dialect), str(path))
            check_decimals(path, numeric, self.dialect)
        check_copies(self.paths)
        if not parquet:
            texts = pa.nulls(0, pa.string())
            return Frame({name: np.empty(0) if name in numeric else texts for name in names}, 0)
        types = [parquet_types(path) for path in self.paths]
        return Frame({name: pa.nulls(0, self._type_of(name, [of[name] for of in types])) for name in names}, 0)

    def _type_of(self, name: str, types: Sequence[pa.DataType]) -> pa.DataType:
        """The type of a column in all files; where it is null in one, that file has none of its values."""
        declared = [(kind, path) for kind, path in zip(types, self.paths, strict=True) if kind != pa.null()]
        for kind, path in declared[1:]:
            if _family(kind) != _family(declared[0][0]):
                raise DataError(
                    f"column '{name}' is {kind} in {path}, and {declared[0][0]} in {declared[0][1]}: "
                    "all files of a source need the same types"
                )
        return _common([kind for kind, _ in declared])

    def chunks(self, names: Sequence[str], numeric: frozenset[str]) -> Iterator[Frame]:
        for path in self.paths:
            before = _stamp(path)
            if is_parquet(path):
                yield from parquet_chunks(path, names, CHUNK_ROWS, self.groups)
            else:
                yield from csv_chunks(path, names, numeric, self.dialect)
            if _stamp(path) != before:
                raise DataError(f"{path} changed while it was read")

    def state(self) -> str | None:
        return _digest([repr(self.dialect), *(_stamp(path, kept=True) for path in self.paths)])

    def parts(self) -> Sequence[Reader]:
        return [part for path in self.paths for part in self._parts_of(path)]

    def _parts_of(self, path: Path) -> Iterator[FileReader]:
        """A part for every file, and for every :data:`CHUNK_ROWS` rows or more of a Parquet file in row groups."""
        if not is_parquet(path):
            yield FileReader((path,), self.dialect)
            return
        sizes, start, rows = parquet_groups(path), 0, 0
        for number, size in enumerate(sizes):
            rows += size
            remaining = sum(sizes[number + 1 :])
            if number + 1 == len(sizes) or (rows >= CHUNK_ROWS and remaining >= CHUNK_ROWS):
                yield FileReader((path,), self.dialect, groups=tuple(range(start, number + 1)))
                start, rows = number + 1, 0
        if not sizes:
            yield FileReader((path,), self.dialect)


def read_files(
    where: str | os.PathLike[str],
    names: Sequence[str],
    numeric: Iterable[str] = (),
    on_rows: Callable[[int], None] | None = None,
    dialect: CsvFormat = PLAIN,
) -> Frame:
    """The rows of a file, a folder or a pattern in memory; arguments and errors as in :func:`read_columns`."""
    paths, numbers = files_of(where), frozenset(numeric)
    if len(paths) == 1:
        return read_columns(paths[0], names, numbers, on_rows, dialect)
    FileReader(paths, dialect).empty(names, numbers)
    frames: list[Frame] = []
    for path in paths:
        frames.append(read_columns(path, names, numbers, None, dialect))
        if on_rows is not None:
            on_rows(sum(frame.n_rows for frame in frames))
    columns = {name: _one_after_another([frame.column(name) for frame in frames]) for name in names}
    return Frame(columns, sum(frame.n_rows for frame in frames))


def _one_after_another(columns: Sequence[Any]) -> Any:
    if isinstance(columns[0], np.ndarray):
        return np.concatenate(columns)
    kind = _common([column.type for column in columns if column.type != pa.null()])
    return pa.chunked_array([chunk.cast(kind, safe=False) for column in columns for chunk in column.chunks], kind)


def _family(kind: pa.DataType) -> pa.DataType:
    """One type for those between which rows decide: a gap makes fractions of whole numbers, a digit wider decimals."""
    of = pa.types
    if of.is_integer(kind) or of.is_float64(kind) or of.is_decimal(kind):
        return pa.float64()
    if of.is_string(kind) or of.is_string_view(kind):
        return pa.large_string()
    return _family(kind.value_type) if of.is_dictionary(kind) else kind


def _common(kinds: Sequence[pa.DataType]) -> pa.DataType:
    """A type for the values of all of these, which are of one family."""
    first = kinds[0] if kinds else pa.null()
    return first if all(kind == first for kind in kinds) else _family(first)


@final
@dataclass(frozen=True, eq=False)
class DatasetReader(Reader):
    """A ``pyarrow.dataset``: many files, partitions in the names of folders, remote stores."""

    dataset: Any

    @property
    def name(self) -> str:
        return "the pyarrow data set"

    def columns(self) -> list[str]:
        return list(self.dataset.schema.names)

    def empty(self, names: Sequence[str], numeric: frozenset[str]) -> Frame:
        del numeric
        check_columns(names, self.columns(), self.name)
        check_copies([path for path in self._files if path.is_file()])
        schema = self.dataset.schema
        for part, kinds in self._parts():
            for name in names:
                if name in kinds.names and kinds.field(name).type not in (schema.field(name).type, pa.null()):
                    raise DataError(
                        f"column '{name}' is {kinds.field(name).type} in {part}, and {schema.field(name).type} in the "
                        "data set, where one value could stop the reading: give the files themselves"
                    )
        return Frame({name: pa.nulls(0, schema.field(name).type) for name in names}, 0)

    def chunks(self, names: Sequence[str], numeric: frozenset[str]) -> Iterator[Frame]:
        del numeric
        try:
            for batch in self.dataset.to_batches(
                columns=list(names), batch_size=CHUNK_ROWS, batch_readahead=1, fragment_readahead=1
            ):
                yield Frame({name: batch.column(name) for name in names}, batch.num_rows)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{self.name} cannot be read: {type(error).__name__}") from None

    def unfit(self) -> str:
        kind = str(getattr(getattr(self.dataset, "format", None), "default_extname", ""))
        if kind not in UNTYPED_FORMATS:
            return ""
        return (
            f"a pyarrow data set of {kind} files takes their types from the rows, or stops at a cell of another: "
            "give the files themselves, or write them as Parquet with declared types"
        )

    def state(self) -> str | None:
        if not self._files or not all(file.is_file() for file in self._files):
            return None
        return _digest([*(_stamp(path, kept=True) for path in self._files), str(self.dataset.schema)])

    def _parts(self) -> Iterator[tuple[str, pa.Schema]]:
        """The names of the parts, and what types each has, whatever the data set makes of them."""
        try:
            for part in self.dataset.get_fragments():
                yield getattr(part, "path", "a part"), part.physical_schema
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{self.name} cannot be read: {type(error).__name__}") from None

    @property
    def _files(self) -> list[Path]:
        return [Path(name) for name in getattr(self.dataset, "files", ())]


def _stamp(path: Path, kept: bool = False) -> str:
    """What changes when a file does; of ``kept`` rows also where one wrote in place and set the file's time back."""
    try:
        facts = path.stat()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    inode = f" {facts.st_ctime_ns}" if kept else ""
    return f"{path.resolve()} {facts.st_ino} {facts.st_size} {facts.st_mtime_ns}{inode}"


def _digest(facts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(facts).encode("utf-8", "surrogateescape")).hexdigest()
