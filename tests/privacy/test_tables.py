"""Tests elsewhere write the tables of accounts without migrations: they are the same."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import create_engine

from tests.accounts import migrate, write_tables


def test_tables_of_other_tests_are_those_of_migrations(tmp_path: Path) -> None:
    dumps = []
    for number, make in enumerate((migrate, write_tables)):
        with create_engine(f"sqlite:///{tmp_path}/{number}.db").begin() as connection:
            make(connection)
        with sqlite3.connect(tmp_path / f"{number}.db") as connection:
            dumps.append(list(connection.iterdump()))
    assert dumps[0] == dumps[1]
    assert len(dumps[0]) > 20
