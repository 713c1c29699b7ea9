"""Signatures: what was signed is accepted, and nothing else; by that key, and no other."""

from __future__ import annotations

import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit.privacy.certificate import Certificate
from tacit.privacy.signatures import KeyFileError, new_key, read_private_key, read_public_key, signature_problems
from tests.privacy.test_certificate import fitted


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Any, str]:
    public = new_key(tmp_path / "key")
    return read_private_key(tmp_path / "key"), read_public_key(public)


def certificate() -> Certificate:
    return fitted(1).bound("a" * 64, "b" * 64)


def test_what_was_signed_is_accepted_and_names_all_digests(keys: tuple[Any, str]) -> None:
    private, public = keys
    signed = certificate().signed(private)
    again = Certificate.from_json(signed.to_json())
    assert again == signed
    assert again.verify() == []
    assert signature_problems(again.signature, again.signable, public) == []
    assert again.signature is not None
    statement = again.signature["statement"]
    assert {name: statement[name] for name in again.signable} == again.signable
    assert statement["tacit"]
    assert statement["signed"].endswith("+00:00")


def test_an_unsigned_one_is_no_fault_unless_a_key_is_asked_for(keys: tuple[Any, str]) -> None:
    made = certificate()
    assert signature_problems(made.signature, made.signable) == []
    assert signature_problems(made.signature, made.signable, keys[1]) == ["it is not signed"]


def test_another_key_is_not_that_key(keys: tuple[Any, str], tmp_path: Path) -> None:
    other = read_public_key(new_key(tmp_path / "other"))
    signed = certificate().signed(keys[0])
    assert signature_problems(signed.signature, signed.signable, other) == ["it was signed with another key"]


def test_a_signature_put_on_another_certificate_is_found(keys: tuple[Any, str]) -> None:
    signed = certificate().signed(keys[0])
    for other in (certificate().bound("c" * 64), certificate().bound("a" * 64, "d" * 64)):
        moved = replace(other, signature=signed.signature)
        assert any("signed is about another" in problem for problem in moved.verify())


def test_an_edited_statement_or_signature_is_found(keys: tuple[Any, str]) -> None:
    signed = certificate().signed(keys[0])
    assert signed.signature is not None
    written = dict(signed.signature)
    for changed in (
        {**written, "statement": {**written["statement"], "signed": "2020-01-01T00:00:00+00:00"}},
        {**written, "signature": "0" * 128},
        {**written, "signature": written["signature"].upper()},
        {**written, "key": "0" * 64},
        {**written, "more": 1},
        {"statement": written["statement"]},
        "signed",
    ):
        assert replace(signed, signature=changed).verify(), changed


def test_a_change_after_signing_takes_the_signature_away(keys: tuple[Any, str]) -> None:
    assert certificate().signed(keys[0]).named("y").signature is None


def test_keys_are_kept_secret_and_never_overwritten(tmp_path: Path) -> None:
    new_key(tmp_path / "key")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    kept = (tmp_path / "key").read_bytes()
    with pytest.raises(FileExistsError):
        new_key(tmp_path / "key")
    assert (tmp_path / "key").read_bytes() == kept
    with pytest.raises(KeyFileError, match=r"no private key that can be used: make one with tacit keys new$"):
        read_private_key(tmp_path / "key.pub")
    with pytest.raises(KeyFileError, match=r"no public key; tacit keys new KEY writes one to KEY.pub$"):
        read_public_key(tmp_path / "key")


def test_without_cryptography_a_signature_is_not_checked_and_a_warning_says_so(
    keys: tuple[Any, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = certificate().signed(keys[0])
    forged = replace(signed, signature={**signed.signature, "signature": "0" * 128})  # type: ignore[dict-item]
    assert forged.integrity() != []
    monkeypatch.delitem(sys.modules, "tacit.privacy.signatures")
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    for each in (signed, forged):
        with pytest.warns(UserWarning, match="the signature was not checked: cryptography is not installed"):
            assert each.integrity() == []
