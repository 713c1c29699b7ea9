"""Accounts: one budget whatever happens to the object, the process or the file."""

from __future__ import annotations

import copy
import math
import multiprocessing
import os
import pickle
import platform
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from tacit.privacy.account import PrivacyAccount
from tacit.privacy.accountants import epsilon
from tacit.privacy.calibration import gaussian_noise_multiplier
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import BoundedRange, Charge, Gaussian, Laplace, NonPrivate, Pure, Repeated
from tacit.privacy.ledger import AccountError, BudgetExceeded
from tacit.privacy.promised_budget import EphemeralAccount
from tacit.privacy.unit import Neighbouring

DELTA = 1e-6


def unit(request: float = 1.0) -> Gaussian:
    return Gaussian(gaussian_noise_multiplier(request, DELTA))


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'budget.db'}"


@pytest.fixture
def plain(tmp_path: Path) -> PrivacyAccount:
    """A budget of plain sums: figures are exact, and the accountants load nothing."""
    return PrivacyAccount.create(str(tmp_path / "plain.db"), "adult", 1.0, 0.0)


@pytest.fixture
def account(url: str) -> PrivacyAccount:
    return PrivacyAccount.create(url, "adult", 1.0, DELTA)


def test_a_fit_is_reserved_entered_and_closed(account: PrivacyAccount) -> None:
    planned = [Gaussian(40.0)] * 50
    with account.reserve(planned, "additive") as reservation:
        assert account.reservations()[0].status == "open"
        for i in range(50):
            reservation.record(Gaussian(40.0), f"sweep {i}", "one row, one cell")
    [line] = account.reservations()
    assert (line.status, line.label, len(line.entries)) == ("completed", "additive", 50)
    assert line.entries[7].label == "sweep 7"
    assert line.entries[7].charge == Gaussian(40.0)
    assert line.charges == account.charges == (Repeated(Gaussian(40.0), 50),)
    assert account.spent == pytest.approx(epsilon(planned, DELTA))
    assert account.remaining == pytest.approx(1.0 - account.spent)
    assert line.closed is not None
    assert line.created <= line.closed


def test_a_fit_that_the_budget_cannot_pay_for_is_refused_whole(account: PrivacyAccount) -> None:
    account.reserve([unit(0.7)], "first").close()
    before = account.spent
    assert not account.covers([unit(0.8)])
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        account.reserve([unit(0.8)], "second")
    assert account.spent == before
    assert [line.label for line in account.reservations()] == ["first"]


def test_what_is_affordable_is_accepted_and_nothing_more(account: PrivacyAccount) -> None:
    account.reserve([unit(0.6)], "first").close()
    left = account.affordable()
    assert account.remaining < left < 1.0
    assert not account.covers([unit(left * 1.001)])
    account.reserve([unit(left)], "second").close()
    assert account.spent == pytest.approx(1.0, rel=1e-5)
    assert account.spent <= 1.0 + 1e-9
    assert account.affordable() < 0.01


def test_unused_and_failed_reservations_cost_in_full(account: PrivacyAccount) -> None:
    account.reserve([unit(0.5)], "unused").close()
    broken = account.reserve([Pure(0.1)], "broken")
    broken.record(Pure(0.05), "half", "theorem")
    with pytest.raises(RuntimeError), broken:
        raise RuntimeError
    assert account.spent == pytest.approx(epsilon([unit(0.5), Pure(0.1)], DELTA))
    assert [line.status for line in account.reservations()] == ["completed", "failed"]
    assert len(account.reservations()[1].entries) == 1


def test_the_request_itself_fits_exactly(url: str) -> None:
    account = PrivacyAccount.create(url, "pure", 1.0, 0.0, "replace_one")
    assert account.neighbouring is Neighbouring.REPLACE_ONE
    account.reserve([Laplace(10.0)] * 10, "ten tenths").close()
    assert account.spent == pytest.approx(1.0)
    assert account.affordable() == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(BudgetExceeded):
        account.reserve([Pure(1e-6)], "more")
    with pytest.raises(BudgetExceeded):
        account.reserve([Gaussian(1e6)], "not pure")


def test_accounts_in_one_store_are_separate(account: PrivacyAccount, url: str) -> None:
    other = PrivacyAccount.create(url, "other", 2.0, 1e-9)
    other.reserve([Pure(1.5)], "x").close()
    assert account.spent == 0.0
    assert PrivacyAccount.datasets(url) == ("adult", "other")
    assert (PrivacyAccount(url, "other").epsilon, PrivacyAccount(url, "other").delta) == (2.0, 1e-9)


def test_a_budget_without_delta_says_what_a_fit_with_one_needs(tmp_path: Path) -> None:
    account = PrivacyAccount.create(str(tmp_path / "pure.db"), "people", 1.0, 0.0)
    with pytest.raises(BudgetExceeded, match=r"needs a delta.*delta=0.*nothing was spent"):
        account.reserve([Gaussian(10.0)], "a fit")
    account.reserve([Pure(0.5)], "a pure fit")


@pytest.mark.parametrize("what", ["epsilon", "delta", "neighbouring"])
def test_nobody_raises_a_promise(account: PrivacyAccount, what: str) -> None:
    with pytest.raises(AttributeError):
        setattr(account, what, 1000.0)


def test_a_relation_other_than_the_accounts_is_refused(account: PrivacyAccount) -> None:
    with pytest.raises(AccountError, match=r"add_or_remove_one.*replace_one.*nothing was spent"):
        account.reserve([Pure(0.1)], "x", Neighbouring.REPLACE_ONE)
    account.reserve([Pure(0.1)], "x", Neighbouring.ADD_OR_REMOVE_ONE).close()


def test_a_promise_without_limit_records_everything(url: str) -> None:
    account = PrivacyAccount.create(url, "open data", math.inf, 0.0)
    account.reserve([NonPrivate()], "no noise").close()
    assert account.spent == math.inf
    assert account.remaining == math.inf


def test_copies_clones_and_pickles_spend_from_one_budget(plain: PrivacyAccount) -> None:
    for twin in (
        copy.copy(plain),
        copy.deepcopy(plain),
        pickle.loads(pickle.dumps(plain)),
        clone(plain, safe=False),
    ):
        assert twin == plain
        assert hash(twin) == hash(plain)
        twin.reserve([Pure(0.2)], "a fifth").close()
    assert plain.spent == pytest.approx(0.8)
    with pytest.raises(BudgetExceeded):
        plain.reserve([Pure(0.3)], "too much")


class Toy(ClassifierMixin, BaseEstimator):
    """Releases a noisy share of the positives and predicts the majority."""

    def __init__(self, epsilon: float = 0.1, account: PrivacyAccount | None = None) -> None:
        self.epsilon = epsilon
        self.account = account

    def fit(self, X: np.ndarray, y: np.ndarray) -> Toy:
        assert self.account is not None
        self.classes_ = np.unique(y)
        with self.account.reserve([Pure(self.epsilon)], "toy") as reservation:
            reservation.record(Laplace(1 / self.epsilon), "share", "one row, one count")
            self.majority_ = int(np.mean(y) > 0.5)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self.majority_)


X, Y = np.zeros((40, 2)), np.arange(40) % 2


def test_cross_validation_in_two_processes_spends_from_one_budget(plain: PrivacyAccount) -> None:
    with parallel_config("multiprocessing"):
        scores = cross_val_score(Toy(0.1, plain), X, Y, cv=4, n_jobs=2)
    assert len(scores) == 4
    assert plain.spent == pytest.approx(0.4)
    assert [line.status for line in plain.reservations()] == ["completed"] * 4


def test_a_grid_search_stops_when_the_budget_is_gone(plain: PrivacyAccount) -> None:
    search = GridSearchCV(Toy(account=plain), {"epsilon": [0.05, 0.1]}, cv=2, refit=True)
    search.fit(X, Y)
    spent = plain.spent
    assert spent == pytest.approx(2 * 0.05 + 2 * 0.1 + search.best_params_["epsilon"])
    with pytest.raises(ValueError, match="budget"):
        GridSearchCV(Toy(account=plain), {"epsilon": [0.5]}, cv=2, error_score="raise").fit(X, Y)
    assert plain.spent <= 1.0 + 1e-9
    assert plain.spent == pytest.approx(spent + 0.5)  # the first fold was paid for, the second refused


def test_a_killed_fit_counts_in_full_and_shows_as_interrupted(plain: PrivacyAccount) -> None:
    program = f"""
        import sys, time
        from tacit.privacy.account import PrivacyAccount
        from tacit.privacy.charges import Pure
        reservation = PrivacyAccount({plain.url!r}, "adult").reserve([Pure(0.6)], "doomed")
        reservation.record(Pure(0.1), "first release", "theorem")
        sys.stdout.write("reserved\\n")
        sys.stdout.flush()
        time.sleep(60)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "reserved\n"
    assert plain.reservations()[0].status == "open"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    [line] = plain.reservations()
    assert (line.status, line.charges, line.closed) == ("interrupted", (Pure(0.6),), None)
    assert plain.spent == pytest.approx(0.6)
    with pytest.raises(BudgetExceeded):
        plain.reserve([Pure(0.5)], "after the crash")


def race(url: str, barrier, results) -> None:
    account = PrivacyAccount(url, "adult")
    barrier.wait()
    try:
        account.reserve([Pure(0.7)], "racer").close()
    except BudgetExceeded:
        results.put("refused")
    else:
        results.put("won")


def test_of_two_processes_racing_for_the_last_of_the_budget_one_wins(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    for attempt in range(3):
        url = f"sqlite:///{tmp_path / f'race{attempt}.db'}"
        account = PrivacyAccount.create(url, "adult", 1.0, 0.0)
        barrier, results = context.Barrier(2), context.Queue()
        racers = [context.Process(target=race, args=(url, barrier, results)) for _ in range(2)]
        for racer in racers:
            racer.start()
        outcomes = sorted(results.get(timeout=60) for _ in racers)
        for racer in racers:
            racer.join()
        assert outcomes == ["refused", "won"]
        assert account.spent == pytest.approx(0.7, abs=1e-4)


def test_creating_twice_opening_none_and_bad_places_are_clear(
    account: PrivacyAccount, url: str, tmp_path: Path
) -> None:
    account.reserve([Pure(0.3)], "x").close()
    with pytest.raises(AccountError, match=r"already has an account for 'adult'.*nothing was spent"):
        PrivacyAccount.create(url, "adult", 100.0, DELTA)
    assert account.spent == pytest.approx(0.3, abs=1e-4)
    with pytest.raises(AccountError, match=r"no account for 'missing'.*there are: adult.*nothing was spent"):
        PrivacyAccount(url, "missing")
    nowhere = tmp_path / "nowhere.db"
    with pytest.raises(AccountError, match=r"no budget store.*nothing was spent"):
        PrivacyAccount(str(nowhere), "adult")
    assert not nowhere.exists()
    for bad in ("sqlite://", "sqlite:///:memory:"):
        with pytest.raises(AccountError, match="survives"):
            PrivacyAccount.create(bad, "adult", 1.0, DELTA)
    with pytest.raises(AccountError, match=r"cannot make sqlite:.*No such file or directory; nothing was spent"):
        PrivacyAccount.create(str(tmp_path / "no" / "folder.db"), "adult", 1.0, DELTA)
    with pytest.raises(AccountError, match="URL cannot be read"):
        PrivacyAccount("://", "adult")


def test_a_corrupt_or_foreign_file_is_refused(tmp_path: Path) -> None:
    corrupt = tmp_path / "corrupt.db"
    corrupt.write_bytes(b"this is not a database, but it is long enough to look at" * 40)
    for attempt in (
        lambda: PrivacyAccount(str(corrupt), "adult"),
        lambda: PrivacyAccount.create(str(corrupt), "a", 1.0, 1e-6),
    ):
        with pytest.raises(AccountError, match=r"not a database.*nothing was spent"):
            attempt()
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    with pytest.raises(AccountError, match="holds no budgets"):
        PrivacyAccount(str(foreign), "adult")


def test_a_damaged_store_refuses_further_fits(account: PrivacyAccount, tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    path.write_bytes(path.read_bytes()[: 4096 * 2])
    with pytest.raises(AccountError, match="nothing was spent"):
        account.reserve([Pure(0.1)], "x")
    path.unlink()
    with pytest.raises(AccountError, match="no budget store"):
        account.reserve([Pure(0.1)], "x")


def test_tables_of_another_version_are_refused(account: PrivacyAccount, url: str, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "budget.db") as connection:
        connection.execute("UPDATE tacit_version SET version_num = '3'")
    connection.close()
    for attempt in (lambda: PrivacyAccount(url, "adult"), lambda: account.reserve([Pure(0.1)], "x")):
        with pytest.raises(AccountError, match=r"tables of version 3, and this version of tacit uses 2; nothing"):
            attempt()


@pytest.mark.parametrize(
    "table", ["tacit_reservations", "tacit_accounts", "tacit_entries", "tacit_closings", "tacit_units"]
)
def test_the_store_is_append_only(account: PrivacyAccount, tmp_path: Path, table: str) -> None:
    with account.reserve([Pure(0.4)], "x") as reservation:
        reservation.record(Pure(0.1), "release", "theorem")
    named = {"tacit_accounts": "dataset", "tacit_reservations": "label", "tacit_units": "max_rows"}
    column = named.get(table, "reservation")
    connection = sqlite3.connect(tmp_path / "budget.db")
    for statement in (f"UPDATE {table} SET {column} = 0", f"DELETE FROM {table}"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()
    assert account.spent == pytest.approx(0.4, abs=1e-4)


def test_a_history_that_cannot_be_written_costs_no_fit(account: PrivacyAccount, tmp_path: Path) -> None:
    reservation = account.reserve([Pure(0.4)], "x")
    (tmp_path / "budget.db").rename(tmp_path / "moved.db")
    with pytest.warns(RuntimeWarning, match="show as interrupted"):
        reservation.close()
    (tmp_path / "moved.db").rename(tmp_path / "budget.db")
    assert account.spent == pytest.approx(0.4, abs=1e-4)


def test_a_relative_path_means_the_same_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    account = PrivacyAccount.create("here.db", "adult", 1.0, DELTA)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    account.reserve([Pure(0.1)], "x").close()
    assert (tmp_path / "here.db").exists()
    assert not (tmp_path / "below" / "here.db").exists()


def test_messages_name_places_as_people_write_them(tmp_path: Path) -> None:
    (tmp_path / "Köln").mkdir()
    url = f"sqlite:///{tmp_path}/Köln/budget.db"
    with pytest.raises(AccountError, match=r"no budget store at sqlite:///.*/Köln/budget.db;"):
        PrivacyAccount(url, "people")
    made = PrivacyAccount.create(url, "people", 1.0, 1e-6)
    assert "/Köln/budget.db" in repr(made)
    assert PrivacyAccount(made.url, "people") == made


def test_ephemeral_accounts_keep_one_budget_and_stay_in_their_process() -> None:
    account = EphemeralAccount(1.0, DELTA)
    twin = clone(account, safe=False)
    twin.reserve([unit(0.8)], "x").close()
    assert account.spent == pytest.approx(0.8, abs=1e-4)
    with pytest.raises(BudgetExceeded):
        account.reserve([unit(0.8)], "y")
    with pytest.raises(AccountError, match="relation"):
        account.reserve([unit(0.1)], "z", Neighbouring.REPLACE_ONE)
    with pytest.raises(TypeError, match="PrivacyAccount"):
        pickle.dumps(account)


charge_strategy = st.one_of(
    st.floats(2, 100).map(Gaussian), st.floats(1e-3, 0.5).map(Pure), st.floats(1e-3, 0.5).map(BoundedRange)
)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.lists(charge_strategy, min_size=1, max_size=2), min_size=2, max_size=5))
def test_spent_never_falls_and_never_exceeds_the_promise(plans: list[list[Charge]]) -> None:
    account = EphemeralAccount(1.0, DELTA)
    before = 0.0
    for plan in plans:
        accepted = account.covers(plan)
        try:
            account.reserve(plan, "fit").close()
        except BudgetExceeded:
            assert not accepted
            assert account.spent == before
            continue
        assert accepted
        before, last = account.spent, before
        assert last * (1 - 1e-4) <= before <= 1.0 + 1e-9


def test_a_budget_in_memory_is_not_there_twice_in_a_forked_process(monkeypatch: pytest.MonkeyPatch) -> None:
    account = EphemeralAccount(1.0, DELTA)
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    with pytest.raises(AccountError, match="another process"):
        account.reserve([Pure(0.5)], "in a copy")
    monkeypatch.setattr(os, "getpid", lambda: here)
    account.reserve([Pure(0.5)], "here")


def test_what_was_paid_before_a_backup_was_brought_back_is_entered_again(plain: PrivacyAccount, tmp_path: Path) -> None:
    """A copy knows nothing of what was spent since; certificates do."""
    backup = (tmp_path / "plain.db").read_bytes()
    with plain.reserve([Pure(0.7)], "a fit") as paid:
        paid.record(Pure(0.7), "a release", "one row, one cell")
    certificate = Certificate.of(
        paid, epsilon=0.7, delta=0.0, noise_source="tacit", noise_releasable=True, algorithm="a learner", account=plain
    )
    (tmp_path / "plain.db").write_bytes(backup)
    restored = PrivacyAccount(str(tmp_path / "plain.db"), "adult")
    assert restored.spent == 0
    restored.reserve(certificate.charges, "before the backup was brought back").close()
    assert restored.spent == pytest.approx(0.7)
    with pytest.raises(BudgetExceeded):
        restored.reserve([Pure(0.7)], "one more")


def test_the_history_says_who_made_a_reservation(plain: PrivacyAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "alice")
    plain.reserve([Pure(0.1)], "hers")

    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr("tacit.privacy.store.getpass.getuser", nobody)
    plain.reserve([Pure(0.1)], "of a user without a name")
    node = platform.node()
    assert [line.by for line in plain.reservations()] == [f"alice@{node}", f"user {os.getuid()}@{node}"]
    assert {line.status for line in plain.reservations()} == {"open"}


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("folder", "is a folder: give another name"),
        ("dangling.db", "a link to nowhere: give another name"),
        ("theirs.db", "is the database of another program: give a file of its own"),
        ("none/b.db", "No such file"),
        (b"b.db", "is bytes"),
        ("postgresql://me:secret@host:port/d", "URL cannot be read"),
        ("postgresql://me:secret@[::1/d", "URL cannot be read"),
        ("postgresql://me:se@cret@host/d", "of a password written as %40"),
    ],
)
def test_no_account_is_made_where_none_can_be(
    place: str | bytes, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("dangling.db").symlink_to("nowhere.db")
    with sqlite3.connect("theirs.db") as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    before = Path("theirs.db").read_bytes()
    with pytest.raises(AccountError, match=f"{words}.*nothing was spent") as refused:
        PrivacyAccount.create(place, "d", 1.0, 0.0)  # type: ignore[arg-type]
    assert "cret" not in str(refused.value)
    assert Path("theirs.db").read_bytes() == before


@pytest.mark.parametrize(
    "changed", [{"dataset": name} for name in ("", "a\nb", "a\0", "\ud800", 5, None, "d ", " d", "\u3000d", "\u200bd")]
)
def test_a_data_set_has_a_name_that_can_be_printed(changed: dict[str, Any], tmp_path: Path) -> None:
    promise: dict[str, Any] = {"dataset": "d", "epsilon": 1.0, "delta": 0.0, **changed}
    with pytest.raises(ValueError, match="needs the name of a data set"):
        PrivacyAccount.create(str(tmp_path / "b.db"), **promise)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("alike", ["Größe 2", "größe 1", "GRÖSSE1", "gro\u0308ße  1", "Größe １"])
def test_names_that_read_alike_are_one_account(alike: str, tmp_path: Path) -> None:
    """One data set would have two budgets; a name that is there already is refused as ever."""
    PrivacyAccount.create(str(tmp_path / "b.db"), "Größe 1", 1.0, 0.0)
    words = nullcontext() if alike == "Größe 2" else pytest.raises(AccountError, match="'Größe 1', which reads like")
    with words:
        PrivacyAccount.create(str(tmp_path / "b.db"), alike, 1.0, 0.0)
    assert PrivacyAccount.datasets(str(tmp_path / "b.db")) == ("Größe 1", "Größe 2")[: 1 + (alike == "Größe 2")]


@pytest.mark.parametrize(
    "bad",
    [
        *({"epsilon": wrong} for wrong in (0.0, math.nan, "1", True, None)),
        *({"delta": wrong} for wrong in (1.0, "0", False)),
        {"neighbouring": "x"},
    ],
)
def test_bad_promises_are_refused(bad: dict[str, Any], tmp_path: Path) -> None:
    promise: dict[str, Any] = {"epsilon": 1.0, "delta": DELTA, **bad}
    with pytest.raises(ValueError, match=r"epsilon|delta|x"):
        PrivacyAccount.create(str(tmp_path / "a.db"), "adult", **promise)
    with pytest.raises(ValueError, match=r"epsilon|delta|x"):
        EphemeralAccount(**promise)
    assert not list(tmp_path.iterdir())
