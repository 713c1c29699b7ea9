"""Fits under an account that are killed anywhere: none is free, none overspends, and what may go on does."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sqlite3
import time
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
    asked = {"epsilon": EPSILON, "delta": 0.0, "n_trees": 6, "schema": SCHEMA}
    with tacit.options(resumable=resumable, resume=resume):
        learner = tacit.BoostedTreesClassifier(**asked, account=PrivacyAccount(url, "people"))
        return learner.fit({"age": age}, np.where(age > 50, "yes", "no"))


def begin(url: str, resumable: bool, answers: Any) -> None:
    answers.put("begun")
    try:
        fit(url, resumable)
        answers.put("ended")
    except BudgetExceeded:
        answers.put("refused")


def kill_fits(folder: Path, kills: int, pays: int, seed: int) -> None:
    """Begins fits until so many were killed, and looks at the account after each."""
    url = str(folder / "budget.db")
    PrivacyAccount.create(url, "people", pays * EPSILON, 0.0)
    account, draw, killed, longest = PrivacyAccount(url, "people"), random.Random(seed), 0, 0.2
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    while killed < kills:
        answers = context.Queue()
        process = context.Process(target=begin, args=(url, bool(killed % 2), answers))
        process.start()
        assert answers.get(timeout=600) == "begun"
        started = time.monotonic()
        process.join(draw.uniform(0, longest))
        if process.is_alive():
            os.kill(process.pid or 0, signal.SIGKILL)
            killed += 1
            longest *= 1.1
        else:
            longest = 0.9 * (time.monotonic() - started) + 0.01
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
def test_of_two_hundred_killed_fits_none_overspends(tmp_path: Path) -> None:
    kill_fits(tmp_path, kills=200, pays=120, seed=2)
