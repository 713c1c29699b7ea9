"""Accounts in PostgreSQL, whatever isolation its operator has set: one lock, one budget, nothing changed or lost."""

from __future__ import annotations

import multiprocessing
import socket
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError, OperationalError

import tacit
import tacit.privacy.database as database
from tacit import AdditiveBoostClassifier, BatchwiseClassifier, PrivacyAccount
from tacit.privacy.account_key import VARIABLE
from tacit.privacy.charges import Pure
from tacit.privacy.database import VERSION_TABLE, Database, normal_url
from tacit.privacy.ledger import AccountError, BudgetExceeded
from tacit.privacy.store_records import METADATA
from tacit.schema import Unit
from tests.postgresql import server


@pytest.fixture(scope="module", params=["read committed", "repeatable read", "serializable"])
def strict(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server whose transactions are isolated in this way, unless they say otherwise."""
    with server(f"default_transaction_isolation={request.param}") as url:
        yield url


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with server("default_transaction_isolation=repeatable read", "synchronous_commit=off") as found:
        yield found


def opened(url: str, dataset: str, epsilon: float = 1.0, **more: Any) -> PrivacyAccount:
    PrivacyAccount.create(url, dataset, epsilon, 0.0)
    return PrivacyAccount(url, dataset, **more)


WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


def test_of_two_who_want_the_last_of_a_budget_one_has_it(strict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second comes while the first decides; it waits for the lock, and sees what the first has written."""
    account = opened(strict, "one for two")
    decide, order, seconds = PrivacyAccount._check, [], []

    def deciding(self: PrivacyAccount, *asked: Any) -> None:
        order.append(threading.current_thread().name)
        if len(order) == 1:
            seconds.append(threading.Thread(target=reserve, name="second"))
            seconds[0].start()
            while len(order) == 1 and not waiting(strict):
                time.sleep(0.01)
        decide(self, *asked)

    def reserve() -> None:
        try:
            PrivacyAccount(strict, "one for two").reserve([Pure(1.0)], "a fit").close()
        except BudgetExceeded:
            order.append("refused")

    monkeypatch.setattr(PrivacyAccount, "_check", deciding)
    account.reserve([Pure(1.0)], "a fit").close()
    seconds[0].join()
    assert order == ["MainThread", "second", "refused"]
    assert account.spent == 1.0
    assert [line.status for line in account.reservations()] == ["completed"]


def waiting(url: str) -> int:
    """How many wait for an advisory lock."""
    with Database(normal_url(url)).read() as connection:
        return int(connection.execute(text(WAITING)).scalar_one())


def test_a_write_says_itself_how_it_is_isolated_and_how_durable_it_is(url: str) -> None:
    """Whatever the server or the role is set to."""
    right = {
        "transaction_isolation": "read committed", "synchronous_commit": "on", "lock_timeout": "10min",
        "statement_timeout": "0", "idle_in_transaction_session_timeout": "0", "row_security": "off",
        "extra_float_digits": "1",
    }  # fmt: skip

    def settings(connection: Any) -> dict[str, str]:
        return {name: connection.exec_driver_sql(f"SHOW {name}").scalar() for name in right}

    opened(url, "settings")
    role = of_role(url, "hurried", "SET statement_timeout = '50s'", "SET idle_in_transaction_session_timeout = '50s'")
    assert Database(normal_url(role)).write(settings) == right


def test_no_setting_of_a_role_changes_what_is_promised_or_what_was_spent(url: str) -> None:
    """Fewer digits would promise 2 for 1.6, and rows out of sight would not count."""
    opened(url, "hidden", 1.6).reserve([Pure(1.5)], "a fit").close()
    account = PrivacyAccount(of_role(url, "rounding", "SET extra_float_digits = -15"), "hidden")
    assert (account.epsilon, account.spent) == (1.6, 1.5)
    with pytest.raises(BudgetExceeded):
        account.reserve([Pure(0.25)], "another")
    blind = of_role(url, "blind")
    with create_engine(normal_url(url)).begin() as owner:
        owner.execute(text("ALTER TABLE tacit_reservations ENABLE ROW LEVEL SECURITY"))
        owner.execute(text("CREATE POLICY mine ON tacit_reservations TO blind USING (label = 'x') WITH CHECK (true)"))
    try:
        with pytest.raises(AccountError, match=r"affected by row-level security.*nothing was spent"):
            PrivacyAccount(blind, "hidden").reserve([Pure(0.5)], "x")
    finally:
        Database(normal_url(url)).write(
            lambda owner: owner.exec_driver_sql("ALTER TABLE tacit_reservations DISABLE ROW LEVEL SECURITY")
        )


@pytest.mark.parametrize("place", ["postgresql", "sqlite"])
def test_a_line_comes_after_all_others_whoever_numbered_them(place: str, tmp_path: Path, request: Any) -> None:
    """The last line has the total: a number below it would be overlooked, as by a sequence that was set back."""
    where = request.getfixturevalue("url") if place == "postgresql" else str(tmp_path / "b.db")
    account = opened(where, f"numbers in {place}")

    def lines(connection: Any) -> list[int]:
        return [row[0] for row in connection.exec_driver_sql("SELECT id FROM tacit_reservations ORDER BY id")]

    last = max(Database(normal_url(where)).write(lines), default=0)
    account.reserve([Pure(0.25)], "x").close()
    jump = "INSERT INTO tacit_reservations SELECT id + 70, dataset, label, charges, total, holder, created FROM "
    Database(normal_url(where)).write(
        lambda connection: connection.exec_driver_sql(f"{jump} tacit_reservations WHERE id = {last + 1}")
    )
    account.reserve([Pure(0.5)], "y").close()
    PrivacyAccount.create(where, "another", 1.0, 0.0)
    PrivacyAccount(where, "another").reserve([Pure(0.5)], "z").close()
    assert Database(normal_url(where)).write(lines)[-4:] == [last + 1, last + 71, last + 72, last + 73]
    assert account.spent == 0.75


@pytest.mark.parametrize("end", ["pg_terminate_backend", "pg_cancel_backend"])
def test_what_is_cut_off_before_its_commit_is_done_again(url: str, end: str) -> None:
    """A connection that the operator ends, always; a statement that somebody cancels, only where the end is written."""
    opened(url, f"cut off by {end}")
    calls: list[int] = []

    def work(connection: Any) -> str:
        calls.append(1)
        if len(calls) < 3:
            connection.exec_driver_sql(f"SELECT {end}(pg_backend_pid())")
        return "done"

    if end == "pg_cancel_backend":
        with pytest.raises(AccountError, match=r"canceling statement.*nothing was spent"):
            Database(normal_url(url)).write(work)
        calls.clear()
    assert Database(normal_url(url)).write(work, repeatable=end == "pg_cancel_backend") == "done"
    assert len(calls) == 3


def test_a_closing_that_may_have_been_written_is_there_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlalchemy.engine.base import RootTransaction

    account, commit, times = opened(url, "closed once"), RootTransaction.commit, []
    paid = account.reserve([Pure(0.25)], "x")
    paid.record(Pure(0.25), "a release", "a theorem")

    def broken(self: Any) -> None:
        commit(self)
        times.append(1)
        if len(times) < 3:
            raise DBAPIError(None, None, Exception("the connection was lost"), connection_invalidated=True)

    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("error")
        patch.setattr(RootTransaction, "commit", broken)
        paid.close()
    assert len(times) == 3
    [line] = account.reservations()
    assert (line.status, len(line.entries)) == ("completed", 1)


@pytest.mark.parametrize(("away", "there"), [(60.0, True), (0.0, False)])
def test_who_was_there_may_be_away_for_a_minute(
    url: str, monkeypatch: pytest.MonkeyPatch, away: float, there: bool
) -> None:
    """A server that restarts: the first three tries to connect fail."""
    assert database.RETURN == 60.0
    account, once, tries = opened(url, f"away {away}"), Database._once, []

    def restarting(self: Any, *asked: Any) -> Any:
        tries.append(1)
        if len(tries) < 4:
            raise OperationalError(None, None, Exception("server refuses"))
        return once(self, *asked)

    monkeypatch.setattr(Database, "_once", restarting)
    monkeypatch.setattr(database, "RETURN", away)
    if there:
        account.reserve([Pure(0.5)], "x").close()
    else:
        with pytest.raises(AccountError, match=r"server refuses.*nothing was spent"):
            account.reserve([Pure(0.5)], "x")
    assert account.spent == 0.5 * there


def test_behind_a_pooler_nothing_is_prepared(url: str) -> None:
    """It would be prepared on another connection, under a name that is taken there."""

    def prepared(connection: Any) -> int:
        for number in range(9):
            connection.execute(text("SELECT :number"), {"number": number})
        return int(connection.exec_driver_sql("SELECT count(*) FROM pg_prepared_statements").scalar())

    opened(url, "pooled")
    assert Database(normal_url(url)).write(prepared) == 0


def write(url: str, dataset: str, answers: Any) -> None:
    account, records = PrivacyAccount(url, dataset), []
    for number in range(6):
        try:
            with account.reserve([Pure(1 / 16)], f"{number}") as paid:
                paid.record(Pure(1 / 16), "a release", "a theorem")
            records.append("paid")
        except BudgetExceeded:
            records.append("refused")
    answers.put(records)


def test_not_one_too_many_is_granted_and_no_closing_is_lost(strict: str) -> None:
    account = opened(strict, "contended")
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    writers = [context.Process(target=write, args=(strict, "contended", answers)) for _ in range(4)]
    for writer in writers:
        writer.start()
    said = [each for _ in writers for each in answers.get()]
    for writer in writers:
        writer.join()
    assert (said.count("paid"), said.count("refused")) == (16, 8)
    assert account.spent == 1.0
    lines = account.reservations()
    assert [line.status for line in lines] == ["completed"] * 16
    assert [len(line.entries) for line in lines] == [1] * 16


def test_nobody_changes_or_deletes_a_line(url: str) -> None:
    opened(url, "append only").reserve([Pure(0.1)], "x").close()
    for table in METADATA.sorted_tables:
        for statement in (f"DELETE FROM {table.name}", f"UPDATE {table.name} SET {table.columns.keys()[0]} = NULL",
                          f"TRUNCATE {table.name} CASCADE"):  # fmt: skip
            with pytest.raises(AccountError, match="is append-only"):
                Database(normal_url(url)).write(lambda connection, said=statement: connection.execute(text(said)))
    assert PrivacyAccount(url, "append only").spent == 0.1


def of_role(url: str, name: str, *settings: str) -> str:
    """The store as a role with the rights that docs/accounts.md names sees it."""
    with create_engine(normal_url(url)).begin() as owner:
        owner.execute(text(f"CREATE ROLE {name} LOGIN"))
        owner.execute(text(f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO {name}"))
        for setting in settings:
            owner.execute(text(f"ALTER ROLE {name} {setting}"))
    return url.replace("tacit@", f"{name}@")


def test_a_role_without_the_right_to_change_rows_is_enough(url: str) -> None:
    opened(url, "of a role")
    account = PrivacyAccount(of_role(url, "fits"), "of a role")
    account.reserve([Pure(0.5)], "x").close()
    assert account.spent == 0.5


@pytest.mark.parametrize("place", ["postgresql", "sqlite"])
def test_the_migrations_make_the_tables_that_the_library_uses(place: str, tmp_path: Path, request: Any) -> None:
    where = request.getfixturevalue("url") if place == "postgresql" else str(tmp_path / "b.db")
    PrivacyAccount.create(where, "migrated", 1.0, 0.0)
    with Database(normal_url(where)).read() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, METADATA) == []
        assert context.get_current_revision() == database.HEAD


@pytest.mark.parametrize("place", ["postgresql", "sqlite"])
def test_a_store_of_the_first_version_is_brought_up_by_its_owner(
    place: str, tmp_path: Path, request: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is lost, and what it protects may be named from then on."""
    where = str(tmp_path / "b.db")
    if place == "postgresql":
        url = request.getfixturevalue("url")
        with create_engine(normal_url(url), isolation_level="AUTOCOMMIT").begin() as owner:
            owner.execute(text("CREATE DATABASE older"))
        where = url.replace("/postgres?", "/older?")
        assert where != url
    upgrade, unit = command.upgrade, Unit("who", 3)
    with monkeypatch.context() as then:
        then.setattr(command, "upgrade", lambda config, _: upgrade(config, "1"))
        then.setattr(database, "HEAD", "1")
        account = PrivacyAccount.create(where, "older", 1.0, 0.0, unit=unit)
        account.reserve([Pure(0.25)], "x", unit=unit).close()
    if place == "postgresql":
        with pytest.raises(AccountError, match=r"cannot make new ones.*let their owner run tacit budget list"):
            PrivacyAccount(of_role(where, "younger"), "older")
    account = PrivacyAccount(where, "older")
    assert (account.spent, account.unit, len(account.reservations())) == (0.25, unit, 1)
    account.reserve([Pure(0.25)], "y", unit=Unit("who", 3, "patient")).close()
    assert account.unit == Unit("who", 3, "patient")
    with Database(normal_url(where)).read() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert (compare_metadata(context, METADATA), context.get_current_revision()) == ([], database.HEAD)


def batch(seed: int) -> tuple[pd.DataFrame, Any]:
    frame = pd.DataFrame({"age": np.random.default_rng(seed).uniform(0, 100, 60)})
    return frame, np.where(frame.age > 50, "yes", "no")


SCHEMA = {
    "columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100}},
    "label": {"column": "ill", "classes": ["no", "yes"]},
}


def test_fits_go_on_and_batches_are_known_with_a_key_that_the_caller_keeps(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings.simplefilter("ignore", UserWarning)
    monkeypatch.delenv(VARIABLE, raising=False)
    account = opened(url, "rows", 9.0)
    arguments = {"epsilon": 0.1, "delta": 0.0, "schema": SCHEMA}
    with tacit.options(resumable=True), pytest.raises(AccountError, match=r"key_file=.*TACIT_KEY_FILE.*nothing"):
        tacit.BoostedTreesClassifier(**arguments, n_trees=2, account=account).fit(*batch(0))
    with pytest.raises(AccountError, match=r"need a key that is not in the database"):
        BatchwiseClassifier(AdditiveBoostClassifier(**arguments, account=account)).partial_fit(*batch(1))
    assert account.reservations() == ()
    account = PrivacyAccount(url, "rows", key_file=tmp_path / "rows.key")
    trees = tacit.BoostedTreesClassifier(**arguments, n_trees=2, account=account)
    with tacit.options(resumable=True):
        model = trees.fit(*batch(0)).model_.to_dict()
    [kept], spent = account.kept(ended=True), account.spent
    with tacit.options(resume=kept.identifier):
        assert trees.fit(*batch(0)).model_.to_dict() == model
    assert account.spent == spent
    learner = BatchwiseClassifier(AdditiveBoostClassifier(**arguments, account=account)).partial_fit(*batch(1))
    with pytest.raises(AccountError, match="learned from before"):
        learner.partial_fit(*batch(1))
    assert learner.partial_fit(*batch(2)).charged_ is False


def silent() -> tuple[socket.socket, int]:
    """A port of this machine where nobody ever answers; closed, one that refuses."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    return listening, listening.getsockname()[1]


def test_a_store_that_cannot_be_reached_is_one_line_without_its_password(url: str, tmp_path: Path) -> None:
    """Host down or unknown, a server that is silent, no such socket, database, role or option."""
    listening, port = silent()
    closed, refusing = silent()
    closed.close()
    with listening:
        for place, words in (
            (f"postgresql://someone:secret@127.0.0.1:{refusing}/d", "Connection refused"),
            (f"postgresql://someone@127.0.0.1:{refusing}/d?password=secret&sslpassword=secret", "Connection refused"),
            (f"postgresql://someone:secret@127.0.0.1:{port}/d?connect_timeout=2", "timeout expired"),
            ("postgresql://someone:secret@no.such.host.invalid/d", "no.such.host.invalid"),
            (f"postgresql://someone:secret@/postgres?host={tmp_path}", "No such file"),
            (url.replace("tacit@/postgres", "tacit:secret@/nothing"), 'database "nothing" does not exist'),
            (url.replace("tacit@", "someone:secret@"), 'role "someone" does not exist'),
            (f"{url}&password=secret&sslmode=bogus", 'invalid sslmode value: "bogus"'),
        ):
            for use in (PrivacyAccount, lambda store, name: PrivacyAccount.create(store, name, 1.0, 0.0)):
                with pytest.raises(
                    AccountError, match=r"cannot be used: .*\(see that the server runs, .*nothing was"
                ) as no:
                    use(place, "d")
                assert words in str(no.value)
                assert "secret" not in str(no.value)
                assert "\n" not in str(no.value)


def test_a_wrong_password_is_one_line_without_it(url: str) -> None:
    rules = Path(url.partition("host=")[2]) / "data" / "pg_hba.conf"
    rules.write_text("local all guarded scram-sha-256\n" + rules.read_text())
    with create_engine(normal_url(url)).begin() as connection:
        connection.execute(text("CREATE ROLE guarded LOGIN PASSWORD 'right'"))
        connection.execute(text("SELECT pg_reload_conf()"))
    said = ""
    while "authentication failed" not in said:  # until the server has read its rules again it trusts everybody
        with pytest.raises(AccountError) as no:
            PrivacyAccount(url.replace("tacit@", "guarded:secret@"), "d")
        said = str(no.value)
    assert "secret" not in said
    assert "\n" not in said
    assert "user, password, host and database of the URL); nothing was spent" in said


def test_who_waits_for_a_server_waits_half_a_minute() -> None:
    assert database.CONNECT_WAIT == 30
    engine = database._engine_of(normal_url("postgresql://me@/d"))
    assert engine.url.query == {"connect_timeout": "30"}
    engine = database._engine_of(normal_url("postgresql://me@/d?connect_timeout=3"))
    assert engine.url.query == {"connect_timeout": "3"}


class Failing:
    """Work that the server refuses because of others, so many times."""

    def __init__(self, state: str, times: int) -> None:
        self.state, self.times, self.calls = state, times, 0

    def __call__(self, connection: Any) -> str:
        self.calls += 1
        if self.calls <= self.times:
            cause = Exception("others were faster")
            cause.sqlstate = self.state  # type: ignore[attr-defined]
            raise OperationalError("SELECT", {}, cause)
        return "done"


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_what_fails_because_of_others_is_done_again(state: str, tmp_path: Path) -> None:
    PrivacyAccount.create(str(tmp_path / "b.db"), "d", 1.0, 0.0)
    work = Failing(state, 5)
    assert Database(normal_url(str(tmp_path / "b.db"))).write(work) == "done"
    assert work.calls == 6


def test_what_fails_for_another_reason_is_not(tmp_path: Path) -> None:
    PrivacyAccount.create(str(tmp_path / "b.db"), "d", 1.0, 0.0)
    work = Failing("23505", 1)
    with pytest.raises(AccountError, match="others were faster; nothing was spent"):
        Database(normal_url(str(tmp_path / "b.db"))).write(work)
    assert work.calls == 1


def test_a_commit_that_nobody_knows_of_is_said_to_be_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = opened(str(tmp_path / "b.db"), "d")
    from sqlalchemy.engine.base import RootTransaction

    def broken(_: Any) -> None:
        raise DBAPIError("COMMIT", {}, Exception("the connection was lost"))

    with monkeypatch.context() as patch:
        patch.setattr(RootTransaction, "commit", broken)
        with pytest.raises(AccountError, match="whether it was charged is not known: see tacit budget show"):
            account.reserve([Pure(0.1)], "x")


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_a_commit_that_fails_because_of_others_is_done_again(
    state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account, failing = opened(str(tmp_path / "b.db"), "d"), Failing(state, 2)
    from sqlalchemy.engine.base import RootTransaction

    commit = RootTransaction.commit

    def refused(self: Any) -> None:
        failing(None)
        commit(self)

    monkeypatch.setattr(RootTransaction, "commit", refused)
    account.reserve([Pure(0.25)], "x").close()
    assert failing.calls == 4
    assert account.spent == 0.25
    assert len(account.reservations()) == 1


@pytest.mark.parametrize(
    "given",
    ["mysql://u@h/d", "mariadb+pymysql://u@h/d", "mssql+pyodbc://h/d", "oracle://h/d", "duckdb:///x.db", "nosuch://x/y",
     "postgresql+psycopg2://u@h/d", "postgresql+asyncpg://u@h/d", "sqlite+aiosqlite:///x.db"],
)  # fmt: skip
def test_other_databases_are_refused_with_a_list_of_those_that_are_not(given: str) -> None:
    with pytest.raises(AccountError, match=r"accounts are kept in SQLite .*PostgreSQL.*, not in .*; nothing was spent"):
        PrivacyAccount.create(given, "d", 1.0, 0.0)


@pytest.mark.parametrize(
    "given", ["sqlite:///b.db?nolock=1", "sqlite:///file:x?mode=memory&uri=true", "sqlite:///file:b.db"]
)
def test_options_of_sqlite_that_could_turn_locks_off_are_refused(given: str) -> None:
    with pytest.raises(AccountError, match="a path, without options"):
        PrivacyAccount.create(given, "d", 1.0, 0.0)


def test_short_names_of_postgresql_are_the_same_account() -> None:
    names = {normal_url(f"{name}://u@h/d") for name in ("postgresql", "postgres", "postgresql+psycopg")}
    assert len(names) == 1


def test_those_who_wait_for_sqlite_wait_at_random_and_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = [database.jitter() for _ in range(2000)]
    assert min(waits) >= 0
    assert max(waits) <= database.POLL
    assert len(set(waits)) > 100
    account = opened(str(tmp_path / "b.db"), "d")
    held = Database(normal_url(account.url))

    def inside(_: Any) -> None:
        with pytest.raises(AccountError, match=r"database is locked; nothing was spent"):
            account.reserve([Pure(0.1)], "another")

    monkeypatch.setattr(database, "WAIT", 0.2)
    held.write(inside)
    account.reserve([Pure(0.1)], "after").close()
    assert [line.label for line in account.reservations()] == ["after"]


@pytest.mark.parametrize("query", ["elsewhere.ten", "SELECT * FROM elsewhere.ten", "SELECT * FROM through", "Ten"])
def test_a_view_of_another_schema_hides_no_limit(url: str, query: str) -> None:
    with create_engine(normal_url(url)).begin() as connection:
        for statement in (
            "CREATE SCHEMA IF NOT EXISTS elsewhere",
            "CREATE TABLE IF NOT EXISTS elsewhere.people (age integer)",
            "CREATE OR REPLACE VIEW elsewhere.ten AS SELECT * FROM elsewhere.people LIMIT 10",
            "CREATE OR REPLACE VIEW elsewhere.all_of_them AS SELECT * FROM elsewhere.people",
            "CREATE OR REPLACE VIEW through AS SELECT * FROM elsewhere.ten",
        ):
            connection.execute(text(statement))
    assert "has LIMIT" in tacit.read_source(url, query=query).reader.unfit()
    assert tacit.read_source(url, query="SELECT * FROM elsewhere.all_of_them").reader.unfit() == ""


BEYOND = {
    "date": ("2020-01-02", ["infinity", "-infinity", "0044-03-15 BC", "5000000-01-01"]),
    "timestamp": ("2020-01-02 03:04", ["infinity", "0001-01-01 BC", "294000-01-01"]),
    "timestamptz": ("2020-01-02 03:04+00", ["-infinity", "294000-01-01 00:00+00"]),
    "time": ("03:04", ["24:00"]),
    "timetz": ("03:04+01", ["24:00+15:59"]),
    "interval": ("1 day", ["170000000 years"]),
}


@pytest.mark.parametrize("kind", BEYOND)
def test_no_value_of_a_row_makes_a_query_fail(url: str, kind: str) -> None:
    """A date at infinity, which Python has not, ended the fit: one row could be told from the error."""
    within, beyond = BEYOND[kind]
    cells = ", ".join(f"({kind} '{value}')" for value in (within, *beyond))
    with create_engine(normal_url(url)).begin() as connection:
        connection.execute(text("DROP TABLE IF EXISTS of_a_kind"))
        connection.execute(
            text(f"CREATE TABLE of_a_kind AS SELECT * FROM (VALUES {cells}) AS v (x)".replace(":", "\\:"))
        )
    [chunk] = tacit.read_source(url, query="SELECT x FROM of_a_kind -- all").reader.chunks(["x"], frozenset())
    first, *others = chunk.column("x")
    assert first is not None
    assert others == [None] * len(beyond)
