"""What a site remembers of joined fits, by value: changed parties or rows are refused, each for itself."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from tacit.curator.sites.memory import Gathering, Memory, digest_of
from tacit.curator.sites.parties import SitesError
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import Pure

A, B, C = ("a" * 64, "b" * 64, "c" * 64)
PARTIES, ROWS = "fit of other sites before", "fit with other rows before"


def memory(place: Path, paid: bool) -> Memory:
    account = PrivacyAccount.create(f"{place}/budget.db", "d", 1.0, 0.0) if paid else None
    return Memory(account, place / "key.fits")


def begun(kept: Memory, gathering: Gathering) -> None:
    """A fit as a site begins it."""
    if kept.account is not None:
        kept.account.reserve([Pure(2.0**-10)], f"joined a fit: {gathering}").close()
        kept.account.reserve([Pure(2.0**-10)], "something else").close()
    kept.write(gathering)


@pytest.mark.parametrize("paid", [False, True], ids=["file", "account"])
def test_changed_parties_and_changed_rows_are_refused_each_for_itself(tmp_path: Path, paid: bool) -> None:
    kept = memory(tmp_path, paid)
    assert kept.gatherings() == []
    kept.check(Gathering(A, B), False, False)
    begun(kept, Gathering(A, B))
    assert set(kept.gatherings()) == {Gathering(A, B)}
    kept.check(Gathering(A, B), False, False)
    for now, words, allowed in (
        (Gathering(C, B), PARTIES, (True, False)),
        (Gathering(A, C), ROWS, (False, True)),
        (Gathering(B, A), PARTIES, (True, True)),
    ):
        for parties, rows in ((False, False), (True, False), (False, True), (True, True)):
            if allowed[0] <= parties and allowed[1] <= rows:
                kept.check(now, parties, rows)
            else:
                with pytest.raises(SitesError, match=words if not parties or now.sites == A else ROWS):
                    kept.check(now, parties, rows)
    begun(kept, Gathering(C, B))
    for now in (Gathering(A, B), Gathering(C, B)):  # of all earlier fits, and not of the last alone
        with pytest.raises(SitesError, match=f"{PARTIES}.*--allow-changed-parties.*Nothing was spent"):
            kept.check(now, False, True)


def test_the_file_is_for_its_owner_alone_and_survives(tmp_path: Path) -> None:
    kept = memory(tmp_path, False)
    for sites in (A, B, A):
        begun(kept, Gathering(sites, C))
    assert stat.S_IMODE(kept.file.stat().st_mode) == 0o600
    assert memory(tmp_path, False).gatherings() == [Gathering(A, C), Gathering(B, C), Gathering(A, C)]
    with pytest.raises(SitesError, match="where this site remembers its fits"):
        Memory(None, tmp_path / "none" / "x").write(Gathering(A, B))


@pytest.mark.parametrize(("first", "then"), [("d", None), (None, "d"), ("d", "e"), (None, None)])
def test_a_fit_is_remembered_whatever_pays_for_the_next(tmp_path: Path, first: str | None, then: str | None) -> None:
    for dataset in ("d", "e"):
        PrivacyAccount.create(f"{tmp_path}/budget.db", dataset, 1.0, 0.0)
    earlier, later = (
        Memory(None if dataset is None else PrivacyAccount(f"{tmp_path}/budget.db", dataset), tmp_path / "key.fits")
        for dataset in (first, then)
    )
    begun(earlier, Gathering(A, B))
    later.check(Gathering(A, B), False, False)
    with pytest.raises(SitesError, match=PARTIES):
        later.check(Gathering(C, B), False, True)


def test_an_account_remembers_where_the_file_is_lost(tmp_path: Path) -> None:
    kept = memory(tmp_path, True)
    begun(kept, Gathering(A, B))
    kept.file.unlink()
    with pytest.raises(SitesError, match=ROWS):
        kept.check(Gathering(A, C), True, False)


def test_a_digest_is_of_the_rows_and_of_the_key() -> None:
    codes = np.array([3, 1, 2]), np.array([0, 1, 1])
    other = np.array([3, 1, 2]), np.array([0, 1, 0])
    key = b"k" * 32
    digest = digest_of([codes], key)
    assert digest == digest_of([[column[[2, 0, 1]] for column in codes]], key)
    assert len({digest, digest_of([codes], b"l" * 32), digest_of([other], key), digest_of([codes, codes], key)}) == 4
    assert digest != digest_of([[column[:-1] for column in codes]], key)
    assert digest_of([], key) != digest_of([], b"l" * 32)
