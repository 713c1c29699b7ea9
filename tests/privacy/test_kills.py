"""Fits under an account that are killed anywhere: none is free, none overspends, and what may go on does."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import signal
import sqlite3
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.ledger import BudgetExceeded

SCHEMA = {
    "columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100}},
    "label": {"column": "ill", "classes": ["no", "yes"]},
}
EPSILON = 2.0**-4


def fit(url: str, resumable: bool, resume: int | None = None) -> Any:
    warnings.simplefilter("ignore")
    age = np.arange(300) % 100
    arguments = {"epsilon": EPSILON, "delta": 0.0, "n_trees": 6, "schema": SCHEMA}
    with tacit.options(resumable=resumable, resume=resume):
        learner = tacit.BoostedTreesClassifier(**arguments, account=PrivacyAccount(url, "people"))
        return learner.fit({"age": age}, np.where(age > 50, "yes", "no"))


def begin(url: str, resumable: bool, at: int, told: Any) -> None:
    """A fit that tells its parent when it makes its ``at``-th call of a C function; or at its end how many it made."""
    calls = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "c_call"
        if event == "c_call" and calls == at:
            told.send(calls)

    sys.setprofile(count)
    with contextlib.suppress(BudgetExceeded):
        fit(url, resumable)
    sys.setprofile(None)
    told.send(calls)


def kill_fits(folder: Path, kills: int, pays: int, seed: int) -> None:
    """Begins fits until so many were killed, each after a part of its work, and looks at the account after each."""
    url = str(folder / "budget.db")
    PrivacyAccount.create(url, "people", pays * EPSILON, 0.0)
    account, draw, killed, calls = PrivacyAccount(url, "people"), random.Random(seed), 0, 0
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    while killed < kills:
        at = draw.randint(1, calls) if calls else 0
        reader, writer = context.Pipe(duplex=False)
        process = context.Process(target=begin, args=(url, bool(killed % 2), at, writer))
        process.start()
        writer.close()
        count = reader.recv()
        if count == at:  # it goes on until the signal is there, which may be amid a call
            os.kill(process.pid or 0, signal.SIGKILL)
            killed += 1
        else:
            calls = count
        process.join()
        lines = account.reservations()
        assert account.spent == len(lines) * EPSILON <= pays * EPSILON
        assert {line.status for line in lines} <= {"completed", "interrupted"}
        assert all((len(line.entries) > 0) == (line.status == "completed") for line in lines)
    with sqlite3.connect(url) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    spent = account.spent
    for kept in account.kept():
        assert fit(url, False, kept.identifier).certificate_.verify() == []
    assert account.kept() == ()
    assert account.spent == spent
    assert {path.name for path in folder.iterdir()} <= {"budget.db", "budget.db.key", "budget.db-journal"}


def test_killed_fits_spend_what_they_reserved_and_no_more(tmp_path: Path) -> None:
    kill_fits(tmp_path, kills=6, pays=4, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(0)  # two hundred fits take as long as the machine needs
def test_of_two_hundred_killed_fits_none_overspends(tmp_path: Path) -> None:
    kill_fits(tmp_path, kills=200, pays=120, seed=2)
