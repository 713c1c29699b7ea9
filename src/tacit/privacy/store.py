"""Where accounts are kept: append-only tables in any database SQLAlchemy can reach, SQLite by default.

Loaded only when an account is used: SQLAlchemy is slow to import. Every operation opens its own connection, so a store
can be used from forked and spawned processes and from threads.
"""

from __future__ import annotations

import getpass
import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, insert, inspect, make_url, select
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from tacit.privacy.charges import Charge
from tacit.privacy.errors import AccountError
from tacit.privacy.label import Label
from tacit.privacy.ledger import Entry
from tacit.privacy.store_records import Facts, Held, Line, Reserved, read_charges, read_facts, read_unit
from tacit.privacy.store_tables import (
    ACCOUNTS,
    BATCHES,
    CLOSINGS,
    ENTRIES,
    META,
    METADATA,
    RESERVATIONS,
    SECRETS,
    UNITS,
)

VERSION = 2
"""Version of the tables. A store of a later one is refused; one of an earlier gets what it lacks when it is written."""

WAIT = 60.0
"""Seconds to wait for another process that holds the store."""


def normal_url(url: str) -> URL:
    """The URL with an absolute path, so that it means the same in another process; a plain path is an SQLite file.

    Raises:
        AccountError: if it is no URL, or a store in memory, which would not be durable.
    """
    try:
        parsed = make_url(url) if "://" in url else URL.create("sqlite", database=url)
    except ArgumentError:
        raise AccountError(f"{url!r} is neither a path nor a database URL such as sqlite:///budget.db") from None
    if parsed.get_backend_name() != "sqlite":
        return parsed
    if not parsed.database or parsed.database == ":memory:":
        raise AccountError("an account needs a store that survives the process, such as sqlite:///budget.db")
    return parsed.set(database=str(Path(parsed.database).absolute()))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _holder() -> str:
    return f"{_user()}@{platform.node()}:{os.getpid()}"


def _user() -> str:
    """Who opens a reservation, for people: nothing is proved by it."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a process that no user's name belongs to
        return f"user {os.getuid()}"


def _is_gone(holder: str) -> bool:
    """Whether the process that opened a reservation has ended, as far as this machine can tell."""
    where, _, process = holder.rpartition(":")
    node = where.rpartition("@")[2]
    if node != platform.node():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _sqlite_transactions(engine: Engine, write: bool) -> None:
    """SQLite: a transaction that writes takes the lock when it begins, and is on the disk when it ends."""

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # the driver must not begin transactions by itself
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _began(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


class Store:
    """The tables behind accounts.

    Args:
        url: as :func:`normal_url` returns it.
    """

    def __init__(self, url: URL) -> None:
        self._url = url
        self._is_sqlite = url.get_backend_name() == "sqlite"

    @property
    def name(self) -> str:
        """The URL for messages, without its password."""
        return unquote(self._url.render_as_string(hide_password=True))

    @contextmanager
    def transaction(
        self, *, write: bool = False, create: bool = False, consequence: str = "nothing was spent"
    ) -> Iterator[Connection]:
        """A transaction that sees all earlier ones; failures of the database come out as ``AccountError``."""
        if self._is_sqlite and not create and not Path(self._url.database or "").is_file():
            raise AccountError(f"there is no budget store at {self.name}; create the account first")
        try:
            options = {"connect_args": {"timeout": WAIT}} if self._is_sqlite else {}
            engine = create_engine(self._url, poolclass=NullPool, **options)
        except (ImportError, NoSuchModuleError) as error:
            raise AccountError(f"cannot open {self.name}: {error}", f"; {consequence}") from error
        if self._is_sqlite:
            _sqlite_transactions(engine, write or create)
        try:
            with engine.begin() as connection:
                if create:
                    self.make_tables(connection)
                self._check_version(connection)
                yield connection
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error)
            raise AccountError(f"the budget store {self.name} cannot be used: {reason}", f"; {consequence}") from error
        finally:
            engine.dispose()

    def make_tables(self, connection: Connection) -> None:
        present = set(inspect(connection).get_table_names())
        missing = [table for table in METADATA.sorted_tables if table.name not in present]
        if not missing:
            return
        METADATA.create_all(connection, missing)
        if VERSION not in connection.execute(select(META.c.version)).scalars().all():
            connection.execute(insert(META).values(version=VERSION))
        if self._is_sqlite:  # elsewhere the operator grants no right to update or delete
            for table in missing:
                for verb in ("UPDATE", "DELETE"):
                    connection.exec_driver_sql(
                        f"CREATE TRIGGER {table.name}_no_{verb.lower()} BEFORE {verb} ON {table.name} "
                        f"BEGIN SELECT RAISE(ABORT, '{table.name} is append-only'); END"
                    )

    def _check_version(self, connection: Connection) -> None:
        if not inspect(connection).has_table(META.name):
            raise AccountError(f"{self.name} holds no budgets; create the account first")
        found = max(connection.execute(select(META.c.version)).scalars(), default=None)
        if found is None or found > VERSION:
            raise AccountError(f"{self.name} has format {found}, this version of tacit reads formats up to {VERSION}")

    def create_account(self, dataset: str, facts: Facts, unit: tuple[str, int] | None = None) -> None:
        """Writes a new account, and its unit if there is one yet."""
        row = {"dataset": dataset, "epsilon": facts.epsilon, "delta": facts.delta, "created": _now()}
        with self.transaction(create=True) as connection:
            try:
                connection.execute(insert(ACCOUNTS).values(neighbouring=str(facts.neighbouring), **row))
            except IntegrityError:
                raise AccountError(
                    f"{self.name} already has an account for {dataset!r}; a budget cannot be replaced: open it with "
                    f"PrivacyAccount(url, {dataset!r}), or see tacit budget show"
                ) from None
            if unit is not None:
                self._write_unit(connection, dataset, unit)

    @staticmethod
    def _write_unit(connection: Connection, dataset: str, unit: tuple[str, int]) -> None:
        connection.execute(insert(UNITS).values(dataset=dataset, column=unit[0], max_rows=unit[1]))

    def unit(self, dataset: str) -> tuple[str, int] | None:
        """What the account protects; None if no fit has said so yet."""
        with self.transaction() as connection:
            return self._unit(connection, dataset)

    @staticmethod
    def _unit(connection: Connection, dataset: str) -> tuple[str, int] | None:
        if not inspect(connection).has_table(UNITS.name):  # of a store that was made before there were units
            return None
        row = connection.execute(select(UNITS).where(UNITS.c.dataset == dataset)).one_or_none()
        if row is None:
            return None
        return read_unit(row.column, row.max_rows)

    def key(self, dataset: str, fresh: bytes) -> bytes:
        """The secret that this account makes fingerprints of batches with: ``fresh`` when it is first asked for."""
        with self.transaction(write=True) as connection:
            self.make_tables(connection)
            known = connection.execute(select(SECRETS.c.key).where(SECRETS.c.dataset == dataset)).scalar()
            if known is None:
                known = fresh.hex()
                connection.execute(insert(SECRETS).values(dataset=dataset, key=known))
            return bytes.fromhex(str(known))

    def take_batch(self, dataset: str, fingerprint: str) -> None:
        """Writes down that a batch was learned from."""
        with self.transaction(write=True) as connection:
            self.make_tables(connection)
            if not self._seen(connection, dataset, fingerprint):
                connection.execute(insert(BATCHES).values(dataset=dataset, fingerprint=fingerprint))

    @staticmethod
    def _seen(connection: Connection, dataset: str, fingerprint: str) -> bool:
        mine = BATCHES.c.dataset == dataset, BATCHES.c.fingerprint == fingerprint
        return connection.execute(select(BATCHES.c.dataset).where(*mine)).first() is not None

    def datasets(self) -> tuple[str, ...]:
        """The names of all accounts."""
        with self.transaction() as connection:
            return tuple(connection.execute(select(ACCOUNTS.c.dataset).order_by(ACCOUNTS.c.dataset)).scalars())

    def facts(self, dataset: str) -> Facts:
        """What the account promises."""
        with self.transaction() as connection:
            row = connection.execute(select(ACCOUNTS).where(ACCOUNTS.c.dataset == dataset)).one_or_none()
            if row is None:
                names = ", ".join(connection.execute(select(ACCOUNTS.c.dataset)).scalars()) or "none"
                raise AccountError(
                    f"{self.name} has no account for {dataset!r} (there are: {names}); create it with "
                    f"PrivacyAccount.create, or tacit budget create"
                )
            return read_facts(row.epsilon, row.delta, row.neighbouring)

    def charges(self, dataset: str) -> tuple[Charge, ...]:
        """All charges ever reserved, whatever became of the reservation."""
        with self.transaction() as connection:
            return tuple(charge for held in self._reserved(connection, dataset) for charge in held.charges)

    def _reserved(self, connection: Connection, dataset: str) -> list[Reserved]:
        columns = (RESERVATIONS.c.label, RESERVATIONS.c.charges)
        query = select(*columns).where(RESERVATIONS.c.dataset == dataset).order_by(RESERVATIONS.c.id)
        return [Reserved(row.label, read_charges(row.charges)) for row in connection.execute(query)]

    def reserve(
        self,
        dataset: str,
        label: str,
        unit: tuple[str, int],
        decide: Callable[[Held], Sequence[Charge]],
        fingerprint: str | None = None,
        also: Callable[[Connection, int], None] | None = None,
    ) -> tuple[int, tuple[Charge, ...]]:
        """Adds a reservation in one durable write: of what ``decide`` says on all so far, unless it raises.

        No other process can reserve between the decision and the write. The first reservation fixes the account's unit.
        ``fingerprint``: of the batch of rows it is for, which is written down with it. ``also`` writes more about the
        reservation of that number in the same transaction: both are there, or neither.

        Returns:
            The reservation's identifier, and its charges.
        """
        row = {"dataset": dataset, "label": label, "holder": _holder(), "created": _now()}
        with self.transaction(write=True) as connection:
            self.make_tables(connection)
            # Where a transaction does not lock the whole database, this locks the account until it ends.
            locked = select(ACCOUNTS.c.dataset).where(ACCOUNTS.c.dataset == dataset).with_for_update()
            if connection.execute(locked).scalar() is None:
                raise AccountError(f"{self.name} has lost its account for {dataset!r}")
            seen = fingerprint is not None and self._seen(connection, dataset, fingerprint)
            held = Held(tuple(self._reserved(connection, dataset)), self._unit(connection, dataset), seen)
            charges = tuple(decide(held))
            if fingerprint is not None and not seen:
                connection.execute(insert(BATCHES).values(dataset=dataset, fingerprint=fingerprint))
            if held.unit is None:
                self._write_unit(connection, dataset, unit)
            text = json.dumps([charge.to_dict() for charge in charges])
            added = insert(RESERVATIONS).values(charges=text, **row).returning(RESERVATIONS.c.id)
            identifier = int(connection.execute(added).scalar_one())
            if also is not None:
                also(connection, identifier)
            return identifier, charges

    def close(self, identifier: int, entries: Sequence[Entry], outcome: str, *, timeless: bool = False) -> None:
        """Adds the entries and the outcome of a reservation; ``timeless``: and not when it ended."""
        rows = [
            {
                "reservation": identifier,
                "sequence": entry.sequence,
                "label": entry.label,
                "charge": json.dumps(entry.charge.to_dict()),
                "theorem": entry.theorem,
            }
            for entry in entries
        ]
        with self.transaction(write=True, consequence="the reservation keeps its full charge") as connection:
            if rows:
                connection.execute(insert(ENTRIES), rows)
            connection.execute(
                insert(CLOSINGS).values(reservation=identifier, outcome=outcome, closed="" if timeless else _now())
            )

    def lines(self, dataset: str) -> tuple[Line, ...]:
        """The history of an account, oldest first."""
        mine = select(RESERVATIONS.c.id).where(RESERVATIONS.c.dataset == dataset)
        with self.transaction() as connection:
            entries: dict[int, list[Entry]] = {}
            query = select(ENTRIES).where(ENTRIES.c.reservation.in_(mine)).order_by(ENTRIES.c.sequence)
            for row in connection.execute(query):
                [charge] = read_charges(f"[{row.charge}]")
                entry = Entry(row.sequence, Label.of(row.label), charge, row.theorem)
                entries.setdefault(row.reservation, []).append(entry)
            joined = RESERVATIONS.outerjoin(CLOSINGS, CLOSINGS.c.reservation == RESERVATIONS.c.id)
            columns = (RESERVATIONS, CLOSINGS.c.outcome, CLOSINGS.c.closed)
            chosen = select(*columns).select_from(joined).where(RESERVATIONS.c.dataset == dataset)
            rows = connection.execute(chosen.order_by(RESERVATIONS.c.id)).all()
        return tuple(
            Line(
                identifier=row.id,
                label=row.label,
                charges=read_charges(row.charges),
                status=row.outcome or ("interrupted" if _is_gone(row.holder) else "open"),
                created=row.created,
                closed=row.closed or None,
                entries=tuple(entries.get(row.id, ())),
                by=row.holder.rpartition(":")[0] if "@" in row.holder else None,
            )
            for row in rows
        )
