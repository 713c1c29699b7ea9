"""Signatures: who stands for a certificate. Ed25519 (RFC 8032), by the library `cryptography`.

What is signed is a statement, in canonical form: the digests of the model, of its schema, of the ledger and of the
certificate, the version of the library, and the time. As the certificate names its model by its digest, whoever holds
the public key can tell that none of these was changed since. A signature says nothing about whether the claim is true:
that is what :meth:`~tacit.privacy.certificate.Certificate.verify` is for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tacit.errors import TacitError
from tacit.privacy.canonical import canonical_json
from tacit.whole_files import write_text

PARTS = {"statement", "key", "signature"}


class KeyFileError(TacitError):
    """A file that holds no such key. Nothing was spent."""


def new_key(path: str | os.PathLike[str]) -> Path:
    """Writes a new private key, readable by its owner alone, and the public key beside it, whose name ends in ``.pub``.

    Raises ``FileExistsError`` if there is such a file: a key is never overwritten.
    """
    private = Ed25519PrivateKey.generate()
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    beside = Path(f"{os.fspath(path)}.pub")
    write_text(path, secret.decode("ascii"), private=True, replace=False)
    write_text(beside, public.decode("ascii"), replace=False)
    return beside


def read_private_key(path: str | os.PathLike[str]) -> Ed25519PrivateKey:
    """A private key from its PEM file, which has no password; raises ``KeyFileError`` if it holds none."""
    try:
        key = serialization.load_pem_private_key(Path(path).read_bytes(), None)
    except (ValueError, TypeError):
        raise KeyFileError(f"{path} holds no private key that can be used: make one with tacit keys new") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{path} holds a key of another kind: make one with tacit keys new")
    return key


def read_public_key(path: str | os.PathLike[str]) -> str:
    """A public key from its PEM file, as certificates write it: 64 hexadecimal digits.

    Raises ``KeyFileError`` if it holds none.
    """
    try:
        key = serialization.load_pem_public_key(Path(path).read_bytes())
    except (ValueError, TypeError):
        raise KeyFileError(f"{path} holds no public key; tacit keys new KEY writes one to KEY.pub") from None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyFileError(f"{path} holds a key of another kind, not Ed25519")
    return _hexadecimal(key)


def signature(digests: Mapping[str, str | None], key: Ed25519PrivateKey) -> dict[str, Any]:
    """A signature of the digests of model, schema, ledger and certificate under a key, as certificates keep it."""
    statement = {**digests, "tacit": library_version(), "signed": datetime.now(UTC).isoformat(timespec="seconds")}
    signed = key.sign(canonical_json(statement)).hex()
    return {"statement": statement, "key": _hexadecimal(key.public_key()), "signature": signed}


def signature_problems(section: Any, digests: Mapping[str, str | None], key: str | None = None) -> list[str]:
    """What is wrong with the signature of a certificate; with none only that a key was asked for.

    Without ``key`` it is checked by the one that it names itself, which tells whether anything was changed, and not who
    signed.
    """
    if section is None:
        return [] if key is None else ["it is not signed"]
    if not isinstance(section, Mapping) or set(section) != PARTS or not isinstance(section["statement"], Mapping):
        return ["its signature is damaged"]
    statement: Mapping[str, Any] = section["statement"]
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(section["key"]))
        public.verify(bytes.fromhex(section["signature"]), canonical_json(statement))
    except (InvalidSignature, ValueError, TypeError):
        return ["its signature does not belong to what was signed"]
    problems = [
        f"what was signed is about another {name}" for name, digest in digests.items() if statement.get(name) != digest
    ]
    if key is not None and section["key"] != key:
        problems.append("it was signed with another key")
    if section != {**section, "key": section["key"].lower(), "signature": section["signature"].lower()}:
        problems.append("its signature is not written as signatures are")
    return problems


def _hexadecimal(key: Ed25519PublicKey) -> str:
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw).hex()


@cache
def library_version() -> str:
    """The version of this library that is installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tacit")
    except PackageNotFoundError:
        return "not installed as a package"
