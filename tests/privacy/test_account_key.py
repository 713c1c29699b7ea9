"""The key that rows are known by: never in the store, readable by its owner alone, and missed where it is lost."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit import AdditiveBoostClassifier, BatchwiseClassifier, BoostedTreesClassifier, PrivacyAccount
from tacit.curator.options import fresh_key
from tacit.privacy.account_key import VARIABLE
from tacit.privacy.charges import Pure
from tacit.privacy.ledger import AccountError

SCHEMA = {
    "columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100}},
    "label": {"column": "ill", "classes": ["no", "yes"]},
}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def rows(seed: int, n: int = 60) -> tuple[pd.DataFrame, Any]:
    frame = pd.DataFrame({"age": np.random.default_rng(seed).uniform(0, 100, n)})
    return frame, np.where(frame.age > 50, "yes", "no")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(VARIABLE, raising=False)
    return tmp_path


def opened(folder: Path, name: str = "budget.db", **options: Any) -> PrivacyAccount:
    PrivacyAccount.create(str(folder / name), "people", 3.0, 1e-5)
    return PrivacyAccount(str(folder / name), "people", **options)


def trees(account: PrivacyAccount) -> BoostedTreesClassifier:
    return BoostedTreesClassifier(epsilon=0.1, n_trees=2, schema=SCHEMA, account=account)


def resumable(account: PrivacyAccount, seed: int = 0) -> None:
    with tacit.options(resumable=True):
        trees(account).fit(*rows(seed))


def in_batches(account: PrivacyAccount) -> BatchwiseClassifier:
    return BatchwiseClassifier(AdditiveBoostClassifier(epsilon=0.1, schema=SCHEMA, account=account))


@pytest.mark.parametrize("umask", [0o022, 0o000, 0o077])
def test_store_key_and_journal_are_readable_by_their_owner_alone(
    folder: Path, umask: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    before = os.umask(umask)
    try:
        account = opened(folder)
        resumable(account)
        modes: dict[str, int] = {}

        def look(*_: Any) -> None:
            modes.update({path.name: mode(path) for path in folder.iterdir()})

        account._store.write(lambda connection: look(connection.exec_driver_sql("CREATE TABLE x (a)")))
        with sqlite3.connect(folder / "budget.db") as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("INSERT INTO x VALUES (1)")
            look()
    finally:
        os.umask(before)
    names = {"budget.db", "budget.db.key", "budget.db-journal", "budget.db-wal", "budget.db-shm"}
    assert modes == dict.fromkeys(names, 0o600)


def test_the_store_holds_no_key(folder: Path) -> None:
    """Every form of the secret, and of what is made of it, is looked for in every byte of the store."""
    account = opened(folder)
    resumable(account)
    in_batches(account).partial_fit(*rows(1)).partial_fit(*rows(2))
    file, derived = bytes.fromhex((folder / "budget.db.key").read_text()), account.key(fresh_key()).secret
    assert len(file) == len(derived) == 32
    assert file != derived
    content = (folder / "budget.db").read_bytes()
    for secret in (file, derived):
        for form in (secret, secret.hex().encode(), secret.hex().upper().encode()):
            assert form[:16] not in content
    assert account.key(fresh_key()).name.encode() in content  # fingerprints say which key they were made with


def test_keys_of_accounts_stores_and_files_differ_and_last(folder: Path) -> None:
    account = opened(folder)
    PrivacyAccount.create(account.url, "others", 1.0, 0.0)
    names = [
        PrivacyAccount(account.url, "people").key(fresh_key()).name,
        PrivacyAccount(account.url, "others").key(fresh_key()).name,
        opened(folder, "two.db").key(fresh_key()).name,
        PrivacyAccount(account.url, "people", key_file=folder / "mine").key(fresh_key()).name,
    ]
    assert len(set(names)) == 4
    assert account.key(fresh_key()).name == names[0]
    assert mode(folder / "mine") == 0o600


@pytest.mark.parametrize("lost", ["gone", "another", "of another account"])
def test_without_its_key_a_fit_does_not_go_on_and_no_batch_is_free(folder: Path, lost: str) -> None:
    account = opened(folder)
    resumable(account)
    learner = in_batches(account).partial_fit(*rows(1))
    key, spent = folder / "budget.db.key", account.spent
    if lost == "gone":
        key.unlink()
    elif lost == "another":
        key.write_text(fresh_key().hex())
    else:
        opened(folder, "two.db").key(fresh_key())
        shutil.copy(folder / "two.db.key", key)
    number = account.kept(ended=True)[0].identifier
    for seed in (0, 5):  # the rows, and others: there is one answer
        with tacit.options(resume=number), pytest.raises(AccountError, match=r"key that the rows of fit 1 .*nothing"):
            trees(account).fit(*rows(seed))
    for seed in (1, 5):
        with pytest.raises(AccountError, match=r"key that the first batch .*begin anew.*nothing was spent"):
            learner.partial_fit(*rows(seed))
    assert account.spent == spent
    learner.fit(*rows(1)).partial_fit(*rows(2))  # anew, which is charged, under the new key
    assert account.spent > spent
    resumable(account)
    assert len(account.kept(ended=True)) == 2


def test_a_copy_of_the_store_answers_no_guess(folder: Path) -> None:
    account = opened(folder)
    resumable(account)
    learner = in_batches(account).partial_fit(*rows(1))
    shutil.copy(folder / "budget.db", folder / "copy.db")
    copied = PrivacyAccount(str(folder / "copy.db"), "people")
    said = set()
    for seed in (0, 1, 2):
        with tacit.options(resume=1), pytest.raises(AccountError) as resumed:
            trees(copied).fit(*rows(seed))
        again = in_batches(copied).resume(learner.model_, learner.certificate_)
        with pytest.raises(AccountError) as batch:
            again.partial_fit(*rows(seed))
        said.add((str(resumed.value), str(batch.value)))
    assert len(said) == 1


def test_with_the_key_the_fit_goes_on_and_batches_are_known(folder: Path) -> None:
    account = opened(folder)
    resumable(account)
    spent = account.spent
    with tacit.options(resume=1):
        trees(account).fit(*rows(0))
    assert account.spent == spent
    learner = in_batches(account).partial_fit(*rows(1))
    with pytest.raises(AccountError, match="learned from before"):
        learner.partial_fit(*rows(1))
    assert learner.partial_fit(*rows(2)).charged_ is False


@pytest.mark.parametrize("bits", [0o644, 0o640, 0o602, 0o700 | 0o011])
def test_a_key_that_others_can_read_is_refused_before_a_charge(folder: Path, bits: int) -> None:
    account = opened(folder)
    account.key(fresh_key())
    (folder / "budget.db.key").chmod(bits)
    for attempt in (lambda: resumable(account), lambda: in_batches(account).partial_fit(*rows(1))):
        with pytest.raises(AccountError, match=rf"others can read .*\(mode {bits:o}\): chmod 600 it; nothing"):
            attempt()
    assert account.reservations() == ()


@pytest.mark.parametrize("content", ["", "x", "0" * 63, "0" * 66, "é" * 32, "g" * 64])
def test_what_is_no_key_is_refused(folder: Path, content: str) -> None:
    account = opened(folder)
    (folder / "budget.db.key").write_text(content, encoding="utf-8")
    (folder / "budget.db.key").chmod(0o600)
    with pytest.raises(AccountError, match="holds no key"):
        account.key(fresh_key())


def test_the_caller_says_where_the_key_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = opened(folder)
    monkeypatch.setenv(VARIABLE, str(folder / "of the environment"))
    account.key(fresh_key())
    PrivacyAccount(account.url, "people", key_file=folder / "given").key(fresh_key())
    assert {path.name for path in folder.iterdir()} == {"budget.db", "of the environment", "given"}
    nowhere = PrivacyAccount(account.url, "people", key_file=folder / "no" / "where")
    with pytest.raises(AccountError, match="No such file"):
        nowhere.key(fresh_key())


def test_two_who_make_a_key_at_once_have_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = opened(folder)
    import tacit.privacy.account_key as keys

    write = keys.write_text

    def late(path: Path, text: str, **how: bool) -> None:
        write(path, f"{(b'1' * 32).hex()}\n", **how)  # somebody else was first
        write(path, text, **how)

    monkeypatch.setattr(keys, "write_text", late)
    name = account.key(fresh_key()).name
    monkeypatch.setattr(keys, "write_text", write)
    assert account.key(fresh_key()).name == name
    assert (folder / "budget.db.key").read_text() == (b"1" * 32).hex() + "\n"
    assert len(list(folder.iterdir())) == 2


def test_reservations_need_no_key(folder: Path) -> None:
    opened(folder).reserve([Pure(0.1)], "x").close()
    assert [path.name for path in folder.iterdir()] == ["budget.db"]
