"""An account and the files around it: a model on the disk before the account says completed, and a public extract."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

import tacit.models.files as files
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import Pure
from tacit.privacy.extract import extract_of, read_extract
from tacit.privacy.ledger import AccountError
from tests.cli.conftest import SCHEMA, Run, rows

PAID = ("--account", "sqlite:///budget.db", "--dataset", "people")
FIT = ("fit", "data.csv", "--schema", "schema.toml", "--learner", "trees", "--set", "n_trees=3", *PAID)


@pytest.fixture
def account(folder: Path, tacit: Run) -> PrivacyAccount:
    tacit("budget create", *PAID, "--epsilon", "9", "--delta", "1e-5", code=0)
    return PrivacyAccount("sqlite:///budget.db", "people")


def test_a_model_is_on_the_disk_before_the_account_says_completed(
    account: PrivacyAccount, tacit: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    records: list[Any] = []
    synchronise, link = os.fsync, os.link

    def synchronised(descriptor: int) -> None:
        place = Path(f"/proc/self/fd/{descriptor}").readlink().name
        records.append((place if "deleted" not in place else "file", [line.status for line in account.reservations()]))
        synchronise(descriptor)

    def linked(*places: Any, **options: Any) -> None:
        records.append("named")
        link(*places, **options)

    monkeypatch.setattr(os, "fsync", synchronised)
    monkeypatch.setattr(os, "link", linked)
    tacit(*FIT, "--model", "model.json", code=0)
    assert records == [("file", ["open"]), "named", (Path.cwd().name, ["open"])]
    assert [line.status for line in account.reservations()] == ["completed"]


@pytest.mark.parametrize("resumable", [(), ("--resumable",)])
def test_a_model_that_cannot_be_written_is_no_fit_that_completed(
    account: PrivacyAccount, tacit: Run, resumable: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_text", full)
        result = tacit(*FIT, "--model", "model.json", *resumable)
    assert result.exit_code == 2
    assert "The charge stands" in result.words
    assert [line.status for line in account.reservations()] == ["open" if resumable else "failed"]
    assert not Path("model.json").exists()
    if resumable:
        spent = account.spent
        tacit("resume 1", *PAID, code=0)
        assert Path("model.json").exists()
        assert [line.status for line in account.reservations()] == ["completed"]
        assert account.spent == spent


def test_copies_of_an_account_close_what_they_reserve(account: PrivacyAccount) -> None:
    import copy

    with account.closing_at_the_end():
        copy.deepcopy(account).reserve([Pure(0.1)], "by a copy").close()
        account.reserve([Pure(0.1)], "by itself").close()
        assert [line.status for line in account.reservations()] == ["completed", "open"]
    assert [line.status for line in account.reservations()] == ["completed", "completed"]


@pytest.fixture(scope="module")
def signed_once(tacit: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an account, its extract, and a signed, resumable fit that it paid for."""
    place = tmp_path_factory.mktemp("signed")
    with chdir(place):
        Path("data.csv").write_text(rows())
        Path("schema.toml").write_text(SCHEMA)
        tacit("budget create", *PAID, "--epsilon", "9", "--delta", "1e-5", code=0)
        tacit("keys new key", code=0)
        tacit(*FIT, "--model", "model.json", "--sign", "key", "--resumable", code=0)
        tacit("budget export", *PAID, "--out", "extract.json", code=0)
        Path("budget.db").rename("away.db")
    return place


@pytest.fixture
def signed(signed_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The extract of an account with a signed, resumable fit; its store is away."""
    shutil.copytree(signed_once, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return Path("extract.json")


def test_an_extract_stands_for_the_account(signed: Path, tacit: Run) -> None:
    for more in ((), ("--dataset", "people"), ("--key", "key.pub")):
        result = tacit(
            "verify model.json --account",
            signed,
            *more,
            code=0,
            says="account the extract of the account holds the line about this signature",
        )
    said = tacit("verify model.json --account", signed, "--json").json
    assert said["account"] == "the extract of the account holds the line about this signature"
    assert "account" not in tacit("verify model.json").words
    own = ("--account", "sqlite:///away.db", "--dataset", "people")
    assert "the account holds the line about this signature" in tacit("verify model.json", *own).words
    tacit("verify model.json --account", signed, "--dataset", "others", code=2)
    extract = json.loads(signed.read_text())
    extract["lines"] = extract["lines"][:1]
    signed.write_text(json.dumps(extract))
    result = tacit("verify model.json --account", signed, code=4, says="no line about what was signed")
    assert "holds the line" not in result.words


def test_an_extract_without_the_line_that_paid_does_not_hold(signed: Path, tacit: Run) -> None:
    """The line about the signature alone is no payment: an extract that lost the fit's line looked whole."""
    extract = json.loads(signed.read_text())
    extract["lines"] = [line for line in extract["lines"] if not line["charges"]]
    assert extract["lines"]
    signed.write_text(json.dumps(extract))
    result = tacit("verify model.json --account", signed, code=4)
    assert "no line about what was signed" not in result.words
    assert "no line that paid for it" in result.words


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: "[1]",
        lambda text: "",
        lambda text: "  {",
        lambda text: "[" * 5000,
        lambda text: re.sub(r'"epsilon": [0-9.]+', '"epsilon": NaN', text, count=1),
        lambda text: re.sub(r'"delta": [0-9.e-]+', '"delta": "1e-6"', text, count=1),
        lambda text: text.replace('"lines"', '"lines": [], "lines"', 1),
    ],
)
def test_a_damaged_extract_is_refused_as_one(signed: Path, tacit: Run, spoil: Callable[[str], str]) -> None:
    whole = signed.read_text()
    signed.write_text(spoil(whole))
    assert signed.read_text() != whole
    tacit("verify model.json --account", signed, code=2, says="is no extract of an account")


def test_an_extract_says_nothing_of_rows_people_or_times(signed: Path) -> None:
    extract = json.loads(signed.read_text())
    assert set(extract) == {
        "format", "version", "dataset", "epsilon", "delta", "neighbouring", "unit", "lines"
    }  # fmt: skip
    assert all(set(line) == {"label", "status", "charges", "entries"} for line in extract["lines"])
    away = PrivacyAccount("away.db", "people")
    [kept], lines = away.kept(ended=True), away.reservations()
    secrets = [kept.rows, kept.rows.partition(":")[0], kept.seed.hex(), kept.learner, kept.command]
    secrets += [part for line in lines for part in (line.by, line.created[:10], line.by.partition("@")[2])]
    content = signed.read_text().replace(next(line.label for line in lines if "signed" in line.label), "")
    assert [secret for secret in secrets if secret and secret in content] == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": 0.01}, "more than the 0.01 it claims"),
        ({"delta": 2.0}, "is no extract"),
        ({"lines": 3}, "is no extract"),
        ({"format": "x"}, "is no extract"),
        ({"version": 2}, "is no extract"),
    ],
)
def test_an_edited_extract_does_not_hold(signed: Path, tacit: Run, change: dict[str, Any], words: str) -> None:
    signed.write_text(json.dumps({**json.loads(signed.read_text()), **change}))
    result = tacit("verify model.json --account", signed)
    assert result.exit_code in (2, 4)
    assert words in result.words


def test_releases_that_no_charge_pays_for_show_in_an_extract(signed: Path) -> None:
    extract = json.loads(signed.read_text())
    extract["lines"][0]["charges"] = extract["lines"][1]["charges"] = [Pure(1e-6).to_dict()]
    signed.write_text(json.dumps(extract))
    assert any("not covered" in problem for problem in read_extract(signed).problems)
    signed.write_text("{}")
    with pytest.raises(AccountError, match="is no extract"):
        read_extract(signed)


def test_an_extract_does_not_tell_whether_a_site_had_the_same_rows(account: PrivacyAccount) -> None:
    for each in ("1" * 64, "1" * 64, "2" * 64):
        account.reserve([Pure(0.1)], f"fit for others, sites {'a' * 64}, rows {each}").close()
    labels = [line["label"] for line in extract_of(account)["lines"]]
    assert labels == [f"fit for others, sites {'a' * 64}, rows"] * 3
