"""The databases that hold accounts: SQLite files and PostgreSQL, reached by SQLAlchemy.

A transaction that writes takes the one lock of all writers before it reads anything, and its commit is on the disk when
it returns. SQLite locks its file; who finds it locked tries again after a random wait of one mean, so that all who wait
have the same chance each time. PostgreSQL has a queue: the lock is an advisory one, which needs no right to change
rows, at READ COMMITTED, where every statement sees what was committed before it. A transaction that fails only because
others ran beside it is run again.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, inspect, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    NoSuchModuleError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
)

from tacit.privacy.ledger import AccountError

HEAD = "2"  # the last of the migrations, which a store must be at
OLDER = ("1",)  # from which a store is brought there when it is first used

VERSION_TABLE = "tacit_version"

WAIT = 600.0  # seconds to wait for others that write to the store
POLL = 0.1  # seconds between two tries for the lock of an SQLite file, at most
AGAIN = ("40001", "40P01")  # states of PostgreSQL: serialization failure, deadlock. Nothing was written.
PASSING = ("57014", "53100", "53200", "53300")  # cancelled by somebody; no disk, memory or connection to be had
LOCK = 0x7461636974  # the advisory lock of all who write to accounts in one PostgreSQL database

SUPPORTED = "SQLite (a path, or sqlite:///budget.db) or PostgreSQL (postgresql://user@host/database)"

NO_ADDRESS = (
    "the account's URL cannot be read: it is sqlite:///budget.db or postgresql://user:password@host:port/database, the "
    "port a number, and @, :, / or % of a password written as %40, %3A, %2F or %25"
)
"""What is said of any URL that cannot be parsed, which is not repeated: it may hold a password."""

RETURN = 60.0
"""Seconds that a PostgreSQL server may be away, or have no free connection, once it was reached: it may restart."""

SETTINGS = "SET LOCAL row_security = off; SET LOCAL extra_float_digits = 1"
"""What a role or a database may have set otherwise: rows that it does not see, and promises that are rounded."""

UNPREPARED = {"prepare_threshold": None}  # a pooler may give every transaction another connection

CONNECT_WAIT = 30
"""Seconds to wait for a PostgreSQL server to answer, unless the URL says ``connect_timeout``."""

UNREACHED = " (see that the server runs, and the user, password, host and database of the URL)"

UNKNOWN = "; whether it was charged is not known: see tacit budget show"

T = TypeVar("T")


def normal_url(url: str | bytes) -> URL:
    """The URL with an absolute path, so that it means the same in another process; a plain path is an SQLite file.

    Raises ``AccountError`` if it is no URL, of a database that is not supported, or a store in memory, which would not
    be durable.
    """
    if isinstance(url, bytes):
        raise AccountError(f"an account's store is a path or URL as a text, and {url!r} is bytes")
    try:
        parsed = make_url(url) if "://" in url else URL.create("sqlite", database=url)
    except (ArgumentError, ValueError):  # a port that is no number
        raise AccountError(NO_ADDRESS) from None
    if "@" in (parsed.host or ""):
        raise AccountError(NO_ADDRESS)
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise AccountError(f"accounts are kept in {SUPPORTED}, not in {parsed.drivername!r}")
    if not parsed.database or parsed.database == ":memory:":
        raise AccountError("an account needs a store that survives the process, such as sqlite:///budget.db")
    if parsed.query or parsed.database.startswith("file:"):  # they can turn locks off, or keep it in memory
        raise AccountError("the URL of an SQLite account is sqlite:/// and a path, without options")
    return parsed.set(drivername="sqlite", database=str(Path(parsed.database).absolute()))


def shown(url: URL) -> str:
    """A URL for messages, without its passwords, wherever they stand."""
    hidden = {key: "***" for key in url.query if "password" in key}
    return unquote(url.update_query_dict(hidden).render_as_string(hide_password=True))


class Database:
    """One of them; its URL is as :func:`normal_url` returns it."""

    def __init__(self, url: URL) -> None:
        self._url = url
        self._file = Path(url.database or "") if url.get_backend_name() == "sqlite" else None

    @property
    def name(self) -> str:
        """The URL for messages, without its password."""
        return shown(self._url)

    @property
    def file(self) -> Path | None:
        """The file of an SQLite store; None elsewhere."""
        return self._file

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees all earlier ones; raises ``AccountError`` for whatever the database cannot do."""
        with self._telling("nothing was spent"), self._engine() as engine:
            with engine.begin() as connection:
                if not self._check_version(connection):
                    yield connection
                    return
            self.write(lambda _: None)
            with engine.begin() as connection:
                yield connection

    def write(
        self, work: Callable[[Connection], T], consequence: str = "nothing was spent", *, repeatable: bool = False
    ) -> T:
        """Runs ``work`` in a transaction that holds the lock of all writers, again if others made it fail.

        Args:
            work: what to read and write.
            consequence: of a failure, for the message.
            repeatable: whether ``work`` may be run after a commit of it. Then it is also run again where nobody knows
                if it was committed, and where a statement was cancelled or the server lacked room.

        Raises ``AccountError`` for whatever the database cannot do, with the consequence.
        """

        def checked(connection: Connection) -> T:
            if self._check_version(connection):
                self._bring_up(connection)
            return work(connection)

        return self._written(checked, consequence, RETURN, repeatable)

    def prepare(self) -> None:
        """Makes the tables if there are none, and first the file of an SQLite store, which nobody else may read.

        Raises ``AccountError`` if it cannot be made, or is something else.
        """
        if self._file is not None:
            self._make(self._file)
        self._written(self._upgrade, "nothing was spent")

    def _make(self, file: Path) -> None:
        try:
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            if not file.is_file():
                what = "a folder" if file.is_dir() else "no file, or a link to nowhere"
                raise AccountError(f"{self.name} is {what}: give another name") from None
            if not file.stat().st_size:  # made beforehand, whatever its mode: a store from now on
                file.chmod(0o600)
        except OSError as error:
            raise AccountError(f"cannot make {self.name}: {error.strerror}") from error

    def _upgrade(self, connection: Connection) -> None:
        if self._file is not None:
            names = inspect(connection).get_table_names()
            if names and VERSION_TABLE not in names:  # whoever reads its file would read ours
                raise AccountError(f"{self.name} is the database of another program: give a file of its own")
        _upgrade(connection)

    def _written(
        self, work: Callable[[Connection], T], consequence: str, away: float = 0.0, repeatable: bool = False
    ) -> T:
        end = time.monotonic() + WAIT
        lost_until: float | None = None  # since when the server is away decides how long it may be
        with self._telling(consequence), self._engine() as engine:
            writing = engine.execution_options(tacit_writes_until=end)
            while True:
                try:
                    return self._once(writing, work, repeatable)
                except DBAPIError as error:
                    now, last = time.monotonic(), end
                    if self._is_lost(error, repeatable):
                        last = lost_until = now + away if lost_until is None else lost_until
                    elif not _is_of_others(error):
                        raise
                    if now >= last:
                        raise
                time.sleep(jitter())

    def _once(self, engine: Engine, work: Callable[[Connection], T], repeatable: bool) -> T:
        """One try. Where a commit fails, nobody knows whether it is there, but for the states of :data:`AGAIN`."""
        with engine.connect() as connection, connection.begin() as transaction:
            if self._file is None:
                _take_postgresql_lock(connection)
            result = work(connection)
            try:
                transaction.commit()
            except DBAPIError as error:
                if _is_of_others(error) or (repeatable and self._is_lost(error, repeatable)):
                    raise
                reason = str(error.orig).partition("\n")[0]
                raise AccountError(f"the budget store {self.name} did not answer: {reason}", UNKNOWN) from error
            return result

    def _is_lost(self, error: DBAPIError, repeatable: bool) -> bool:
        """Whether a server or its connection failed, which may pass, and not what was asked."""
        if self._file is not None:
            return False
        passing = repeatable and getattr(error.orig, "sqlstate", None) in PASSING
        return passing or error.connection_invalidated or error.statement is None

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        """What opens connections: a new one for every transaction, so that it works from forks and threads."""
        if self._file is not None and not self._file.is_file():
            raise AccountError(f"there is no budget store at {self.name}; create the account first")
        try:
            engine = _engine_of(self._url)
        except (ImportError, NoSuchModuleError) as error:
            words = f"cannot open {self.name}: {error}. PostgreSQL takes pip install 'tacit[postgresql]'"
            raise AccountError(words) from error
        yield engine

    @contextmanager
    def _telling(self, consequence: str) -> Iterator[None]:
        """Failures of the database come out as ``AccountError``."""
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error, UnicodeError) as error:
            reason = str(getattr(error, "orig", None) or error).partition("\n")[0]  # drivers add questions
            if isinstance(error, DBAPIError) and error.statement is None and self._file is None:  # while it connects
                reason += UNREACHED
            raise AccountError(f"the budget store {self.name} cannot be used: {reason}", f"; {consequence}") from error

    def _bring_up(self, connection: Connection) -> None:
        """Makes the tables that an older version of the library did not have."""
        try:
            self._upgrade(connection)
        except ProgrammingError as error:
            reason = str(error.orig).partition("\n")[0]
            raise AccountError(f"{self.name} has tables of an older version, and this role cannot make new ones "
                               f"({reason}): let their owner run tacit budget list once, and "
                               "grant SELECT and INSERT on all tables again") from error  # fmt: skip

    def _check_version(self, connection: Connection) -> bool:
        """Whether the tables are those of an older version; raises unless they are of one that is known."""
        try:
            version = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar()  # noqa: S608
        except (OperationalError, ProgrammingError):
            if self._has_tables():
                raise
            raise AccountError(f"{self.name} holds no budgets; create the account first") from None
        if version not in (HEAD, *OLDER):
            raise AccountError(f"{self.name} has tables of version {version}, and this version of tacit uses {HEAD}")
        return str(version) != HEAD

    def _has_tables(self) -> bool:
        with self._engine() as engine, engine.connect() as connection:
            return inspect(connection).has_table(VERSION_TABLE)


@lru_cache(maxsize=16)
def _engine_of(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        if "connect_timeout" not in url.query:
            url = url.update_query_dict({"connect_timeout": str(CONNECT_WAIT)})
        engine = create_engine(url, poolclass=NullPool, isolation_level="READ COMMITTED", connect_args=UNPREPARED)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(SETTINGS))
        return engine
    engine = create_engine(url, poolclass=NullPool)
    event.listen(engine, "connect", _sqlite_connected)
    event.listen(engine, "begin", _sqlite_begins)
    return engine


def _sqlite_connected(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # the driver must not begin transactions by itself
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA foreign_keys = ON")


def _sqlite_begins(connection: Connection) -> None:
    end = connection.get_execution_options().get("tacit_writes_until")
    driver: sqlite3.Connection = connection.connection.dbapi_connection  # type: ignore[assignment]
    if end is not None:
        driver.execute("PRAGMA busy_timeout = 0")
        while not _has_sqlite_lock(driver, end):
            time.sleep(jitter())
    driver.execute(f"PRAGMA busy_timeout = {int(1000 * WAIT)}")
    if end is None:
        driver.execute("BEGIN")


def _has_sqlite_lock(driver: sqlite3.Connection, end: float) -> bool:
    """Tries once, past SQLAlchemy: many may wait, and a try should cost them nothing."""
    try:
        driver.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
            raise
        return False
    return True


def jitter() -> float:
    """Seconds to wait before another try: of one distribution for all, so that nobody is served last for long.

    They come from the clock's last digits, which differ between processes; nothing of the rows or of the noise is in
    them.
    """
    return POLL * (time.perf_counter_ns() % 997) / 997


def _is_of_others(error: DBAPIError) -> bool:
    """Whether a transaction failed only because of those beside it, and nothing of it was written."""
    return getattr(error.orig, "sqlstate", None) in AGAIN


def _take_postgresql_lock(connection: Connection) -> None:
    connection.exec_driver_sql("SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
    connection.exec_driver_sql(
        f"SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = '{WAIT:.0f}s'; "
        f"SELECT pg_advisory_xact_lock({LOCK})"
    )


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
