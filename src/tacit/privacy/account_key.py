"""The secret that an account makes fingerprints of rows with, in a file that only its owner can read, and in no store.

A fingerprint beside its key would tell whoever reads both whether a guess of all rows is right. Without the key it
tells nothing. The key of an SQLite account lies beside the store; for a database, the caller says where.

Where the file is lost, a new one is made when it is needed next. Every fingerprint names the key that it was made with,
so that what was begun under a lost key is refused, and never compared in vain.
"""

from __future__ import annotations

import hmac
import os
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tacit.privacy.ledger import AccountError
from tacit.whole_files import write_text

VARIABLE = "TACIT_KEY_FILE"  # the environment variable that names the file where nothing else does


@dataclass(frozen=True)
class AccountKey:
    """The key of one account, derived from the secret of the file."""

    secret: bytes

    @property
    def name(self) -> str:
        """What fingerprints say of the key: enough to know it again, and of no use to find it."""
        return hmac.digest(self.secret, b"name", "sha256").hex()[:16]

    def fingerprint(self, of: Callable[[bytes], str]) -> str:
        """A fingerprint that names its key: ``of`` makes it, given the secret."""
        return f"{self.name}:{of(self.secret)}"

    def made(self, fingerprint: str) -> bool:
        """Whether a fingerprint was made with this key."""
        return fingerprint.startswith(f"{self.name}:")


def key_path(path: str | os.PathLike[str] | None, store: Path | None) -> Path:
    """Where the key of an account is: where the caller says, or beside the file of its store.

    Raises ``AccountError`` if nobody says where.
    """
    place = path or os.environ.get(VARIABLE) or (None if store is None else f"{store}.key")
    if not place:
        raise AccountError(
            "resumable fits and batches need a key that is not in the database: say in which file it is, or is to be "
            f"made, as PrivacyAccount(..., key_file=) or as {VARIABLE} in the environment"
        )
    return Path(place).absolute()


def account_key(path: Path, dataset: str, fresh: bytes) -> AccountKey:
    """The key of an account; the file is made of 32 fresh bytes if there is none.

    Raises ``AccountError`` if it cannot be read or made, is no key, or others can read it.
    """
    try:
        try:
            text = _private(path)
        except FileNotFoundError:
            with suppress(FileExistsError):  # another process may have made it meanwhile
                write_text(path, f"{fresh.hex()}\n", private=True, replace=False)
            text = _private(path)
    except OSError as error:
        raise AccountError(f"the key file {path} cannot be used: {error.strerror}") from error
    secret = bytes.fromhex(text) if re.fullmatch("[0-9a-f]{64}", text) else b""
    if len(secret) != 32:
        raise AccountError(f"the key file {path} holds no key: bring it back from a backup, or move it away")
    return AccountKey(hmac.digest(secret, f"account {dataset}".encode(), "sha256"))


def _private(path: Path) -> str:
    with path.open("rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & 0o077:
            raise AccountError(f"others can read the key file {path} (mode {mode:o}): chmod 600 it")
        return file.read(1000).decode("ascii", "replace").strip()
