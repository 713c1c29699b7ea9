"""Accounts for tests that are about something else: with the tables of the first one, and no waiting for the disk.

Migrations take longer than most of what a test does with its account. The tests of accounts run them every time, and
wait for every line to be durable.
"""

from __future__ import annotations

import sqlite3
from functools import cache

from sqlalchemy import Connection, create_engine

from tacit.privacy import database

migrate, connected = database._upgrade, database._sqlite_connected
TABLES = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"


@cache
def statements() -> tuple[str, ...]:
    """What migrations leave in an empty SQLite store."""
    with create_engine("sqlite://").begin() as connection:
        migrate(connection)
        made = [sql for (sql,) in connection.exec_driver_sql(TABLES)]
    return (*made, f"INSERT INTO {database.VERSION_TABLE} VALUES ('{database.HEAD}')")


def write_tables(connection: Connection) -> None:
    """In the place of migrations, where there is nothing to migrate."""
    if connection.dialect.name != "sqlite" or connection.exec_driver_sql(TABLES).first():
        migrate(connection)
        return
    for statement in statements():
        connection.exec_driver_sql(statement)


def connect_without_waiting(connection: sqlite3.Connection, record: object) -> None:
    """What is written is there for every process at once, but not after a loss of power."""
    connected(connection, record)
    connection.execute("PRAGMA synchronous = OFF")
