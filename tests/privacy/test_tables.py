"""What accounts of other tests leave out (`tests/accounts.py`): tables are alike, and a commit waits for the disk."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import create_engine, make_url

from tacit.privacy import database
from tacit.privacy.account import PrivacyAccount
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


def test_every_line_is_durable_before_it_counts(tmp_path: Path) -> None:
    """The journal and its directory are on the disk before a commit returns: EXTRA, which is 3."""
    PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1.0, 1e-6)
    with database._engine_of(make_url(f"sqlite:///{tmp_path}/a.db")).connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "delete"
