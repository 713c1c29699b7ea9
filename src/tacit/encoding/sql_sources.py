"""Rows of a database: a query, or the name of a table, read in chunks.

The promise is about the rows that a query gives. It is one about the rows of the database only where one of these
moves at most one of those: under ``LIMIT`` or a window function one person decides which others are there, and a join
may give a person many rows. What the text of a query shows is refused; what it does not (a key that is not unique, a
view whose text the database does not tell) is for whoever writes it: see ``docs/scale.md``.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import pyarrow as pa
from sqlalchemy import URL, create_engine, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from tacit.encoding.errors import DataError
from tacit.encoding.frames import Frame
from tacit.encoding.postgresql_values import read_leniently
from tacit.encoding.read import check_columns
from tacit.encoding.sources import CHUNK_ROWS, DUCKDB, Reader
from tacit.errors import missing
from tacit.privacy.database import shown

try:
    import sqlglot
    from sqlglot import exp
except ModuleNotFoundError:
    raise missing("sqlglot", "sql") from None

DIALECTS = {"postgresql": "postgres", "mssql": "tsql", "mariadb": "mysql"}
"""Names of SQLAlchemy for what sqlglot calls otherwise."""

_PLAIN = "age btrim elt field initcap julianday num_nonnulls printf quote to_days to_number unixepoch width_bucket"
_OF_ONE_ROW = frozenset(_PLAIN.split())
"""Functions of one row that sqlglot does not know. Other unknown ones may aggregate, count, or give several rows."""

_COUNTS = "counts its rows, so that one row decides whether others are there"
_CHANGES = "uses values that change whenever it is read"
_SPREADS = "makes several rows of one"
_OF_THE_STORE = {
    **dict.fromkeys(["rownum", "ctid", "rowid", "_rowid_", "xmin", "xmax", "cmin", "cmax"], _COUNTS),
    **dict.fromkeys(["nextval", "currval"], _CHANGES),
}
"""Columns that no table has, and what is wrong with them; in quotes they are a table's own."""

_NOW = frozenset(["now", "today", "tomorrow", "yesterday"])
"""Texts that databases read as a time, another one whenever they do."""


def fault_of(query: str, dialect: str, views_of: Callable[[str], Iterable[str]]) -> str:
    """Why the rows of a query are not rows of the database one by one; empty where its text does not show it.

    ``views_of``: the statements that make the views of a name, in whatever schema; none where there is no such view.
    """
    tree = _parsed(query, dialect)
    if tree is None:
        return "cannot be read as one statement that selects: give the name of a table"
    trees, seen = [tree], set()
    for each in trees:  # grows by the views that are named
        for name in _tables(each):
            texts = () if name in seen else views_of(name)
            seen.add(name)
            trees.extend(view for text in texts if (view := _parsed(text, dialect)) is not None)
    for each in trees:
        for fault in _faults(each):
            return fault
    twice = [name for name, count in Counter(name for each in trees for name in _tables(each)).items() if count > 1]
    return f"reads '{twice[0]}' more than once, so that a row of it counts several times" if twice else ""


def _parsed(query: str, dialect: str) -> Any:
    """The tree of a statement that selects; None where it is none."""
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of syntax that it passes on
    for language in (DIALECTS.get(dialect, dialect), None):
        try:
            statements = sqlglot.parse(query, read=language)
        except (sqlglot.errors.SqlglotError, ValueError, RecursionError):  # unknown language, or no SQL
            continue
        tree = statements[0] if len(statements) == 1 else None
        tree = tree.expression if isinstance(tree, exp.Create) else tree
        return tree if isinstance(tree, exp.Query) else None
    return None


def _tables(tree: Any) -> list[str]:
    """The tables, views and parts of WITH that a statement names, as often as it does."""
    return [table.name.lower() for table in tree.find_all(exp.Table) if table.name]


def _faults(tree: Any) -> Iterator[str]:
    """What is wrong with a statement, one sentence without a subject for each."""
    kinds = (
        (
            (exp.Limit, exp.Offset, exp.Fetch),
            "has LIMIT, OFFSET or FETCH, so that one row decides whether others are there",
        ),
        ((exp.Window, exp.Qualify), "has a window function, in which rows decide about one another"),
        ((exp.AggFunc, exp.Group, exp.Having), "aggregates: its rows are made of several"),
        (exp.TableSample, "draws a sample, another one whenever it is read"),
        ((exp.Rand, exp.Uuid, exp.NextValueFor, exp.Parameter, exp.SessionParameter), _CHANGES),
        ((exp.Into, exp.DML), "changes the database"),
        ((exp.JSONArrayAgg, exp.JSONObjectAgg), "aggregates: its rows are made of several"),
        (exp.Connect, "has CONNECT BY"),
        (exp.Lock, "locks rows, and so may leave out what others hold"),
        ((exp.Unnest, exp.Lateral, exp.Explode, exp.ExplodingGenerateSeries, exp.Pivot, exp.MatchRecognize), _SPREADS),
    )
    for node in tree.walk():
        yield from (words for kind, words in kinds if isinstance(node, kind))
        if isinstance(node, exp.Distinct) and node.args.get("on"):
            yield "has DISTINCT ON, so that one row decides whether others are there"
        elif isinstance(node, exp.Column) and node.name.lower() in _OF_THE_STORE and not node.this.quoted:
            yield _OF_THE_STORE[node.name.lower()]
        elif isinstance(node, exp.Anonymous) and node.name.lower() not in _OF_ONE_ROW:
            yield (
                f"calls {node.name}, and nothing tells whether that looks at one row at a time, gives one value, and "
                "always the same: make a column of it"
            )
        elif isinstance(node, exp.Func) and _is_of_no_row(node):
            yield _CHANGES
        elif isinstance(node, exp.With) and node.args.get("recursive"):
            yield "has WITH RECURSIVE"
        elif isinstance(node, exp.Join) and not _matches(node):
            yield "joins without JOIN ... ON a.key = b.key, so that one row may meet all others"
        elif _spreads(node):
            yield _SPREADS
        elif _is_condition(node):
            yield "has a subquery among its conditions or values, so that one row may decide about many"


def _is_of_no_row(function: Any) -> bool:
    """Whether a function is given nothing, such as ``now()``, or ``'now'``: its value is then no row's."""
    arguments = list(function.iter_expressions())
    nothing = not arguments and not isinstance(function, exp.Pi)
    return nothing or any(isinstance(each, exp.Literal) and each.name.strip().lower() in _NOW for each in arguments)


def _spreads(node: Any) -> bool:
    """Whether a table is a function of other tables' columns."""
    return isinstance(node, exp.Table) and isinstance(node.this, exp.Func) and node.this.find(exp.Column) is not None


def _matches(join: Any) -> bool:
    """Whether a join asks for equal values of columns on both sides."""
    if join.args.get("kind") in ("SEMI", "ANTI", "CROSS") or join.args.get("method") in ("POSITIONAL", "ASOF"):
        return False
    if join.args.get("method") == "NATURAL":  # of tables without a common column it joins all with all
        return False
    if join.args.get("using"):
        return True
    condition = join.args.get("on")
    terms = [] if condition is None else list(condition.flatten()) if isinstance(condition, exp.And) else [condition]
    pairs = [[term.left, term.right] for term in terms if isinstance(term, exp.EQ)]
    tables = [{side.table for side in pair if isinstance(side, exp.Column)} for pair in pairs]
    return any(len(names) == 2 for names in tables)


def _is_condition(node: Any) -> bool:
    """Whether a query stands where a condition or a value does."""
    places = (exp.From, exp.Join, exp.SetOperation, exp.CTE, exp.Subquery, exp.Create)
    return isinstance(node, exp.Query) and node.parent is not None and not isinstance(node.parent, places)


NO_URL = "the URL of a database reads dialect://place, such as sqlite:///rows.db"

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
    """Raises :class:`DataError` unless a URL is one of a database that SQLAlchemy knows."""
    try:
        address = _address_of(url)
    except (ArgumentError, ValueError):  # a port that is no number
        raise DataError(NO_URL) from None
    if "@" in (address.host or ""):  # what follows it in a password, which messages would show as the host
        raise DataError(NO_URL)
    try:
        address.get_dialect()
    except ArgumentError:
        raise DataError(
            f"SQLAlchemy knows no database '{address.drivername}'; rows on a server or in a store are copied to this "
            "machine first, or opened from Python as a pyarrow.dataset"
        ) from None
    except ImportError as error:
        raise DataError(f"'{address.drivername}' needs what is not installed: {error}") from None


def _address_of(url: str) -> URL:
    """A URL whose driver does not depend on the version of SQLAlchemy: before 2.1 ``postgresql`` meant psycopg2."""
    address = make_url(url)
    return address.set(drivername="postgresql+psycopg") if address.drivername == "postgresql" else address


def _no_rows_of(query: str) -> str:
    return f"SELECT * FROM ({query}\n) AS rows_of_a_source WHERE 1 = 0"  # noqa: S608 - the user's own; may end in --


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
        try:
            return shown(make_url(self.url))
        except ArgumentError:
            raise DataError(NO_URL) from None

    def columns(self) -> list[str]:
        with self._result(_no_rows_of(self.query), shows_nothing=True) as result:
            return list(result.keys())

    def empty(self, names: Sequence[str], numeric: frozenset[str]) -> Frame:
        del numeric
        check_columns(names, self.columns(), self.name)
        return Frame({name: [] for name in names}, 0)

    def chunks(self, names: Sequence[str], numeric: frozenset[str]) -> Iterator[Frame]:
        del numeric
        with self._result(self.query) as result:
            check_columns(names, list(result.keys()), self.name)  # it may have changed since it was checked
            places = [list(result.keys()).index(name) for name in names]
            for rows in result.partitions(CHUNK_ROWS >> 2):
                yield Frame({name: [row[k] for row in rows] for name, k in zip(names, places, strict=True)}, len(rows))

    def state(self) -> str | None:
        return None

    def unfit(self) -> str:
        def views_of(name: str) -> list[str]:
            """Of all schemas: which of them a name is looked for in depends on the session."""
            if self._lacks_file():
                return []
            try:
                inspector = inspect(create_engine(_address_of(self.url), poolclass=NullPool))
                places = [
                    (view, schema)
                    for schema in inspector.get_schema_names()
                    for view in inspector.get_view_names(schema)
                    if view.lower() == name
                ]
                return [inspector.get_view_definition(view, schema) or "" for view, schema in places]
            except (SQLAlchemyError, NotImplementedError, ImportError):  # it does not tell
                return []

        return _said(self.name, fault_of(self.query, make_url(self.url).get_backend_name(), views_of))

    def _lacks_file(self) -> bool:
        """Whether there is no file of this name, which SQLite would make."""
        address = make_url(self.url)
        file = address.database if address.get_backend_name() == "sqlite" else None
        return bool(file) and file != ":memory:" and not str(file).startswith("file:") and not Path(str(file)).is_file()

    @contextmanager
    def _result(self, query: str, shows_nothing: bool = False) -> Iterator[Any]:
        """Runs a query. What a database says of its failure may quote rows; it is shown where none were read."""
        name = self.name
        if self._lacks_file():
            raise DataError(f"{name} does not exist")
        try:
            engine = create_engine(_address_of(self.url), poolclass=NullPool)
            read_leniently(engine)
            with engine.connect() as connection:
                options = {"stream_results": True, "max_row_buffer": CHUNK_ROWS >> 2}
                yield connection.execution_options(**options).execute(text(query))
        except ImportError as error:
            raise DataError(f"{name} needs a driver that is not installed: {error}") from None
        except SQLAlchemyError as error:
            cause = getattr(error, "orig", None) or error
            why = str(cause).splitlines()[0] if shows_nothing else type(cause).__name__
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
        del numeric
        types = self._types()
        check_columns(names, list(types), self.name)
        return Frame({name: pa.nulls(0, types[name]) for name in names}, 0)

    def chunks(self, names: Sequence[str], numeric: frozenset[str]) -> Iterator[Frame]:
        del numeric
        with self._batches(self.query) as batches:
            check_columns(names, batches.schema.names, self.name)  # it may have changed since it was checked
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
            views = connection.execute("SELECT lower(view_name), sql FROM duckdb_views() WHERE NOT internal").fetchall()
        if _TEXT_FILES.search(plan):
            return (
                f"the query to {self.name} reads a text file, in which one line can change how DuckDB reads others: "
                "name the file itself as the source, or query a table or Parquet"
            )
        return _said(
            self.name, fault_of(self.query, "duckdb", lambda name: [text for view, text in views if view == name])
        )

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
