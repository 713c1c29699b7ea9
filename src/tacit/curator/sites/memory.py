"""What a site remembers of the fits that it took part in: who the sites were, and what its rows were known by.

The first questions of two fits are the same. The exact totals of a fit of three sites, minus those of a later one of
two of them, are the sums of the third alone; the totals before and after one site gained a row differ by that row. A
site therefore notices both, and takes part again only if it is told to. It remembers in its account, and in a file
beside its private key, since another account may pay for the next fit, or none. Digests of rows are keyed with that
private key: the memory tells nobody which rows. Totals that are noisy before anybody sees them tell no such difference,
and are not remembered.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from tacit.curator.sites.parties import SitesError
from tacit.encoding.table import fingerprint
from tacit.privacy.account import PrivacyAccount

LINE = re.compile(r"sites ([0-9a-f]{64}), rows ([0-9a-f]{64})$")
"""How one fit is written down, at the end of the label of its reservation, or on a line of the file."""


@final
@dataclass(frozen=True)
class Gathering:
    """Who took part in a fit, and with which rows of this site."""

    sites: str  # digest of the names and certificates of all sites
    rows: str  # keyed digest of the rows of this one

    @classmethod
    def read(cls, line: str) -> Self | None:
        """What the end of a line says; None of a line that is about something else."""
        match = LINE.search(line)
        return None if match is None else cls(*match.groups())

    def __str__(self) -> str:
        return f"sites {self.sites}, rows {self.rows}"


def digest_of(blocks: Iterable[Sequence[npt.NDArray[Any]]], key: bytes) -> str:
    """A keyed digest of rows, as the codes of their columns by block; their order within a block does not count."""
    digest = hmac.new(key, digestmod=hashlib.sha256)
    for arrays in blocks:
        digest.update(bytes.fromhex(fingerprint([np.asarray(array) for array in arrays], key)))
    return digest.hexdigest()


@final
@dataclass(frozen=True)
class Memory:
    """Where a site remembers: in its account, and in a ``file`` that its owner alone may read."""

    account: PrivacyAccount | None
    file: Path

    def gatherings(self) -> list[Gathering]:
        """All fits that this site began, oldest first."""
        lines = [] if self.account is None else [line.label for line in self.account.reservations()]
        lines += self.file.read_text("utf-8").splitlines() if self.file.exists() else []
        return [gathering for line in lines if (gathering := Gathering.read(line)) is not None]

    def write(self, gathering: Gathering) -> None:
        """Remembers a fit, durably; in an account the label of its reservation does so, too."""
        try:
            with os.fdopen(os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
                file.write(f"{gathering}\n".encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise SitesError(f"{self.file}, where this site remembers its fits: {error.strerror}") from None

    def check(self, now: Gathering, changed_parties: bool, changed_rows: bool) -> None:
        """Raises unless a fit is like all earlier ones, or what is other is allowed."""
        earlier = self.gatherings()
        if not changed_parties and any(each.sites != now.sites for each in earlier):
            raise SitesError(
                "this site took part in a fit of other sites before: from exact totals of both fits the coordinator "
                "could tell what the difference contributed. allow_changed_parties (--allow-changed-parties) accepts "
                "that"
            )
        if not changed_rows and any(each.rows != now.rows for each in earlier):
            raise SitesError(
                "this site took part in a fit with other rows before: from exact totals of both fits the coordinator "
                "could tell what rows that came or went contributed. allow_changed_rows (--allow-changed-rows) accepts "
                "that"
            )
