"""Rows of a data base: a query, or the name of a table, read in chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final
from urllib.parse import unquote

from tacit.encoding.errors import DataError
from tacit.encoding.frames import Frame
from tacit.encoding.sources import CHUNK_ROWS, Reader
from tacit.encoding.sql_rules import fault_of

DUCKDB = "duckdb:"

NO_URL = "the URL of a data base reads dialect://place, such as sqlite:///rows.db"

_TEXT_FILES = re.compile(r'"name": *"(?:READ_(?:CSV|JSON|NDJSON|XLSX)|SNIFF_CSV|READ_TEXT)\w*"')
"""What a plan of DuckDB calls readers of text files."""

_TABLE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def as_query(query: str) -> str:
    """A query as it is, and the name of a table as the query for all of it."""
    text = query.strip().rstrip(";")
    if not _TABLE.fullmatch(text):
        return text
    quoted = ".".join(f'"{part}"' for part in text.split("."))
    return f"SELECT * FROM {quoted}"  # noqa: S608 - a name and nothing else


def check_url(url: str) -> None:
    """Raises :class:`DataError` unless a URL is one of a data base that SQLAlchemy knows."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        found = make_url(url)
    except ArgumentError:
        raise DataError(NO_URL) from None
    try:
        found.get_dialect()
    except ArgumentError:
        raise DataError(
            f"SQLAlchemy knows no data base '{found.drivername}'; rows on a server or in a store are copied to this "
            "machine first, or opened from Python as a pyarrow.dataset"
        ) from None
    except ImportError as error:
        raise DataError(f"'{found.drivername}' needs what is not installed: {error}") from None


def _no_rows_of(query: str) -> str:
    return f"SELECT * FROM ({query}) AS rows_of_a_source WHERE 1 = 0"  # noqa: S608 - the query is the user's own


def _said(name: str, fault: str) -> str:
    if not fault:
        return ""
    return f"the query to {name} {fault}. What is protected is one row that it gives: make a table of them first"


@final
@dataclass(frozen=True)
class SqlReader(Reader):
    """What a query, one statement that selects, gives through SQLAlchemy."""

    url: str
    query: str

    @property
    def name(self) -> str:
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError

        try:
            return unquote(make_url(self.url).render_as_string(hide_password=True))
        except ArgumentError:
            raise DataError(NO_URL) from None

    def columns(self) -> list[str]:
        with self._result(_no_rows_of(self.query), shows_nothing=True) as result:
            return list(result.keys())

    def empty(self, names: Sequence[str], numeric: frozenset[str]) -> Frame:
        del numeric
        self.check_columns(names, self.columns(), self.name)
        return Frame({name: [] for name in names}, 0)

    def chunks(self, names: Sequence[str], numeric: frozenset[str]) -> Iterator[Frame]:
        del numeric
        with self._result(self.query) as result:
            places = [list(result.keys()).index(name) for name in names]
            for rows in result.partitions(CHUNK_ROWS >> 2):
                yield Frame({name: [row[k] for row in rows] for name, k in zip(names, places, strict=True)}, len(rows))

    def state(self) -> str | None:
        return None

    def unfit(self) -> str:
        from sqlalchemy import create_engine, inspect
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import SQLAlchemyError
        from sqlalchemy.pool import NullPool

        def view_of(name: str) -> str | None:
            if self._lacks_file():
                return None
            try:
                inspector = inspect(create_engine(self.url, poolclass=NullPool))
                views = {view.lower(): view for view in inspector.get_view_names()}
                return inspector.get_view_definition(views[name]) if name in views else None
            except (SQLAlchemyError, NotImplementedError, ImportError):  # it does not tell
                return None

        return _said(self.name, fault_of(self.query, make_url(self.url).get_backend_name(), view_of))

    def _lacks_file(self) -> bool:
        """Whether there is no file of this name, which SQLite would make."""
        from sqlalchemy.engine import make_url

        found = make_url(self.url)
        file = found.database if found.get_backend_name() == "sqlite" else None
        return bool(file) and file != ":memory:" and not str(file).startswith("file:") and not Path(str(file)).is_file()

    @contextmanager
    def _result(self, query: str, shows_nothing: bool = False) -> Iterator[Any]:
        """Runs a query. What a data base says of its failure may quote rows; it is shown where none were read."""
        from sqlalchemy import create_engine, text
        from sqlalchemy.exc import SQLAlchemyError
        from sqlalchemy.pool import NullPool

        name = self.name
        if self._lacks_file():
            raise DataError(f"{name} does not exist")
        try:
            with create_engine(self.url, poolclass=NullPool).connect() as connection:
                options = {"stream_results": True, "max_row_buffer": CHUNK_ROWS >> 2}
                yield connection.execution_options(**options).execute(text(query))
        except ImportError as error:
            raise DataError(f"{name} needs a driver that is not installed: {error}") from None
        except SQLAlchemyError as error:
            said = getattr(error, "orig", None) or error
            why = str(said).splitlines()[0] if shows_nothing else type(said).__name__
            raise DataError(f"the query to {name} failed: {why}") from None


@final
@dataclass(frozen=True)
class DuckReader(Reader):
    """What a query, one statement that selects, gives in DuckDB, as Arrow's batches.

    The URL is ``duckdb:///PATH``, or ``duckdb://`` for a query that names its files itself.
    """

    url: str
    query: str

    @property
    def name(self) -> str:
        return self.url

    def columns(self) -> list[str]:
        return list(self._types())

    def empty(self, names: Sequence[str], numeric: frozenset[str]) -> Frame:
        import pyarrow as pa

        del numeric
        types = self._types()
        self.check_columns(names, list(types), self.name)
        return Frame({name: pa.nulls(0, types[name]) for name in names}, 0)

    def chunks(self, names: Sequence[str], numeric: frozenset[str]) -> Iterator[Frame]:
        del numeric
        with self._batches(self.query) as batches:
            for batch in batches:
                yield Frame({name: batch.column(name) for name in names}, batch.num_rows)

    def state(self) -> str | None:
        return None

    def _types(self) -> dict[str, Any]:
        with self._batches(_no_rows_of(self.query), shows_nothing=True) as batches:
            return {field.name: field.type for field in batches.schema}

    def unfit(self) -> str:
        """Also of text files: DuckDB guesses their types from rows, and one stray quote swallows others."""
        with self._connected(shows_nothing=True) as connection:
            plan = str(connection.execute(f"EXPLAIN (FORMAT json) {self.query}").fetchall())
            views = dict(
                connection.execute("SELECT lower(view_name), sql FROM duckdb_views() WHERE NOT internal").fetchall()
            )
        if _TEXT_FILES.search(plan):
            return (
                f"the query to {self.name} reads a text file, in which one line can change how DuckDB reads others: "
                "name the file itself as the source, or query a table or Parquet"
            )
        return _said(self.name, fault_of(self.query, "duckdb", views.get))

    @contextmanager
    def _batches(self, query: str, shows_nothing: bool = False) -> Iterator[Any]:
        with self._connected(shows_nothing) as connection:
            yield connection.execute(query).to_arrow_reader(CHUNK_ROWS)

    @contextmanager
    def _connected(self, shows_nothing: bool = False) -> Iterator[Any]:
        try:
            import duckdb
        except ImportError:
            raise DataError("DuckDB is not installed: pip install 'tacit[duckdb]'") from None
        place = self.url.removeprefix(DUCKDB).removeprefix("//").removeprefix("/") or ":memory:"
        if self.url.startswith(f"{DUCKDB}////"):
            place = "/" + place.lstrip("/")
        try:
            with duckdb.connect(place, read_only=place != ":memory:") as connection:
                yield connection
        except duckdb.Error as error:
            why = str(error).splitlines()[0] if shows_nothing else type(error).__name__
            raise DataError(f"the query to {self.name} failed: {why}") from None
