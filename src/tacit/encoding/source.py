"""`read_source`: rows that need not fit into memory, for ``fit``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, final

from tacit.encoding.errors import DataError
from tacit.encoding.folders import files_of
from tacit.encoding.frames import Frame
from tacit.encoding.inputs import numbers_of
from tacit.encoding.read_table import csv_format
from tacit.encoding.sources import DUCKDB, DatasetReader, FileReader, Reader
from tacit.privacy.request import RequestError, is_number
from tacit.schema import Schema
from tacit.schema.columns import is_plain_number
from tacit.schema.csv_format import UTF8, CsvFormat

ENGINES = ("streamed", "memory", "dask", "workers")
"""Where rows can be while a model is learned."""

CLUSTERS = ("dask", "workers")
"""Those that workers of a cluster hold."""


@final
@dataclass(frozen=True, eq=False)
class Source:
    """Rows that ``fit`` reads in chunks; made by :func:`tacit.read_source`."""

    reader: Reader
    engine: str = "streamed"
    directory: Path | None = None
    keep: bool = False
    cluster: Any = None
    recheck: float = 0.0

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise RequestError(f"engine must be one of {', '.join(map(repr, ENGINES))}, got {self.engine!r}")
        if self.keep and (self.directory is None or self.engine != "streamed"):
            raise RequestError("keep = True needs the directory that the engine 'streamed' keeps its files in")
        if self.cluster is not None and self.engine not in CLUSTERS:
            raise RequestError("a cluster is what the engine 'dask' runs on: add engine='dask'")
        if not (is_number(self.recheck) and 0 <= self.recheck <= 1):
            raise RequestError(f"recheck is a share of the rounds, between 0 and 1; got {self.recheck!r}")
        if self.recheck and self.engine != "dask":
            raise RequestError("recheck asks workers of the engine 'dask': add engine='dask'")
        if self.engine == "workers" and not callable(self.cluster):
            raise RequestError("the engine 'workers' needs a cluster that makes workers of parts: see docs/cluster.md")
        if self.directory is not None and self.engine in CLUSTERS:
            raise RequestError("workers keep their parts in memory: leave directory out")
        if self.keep and self.reader.state() is None:
            raise RequestError(
                f"nothing tells whether the rows of {self.reader.name} change after they were kept: leave keep out"
            )

    def __repr__(self) -> str:
        return f"<rows of {self.reader.name}, engine {self.engine}>"


def read_source(
    where: Any,
    *,
    query: str | None = None,
    engine: str = "streamed",
    directory: str | os.PathLike[str] | None = None,
    keep: bool = False,
    encoding: str = UTF8,
    delimiter: str | None = None,
    decimal: str | None = None,
    multiline: bool = False,
    cluster: Any = None,
    recheck: float = 0.0,
) -> Source:
    r"""Rows that are read while a model is fitted, and need not fit into memory.

    ``AdditiveBoostClassifier(schema=schema).fit(tacit.read_source("rows/*.parquet"))`` learns what a fit to the whole
    table would, bit by bit if the noise is the same: neither the cutting into files and chunks nor the engine changes
    an answer. The schema must declare all columns and the label. Nothing is read before ``fit``.

    Args:
        where: a CSV file (``.gz`` too) or Parquet file, a folder of them, a pattern such as ``"rows/*.parquet"``, a
            list of these, a ``pyarrow.dataset.Dataset``, or the URL of a database: ``duckdb:///PATH`` and what
            SQLAlchemy knows, such as ``sqlite:///PATH``. Files follow one another sorted by name.
        query: of a database: a statement that selects the rows, or the name of a table.
        engine: ``"streamed"``: the rows are encoded once to compact files (about two bytes a number, one a category),
            from which every pass is answered; memory stays the same however many there are. ``"memory"``: they are
            encoded into memory. ``"dask"``: every worker of a cluster encodes its own files into its memory, and
            answers for them; they must be where all workers can read them.
            ``"workers"``: on what ``cluster`` makes of the parts, a :class:`tacit.engines.cluster.rounds.Rounds`.
        directory: where the compact files are made, on a disk with room for them; by default the system's directory of
            temporary files. Only their owner can read them.
        keep: whether they stay there, so that the next fit under the same schema need not read the source again. They
            hold private rows.
        encoding: of CSV files.
        delimiter: of CSV files, as in :func:`tacit.read_table`.
        decimal: of CSV files, ``","`` where numbers have a decimal comma; None as :func:`tacit.read_table` has it.
        multiline: whether cells of CSV files may hold line breaks, as in :func:`tacit.read_table`.
        cluster: of the engine ``"dask"``: the address of a scheduler such as ``"tcp://10.0.0.1:8786"``, or a
            ``distributed.Client`` (with its TLS). By default one is made on this machine, a process per core, for as
            long as the fit takes.
        recheck: of the engine ``"dask"``: in which share of the rounds a random part is asked of a second worker, too;
            if their answers differ, the fit ends without a release of that round (docs/cluster.md).

    Raises:
        ValueError: if there is nothing there to read; one sentence.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tacit import AdditiveBoostClassifier, read_source
        >>> path = Path(tempfile.mkdtemp(), "rows.csv")
        >>> _ = path.write_text("age,sick\n" + "44,yes\n61,no\n" * 500)
        >>> schema = {"label": {"column": "sick", "classes": ["no", "yes"]},
        ...           "columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100}}}
        >>> model = AdditiveBoostClassifier(epsilon=1.0, delta=1e-6, schema=schema).fit(read_source(path))
        >>> print(model.certificate_.releasable)
        True
    """
    folder = None if directory is None else Path(directory)
    return Source(
        _reader_of(where, query, csv_format(encoding, delimiter, decimal, multiline)),
        engine,
        folder,
        keep,
        cluster,
        recheck,
    )


def _reader_of(where: Any, query: str | None, dialect: CsvFormat) -> Reader:
    if isinstance(where, Reader):
        return where
    if hasattr(where, "to_batches") and hasattr(where, "schema"):
        return DatasetReader(where)
    if isinstance(where, str) and (where.startswith(DUCKDB) or "://" in where):
        from tacit.encoding.sql_sources import DuckReader, SqlReader, as_query, check_url  # takes long to load

        duck = where.startswith(DUCKDB)
        if not duck:
            check_url(where)
        if query is None:
            raise RequestError("a database needs a query: one that selects the rows, or the name of a table")
        return DuckReader(where, as_query(query)) if duck else SqlReader(where, as_query(query))
    if query is not None:
        raise RequestError("a query is for a database; files are read whole")
    if not isinstance(where, str | os.PathLike | list | tuple):
        raise RequestError(f"a source is files, a folder, a pattern, a data set or a URL, got {type(where).__name__}")
    return FileReader(files_of(where), dialect, str(where) if isinstance(where, str | os.PathLike) else "")


@final
@dataclass(frozen=True, eq=False)
class DeclaredSource:
    """A source under the schema, with a label and without a unit, that says what its columns are."""

    source: Source
    schema: Schema

    @property
    def label(self) -> str:
        assert self.schema.label is not None
        return self.schema.label.column

    @property
    def wanted(self) -> list[str]:
        return [*self.schema.features, self.label]

    @property
    def numeric(self) -> frozenset[str]:
        """Those that are read as numbers where a file has texts."""
        assert self.schema.label is not None
        features = [name for name in self.schema.features if is_plain_number(self.schema.columns[name])]
        return frozenset([*features, *([self.label] if self.schema.label.is_plain_number else [])])

    @cached_property
    def without_rows(self) -> Frame:
        """The columns as they are read, without rows: looks at every part of the source, and at nothing private."""
        if unfit := self.source.reader.unfit():
            raise DataError(unfit)
        return self.source.reader.empty(self.wanted, self.numeric)

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are. Private, unless the relation says otherwise."""
        return self.source.reader.count(self.wanted)

    @cached_property
    def state(self) -> str | None:
        """What the rows are known by as long as they stay as they are."""
        return self.source.reader.state()

    def labels(self, frame: Frame) -> Any:
        """The labels among the columns; of numbers, numbers."""
        labels, label = frame.column(self.label), self.schema.label
        assert label is not None
        return numbers_of(labels, self.label, label.cell_format) if label.is_numeric else labels

    def chunks(self, reader: Reader | None = None) -> Iterator[tuple[Frame, Any]]:
        """The features and the labels of the rows, chunk by chunk.

        Raises:
            DataError: if a part cannot be read, or has changed since it was read first.
        """
        before, seen = self.state, 0
        for chunk in (reader or self.source.reader).chunks(self.wanted, self.numeric):
            seen += chunk.n_rows
            yield chunk, self.labels(chunk)
        counted = self.__dict__.get("n_rows", seen) if reader is None else seen  # where the number of rows is public
        if self.source.reader.state() != before or counted != seen:
            raise DataError(f"{self.source.reader.name} changed since this fit began to read it")
